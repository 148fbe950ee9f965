"""Taylor expansions of the Gaussian, truncated by total degree.

With ``z`` the vector between the centres of two groups and ``u``, ``v`` the offsets of target and source from their centres (all in
units of sigma), ``exp(-||z + u - v||^2) = sum_b u^b / b! sum_a (-v)^a / a! G_{a+b}(z)``, where ``G_c`` is the derivative of
``exp(-||z||^2)`` of multi-index ``c`` (a Hermite function). Keeping ``|a| + |b| < q`` leaves the remainder of a Taylor series along the
direction of ``u - v``, which Cramer's inequality bounds in any dimension:

    |error| <= 1.0865 exp(-||z||^2 / 2) sum_{m >= q} (sqrt(2) r)^m / sqrt(m!),    r = ||u - v||.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .._jit import jit

CRAMER = 1.0865
BLOCK = 16  # points whose monomials are formed side by side
MAX_TERMS, MAX_PRODUCTS = 600, 60_000
SQRT = np.sqrt(np.arange(200.0))


class Tables(NamedTuple):
    """Multi-indices of degree < `order` in `d` dimensions, by degree.

    ``exponents[i]`` is a multi-index, ``degree[i]`` its total degree, and its monomial is that of ``parent[i]`` times the coordinate
    ``axis[i]``. ``n_terms[q]`` counts those of degree < q. ``sums[row[b] + a]`` is the number of the sum of the multi-indices b and a.
    """

    exponents: np.ndarray
    degree: np.ndarray
    parent: np.ndarray
    axis: np.ndarray
    inverse_factorial: np.ndarray
    n_terms: np.ndarray
    row: np.ndarray
    sums: np.ndarray

    @property
    def order(self):
        """The largest usable q."""
        return self.n_terms.size - 1


def n_terms(d, q):
    """Number of multi-indices in `d` dimensions of total degree < q."""
    return math.comb(q - 1 + d, d) if q > 0 else 0


@lru_cache(maxsize=16)
def max_order(d):
    """The largest order whose tables are kept within reason."""
    q = 1
    while q < 40 and n_terms(d, q + 1) <= MAX_TERMS and n_terms(2 * d, q + 1) <= MAX_PRODUCTS:
        q += 1
    return q


@lru_cache(maxsize=16)
def tables(d):
    """The `Tables` for `d` dimensions up to `max_order`."""
    order = max_order(d)
    indices, number = [(0,) * d], {(0,) * d: 0}
    parent, axis = [0], [0]
    begin = 0
    for _ in range(1, order):
        end = len(indices)
        for i in range(begin, end):
            for c in range(axis[i] if i else 0, d):
                child = tuple(e + (k == c) for k, e in enumerate(indices[i]))
                number[child] = len(indices)
                indices.append(child)
                parent.append(i)
                axis.append(c)
        begin = end
    exponents = np.array(indices, dtype=np.int64).reshape(-1, d)
    degree = exponents.sum(axis=1)
    counts = np.array([n_terms(d, q) for q in range(order + 1)])
    factorial = np.array([math.prod(map(math.factorial, index)) for index in indices], dtype=float)
    rows = [np.array([number[tuple(x)] for x in exponents[b] + exponents[: counts[order - degree[b]]]]) for b in range(len(indices))]
    offsets = np.concatenate([[0], np.cumsum([r.size for r in rows])[:-1]])
    return Tables(
        exponents,
        degree,
        np.array(parent),
        np.array(axis),
        1.0 / factorial,
        counts,
        offsets.astype(np.int64),
        np.concatenate(rows).astype(np.int32),
    )


@jit
def needed_order(allowed, z2, r, order, sqrt):
    """The smallest q <= `order` whose error bound, rounding included, is at most `allowed`; 0 if there is none.

    `z2` is the squared distance of the centres, `r` the sum of both radii, in units of sigma.
    """
    x = math.sqrt(2.0) * r
    if x > 6.0:
        return 0
    scale = CRAMER * math.exp(-0.5 * z2)
    allowed -= 4e-15 * scale * math.exp(0.5 * x * x)
    if allowed <= 0.0:
        return 0
    term = scale
    for q in range(1, order + 1):
        term *= x / sqrt[q]
        ratio = x / sqrt[q + 1]
        if ratio < 1.0 and term <= allowed * (1.0 - ratio):
            return q
    return 0


@jit
def hermite(z, q, exponents, n_terms, line, out):
    """Write the derivatives G_c(z) of degree < q into `out`; `line` is room for (d, q) numbers."""
    for c in range(z.size):
        x = -2.0 * z[c]
        line[c, 0] = math.exp(-z[c] * z[c])
        if q > 1:
            line[c, 1] = x * line[c, 0]
        for k in range(2, q):
            line[c, k] = x * line[c, k - 1] - 2.0 * (k - 1) * line[c, k - 2]
    for i in range(n_terms[q]):
        value = line[0, exponents[i, 0]]
        for c in range(1, z.size):
            value *= line[c, exponents[i, c]]
        out[i] = value


@jit(reassociate=True)
def translate(moments, derivatives, q, degree, n_terms, row, sums, local):
    """Add the field of a source group's `moments` to the `local` expansion of a target group, up to order q."""
    for b in range(n_terms[q]):
        offset = row[b]
        total = 0.0
        for a in range(n_terms[q - degree[b]]):
            total += moments[a] * derivatives[sums[offset + a]]
        local[b] += total


@jit
def monomials(points, begin, count, center, scale, parent, axis, n, out):
    """Write the first `n` monomials of (points - center) * scale of `count` <= BLOCK points into out[:, :count]."""
    for k in range(count):
        out[0, k] = 1.0
    for i in range(1, n):
        c = axis[i]
        below = out[parent[i]]
        for k in range(count):
            out[i, k] = below[k] * ((points[c, begin + k] - center[c]) * scale)


@jit(reassociate=True)
def add_moments(columns, weights, begin, end, center, scale, parent, axis, inverse_factorial, room, moments):
    """Moments ``sum_j w_j (-v_j)^a / a!`` of the points begin..end-1."""
    n = moments.size
    moments[:] = 0.0
    for first in range(begin, end, BLOCK):
        count = min(BLOCK, end - first)
        monomials(columns, first, count, center, -scale, parent, axis, n, room)
        w = weights[first : first + count]
        for i in range(n):
            total = 0.0
            line = room[i]
            for k in range(count):
                total += w[k] * line[k]
            moments[i] += total
    for i in range(n):
        moments[i] *= inverse_factorial[i]


@jit(reassociate=True)
def evaluate(columns, begin, end, center, scale, local, n, parent, axis, inverse_factorial, room, sums):
    """Add the local expansion with `n` terms at the points begin..end-1 to their `sums`."""
    for first in range(begin, end, BLOCK):
        count = min(BLOCK, end - first)
        monomials(columns, first, count, center, scale, parent, axis, n, room)
        out = sums[first : first + count]
        for i in range(n):
            coefficient = local[i] * inverse_factorial[i]
            line = room[i]
            for k in range(count):
                out[k] += coefficient * line[k]
