"""Compiled loops over the boxes of a regular grid, see `grid`.

Boxes are numbered with the last dimension fastest, and so are the coefficients of a box, order^d of
them.
"""

import numpy as np

from kdegraph.kde.grid.chebyshev import LANES, polynomials
from kdegraph.runtime.jit import jit

BLOCK = 64  # points treated side by side
NARROW = 16  # columns that are not worth a loop along them
STRETCH = 256  # columns that stay in the first-level cache


@jit
def extent(begin, end, points, low, high):
    """The bounding box of the points begin..end-1, added to `low` and `high`."""
    for c in range(low.size):
        least, most = low[c], high[c]
        for i in range(begin, end):
            least, most = min(least, points[i, c]), max(most, points[i, c])
        low[c], high[c] = least, most


@jit
def turn(begin, end, points, center, axes, out):
    """Write the coordinates of the points begin..end-1 along the columns of `axes`, with `center`
    as the origin.
    """
    d = center.size
    x = np.empty(d)
    for i in range(begin, end):
        for c in range(d):
            x[c] = points[i, c] - center[c]
        for c in range(d):
            total = 0.0
            for e in range(d):
                total += x[e] * axes[e, c]
            out[i, c] = total


@jit
def locate(begin, end, points, chunk, origin, scale, shape, box, count):
    """Write the boxes of the points begin..end-1 and count these; each chunk of points has counts
    of its own.
    """
    number = np.empty(BLOCK, np.int64)
    for first in range(begin, end, BLOCK):
        size = min(BLOCK, end - first)
        number[:] = 0
        for c in range(shape.size):
            low, n = origin[c], shape[c]
            for k in range(size):
                number[k] = number[k] * n + min(int((points[first + k, c] - low) * scale), n - 1)
        for k in range(size):
            box[first + k] = number[k]
            count[(first + k) // chunk, number[k]] += 1


@jit
def count_boxes(points, origin, scale, shape):
    """The number of boxes that hold points, and of those that hold every other one."""
    seen = np.zeros(shape.prod(), np.uint8)
    whole = half = 0
    for i in range(len(points)):
        number = 0
        for c in range(shape.size):
            number = number * shape[c] + min(int((points[i, c] - origin[c]) * scale), shape[c] - 1)
        whole += seen[number] == 0
        if i % 2 == 0:
            half += seen[number] < 2
            seen[number] = 2
        elif seen[number] == 0:
            seen[number] = 1
    return whole, half


@jit
def arrange(count, numbers, start, stop):
    """List the boxes that hold points with the ranges of these, and return their number; counts
    become where a chunk writes first.
    """
    found, first = 0, 0
    for b in range(count.shape[1]):
        last = first
        for k in range(count.shape[0]):
            size = count[k, b]
            count[k, b] = last
            last += size
        if last > first:
            numbers[found], start[found], stop[found] = b, first, last
            found += 1
        first = last
    return found


@jit
def list_points(begin, end, box, chunk, place, order):
    """Put the points begin..end-1 into the order of their boxes; ``place[k]`` tells where those of
    chunk k go, and moves.
    """
    for i in range(begin, end):
        k = i // chunk
        order[place[k, box[i]]] = i
        place[k, box[i]] += 1


@jit
def mark_neighbors(boxes, extent, stride, reach, mark):
    """Mark the boxes that lie at most `reach` away from one of `boxes` along an axis."""
    for k in range(boxes.size):
        i = (boxes[k] // stride) % extent
        for o in range(max(-reach, -i), min(reach, extent - 1 - i) + 1):
            mark[boxes[k] + o * stride] = True


@jit(distinct=True)
def _local(points, order, begin, count, box, origin, scale, shape, out):
    """Write the coordinates within their box, in [-1, 1], of the points order[begin:begin+count];
    return how many there are now.

    Zeros make up the last `LANES`, so that loops over vectors leave no remainder.
    """
    vectors = -(-count // LANES)
    for c in range(shape.size - 1, -1, -1):
        corner = box % shape[c]
        box //= shape[c]
        low, x = origin[c], out[c]
        for k in range(count):
            x[k] = (points[order[begin + k], c] - low) * scale - corner
        for k in range(count):
            x[k] = min(max(2.0 * x[k] - 1.0, -1.0), 1.0)
        for k in range(count, vectors * LANES):
            x[k] = 0.0
    return vectors


@jit(distinct=True)
def _products(x, vectors, p, first, last, line, out):
    """Write the products of the polynomials of the dimensions first..last-1 into the rows of `out`."""
    count = vectors * LANES
    for k in range(count):
        out[0, k] = 1.0
    rows = 1
    for c in range(first, last):
        polynomials(x[c], vectors, p, line)
        # From the back: what is overwritten is not needed any more.
        for i in range(rows - 1, -1, -1):
            for a in range(p - 1, -1, -1):
                for k in range(count):
                    out[i * p + a, k] = out[i, k] * line[a, k]
        rows *= p


@jit(reassociate=True)
def add_moments(
    begin, end, points, order, start, stop, boxes, origin, scale, shape, weights, p, moments
):
    """Moments ``sum_j w_j T_a(u_j)`` of the boxes begin..end-1."""
    d = shape.size
    half = (d + 1) // 2
    n_left, n_right = p**half, p ** (d - half)
    x, line, w = np.empty((d, BLOCK)), np.empty((p, BLOCK)), np.empty(BLOCK)
    left, right = np.empty((n_left, BLOCK)), np.empty((n_right, BLOCK))
    for box in range(begin, end):
        moments[box] = 0.0
        for first in range(start[box], stop[box], BLOCK):
            count = min(BLOCK, stop[box] - first)
            vectors = _local(points, order, first, count, boxes[box], origin, scale, shape, x)
            for k in range(count):
                w[k] = weights[order[first + k]]
            for k in range(count, vectors * LANES):
                w[k] = 0.0
            _products(x, vectors, p, 0, half, line, left)
            _products(x, vectors, p, half, d, line, right)
            _add_sums(left, right, w, n_left, n_right, vectors, moments[box])


@jit(reassociate=True, distinct=True)
def _add_sums(left, right, w, n_left, n_right, vectors, out):
    """Add the sums of the products of `left`, `right` and `w` to `out`."""
    count = vectors * LANES
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
def translate(begin, end, boxes, row, extent, stride, matrices, source, target):
    """Write the coefficients of boxes[begin:end], the sums of those of all boxes within reach along
    an axis, the first one of `source`.

    ``matrices[., b, a]`` tells how b becomes a; ``row[b]`` is the row of `source` of box b, -1
    where there is none. The axis becomes the last one of `target`.
    """
    reach, p = matrices.shape[0] // 2, matrices.shape[1]
    n = target.shape[1] // p
    sums = np.empty(n * p)
    for k in range(begin, end):
        i = (boxes[k] // stride) % extent
        least, most = max(-reach, -i), min(reach, extent - 1 - i)
        if n < NARROW:
            for x in range(n * p):
                target[k, x] = 0.0
            for o in range(least, most + 1):
                j = row[boxes[k] + o * stride]
                if j >= 0:
                    for x in range(n):
                        for b in range(p):
                            value = source[j, b * n + x]
                            for a in range(p):
                                target[k, x * p + a] += matrices[o + reach, b, a] * value
            continue
        sums[:] = 0.0
        for o in range(least, most + 1):
            j = row[boxes[k] + o * stride]
            if j >= 0:
                _add_product(matrices[o + reach], source[j], p, n, sums)
        for a in range(p):
            for x in range(n):
                target[k, x * p + a] = sums[a * n + x]


@jit(reassociate=True, distinct=True)
def _add_product(matrix, values, p, n, out):
    """Add the product of the transposed (p, p) `matrix` and the (p, n) `values` to `out`; the rows
    of `values` four by four, a stretch of columns at a time.
    """
    for begin in range(0, n, STRETCH):
        size = min(STRETCH, n - begin)
        for a in range(p):
            line = out[a * n + begin : a * n + begin + size]
            for b in range(0, p - 3, 4):
                m0, m1, m2, m3 = matrix[b, a], matrix[b + 1, a], matrix[b + 2, a], matrix[b + 3, a]
                at = b * n + begin
                v0, v1, v2, v3 = (
                    values[at:],
                    values[at + n :],
                    values[at + 2 * n :],
                    values[at + 3 * n :],
                )
                for x in range(size):
                    line[x] += (m0 * v0[x] + m1 * v1[x]) + (m2 * v2[x] + m3 * v3[x])
            for b in range(p - p % 4, p):
                m0, v0 = matrix[b, a], values[b * n + begin :]
                for x in range(size):
                    line[x] += m0 * v0[x]


@jit(reassociate=True)
def evaluate(
    begin,
    end,
    points,
    order,
    start,
    stop,
    boxes,
    origin,
    scale,
    shape,
    p,
    local,
    errors,
    eps,
    slack,
    own,
    sums,
    uncertain,
):
    """Write the values of the `local` expansions less `own` at the points of the boxes
    begin..end-1, and where they are `uncertain`.

    They are certain if the bounds of which `errors` are the expansions of order 2 are at most
    ``eps`` times the sum, or within `slack`.
    """
    d = shape.size
    half = (d + 1) // 2
    n_left, n_right = p**half, p ** (d - half)
    x, line, part, total = (
        np.empty((d, BLOCK)),
        np.empty((max(p, 2), BLOCK)),
        np.empty(BLOCK),
        np.empty(BLOCK),
    )
    left, right = np.empty((n_left, BLOCK)), np.empty((n_right, BLOCK))
    bound, corners = np.empty(BLOCK), np.empty((2**d, BLOCK))
    for box in range(begin, end):
        for first in range(start[box], stop[box], BLOCK):
            count = min(BLOCK, stop[box] - first)
            vectors = _local(points, order, first, count, boxes[box], origin, scale, shape, x)
            _products(x, vectors, 2, 0, d, line, corners)
            bound[:] = 0.0
            _combine(errors[box], corners, 2**d, vectors, bound)
            _products(x, vectors, p, 0, half, line, left)
            _products(x, vectors, p, half, d, line, right)
            total[:] = -own
            for a in range(n_left):
                part[:] = 0.0
                _combine(local[box, a * n_right :], right, n_right, vectors, part)
                u = left[a]
                for k in range(vectors * LANES):
                    total[k] += u[k] * part[k]
            for k in range(count):
                i = order[first + k]
                sums[i] = total[k]
                uncertain[i] = not bound[k] <= eps * (total[k] - bound[k]) + slack


@jit(reassociate=True, distinct=True)
def _combine(factors, rows, n, vectors, out):
    """Add the first `n` of `rows`, each times its factor, to `out`."""
    for b in range(0, n - 3, 4):
        f0, f1, f2, f3 = factors[b], factors[b + 1], factors[b + 2], factors[b + 3]
        v0, v1, v2, v3 = rows[b], rows[b + 1], rows[b + 2], rows[b + 3]
        for k in range(vectors * LANES):
            out[k] += (f0 * v0[k] + f1 * v1[k]) + (f2 * v2[k] + f3 * v3[k])
    for b in range(n - n % 4, n):
        f, v = factors[b], rows[b]
        for k in range(vectors * LANES):
            out[k] += f * v[k]
