"""Compiled loops over the boxes of a regular grid, see `grid`.

Boxes are numbered with the last dimension fastest, cells within their box likewise, and so are the coefficients of a box, order^d of them.
"""

import numpy as np

from .._jit import jit
from .chebyshev import CELLS, polynomials

BLOCK = 32  # points treated side by side


@jit
def extent(begin, end, points, low, high):
    """The bounding box of the points begin..end-1, added to `low` and `high`."""
    for c in range(low.size):
        least, most = low[c], high[c]
        for i in range(begin, end):
            least, most = min(least, points[i, c]), max(most, points[i, c])
        low[c], high[c] = least, most


@jit
def locate(begin, end, points, chunk, origin, scale, shape, cell, count):
    """Write the cells of the points begin..end-1, numbered box by box, and count them; each chunk of points has counts of its own."""
    d = shape.size
    for i in range(begin, end):
        box, part = 0, 0
        for c in range(d):
            t = (points[i, c] - origin[c]) * scale
            k = min(int(t), shape[c] - 1)
            box = box * shape[c] + k
            part = part * CELLS + min(int((t - k) * CELLS), CELLS - 1)
        for _ in range(d):
            box *= CELLS
        cell[i] = box + part
        count[i // chunk, cell[i]] += 1


@jit
def list_points(begin, end, cell, chunk, place, order):
    """Put the points begin..end-1 into the order of their cells; ``place[k]`` tells where those of chunk k go, and moves."""
    for i in range(begin, end):
        k = i // chunk
        order[place[k, cell[i]]] = i
        place[k, cell[i]] += 1


@jit
def mark_neighbors(boxes, extent, stride, reach, mark):
    """Mark the boxes that lie at most `reach` away from one of `boxes` along an axis."""
    for k in range(boxes.size):
        i = (boxes[k] // stride) % extent
        for o in range(max(-reach, -i), min(reach, extent - 1 - i) + 1):
            mark[boxes[k] + o * stride] = True


@jit
def _local(points, order, begin, count, box, origin, scale, shape, out):
    """Write the coordinates within their box, in [-1, 1], of the points order[begin:begin+count]."""
    for c in range(shape.size - 1, -1, -1):
        corner = box % shape[c]
        box //= shape[c]
        for k in range(count):
            t = (points[order[begin + k], c] - origin[c]) * scale - corner
            out[c, k] = min(max(2.0 * t - 1.0, -1.0), 1.0)


@jit
def _products(x, count, p, first, last, line, out):
    """Write the products of the polynomials of the dimensions first..last-1 into the rows of `out`."""
    for k in range(count):
        out[0, k] = 1.0
    rows = 1
    for c in range(first, last):
        polynomials(x[c], count, p, line)
        # From the back: what is overwritten is not needed any more.
        for i in range(rows - 1, -1, -1):
            for a in range(p - 1, -1, -1):
                for k in range(count):
                    out[i * p + a, k] = out[i, k] * line[a, k]
        rows *= p


@jit(reassociate=True)
def add_moments(begin, end, points, order, start, stop, boxes, origin, scale, shape, weights, p, moments):
    """Moments ``sum_j w_j T_a(u_j)`` of the boxes begin..end-1."""
    d = shape.size
    half = d // 2
    n_left, n_right = p**half, p ** (d - half)
    x, line, w = np.empty((d, BLOCK)), np.empty((p, BLOCK)), np.empty(BLOCK)
    left, right = np.empty((n_left, BLOCK)), np.empty((n_right, BLOCK))
    for box in range(begin, end):
        for first in range(start[box], stop[box], BLOCK):
            count = min(BLOCK, stop[box] - first)
            _local(points, order, first, count, boxes[box], origin, scale, shape, x)
            for k in range(count):
                w[k] = weights[order[first + k]]
            _products(x, count, p, 0, half, line, left)
            _products(x, count, p, half, d, line, right)
            for a in range(n_left):
                u = left[a]
                for k in range(count):
                    u[k] *= w[k]
                for b in range(n_right):
                    v = right[b]
                    total = 0.0
                    for k in range(count):
                        total += u[k] * v[k]
                    moments[box, a * n_right + b] += total


@jit(reassociate=True)
def translate(begin, end, boxes, row, extent, stride, matrices, before, after, source, target):
    """Add to the coefficients of boxes[begin:end] those of all boxes within reach along an axis.

    ``row[b]`` is the row of `source` of box b, -1 where there is none; there are `before` combinations of indices of the dimensions before
    the axis and `after` of those after it.
    """
    reach, p = matrices.shape[0] // 2, matrices.shape[1]
    for k in range(begin, end):
        i = (boxes[k] // stride) % extent
        for o in range(max(-reach, -i), min(reach, extent - 1 - i) + 1):
            j = row[boxes[k] + o * stride]
            if j >= 0:
                if after == 1:
                    _contract_last(source[j], matrices[o + reach], before, p, target[k])
                else:
                    _contract(source[j], matrices[o + reach], before, p, after, target[k])


@jit(reassociate=True)
def _contract(values, matrix, before, p, after, out):
    for r in range(before):
        for a in range(p):
            line = out[(r * p + a) * after : (r * p + a + 1) * after]
            for b in range(p):
                factor = matrix[a, b]
                other = values[(r * p + b) * after : (r * p + b + 1) * after]
                for x in range(after):
                    line[x] += factor * other[x]


@jit(reassociate=True)
def _contract_last(values, transposed, before, p, out):
    for r in range(before):
        line = out[r * p : (r + 1) * p]
        for b in range(p):
            factor = values[r * p + b]
            for a in range(p):
                line[a] += factor * transposed[b, a]


@jit(reassociate=True)
def evaluate(begin, end, points, order, start, stop, boxes, origin, scale, shape, p, local, errors, sums, bounds):
    """Write the values of the `local` expansions and the bounds of their errors at the points of the boxes begin..end-1."""
    d = shape.size
    half = d // 2
    n_left, n_right = p**half, p ** (d - half)
    x, line, part, total = np.empty((d, BLOCK)), np.empty((p, BLOCK)), np.empty(BLOCK), np.empty(BLOCK)
    left, right = np.empty((n_left, BLOCK)), np.empty((n_right, BLOCK))
    for box in range(begin, end):
        for first in range(start[box], stop[box], BLOCK):
            count = min(BLOCK, stop[box] - first)
            _local(points, order, first, count, boxes[box], origin, scale, shape, x)
            _products(x, count, p, 0, half, line, left)
            _products(x, count, p, half, d, line, right)
            total[:] = 0.0
            for a in range(n_left):
                part[:] = 0.0
                for b in range(n_right):
                    factor, v = local[box, a * n_right + b], right[b]
                    for k in range(count):
                        part[k] += factor * v[k]
                u = left[a]
                for k in range(count):
                    total[k] += u[k] * part[k]
            for k in range(count):
                cell = 0
                for c in range(d):
                    cell = cell * CELLS + min(int((x[c, k] + 1.0) * (0.5 * CELLS)), CELLS - 1)
                sums[order[first + k]] = total[k]
                bounds[order[first + k]] = errors[box, cell]
