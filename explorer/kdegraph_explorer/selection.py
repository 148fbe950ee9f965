"""Which points lie within a shape drawn with the mouse."""

import numpy as np


def indices_within(geometry, positions, reach=0.0):
    """Indices of the points within a geometry of a Bokeh selection event.

    Parameters
    ----------
    geometry : dict
        ``{"type": "rect", "x0", "x1", "y0", "y1"}``, ``{"type": "poly", "x", "y"}`` or ``{"type":
        "point", "x", "y"}``.
    positions : (n, 2) float array
    reach : float
        For a single point, how far away the nearest one may be.

    Returns
    -------
    int array
        In ascending order; empty when there is none.
    """
    x, y = positions[:, 0], positions[:, 1]
    if geometry["type"] == "rect":
        x0, x1 = sorted((geometry["x0"], geometry["x1"]))
        y0, y1 = sorted((geometry["y0"], geometry["y1"]))
        inside = (x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1)
    elif geometry["type"] == "poly":
        inside = _inside_polygon(
            x, y, np.asarray(geometry["x"], dtype=float), np.asarray(geometry["y"], dtype=float)
        )
    else:
        distances = np.hypot(x - geometry["x"], y - geometry["y"])
        nearest = int(np.argmin(distances))
        return np.array([nearest] if distances[nearest] <= reach else [], dtype=np.intp)
    return np.flatnonzero(inside)


def combined(before, found, keys):
    """What is selected after `found` was selected with these keys held down, as Bokeh has it.

    Parameters
    ----------
    before, found : int arrays
        In ascending order.
    keys : dict
        Whether "shift" and "ctrl" are held down: Shift adds, Ctrl keeps what is in both, Ctrl+Shift
        removes.

    Returns
    -------
    int array
    """
    operations = {
        (True, False): np.union1d,
        (False, True): np.intersect1d,
        (True, True): np.setdiff1d,
    }
    operation = operations.get((bool(keys.get("shift")), bool(keys.get("ctrl"))))
    return found if operation is None else operation(before, found)


def _inside_polygon(x, y, corners_x, corners_y):
    """Even-odd rule: a point is inside when a ray from it crosses the outline an odd number of
    times.
    """
    inside = np.zeros(len(x), dtype=bool)
    candidates = np.flatnonzero(
        (x >= corners_x.min())
        & (x <= corners_x.max())
        & (y >= corners_y.min())
        & (y <= corners_y.max())
    )
    px, py = x[candidates], y[candidates]
    crossings = np.zeros(len(candidates), dtype=bool)
    for ax, ay, bx, by in zip(
        corners_x, corners_y, np.roll(corners_x, -1), np.roll(corners_y, -1), strict=True
    ):
        if ay != by:
            crossings ^= ((ay > py) != (by > py)) & (px < (bx - ax) * (py - ay) / (by - ay) + ax)
    inside[candidates] = crossings
    return inside
