"""Baselines for the sampled similarity graph: the full kernel graph, and k-NN graphs."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from kdegraph.bandwidth import estimate_sigma
from kdegraph.geometry.kernel_functions import KERNELS, exp_neg
from kdegraph.geometry.kernels import fill_values
from kdegraph.geometry.local_scale import rescaled
from kdegraph.geometry.neighbors import duplicate_groups, nearest
from kdegraph.geometry.sparse_points import KernelRows, scaled_distance, sparse_rows
from kdegraph.geometry.units import unit_scale
from kdegraph.manual import explained
from kdegraph.metrics import points_of
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.memory import available_memory, format_bytes
from kdegraph.runtime.progress import responsive, stage_progress
from kdegraph.scaled_kernel import check_sigma, pair_kernel, resolve_bandwidth
from kdegraph.validation import SparsePoints, check_choice, check_count, check_fraction

# Share of nonzero values below which `full_graph` returns a sparse matrix.
SPARSE_DENSITY = 0.25
# Bytes for each edge, in both directions, while the matrix is built: keys, rows, columns, weights.
_PAIR_BYTES = 96
# Bytes for each stored value while blocks of rows are joined: index and value, twice.
_ENTRY_BYTES = 24


@jit
def _pair_values(start, stop, code, inverse_sigma, local, X, rows, columns, values):
    for e in range(start, stop):
        i, j = rows[e], columns[e]
        u = scaled_distance(code, inverse_sigma, X, i, j)
        values[e] = exp_neg(rescaled(code, local, i, local, j, u))


def _symmetric(X, rows, columns, kernel=None, progress=None):
    """Return the symmetric matrix of undirected edges (given in either direction, repeated or not):
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
        points = sparse_rows(X) if isinstance(X, SparsePoints) else X
        parallel.run(
            _pair_values, len(keys), kernel.code, kernel.inverse_sigma, kernel.local, points, rows,
            columns, weights,
        )  # fmt: skip
        between(1.0)
        kept = weights > 0
        if not kept.all():
            rows, columns, weights = rows[kept], columns[kept], weights[kept]
    index = np.int32 if max(n, len(weights)) < 2**31 else np.int64
    indptr = np.zeros(n + 1, index)
    np.cumsum(np.bincount(rows, minlength=n), out=indptr[1:])
    return scipy.sparse.csr_array((weights, columns.astype(index), indptr), shape=(n, n))


def _refuse(n, needed, limit, what):
    raise explained(
        MemoryError,
        "error-full",
        f"the full graph of n = {n:,} points needs {format_bytes(needed)} ({what}), more than the "
        f"limit of {format_bytes(limit)}; use similarity_graph(X, ...), which keeps its cluster "
        "structure with about n log n edges, take fewer points, or raise max_bytes",
    )


@responsive
def full_graph(
    X: ArrayLike,
    *,
    sigma: float | str | ArrayLike,
    perplexity: float | None = None,
    alpha: float = 0.0,
    kernel: str = "gaussian",
    metric: str = "euclidean",
    max_bytes: int | None = None,
    progress: Callable[[str, float], object] | None = None,
) -> NDArray[np.float64] | scipy.sparse.csr_array:
    """Compute the fully connected similarity graph, without self-loops.

    Its matrix K has ``K[i, j] = k(x_i, x_j)`` for ``i != j``.

    Parameters
    ----------
    X : (n, d) array-like
        Points.
    sigma : float, "auto", "local", "moderate" or (n,) array_like
        Bandwidth, in the units of the points, or one for each point, as for `similarity_graph`.
    perplexity : float, optional
        For ``sigma="local"`` and "moderate", see `local_bandwidths`.
    alpha : float
        From 0 to 1: the kernel is divided by ``(g_i g_j) ** alpha``, as for `similarity_graph`.
    kernel : str
        The kernel function, see `Kernel`.
    metric : {"euclidean", "cosine", "haversine"}
        The distance, see `similarity_graph`.
    max_bytes : int, optional
        Limit on the memory that the matrix needs while it is built, besides up to about 20 MB of
        working memory; by default half of the memory that is available.
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
        Before more memory than `max_bytes` is taken, with the bytes needed and what to do instead.
        With a bandwidth for each point, or an `alpha`, rows are counted while they are computed.
    ValueError, TypeError
        For points, a sigma, a kernel or a limit that cannot be used.

    Notes
    -----
    O(n^2 d) time and 8 n^2 bytes when dense; about the number of pairs within 27 sigma
    (Gaussian) or 708 sigma when sparse. With local bandwidths, or densities that are divided out,
    the time is O(n^2 d) in any case.

    Examples
    --------
    >>> import kdegraph
    >>> print(kdegraph.full_graph([[0.0], [1.0]], sigma=1.0).round(3))
    [[0.    0.368]
     [0.368 0.   ]]
    """
    check_choice(kernel, "kernel", tuple(KERNELS))
    X = points_of(X, metric, kernel=kernel)
    n = len(X)
    bandwidth = resolve_bandwidth(X, check_sigma(sigma, n), perplexity)
    alpha = check_fraction(alpha, "alpha")
    limit = available_memory() // 2 if max_bytes is None else check_count(max_bytes, "max_bytes")
    scaled = pair_kernel(kernel, bandwidth)
    share = _density(X, scaled)
    on_tree = not (scaled.local.is_local or alpha > 0 or isinstance(X, SparsePoints))
    if share < SPARSE_DENSITY and on_tree:
        return _sparse_graph(X, scaled, limit, progress)
    if share >= SPARSE_DENSITY and (needed := 8 * n * n) > limit:
        _refuse(n, needed, limit, "8 bytes for each pair")
    report = stage_progress(progress, "full graph")
    rows = _Rows(X, scaled)
    if alpha > 0:
        density = np.concatenate([part.sum(axis=1) for part in rows.blocks(report)])
        rows = _Rows(X, pair_kernel(kernel, bandwidth, n, shift=alpha * np.log(density)))
    if share < SPARSE_DENSITY:
        return rows.sparse(limit, report)
    return rows.dense(report)


class _Rows:
    """Rows of the kernel matrix, where bandwidths may differ."""

    def __init__(self, X, kernel):
        self.X, self.kernel = X, kernel
        self._sparse = KernelRows(kernel, X) if isinstance(X, SparsePoints) else None
        self.columns = None if self._sparse else np.ascontiguousarray(X.T)

    def fill(self, rows, values, progress=None):
        """Write the kernel values between the points X[rows] and all points."""
        kernel, local = self.kernel, self.kernel.local
        if self._sparse:
            self._sparse.fill(self.X[rows], local.at(rows), values, progress)
            return
        parallel.run(
            fill_values, len(values), kernel.code, kernel.inverse_sigma, local.at(rows), local,
            self.X[rows], self.columns, values, progress=progress,
        )  # fmt: skip

    def blocks(self, progress):
        """Return all rows, some at a time; each point counts itself."""
        n = len(self.X)
        height = max(1, 2**19 // n)  # 4 MiB of kernel values
        for start in range(0, n, height):
            rows = slice(start, min(start + height, n))
            values = np.empty((rows.stop - start, n))
            self.fill(rows, values)
            if progress is not None:
                progress(rows.stop / n)
            yield values

    def dense(self, progress):
        """Return the matrix without its diagonal."""
        values = np.empty((len(self.X), len(self.X)))
        self.fill(slice(None), values, progress)
        np.fill_diagonal(values, 0.0)
        return values

    def sparse(self, limit, progress):
        """Return the matrix of the values that do not underflow, without its diagonal. A
        MemoryError is raised as soon as the rows so far need more than `limit` bytes.
        """
        parts, start, stored = [], 0, 0
        for values in self.blocks(progress):
            values[np.arange(len(values)), start + np.arange(len(values))] = 0.0
            parts.append(scipy.sparse.csr_array(values))
            start += len(values)
            stored += parts[-1].nnz
            if (needed := _ENTRY_BYTES * stored) > limit:
                found = f"for {stored:,} values that do not underflow in {start:,} of its rows"
                _refuse(len(self.X), needed, limit, found)
        return scipy.sparse.vstack(parts, format="csr")


def _density(X, kernel):
    """Return the share of pairs of different points with a positive kernel value, on evenly spread
    points; 1.0 for a single point.
    """
    n = len(X)
    if n == 1:
        return 1.0
    rows, columns = (
        np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.intp)) for most in (128, 4096)
    )
    # The rows come first among the points, so that their own values are on the diagonal.
    points = np.concatenate([rows, columns])
    values = np.empty((len(rows), len(points)))
    of_points = replace(kernel, local=kernel.local.at(points))
    _Rows(X[points], of_points).fill(slice(len(rows)), values)
    return float((values[:, len(rows) :][rows[:, None] != columns] > 0).mean())


def _sparse_graph(X, kernel, limit, progress):
    """Return the full graph from the pairs within reach, by a k-d tree."""
    from scipy.spatial import cKDTree

    shift, limits = unit_scale(X), np.finfo(float)
    tree = cKDTree(np.ldexp(X, -shift))
    with np.errstate(over="ignore"):
        sigma = float(np.clip(np.ldexp(kernel.sigma, -shift), limits.tiny, limits.max / 1024))
    function = KERNELS[kernel.name]
    radius, norm = sigma * function.reach * (1 + 1e-9), function.norm
    report = stage_progress(progress, "full graph") or (lambda fraction: None)
    report(0.0)
    edges = (int(tree.count_neighbors(tree, radius, p=norm)) - len(X)) // 2
    if (needed := edges * _PAIR_BYTES) > limit:
        found = f"{edges:,} edges that do not underflow, {_PAIR_BYTES} bytes each to build them"
        _refuse(len(X), needed, limit, found)
    report(0.2)
    pairs = tree.query_pairs(radius, p=norm, output_type="ndarray")
    graph = _symmetric(X, pairs[:, 0], pairs[:, 1], kernel)
    report(1.0)
    return graph


@responsive
def knn_graph(
    X: ArrayLike,
    n_neighbors: int = 10,
    *,
    mode: str = "connectivity",
    sigma: float | str | ArrayLike | None = None,
    kernel: str = "gaussian",
    metric: str = "euclidean",
    progress: Callable[[str, float], object] | None = None,
) -> scipy.sparse.csr_array:
    """Compute the symmetrized k-nearest-neighbor graph.

    Two points are joined when either is among the `n_neighbors` nearest points of the other.

    A point is never its own neighbor, and duplicates of a point are neighbors at distance 0 like
    any other point. A point with more duplicates than `n_neighbors` is joined to those that follow
    it in the order of the rows (round the end), so that ties are broken evenly and the cost stays
    low when thousands of points coincide.

    Parameters
    ----------
    X : (n, d) array-like
        Points.
    n_neighbors : int
        From 1 to n - 1. A single point has no neighbor: for n = 1 any `n_neighbors` gives the
        graph without edges.
    mode : {"connectivity", "kernel"}
        Weights 1, or the kernel's values. Edges whose kernel value underflows to zero are left out.
    sigma : float, "auto", "local", "moderate" or (n,) array_like, optional
        Bandwidth for ``mode="kernel"``, as for `similarity_graph`; by default ``estimate_sigma(X,
        n_neighbors, seed=0)``. Not used for "connectivity".
    kernel : str
        The kernel function for ``mode="kernel"``, see `Kernel`; it does not change the neighbors.
    metric : {"euclidean", "cosine", "haversine"}
        The distance, see `similarity_graph`.
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
    X = points_of(X, metric)
    check_choice(mode, "mode", ("connectivity", "kernel"))
    n = len(X)
    reason = (
        f"with n = {n} points, since a point is not its own neighbor: "
        "take fewer neighbors or more points"
    )
    k = check_count(n_neighbors, "n_neighbors", maximum=n - 1 if n > 1 else None, reason=reason)
    check_choice(kernel, "kernel", tuple(KERNELS))
    checked = None if sigma is None else check_sigma(sigma, n)
    if n == 1:
        return scipy.sparse.csr_array((1, 1))
    report = stage_progress(progress, "nearest neighbors")
    neighbors = _other_neighbors(X, k, report)
    weighing = None
    if mode == "kernel":
        if checked is None:
            checked = estimate_sigma(X, k, seed=0)
        weighing = pair_kernel(kernel, resolve_bandwidth(X, checked))
    return _symmetric(X, np.repeat(np.arange(n), k), neighbors.ravel(), weighing, report)


def _other_neighbors(X, k, progress=None):
    """Return the k nearest other points of every point, (n, k)."""
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
