"""How points of any dimension are placed on the screen."""

from weakref import WeakKeyDictionary

import numpy as np
from kdegraph.datasets import Dataset

COMPONENTS = ("Principal component 1", "Principal component 2")


def axes(dataset):
    """Names of the axes that points can be drawn along: their features, and for d > 2 two principal
    components first.
    """
    return (
        (*COMPONENTS, *dataset.feature_names)
        if len(dataset.feature_names) > 2
        else dataset.feature_names
    )


def first_axes(dataset):
    """The two axes that points are drawn along at first."""
    names = axes(dataset)
    return names[0], names[min(1, len(names) - 1)]


# The positions along the first axes.
_prepared: WeakKeyDictionary[Dataset, np.ndarray] = WeakKeyDictionary()


def prepare(dataset):
    """Compute the positions along the first axes, which `positions` then returns at once.

    Call this in a worker thread: the principal components of millions of points take seconds.
    """
    _prepared[dataset] = positions(dataset, *first_axes(dataset))


def perpendicular(dataset, horizontal, vertical):
    """Whether two of `axes` are perpendicular in the space of the points and have its units, so
    that no distance is larger on the screen than there.
    """
    kinds = {name in dataset.feature_names for name in (horizontal, vertical)}
    return horizontal != vertical and len(kinds) == 1


JITTER = "random offset, to tell points apart"


def axis_names(dataset, horizontal, vertical):
    """What is written at the axes of `positions`."""
    return (horizontal, vertical if dataset.X.shape[1] > 1 else JITTER)


def positions(dataset, horizontal, vertical):
    """Coordinates along two of `axes`.

    Returns
    -------
    (n, 2) float64 array
        With a single feature, the second coordinate is a random offset, so that the points can be
        told apart.
    """
    if dataset in _prepared and (horizontal, vertical) == first_axes(dataset):
        return _prepared[dataset]
    X = dataset.X
    if X.shape[1] == 1:
        most = 0.2 * max(float(np.ptp(X)), 1e-300)
        return np.column_stack([X[:, 0], np.random.default_rng(0).uniform(-most, most, len(X))])
    components = principal_components(X) if {horizontal, vertical} & set(COMPONENTS) else None
    return np.column_stack([_along(dataset, components, name) for name in (horizontal, vertical)])


def _along(dataset, components, name):
    if name in dataset.feature_names:
        return dataset.X[:, dataset.feature_names.index(name)]
    return components[:, COMPONENTS.index(name)]


def principal_components(X):
    """The first two principal components of points.

    Parameters
    ----------
    X : (n, d) float array, d >= 2

    Returns
    -------
    (n, 2) float64 array
        In units of X. The sign, which is arbitrary, is such that the largest weight is positive.
    """
    centered = X - X.mean(axis=0)
    scale = max(float(np.abs(centered).max()), 1e-300)
    centered /= scale  # so that the squares neither overflow nor vanish
    vectors = np.linalg.eigh(centered.T @ centered)[1][:, :-3:-1]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), (0, 1)])
    return centered @ vectors * scale
