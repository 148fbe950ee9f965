"""From sampled neighbors to the weighted adjacency matrix, the end of Algorithm 2.

An edge that is drawn gets the Horvitz-Thompson weight: its kernel value over the probability that
it is drawn, so that the matrix is an unbiased estimate of the kernel matrix.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from kdegraph.drawn import Drawn, transposed
from kdegraph.edge_weights import EdgeLaw, weigh_edges
from kdegraph.geometry.ranks import add_ranks
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.progress import partial_progress

# Rows up to this length are sorted by counting the smaller numbers, which is vectorized.
MAX_COUNTED_LENGTH = 256
# Entries of the matrix that are worked on at a time, about.
ENTRIES_TOGETHER = 1024
# Lengths are rounded up to this, so that loops leave no remainder.
ENTRY_VECTOR = 8
# Stands for no vertex and is larger than the number of any.
NO_VERTEX = np.int32(2**31 - 1)


class LooseRows(NamedTuple):
    """Rows of the matrix, with gaps between them.

    Attributes
    ----------
    indices : int32
        Original numbers of the vertices, ascending in each row.
    data : float64
        Their weights.
    begin, n_entries : (m,) int64
        Row i has `n_entries[i]` entries from ``begin[i]`` on.
    """

    indices: np.ndarray
    data: np.ndarray
    begin: np.ndarray
    n_entries: np.ndarray


class RowWorkspace(NamedTuple):
    """Arrays for the weights of the entries of some rows, which follow each other.

    Attributes
    ----------
    own : (d + 3, capacity) float64
        For each entry the coordinates of its row's vertex, the inverse degree of that, and where
        bandwidths differ its factor and its shift.
    probability, miss, power : (capacity,) float64
        For the probabilities of the edges.
    """

    own: np.ndarray
    probability: np.ndarray
    miss: np.ndarray
    power: np.ndarray


def weighted_adjacency(kernel, tree, degrees, neighbors, independent, *, progress=None):
    """Return the symmetric adjacency matrix with weights ``k(x_i, x_j) / (p_i(j) + p_j(i) - p_i(j)
    p_j(i))``.

    Parameters
    ----------
    kernel : Kernel
    tree : Tree
    degrees : (n,) float64
        Kernel degrees in the tree's order.
    neighbors : (n, L) int32
        Positions in the tree's order, -1 for none.
    independent : bool
        Formula for the inclusion probability ``p_i(j)``, that j is among the L draws of i: ``1 - (1
        - k / deg(i))^L``, which holds for independent draws, or the paper's formula without
        self-loops, ``min(L k / deg(i), 1)``, which holds for stratified ones.

    Returns
    -------
    csr_array
        (n, n) in the order of the original points, sorted, without duplicates. O(n L^2) for the
        small L that is usual, O(n L log L) for any.
    """
    n, n_rounds = neighbors.shape
    with np.errstate(divide="ignore"):
        inverse_degrees = 1.0 / degrees
    law = EdgeLaw.of_kernel(kernel, tree.points, inverse_degrees, n_rounds, independent)
    incoming = transposed(neighbors, n, partial_progress(progress, 0.0, 0.1))
    drawn = Drawn(0, neighbors, *incoming, tree.order)
    rows = weighted_rows(drawn, law, tree.order, partial_progress(progress, 0.1, 1.0))
    matrix = scipy.sparse.csr_array(rows, shape=(n, n))
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def weighted_rows(drawn, law, order, progress=None):
    """Return rows of the weighted matrix.

    Parameters
    ----------
    drawn : Drawn
        Who drew whom, for the vertices whose rows these are.
    law : EdgeLaw
        For all vertices.
    order : (n,) int64
        That of the tree.

    Returns
    -------
    data, indices, indptr
        As `scipy.sparse.csr_array` takes them. The columns are original numbers, ascending in each
        row.
    """
    m, n_rounds = drawn.neighbors.shape
    # Rows are joined in the tree's order, where neighbors are near in memory, and each is written
    # where there is room for it if no vertex occurs in it twice.
    most = np.empty(m, np.int64)
    most[drawn.row] = n_rounds + np.diff(drawn.start)
    begin, total = np.cumsum(most) - most, most.sum()
    rows = LooseRows(np.empty(total, np.int32), np.empty(total), begin, np.empty(m, np.int64))
    parallel.run(_join_rows, m, drawn, law, order, most.max(), rows, progress=progress)
    indptr = np.concatenate([[0], np.cumsum(rows.n_entries)])
    _close_gaps(rows, indptr)
    for array in (rows.indices, rows.data):
        array.resize(indptr[-1], refcheck=False)
    kind = np.int32 if indptr[-1] < 2**31 else np.int64
    return rows.data, rows.indices.astype(kind, copy=False), indptr.astype(kind)


@jit
def _join_rows(begin, end, drawn, law, order, longest, rows):
    """Join whom each of the vertices begin ... end - 1, counted from the first one, drew and was
    drawn by, once each and sorted by the original numbers, and compute the weights.

    Many rows are worked on at a time, loop after loop over all of them, so that each is vectorized.
    """
    capacity, d = ENTRIES_TOGETHER + longest + ENTRY_VECTOR, law.points.shape[1]
    entries = np.empty((5, capacity), np.int32)
    found, number, rank = entries[0], entries[1], entries[2]
    values = np.empty((d + 7, capacity))
    work = RowWorkspace(values[: d + 3], values[d + 3], values[d + 4], values[d + 5])
    weight = values[d + 6]
    all_starts = np.empty(ENTRIES_TOGETHER + 1, np.int64)
    first = begin
    while first < end:
        last = _collect(first, end, drawn, order, found, number, all_starts)
        starts = all_starts[: last - first + 1]
        _rank_rows(starts, number, rank)
        size = _sort(starts, rank, found, number, entries[3], entries[4])
        _repeat(drawn.first + first, starts, law, work.own)
        weigh_edges(law, found[:size], work, weight[:size])
        _put_rows(drawn.row[first:last], starts, number, weight, rows)
        first = last


@jit(distinct=True)
def _collect(first, end, drawn, order, found, number, starts):
    """Write whom the vertices from `first` on drew and were drawn by to `found`, each row filled up
    to whole vectors with -1, and their original numbers to `number`; row ``first + r`` begins at
    ``starts[r]``.

    Stop after about `ENTRIES_TOGETHER` entries, and return the vertex before which that is.
    """
    neighbors, incoming_start, incoming = drawn.neighbors, drawn.start, drawn.incoming
    n_rounds = neighbors.shape[1]
    size, i = 0, first
    starts[0] = 0
    while i < end and size < ENTRIES_TOGETHER:
        for k in range(n_rounds):
            found[size + k] = neighbors[i, k]
        size += n_rounds
        begin = incoming_start[i]
        own = incoming_start[i + 1] - begin
        padded = -(-(n_rounds + own) // ENTRY_VECTOR) * ENTRY_VECTOR - n_rounds
        for k in range(padded):
            found[size + k] = incoming[begin + k] if k < own else -1
        size += padded
        i += 1
        starts[i - first] = size
    for k in range(size):
        number[k] = np.int32(order[np.uint32(max(found[k], 0))]) if found[k] >= 0 else NO_VERTEX
    return i


@jit
def _rank_rows(starts, number, rank):
    """Write the place in its sorted row for each number; equal numbers get the same place."""
    for row in range(starts.size - 1):
        begin, stop = starts[row], starts[row + 1]
        if stop - begin <= MAX_COUNTED_LENGTH:
            rank[begin:stop] = begin
            add_ranks(number[begin:stop], stop - begin, rank[begin:stop])
        else:
            _rank_by_sorting(number[begin:stop], rank[begin:stop], begin)


@jit
def _rank_by_sorting(number, rank, begin):
    """Do the same for a long row, where comparing all pairs would take too long.

    Keys are sorted by Shell's method, because numba's own sort takes seconds to compile.
    """
    key = np.empty(number.size, np.int64)
    for k in range(number.size):
        key[k] = (np.int64(number[k]) << 32) | k
    gap = key.size
    while gap > 1:
        gap = max(5 * gap // 11, 1)
        for i in range(gap, key.size):
            moved, k = key[i], i
            while k >= gap and key[k - gap] > moved:
                key[k] = key[k - gap]
                k -= gap
            key[k] = moved
    place = 0
    for k in range(number.size):
        if key[k] >> 32 != key[place] >> 32:
            place = k
        rank[key[k] & 0xFFFFFFFF] = begin + place


@jit(distinct=True)
def _sort(starts, rank, found, number, sorted_found, sorted_number):
    """Move all entries to their ranks, and close the gaps that are left by equal ones and missing
    ones. `starts` becomes that of the shorter rows. Return the number of entries.
    """
    n_rows = starts.size - 1
    for k in range(starts[n_rows]):
        sorted_found[k] = -1
    for k in range(starts[n_rows]):
        sorted_found[np.uint32(rank[k])] = found[k]
        sorted_number[np.uint32(rank[k])] = number[k]
    size = 0
    for row in range(n_rows):
        begin, starts[row] = starts[row], size
        for k in range(begin, starts[row + 1]):
            found[size], number[size] = sorted_found[k], sorted_number[k]
            size += sorted_found[k] >= 0
    starts[n_rows] = size
    return size


@jit(distinct=True)
def _repeat(first, starts, law, own):
    """Write the values of the vertex of each row to `own`, once for each of its neighbors. Whole
    vectors are written; the next row overwrites what exceeds a row.
    """
    points, inverse_degrees, local = law.points, law.inverse_degrees, law.local
    d = points.shape[1]
    for row in range(starts.size - 1):
        i, begin = first + row, starts[row]
        stop = begin + -(-(starts[row + 1] - begin) // ENTRY_VECTOR) * ENTRY_VECTOR
        for c in range(d):
            x = points[i, c]
            for k in range(begin, stop):
                own[c, k] = x
        x = inverse_degrees[i]
        for k in range(begin, stop):
            own[d, k] = x
        if local.factor.size:
            factor, shift = local.factor[i], local.shift[i]
            for k in range(begin, stop):
                own[d + 1, k], own[d + 2, k] = factor, shift


@jit(distinct=True)
def _put_rows(row, starts, number, weight, rows):
    """Put rows that follow each other into their places."""
    indices, data, begin, n_entries = rows
    for k in range(row.size):
        place, first = begin[row[k]], starts[k]
        for p in range(starts[k + 1] - first):
            indices[place + p], data[place + p] = number[first + p], weight[first + p]
        n_entries[row[k]] = starts[k + 1] - first


@jit
def _close_gaps(rows, indptr):
    """Move the rows together, so that row i begins at ``indptr[i]``, at or before its old place."""
    indices, data, begin, _ = rows
    for i in range(begin.size):
        shift = begin[i] - indptr[i]
        if shift > 0:
            for p in range(indptr[i], indptr[i + 1]):
                indices[p], data[p] = indices[p + shift], data[p + shift]
