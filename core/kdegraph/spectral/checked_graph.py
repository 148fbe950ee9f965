"""Checks of adjacency matrices, and of graph objects that have one."""

import math
import secrets
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from kdegraph.findings import distances_as_weights, warn
from kdegraph.foreign_graphs import ForeignGraph, adjacency_of_foreign
from kdegraph.geometry.sparse_points import SparseRows
from kdegraph.manual import explained
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.progress import partial_progress
from kdegraph.sparse_checks import check_sparse
from kdegraph.spectral.components import breadth_first_order, connected_components
from kdegraph.validation import as_array, check_choice, check_count

CHECKED_ROWS = 4096  # in one call of the kernel
ORDER_MATTERS_ABOVE = 5_000  # vertices; smaller blocks stay in the caches in any order


@runtime_checkable
class HasAdjacency(Protocol):
    """A graph object, such as `SimilarityGraph`, with its adjacency matrix.

    It may also have the attributes `points` (the (n, d) array of the points that the vertices stand
    for), `order` (the vertices in an order in which neighbors are near each other), `kernel` (the
    name of the kernel) and `sample_weight` (the weights of the points, or None). If the matrix is a
    Dask array, the object has a method `compute`, which returns such an object with a matrix in
    memory.
    """

    @property
    def adjacency(self) -> Any:
        """Sparse or dense (n, n) matrix."""
        ...


AdjacencyLike: TypeAlias = (
    "HasAdjacency | scipy.sparse.sparray | scipy.sparse.spmatrix | ArrayLike | ForeignGraph"
)


class GraphParts(NamedTuple):
    """A matrix in memory, and the known attributes of its graph object: see `HasAdjacency`."""

    adjacency: Any
    points: NDArray[np.float64] | None = None
    order: NDArray[np.integer] | None = None
    kernel: str | None = None
    sample_weight: NDArray[np.float64] | None = None


def graph_parts(adjacency: AdjacencyLike) -> GraphParts:
    """Return the adjacency matrix of a graph object with the other attributes that are known, or a
    plain matrix, or that of a graph of NetworkX or igraph, without any. A `TiledGraph` or a Dask
    array is read into memory.
    """
    if isinstance(adjacency, GraphParts):
        return adjacency
    if hasattr(getattr(adjacency, "adjacency", adjacency), "__dask_graph__"):
        adjacency = cast(Any, adjacency).compute()
    if (foreign := adjacency_of_foreign(adjacency)) is not None:
        return GraphParts(foreign)
    if not isinstance(adjacency, HasAdjacency):
        return GraphParts(adjacency)
    more = (getattr(adjacency, name, None) for name in GraphParts._fields[1:])
    return GraphParts(adjacency.adjacency, *more)


@dataclass(frozen=True, eq=False)
class CheckedGraph:
    """A checked adjacency matrix, its degrees and its connected components."""

    matrix: SparseRows  # sorted, without duplicates and explicit zeros
    degrees: NDArray[np.float64]  # (n,)
    # (n,): connected component of each vertex, numbered by first vertex
    component: NDArray[np.int32]
    sizes: NDArray[np.int64]  # (c,): number of vertices in each component
    # (n,): the vertices in an order in which neighbors are near each other
    order: NDArray[np.integer]
    # (n, d) float64 or None: where the vertices are, if that is known and `order` is that of a tree
    points: NDArray[np.float64] | None

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.degrees)

    @property
    def isolated(self) -> NDArray[np.int64]:
        """The vertices without an edge to another vertex."""
        return np.flatnonzero(self.sizes[self.component] == 1)

    def n_in_components(self, min_size: int) -> int:
        """Number of vertices in components of at least `min_size`."""
        return int(self.sizes[self.sizes >= min_size].sum())

    def in_components(self, min_size: int) -> NDArray[np.int64]:
        """Return the vertices in components of at least `min_size`."""
        return np.flatnonzero(self.sizes[self.component] >= min_size)

    def smallest_component(self, given: int | str) -> int:
        """Return the smallest size of components that are kept: `given`, or for "auto" one that a
        cluster has and a few outliers near each other do not have, at least 2.

        The components that form by chance among few points have O(log n) vertices (percolation
        below its threshold), and a cluster is not far smaller than others: ``min(2 log n, sqrt(m) /
        2)``, with m such that half of the vertices with an edge lie in components of at most m.
        """
        if check_smallest_component(given) != "auto":
            return int(given)
        sizes = np.sort(self.sizes[self.sizes > 1])
        if len(sizes) == 0:
            return 2
        total = np.cumsum(sizes)
        typical = sizes[np.searchsorted(total, total[-1] / 2)]
        return max(2, math.ceil(min(2 * math.log(self.n), math.sqrt(typical) / 2)))


def check_smallest_component(given):
    """Return the smallest size of components that are kept, or "auto"."""
    if isinstance(given, str):
        return check_choice(given, "smallest_component", ("auto",))
    return check_count(given, "smallest_component")


def check_adjacency(adjacency, name="adjacency", *, progress=None) -> CheckedGraph:
    """Return the `CheckedGraph` of a matrix of any format, of an object that has one, or of a
    `CheckedGraph`, also one within `GraphParts`. Messages call the argument `name`; it is never
    changed.
    """
    given = graph_parts(adjacency)
    if isinstance(given.adjacency, CheckedGraph):
        return given.adjacency
    csr = _canonical_csr(given.adjacency, name)
    matrix = SparseRows(csr.indptr, csr.indices, csr.data)
    degrees = _check_weights(matrix, name, partial_progress(progress, 0.0, 0.5))
    if given.kernel is None and (finding := distances_as_weights(csr)):
        warn(finding)
    if degrees.max() > 1e290:  # scale the weights by a power of two, so that no sum overflows
        matrix = matrix._replace(values=csr.data * 2.0**-200)
        degrees = _check_weights(matrix, name, None)
    of_components = partial_progress(progress, 0.5, 1.0)
    blocks = [(0, csr.indptr, csr.indices)]
    component, sizes = connected_components(len(degrees), lambda: blocks, of_components)
    order, points = given.order, given.points
    if len(degrees) <= ORDER_MATTERS_ABOVE:
        order, points = np.arange(len(degrees), dtype=np.int32), None
    elif order is None:
        order, points = breadth_first_order(csr.indptr, csr.indices, component), None
    else:
        _check_order(order, points, len(degrees), name)
    if progress is not None:
        progress(1.0)
    return CheckedGraph(matrix, degrees, component, sizes, order, points)


def _canonical_csr(matrix, name):
    """Return a canonical float64 CSR matrix without explicit zeros; it may share memory."""
    if not scipy.sparse.issparse(matrix):
        matrix = as_array(matrix, name, "a square matrix")
    if matrix.dtype.kind not in "fiub":
        raise TypeError(
            f"{name} must be a sparse or dense matrix of real numbers, got "
            f"{type(matrix).__name__} of dtype {matrix.dtype}"
        )
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"{name} must be square, one row and one column per vertex, got shape {matrix.shape}"
        )
    if matrix.shape[0] == 0:
        raise ValueError(f"{name} has no vertices (shape {matrix.shape}); at least one is required")
    check_sparse(matrix, name)
    csr = matrix
    if getattr(matrix, "format", None) != "csr":
        csr = scipy.sparse.csr_array(matrix, dtype=np.float64)  # SciPy has no other widths
        check_sparse(csr, name)
    if csr.dtype != np.float64:
        csr = csr.astype(np.float64)
    if csr.indices.dtype != np.int32 and max(csr.shape[0], csr.nnz) <= np.iinfo(np.int32).max:
        # All kernels would be compiled again for another type of indices.
        indices, indptr = csr.indices.astype(np.int32), csr.indptr.astype(np.int32)
        csr = scipy.sparse.csr_array((csr.data, indices, indptr), shape=csr.shape)
    has_spare_room = len(csr.data) > csr.nnz
    if has_spare_room or not (csr.has_canonical_format and np.all(csr.data)):
        csr = csr.copy()
        csr.sum_duplicates()
        csr.eliminate_zeros()  # and the room at the end
    return csr


def _check_order(order, points, n, name):
    """Refuse an order that is not a permutation of the vertices, and a wrong number of points."""
    order = as_array(order, f"{name}.order")
    if order.shape != (n,) or order.dtype.kind not in "iu":
        raise ValueError(
            f"{name}.order must be a permutation of the {n} vertices, got an array of shape "
            f"{order.shape} and dtype {order.dtype}"
        )
    if order.min() < 0 or order.max() >= n or (np.bincount(order, minlength=n) != 1).any():
        raise ValueError(f"{name}.order must be a permutation of the {n} vertices")
    if points is not None and len(points) != n:
        raise ValueError(f"{name}.points must have {n} rows, one per vertex, got {len(points)}")


def _check_weights(matrix, name, progress):
    """Refuse weights that are negative, not finite or not symmetric; return the degrees."""
    n = len(matrix.indptr) - 1
    degrees = np.empty(n)
    hashes = np.zeros(-(-n // CHECKED_ROWS), np.uint64)
    n_bad = np.zeros_like(hashes)
    key = np.uint64(secrets.randbits(64) | 1)
    args = matrix, matrix.values.view(np.uint64), key, degrees, hashes, n_bad
    parallel.run(_check_rows, n, *args, chunk=CHECKED_ROWS, progress=progress)
    if n_bad.any():
        _refuse_weights(matrix, name)
    if hashes.sum(dtype=np.uint64) != 0:
        _refuse_asymmetry(matrix, name)
    return degrees


def _refuse_weights(matrix, name):
    """Raise the error about the first weight that is negative or not finite."""
    indptr, indices, weights = matrix
    bad = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))[0]
    row = np.searchsorted(indptr, bad, side="right") - 1
    raise ValueError(
        f"{name} must hold finite weights >= 0, but {name}[{row}, {indices[bad]}] is {weights[bad]}"
        f"{'' if weights[bad] < 0 else ' (NaN or infinity)'}; a similarity is large for close "
        "points, e.g. a kernel value, never negative"
    )


def _refuse_asymmetry(matrix, name):
    """Raise an error if the matrix is asymmetric by more than rounding."""
    indptr, indices, weights = matrix
    n = len(indptr) - 1
    csr = scipy.sparse.csr_array((weights, indices, indptr), shape=(n, n))
    tolerable = 1e-8 * csr.maximum(csr.T)  # what may be due to rounding
    wrong = (abs(csr - csr.T) > tolerable).tocoo()
    if wrong.nnz:
        i, j = min(zip(wrong.row, wrong.col, strict=True))
        if csr[i, j] == 0:
            i, j = j, i
        raise asymmetric(csr, i, j, name)


def asymmetric(matrix, i, j, name):
    """Return the error about an entry of a matrix that differs from its mirror image."""
    return explained(
        ValueError,
        "error-symmetric",
        f"{name} must be symmetric, but {name}[{i}, {j}] is {matrix[i, j]} and {name}[{j}, {i}] "
        f"is {matrix[j, i]}; symmetrize it, e.g. ({name} + {name}.T) / 2",
    )


@jit(reassociate=True)
def _check_rows(start, stop, matrix, bits, key, degrees, hashes, n_bad):
    """Sum each row, and find for each chunk of rows the number of bad weights, and a sum of hashes
    that is zero over all chunks if the matrix is symmetric.

    The hash of an edge (i, j) and the `bits` of its weight is added in row i and subtracted in row
    j. The sum (modulo 2^64) is zero for a symmetric matrix. For any other one it is zero with a
    probability of only about 2^-64 over the random `key`. So the mirror image of an entry need not
    be looked up.
    """
    indptr, indices, weights = matrix
    balance, bad = np.uint64(0), np.uint64(0)
    for i in range(start, stop):
        own, total = np.uint64(i), 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += weights[p]
        degrees[i] = total
        for p in range(indptr[i], indptr[i + 1]):
            bad += np.uint64(not (0 <= weights[p] < np.inf))
            other = np.uint64(indices[p])
            hashed = _edge_hash(key, min(own, other), max(own, other), bits[p])
            sign = hashed if own < other else np.uint64(0) - hashed
            balance += sign if own != other else np.uint64(0)
    hashes[start // CHECKED_ROWS] = balance
    n_bad[start // CHECKED_ROWS] = bad


@jit
def _edge_hash(key, low, high, bits):
    """Return a 64-bit hash of the edge between the vertices `low` < `high` and of the bits of its
    weight, for an odd `key`.
    """
    mixed = (bits ^ ((low + np.uint64(1)) * key)) * np.uint64(0xD1342543DE82EF95)
    mixed = (mixed ^ (mixed >> np.uint64(32)) ^ high) * np.uint64(0xDABA0B6EB09322E3)
    return mixed ^ (mixed >> np.uint64(29))
