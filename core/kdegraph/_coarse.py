"""A start for the eigensolver: the eigenvectors of a graph of a few thousand nodes, each a group of vertices that are near each other.

The weights between two groups are summed. In other words the vectors are restricted to those that vary like sqrt(degree) within each
group (Galerkin's method): eigenvectors that vary slowly are nearly so, and of what is left out the random probes of the solver take care.
"""

import numpy as np
import scipy.sparse

from . import parallel
from ._eigen import NOISE, PROBES, Start, block_width
from ._jit import jit
from ._laplacian import NormalizedAdjacency
from ._nullspace import NullSpace

MIN_VERTICES = 20_000  # a random start is as quick below
MAX_NODES, NODE_SIZE = 2048, 64
TOL = 1e-2  # of the coarse eigenvectors


def coarse_start(operator, null, k, solve, progress=None):
    """Approximate eigenvectors from groups of consecutive rows.

    Parameters
    ----------
    operator : NormalizedAdjacency
        Its rows in an order in which neighbours are near each other.
    null : NullSpace
    k : int
        Wanted pairs.
    solve : callable
        ``solve(operator, null, k, tol)`` returns the `Pairs` of the coarse graph.
    progress : callable, optional

    Returns
    -------
    Start or None
        None for few vertices, too many components, and where the groups do not show the wanted eigenvectors.
    """
    n, width = operator.n, block_width(k)
    n_nodes = min(MAX_NODES, n // NODE_SIZE)
    if n < MIN_VERTICES or 16 * max(width, len(null)) > n_nodes:
        return None
    bounds = np.union1d(np.arange(n_nodes + 1) * n // n_nodes, null.bounds)
    sizes = np.diff(bounds)
    node = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    vector = null.vector.astype(np.float32)
    lengths = np.sqrt(np.add.reduceat(null.vector**2, bounds[:-1]))
    matrix = np.zeros((len(sizes), len(sizes)), np.float32)
    args = bounds, node, operator.indptr, operator.indices, operator.data(np.float32), vector, matrix
    parallel.run(_sum_groups, len(sizes), *args, progress=progress)
    matrix /= lengths[:, None] * lengths
    coarse = NormalizedAdjacency(scipy.sparse.csr_array(matrix))
    pairs = solve(coarse, NullSpace(np.searchsorted(bounds, null.bounds), lengths), width, TOL)
    if pairs.values[k - 1] < NOISE:
        return None
    chosen = (pairs.vectors[:, : max(k, width - PROBES)] / lengths[:, None]).astype(np.float32)
    return Start(chosen[node] * vector[:, None], pairs.values)


@jit
def _sum_groups(start, stop, bounds, node, indptr, indices, weights, vector, matrix):
    for a in range(start, stop):
        row = matrix[a]
        for i in range(bounds[a], bounds[a + 1]):
            for p in range(indptr[i], indptr[i + 1]):
                j = indices[p]
                row[node[j]] += vector[i] * weights[p] * vector[j]
