"""From sampled neighbors to the weighted adjacency matrix (the end of Algorithm 2)."""

import numpy as np
import scipy.sparse

from kdegraph.geometry.kernels import exp_neg, exponents_to
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.progress import partial_progress
from kdegraph.runtime.threads import get_num_threads

MINIMUM, COMPLEMENT = 0, 1
MAX_BLOCKS = 8  # of rows that are transposed at the same time: each needs 8 n bytes
RANKED = 256  # rows up to this length are sorted by counting smaller entries
BATCH = 1024  # entries whose weights are computed at a time
LANES = 8  # lengths are rounded up to whole vectors
NONE = np.int32(2**31 - 1)  # the number of no vertex


def weighted_adjacency(kernel, tree, degrees, neighbors, inclusion, *, progress=None):
    """The symmetric adjacency matrix with weights ``k(x_i, x_j) / (p_i(j) + p_j(i) - p_i(j)
    p_j(i))``.

    Parameters
    ----------
    kernel : Kernel
    tree : Tree
    degrees : (n,) float64
        Kernel degrees in the tree's order.
    neighbors : (n, L) int32
        Positions in the tree's order, -1 for none.
    inclusion : int
        What ``p_i(j)``, the probability that j is among the L draws of i, is taken to be:
        `MINIMUM`, ``min(L k / deg(i), 1)``, the paper's formula without self-loops and the truth
        for stratified draws; `COMPLEMENT`, ``1 - (1 - k / deg(i))^L``, the truth for independent
        ones.

    Returns
    -------
    csr_array
        (n, n) in the order of the original points, sorted, without duplicates; O(n L^2) for the
        small L that is usual, O(n L log L) always.
    """
    n, n_rounds = neighbors.shape
    in_start, incoming = _transpose(neighbors, partial_progress(progress, 0.0, 0.1))
    with np.errstate(divide="ignore"):
        inverse = 1.0 / degrees
    # All in the tree's order, where neighbors are near in memory, with room for all whom a vertex
    # drew or was drawn by; only finished rows are put into the order of the original points.
    room = n * n_rounds + incoming.size
    union, values, begins, count = (
        np.empty(room, np.int32),
        np.empty(room),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
    )
    longest = n_rounds + int(np.diff(in_start).max())
    parallel.run(
        _join_rows, n, kernel.code, kernel.inverse_sigma, tree.points, tree.order, inverse, inclusion, neighbors, in_start, incoming,
        longest, union, values, begins, count, progress=partial_progress(progress, 0.1, 0.8),
    )  # fmt: skip
    del incoming
    indptr = np.concatenate([[0], np.cumsum(count)])
    kind = np.int32 if indptr[-1] < 2**31 else np.int64
    indices, data = np.empty(indptr[-1], kind), np.empty(indptr[-1])
    parallel.run(
        _put_rows,
        n,
        union,
        values,
        begins,
        indptr,
        indices,
        data,
        progress=partial_progress(progress, 0.8, 1.0),
    )
    matrix = scipy.sparse.csr_array((data, indices, indptr.astype(kind)), shape=(n, n))
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def _transpose(neighbors, progress):
    """Who drew each vertex: ``incoming[in_start[j]:in_start[j + 1]]``, in increasing order, with
    the repetitions of `neighbors`.
    """
    n = len(neighbors)
    blocks = max(1, min(get_num_threads(), MAX_BLOCKS, n // 4096))
    place = np.zeros((blocks, n), np.int64)
    rows = -(-n // blocks)
    parallel.run(
        _count_incoming,
        blocks,
        rows,
        neighbors,
        place,
        chunk=1,
        progress=partial_progress(progress, 0.0, 0.3),
    )
    total = place.sum(axis=0)
    in_start = np.concatenate([[0], np.cumsum(total)])
    # Where each block writes: after the blocks before it.
    np.cumsum(place[:-1], axis=0, out=place[1:])
    place[0] = 0
    place += in_start[:-1]
    incoming = np.empty(in_start[-1], np.int32)
    parallel.run(
        _list_incoming,
        blocks,
        rows,
        neighbors,
        place,
        incoming,
        chunk=1,
        progress=partial_progress(progress, 0.3, 1.0),
    )
    return in_start, incoming


@jit
def _count_incoming(begin, end, rows, neighbors, place):
    for block in range(begin, end):
        for i in range(block * rows, min((block + 1) * rows, neighbors.shape[0])):
            for k in range(neighbors.shape[1]):
                j = neighbors[i, k]
                if j >= 0:
                    place[block, j] += 1


@jit
def _list_incoming(begin, end, rows, neighbors, place, incoming):
    for block in range(begin, end):
        for i in range(block * rows, min((block + 1) * rows, neighbors.shape[0])):
            for k in range(neighbors.shape[1]):
                j = neighbors[i, k]
                if j >= 0:
                    incoming[place[block, j]] = i
                    place[block, j] += 1


@jit
def _join_rows(
    begin, end, code, scale, points, order, inverse_degrees, inclusion, neighbors, in_start, incoming, longest, union, values, begins, count
):  # fmt: skip
    """Write whom each vertex drew or was drawn by, once each, sorted by the original numbers, to
    `union`, the weights to `values`.

    The rows of a range follow each other without gaps: row i takes the place ``begins[order[i]]``
    and has ``count[order[i]]`` entries. Many rows are worked on at a time, loop after loop over all
    of them.
    """
    n_rounds = neighbors.shape[1]
    capacity = BATCH + longest + LANES
    # Rows by their numbers: what is unpacked has lost that it is contiguous.
    whole = np.empty((5, capacity), np.int32)
    found, number, rank, sorted_found, sorted_number = (
        whole[0],
        whole[1],
        whole[2],
        whole[3],
        whole[4],
    )
    columns = found  # it is not needed any more when these are written
    starts, sizes = np.empty(BATCH + 1, np.int64), np.empty(BATCH, np.int64)
    own, room = np.empty((points.shape[1] + 1, capacity)), np.empty((3, capacity))
    place = begin * n_rounds + in_start[begin]
    first = begin
    while first < end:
        last = _collect(first, end, neighbors, in_start, incoming, found, starts)
        width = starts[last - first]
        _renumber(width, found, order, number)
        for row in range(last - first):
            begin, stop = starts[row], starts[row + 1]
            if stop - begin <= RANKED:
                _rank(number[begin:stop], rank[begin:stop], begin)
            else:
                _rank_long(number[begin:stop], rank[begin:stop], begin)
        _sort(width, found, number, rank, sorted_found, sorted_number)
        size = _compact(last - first, starts, sorted_found, sorted_number, columns, number, sizes)
        _copy(number[:size], union[place : place + size])
        _note(first, last, sizes, order, place, begins, count)
        _repeat(first, last, sizes, points, inverse_degrees, own)
        out = values[place : place + size]
        _weights(
            code,
            scale,
            points,
            inverse_degrees,
            n_rounds,
            inclusion,
            own,
            columns[:size],
            room,
            out,
        )
        place, first = place + size, last


@jit(distinct=True)
def _collect(first, end, neighbors, in_start, incoming, found, starts):
    """Write whom the vertices from `first` on drew or were drawn by to `found`, whole vectors for
    each that are filled with -1.

    Stop after about `BATCH`, and return the vertex before which that is. Vertex ``first + row``
    begins at ``starts[row]``.
    """
    n_rounds = neighbors.shape[1]
    size, i = 0, first
    starts[0] = 0
    while i < end and size < BATCH:
        for k in range(n_rounds):
            found[size + k] = neighbors[i, k]
        size += n_rounds
        begin = in_start[i]
        own = in_start[i + 1] - begin
        padded = -(-(n_rounds + own) // LANES) * LANES - n_rounds
        for k in range(padded):
            found[size + k] = incoming[begin + k] if k < own else -1
        size += padded
        i += 1
        starts[i - first] = size
    return i


@jit(distinct=True)
def _renumber(size, found, order, number):
    for k in range(size):
        number[k] = np.int32(order[np.uint32(max(found[k], 0))]) if found[k] >= 0 else NONE


@jit(distinct=True)
def _rank(number, rank, begin):
    """Write where each number belongs, from `begin` on: after the smaller ones, equal ones in one
    place.
    """
    size = number.size
    for k in range(size):
        rank[k] = begin
    for m in range(0, size, 4):
        a, b, c, d = number[m], number[m + 1], number[m + 2], number[m + 3]
        for k in range(size):
            x = number[k]
            rank[k] += np.int32(x > a) + np.int32(x > b) + np.int32(x > c) + np.int32(x > d)


@jit
def _rank_long(number, rank, begin):
    """What `_rank` does, for many numbers."""
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
    """Move all to their places; where none belongs is -1."""
    for k in range(size):
        sorted_found[k] = -1
    for k in range(size):
        sorted_found[np.uint32(rank[k])] = found[k]
        sorted_number[np.uint32(rank[k])] = number[k]


@jit(distinct=True)
def _compact(n_rows, starts, sorted_found, sorted_number, columns, numbers, sizes):
    """Leave out the places that are -1; return how many are left."""
    size = 0
    for row in range(n_rows):
        before = size
        for k in range(starts[row], starts[row + 1]):
            columns[size], numbers[size] = sorted_found[k], sorted_number[k]
            size += sorted_found[k] >= 0
        sizes[row] = size - before
    return size


@jit(distinct=True)
def _repeat(first, last, sizes, points, inverse_degrees, own):
    """Write the coordinates and the inverse degree of each vertex to `own`, as often as it has
    neighbors.
    """
    d = points.shape[1]
    for c in range(d + 1):
        out, begin = own[c], 0
        for i in range(first, last):
            x = points[i, c] if c < d else inverse_degrees[i]
            part = out[begin : begin + -(-sizes[i - first] // LANES) * LANES]
            for k in range(part.size):
                part[k] = x
            begin += sizes[i - first]


@jit(distinct=True)
def _note(first, last, sizes, order, place, begins, count):
    """Write where the rows begin, and how long they are."""
    for i in range(first, last):
        begins[order[i]], count[order[i]] = place, sizes[i - first]
        place += sizes[i - first]


@jit(distinct=True)
def _put_rows(begin, end, union, values, begins, indptr, indices, data):
    """Put the rows into the order of the original points."""
    for i in range(begin, end):
        place, stop = indptr[i], indptr[i + 1]
        source, source_stop = begins[i], begins[i] + stop - place
        _copy(union[source:source_stop], indices[place:stop])
        _copy(values[source:source_stop], data[place:stop])


@jit(distinct=True)
def _copy(source, target):
    """An assignment of slices would check their lengths, which takes long to compile."""
    for m in range(source.size):
        target[m] = source[m]


@jit
def _weights(code, scale, points, inverse_degrees, n_rounds, inclusion, own, columns, room, out):
    """Write the weights of the edges to `columns` to `out`; loop after loop over all, so that each
    is vectorized.
    """
    n = columns.size
    p = room[0, :n]
    exponents_to(code, scale, own, points, columns, out)
    for m in range(n):
        out[m] = exp_neg(out[m])
    _either(
        out,
        own[points.shape[1]],
        inverse_degrees,
        columns,
        n_rounds if inclusion == MINIMUM else 1,
        p,
    )
    if inclusion == COMPLEMENT:
        # Draws are independent: that neither end draws the other in any of the rounds is as likely
        # as that of one round, n_rounds times.
        _complement(p, n_rounds, room[1, :n], room[2, :n])
    for m in range(n):
        out[m] /= p[m]


@jit(distinct=True)
def _either(values, inverse_own, inverse_degrees, columns, n_draws, out):
    """The probabilities that one end draws the other in `n_draws` stratified ones."""
    for m in range(values.size):
        p, q = (
            min(values[m] * inverse_own[m], 1.0),
            min(values[m] * inverse_degrees[np.uint32(columns[m])], 1.0),
        )
        p, q = min(n_draws * p, 1.0), min(n_draws * q, 1.0)
        out[m] = p + q - p * q


@jit(distinct=True)
def _complement(p, n_rounds, base, miss):
    """Replace p by ``1 - (1 - p)^n_rounds``."""
    for m in range(p.size):
        base[m] = 1.0 - p[m]
        miss[m] = 1.0
    power = n_rounds
    while power:
        if power & 1:
            for m in range(p.size):
                miss[m] *= base[m]
        for m in range(p.size):
            base[m] *= base[m]
        power >>= 1
    # Where the difference would cancel: L p (1 - (L-1)/2 p (1 - (L-2)/3 p (...))).
    c2, c3, c4, c5 = (
        (n_rounds - 1) / 2.0,
        (n_rounds - 2) / 3.0,
        (n_rounds - 3) / 4.0,
        (n_rounds - 4) / 5.0,
    )
    for m in range(p.size):
        x = p[m]
        series = n_rounds * x * (1.0 - c2 * x * (1.0 - c3 * x * (1.0 - c4 * x * (1.0 - c5 * x))))
        p[m] = series if n_rounds * x < 0.002 else 1.0 - miss[m]
