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
        One of `kdegraph.datasets.names()`, of `OTHERS` or of the built-in photographs, whose pixels
        are the points; "... in the unit box" moves and scales all coordinates by one factor.
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
    elif plain in OTHERS:
        data = OTHERS[plain](n, np.random.default_rng(seed))
    else:
        data = kdegraph.datasets.make(plain, n=n, seed=seed)
    if plain != name:
        low, high = data.X.min(axis=0), data.X.max(axis=0)
        data = replace(data, X=(data.X - low) / (high - low).max())
    return data


def _touching_blobs(n, rng):
    centers, y = rng.uniform(-6, 6, (8, 2)), np.arange(n) % 8
    return Dataset(centers[y] + rng.normal(size=(n, 2)), y, sigma=1.0, n_clusters=8)


def _digits(n, rng):
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return Dataset(X[:n] / 16, y[:n], sigma=1.5, n_clusters=10)


def _one_gaussian(n, rng):
    return Dataset(rng.normal(size=(n, 3)), sigma=1.0)


def _small_beside_large(n, rng):
    y = (np.arange(n) >= 0.95 * n).astype(int)
    X = rng.normal(size=(n, 2)) * np.where(y, 0.2, 1.0)[:, None]
    return Dataset(X + np.where(y, 5.0, 0.0)[:, None], y, sigma=0.5, n_clusters=2)


OTHERS = {
    "touching blobs": _touching_blobs,
    "digits": _digits,
    "one Gaussian": _one_gaussian,
    "small beside large": _small_beside_large,
}
ALL = (*kdegraph.datasets.names(), *OTHERS)


def normal_clusters(n, d):
    """Five normal clusters in d dimensions, of which some overlap."""
    rng = np.random.default_rng(d)
    return rng.normal(size=(5, d))[rng.integers(0, 5, n)] * 4 + rng.normal(size=(n, d))
