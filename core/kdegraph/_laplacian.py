"""The normalised adjacency matrix M = D^-1/2 A D^-1/2 of a graph: checks, connected components, products with blocks of vectors."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from . import parallel
from ._jit import jit

SYMMETRY = 1e-8  # relative difference between w(i, j) and w(j, i) that rounding may leave


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
    order : (n,) int32 array
        The vertices in breadth-first order, component after component.
    """

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    degrees: np.ndarray
    component: np.ndarray
    sizes: np.ndarray
    order: np.ndarray

    @property
    def n(self):
        """Number of vertices."""
        return len(self.degrees)

    @property
    def isolated(self):
        """Indices of the vertices without an edge to another vertex."""
        return np.flatnonzero(self.sizes[self.component] == 1)


def check_adjacency(adjacency, name="adjacency"):
    """Check an adjacency matrix and return it as a `Graph`; the argument is never changed.

    Parameters
    ----------
    adjacency : sparse matrix or array of any format, (n, n) array, object with such an attribute ``adjacency``, or Graph
    """
    if isinstance(adjacency, Graph):
        return adjacency
    matrix = getattr(adjacency, "adjacency", adjacency)
    csr = _as_csr(matrix, name)
    bad = np.empty(1, np.int64)
    _check_weights(csr.data, bad)
    if bad[0] >= 0:
        value = csr.data[bad[0]]
        row = np.searchsorted(csr.indptr, bad[0], side="right") - 1
        raise ValueError(
            f"{name} must hold finite weights >= 0, but {name}[{row}, {csr.indices[bad[0]]}] is {value}"
            f"{'' if value < 0 else ' (NaN or infinity)'}; a similarity is large for close points, e.g. a kernel value, never negative"
        )
    n = csr.shape[0]
    cursor = csr.indptr[:-1].copy()
    row, column, forward, backward = _first_asymmetry(csr.indptr, csr.indices, csr.data, cursor, SYMMETRY)
    if row >= 0:
        raise ValueError(
            f"{name} must be symmetric, but {name}[{row}, {column}] is {forward} and {name}[{column}, {row}] is {backward}; "
            f"symmetrise it, e.g. ({name} + {name}.T) / 2"
        )
    weights = csr.data
    largest = weights.max(initial=0.0)
    if largest > 1e290:  # the Laplacian does not depend on the unit of the weights, their sums must not overflow
        weights = weights * 2.0**-200
    degrees = np.empty(n)
    parallel.run(_row_sums, n, csr.indptr, weights, degrees)
    component, order = np.empty(n, np.int32), np.empty(n, np.int32)
    count = _components(csr.indptr, csr.indices, component, order)
    sizes = np.bincount(component, minlength=count)
    return Graph(csr.indptr, csr.indices, weights, degrees, component, sizes, order)


def _as_csr(matrix, name):
    """Canonical float64 CSR without explicit zeros, sharing memory with `matrix` where it can."""
    if not scipy.sparse.issparse(matrix):
        try:
            matrix = np.asarray(matrix)
        except ValueError as error:
            raise ValueError(f"{name} must be a square matrix; its rows differ in length: {error}") from None
    if matrix.dtype.kind not in "fiub":
        raise TypeError(f"{name} must be a sparse or dense matrix of real numbers, got {type(matrix).__name__} of dtype {matrix.dtype}")
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} must be square, one row and one column per vertex, got shape {matrix.shape}")
    if matrix.shape[0] == 0:
        raise ValueError(f"{name} has no vertices (shape {matrix.shape}); at least one is required")
    csr = scipy.sparse.csr_array(matrix)
    if csr.dtype != np.float64:
        csr = csr.astype(np.float64)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    if not np.all(csr.data):
        csr = csr.copy()
        csr.eliminate_zeros()
    return csr


@jit
def _check_weights(weights, bad):
    """First position of a weight that is negative or not finite, else -1, into ``bad[0]``."""
    bad[0] = -1
    for p in range(len(weights)):
        if not (0 <= weights[p] < np.inf):
            bad[0] = p
            return


@jit
def _first_asymmetry(indptr, indices, weights, cursor, tolerance):
    """First entry without an equal one across the diagonal: (row, column, its weight, the other's), or a row of -1.

    One sweep: as the rows i ascend, the entries (j, i) of a symmetric matrix are met in the order in which row j stores them,
    so ``cursor[j]`` always points to the only place where (j, i) can be.
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


@jit
def _components(indptr, indices, component, order):
    """Label the connected components in breadth-first order and return their number."""
    component[:] = -1
    head, tail, count = 0, 0, 0
    for seed in range(len(component)):
        if component[seed] >= 0:
            continue
        component[seed] = count
        order[tail] = seed
        tail += 1
        while head < tail:
            i = order[head]
            head += 1
            for p in range(indptr[i], indptr[i + 1]):
                j = indices[p]
                if component[j] < 0:
                    component[j] = count
                    order[tail] = j
                    tail += 1
        count += 1
    return count


class NormalizedAdjacency:
    """M = D^-1/2 A D^-1/2 restricted to some vertices, as an operator on blocks of vectors.

    Parameters
    ----------
    graph : Graph
    vertices : (n',) int32 array
        Rows of the operator, in this order: whole connected components. In breadth-first order the rows that a product reads lie
        close together, which doubles its speed on large graphs.
    """

    def __init__(self, graph, vertices):
        self.n = len(vertices)
        place = np.empty(graph.n, graph.indices.dtype)
        place[vertices] = np.arange(self.n, dtype=place.dtype)
        self.indptr = np.zeros(self.n + 1, graph.indptr.dtype)
        np.cumsum(np.diff(graph.indptr)[vertices], out=self.indptr[1:])
        self.indices = np.empty(self.indptr[-1], graph.indices.dtype)
        weights = np.empty(self.indptr[-1])
        with np.errstate(divide="ignore"):
            scale = 1 / np.sqrt(graph.degrees)
        args = graph.indptr, graph.indices, graph.weights, scale, vertices, place, self.indptr, self.indices, weights
        parallel.run(_normalize, self.n, *args)
        self._data = {np.dtype(np.float64): weights}

    def data(self, dtype):
        """The entries in this precision."""
        dtype = np.dtype(dtype)
        if dtype not in self._data:
            self._data[dtype] = self._data[np.dtype(np.float64)].astype(dtype)
        return self._data[dtype]

    def step(self, block, previous, alpha=1.0, shift=0.0, beta=0.0):
        """``previous = alpha (M - shift) block - beta previous``, in place; with the defaults, M times the block.

        Parameters
        ----------
        block, previous : (n, m) arrays of the same dtype, C-contiguous
        """
        number = block.dtype.type
        args = self.indptr, self.indices, self.data(block.dtype), block, previous, number(alpha), number(shift), number(beta)
        parallel.run(_step, self.n, *args)
        return previous

    def toarray(self):
        """M as a dense (n, n) array."""
        return scipy.sparse.csr_array((self.data(np.float64), self.indices, self.indptr), shape=(self.n, self.n)).toarray()


@jit
def _normalize(start, stop, indptr, indices, weights, scale, vertices, place, new_indptr, new_indices, new_weights):
    for i in range(start, stop):
        vertex = vertices[i]
        q = new_indptr[i]
        for p in range(indptr[vertex], indptr[vertex + 1]):
            new_indices[q] = place[indices[p]]
            new_weights[q] = weights[p] * scale[vertex] * scale[indices[p]]
            q += 1


@jit(reassociate=True)
def _step(start, stop, indptr, indices, weights, block, previous, alpha, shift, beta):
    m = block.shape[1]
    total = np.empty(m, block.dtype)
    for i in range(start, stop):
        total[:] = 0
        for p in range(indptr[i], indptr[i + 1]):
            j, weight = indices[p], weights[p]
            for c in range(m):
                total[c] += weight * block[j, c]
        for c in range(m):
            previous[i, c] = alpha * (total[c] - shift * block[i, c]) - beta * previous[i, c]
