"""Coarse graphs. Their nodes are groups of connected rows, as in algebraic multigrid, or runs of
rows that are near each other in space.

The weights between two groups are summed. In other words, vectors are restricted to those that vary
like sqrt(degree) within each group (Galerkin's method). The smallest eigenvalues of the Laplacian
become two or three times as large, and their eigenvectors keep their shape.

References
----------
P. Vanek, J. Mandel, M. Brezina, "Algebraic multigrid by smoothed aggregation for second and fourth
order elliptic problems", Computing 56 (1996), 179-196.
"""

from typing import NamedTuple

import numpy as np

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.spectral.blocks import NullSpace
from kdegraph.spectral.laplacian import NormalizedAdjacency
from kdegraph.spectral.products import SparseRows

# Consecutive rows within which groups are formed: the unit of work, whose part of all arrays stays
# in the caches.
CHUNK_ROWS = 4096

# Runs of rows are the groups if at most this share of the entries of a sample of rows lies in the
# run of their row. The share is 0.03 to 0.08 for points of the plane with one bandwidth, 0.26 and
# more for photographs and with local bandwidths.
MAX_SHARE_IN_RUN = 0.15
SAMPLED_ROWS = 256
MAX_RUNS = 1024


class CoarseGraph(NamedTuple):
    """A coarse graph, and the node of each row of the graph that it stands for.

    Attributes
    ----------
    operator : NormalizedAdjacency
    null : NullSpace
        Of the coarse graph.
    node : (n,) int32 array
    """

    operator: NormalizedAdjacency
    null: NullSpace
    node: np.ndarray


class Members(NamedTuple):
    """The rows of each node: those of node a are ``rows[bounds[a]:bounds[a + 1]]``, ascending."""

    rows: np.ndarray
    bounds: np.ndarray


def coarsen(operator, null, runs=None, progress=None):
    """Return the graph whose nodes are groups of rows.

    If the neighbors of a row are scattered over far more rows than a run of rows that are near each
    other in space, the rows of a run have nearly the same neighbors, and the runs are the groups.
    Otherwise groups are found along the entries of the matrix.

    Parameters
    ----------
    operator : NormalizedAdjacency
    null : NullSpace
    runs : (n,) int array, optional
        The run of each row, ascending within each component.
    progress : callable, optional

    Returns
    -------
    CoarseGraph
        Its nodes are in the order of their first rows.

    Notes
    -----
    Cost: three passes over the matrix.
    """
    matrix = operator.matrix(np.float32)
    if runs is not None and are_scattered(sampled_rows(matrix), runs.__getitem__):
        first = np.union1d(np.flatnonzero(np.diff(runs)) + 1, null.bounds[:-1])
        m = len(first)
        node = np.repeat(np.arange(m, dtype=np.int32), np.diff(first, append=operator.n))
    else:
        node, m = group_rows(matrix, progress)
    order = np.argsort(node, kind="stable")
    members = Members(order, np.searchsorted(node, np.arange(m + 1), sorter=order))
    lengths = np.sqrt(np.bincount(node, weights=null.vector**2, minlength=m))
    indptr = np.zeros(m + 1, matrix.indptr.dtype)
    args = members, node, matrix
    parallel.run(_count_entries, m, *args, indptr, progress=progress)
    np.cumsum(indptr, out=indptr)
    indices = np.empty(indptr[-1], matrix.indices.dtype)
    rows = SparseRows(indptr, indices, np.empty(indptr[-1], np.float32))
    scaled = (null.vector / lengths[node]).astype(np.float32)
    parallel.run(_sum_entries, m, *args, scaled, rows, progress=progress)
    bounds = np.r_[node[null.bounds[:-1]], m]
    return CoarseGraph(NormalizedAdjacency(rows), NullSpace(bounds, lengths), node)


def sampled_rows(matrix):
    """Return some rows of a matrix: pairs of the number of a row and the columns of its entries."""
    indptr, indices, _ = matrix
    sample = np.linspace(0, len(indptr) - 2, SAMPLED_ROWS).astype(np.int64)
    return [(i, indices[indptr[i] : indptr[i + 1]]) for i in sample]


def are_scattered(rows, run_of):
    """Return whether few of the entries of some rows lie in the run of their row."""
    n_within = sum(np.sum(run_of(columns) == run_of(i)) for i, columns in rows)
    return n_within <= MAX_SHARE_IN_RUN * max(1, sum(len(columns) for _, columns in rows))


def runs_in_space(order, points=None, max_runs=MAX_RUNS):
    """Return the bounds of runs of consecutive vertices in an order: at most `max_runs` of them, or
    twice as many if wide runs are halved.

    In the order of a tree, runs are its nodes. A run that is much wider than others may lie across
    a gap between clusters, which its vertices would bridge in the coarse graph: runs wider than
    twice the median are halved, at most eight times. They have at least 16 vertices before that.

    Parameters
    ----------
    order : (n,) int array
        All vertices.
    points : (n, d) array, optional
    max_runs : int
        A power of two.

    Returns
    -------
    (r + 1,) int array
    """
    n = len(order)
    n_runs = min(max_runs, 2 ** (max(n // 16, 1).bit_length() - 1))
    bounds = np.arange(n_runs + 1) * n // n_runs
    if points is None:
        return bounds
    max_width = None
    for _ in range(8):
        width = np.empty(len(bounds) - 1)
        parallel.run(_find_widths, len(width), bounds, order, points, width)
        max_width = max_width or 2.0 * np.median(width)
        wide = (width > max_width) & (np.diff(bounds) > 1)
        if not wide.any() or len(bounds) + wide.sum() > 2 * n_runs:
            break
        bounds = np.sort(np.r_[bounds, ((bounds[:-1] + bounds[1:]) // 2)[wide]])
    return bounds


@jit
def _find_widths(start, stop, bounds, order, points, width):
    """Find the longest side of the bounding box of each run."""
    for a in range(start, stop):
        width[a] = 0.0
        for c in range(points.shape[1]):
            low = high = points[order[bounds[a]], c]
            for i in range(bounds[a] + 1, bounds[a + 1]):
                low, high = min(low, points[order[i], c]), max(high, points[order[i], c])
            width[a] = max(width[a], high - low)


def group_rows(matrix, progress=None):
    """Find groups of connected rows of a symmetric matrix with entries >= 0.

    Returns
    -------
    node : (n,) int32 array
        The group of each row, numbered in the order of their first rows. No group has rows of two
        components.
    n_nodes : int
    """
    n = len(matrix.indptr) - 1
    n_chunks = -(-n // CHUNK_ROWS)
    node, counts = np.empty(n, np.int32), np.zeros(n_chunks + 1, np.int32)
    args = matrix, node, counts
    parallel.run(_group_chunks, n_chunks, *args, chunk=1, progress=progress)
    np.cumsum(counts, out=counts)
    node += np.repeat(counts[:-1], CHUNK_ROWS)[:n]
    return node, int(counts[-1])


@jit
def _group_chunks(start, stop, matrix, node, counts):
    """Group the rows of each chunk, and count the groups in ``counts[1:]``."""
    for chunk in range(start, stop):
        first = chunk * CHUNK_ROWS
        last = min(first + CHUNK_ROWS, len(node))
        node[first:last] = -1
        n_nodes = _begin_groups(first, last, matrix, node)
        n_nodes = _join_groups(first, last, matrix, node, n_nodes)
        counts[chunk + 1] = _number_by_first_row(node[first:last], n_nodes)


@jit
def _begin_groups(first, last, matrix, node):
    """Let each row be a group with its strong neighbors, unless one of these is in a group.

    A neighbor is strong if its entry is at least a quarter of the largest one of the row, as in the
    reference. At most 16 rows begin a group.
    """
    indptr, indices, weights = matrix
    n_nodes = 0
    for i in range(first, last):
        largest = np.float32(0.0)
        for p in range(indptr[i], indptr[i + 1]):
            if indices[p] != i:
                largest = max(largest, weights[p])
        free, strong = node[i] < 0, 0.25 * largest
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if first <= j < last and weights[p] >= strong and node[j] >= 0:
                free = False
                break
        if free and largest > 0:
            node[i], size = n_nodes, 1
            for p in range(indptr[i], indptr[i + 1]):
                j = indices[p]
                if j != i and first <= j < last and weights[p] >= strong and size < 16:
                    node[j] = n_nodes
                    size += 1
            n_nodes += 1
    return n_nodes


@jit
def _join_groups(first, last, matrix, node, n_nodes):
    """Let each row without a group join the one to which its entries are largest, or begin one."""
    indptr, indices, weights = matrix
    total = np.zeros(last - first, np.float32)
    for i in range(first, last):
        if node[i] >= 0:
            continue
        best = n_nodes
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if first <= j < last and node[j] >= 0:
                total[node[j]] += weights[p]
                if best == n_nodes or total[node[j]] > total[best]:
                    best = node[j]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if first <= j < last and node[j] >= 0:
                total[node[j]] = 0
        node[i] = best
        n_nodes = max(n_nodes, best + 1)
    return n_nodes


@jit
def _number_by_first_row(node, n_nodes):
    """Number the groups by their first rows, in place; return how many there are."""
    number = np.full(n_nodes, -1, np.int32)
    n_numbered = 0
    for i in range(len(node)):
        if number[node[i]] < 0:
            number[node[i]] = n_numbered
            n_numbered += 1
        node[i] = number[node[i]]
    return n_numbered


@jit(distinct=True)
def _count_entries(start, stop, members, node, matrix, counts):
    """Count the entries of each row of the coarse graph, in ``counts[1:]``."""
    (rows, bounds), (indptr, indices, _) = members, matrix
    seen = np.full(len(bounds) - 1, -1, np.int32)
    for a in range(start, stop):
        count = 0
        for q in range(bounds[a], bounds[a + 1]):
            for p in range(indptr[rows[q]], indptr[rows[q] + 1]):
                b = np.uint32(node[np.uint32(indices[p])])
                count += seen[b] != a
                seen[b] = a
        counts[a + 1] = count


@jit(distinct=True)
def _sum_entries(start, stop, members, node, matrix, scaled, out):
    """Fill the rows of the matrix of the coarse graph; `scaled` is the vector of the null space,
    with norm 1 on each node.
    """
    (rows, bounds), (indptr, indices, weights) = members, matrix
    out_indptr, out_indices, out_weights = out
    seen, total = np.full(len(bounds) - 1, -1, np.int32), np.empty(len(bounds) - 1)
    for a in range(start, stop):
        end = out_indptr[a]
        for q in range(bounds[a], bounds[a + 1]):
            i = rows[q]
            for p in range(indptr[i], indptr[i + 1]):
                j = np.uint32(indices[p])
                b = np.uint32(node[j])
                if seen[b] != a:
                    seen[b], total[b] = a, 0.0
                    out_indices[end] = b
                    end += 1
                total[b] += scaled[i] * weights[p] * scaled[j]
        for p in range(out_indptr[a], end):
            out_weights[p] = total[out_indices[p]]
