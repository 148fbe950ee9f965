"""From sampled neighbours to the weighted adjacency matrix (the end of Algorithm 2)."""

import numpy as np
import scipy.sparse

from . import parallel
from ._jit import jit
from .kernels import exp_neg, paired_exponents

MINIMUM, COMPLEMENT = 0, 1
MAX_BLOCKS = 8  # of rows that are transposed at the same time: each needs 8 n bytes
RANKED = 256  # rows up to this length are sorted by counting smaller entries
BATCH = 1024  # entries whose weights are computed at a time
LANES = 8  # lengths are rounded up to whole vectors


def adjacency(kernel, tree, degrees, neighbors, inclusion, *, progress=None):
    """The symmetric adjacency matrix with weights ``k(x_i, x_j) / (p_i(j) + p_j(i) - p_i(j) p_j(i))``.

    Parameters
    ----------
    kernel : Kernel
    tree : Tree
    degrees : (n,) float64
        Kernel degrees in the tree's order.
    neighbors : (n, L) int32
        Positions in the tree's order, -1 for none.
    inclusion : int
        What ``p_i(j)``, the probability that j is among the L draws of i, is taken to be: `MINIMUM`, ``min(L k / deg(i), 1)``, the paper's
        formula without self-loops and the truth for stratified draws; `COMPLEMENT`, ``1 - (1 - k / deg(i))^L``, the truth for independent
        ones.

    Returns
    -------
    csr_array
        (n, n) in the order of the original points, sorted, without duplicates; O(n L^2) for the small L that is usual, O(n L log L) always.
    """
    n, n_rounds = neighbors.shape
    # All in the tree's order, where neighbours are near in memory; only finished rows take the original numbers.
    in_start, incoming = _transpose(neighbors, parallel.part(progress, 0.0, 0.1))
    # Row i starts with the L draws of i and has room for all who drew it.
    union, count = np.empty(n * n_rounds + incoming.size, np.int32), np.empty(n, np.int64)
    longest = n_rounds + int(np.diff(in_start).max())
    parallel.run(
        _join_rows, n, neighbors, in_start, incoming, tree.order, longest, union, count, progress=parallel.part(progress, 0.1, 0.4)
    )
    del incoming
    indptr = np.concatenate([[0], np.cumsum(count)])
    kind = np.int32 if indptr[-1] < 2**31 else np.int64
    indices, data = np.empty(indptr[-1], kind), np.empty(indptr[-1])
    with np.errstate(divide="ignore"):
        inverse = 1.0 / degrees
    parallel.run(
        _fill, n, kernel.code, kernel.inverse_sigma, tree.points, tree.order, inverse, n_rounds, inclusion, in_start, union, longest,
        indptr, indices, data, progress=parallel.part(progress, 0.4, 1.0),
    )  # fmt: skip
    matrix = scipy.sparse.csr_array((data, indices, indptr.astype(kind)), shape=(n, n))
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def _transpose(neighbors, progress):
    """Who drew each vertex: ``incoming[in_start[j]:in_start[j + 1]]``, in increasing order, with the repetitions of `neighbors`."""
    n = len(neighbors)
    blocks = max(1, min(parallel.get_num_threads(), MAX_BLOCKS, n // 4096))
    place = np.zeros((blocks, n), np.int64)
    rows = -(-n // blocks)
    parallel.run(_count_incoming, blocks, rows, neighbors, place, chunk=1, progress=parallel.part(progress, 0.0, 0.3))
    total = place.sum(axis=0)
    in_start = np.concatenate([[0], np.cumsum(total)])
    # Where each block writes: after the blocks before it.
    np.cumsum(place[:-1], axis=0, out=place[1:])
    place[0] = 0
    place += in_start[:-1]
    incoming = np.empty(in_start[-1], np.int32)
    parallel.run(_list_incoming, blocks, rows, neighbors, place, incoming, chunk=1, progress=parallel.part(progress, 0.3, 1.0))
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
def _join_rows(begin, end, neighbors, in_start, incoming, order, longest, union, count):
    """Write to `union` whom each vertex drew or was drawn by, once each, in the order of the original numbers."""
    n, n_rounds = neighbors.shape
    found, ranked = np.empty(longest, np.int32), np.empty(longest, np.int32)
    key, rank, long_key = np.empty(longest + LANES, np.uint32), np.empty(longest + LANES, np.uint32), np.empty(longest, np.int64)
    for i in range(begin, end):
        size = 0
        for j in neighbors[i]:
            if j >= 0:
                found[size] = j
                size += 1
        for k in range(in_start[i], in_start[i + 1]):
            found[size] = incoming[k]
            size += 1
        bits = 1
        while size >> bits:
            bits += 1
        if size <= RANKED and n >> (32 - bits) == 0:
            _sort_by_rank(found[:size], order, bits, key, rank, ranked)
        else:
            _sort_long(found[:size], order, long_key, ranked)
        row = union[i * n_rounds + in_start[i] :]
        distinct, last = 0, -1
        for k in range(size):
            row[distinct] = ranked[k]
            distinct += ranked[k] != last
            last = ranked[k]
        count[order[i]] = distinct


@jit
def _sort_by_rank(found, order, bits, key, rank, out):
    """Write `found` to `out`, sorted by `order`: the rank of a key is the number of smaller ones, counted in vectorised loops."""
    size = found.size
    padded = -(-size // LANES) * LANES
    shift = np.uint32(bits)
    for k in range(size):
        # The place makes the keys distinct.
        key[k] = (np.uint32(order[found[k]]) << shift) | np.uint32(k)
    for k in range(size, padded):
        key[k] = np.uint32(0xFFFFFFFF)
    for k in range(padded):
        rank[k] = 0
    for m in range(0, size, 4):
        _count_smaller(key, padded, key[m], key[m + 1], key[m + 2], key[m + 3], rank)
    for k in range(size):
        out[rank[k]] = found[k]


@jit(distinct=True)
def _count_smaller(key, size, a, b, c, d, rank):
    for k in range(size):
        x = key[k]
        rank[k] += np.uint32(x > a) + np.uint32(x > b) + np.uint32(x > c) + np.uint32(x > d)


@jit
def _sort_long(found, order, key, out):
    for k in range(found.size):
        key[k] = (order[found[k]] << 32) | found[k]
    key[: found.size].sort()
    for k in range(found.size):
        out[k] = key[k] & 0xFFFFFFFF


@jit
def _fill(
    begin, end, code, scale, points, order, inverse_degrees, n_rounds, inclusion, in_start, union, longest, indptr, indices, data
):  # fmt: skip
    """Write whole rows; the weights of many rows are computed at a time."""
    capacity = BATCH + longest
    rows, columns, room = np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty((5, capacity))
    first, size = begin, 0
    for i in range(begin, end):
        row, place = i * n_rounds + in_start[i], indptr[order[i]]
        count = indptr[order[i] + 1] - place
        for m in range(count):
            columns[size + m] = union[row + m]
        for m in range(count):
            rows[size + m] = i
        for m in range(count):
            indices[place + m] = order[np.uint32(union[row + m])]
        size += count
        if size >= BATCH or i == end - 1:
            weights = _weights(code, scale, points, inverse_degrees, n_rounds, inclusion, rows[:size], columns[:size], room)
            k = 0
            for done in range(first, i + 1):
                place, count = indptr[order[done]], indptr[order[done] + 1] - indptr[order[done]]
                for m in range(count):
                    data[place + m] = weights[k + m]
                k += count
            first, size = i + 1, 0


@jit
def _weights(code, scale, points, inverse_degrees, n_rounds, inclusion, rows, columns, room):
    """Weights of the edges between `rows` and `columns`; loop after loop over all, so that each is vectorised."""
    n = rows.size
    values, own, other, room = room[0, :n], room[1, :n], room[2, :n], room[3:]
    paired_exponents(code, scale, points, rows, columns, values)
    for m in range(n):
        values[m] = exp_neg(values[m])
    _probabilities(values, inverse_degrees, rows, own)
    _probabilities(values, inverse_degrees, columns, other)
    if inclusion == MINIMUM:
        for m in range(n):
            own[m], other[m] = min(n_rounds * own[m], 1.0), min(n_rounds * other[m], 1.0)
    for m in range(n):
        own[m] = own[m] + other[m] - own[m] * other[m]
    if inclusion == COMPLEMENT:
        # Draws are independent: that neither end draws the other in any of the rounds is as likely as that of one round, n_rounds times.
        _complement(own, n_rounds, room)
    for m in range(n):
        values[m] /= own[m]
    return values


@jit(distinct=True)
def _probabilities(values, inverse_degrees, vertices, out):
    for m in range(values.size):
        out[m] = min(values[m] * inverse_degrees[np.uint32(vertices[m])], 1.0)


@jit(distinct=True)
def _complement(p, n_rounds, room):
    """Replace p by ``1 - (1 - p)^n_rounds``."""
    base, miss = room[0, : p.size], room[1, : p.size]
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
    c2, c3, c4, c5 = (n_rounds - 1) / 2.0, (n_rounds - 2) / 3.0, (n_rounds - 3) / 4.0, (n_rounds - 4) / 5.0
    for m in range(p.size):
        x = p[m]
        series = n_rounds * x * (1.0 - c2 * x * (1.0 - c3 * x * (1.0 - c4 * x * (1.0 - c5 * x))))
        p[m] = series if n_rounds * x < 0.002 else 1.0 - miss[m]
