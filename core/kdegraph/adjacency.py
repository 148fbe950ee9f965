"""From sampled neighbors to the weighted adjacency matrix, the end of Algorithm 2.

An edge that is drawn gets the Horvitz-Thompson weight: its kernel value over the probability that
it is drawn, so that the matrix is an unbiased estimate of the kernel matrix.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from kdegraph.edge_weights import EdgeLaw, weigh_edges
from kdegraph.geometry.tree import add_ranks
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.progress import partial_progress
from kdegraph.runtime.threads import get_num_threads

# Entries of the matrix that are worked on at a time, about.
ENTRIES_TOGETHER = 1024
# Lengths are rounded up to this, so that loops leave no remainder.
ENTRY_VECTOR = 8


class Drawn(NamedTuple):
    """Hold whom a run of vertices drew, and who drew these vertices, in the tree's order."""

    first: int  # the first vertex of the run
    neighbors: np.ndarray  # (m, L) int32: the neighbors that each vertex drew; -1 for none
    # (m + 1,) int64: the vertex ``first + k`` was drawn by ``incoming[start[k]:start[k + 1]]``
    start: np.ndarray
    incoming: np.ndarray  # int32: in increasing order, with the repetitions of `neighbors`
    row: np.ndarray  # (m,) int64: the row of the matrix that each vertex gets


class LooseRows(NamedTuple):
    """Rows of the matrix, with gaps between them."""

    indices: np.ndarray  # int32: original numbers of the vertices, ascending in each row
    data: np.ndarray  # float64: their weights
    # (m,) int64: row i has `n_entries[i]` entries from ``begin[i]`` on
    begin: np.ndarray
    n_entries: np.ndarray


class RowWorkspace(NamedTuple):
    """Arrays for the entries of some rows, which follow each other."""

    # int32: positions in the tree's order, -1 for none, and original numbers
    found: np.ndarray
    number: np.ndarray
    rank: np.ndarray  # int32: where the entry belongs
    # int32: the same, sorted by the original numbers
    sorted_found: np.ndarray
    sorted_number: np.ndarray
    # int64: where each row starts among the entries found, and how many different ones it has
    start: np.ndarray
    size: np.ndarray
    # (d + 3, capacity) float64: for each entry the coordinates of its row's vertex, the inverse
    # degree of that, and where bandwidths differ its factor and its shift
    own: np.ndarray
    # float64: for the probabilities of the edges
    probability: np.ndarray
    miss: np.ndarray
    power: np.ndarray
    weight: np.ndarray  # float64


def weighted_adjacency(kernel, tree, degrees, neighbors, independent, *, progress=None):
    """Return the symmetric adjacency matrix with weights ``k(x_i, x_j) / (p_i(j) + p_j(i) - p_i(j)
    p_j(i))``, an (n, n) CSR array in the order of the original points, sorted, without duplicates.

    The `degrees`, (n,) float64, and the `neighbors`, (n, L) int32 with -1 for none, are in the
    tree's order. The probability ``p_i(j)``, that j is among the L draws of i, is ``1 - (1 - k /
    deg(i))^L`` for `independent` draws. For stratified ones it is the paper's, without self-loops:
    ``min(L k / deg(i), 1)``. It takes O(n L^2) for the small L that is usual, O(n L log L) for any.
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


def with_copies(adjacency, sample_weight, density=None, alpha=0.0):
    """Return an adjacency matrix with the self-loops that stand for the edges between the copies of
    a point: of a weight w above 1, ``w (w - 1)``, divided by ``density ** (2 alpha)``.
    """
    loops = sample_weight * np.maximum(sample_weight - 1.0, 0.0)
    if density is not None:
        loops *= density ** (-2.0 * alpha)
    return scipy.sparse.csr_array(adjacency + scipy.sparse.diags_array(loops))


def weighted_rows(drawn, law, order, progress=None):
    """Return the rows of the weighted matrix of the vertices of a `Drawn`, as the data, indices and
    indptr that `scipy.sparse.csr_array` takes. The `order` is that of the tree. Columns are
    original numbers, ascending in each row.
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


def transposed(neighbors, n_columns, progress=None):
    """List the rows in which each number below `n_columns` occurs; negative ones are ignored.
    Return `start` and `rows`: the number j occurs in ``rows[start[j]:start[j + 1]]``, ascending.

    This is a counting sort in blocks of rows, each on a thread, which needs 8 `n_columns` bytes per
    block.
    """
    m = len(neighbors)
    blocks = max(1, min(get_num_threads(), 8, m // 4096))
    place = np.zeros((blocks, n_columns), np.int64)
    block_size = -(-m // blocks)
    parallel.run(
        _count_incoming, blocks, block_size, neighbors, place,
        chunk=1, progress=partial_progress(progress, 0.0, 0.3),
    )  # fmt: skip
    start = np.concatenate([[0], np.cumsum(place.sum(axis=0))])
    # Each block writes after the blocks before it.
    np.cumsum(place[:-1], axis=0, out=place[1:])
    place[0] = 0
    place += start[:-1]
    rows = np.empty(start[-1], np.int32)
    parallel.run(
        _list_incoming, blocks, block_size, neighbors, place, rows,
        chunk=1, progress=partial_progress(progress, 0.3, 1.0),
    )  # fmt: skip
    return start, rows


@jit
def _count_incoming(begin, end, block_size, neighbors, place):
    for block in range(begin, end):
        for i in range(block * block_size, min((block + 1) * block_size, neighbors.shape[0])):
            for k in range(neighbors.shape[1]):
                j = neighbors[i, k]
                if j >= 0:
                    place[block, j] += 1


@jit
def _list_incoming(begin, end, block_size, neighbors, place, incoming):
    for block in range(begin, end):
        for i in range(block * block_size, min((block + 1) * block_size, neighbors.shape[0])):
            for k in range(neighbors.shape[1]):
                j = neighbors[i, k]
                if j >= 0:
                    incoming[place[block, j]] = i
                    place[block, j] += 1


@jit
def _allocate_workspace(n_entries, dimension):
    size = ENTRIES_TOGETHER + n_entries + ENTRY_VECTOR
    return RowWorkspace(
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(ENTRIES_TOGETHER + 1, np.int64),
        np.empty(ENTRIES_TOGETHER, np.int64),
        np.empty((dimension + 3, size)),
        np.empty(size),
        np.empty(size),
        np.empty(size),
        np.empty(size),
    )


@jit
def _join_rows(begin, end, drawn, law, order, longest, rows):
    """Join whom each of the vertices begin ... end - 1, counted from the first one, drew and was
    drawn by, once each and sorted by the original numbers, and compute the weights.

    Many rows are worked on at a time, loop after loop over all of them, so that each is vectorized.
    """
    work = _allocate_workspace(longest, law.points.shape[1])
    first = begin
    while first < end:
        last = _collect(
            first, end, drawn.neighbors, drawn.start, drawn.incoming, work.found, work.start
        )
        n_rows = last - first
        width = work.start[n_rows]
        _renumber(width, work.found, order, work.number)
        _rank_rows(n_rows, work.start, work.number, work.rank)
        _sort(width, work.found, work.number, work.rank, work.sorted_found, work.sorted_number)
        columns, number = work.found, work.number  # not needed any more, and overwritten
        size = _compact(
            n_rows, work.start, work.sorted_found, work.sorted_number, columns, number, work.size
        )
        _repeat(drawn.first + first, drawn.first + last, work.size, law, work.own)
        weigh_edges(law, columns[:size], work, work.weight[:size])
        _put_rows(drawn.row[first:last], work.size, number, work.weight, rows)
        first = last


@jit(distinct=True)
def _collect(first, end, neighbors, incoming_start, incoming, found, starts):
    """Write whom the vertices from `first` on drew and were drawn by to `found`, each row filled up
    to whole vectors with -1; row ``first + r`` begins at ``starts[r]``.

    Stop after about `ENTRIES_TOGETHER` entries, and return the vertex before which that is.
    """
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
    return i


@jit(distinct=True)
def _renumber(size, found, order, number):
    """Write the original numbers of the vertices found; for none, the largest number of all."""
    none = np.int32(2**31 - 1)
    for k in range(size):
        number[k] = np.int32(order[np.uint32(max(found[k], 0))]) if found[k] >= 0 else none


@jit
def _rank_rows(n_rows, start, number, rank):
    """Write the place in its sorted row for each number; equal numbers get the same place."""
    for row in range(n_rows):
        begin, stop = start[row], start[row + 1]
        if stop - begin <= 256:  # the place of a number is `begin` plus how many are smaller
            rank[begin:stop] = begin
            add_ranks(number[begin:stop], stop - begin, rank[begin:stop])
        else:
            _rank_by_sorting(number[begin:stop], rank[begin:stop], begin)


@jit
def _rank_by_sorting(number, rank, begin):
    """Do so for a long row in O(m log m), where counting takes O(m^2)."""
    key = np.empty(number.size, np.int64)
    for k in range(number.size):
        key[k] = (np.int64(number[k]) << 32) | k
    key.sort()
    place = 0
    for k in range(number.size):
        if key[k] >> 32 != key[place] >> 32:
            place = k
        rank[key[k] & 0xFFFFFFFF] = begin + place


@jit(distinct=True)
def _sort(size, found, number, rank, sorted_found, sorted_number):
    """Move all entries to their ranks; the places behind equal ones stay empty, which is -1."""
    for k in range(size):
        sorted_found[k] = -1
    for k in range(size):
        sorted_found[np.uint32(rank[k])] = found[k]
        sorted_number[np.uint32(rank[k])] = number[k]


@jit(distinct=True)
def _compact(n_rows, starts, sorted_found, sorted_number, columns, numbers, sizes):
    """Leave out the places that are empty; return how many entries are left."""
    size = 0
    for row in range(n_rows):
        before = size
        for k in range(starts[row], starts[row + 1]):
            columns[size], numbers[size] = sorted_found[k], sorted_number[k]
            size += sorted_found[k] >= 0
        sizes[row] = size - before
    return size


@jit(distinct=True)
def _repeat(first, last, sizes, law, own):
    """Write the values of the vertex of each row to `own`, once for each of its neighbors."""
    points, d = law.points, law.points.shape[1]
    for c in range(d):
        _repeat_column(first, last, sizes, points[:, c], own[c])
    _repeat_column(first, last, sizes, law.inverse_degrees, own[d])
    if law.local.factor.size:
        _repeat_column(first, last, sizes, law.local.factor, own[d + 1])
        _repeat_column(first, last, sizes, law.local.shift, own[d + 2])


@jit(distinct=True, inline=True)
def _repeat_column(first, last, sizes, values, out):
    begin = 0
    for i in range(first, last):
        x = values[i]
        part = out[begin : begin + -(-sizes[i - first] // ENTRY_VECTOR) * ENTRY_VECTOR]
        for k in range(part.size):
            part[k] = x
        begin += sizes[i - first]


@jit(distinct=True)
def _put_rows(row, sizes, numbers, weights, rows):
    """Put rows that follow each other into their places."""
    first = 0
    for k in range(row.size):
        last, place = first + sizes[k], rows.begin[row[k]]
        _copy(numbers[first:last], rows.indices[place : place + sizes[k]])
        _copy(weights[first:last], rows.data[place : place + sizes[k]])
        rows.n_entries[row[k]] = sizes[k]
        first = last


@jit
def _close_gaps(rows, indptr):
    """Move the rows together, so that row i begins at ``indptr[i]``, at or before its old place."""
    indices, data, begin, _ = rows
    for i in range(begin.size):
        shift = begin[i] - indptr[i]
        if shift > 0:
            for p in range(indptr[i], indptr[i + 1]):
                indices[p], data[p] = indices[p + shift], data[p + shift]


@jit(distinct=True)
def _copy(source, target):
    """Copy an array; an assignment of slices checks their lengths, which is slow to compile."""
    for m in range(source.size):
        target[m] = source[m]
