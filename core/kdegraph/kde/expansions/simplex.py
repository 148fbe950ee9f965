"""Expansions truncated by total degree: any dimension.

Keeping ``|a| + |b| < q`` leaves the remainder of a Taylor series along the direction of ``u - v``,
which the one-dimensional bound covers with ``z`` the distance of the centers and ``r`` the sum of
both radii.
"""

import math

from kdegraph.kde.expansions.taylor import CRAMER, derivatives
from kdegraph.runtime.jit import jit


@jit
def needed_order(allowed, z, r, order, sqrt):
    """The smallest q <= `order` whose error bound, rounding included, is at most `allowed`; 0 if
    there is none.

    `z` is the vector between the centers, `r` the half widths of both boxes added up, in units of
    sigma.
    """
    z2, x = 0.0, 0.0
    for c in range(z.size):
        z2 += z[c] * z[c]
        x += r[c] * r[c]
    x = math.sqrt(2.0 * x)
    if x > 6.0:
        return 0
    term = CRAMER * math.exp(-0.5 * z2)
    allowed -= 4e-15 * term * math.exp(0.5 * x * x)
    if allowed <= 0.0:
        return 0
    for q in range(1, order + 1):
        term *= x / sqrt[q]
        ratio = x / sqrt[q + 1]
        if ratio < 1.0 and term <= allowed * (1.0 - ratio):
            return q
    return 0


@jit(reassociate=True)
def translate(moments, z, q, exponents, degree, n_terms, row, sums, line, room, local):
    """Add the field of a source group's `moments` to the `local` expansion of a target group, up to
    order q.

    `line` is room for (d, q) numbers, `room` for as many as `local` has.
    """
    _hermite(z, q, exponents, n_terms, line, room)
    for b in range(n_terms[q]):
        offset = row[b]
        total = 0.0
        for a in range(n_terms[q - degree[b]]):
            total += moments[a] * room[sums[offset + a]]
        local[b] += total


@jit
def _hermite(z, q, exponents, n_terms, line, out):
    """Write the derivatives of total degree < q at `z` into `out`."""
    d = z.size
    for c in range(d):
        derivatives(z[c], q, line[c])
    for i in range(n_terms[q]):
        value = line[0, exponents[i, 0]]
        for c in range(1, d):
            value *= line[c, exponents[i, c]]
        out[i] = value


@jit(reassociate=True)
def field_at(moments, z, q, exponents, n_terms, line, room):
    """The field of a source group's `moments` at the distance `z` from its center, up to order q."""
    _hermite(z, q, exponents, n_terms, line, room)
    total = 0.0
    for i in range(n_terms[q]):
        total += moments[i] * room[i]
    return total


@jit
def add_source(weight, z, q, exponents, n_terms, line, room, local):
    """Add the field of one source, at the distance -`z` from the center of the targets, to their
    `local` expansion up to order q.
    """
    _hermite(z, q, exponents, n_terms, line, room)
    for i in range(n_terms[q]):
        local[i] += weight * room[i]
