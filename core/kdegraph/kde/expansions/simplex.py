"""Expansions truncated by total degree: for any number of dimensions.

Keeping ``|a| + |b| < q`` leaves the remainder of a Taylor series along the direction of ``u - v``,
which the one-dimensional bound covers with ``z`` the distance of the centers and ``r`` the sum of
both radii.
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
    """The smallest q <= `order` whose error bound, rounding included, is at most `allowed`; 0 if
    there is none.

    `z` is the vector between the centers, `r` the sum of the half widths of both boxes, in units of
    sigma.
    """
    z2, x = 0.0, 0.0
    for c in range(z.size):
        z2 += z[c] * z[c]
        x += r[c] * r[c]
    x = math.sqrt(2.0 * x)
    if x > MAX_REACH:
        return 0
    term = CRAMER * math.exp(-0.5 * z2)
    allowed -= TAYLOR_ROUNDING * term * math.exp(0.5 * x * x)
    if allowed <= 0.0:
        return 0
    for q in range(1, order + 1):
        term *= x / SQUARE_ROOTS[q]
        ratio = x / SQUARE_ROOTS[q + 1]
        # The terms that follow are at most a geometric series.
        if ratio < 1.0 and term <= allowed * (1.0 - ratio):
            return q
    return 0


@jit(reassociate=True, borrow=True)
def translate(moments, z, q, indices, workspace, local):
    """Add the field of a source group's `moments` to the `local` expansion of a target group, up to
    order q.
    """
    derivative = workspace.products[0]
    _hermite(z, q, indices, workspace.derivatives, derivative)
    for b in range(indices.counts[q]):
        offset = indices.row[b]
        total = 0.0
        for a in range(indices.counts[q - indices.degree[b]]):
            total += moments[a] * derivative[indices.sums[offset + a]]
        local[b] += total


@jit(borrow=True)
def _hermite(z, q, indices, line, out):
    """Write the derivatives of total degree < q at `z` into `out`."""
    d = z.size
    for c in range(d):
        derivatives(z[c], q, line[c])
    for i in range(indices.counts[q]):
        value = line[0, indices.exponents[i, 0]]
        for c in range(1, d):
            value *= line[c, indices.exponents[i, c]]
        out[i] = value


@jit(reassociate=True, borrow=True)
def field_at(moments, z, q, indices, workspace):
    """The field of a group's `moments` at the distance `z` from its center, up to order q."""
    derivative = workspace.products[0]
    _hermite(z, q, indices, workspace.derivatives, derivative)
    total = 0.0
    for i in range(indices.counts[q]):
        total += moments[i] * derivative[i]
    return total


@jit(borrow=True)
def add_source(weight, z, q, indices, workspace, local):
    """Add the field of one source to the `local` expansion of a target group, up to order q; `z`
    leads from the source to the center of the targets.
    """
    derivative = workspace.products[0]
    _hermite(z, q, indices, workspace.derivatives, derivative)
    for i in range(indices.counts[q]):
        local[i] += weight * derivative[i]
