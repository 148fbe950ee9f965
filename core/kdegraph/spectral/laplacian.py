"""The normalized adjacency matrix M = D^-1/2 A D^-1/2 as an operator on blocks of vectors.

The normalized Laplacian is I - M: its smallest eigenvalues belong to the largest ones of M.
"""

import math

import numpy as np
import scipy.sparse

from kdegraph.geometry.sparse_points import SparseRows
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.spectral.products import prefetch, step_rows

# While a row is copied, the entries of the row that comes this number of rows later are requested
# from memory.
COPY_PREFETCH_ROWS = 4


class NormalizedAdjacency:
    """Apply M = D^-1/2 A D^-1/2 to blocks of vectors.

    The weights of `matrix`, which is M, are in single or double precision.
    ``other_precision(dtype)`` returns them in another one; by default they are converted.
    """

    def __init__(self, matrix, other_precision=None):
        self.n = len(matrix.indptr) - 1
        self.indptr, self.indices = matrix.indptr, matrix.indices
        self._matrices = {matrix.values.dtype: matrix}
        self._weights = other_precision or matrix.values.astype

    @classmethod
    def of_graph(cls, graph, vertices, progress=None):
        """Return M of the vertices of some connected components, as rows in the given order.

        Products are faster if neighbors are near each other in that order, because the rows that
        they read stay in the caches.
        """
        n = len(vertices)
        place = np.empty(graph.n, graph.matrix.indices.dtype)
        place[vertices] = np.arange(n, dtype=place.dtype)
        indptr = np.zeros(n + 1, graph.matrix.indptr.dtype)
        np.cumsum(np.diff(graph.matrix.indptr)[vertices], out=indptr[1:])
        indices = np.empty(indptr[-1], graph.matrix.indices.dtype)
        with np.errstate(divide="ignore"):
            scale = 1 / np.sqrt(graph.degrees[vertices])

        def weights(dtype):
            rows = SparseRows(indptr, indices, np.empty(len(indices), dtype))
            args = graph.matrix, vertices, place, scale, rows
            parallel.run(_copy_scaled_rows, n, *args, progress=progress)
            return rows.values

        return cls(SparseRows(indptr, indices, weights(np.float32)), weights)

    def matrix(self, dtype):
        """Return M as `SparseRows` in this precision."""
        dtype = np.dtype(dtype)
        if dtype not in self._matrices:
            self._matrices[dtype] = SparseRows(self.indptr, self.indices, self._weights(dtype))
        return self._matrices[dtype]

    def bulk_radius(self):
        """Estimate the largest modulus of the eigenvalues that are due to random edges.

        If the entries of a symmetric matrix are independent, its eigenvalues fill [-2 s, 2 s],
        where s^2 is the mean over the rows of the sum of squares (Wigner's semicircle law). A
        vertex with few neighbors has a large sum of squares q, which leads to an eigenvalue of
        about -sqrt(q). Structure such as clusters leads to others, mostly positive ones. The
        estimate includes 5 % for random deviations.
        """
        indptr, _, weights = self.matrix(np.float32)
        squares = np.add.reduceat(weights * weights, indptr[:-1])  # no row is empty
        return 1.05 * math.sqrt(max(4 * squares.mean(dtype=np.float64), squares.max()))

    def step(self, block, previous, alpha=1.0, shift=0.0, beta=0.0, progress=None):
        """Set ``previous = alpha (M - shift) block - beta previous`` in place and return it. With
        the defaults, this is M times the block. Both are C-contiguous and of the same dtype.
        """
        number = block.dtype.type
        args = self.matrix(block.dtype), block, previous, number(alpha), number(shift), number(beta)
        per_row = block.shape[1] * (1 + len(self.indices) / self.n)
        # A call has at least about 0.15 ms of work (1.5e6 multiplications), far more than its
        # overhead, and at most about 1 ms, so that threads end together and progress is reported.
        chunk = min(max(self.n / 32, 1.5e6 / per_row), 1e7 / per_row)
        parallel.run(step_rows, self.n, *args, chunk=int(chunk) + 1, progress=progress)
        return previous

    def toarray(self):
        """Return M as a dense (n, n) float64 array."""
        indptr, indices, weights = self.matrix(np.float64)
        return scipy.sparse.csr_array((weights, indices, indptr), shape=(self.n, self.n)).toarray()


@jit(distinct=True)
def _copy_scaled_rows(start, stop, matrix, vertices, place, scale, out):
    """Copy the rows of some vertices, renumbered and scaled.

    The rows are scattered in memory, so they are requested before they are used.
    """
    indptr, indices, weights = matrix
    out_indptr, out_indices, out_weights = out
    for i in range(start, stop):
        if i + 2 * COPY_PREFETCH_ROWS < len(vertices):
            prefetch(indptr, vertices[i + 2 * COPY_PREFETCH_ROWS])
        if i + COPY_PREFETCH_ROWS < len(vertices):
            later = vertices[i + COPY_PREFETCH_ROWS]
            for p in range(indptr[later], indptr[later + 1], 8):
                prefetch(indices, p)
                prefetch(weights, p)
        shift = indptr[vertices[i]] - out_indptr[i]
        for q in range(out_indptr[i], out_indptr[i + 1]):
            out_indices[q] = place[np.uint32(indices[q + shift])]
        own = scale[i]
        for q in range(out_indptr[i], out_indptr[i + 1]):
            out_weights[q] = weights[q + shift] * own * scale[np.uint32(out_indices[q])]
