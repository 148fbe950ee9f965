"""Place points of any dimension on the screen, and find those within a shape there."""

from weakref import WeakKeyDictionary

import numpy as np
from kdegraph.datasets import Dataset

COMPONENTS = ("Principal component 1", "Principal component 2")
MAP = ("Map, horizontal", "Map, vertical")

# Places of points by the edges of their graph, (n, 2), once they are known.
_maps: WeakKeyDictionary[Dataset, np.ndarray] = WeakKeyDictionary()


def has_map(dataset):
    """Return whether the map of the points is known."""
    return dataset in _maps


def set_map(dataset, places):
    """Keep the map of points; its axes are the first ones from now on."""
    _maps[dataset] = places


def axes(dataset):
    """Return the names of the axes that points can be drawn along.

    They are the features; for d > 2, those of the map, if it is known, and two principal components
    come first.
    """
    names = dataset.feature_names
    if len(names) <= 2:
        return names
    return (*(MAP if has_map(dataset) else ()), *COMPONENTS, *names)


def first_axes(dataset):
    """Return the two axes that points are drawn along at first."""
    names = axes(dataset)
    if dataset.metric == "haversine":
        return names[1], names[0]  # a map: the longitude is horizontal
    return names[0], names[min(1, len(names) - 1)]


# The positions along the first axes, and their names.
_prepared: WeakKeyDictionary[Dataset, tuple[tuple, np.ndarray]] = WeakKeyDictionary()


def prepare(dataset):
    """Compute the positions along the first axes, which `positions` then returns at once.

    Call this in a worker thread: the principal components of millions of points take seconds.
    """
    names = first_axes(dataset)
    _prepared[dataset] = names, positions(dataset, *names)


def perpendicular(dataset, horizontal, vertical):
    """Return whether two of `axes` are perpendicular in the space of the points.

    With the units of this space, no distance is then larger on the screen than there.
    """
    if dataset.metric != "euclidean" or {horizontal, vertical} & set(MAP):
        return False
    kinds = {name in dataset.feature_names for name in (horizontal, vertical)}
    return horizontal != vertical and len(kinds) == 1


def axis_names(dataset, horizontal, vertical):
    """Return the names that are written at the axes of `positions`."""
    if dataset.X.shape[1] > 1:
        return (horizontal, vertical)
    return (horizontal, "random offset, to tell points apart")


def positions(dataset, horizontal, vertical):
    """Return the coordinates along two of `axes`: (n, 2) float64 array.

    With a single feature, the second coordinate is a random offset, so that the points can be told
    apart.
    """
    names, places = _prepared.get(dataset, (None, None))
    if (horizontal, vertical) == names:
        return places
    X = dataset.X
    if X.shape[1] == 1:
        most = 0.2 * max(float(np.ptp(X)), 1e-300)
        return np.column_stack([X[:, 0], np.random.default_rng(0).uniform(-most, most, len(X))])
    components = principal_components(X) if {horizontal, vertical} & set(COMPONENTS) else None
    return np.column_stack([_along(dataset, components, name) for name in (horizontal, vertical)])


def _along(dataset, components, name):
    if name in MAP:
        return _maps[dataset][:, MAP.index(name)]
    if name not in dataset.feature_names:
        return components[:, COMPONENTS.index(name)]
    number = dataset.feature_names.index(name)
    values = dataset.X[:, number]
    return _unwrapped(values) if dataset.metric == "haversine" and number == 1 else values


def _unwrapped(longitude):
    """Return longitudes in degrees that do not jump where points lie on both sides of 180."""
    ascending = np.unique(longitude)
    gaps = np.diff(ascending, append=ascending[0] + 360)
    last = ascending[np.argmax(gaps)]  # the widest gap follows it
    return longitude + 360 * ((longitude <= last) & (last < ascending[-1]))


def principal_components(X):
    """Return the first two principal components of (n, d) points, d >= 2, in their units.

    The sign, which is arbitrary, is such that the largest weight is positive.
    """
    centered = X - X.mean(axis=0)
    scale = max(float(np.abs(centered).max()), 1e-300)
    centered /= scale  # so that the squares neither overflow nor vanish
    vectors = np.linalg.eigh(centered.T @ centered)[1][:, :-3:-1]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), (0, 1)])
    return centered @ vectors * scale


def indices_within(geometry, positions, reach=0.0):
    """Return the indices of the points within a geometry of a Bokeh selection event.

    The geometry is ``{"type": "rect", "x0", "x1", "y0", "y1"}``, ``{"type": "poly", "x", "y"}`` or
    ``{"type": "point", "x", "y"}``. For a single point, the nearest one within `reach` counts. The
    indices ascend.
    """
    x, y = positions[:, 0], positions[:, 1]
    if geometry["type"] == "rect":
        x0, x1 = sorted((geometry["x0"], geometry["x1"]))
        y0, y1 = sorted((geometry["y0"], geometry["y1"]))
        inside = (x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1)
    elif geometry["type"] == "poly":
        corners = (np.asarray(geometry[axis], dtype=float) for axis in ("x", "y"))
        inside = _inside_polygon(x, y, *corners)
    else:
        distances = np.hypot(x - geometry["x"], y - geometry["y"])
        nearest = int(np.argmin(distances))
        return np.array([nearest] if distances[nearest] <= reach else [], dtype=np.intp)
    return np.flatnonzero(inside)


def combined(before, found, keys):
    """Return the selection after `found` was selected with these keys, like Bokeh.

    Shift adds, Ctrl keeps what is in both, Ctrl+Shift removes. All arrays ascend.
    """
    operations = {
        (True, False): np.union1d,
        (False, True): np.intersect1d,
        (True, True): np.setdiff1d,
    }
    operation = operations.get((bool(keys.get("shift")), bool(keys.get("ctrl"))))
    return found if operation is None else operation(before, found)


def _inside_polygon(x, y, corners_x, corners_y):
    """Return whether points are in a polygon.

    A point is inside when a ray from it crosses the outline an odd number of times.
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
