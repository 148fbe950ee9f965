"""A coarse graph whose nodes are groups of rows that hang together, as in algebraic multigrid.

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
from kdegraph.spectral.laplacian import NormalizedAdjacency
from kdegraph.spectral.null_space import NullSpace
from kdegraph.spectral.products import SparseRows

# Groups lie within so many consecutive rows: these are the units of work, and their part of all
# arrays stays in the caches.
CHUNK_ROWS = 4096
# A group begins as a row with its neighbors, at most so many rows.
MAX_BEGINNING = 16
# A neighbor counts if its entry is at least this share of the largest one of the row, as in the
# reference.
STRONG = 0.25

# Runs of rows are the groups if at most this share of the entries lies in the run of its row, as
# far as so many rows show. The share is 0.03 to 0.08 for points of the plane with one bandwidth,
# 0.26 and more for photographs and with local bandwidths.
MAX_SHARE_IN_RUN = 0.15
SAMPLED_ROWS = 256


class CoarseGraph(NamedTuple):
    """The coarse graph and what leads from its vectors back to those of all rows.

    Attributes
    ----------
    operator : NormalizedAdjacency
        M of the coarse graph.
    null : NullSpace
        Its null space.
    node : (n,) int32 array
        Node of each row of the operator that was coarsened.
    """

    operator: NormalizedAdjacency
    null: NullSpace
    node: np.ndarray


class Members(NamedTuple):
    """The rows of each node: those of node a are ``rows[bounds[a]:bounds[a + 1]]``, ascending."""

    rows: np.ndarray
    bounds: np.ndarray


def coarsen(operator, null, runs=None, progress=None):
    """The graph of groups of rows.

    If the neighbors of a row are scattered over far more rows than there are in a run of rows that
    are near each other in space, the rows of a run have much the same neighbors, and the runs are
    the groups. Otherwise groups are found along the entries of the matrix.

    Parameters
    ----------
    operator : NormalizedAdjacency
    null : NullSpace
    runs : (n,) int array, optional
        Of the rows, ascending within each component.
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
    """Some rows of a matrix: pairs of the number of a row and the columns of its entries."""
    indptr, indices, _ = matrix
    sample = np.linspace(0, len(indptr) - 2, SAMPLED_ROWS).astype(np.int64)
    return [(i, indices[indptr[i] : indptr[i + 1]]) for i in sample]


def are_scattered(rows, run_of):
    """Whether so few entries of some rows lie in the run of their row that runs are the groups."""
    n_within = sum(np.sum(run_of(columns) == run_of(i)) for i, columns in rows)
    return n_within <= MAX_SHARE_IN_RUN * max(1, sum(len(columns) for _, columns in rows))


def group_rows(matrix, progress=None):
    """Find groups of rows that hang together.

    Parameters
    ----------
    matrix : SparseRows
        Symmetric, with entries >= 0.
    progress : callable, optional

    Returns
    -------
    node : (n,) int32 array
        The group of each row. Groups are numbered in the order of their first rows, and no group
        has rows of two components.
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
    """Let each row be a group with its strong neighbors, unless one of these is in a group."""
    indptr, indices, weights = matrix
    n_nodes = 0
    for i in range(first, last):
        largest = np.float32(0.0)
        for p in range(indptr[i], indptr[i + 1]):
            if indices[p] != i:
                largest = max(largest, weights[p])
        free, strong = node[i] < 0, STRONG * largest
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if first <= j < last and weights[p] >= strong and node[j] >= 0:
                free = False
                break
        if free and largest > 0:
            node[i], size = n_nodes, 1
            for p in range(indptr[i], indptr[i + 1]):
                j = indices[p]
                if j != i and first <= j < last and weights[p] >= strong and size < MAX_BEGINNING:
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
    """Number the groups anew, in place; return their number."""
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
    """The numbers of entries in the rows of the coarse graph, in ``counts[1:]``."""
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
    """The rows of the matrix of the coarse graph; `scaled` is the vector of the null space, on each
    node of norm 1.
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
