"""Coordinates for columns of dates: their time, their year, or a place on a circle."""

import numpy as np
from numpy.typing import NDArray

from kdegraph.validation import check_choice

PERIODS = {"month": 12, "weekday": 7, "hour": 24}  # steps around the circle
#: What a column of dates can count as; see `load`.
DATE_PARTS = ("time", "year", *PERIODS)


def date_coordinates(name: str, part: str) -> tuple[str, ...]:
    """Return the names of the coordinates of a column of dates.

    Parameters
    ----------
    name : str
        The name of the column.
    part : {"time", "year", "month", "weekday", "hour"}
        What the dates count as, see `load`.

    Returns
    -------
    tuple of str
        One name, or two for the parts that return: those of the circle.

    Raises
    ------
    ValueError
        For another part.

    Examples
    --------
    >>> from kdegraph.datasets import date_coordinates
    >>> date_coordinates("visit", "year"), date_coordinates("visit", "month")
    (('visit (year)',), ('visit (month, cos)', 'visit (month, sin)'))
    """
    check_choice(part, "part of dates", DATE_PARTS)
    if part in PERIODS:
        return f"{name} ({part}, cos)", f"{name} ({part}, sin)"
    return (f"{name} ({'days' if part == 'time' else part})",)


def encode_dates(moments: NDArray[np.datetime64], part: str) -> NDArray[np.float64]:
    """Return the coordinates (n, 1) or (n, 2) of moments in milliseconds; NaN where they are NaT.

    The time is in days since 1970. Neighboring steps on a circle have a distance of about 1.
    """
    if part == "time":
        found = (moments.astype(np.int64) / 86_400_000)[:, None]
    elif part == "year":
        found = moments.astype("datetime64[Y]").astype(np.float64)[:, None] + 1970
    else:
        unit = {"month": "M", "weekday": "D", "hour": "h"}[part]
        steps = moments.astype(f"datetime64[{unit}]").astype(np.int64)
        if part == "weekday":
            steps += 3  # from Monday: 1970 began on a Thursday
        angle = 2 * np.pi / PERIODS[part] * (steps % PERIODS[part])
        found = np.stack([np.cos(angle), np.sin(angle)], axis=1) * PERIODS[part] / (2 * np.pi)
    return np.where(np.isnat(moments)[:, None], np.nan, found)
