"""What the KDE similarity graph is compared with: the full kernel graph, k-NN graphs, and the usual
guess of the bandwidth.
"""

import math
from collections.abc import Callable

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from kdegraph.bandwidth import estimate_sigma
from kdegraph.geometry.kernels import UNDERFLOW, Kernel, exp_neg, exponent, fill_values
from kdegraph.geometry.neighbors import duplicate_groups, nearest, unit_scale
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.memory import available_memory, format_bytes
from kdegraph.runtime.progress import stage_progress
from kdegraph.runtime.responsive import responsive
from kdegraph.validation import check_choice, check_count, check_points, check_positive

# Share of nonzero values below which `full_graph` returns a sparse matrix.
SPARSE_DENSITY = 0.25
# Numbers of points between which that share is estimated.
_DENSITY_ROWS = 128
_DENSITY_COLUMNS = 4096
# Bytes for each edge, in both directions, while the matrix is built: keys, rows, columns, weights.
_PAIR_BYTES = 96


@jit
def _pair_values(start, stop, code, inverse_sigma, X, rows, columns, values):
    for e in range(start, stop):
        values[e] = exp_neg(exponent(code, inverse_sigma, X, rows[e], X, columns[e]))


def _symmetric(X, rows, columns, kernel=None, progress=None):
    """The symmetric matrix of undirected edges (given in either direction, repeated or not):
    sorted, without explicit zeros.

    The weights are the kernel's values, or 1 without a kernel. `progress` is called between the
    steps, with 1.0: so that it can stop them.
    """
    n, between = len(X), progress or (lambda fraction: None)
    keys = np.sort(np.concatenate([rows * np.int64(n) + columns, columns * np.int64(n) + rows]))
    # Much faster than np.unique, which hashes, and than the conversion from COO, which sorts again.
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys
    between(1.0)
    rows, columns = keys // n, keys % n
    between(1.0)
    if kernel is None:
        weights = np.ones(len(keys))
    else:
        weights = np.empty(len(keys))
        parallel.run(
            _pair_values, len(keys), kernel.code, kernel.inverse_sigma, X, rows, columns, weights
        )
        between(1.0)
        kept = weights > 0
        if not kept.all():
            rows, columns, weights = rows[kept], columns[kept], weights[kept]
    index = np.int32 if max(n, len(weights)) < 2**31 else np.int64
    indptr = np.zeros(n + 1, index)
    np.cumsum(np.bincount(rows, minlength=n), out=indptr[1:])
    return scipy.sparse.csr_array((weights, columns.astype(index), indptr), shape=(n, n))


def _refuse(n, needed, limit, what):
    raise MemoryError(
        f"the full graph of n = {n:,} points needs {format_bytes(needed)} ({what}), more than the "
        f"limit of {format_bytes(limit)}; use similarity_graph(X, ...), which keeps its cluster "
        "structure with about n log n edges, take fewer points, or raise max_bytes"
    )


@responsive
def full_graph(
    X: ArrayLike,
    *,
    sigma: float,
    kernel: str = "gaussian",
    max_bytes: int | None = None,
    progress: Callable[[str, float], object] | None = None,
) -> NDArray[np.float64] | scipy.sparse.csr_array:
    """The fully connected similarity graph K: ``K[i, j] = k(x_i, x_j)`` for ``i != j``, without
    self-loops.

    Parameters
    ----------
    X : (n, d) array-like
        Points.
    sigma : float
        Bandwidth, in the units of the points.
    kernel : {"gaussian", "laplacian", "exponential"}
        ``exp(-||x - y||_2^2 / sigma^2)``, ``exp(-||x - y||_1 / sigma)`` or ``exp(-||x - y||_2 /
        sigma)``.
    max_bytes : int, optional
        Most memory that the work may take; by default half of the memory that is available.
    progress : callable, optional
        Called as ``progress("full graph", fraction)``; what it raises stops the work.

    Returns
    -------
    (n, n) float64 ndarray or scipy.sparse.csr_array
        Symmetric with a zero diagonal. Sparse (sorted, no stored zeros) where most values are zero
        because they underflow, which is decided on a sample of the pairs; dense otherwise.

    Raises
    ------
    MemoryError
        Before anything of that size is allocated, with the bytes needed and what to do instead.
    ValueError, TypeError
        For points, a sigma, a kernel or a limit that cannot be used.

    Notes
    -----
    O(n^2 d) time and 8 n^2 bytes when dense; about the number of pairs within 27 sigma
    (Gaussian) or 708 sigma when sparse.

    Examples
    --------
    >>> import kdegraph
    >>> print(kdegraph.full_graph([[0.0], [1.0]], sigma=1.0).round(3))
    [[0.    0.368]
     [0.368 0.   ]]
    """
    X = check_points(X)
    scaled = Kernel(kernel, sigma)
    limit = available_memory() // 2 if max_bytes is None else check_count(max_bytes, "max_bytes")
    n = len(X)
    if _density(X, scaled) < SPARSE_DENSITY:
        return _sparse_graph(X, scaled, limit, progress)
    if 8 * n * n > limit:
        _refuse(n, 8 * n * n, limit, "8 bytes for each pair")
    values = np.empty((n, n))
    report = stage_progress(progress, "full graph")
    columns = np.ascontiguousarray(X.T)
    parallel.run(
        fill_values, n, scaled.code, scaled.inverse_sigma, X, columns, values, progress=report
    )
    np.fill_diagonal(values, 0.0)
    return values


def _density(X, kernel):
    """The share of pairs of different points with a positive kernel value, on evenly spread points;
    1.0 for a single point.
    """
    rows, columns = (
        np.unique(np.linspace(0, len(X) - 1, min(len(X), most)).astype(np.intp))
        for most in (_DENSITY_ROWS, _DENSITY_COLUMNS)
    )
    different = rows[:, None] != columns
    return (
        float((kernel.pairwise(X[rows], X[columns])[different] > 0).mean()) if len(X) > 1 else 1.0
    )


def _sparse_graph(X, kernel, limit, progress):
    """The full graph from the pairs within reach, by a k-d tree."""
    from scipy.spatial import cKDTree

    shift, limits = unit_scale(X), np.finfo(float)
    tree = cKDTree(np.ldexp(X, -shift))
    with np.errstate(over="ignore"):
        sigma = float(np.clip(np.ldexp(kernel.sigma, -shift), limits.tiny, limits.max / 1024))
    radius = sigma * (math.sqrt(UNDERFLOW) if kernel.name == "gaussian" else UNDERFLOW) * (1 + 1e-9)
    norm = 1 if kernel.name == "laplacian" else 2
    if progress is not None:
        progress("full graph", 0.0)
    edges = (int(tree.count_neighbors(tree, radius, p=norm)) - len(X)) // 2
    if edges * _PAIR_BYTES > limit:
        _refuse(
            len(X),
            edges * _PAIR_BYTES,
            limit,
            f"{edges:,} edges that do not underflow, {_PAIR_BYTES} bytes each to build them",
        )
    if progress is not None:
        progress("full graph", 0.2)
    pairs = tree.query_pairs(radius, p=norm, output_type="ndarray")
    graph = _symmetric(X, pairs[:, 0], pairs[:, 1], kernel)
    if progress is not None:
        progress("full graph", 1.0)
    return graph


@responsive
def knn_graph(
    X: ArrayLike,
    n_neighbors: int = 10,
    *,
    mode: str = "connectivity",
    sigma: float | None = None,
    kernel: str = "gaussian",
    progress: Callable[[str, float], object] | None = None,
) -> scipy.sparse.csr_array:
    """The symmetrized k-nearest-neighbor graph: i and j are joined when either is among the
    `n_neighbors` nearest points of the other.

    A point is never its own neighbor, and duplicates of a point are neighbors at distance 0 like
    any other point. A point with more duplicates than `n_neighbors` is joined to those that follow
    it in the order of the rows (round the end), so that ties are broken evenly and the cost stays
    low when thousands of points coincide.

    Parameters
    ----------
    X : (n, d) array-like
        Points.
    n_neighbors : int
        k, from 1 to n - 1. (A single point has no neighbor: for n = 1 any `n_neighbors` gives the
        graph without edges.)
    mode : {"connectivity", "kernel"}
        Weights 1, or the kernel's values. Edges whose kernel value underflows to zero are left out.
    sigma : float, optional
        Bandwidth for ``mode="kernel"``; by default ``estimate_sigma(X, n_neighbors, seed=0)``. Not
        used for "connectivity".
    kernel : {"gaussian", "laplacian", "exponential"}
        The kernel for ``mode="kernel"``; neighbors are always nearest in the Euclidean distance.
    progress : callable, optional
        Called as ``progress("nearest neighbors", fraction)``; what it raises stops the work.

    Returns
    -------
    (n, n) scipy.sparse.csr_array, float64
        Symmetric, zero diagonal, sorted, no duplicates, at most 2 n `n_neighbors` stored values.

    Raises
    ------
    ValueError, TypeError
        Among others for ``n_neighbors >= n``.

    Notes
    -----
    A k-d tree up to 12 dimensions, about O(n log n); distances by matrix products above, O(n^2
    d). Exact in both cases.

    Examples
    --------
    >>> import kdegraph
    >>> print(kdegraph.knn_graph([[0.0], [1.0], [3.0]], 1).toarray())
    [[0. 1. 0.]
     [1. 0. 1.]
     [0. 1. 0.]]
    """
    if progress is not None:
        progress("nearest neighbors", 0.0)
    X = check_points(X)
    check_choice(mode, "mode", ("connectivity", "kernel"))
    n = len(X)
    reason = (
        f"with n = {n} points, since a point is not its own neighbor: "
        "take fewer neighbors or more points"
    )
    k = check_count(n_neighbors, "n_neighbors", maximum=n - 1 if n > 1 else None, reason=reason)
    if sigma is not None:
        sigma = check_positive(sigma, "sigma")
    elif mode == "kernel":
        sigma = estimate_sigma(X, k, seed=0)
    shape = Kernel(kernel, 1.0 if sigma is None else sigma)
    if n == 1:
        return scipy.sparse.csr_array((1, 1))
    report = stage_progress(progress, "nearest neighbors")
    neighbors = _other_neighbors(X, k, report)
    return _symmetric(
        X,
        np.repeat(np.arange(n), k),
        neighbors.ravel(),
        shape if mode == "kernel" else None,
        report,
    )


def _other_neighbors(X, k, progress=None):
    """The k nearest other points of every point, (n, k)."""
    order, starts = duplicate_groups(X)
    sizes = np.diff(starts, append=len(X))
    crowded = sizes > k + 1
    if not crowded.any():
        _, found = nearest(X, np.arange(len(X)), k + 1, progress)
        return _without_self(found, np.arange(len(X)))
    neighbors = np.empty((len(X), k), np.intp)
    for start, size in zip(starts[crowded], sizes[crowded], strict=True):
        group = order[start : start + size]
        neighbors[group] = group[(np.arange(size)[:, None] + np.arange(1, k + 1)) % size]
    # Of a crowded place k + 1 points are enough as neighbors for all others, and keep the tree's
    # leaves small.
    rank = np.arange(len(X)) - np.repeat(starts, sizes)
    kept = np.sort(order[rank <= k])
    queries = np.searchsorted(kept, np.sort(order[np.repeat(~crowded, sizes)]))
    if len(queries):
        _, found = nearest(X[kept], queries, k + 1, progress)
        neighbors[kept[queries]] = kept[_without_self(found, queries)]
    return neighbors


def _without_self(found, queries):
    """Drop each query from its row of neighbors, or the last entry where ties pushed it out: (m, k
    + 1) becomes (m, k).
    """
    if (found[:, 0] == queries).all():
        return found[:, 1:]
    own = found == queries[:, None]
    own[~own.any(axis=1), -1] = True
    return found[~own].reshape(len(found), -1)
