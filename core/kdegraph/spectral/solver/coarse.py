"""A start for the eigensolver: the eigenvectors of a coarse graph of about a thousand nodes, each
of which is a group of vertices that are near each other.

The weights between two groups are summed. In other words, the vectors are restricted to those that
vary like sqrt(degree) within each group (Galerkin's method). Eigenvectors that vary slowly are
nearly of that kind; the random probes of the solver reveal what is missed.
"""

from typing import NamedTuple

import numpy as np

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.spectral.laplacian import NormalizedAdjacency
from kdegraph.spectral.null_space import NullSpace
from kdegraph.spectral.products import SparseRows, aligned_zeros
from kdegraph.spectral.solver.blocks import fill_random
from kdegraph.spectral.solver.start import N_PROBES, Start, block_width

MIN_VERTICES = 5_000  # a random start is as fast below
MAX_NODES = 1024
MIN_NODE_SIZE = 16  # vertices
# Nodes that are wider than this many times the median width are halved, at most so many times.
MAX_RELATIVE_WIDTH = 2.0
MAX_HALVINGS = 8
COARSE_TOL = 3e-2  # residual of the eigenvectors of the coarse graph
# The coarse graph is of no use if the last wanted value is smaller, as the Rayleigh quotient of a
# random vector is about 0.
MIN_COARSE_VALUE = 0.25


class CoarseGraph(NamedTuple):
    """The coarse graph and what leads from its vectors back to those of the vertices.

    Attributes
    ----------
    operator : NormalizedAdjacency
        M of the coarse graph.
    null : NullSpace
        Its null space.
    node : (n,) int32 array
        Node of each row of the operator of all vertices.
    """

    operator: NormalizedAdjacency
    null: NullSpace
    node: np.ndarray


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
        ``solve(operator, null, k, tol)`` returns the `Eigenpairs` of the coarse graph.
    seed : int
        Of the probes.
    progress : callable, optional

    Returns
    -------
    Start or None
        None for few vertices or too many components, and if the coarse graph does not show the
        wanted eigenvectors.
    """
    width = block_width(k)
    if operator.n < MIN_VERTICES or 16 * max(width, len(null)) > len(groups):
        return None
    coarse = coarsen(operator, null, np.searchsorted(groups, places, side="right"), progress)
    pairs = solve(coarse.operator, coarse.null, width, COARSE_TOL)
    if pairs.values[k - 1] < MIN_COARSE_VALUE:
        return None
    n_given = max(k, width - N_PROBES)
    values = pairs.vectors[:, :n_given] / coarse.null.vector[:, None]
    block = aligned_zeros(operator.n, width, np.float32)
    vector = null.vector.astype(np.float32)
    args = coarse.node, vector, values, block
    parallel.run(_prolong_rows, operator.n, *args, progress=progress)
    fill_random(block, n_given, seed)
    return Start(block, width - n_given, pairs.values)


def coarsen(operator, null, group, progress=None):
    """The graph whose nodes are runs of rows of one group and one component.

    Parameters
    ----------
    operator : NormalizedAdjacency
    null : NullSpace
    group : (n,) int array
        Group of each row.
    progress : callable, optional

    Returns
    -------
    CoarseGraph
    """
    bounds = np.union1d(np.flatnonzero(np.diff(group)) + 1, null.bounds)
    m = len(bounds) - 1
    node = np.repeat(np.arange(m, dtype=np.int32), np.diff(bounds))
    lengths = np.sqrt(np.add.reduceat(null.vector**2, bounds[:-1]))
    dense = np.zeros((m, m), np.float32)
    indptr = np.zeros(m + 1, np.int32)
    vector = null.vector.astype(np.float32)
    args = bounds, node, operator.matrix(np.float32), vector, 1 / lengths, dense, indptr
    parallel.run(_sum_groups, m, *args, progress=progress)
    np.cumsum(indptr, out=indptr)
    indices, weights = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    rows = SparseRows(indptr, indices, weights)
    parallel.run(_pack_rows, m, dense, rows, progress=progress)
    coarse_null = NullSpace(np.searchsorted(bounds, null.bounds), lengths)
    return CoarseGraph(NormalizedAdjacency(rows), coarse_null, node)


def groups_in_space(graph):
    """Bounds of groups of consecutive vertices in the order of a `CheckedGraph`: at most
    `MAX_NODES`, and up to twice as many if the points say so.

    If that is the order of the tree, the groups are its nodes. A node that is much wider than
    others may lie across a gap between clusters, which its vertices would bridge in the coarse
    graph: such nodes are halved until they are as small as the others.

    Returns
    -------
    (g + 1,) int array
    """
    n = graph.n
    n_groups = min(MAX_NODES, 2 ** (max(n // MIN_NODE_SIZE, 1).bit_length() - 1))
    bounds = np.arange(n_groups + 1) * n // n_groups
    if graph.points is None or n < MIN_VERTICES:
        return bounds
    max_width = None
    for _ in range(MAX_HALVINGS):
        width = np.empty(len(bounds) - 1)
        parallel.run(_find_widths, len(width), bounds, graph.order, graph.points, width)
        max_width = max_width or MAX_RELATIVE_WIDTH * np.median(width)
        wide = (width > max_width) & (np.diff(bounds) > 1)
        if not wide.any() or len(bounds) + wide.sum() > 2 * n_groups:
            break
        bounds = np.sort(np.r_[bounds, ((bounds[:-1] + bounds[1:]) // 2)[wide]])
    return bounds


@jit
def _find_widths(start, stop, bounds, order, points, width):
    """The longest side of the bounding box of each group."""
    for a in range(start, stop):
        width[a] = 0.0
        for c in range(points.shape[1]):
            low = high = points[order[bounds[a]], c]
            for i in range(bounds[a] + 1, bounds[a + 1]):
                low, high = min(low, points[order[i], c]), max(high, points[order[i], c])
            width[a] = max(width[a], high - low)


@jit
def _sum_groups(start, stop, bounds, node, matrix, vector, scale, dense, counts):
    """Rows of the matrix of the coarse graph, and in ``counts[1:]`` their numbers of entries."""
    indptr, indices, weights = matrix
    for a in range(start, stop):
        row = dense[a]
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
def _pack_rows(start, stop, dense, out):
    """The entries of the dense matrix that are not 0, as `SparseRows`."""
    indptr, indices, weights = out
    for a in range(start, stop):
        p = indptr[a]
        for b in range(dense.shape[1]):
            if dense[a, b] != 0:
                indices[p], weights[p] = b, dense[a, b]
                p += 1


@jit
def _prolong_rows(start, stop, node, vector, values, block):
    """Set the first columns of each row to the values of its node times its entry of the vector."""
    for i in range(start, stop):
        for c in range(values.shape[1]):
            block[i, c] = values[node[i], c] * vector[i]
