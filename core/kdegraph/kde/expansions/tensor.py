"""Expansions that keep all exponents below p: for one, two or three dimensions.

The Gaussian is a product over the dimensions, so a translation is one small matrix product for each
axis. With the factors at most ``g_c <= exp(-gap_c^2)`` and the bounds ``e_c`` of their errors, the
error is at most ``prod (g_c + e_c) - prod g_c``.
"""

import math

from kdegraph.kde.expansions.hermite import (
    CRAMER,
    MAX_REACH,
    SQUARE_ROOTS,
    TAYLOR_ROUNDING,
    derivatives,
)
from kdegraph.runtime.jit import jit


@jit(borrow=True)
def needed_order(allowed, z, r, order):
    """The smallest even p <= `order` whose error bound, rounding included, is at most `allowed`; 0
    if there is none.

    `z` is the vector between the centers, `r` the sum of the half widths of both boxes, in units of
    sigma.
    """
    d = z.size
    rounding = TAYLOR_ROUNDING
    # One variable for each dimension, so that the loop over orders touches no array.
    x0 = x1 = x2 = g0 = g1 = g2 = t0 = t1 = t2 = 0.0
    for c in range(d):
        x = math.sqrt(2.0) * r[c]
        if x > MAX_REACH:
            return 0
        gap = max(abs(z[c]) - r[c], 0.0)
        g, t = math.exp(-gap * gap), CRAMER * math.exp(-0.5 * z[c] * z[c])
        rounding *= t * math.exp(0.5 * x * x)
        if c == 0:
            x0, g0, t0 = x, g, t
        elif c == 1:
            x1, g1, t1 = x, g, t
        else:
            x2, g2, t2 = x, g, t
    allowed -= rounding
    if allowed <= 0.0:
        return 0
    for p in range(1, order + 1):
        inverse, following = 1.0 / SQUARE_ROOTS[p], 1.0 / SQUARE_ROOTS[p + 1]
        t0 *= x0 * inverse
        t1 *= x1 * inverse
        t2 *= x2 * inverse
        if p % 2 or max(x0, x1, x2) * following >= 1.0:
            continue
        # The terms that follow are at most a geometric series.
        e0 = t0 / (1.0 - x0 * following)
        error = e0
        if d > 1:
            e1 = t1 / (1.0 - x1 * following)
            error = e0 * g1 + (g0 + e0) * e1
            if d > 2:
                e2 = t2 / (1.0 - x2 * following)
                error = error * g2 + (g0 + e0) * (g1 + e1) * e2
        if error <= allowed:
            return p
    return 0


@jit(reassociate=True, borrow=True)
def translate(moments, z, p, order, workspace, local):
    """Add the field of a source group's `moments` (order^d of them) to the `local` expansion of a
    target group, up to order p.
    """
    line, products = workspace.derivatives, workspace.products
    d = z.size
    for c in range(d):
        derivatives(z[c], 2 * p, line[c])
    if d == 1:
        _contract(moments, 1, p, order, line[0], products[0])
        for b in range(p):
            local[b] += products[0, b]
    elif d == 2:
        _contract(moments, p, p, order, line[1], products[0])
        for b in range(p):
            out = local[b * order : b * order + p]
            _add_combination(line[0, b:], products[0], p, out)
    else:
        _translate_in_space(moments, p, order, line, products, local)


@jit(reassociate=True, borrow=True)
def _translate_in_space(moments, p, order, line, products, local):
    """`translate` in three dimensions, from the derivatives in `line`: one axis after another, the
    last one first.
    """
    for a0 in range(p):
        part = moments[a0 * order * order : (a0 + 1) * order * order]
        _contract(part, p, p, order, line[2], products[0])
        for b1 in range(p):
            out = products[1, (a0 * p + b1) * p : (a0 * p + b1 + 1) * p]
            out[:] = 0.0
            _add_combination(line[1, b1:], products[0], p, out)
    for b0 in range(p):
        for a0 in range(p):
            factor = line[0, a0 + b0]
            for b1 in range(p):
                out = local[(b0 * order + b1) * order : (b0 * order + b1) * order + p]
                values = products[1, (a0 * p + b1) * p : (a0 * p + b1 + 1) * p]
                for b2 in range(p):
                    out[b2] += factor * values[b2]


@jit(reassociate=True, borrow=True)
def _contract(matrix, rows, p, stride, derivative, out):
    """out[i, b] = sum_a matrix[i, a] derivative[a + b] for b < p (even), row after row; `matrix`
    has rows of length `stride`.
    """
    for i in range(rows):
        begin = i * stride
        b = 0
        while b + 4 <= p:
            s0 = s1 = s2 = s3 = 0.0
            for a in range(p):
                m = matrix[begin + a]
                s0 += m * derivative[a + b]
                s1 += m * derivative[a + b + 1]
                s2 += m * derivative[a + b + 2]
                s3 += m * derivative[a + b + 3]
            out[i * p + b], out[i * p + b + 1] = s0, s1
            out[i * p + b + 2], out[i * p + b + 3] = s2, s3
            b += 4
        while b < p:
            s0 = s1 = 0.0
            for a in range(p):
                m = matrix[begin + a]
                s0 += m * derivative[a + b]
                s1 += m * derivative[a + b + 1]
            out[i * p + b], out[i * p + b + 1] = s0, s1
            b += 2


@jit(reassociate=True, borrow=True)
def _add_combination(factors, rows, p, out):
    """Add `p` rows of p numbers, each times its factor, to `out`."""
    for a in range(p):
        factor = factors[a]
        values = rows[a * p : a * p + p]
        for b in range(p):
            out[b] += factor * values[b]


@jit(reassociate=True, borrow=True)
def field_at(moments, z, p, order, workspace):
    """The field of a group's `moments` at the distance `z` from its center, up to order p."""
    line = workspace.derivatives
    d = z.size
    for c in range(d):
        derivatives(z[c], p, line[c])
    if d == 1:
        return _dot(moments[:p], line[0])
    total = 0.0
    if d == 2:
        for a in range(p):
            total += line[0, a] * _dot(moments[a * order : a * order + p], line[1])
        return total
    for a in range(p):
        part = 0.0
        for b in range(p):
            row = (a * order + b) * order
            part += line[1, b] * _dot(moments[row : row + p], line[2])
        total += line[0, a] * part
    return total


@jit(reassociate=True, borrow=True)
def _dot(x, y):
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@jit(borrow=True)
def add_source(weight, z, p, order, workspace, local):
    """Add the field of one source to the `local` expansion of a target group, up to order p; `z`
    leads from the source to the center of the targets.
    """
    line = workspace.derivatives
    d = z.size
    for c in range(d):
        derivatives(z[c], p, line[c])
    if d == 1:
        _add(weight, line[0], local[:p])
    elif d == 2:
        for a in range(p):
            _add(weight * line[0, a], line[1], local[a * order : a * order + p])
    else:
        for a in range(p):
            for b in range(p):
                row = (a * order + b) * order
                _add(weight * line[0, a] * line[1, b], line[2], local[row : row + p])


@jit(borrow=True)
def _add(factor, x, out):
    for i in range(out.size):
        out[i] += factor * x[i]
