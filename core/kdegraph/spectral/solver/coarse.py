"""A start for the eigensolver: the eigenvectors of a graph of a few thousand nodes, each a group of
vertices that are near each other.

The weights between two groups are summed. In other words the vectors are restricted to those that
vary like sqrt(degree) within each group (Galerkin's method): eigenvectors that vary slowly are
nearly so, and of what is left out the random probes of the solver take care.
"""

import numpy as np
import scipy.sparse

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.spectral.laplacian import NormalizedAdjacency
from kdegraph.spectral.null_space import NullSpace
from kdegraph.spectral.products import zeros_in_lines
from kdegraph.spectral.solver.blocks import fill_block
from kdegraph.spectral.solver.iteration import NOISE
from kdegraph.spectral.solver.start import Start, block_width, n_places

MIN_VERTICES = 5_000  # a random start is as quick below
MAX_LEVEL, NODE_SIZE = 10, 16  # at most 2^10 nodes of at least so many vertices
WIDE, MAX_HALVINGS = (
    2.0,
    8,
)  # groups wider than this many times the median are halved, so many times
TOL = 3e-2  # of the coarse eigenvectors


def coarse_start(operator, null, k, groups, places, solve, seed, progress=None):
    """Approximate eigenvectors from groups of consecutive vertices.

    Parameters
    ----------
    operator : NormalizedAdjacency
    null : NullSpace
    k : int
        Wanted pairs.
    groups : (g + 1,) int array
        Where the groups begin and end, in the order of all vertices.
    places : (n,) int array
        Places of the rows in that order, ascending within each component.
    solve : callable
        ``solve(operator, null, k, tol)`` returns the `Pairs` of the coarse graph.
    seed : int
        Of the random vectors beside the prolonged ones.
    progress : callable, optional

    Returns
    -------
    Start or None
        None for few vertices, too many components, and where the groups do not show the wanted
        eigenvectors.
    """
    n, width = operator.n, block_width(k)
    if n < MIN_VERTICES or 16 * max(width, len(null)) > len(groups):
        return None
    group = np.searchsorted(groups, places, side="right")
    bounds = np.union1d(np.flatnonzero(np.diff(group)) + 1, null.bounds)
    sizes = np.diff(bounds)
    node = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    vector = null.vector.astype(np.float32)
    lengths = np.sqrt(np.add.reduceat(null.vector**2, bounds[:-1]))
    m = len(sizes)
    matrix, indptr = np.zeros((m, m), np.float32), np.zeros(m + 1, np.int32)
    data = operator.data(np.float32)
    args = (
        bounds,
        node,
        operator.indptr,
        operator.indices,
        data,
        vector,
        1 / lengths,
        matrix,
        indptr,
    )
    parallel.run(_sum_groups, m, *args, progress=progress)
    np.cumsum(indptr, out=indptr)
    weights, columns = np.empty(indptr[-1], np.float32), np.empty(indptr[-1], np.int32)
    parallel.run(_pack_rows, m, matrix, indptr, columns, weights, progress=progress)
    coarse = NormalizedAdjacency(scipy.sparse.csr_array((weights, columns, indptr), shape=(m, m)))
    pairs = solve(coarse, NullSpace(np.searchsorted(bounds, null.bounds), lengths), width, TOL)
    if pairs.values[k - 1] < NOISE:
        return None
    block, n_given = zeros_in_lines(n, width, np.float32), n_places(k)
    parallel.run(
        _prolong_rows,
        n,
        node,
        vector,
        pairs.vectors[:, :n_given] / lengths[:, None],
        block,
        progress=progress,
    )
    fill_block(block, block, range(n_given), seed)
    return Start(block, width - n_given, pairs.values)


def groups_in_space(graph):
    """Bounds of groups of vertices that follow each other in the order of a `Graph`: at most 1,024,
    and more where the points say so.

    If that is the order of the tree, the groups are its nodes. A node that is much wider than
    others may lie across a gap between clusters, which its vertices would bridge in the coarse
    graph: such nodes are halved until they are as small as the others.
    """
    n = graph.n
    n_groups = 2 ** min(MAX_LEVEL, max(n // NODE_SIZE, 1).bit_length() - 1)
    bounds = np.arange(n_groups + 1) * n // n_groups
    if graph.points is None or n < MIN_VERTICES:
        return bounds
    limit = None
    for _ in range(MAX_HALVINGS):
        width = np.empty(len(bounds) - 1)
        parallel.run(_find_widths, len(width), bounds, graph.order, graph.points, width)
        limit = limit or WIDE * np.median(width)
        wide = (width > limit) & (np.diff(bounds) > 1)
        if not wide.any() or len(bounds) + wide.sum() > 2 * n_groups:
            break
        bounds = np.sort(np.r_[bounds, ((bounds[:-1] + bounds[1:]) // 2)[wide]])
    return bounds


@jit
def _find_widths(start, stop, bounds, order, points, width):
    """The longest side of the box around each group."""
    for a in range(start, stop):
        width[a] = 0.0
        for c in range(points.shape[1]):
            low = high = points[order[bounds[a]], c]
            for i in range(bounds[a] + 1, bounds[a + 1]):
                low, high = min(low, points[order[i], c]), max(high, points[order[i], c])
            width[a] = max(width[a], high - low)


@jit
def _sum_groups(start, stop, bounds, node, indptr, indices, weights, vector, scale, matrix, counts):
    """Rows of the coarse matrix, and in ``counts[1:]`` the number of entries in each that are not
    0.
    """
    for a in range(start, stop):
        row = matrix[a]
        for i in range(bounds[a], bounds[a + 1]):
            for p in range(indptr[i], indptr[i + 1]):
                j = indices[p]
                row[node[j]] += vector[i] * weights[p] * vector[j]
        count = 0
        for b in range(len(row)):
            row[b] *= scale[a] * scale[b]
            count += row[b] != 0
        counts[a + 1] = count


@jit
def _pack_rows(start, stop, matrix, indptr, indices, weights):
    for a in range(start, stop):
        p = indptr[a]
        for b in range(matrix.shape[1]):
            if matrix[a, b] != 0:
                indices[p], weights[p] = b, matrix[a, b]
                p += 1


@jit
def _prolong_rows(start, stop, node, vector, values, block):
    """Set each row to the values of its node, as many as there are, times its entry of the vector."""
    for i in range(start, stop):
        for c in range(values.shape[1]):
            block[i, c] = values[node[i], c] * vector[i]
