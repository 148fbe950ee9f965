"""Compiled loops over the boxes of a lattice: moments, translations along an axis, evaluation.

The Chebyshev expansion of a box has order^d coefficients, numbered with the last dimension fastest.
"""

from typing import NamedTuple

import numpy as np

from kdegraph.kde.grid.chebyshev import VECTOR_PLACES, polynomials
from kdegraph.runtime.jit import jit

# Points whose polynomials are computed side by side.
CHEBYSHEV_BLOCK = 64

# A translation of fewer coefficients beside those of its axis runs along the axis: loops along them
# would be too short.
SHORT_RUN = 16

# Coefficients that are treated at a time, so that they stay in the first-level cache.
CACHED_RUN = 256


class Tolerance(NamedTuple):
    """The error that a sum at a target may have, and the part that is subtracted from it."""

    eps: float  # relative to the sum of absolute contributions
    slack: float  # allowed on top
    own: float  # subtracted from every sum: the contribution of the target itself


@jit(distinct=True, inline=True)
def _local_coordinates(boxes, box, first, count, lattice, out):
    """Write the coordinates within a box, in [-1, 1], of `count` of its points from `first` on;
    return the number of vectors.

    Zeros fill up the last vector, so that loops over vectors leave no remainder.
    """
    points, order, shape = boxes.points, boxes.order, lattice.shape
    number = boxes.numbers[box]
    vectors = -(-count // VECTOR_PLACES)
    for c in range(shape.size - 1, -1, -1):
        corner = number % shape[c]
        number //= shape[c]
        low, x = lattice.origin[c], out[c]
        for k in range(count):
            x[k] = (points[order[first + k], c] - low) * lattice.scale - corner
        for k in range(count):
            x[k] = min(max(2.0 * x[k] - 1.0, -1.0), 1.0)
        for k in range(count, vectors * VECTOR_PLACES):
            x[k] = 0.0
    return vectors


@jit(distinct=True, borrow=True)
def _products(x, vectors, p, first, last, line, out):
    """Write all products of the polynomials of the dimensions first ... last - 1 to `out`."""
    count = vectors * VECTOR_PLACES
    for k in range(count):
        out[0, k] = 1.0
    rows = 1
    for c in range(first, last):
        polynomials(x[c], vectors, p, line)
        # From the back, so that what is overwritten is not needed any more.
        for i in range(rows - 1, -1, -1):
            for a in range(p - 1, -1, -1):
                for k in range(count):
                    out[i * p + a, k] = out[i, k] * line[a, k]
        rows *= p


@jit(reassociate=True)
def add_moments(begin, end, boxes, lattice, weights, p, moments):
    """Write the moments ``sum_j w_j T_a(u_j)`` of order p of the boxes begin, ..., end - 1."""
    order, start, stop, d = boxes.order, boxes.start, boxes.stop, lattice.shape.size
    half = (d + 1) // 2
    n_left, n_right = p**half, p ** (d - half)
    x, line = np.empty((d, CHEBYSHEV_BLOCK)), np.empty((p, CHEBYSHEV_BLOCK))
    w = np.empty(CHEBYSHEV_BLOCK)
    left, right = np.empty((n_left, CHEBYSHEV_BLOCK)), np.empty((n_right, CHEBYSHEV_BLOCK))
    for box in range(begin, end):
        moments[box] = 0.0
        for first in range(start[box], stop[box], CHEBYSHEV_BLOCK):
            count = min(CHEBYSHEV_BLOCK, stop[box] - first)
            vectors = _local_coordinates(boxes, box, first, count, lattice, x)
            for k in range(count):
                w[k] = weights[order[first + k]]
            for k in range(count, vectors * VECTOR_PLACES):
                w[k] = 0.0
            _products(x, vectors, p, 0, half, line, left)
            _products(x, vectors, p, half, d, line, right)
            _add_sums(left, right, w, n_left, n_right, vectors, moments[box])


@jit(reassociate=True, distinct=True, borrow=True)
def _add_sums(left, right, w, n_left, n_right, vectors, out):
    """Add ``sum_k left[a, k] w[k] right[b, k]`` to ``out[a n_right + b]``, overwriting `left`."""
    count = vectors * VECTOR_PLACES
    for a in range(n_left):
        u, at = left[a], a * n_right
        for k in range(count):
            u[k] *= w[k]
        for b in range(0, n_right - 3, 4):
            v0, v1, v2, v3 = right[b], right[b + 1], right[b + 2], right[b + 3]
            s0 = s1 = s2 = s3 = 0.0
            for k in range(count):
                s0 += u[k] * v0[k]
                s1 += u[k] * v1[k]
                s2 += u[k] * v2[k]
                s3 += u[k] * v3[k]
            out[at + b] += s0
            out[at + b + 1] += s1
            out[at + b + 2] += s2
            out[at + b + 3] += s3
        for b in range(n_right - n_right % 4, n_right):
            v = right[b]
            s0 = 0.0
            for k in range(count):
                s0 += u[k] * v[k]
            out[at + b] += s0


@jit(reassociate=True, distinct=True)
def translate(begin, end, numbers, row, n_along, stride, matrices, source, target):
    """Write the coefficients of the boxes numbers[begin:end]: the sums of those of all boxes within
    reach along an axis, which is the first axis of `source` and becomes the last one of `target`.

    There are `n_along` boxes on the axis, whose numbers differ by `stride`. ``matrices[., b, a]``
    is the share of coefficient b in coefficient a; ``row[b]`` is the row of box b in `source`, and
    -1 where that has no such row.
    """
    reach, p = matrices.shape[0] // 2, matrices.shape[1]
    n = target.shape[1] // p
    sums = np.empty(n * p)
    for k in range(begin, end):
        i = (numbers[k] // stride) % n_along
        least, most = max(-reach, -i), min(reach, n_along - 1 - i)
        sums[:] = 0.0
        for o in range(least, most + 1):
            j = row[numbers[k] + o * stride]
            if j < 0:
                continue
            if n < SHORT_RUN:
                _add_transposed_product(matrices[o + reach], source[j], p, n, sums)
            else:
                _add_product(matrices[o + reach], source[j], p, n, sums)
        if n < SHORT_RUN:
            for x in range(n * p):
                target[k, x] = sums[x]
        else:
            _transpose(sums, p, n, target[k])


@jit(distinct=True, borrow=True)
def _transpose(values, p, n, out):
    """Write the (p, n) `values` as (n, p) to `out`."""
    for a in range(p):
        for x in range(n):
            out[x * p + a] = values[a * n + x]


@jit(reassociate=True, distinct=True, borrow=True)
def _add_transposed_product(matrix, values, p, n, out):
    """Add the transposed (p, n) `values` times the (p, p) `matrix` to `out`, (n, p)."""
    for x in range(n):
        for b in range(p):
            value = values[b * n + x]
            for a in range(p):
                out[x * p + a] += matrix[b, a] * value


@jit(reassociate=True, distinct=True, borrow=True)
def _add_product(matrix, values, p, n, out):
    """Add the product of the transposed (p, p) `matrix` and the (p, n) `values` to `out`, (p, n).

    Four rows of `values` and `CACHED_RUN` of their numbers are treated at a time.
    """
    for begin in range(0, n, CACHED_RUN):
        size = min(CACHED_RUN, n - begin)
        for a in range(p):
            line = out[a * n + begin : a * n + begin + size]
            for b in range(0, p - 3, 4):
                m0, m1, m2, m3 = matrix[b, a], matrix[b + 1, a], matrix[b + 2, a], matrix[b + 3, a]
                at = b * n + begin
                v0, v1 = values[at:], values[at + n :]
                v2, v3 = values[at + 2 * n :], values[at + 3 * n :]
                for x in range(size):
                    line[x] += (m0 * v0[x] + m1 * v1[x]) + (m2 * v2[x] + m3 * v3[x])
            for b in range(p - p % 4, p):
                m0, v0 = matrix[b, a], values[b * n + begin :]
                for x in range(size):
                    line[x] += m0 * v0[x]


@jit(reassociate=True)
def evaluate(begin, end, boxes, lattice, p, local, errors, tolerance, sums, uncertain):
    """Write the values of the `local` expansions at the points of the boxes begin, ..., end - 1,
    and where they are `uncertain`.

    They are certain where the bounds of their errors, whose expansions of order 2 are `errors`, are
    within the `Tolerance`.
    """
    order, start, stop, d = boxes.order, boxes.start, boxes.stop, lattice.shape.size
    half = (d + 1) // 2
    n_left, n_right = p**half, p ** (d - half)
    x, line = np.empty((d, CHEBYSHEV_BLOCK)), np.empty((max(p, 2), CHEBYSHEV_BLOCK))
    part, total = np.empty(CHEBYSHEV_BLOCK), np.empty(CHEBYSHEV_BLOCK)
    left, right = np.empty((n_left, CHEBYSHEV_BLOCK)), np.empty((n_right, CHEBYSHEV_BLOCK))
    bound, corners = np.empty(CHEBYSHEV_BLOCK), np.empty((2**d, CHEBYSHEV_BLOCK))
    eps, slack = tolerance.eps, tolerance.slack
    for box in range(begin, end):
        for first in range(start[box], stop[box], CHEBYSHEV_BLOCK):
            count = min(CHEBYSHEV_BLOCK, stop[box] - first)
            vectors = _local_coordinates(boxes, box, first, count, lattice, x)
            _products(x, vectors, 2, 0, d, line, corners)
            bound[:] = 0.0
            _combine(errors[box], corners, 2**d, vectors, bound)
            _products(x, vectors, p, 0, half, line, left)
            _products(x, vectors, p, half, d, line, right)
            total[:] = -tolerance.own
            for a in range(n_left):
                part[:] = 0.0
                _combine(local[box, a * n_right :], right, n_right, vectors, part)
                u = left[a]
                for k in range(vectors * VECTOR_PLACES):
                    total[k] += u[k] * part[k]
            for k in range(count):
                i = order[first + k]
                sums[i] = total[k]
                # Written so that a bound that is not a number counts as uncertain.
                uncertain[i] = not bound[k] <= eps * (total[k] - bound[k]) + slack


@jit(reassociate=True, distinct=True, borrow=True)
def _combine(factors, rows, n, vectors, out):
    """Add the first `n` of `rows`, each times its factor, to `out`."""
    for b in range(0, n - 3, 4):
        f0, f1, f2, f3 = factors[b], factors[b + 1], factors[b + 2], factors[b + 3]
        v0, v1, v2, v3 = rows[b], rows[b + 1], rows[b + 2], rows[b + 3]
        for k in range(vectors * VECTOR_PLACES):
            out[k] += (f0 * v0[k] + f1 * v1[k]) + (f2 * v2[k] + f3 * v3[k])
    for b in range(n - n % 4, n):
        f, v = factors[b], rows[b]
        for k in range(vectors * VECTOR_PLACES):
            out[k] += f * v[k]
