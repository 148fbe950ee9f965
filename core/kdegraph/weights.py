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
    listed = np.empty_like(neighbors)
    out_count = np.empty(n, np.int32)
    parallel.run(_distinct_rows, n, neighbors, listed, out_count)
    in_start = np.zeros(n + 1, np.int64)
    _count_incoming(listed, out_count, in_start)
    incoming = np.empty(in_start[-1], np.int32)
    _list_incoming(listed, out_count, in_start[:-1].copy(), incoming)
    count = np.empty(n, np.int64)
    parallel.run(_union_sizes, n, listed, out_count, in_start, incoming, count)
    by_vertex = np.empty(n, np.int64)
    by_vertex[tree.order] = count
    indptr = np.concatenate([[0], np.cumsum(by_vertex)])
    kind = np.int32 if indptr[-1] < 2**31 else np.int64
    indices, data = np.empty(indptr[-1], kind), np.empty(indptr[-1])
    parallel.run(
        _fill, n, kernel.code, kernel.inverse_sigma, tree.points, tree.order, degrees, n_rounds, inclusion,
        listed, out_count, in_start, incoming, indptr, indices, data, progress=progress,
    )  # fmt: skip
    matrix = scipy.sparse.csr_array((data, indices, indptr.astype(kind)), shape=(n, n))
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


@jit
def _sort(values, count):
    for k in range(1, count):
        value = values[k]
        j = k - 1
        while j >= 0 and values[j] > value:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = value


@jit
def _distinct_rows(begin, end, neighbors, listed, out_count):
    n_rounds = neighbors.shape[1]
    for i in range(begin, end):
        row = listed[i]
        row[:] = neighbors[i]
        if n_rounds <= 48:
            _sort(row, n_rounds)
        else:
            row.sort()
        count = 0
        for k in range(n_rounds):
            if row[k] >= 0 and (count == 0 or row[k] != row[count - 1]):
                row[count] = row[k]
                count += 1
        out_count[i] = count


@jit
def _count_incoming(listed, out_count, in_start):
    for i in range(listed.shape[0]):
        for k in range(out_count[i]):
            in_start[listed[i, k] + 1] += 1
    for i in range(listed.shape[0]):
        in_start[i + 1] += in_start[i]


@jit
def _list_incoming(listed, out_count, place, incoming):
    for i in range(listed.shape[0]):
        for k in range(out_count[i]):
            j = listed[i, k]
            incoming[place[j]] = i
            place[j] += 1


@jit
def _union_sizes(begin, end, listed, out_count, in_start, incoming, count):
    for i in range(begin, end):
        a, b, total = 0, in_start[i], 0
        while a < out_count[i] and b < in_start[i + 1]:
            x, y = listed[i, a], incoming[b]
            a += x <= y
            b += y <= x
            total += 1
        count[i] = total + (out_count[i] - a) + (in_start[i + 1] - b)


@jit
def _fill(
    begin, end, code, scale, points, order, degrees, n_rounds, inclusion, listed, out_count, in_start, incoming, indptr, indices, data
):  # fmt: skip
    for i in range(begin, end):
        vertex = order[i]
        place = indptr[vertex]
        columns, values = indices[place : indptr[vertex + 1]], data[place : indptr[vertex + 1]]
        a, b, count = 0, in_start[i], 0
        while a < out_count[i] or b < in_start[i + 1]:
            if b == in_start[i + 1]:
                j = listed[i, a]
                a += 1
            elif a == out_count[i]:
                j = incoming[b]
                b += 1
            else:
                x, y = listed[i, a], incoming[b]
                j = min(x, y)
                a += x <= y
                b += y <= x
            k = exp_neg(exponent(code, scale, points, i, points, j))
            p = _inclusion(inclusion, k, degrees[i], n_rounds)
            q = _inclusion(inclusion, k, degrees[j], n_rounds)
            value = k / (p + q - p * q)
            # Insertion keeps the row sorted by the original numbers.
            column = order[j]
            at = count
            while at > 0 and columns[at - 1] > column:
                columns[at], values[at] = columns[at - 1], values[at - 1]
                at -= 1
            columns[at], values[at] = column, value
            count += 1


@jit
def _inclusion(kind, k, degree, n_rounds):
    """The probability that a neighbour of kernel value `k` is among the `n_rounds` draws of a vertex."""
    p = min(k / degree, 1.0)
    if kind == MINIMUM:
        return min(n_rounds * p, 1.0)
    # 1 - (1 - p)^L without cancellation
    return -np.expm1(n_rounds * np.log1p(-p)) if p < 1.0 else 1.0
