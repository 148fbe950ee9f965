"""From sampled neighbours to the weighted adjacency matrix (the end of Algorithm 2)."""

import numpy as np
import scipy.sparse

from . import parallel
from ._jit import jit
from .kernels import exp_neg, exponent

MINIMUM, COMPLEMENT = 0, 1


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
        (n, n) in the order of the original points, sorted, without duplicates; O(n L log L).
    """
    n, n_rounds = neighbors.shape
    # All in the tree's order, where neighbours are near in memory; only finished rows take the original numbers.
    drawn = np.empty_like(neighbors)
    drawn_count = np.empty(n, np.int32)
    parallel.run(_distinct_rows, n, neighbors, drawn, drawn_count)
    in_start = np.zeros(n + 1, np.int64)
    _count_incoming(drawn, drawn_count, in_start)
    incoming = np.empty(in_start[-1], np.int32)
    _list_incoming(drawn, drawn_count, in_start[:-1].copy(), incoming)
    count = np.empty(n, np.int64)
    parallel.run(_union_sizes, n, drawn, drawn_count, in_start, incoming, tree.order, count)
    indptr = np.concatenate([[0], np.cumsum(count)])
    kind = np.int32 if indptr[-1] < 2**31 else np.int64
    indices, data = np.empty(indptr[-1], kind), np.empty(indptr[-1])
    parallel.run(
        _fill, n, kernel.code, kernel.inverse_sigma, tree.points, tree.order, degrees, n_rounds, inclusion,
        drawn, drawn_count, in_start, incoming, indptr, indices, data, progress=progress,
    )  # fmt: skip
    matrix = scipy.sparse.csr_array((data, indices, indptr.astype(kind)), shape=(n, n))
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


@jit
def _sort(values):
    if values.size > 64:
        values.sort()
        return
    for k in range(1, values.size):
        value = values[k]
        j = k - 1
        while j >= 0 and values[j] > value:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = value


@jit
def _distinct_rows(begin, end, neighbors, drawn, drawn_count):
    for i in range(begin, end):
        row, count = drawn[i], 0
        for j in neighbors[i]:
            if j >= 0:
                row[count] = j
                count += 1
        _sort(row[:count])
        distinct = 0
        for k in range(count):
            if k == 0 or row[k] != row[k - 1]:
                row[distinct] = row[k]
                distinct += 1
        drawn_count[i] = distinct


@jit
def _count_incoming(drawn, drawn_count, in_start):
    for i in range(drawn.shape[0]):
        for k in range(drawn_count[i]):
            in_start[drawn[i, k] + 1] += 1
    for i in range(drawn.shape[0]):
        in_start[i + 1] += in_start[i]


@jit
def _list_incoming(drawn, drawn_count, place, incoming):
    """Going through the vertices in order leaves every list sorted."""
    for i in range(drawn.shape[0]):
        for k in range(drawn_count[i]):
            j = drawn[i, k]
            incoming[place[j]] = i
            place[j] += 1


@jit
def _union_sizes(begin, end, drawn, drawn_count, in_start, incoming, order, count):
    for i in range(begin, end):
        a, b, total = 0, in_start[i], 0
        while a < drawn_count[i] and b < in_start[i + 1]:
            x, y = drawn[i, a], incoming[b]
            a += x <= y
            b += y <= x
            total += 1
        count[order[i]] = total + (drawn_count[i] - a) + (in_start[i + 1] - b)


@jit
def _fill(
    begin, end, code, scale, points, order, degrees, n_rounds, inclusion, drawn, drawn_count, in_start, incoming, indptr, indices, data
):  # fmt: skip
    longest = 1
    for i in range(begin, end):
        longest = max(longest, drawn_count[i] + in_start[i + 1] - in_start[i])
    union, key, room = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty((5, longest))
    for i in range(begin, end):
        place, size = indptr[order[i]], indptr[order[i] + 1] - indptr[order[i]]
        a, b, stop = 0, in_start[i], in_start[i + 1]
        for m in range(size):
            if b == stop:
                x = y = drawn[i, a]
                a += 1
            elif a == drawn_count[i]:
                x = y = incoming[b]
                b += 1
            else:
                x, y = drawn[i, a], incoming[b]
                a += x <= y
                b += y <= x
            union[m] = min(x, y)
        _weights(code, scale, points, degrees, n_rounds, inclusion, i, union[:size], room)
        for m in range(size):
            key[m] = (order[union[m]] << 32) | m
        _sort(key[:size])
        for m in range(size):
            indices[place + m] = key[m] >> 32
            data[place + m] = room[0, key[m] & 0xFFFFFFFF]


@jit
def _weights(code, scale, points, degrees, n_rounds, inclusion, i, columns, room):
    """Write the weights of one row into room[0]; loop after loop over the row, so that each is vectorised."""
    n = columns.size
    values, own, other, base = room[0, :n], room[1, :n], room[2, :n], room[3, :n]
    for m in range(n):
        values[m] = exponent(code, scale, points, i, points, columns[m])
        other[m] = degrees[columns[m]]
    for m in range(n):
        k = exp_neg(values[m])
        values[m] = k
        own[m], other[m] = min(k / degrees[i], 1.0), min(k / other[m], 1.0)
    if inclusion == MINIMUM:
        for m in range(n):
            own[m], other[m] = min(n_rounds * own[m], 1.0), min(n_rounds * other[m], 1.0)
    else:
        _complement(own, n_rounds, base, room[4, :n])
        _complement(other, n_rounds, base, room[4, :n])
    for m in range(n):
        values[m] /= own[m] + other[m] - own[m] * other[m]


@jit
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
    c2, c3, c4, c5 = (n_rounds - 1) / 2.0, (n_rounds - 2) / 3.0, (n_rounds - 3) / 4.0, (n_rounds - 4) / 5.0
    for m in range(p.size):
        x = p[m]
        series = n_rounds * x * (1.0 - c2 * x * (1.0 - c3 * x * (1.0 - c4 * x * (1.0 - c5 * x))))
        p[m] = series if n_rounds * x < 0.002 else 1.0 - miss[m]
