"""Taylor expansions of the Gaussian between groups of points.

With ``z`` the vector between the centers of two groups and ``u``, ``v`` the offsets of target and
source from their centers (all in units of sigma), ``exp(-||z + u - v||^2) = sum_b u^b / b! sum_a
(-v)^a / a! G_{a+b}(z)``, where ``G_c`` is the derivative of ``exp(-||z||^2)`` of multi-index ``c``
(a Hermite function). The sources enter through their moments ``sum_j w_j (-v_j)^a / a!`` alone.

Two ways to truncate share this module's loops over points: all exponents below p (`tensor`, up to 3
dimensions) and total degree below q (`simplex`). Both rest on Cramer's inequality for Hermite
functions, which bounds the remainder in one dimension:

    |error| <= 1.0865 exp(-z^2 / 2) sum_{m >= p} (sqrt(2) r)^m / sqrt(m!),    r >= |u - v|.
"""

import math
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from kdegraph.runtime.jit import jit

CRAMER = 1.0865
BLOCK = 16  # points whose monomials are formed side by side
SQRT = np.sqrt(np.arange(200.0))
TENSOR_ORDERS = {1: 32, 2: 24, 3: 12}
MAX_TERMS, MAX_PRODUCTS = 600, 60_000


class Tables(NamedTuple):
    """A set of multi-indices in which every one comes after those below it.

    ``exponents[i]`` is a multi-index, ``degree[i]`` its total degree; its monomial is that of
    ``parent[i]`` times the coordinate ``axis[i]``. For the simplex, by degree: ``n_terms[q]``
    counts those of degree < q, and ``sums[row[b] + a]`` is the number of the sum of the
    multi-indices b and a.
    """

    exponents: np.ndarray
    degree: np.ndarray
    parent: np.ndarray
    axis: np.ndarray
    inverse_factorial: np.ndarray
    n_terms: np.ndarray
    row: np.ndarray
    sums: np.ndarray


def is_tensor(d):
    """Whether expansions in `d` dimensions keep all exponents below the order (else: total degree)."""
    return d in TENSOR_ORDERS


def count_terms(d, order):
    """Number of terms of an expansion of the given order."""
    return order**d if is_tensor(d) else math.comb(order - 1 + d, d)


def count_products(d, order):
    """Number of products that a translation of the given order takes."""
    return d * order ** (d + 1) if is_tensor(d) else math.comb(order - 1 + 2 * d, 2 * d)


@lru_cache(maxsize=32)
def max_order(d):
    """The largest order whose tables are kept within reason."""
    if is_tensor(d):
        return TENSOR_ORDERS[d]
    order = 1
    while (
        order < 40
        and count_terms(d, order + 1) <= MAX_TERMS
        and count_products(d, order + 1) <= MAX_PRODUCTS
    ):
        order += 1
    return order


@lru_cache(maxsize=32)
def tables(d, order):
    """The `Tables` for `d` dimensions and expansions of at most `order`."""
    if is_tensor(d):
        indices = list(product(range(order), repeat=d))
    else:
        indices = sorted(
            (e for e in _simplex(d, order - 1)), key=lambda e: (sum(e), [-x for x in e])
        )
    number = {index: i for i, index in enumerate(indices)}
    axis = np.array([max((c for c in range(d) if e[c]), default=0) for e in indices])
    parent = np.array(
        [
            number[tuple(x - (c == a and x > 0) for c, x in enumerate(e))]
            for e, a in zip(indices, axis, strict=True)
        ]
    )
    exponents = np.array(indices, dtype=np.int64).reshape(-1, d)
    degree = exponents.sum(axis=1)
    factorial = np.array([math.prod(map(math.factorial, index)) for index in indices], dtype=float)
    n_terms = np.searchsorted(np.sort(degree), np.arange(order + 1))
    rows = [np.zeros(1, np.int32)]
    if not is_tensor(d):
        rows = [
            np.array(
                [number[tuple(x)] for x in exponents[b] + exponents[: n_terms[order - degree[b]]]]
            )
            for b in range(len(indices))
        ]
    offsets = np.concatenate([[0], np.cumsum([r.size for r in rows])[:-1]])
    return Tables(
        exponents, degree, parent, axis, 1.0 / factorial, n_terms, offsets.astype(np.int64), np.concatenate(rows).astype(np.int32)
    )  # fmt: skip


def _simplex(d, total):
    if d == 0:
        yield ()
        return
    for first in range(total + 1):
        for rest in _simplex(d - 1, total - first):
            yield (first, *rest)


@jit
def derivatives(z, n, out):
    """Write ``G_0(z), ..., G_{n-1}(z)`` of one dimension into `out`."""
    x = -2.0 * z
    out[0] = math.exp(-z * z)
    if n > 1:
        out[1] = x * out[0]
    for k in range(2, n):
        out[k] = x * out[k - 1] - 2.0 * (k - 1) * out[k - 2]


@jit
def _monomials(columns, begin, count, center, scale, parent, axis, out):
    """Write the monomials of (points - center) * scale of `count` <= BLOCK points into out[:,
    :count].
    """
    for k in range(count):
        out[0, k] = 1.0
    for i in range(1, parent.size):
        below, x, shift = out[parent[i]], columns[axis[i], begin : begin + count], center[axis[i]]
        line = out[i]
        for k in range(count):
            line[k] = below[k] * ((x[k] - shift) * scale)


@jit(reassociate=True)
def add_moments(
    columns, weights, begin, end, center, scale, parent, axis, inverse_factorial, room, moments
):
    """Moments ``sum_j w_j (-v_j)^a / a!`` of the points begin..end-1."""
    n = moments.size
    moments[:] = 0.0
    for first in range(begin, end, BLOCK):
        count = min(BLOCK, end - first)
        _monomials(columns, first, count, center, -scale, parent, axis, room)
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
def evaluate(
    columns, begin, end, center, scale, local, parent, axis, inverse_factorial, room, sums
):
    """Add the local expansion at the points begin..end-1 to their `sums`."""
    for first in range(begin, end, BLOCK):
        count = min(BLOCK, end - first)
        _monomials(columns, first, count, center, scale, parent, axis, room)
        out = sums[first : first + count]
        for i in range(local.size):
            coefficient = local[i] * inverse_factorial[i]
            line = room[i]
            for k in range(count):
                out[k] += coefficient * line[k]
