"""Exact nearest neighbors, for any number of dimensions and whatever the data: duplicates, far
outliers, huge coordinates.
"""

import numpy as np

from kdegraph.costs import NEIGHBOR_COSTS
from kdegraph.geometry.sparse_points import nearest_rows
from kdegraph.geometry.tree import build_tree
from kdegraph.geometry.tree_search import search_leaves
from kdegraph.geometry.units import rescaled, unit_scale
from kdegraph.runtime import parallel
from kdegraph.validation import SparsePoints

_CHUNK = 4096  # queries of one call of scikit-learn


def duplicate_groups(X):
    """Find points with the same coordinates. Return their order, in which equal ones are next to
    each other and ascend, and where each group starts in it; a point without duplicates is a group
    of one.

    One random projection is sorted, O(n log n). Different points with the same projection may split
    a group; groups are never too large.
    """
    direction = np.random.default_rng(0).uniform(0.5, 1.0, X.shape[1])
    direction /= X.shape[1]
    if isinstance(X, SparsePoints):
        key = X @ direction  # row by row, in the order of the entries
    else:
        key = np.zeros(len(X))
        # Element by element, unlike a matrix product: equal rows get equal keys.
        for column, factor in enumerate(direction):
            key += X[:, column] * factor
    order = np.argsort(key, kind="stable")
    candidates = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    joined = np.zeros(len(X), bool)
    joined[candidates + 1] = equal_rows(X[order[candidates]], X[order[candidates + 1]])
    return order, np.flatnonzero(~joined)


def equal_rows(X, Y):
    """Return which rows of two sets of points are equal, (n,) bool."""
    if isinstance(X, SparsePoints):
        return np.diff((X != Y).indptr) == 0
    return (X == Y).all(axis=1)


def keys_of_rows(points):
    """Return an iterator over bytes that differ where points do, a multiple of 8 of each point."""
    if not isinstance(points, SparsePoints):
        return (row.tobytes() for row in points)
    cuts = points.indptr[1:-1]
    entries = np.split(points.indices.astype(np.int64), cuts), np.split(points.data, cuts)
    return (columns.tobytes() + values.tobytes() for columns, values in zip(*entries, strict=True))


def groups_of_identical(X):
    """Return the number of the group of identical points that each one belongs to, (n,) int32, or
    None if no two are identical.
    """
    order, starts = duplicate_groups(X)
    if len(starts) == len(X):
        return None
    group = np.empty(len(X), np.int32)
    group[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(X)))
    return group


def nearest(X, queries, k, progress=None):
    """Find the `k` nearest points of `X` to each of the points `X[queries]`, exactly, a point
    itself being its own first neighbor. Return distances, ascending along each row, and indices,
    (m, k) each. Which ones of equally far points are among the nearest is arbitrary.
    """
    if isinstance(X, SparsePoints):
        return _of_sparse_points(X, queries, k, progress)
    costs = NEIGHBOR_COSTS
    many = len(queries) >= costs.least_share_of_queries * len(X) and k <= costs.max_list
    if many and X.shape[1] <= costs.max_tree_dimension:
        find = _of_all_points
    elif X.shape[1] <= costs.max_query_dimension:
        find = _on_unbalanced_tree
    else:
        find = _by_products
    exponent = unit_scale(X)
    found = find(np.ldexp(X, -exponent) if exponent else X, queries, k, progress)
    return rescaled(*found, exponent)


def nearest_in_tree(tree, k, progress=None):
    """Find the `k` nearest points of each point of a tree, exactly, a point itself being its own
    first neighbor. Return distances, ascending along each row, and indices, (n, k) each; both are
    in the original order. Which ones of equally far points are among the nearest is arbitrary, but
    does not depend on the number of threads.

    It takes O(k) for each point that is a candidate: for a k of hundreds SciPy's tree is faster.
    Squares of the coordinates neither overflow nor vanish, see `unit_scale`.
    """
    n = len(tree.points)
    distances, indices = np.empty((n, k)), np.empty((n, k), np.intp)
    n_leaves = 2 ** (tree.n_levels - 1)
    parallel.run(search_leaves, n_leaves, tree, distances, indices, progress=progress)
    return distances, indices


def _of_sparse_points(X, queries, k, progress):
    """Do what `nearest` does for `SparsePoints`; a point is the first of its own neighbors."""
    others = nearest_rows(X, k - 1, X[queries], numbers=queries, progress=progress)
    own = np.zeros(len(queries)), np.asarray(queries)
    return tuple(
        np.concatenate([first[:, None], rest], axis=1)
        for first, rest in zip(own, others, strict=True)
    )


def _of_all_points(Z, queries, k, progress):
    distances, indices = nearest_in_tree(build_tree(Z), k, progress)
    if np.array_equal(queries, np.arange(len(Z))):
        return distances, indices
    return distances[queries], indices[queries]


def _on_unbalanced_tree(Z, queries, k, progress):
    from scipy.spatial import cKDTree

    tree = cKDTree(Z, balanced_tree=False)
    # Queries that follow each other in space find the same nodes in the caches: three times faster
    # for a million points.
    position = np.empty(len(Z), np.intp)
    position[tree.indices] = np.arange(len(Z))
    sequence = np.argsort(position[queries])
    found = query_tree(tree, Z[queries[sequence]], k, progress=progress)
    distances, indices = np.empty((len(queries), k)), np.empty((len(queries), k), np.intp)
    distances[sequence], indices[sequence] = found
    return distances, indices


def query_tree(tree, points, k, *, p=2, progress=None):
    """Find the `k` nearest points of a `scipy.spatial.cKDTree` to each of `points` in the Minkowski
    norm of order `p`, on all threads. Return distances, ascending along each row, and indices, (m,
    k) each.

    The threads of ``cKDTree.query(workers=...)`` go on writing after an interrupt has freed the
    arrays that they write to, which ends the process. Those of `parallel.run` do not.
    """
    distances, indices = np.empty((len(points), k)), np.empty((len(points), k), np.intp)

    ranks = np.arange(1, k + 1)

    def query(start, stop):
        distances[start:stop], indices[start:stop] = tree.query(points[start:stop], ranks, p=p)

    parallel.run(query, len(points), progress=progress)
    return distances, indices


def _by_products(Z, queries, k, progress):
    """Return all distances by matrix products, with a k-d tree for the points whose distances have
    lost their digits to cancellation.
    """
    from scipy.spatial import cKDTree
    from sklearn.neighbors import NearestNeighbors

    centered = Z - np.median(Z, axis=0)
    index = NearestNeighbors(algorithm="brute").fit(centered)
    distances, indices = np.empty((len(queries), k)), np.empty((len(queries), k), np.intp)
    for start in range(0, len(queries), _CHUNK):
        part = slice(start, start + _CHUNK)
        distances[part], indices[part] = index.kneighbors(centered[queries[part]], k)
        if progress is not None:
            progress(min(1.0, (start + _CHUNK) / len(queries)))
    # ||x - y||^2 is computed as ||x||^2 - 2 xy + ||y||^2: it has fewer than 6 digits where it is
    # tiny beside the norms, e.g. in a tight cluster far off.
    tiny = 1e6 * np.finfo(float).eps * np.einsum("ij,ij->i", centered, centered)[queries]
    unsure = np.flatnonzero(distances[:, -1] ** 2 <= tiny)
    if len(unsure):
        tree = cKDTree(Z, balanced_tree=False)
        distances[unsure], indices[unsure] = query_tree(tree, Z[queries[unsure]], k)
    return distances, indices
