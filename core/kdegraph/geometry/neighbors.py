"""Exact nearest neighbors, for any number of dimensions and whatever the data: duplicates, far
outliers, huge coordinates.
"""

import math

import numpy as np
from scipy.spatial import cKDTree

from kdegraph.costs import NEIGHBOR_COSTS
from kdegraph.runtime import parallel

_CHUNK = 4096  # queries of one call of scikit-learn
_CANCELLATION = (
    1e6 * np.finfo(float).eps
)  # squared distances below this share of the squared norms have under 6 digits left


def unit_scale(X):
    """The exponent e of the power of two with ``max |X| <= 2**e``, or 0 where squares of the
    coordinates are harmless anyway.

    Multiplying by a power of two is exact; without it the squares of 1e200 and 1e-200 would
    overflow and vanish.
    """
    largest = max(abs(float(X.max())), abs(float(X.min())))
    return 0 if largest == 0 or 1e-100 < largest < 1e100 else math.frexp(largest)[1]


def duplicate_groups(X):
    """Find points with the same coordinates.

    Parameters
    ----------
    X : (n, d) float64 array

    Returns
    -------
    order : (n,) int array
        The points, equal ones next to each other and in ascending order.
    starts : (m,) int array
        Where each group starts in `order`; a point without duplicates is a group of one.

    Notes
    ----- Sorts one random projection, O(n log n). Different points with the same projection may
    split a group; groups are never too large.
    """
    direction = np.random.default_rng(0).uniform(0.5, 1.0, X.shape[1])
    key = np.zeros(len(X))
    for column, factor in enumerate(
        direction
    ):  # element by element, unlike a matrix product: equal rows get equal keys
        key += X[:, column] * (factor / X.shape[1])
    order = np.argsort(key, kind="stable")
    candidates = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    joined = np.zeros(len(X), bool)
    joined[candidates + 1] = (X[order[candidates]] == X[order[candidates + 1]]).all(axis=1)
    return order, np.flatnonzero(~joined)


def nearest(X, queries, k, progress=None):
    """The `k` nearest points of `X` to each of the points `X[queries]`, exactly, a point itself
    being its own first neighbor.

    Parameters
    ----------
    X : (n, d) float64 array
    queries : (m,) int array
        Indices into `X`.
    k : int
        At most n.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    distances : (m, k) float64 array
        Ascending along each row.
    indices : (m, k) int array
    """
    exponent = unit_scale(X)
    Z = np.ldexp(X, -exponent) if exponent else X
    if Z.shape[1] <= NEIGHBOR_COSTS.max_tree_dimension:
        tree = cKDTree(Z, balanced_tree=False)
        # Queries that follow each other in space find the same nodes in the caches: three times
        # faster for a million points.
        position = np.empty(len(X), np.intp)
        position[tree.indices] = np.arange(len(X))
        sequence = np.argsort(position[queries])
        found = query_tree(tree, Z[queries[sequence]], k, progress=progress)
        distances, indices = np.empty((len(queries), k)), np.empty((len(queries), k), np.intp)
        distances[sequence], indices[sequence] = found
    else:
        distances, indices = _Brute(Z).query(queries, k, progress)
    with np.errstate(over="ignore"):  # distances between coordinates near the largest double
        return np.minimum(np.ldexp(distances, exponent), np.finfo(float).max), indices


def query_tree(tree, points, k, *, p=2, progress=None):
    """The `k` nearest points of a SciPy k-d tree to each of `points`, on all threads.

    The threads of ``cKDTree.query(workers=...)`` go on writing after an interrupt has freed the
    arrays that they write to, which ends the process. Those of `parallel.run` do not.

    Parameters
    ----------
    tree : scipy.spatial.cKDTree
    points : (m, d) float64 array
    k : int
    p : float, optional
        Order of the Minkowski norm.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    distances : (m, k) float64 array
        Ascending along each row.
    indices : (m, k) int array
    """
    distances, indices = np.empty((len(points), k)), np.empty((len(points), k), np.intp)

    def query(start, stop):
        found = tree.query(points[start:stop], np.arange(1, k + 1), p=p)
        distances[start:stop], indices[start:stop] = found

    parallel.run(query, len(points), progress=progress)
    return distances, indices


class _Brute:
    """All distances by matrix products, with a k-d tree for the points whose distances have lost
    their digits to cancellation.
    """

    def __init__(self, Z):
        from sklearn.neighbors import NearestNeighbors

        self.Z = Z
        self.centered = Z - np.median(Z, axis=0)
        self.norms = np.einsum("ij,ij->i", self.centered, self.centered)
        self.index = NearestNeighbors(algorithm="brute").fit(self.centered)

    def query(self, queries, k, progress=None):
        distances, indices = np.empty((len(queries), k)), np.empty((len(queries), k), np.intp)
        for start in range(0, len(queries), _CHUNK):
            part = slice(start, start + _CHUNK)
            found = self.index.kneighbors(self.centered[queries[part]], k)
            distances[part], indices[part] = found
            if progress is not None:
                progress(min(1.0, (start + _CHUNK) / len(queries)))
        # ||x - y||^2 is computed as ||x||^2 - 2 xy + ||y||^2: worthless when it is tiny beside the
        # norms, e.g. in a tight cluster far off.
        unsure = np.flatnonzero(distances[:, -1] ** 2 <= _CANCELLATION * self.norms[queries])
        if len(unsure):
            tree = cKDTree(self.Z, balanced_tree=False)
            distances[unsure], indices[unsure] = query_tree(tree, self.Z[queries[unsure]], k)
        return distances, indices
