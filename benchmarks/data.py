"""Points that several experiments measure with."""

from dataclasses import replace

import kdegraph
import numpy as np
from kdegraph.datasets import Dataset


def points(name, n, seed=0):
    """Data by name; the same seed gives the same points.

    Parameters
    ----------
    name : str
        One of `kdegraph.datasets.names()`, also in words ("touching blobs"), "digits" or one of the
        built-in photographs, whose pixels are the points; "... in the unit box" moves and scales
        all coordinates by one factor.
    n : int
        The number of points, of a photograph the largest one.
    seed : int

    Returns
    -------
    Dataset
    """
    plain = name.removesuffix(" in the unit box")
    if plain in kdegraph.datasets.photo_names():
        data = kdegraph.datasets.photo(plain, color="rgb", blur=1, max_pixels=n)
    elif plain == "digits":
        data = _digits(n)
    else:
        data = kdegraph.datasets.make(plain.lower().replace(" ", "_"), n=n, seed=seed)
    if plain != name:
        low, high = data.X.min(axis=0), data.X.max(axis=0)
        data = replace(data, X=(data.X - low) / (high - low).max())
    return data


def _digits(n):
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return Dataset(X[:n] / 16, y[:n], sigma=1.5, n_clusters=10)


# The sets by which automatic choices are judged.
ALL = (
    "moons", "circles", "anisotropic", "blobs", "varied", "spirals", "rings", "blobs3d", "blobs20d",
    "swiss_roll", "s_curve", "uniform", "clumps", "scales", "bridge", "touching blobs", "digits",
    "one Gaussian", "small beside large",
)  # fmt: skip


def normal_clusters(n, d):
    """Five normal clusters in d dimensions, of which some overlap."""
    rng = np.random.default_rng(d)
    return rng.normal(size=(5, d))[rng.integers(0, 5, n)] * 4 + rng.normal(size=(n, d))
