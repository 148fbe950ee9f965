"""Near neighbors in many dimensions, where no tree finds the nearest ones in reasonable time.

Random trees put points that are near each other into the same leaves, whose points are compared
with each other. Then each point is compared with the neighbors of its neighbors, which are likely
to be near it (Dong, Charikar and Li, "Efficient k-nearest neighbor graph construction for generic
similarity measures", WWW 2011), until few lists get better. Pairs that are far apart along the
first principal axes are not compared in all dimensions.
"""

import contextlib
from typing import NamedTuple

import numpy as np

from kdegraph.costs import NEIGHBOR_COSTS
from kdegraph.geometry.sparse_points import nearest_rows
from kdegraph.geometry.tree import build_tree
from kdegraph.geometry.units import rescaled, unit_scale
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.progress import partial_progress
from kdegraph.runtime.threads import blas_threads
from kdegraph.validation import SparsePoints

# Neighbors that are looked for at least, so that all that need some find the same ones.
LIST_LENGTH = 50
# Random trees, and rounds at most.
N_TREES, MAX_ROUNDS = 4, 6
# Points whose principal axes are taken.
AXES_SAMPLE = 4096


class NeighborLists(NamedTuple):
    """Near neighbors of all points."""

    distances: np.ndarray  # (n, k) float64: ascending along each row, to rounding
    indices: np.ndarray  # (n, k) int32: the neighbors; a point is none of its own
    # (n,) int64: the points in an order in which neighbors are near each other; None of sparse ones
    order: np.ndarray | None


# The lists found within `keeping_lists`, by the identity of the array and their length.
_kept: dict[int, dict[int, NeighborLists]] = {}


@contextlib.contextmanager
def keeping_lists(*arrays):
    """Within this context, `near_neighbors` of these very arrays are found once for each length.

    The lists do not depend on seeds, so that several graphs of the same points can share them, and
    a graph and its bandwidths.
    """
    new = [id(X) for X in arrays if id(X) not in _kept]
    _kept.update({key: {} for key in new})
    try:
        yield
    finally:
        for key in new:
            _kept.pop(key, None)


class _Candidates(NamedTuple):
    """The nearest neighbors found so far."""

    # (n, k) float32: squared distances, ascending along each row; infinite where there is no
    # neighbor yet
    squared: np.ndarray
    indices: np.ndarray  # (n, k) int32: the neighbors; -1 for none
    is_new: np.ndarray  # (n, k) bool: whether the neighbor was found in the last round


class _Links(NamedTuple):
    """Whose neighbors a point is compared with."""

    # (n, k) int32 and bool: the neighbors of each point, see `_Candidates`
    indices: np.ndarray
    is_new: np.ndarray
    # A point is compared with the neighbors of its first `n_links` neighbors, and of at most as
    # many points whose neighbor it is.
    n_links: int
    # (n + 1,) int64: point j is among the first neighbors of ``incoming[start[j]:start[j + 1]]``
    start: np.ndarray
    # int32 and bool
    incoming: np.ndarray
    incoming_is_new: np.ndarray


def has_many_dimensions(X):
    """Return whether near neighbors replace the nearest ones: for many points in many dimensions,
    where the nearest would cost more. Of sparse points, `near_neighbors` are the nearest.
    """
    if isinstance(X, SparsePoints):
        return len(X) > 1
    (n, d), costs = X.shape, NEIGHBOR_COSTS
    near = costs.near_point + costs.near_point_per_dimension * d
    return d >= costs.min_near_dimension and near <= n * (
        costs.all_pair + costs.all_pair_per_dimension * d
    )


def has_duplicates(lists):
    """Return whether some of the points of these `NeighborLists` coincide."""
    return bool((lists.distances[:, 0] == 0).any())


def near_neighbors(X, k=LIST_LENGTH, progress=None):
    """Find most of the nearest other points of each point, the same for any number of threads, and
    of sparse points all. At least k, and at least `LIST_LENGTH`, are looked for, and at most n - 1.

    On points near a surface of 6 or 12 dimensions these are more than 98 % (tests, benchmarks:
    many_dimensions). Points without any structure are the hardest: 92 % for 20,000 normal points in
    24 dimensions, 70 % in 100.

    There are about O(n log n) comparisons. X is not copied if it is float32 and C-contiguous, and
    takes 4 n d bytes otherwise; the lists take 16 bytes for each neighbor.
    """
    k = min(max(k, LIST_LENGTH), len(X) - 1)
    if k == 0:
        return NeighborLists(np.empty((1, 0)), np.empty((1, 0), np.int32), np.zeros(1, int))
    kept = _kept.get(id(X), {})
    if k not in kept:
        if isinstance(X, SparsePoints):
            kept[k] = NeighborLists(*nearest_rows(X, k, progress=progress), None)
        else:
            kept[k] = _search(X, k, progress)
    return kept[k]


def _search(X, k, progress):
    """Return the lists of `near_neighbors`, for a number of neighbors from 1 to n - 1."""
    n = len(X)
    exponent = unit_scale(X)
    X = np.ldexp(X, -exponent) if exponent else X
    points = _in_single_precision(X)
    rng = np.random.default_rng(0)
    axes = _principal_coordinates(points, rng)
    found = _Candidates(
        np.full((n, k), np.inf, np.float32), np.full((n, k), -1, np.int32), np.ones((n, k), bool)
    )
    order = _join_in_random_trees(points, axes, rng, found, partial_progress(progress, 0.0, 0.5))
    for r in range(MAX_ROUNDS):
        part = partial_progress(progress, 0.5 + 0.4 * r / MAX_ROUNDS, 0.9)
        found = _compare_with_neighbors_of_neighbors(points, axes, order, found, part)
        if np.count_nonzero(found.is_new) <= 0.02 * n * k:
            break
    distances = np.empty((n, k))
    part = partial_progress(progress, 0.9, 1.0)
    parallel.run(_measure, n, X, found.indices, distances, progress=part)
    return NeighborLists(*rescaled(distances, found.indices, exponent), order)


def _in_single_precision(X):
    """Return the points in float32, moved to their mean and scaled where they need to be."""
    largest = max(abs(float(X.max())), abs(float(X.min())))
    # Squares in single precision must neither overflow nor vanish.
    if X.dtype == np.float32 and (largest == 0 or 1e-10 < largest < 1e10):
        return X
    unit = largest if largest > 0 else 1.0
    middle = (X[:: max(1, len(X) // AXES_SAMPLE)] / unit).mean(axis=0)
    points = np.empty(X.shape, np.float32)
    for start in range(0, len(X), AXES_SAMPLE):
        part = slice(start, start + AXES_SAMPLE)
        points[part] = X[part] / unit - middle
    return points


def _principal_coordinates(points, rng):
    """Coordinates along the first principal axes of a part of the points, (n, q <= 32) float32."""
    from sklearn.utils.extmath import randomized_svd

    sample = points[rng.choice(len(points), min(len(points), AXES_SAMPLE), replace=False)]
    sample = sample - sample.mean(axis=0)
    q, seed = min(32, *sample.shape), int(rng.integers(2**31))
    with blas_threads(0):  # the same bits for any number of threads
        _, _, axes = randomized_svd(sample, q, n_iter=2, random_state=seed)
        return np.ascontiguousarray(points @ axes.T)


def _join_in_random_trees(points, axes, rng, found, progress):
    """Compare the points that share a leaf in one of the random trees, which divide them by the
    first 16 axes; return the order of the points in the last one.
    """
    leaf_size = max(64, 3 * found.indices.shape[1])
    q = min(16, axes.shape[1])
    for t in range(N_TREES):
        rotation, _ = np.linalg.qr(rng.standard_normal((q, q)))
        tree = build_tree(np.ascontiguousarray(axes[:, :q] @ rotation), leaf_size)
        part = partial_progress(progress, t / N_TREES, (t + 1) / N_TREES)
        with blas_threads(0):
            parallel.run(_join_leaves, 2 ** (tree.n_levels - 1), tree, points, found, progress=part)
    return tree.order


@jit
def _join_leaves(begin, end, tree, points, found):
    """Compare the points of each leaf with each other."""
    first_leaf = 2 ** (tree.n_levels - 1) - 1
    for leaf in range(first_leaf + begin, first_leaf + end):
        members = tree.order[tree.start[leaf] : tree.stop[leaf]]
        # From the first of them, so that the products of points near each other are small.
        rows = np.empty((members.size, points.shape[1]), np.float32)
        for a in range(members.size):
            for c in range(points.shape[1]):
                rows[a, c] = points[members[a], c] - points[members[0], c]
        products = np.dot(rows, rows.T)
        for a in range(members.size):
            squared, indices = found.squared[members[a]], found.indices[members[a]]
            for b in range(members.size):
                value = max(products[a, a] + products[b, b] - 2 * products[a, b], np.float32(0.0))
                if value < squared[-1] and a != b and not (indices == members[b]).any():
                    _insert(value, members[b], squared, indices)


@jit(borrow=True)
def _insert(value, j, squared, indices):
    """Put a neighbor into its place in ascending lists, whose last entry falls out."""
    m = squared.size - 1
    while m > 0 and squared[m - 1] > value:
        squared[m], indices[m] = squared[m - 1], indices[m - 1]
        m -= 1
    squared[m], indices[m] = value, j


def _compare_with_neighbors_of_neighbors(points, axes, order, found, progress):
    """Better lists than these."""
    n, k = found.indices.shape
    n_links = min(max(2, 1200 // (2 * k)), k)  # about 1,200 neighbors of neighbors
    linked = found.indices[:, :n_links].ravel()
    by_neighbor = np.argsort(linked, kind="stable")
    links = _Links(
        found.indices,
        found.is_new,
        n_links,
        np.searchsorted(linked[by_neighbor], np.arange(n + 1)),
        (by_neighbor // n_links).astype(np.int32),
        found.is_new[:, :n_links].ravel()[by_neighbor],
    )
    better = _Candidates(found.squared.copy(), found.indices.copy(), np.empty((n, k), bool))
    parallel.run(_compare_range, n, points, axes, order, links, better, progress=progress)
    return better


@jit
def _compare_range(begin, end, points, axes, order, links, better):
    """Compare the points order[begin:end] with the neighbors of their neighbors.

    Pairs are left out that have been compared before, by way of two links none of which is new.
    """
    n = len(points)
    seen = np.full(n, -1, np.int32)  # i for what is found now, n + i for the list of point i
    for position in range(begin, end):
        i = order[position]
        seen[i] = n + i
        for j in links.indices[i]:
            seen[j] = n + i
        for m in range(links.n_links):
            j, is_new = links.indices[i, m], links.is_new[i, m]
            _compare(points, axes, i, links.indices[j], links.is_new[j], is_new, seen, better)
        last = min(links.start[i + 1], links.start[i] + links.n_links)
        for m in range(links.start[i], last):
            j, is_new = links.incoming[m], links.incoming_is_new[m]
            _compare(
                points, axes, i, links.incoming[m : m + 1], links.incoming_is_new[m : m + 1],
                False, seen, better,
            )  # fmt: skip
            _compare(points, axes, i, links.indices[j], links.is_new[j], is_new, seen, better)
        for m in range(better.indices.shape[1]):
            better.is_new[i, m] = seen[better.indices[i, m]] == i


@jit(borrow=True)
def _compare(points, axes, i, candidates, are_new, all_new, seen, better):
    """Put candidates, all or the new ones, into the list of point i if they are near enough."""
    squared, indices = better.squared[i], better.indices[i]
    for m in range(candidates.size):
        j = candidates[m]
        if not (all_new or are_new[m]) or seen[j] == i or seen[j] == len(points) + i:
            continue
        seen[j] = i
        if _squared_distance(axes[i], axes[j]) < squared[-1]:
            value = _squared_distance(points[i], points[j])
            if value < squared[-1]:
                _insert(value, j, squared, indices)


@jit(reassociate=True, borrow=True)
def _squared_distance(x, y):
    total = np.float32(0.0)
    for c in range(x.size):
        total += (x[c] - y[c]) * (x[c] - y[c])
    return total


@jit
def _measure(begin, end, X, indices, distances):
    """Write the distances to the rounding of float64, and sort both by them."""
    for i in range(begin, end):
        for m in range(indices.shape[1]):
            distances[i, m] = _distance(X[i], X[indices[i, m]])
        ranks = np.argsort(distances[i])
        distances[i] = distances[i][ranks]
        indices[i] = indices[i][ranks]


@jit(reassociate=True, borrow=True)
def _distance(x, y):
    total = 0.0
    for c in range(x.size):
        gap = np.float64(x[c]) - np.float64(y[c])
        total += gap * gap
    return np.sqrt(total)
