"""Metrics as maps into a Euclidean space, in which everything else is computed."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.manual import explained
from kdegraph.validation import SparsePoints, check_choice, check_points

EARTH_RADIUS = 6371.0088  # km: the mean radius of the Earth, by the IUGG
_DEGREES = "metric='haversine' takes latitude and longitude in degrees, in this order"


class Metric(NamedTuple):
    """Hold a map of points into a Euclidean space, and how distances there are read."""

    embed: Callable[[NDArray], NDArray]
    distance: Callable[[NDArray], NDArray]  # from the Euclidean distances of embedded points


def _directions(X):
    """Return the rows divided by their lengths; a row of zeros, which has none, becomes NaN in a
    dense array and stays as it is in a sparse one.
    """
    if isinstance(X, SparsePoints):
        directions, n = X.copy(), len(X)
        row = np.repeat(np.arange(n), np.diff(X.indptr))
        directions.data /= abs(X).max(axis=1).toarray().ravel()[row]
        squares = np.bincount(row, directions.data**2, minlength=n)
        directions.data /= np.sqrt(squares)[row]
        return directions
    with np.errstate(invalid="ignore"):
        X = X / np.abs(X).max(axis=1, keepdims=True)  # so that no square overflows or vanishes
        return X / np.linalg.norm(X, axis=1, keepdims=True)


def _places(X):
    """Return points on the sphere, in kilometers, for latitudes and longitudes in degrees."""
    degrees = np.asarray(X, dtype=np.float64)
    latitude, longitude = np.radians(np.where(_are_degrees(degrees), degrees, np.nan)).T
    across = np.cos(latitude)
    unit = [across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)]
    return EARTH_RADIUS * np.stack(unit, axis=1)


def _arc(chord):
    """Return lengths along the surface of the sphere from those through it."""
    return 2 * EARTH_RADIUS * np.arcsin(np.minimum(chord / (2 * EARTH_RADIUS), 1.0))


METRICS = {
    "euclidean": Metric(lambda X: X, lambda distances: distances),
    "cosine": Metric(_directions, lambda distances: distances**2 / 2),
    "haversine": Metric(_places, _arc),
}


def check_metric(metric: Any, kernel: str = "gaussian") -> str:
    """Return the name of a metric; refuse unknown ones, and those that do not suit the kernel."""
    if callable(metric):
        raise TypeError(
            f"metric must be one of {', '.join(map(repr, METRICS))}, not a function; for distances "
            "of your own compute their matrix and take affinity='precomputed_distances'"
        )
    if isinstance(metric, str) and metric in ("manhattan", "cityblock", "l1"):
        raise ValueError(
            f"unknown metric {metric!r}; the Laplacian kernel has this distance: take "
            "kernel='laplacian'"
        )
    check_choice(metric, "metric", tuple(METRICS))
    if metric != "euclidean" and kernel == "laplacian":
        raise ValueError(
            f"the Laplacian kernel has the L1 distance, so that it cannot take metric={metric!r}; "
            "take another kernel, such as 'exponential'"
        )
    return metric


def points_of(
    X: Any, metric: str = "euclidean", *, kernel: str = "gaussian", keep_single: bool = False
) -> NDArray:
    """Return checked points, perhaps `SparsePoints`, whose Euclidean distances are those of the
    metric.

    "cosine" divides points by their lengths: the distance is ``sqrt(2 - 2 cos)`` of the angle
    between two of them. "haversine" takes latitudes and longitudes in degrees to points on a sphere
    with the Earth's mean radius, in kilometers: the distance is the straight one through the
    sphere, which is shorter than that along its surface by 0.001 % at 100 km and by 0.1 % at
    1,000 km. See `kdegraph.validation.check_points` for `keep_single`.
    """
    check_metric(metric, kernel)
    X = check_points(X, keep_single=keep_single, keep_sparse=True)
    if isinstance(X, SparsePoints) and kernel == "laplacian":
        raise ValueError(
            "the Laplacian kernel has the L1 distance, which is not computed for sparse points; "
            "take another kernel, such as 'exponential', or pass the dense array X.toarray()"
        )
    if metric == "euclidean":
        return X
    if metric == "haversine":
        check_degrees(X)
    points = METRICS[metric].embed(X)
    if isinstance(points, SparsePoints):
        bad = np.flatnonzero(np.diff(points.indptr) == 0)
    else:
        bad = np.flatnonzero(np.isnan(points[:, 0]))
    if bad.size:
        raise explained(
            ValueError,
            "error-direction",
            f"metric='cosine' needs points with a direction, but X[{bad[0]}] has only zeros "
            f"({bad.size} of {len(X)} rows); drop such rows first",
        )
    return points


def check_two_columns(X: Any) -> None:
    """Raise a `ValueError` unless there are two columns."""
    if X.shape[1] != 2:
        raise explained(ValueError, "error-degrees", f"{_DEGREES}, but X has {X.shape[1]} columns")


def _are_degrees(X):
    """Return whether each number is a latitude, in the first column, or a longitude."""
    return (X >= [-90, -180]) & (X <= [90, 360])


def check_degrees(X: NDArray) -> None:
    """Raise a `ValueError` unless the columns are latitudes and longitudes in degrees."""
    check_two_columns(X)
    bad = np.argwhere(~_are_degrees(X))
    if len(bad):
        row, column = bad[0]
        name, limits = (("latitude", "-90 to 90"), ("longitude", "-180 to 360"))[column]
        raise explained(
            ValueError,
            "error-degrees",
            f"{_DEGREES}, but the {name} X[{row}, {column}] is {X[row, column]:g}, which is not "
            f"from {limits}; swap the columns if the longitude comes first",
        )
