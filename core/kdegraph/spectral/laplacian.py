"""The normalized adjacency matrix M = D^-1/2 A D^-1/2 of a graph: checks, connected components,
products with blocks of vectors.
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.progress import partial_progress
from kdegraph.spectral.products import prefetch, step_rows
from kdegraph.validation import check_choice, check_count

SYMMETRY = 1e-8  # relative difference between w(i, j) and w(j, i) that rounding may leave
CHUNK = 4096  # rows that are checked together
FIRST_EDGES = 3  # of each vertex are joined before all others are looked at
IN_CACHE = 5_000  # the order does not matter for so few vertices
SWEEP = 20_000  # vertices between two reports of progress
ROWS_AHEAD = 4  # see `_take_rows`
MORE = 1.05  # see `NormalizedAdjacency.radius`: how much larger it is than estimated
SHORT, LONG = (
    1.5e6,
    1e7,
)  # multiplications for one call: about 0.15 ms, long beside the call, and some milliseconds


@dataclass(frozen=True)
class Graph:
    """A checked adjacency matrix with what one sweep over it gives.

    Attributes
    ----------
    indptr, indices, weights : arrays
        CSR, sorted, without duplicates and explicit zeros.
    degrees : (n,) float64 array
    component : (n,) int32 array
        Connected component of each vertex, numbered by first vertex.
    sizes : (c,) int64 array
        Vertices in each component.
    order : (n,) int array
        The vertices in an order in which neighbors are near each other.
    points : (n, d) float64 array or None
        Where the vertices are, if that is known and `order` is that of a tree.
    """

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    degrees: np.ndarray
    component: np.ndarray
    sizes: np.ndarray
    order: np.ndarray
    points: np.ndarray | None

    @property
    def n(self):
        """Number of vertices."""
        return len(self.degrees)

    @property
    def isolated(self):
        """Indices of the vertices without an edge to another vertex."""
        return np.flatnonzero(self.sizes[self.component] == 1)

    def n_in_components(self, least):
        """Number of vertices in components of at least `least`."""
        return int(self.sizes[self.sizes >= least].sum())

    def smallest_component(self, given):
        """Vertices that a component must have: `given`, or for "auto" so many that it is a cluster
        and not some outliers, at least 2.

        The components that form by chance among few points have O(log n) vertices (percolation
        below its threshold), and a cluster is not far smaller than others: ``min(2 log n, sqrt(m) /
        2)``, with m such that half of the vertices with an edge lie in components of at most m.
        """
        if not isinstance(given, str):
            return check_count(given, "smallest_component")
        check_choice(given, "smallest_component", ("auto",))
        sizes = np.sort(self.sizes[self.sizes > 1])
        if len(sizes) == 0:
            return 2
        total = np.cumsum(sizes)
        typical = sizes[np.searchsorted(total, total[-1] / 2)]
        return max(2, math.ceil(min(2 * math.log(self.n), math.sqrt(typical) / 2)))


def check_adjacency(adjacency, name="adjacency", *, progress=None):
    """Check an adjacency matrix and return it as a `Graph`; the argument is never changed.

    Parameters
    ---------- adjacency : sparse matrix or array of any format, (n, n) array, object with such an
    attribute ``adjacency``, or Graph
    name : str
        For messages.
    progress : callable, optional
        Called with the fraction done.
    """
    if isinstance(adjacency, Graph):
        return adjacency
    matrix = getattr(adjacency, "adjacency", adjacency)
    order = points = None
    if hasattr(adjacency, "adjacency"):
        order, points = getattr(adjacency, "order", None), getattr(adjacency, "points", None)
    csr = _as_csr(matrix, name)
    n, report = csr.shape[0], progress or (lambda fraction: None)
    degrees = np.empty(n)
    partial = np.zeros((-(-n // CHUNK), 2), np.uint64)
    parallel.run(
        _check_rows, n, csr.indptr, csr.indices, csr.data, csr.data.view(np.uint64), degrees, partial,
        chunk=CHUNK, progress=partial_progress(progress, 0.0, 0.3),
    )  # fmt: skip
    if partial[:, 1].any():
        _refuse_weights(csr, name)
    if partial[:, 0].sum(dtype=np.uint64) != 0:
        _check_symmetry(csr, name)
    weights = csr.data
    if (
        len(weights) and weights.max() > 1e290
    ):  # the Laplacian does not depend on the unit of the weights, their sums must not overflow
        weights = weights * 2.0**-200
        parallel.run(_row_sums, n, csr.indptr, weights, degrees)
    component, sizes = connected_components(
        csr.indptr, csr.indices, progress=partial_progress(progress, 0.3, 0.6)
    )
    if order is None or n <= IN_CACHE:
        points = None
        order = (
            np.arange(n, dtype=np.int32)
            if n <= IN_CACHE
            else _breadth_first_order(csr.indptr, csr.indices, partial_progress(progress, 0.6, 1.0))
        )
    report(1.0)
    return Graph(csr.indptr, csr.indices, weights, degrees, component, sizes, order, points)


def _refuse_weights(csr, name):
    """Raise the error about the first weight that is negative or not finite."""
    bad = np.flatnonzero(~((csr.data >= 0) & (csr.data < np.inf)))[0]
    value = csr.data[bad]
    row = np.searchsorted(csr.indptr, bad, side="right") - 1
    raise ValueError(
        f"{name} must hold finite weights >= 0, but {name}[{row}, {csr.indices[bad]}] is {value}"
        f"{'' if value < 0 else ' (NaN or infinity)'}; a similarity is large for close points, e.g. a kernel value, never negative"
    )


def _check_symmetry(csr, name):
    """Refuse what is asymmetric by more than rounding."""
    row, column, forward, backward = _first_asymmetry(
        csr.indptr, csr.indices, csr.data, csr.indptr[:-1].copy(), SYMMETRY
    )
    if row >= 0:
        raise ValueError(
            f"{name} must be symmetric, but {name}[{row}, {column}] is {forward} and {name}[{column}, {row}] is {backward}; "
            f"symmetrize it, e.g. ({name} + {name}.T) / 2"
        )


def _as_csr(matrix, name):
    """Canonical float64 CSR without explicit zeros, sharing memory with `matrix` where it can."""
    if not scipy.sparse.issparse(matrix):
        try:
            matrix = np.asarray(matrix)
        except ValueError as error:
            raise ValueError(
                f"{name} must be a square matrix; its rows differ in length: {error}"
            ) from None
    if matrix.dtype.kind not in "fiub":
        raise TypeError(
            f"{name} must be a sparse or dense matrix of real numbers, got {type(matrix).__name__} of dtype {matrix.dtype}"
        )
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"{name} must be square, one row and one column per vertex, got shape {matrix.shape}"
        )
    if matrix.shape[0] == 0:
        raise ValueError(f"{name} has no vertices (shape {matrix.shape}); at least one is required")
    csr = matrix if getattr(matrix, "format", None) == "csr" else scipy.sparse.csr_array(matrix)
    if csr.dtype != np.float64:
        csr = csr.astype(np.float64)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    if not np.all(csr.data):
        csr = csr.copy()
        csr.eliminate_zeros()
    return csr


@jit(reassociate=True)
def _check_rows(start, stop, indptr, indices, weights, bits, degrees, partial):
    """Row sums; and for each chunk of rows a sum of hashes that cancels if the matrix is symmetric,
    and the number of bad weights.

    The hash of an edge (i, j) and the bits of its weight is added in row i and subtracted in row j:
    over a symmetric matrix the sum (modulo 2^64) is zero, over another one it is not, but for a
    chance of 2^-64. No entry needs to look for its mirror image.
    """
    balance, bad = np.uint64(0), np.uint64(0)
    for i in range(start, stop):
        own, total = np.uint64(i), 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += weights[p]
        degrees[i] = total
        for p in range(
            indptr[i], indptr[i + 1]
        ):  # without branches, so that several entries are mixed at once
            j = np.uint64(indices[p])
            bad += np.uint64(not (0 <= weights[p] < np.inf))
            low, high = min(own, j), max(own, j)
            mixed = (bits[p] ^ (low * np.uint64(0x9E3779B97F4A7C15))) * np.uint64(
                0xD1342543DE82EF95
            )
            mixed = (mixed ^ (mixed >> np.uint64(32)) ^ high) * np.uint64(0xDABA0B6EB09322E3)
            mixed ^= mixed >> np.uint64(29)
            balance += mixed if own < j else (np.uint64(0) - mixed if own > j else np.uint64(0))
    partial[start // CHUNK, 0] = balance
    partial[start // CHUNK, 1] = bad


@jit
def _first_asymmetry(indptr, indices, weights, cursor, tolerance):
    """First entry without an equal one across the diagonal: (row, column, its weight, the other's),
    or a row of -1.

    One sweep: as the rows i ascend, the entries (j, i) of a symmetric matrix are met in the order
    in which row j stores them, so ``cursor[j]`` always points to the only place where (j, i) can
    be.
    """
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            q = cursor[j]
            if q == indptr[j + 1] or indices[q] > i:
                return i, j, weights[p], 0.0
            if indices[q] < i:
                return j, indices[q], weights[q], 0.0
            if abs(weights[q] - weights[p]) > tolerance * max(weights[p], weights[q]):
                return i, j, weights[p], weights[q]
            cursor[j] = q + 1
    return -1, -1, 0.0, 0.0


@jit
def _row_sums(start, stop, indptr, weights, sums):
    for i in range(start, stop):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += weights[p]
        sums[i] = total


def connected_components(indptr, indices, progress=None):
    """The component of each vertex, (n,) int32, numbered by first vertex, and the sizes of the
    components.

    The first edges of every vertex join almost all that belongs together; then one sweep in
    parallel finds the vertices with an edge that leads elsewhere, mostly few, and all their edges
    are joined.
    """
    n = len(indptr) - 1
    parent, crossing = np.arange(n, dtype=np.int32), np.empty(n, np.bool_)
    _join_edges(np.arange(n, dtype=np.int32), FIRST_EDGES, indptr, indices, parent)
    _flatten(parent)
    if parent.any():  # else all are joined to the first one
        parallel.run(_find_crossing, n, indptr, indices, parent, crossing, progress=progress)
        _join_edges(np.flatnonzero(crossing).astype(np.int32), n, indptr, indices, parent)
    component = np.empty(n, np.int32)
    count = _number_roots(parent, component)
    return component, np.bincount(component, minlength=count)


@jit
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@jit
def _join_edges(vertices, most, indptr, indices, parent):
    """Join each of the vertices with the ends of its first edges; the root of a tree is its
    smallest vertex.
    """
    for i in vertices:
        a = _root(parent, i)
        for p in range(indptr[i], min(indptr[i] + most, indptr[i + 1])):
            b = _root(parent, indices[p])
            if a < b:
                parent[b] = a
            elif b < a:
                parent[a] = b
                a = b


@jit
def _flatten(parent):
    for i in range(len(parent)):  # parents come before their children
        parent[i] = parent[parent[i]]


@jit
def _find_crossing(start, stop, indptr, indices, parent, crossing):
    for i in range(start, stop):
        own, found = parent[i], False
        for p in range(indptr[i], indptr[i + 1]):
            found |= parent[indices[p]] != own
        crossing[i] = found


@jit
def _number_roots(parent, component):
    count = 0
    for i in range(len(parent)):
        if parent[i] == i:
            component[i] = count
            count += 1
        else:
            component[i] = component[parent[i]]
    return count


def _breadth_first_order(indptr, indices, progress=None):
    """The vertices in breadth-first order: neighbors come near each other."""
    n = len(indptr) - 1
    order, seen, state = np.empty(n, np.int32), np.zeros(n, np.bool_), np.zeros(3, np.int64)
    while state[0] < n:
        _visit(SWEEP, indptr, indices, order, seen, state)
        if progress is not None:
            progress(state[0] / n)
    return order


@jit
def _visit(most, indptr, indices, order, seen, state):
    """Visit `most` more vertices; `state` is how many were visited, how many were found, and the
    first that may not have been found.
    """
    head, tail, seed = state
    end = min(head + most, len(order))
    while head < end:
        if head == tail:
            while seen[seed]:
                seed += 1
            seen[seed] = True
            order[tail] = seed
            tail += 1
        i = order[head]
        head += 1
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if not seen[j]:
                seen[j] = True
                order[tail] = j
                tail += 1
    state[:] = head, tail, seed


class NormalizedAdjacency:
    """M = D^-1/2 A D^-1/2 as an operator on blocks of vectors.

    Parameters
    ----------
    matrix : csr_array
        M.
    """

    def __init__(self, matrix):
        self.n = matrix.shape[0]
        self.indptr, self.indices = matrix.indptr, matrix.indices
        self._scaled = lambda dtype: matrix.data.astype(dtype)
        self._data = {}

    @classmethod
    def of_graph(cls, graph, vertices, progress=None):
        """M of some vertices of a `Graph`, whole connected components, as rows in this order.

        Products are faster when neighbors are near each other in that order: the rows that they
        read stay in the caches.
        """
        n = len(vertices)
        place = np.empty(graph.n, graph.indices.dtype)
        place[vertices] = np.arange(n, dtype=place.dtype)
        indptr = np.zeros(n + 1, graph.indptr.dtype)
        np.cumsum(np.diff(graph.indptr)[vertices], out=indptr[1:])
        indices = np.empty(indptr[-1], graph.indices.dtype)
        with np.errstate(divide="ignore"):
            scale = 1 / np.sqrt(graph.degrees[vertices])

        def scaled(dtype):
            data = np.empty(len(indices), dtype)
            args = (
                graph.indptr,
                graph.indices,
                graph.weights,
                vertices,
                place,
                scale,
                indptr,
                indices,
                data,
            )
            parallel.run(_take_rows, n, *args, progress=progress)
            return data

        operator = cls.__new__(cls)
        operator.n, operator.indptr, operator.indices, operator._scaled, operator._data = (
            n,
            indptr,
            indices,
            scaled,
            {},
        )
        return operator

    def data(self, dtype):
        """The entries in this precision."""
        dtype = np.dtype(dtype)
        if dtype not in self._data:
            self._data[dtype] = self._scaled(dtype)
        return self._data[dtype]

    def radius(self):
        """About the largest modulus of eigenvalues that random edges make.

        If the entries of a symmetric matrix are independent, its eigenvalues fill [-2 s, 2 s],
        where s^2 is the mean sum of the squares of a row (Wigner's semicircle law). A vertex that
        hangs on few others has a large sum q, and makes an eigenvalue of about -sqrt(q). Structure
        may make others, mostly positive ones, as that of clusters does.
        """
        squares = np.empty(self.n, np.float32)
        parallel.run(_row_squares, self.n, self.indptr, self.data(np.float32), squares)
        return MORE * math.sqrt(max(4 * squares.mean(dtype=np.float64), squares.max()))

    def step(self, block, previous, alpha=1.0, shift=0.0, beta=0.0, progress=None):
        """``previous = alpha (M - shift) block - beta previous``, in place; with the defaults, M
        times the block.

        Parameters
        ----------
        block, previous : (n, m) arrays of the same dtype, C-contiguous
        """
        number = block.dtype.type
        args = (
            self.indptr,
            self.indices,
            self.data(block.dtype),
            block,
            previous,
            number(alpha),
            number(shift),
            number(beta),
        )
        per_row = block.shape[1] * (1 + len(self.indices) / self.n)
        chunk = int(min(max(self.n / 32, SHORT / per_row), LONG / per_row)) + 1
        parallel.run(step_rows, self.n, *args, chunk=chunk, progress=progress)
        return previous

    def toarray(self):
        """M as a dense (n, n) array."""
        return scipy.sparse.csr_array(
            (self.data(np.float64), self.indices, self.indptr), shape=(self.n, self.n)
        ).toarray()


@jit(reassociate=True)
def _row_squares(start, stop, indptr, weights, squares):
    for i in range(start, stop):
        total = np.float32(0.0)
        for p in range(indptr[i], indptr[i + 1]):
            total += weights[p] * weights[p]
        squares[i] = total


@jit
def _take_rows(
    start,
    stop,
    indptr,
    indices,
    weights,
    vertices,
    place,
    scale,
    new_indptr,
    new_indices,
    new_weights,
):
    """Renumber and scale the rows of some vertices. They lie scattered in memory, so they are
    fetched ahead of their use.
    """
    for i in range(start, stop):
        if i + 2 * ROWS_AHEAD < len(vertices):
            prefetch(indptr, vertices[i + 2 * ROWS_AHEAD])
        if i + ROWS_AHEAD < len(vertices):
            later = vertices[i + ROWS_AHEAD]
            for p in range(indptr[later], indptr[later + 1], 8):
                prefetch(indices, p)
                prefetch(weights, p)
        shift = indptr[vertices[i]] - new_indptr[i]
        for q in range(new_indptr[i], new_indptr[i + 1]):
            j = place[indices[q + shift]]
            new_indices[q] = j
            new_weights[q] = weights[q + shift] * scale[i] * scale[j]
