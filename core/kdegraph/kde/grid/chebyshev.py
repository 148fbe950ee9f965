"""Chebyshev expansions of the Gaussian between two boxes of a regular grid.

Lengths are in units of sigma. With boxes of width h that are o boxes apart and local coordinates u,
v in [-1, 1], ``exp(-(o h + (u - v) h / 2)^2) = sum_ab c_ab T_a(v) T_b(u)``. In d dimensions the
Gaussian is a product of such factors.

Keeping ``a, b < p`` leaves an error whose largest size is bounded from its values on a fine grid:
with ``u = cos s`` it is a trigonometric polynomial in s, and one of degree m is nowhere larger than
its maximum over the angles ``j pi / N`` divided by ``cos(m pi / (2 N))`` (Ehlich and Zeller, 1964);
so it is in v. The factors themselves are bounded from above by functions linear in u and in v.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kdegraph.runtime.jit import jit

WIDTHS = (
    2.0,
    1.7,
    1.4,
    1.2,
    1.1,
    1.0,
    0.92,
    0.85,
    0.78,
    0.7,
    0.65,
    0.6,
    0.55,
    0.5,
    0.42,
    0.35,
    0.3,
    0.25,
)  # candidates for the width of a box
MAX_ORDER = 18
SAMPLES = (
    44  # Chebyshev points of a variable: coefficients beyond are far below the rounding errors
)
GRID = 128  # steps of the grid of angles
FOLLOWING = 12  # degrees that are looked at beyond the order; what comes after is tiny
LANES = 16  # places at which polynomials are computed at a time: whole vectors
ROUNDING = 4e-15  # of sums of products of coefficients and polynomials


@lru_cache(maxsize=2048)
def _coefficients(width, apart):
    """The coefficients c_ab for sources `apart` boxes above the targets, (SAMPLES, SAMPLES)."""
    angles = np.pi * (np.arange(SAMPLES) + 0.5) / SAMPLES
    nodes = np.cos(angles)
    basis = np.cos(np.arange(SAMPLES)[:, None] * angles) * (2.0 / SAMPLES)
    basis[0] /= 2.0
    return (
        basis @ np.exp(-((apart * width + (nodes - nodes[:, None]) * (width / 2)) ** 2)) @ basis.T
    )


@lru_cache(maxsize=2048)
def _rest(width, apart, order):
    """A simple bound of the error of an expansion: the sum of what it leaves out, as no polynomial
    exceeds 1.
    """
    size = np.abs(_coefficients(width, apart))
    return size[order:].sum() + size[:order, order:].sum()


@lru_cache(maxsize=2048)
def _error(width, apart, order):
    """A bound of the error of an expansion, rounding included."""
    n = min(order + FOLLOWING, SAMPLES)
    left_out = _coefficients(width, apart)[:n, :n].copy()
    left_out[:order, :order] = 0.0
    values = np.cos(np.outer(np.arange(GRID + 1), np.arange(n)) * (math.pi / GRID))
    largest = (
        np.abs(values @ left_out @ values.T).max() / math.cos((n - 1) * math.pi / (2 * GRID)) ** 2
    )
    return largest + _rest(width, apart, n) + ROUNDING * np.abs(_coefficients(width, apart)).sum()


@lru_cache(maxsize=2048)
def _majorant(width, apart):
    """A function of at least the Gaussian, linear in u and in v; its coefficients, (2, 2)."""
    t = np.linspace(0.0, 1.0, 65)
    corners = np.exp(-(((apart + np.arange(2) - np.arange(2)[:, None]) * width) ** 2))
    if (abs(apart) - 1) * width < math.sqrt(
        0.5
    ):  # elsewhere the Gaussian is convex in u and in v, and below what joins its corners
        hats = np.stack([1.0 - t, t])
        lacking = np.exp(-(((apart + t - t[:, None]) * width) ** 2)) - hats.T @ corners @ hats
        corners = (
            corners + max(lacking.max(), 0.0) + (width * t[1]) ** 2 / 2
        )  # second derivatives are at most 2 width^2
    corners = corners + 1e-12 * corners.max()  # more than what is rounded here and below
    to_polynomials = np.array([[0.5, -0.5], [0.5, 0.5]])
    return to_polynomials.T @ corners @ to_polynomials


@lru_cache(maxsize=64)
def relative_errors(width, d):
    """For every order: estimated bounds of all errors over the sum of all values, where the points
    have a constant density.
    """
    offsets = range(-math.ceil(6 / width), math.ceil(6 / width) + 1)
    errors = (
        np.array(
            [
                0.7 * sum(_rest(width, abs(o), order) for o in offsets)
                for order in range(MAX_ORDER + 1)
            ]
        )
        * width
    )
    values = sum(_majorant(width, abs(o))[0, 0] for o in offsets) * width
    return ((values + errors) ** d - values**d) / math.pi ** (d / 2)


@lru_cache(maxsize=1024)
def least_order(width, d, eps):
    """The least order whose `relative_errors` are at most `eps`, but 2, which the bounds have
    anyway; None if there is none.
    """
    good = np.flatnonzero(relative_errors(width, d) <= eps)
    return max(int(good[0]), 2) if good.size else None


class Tables(NamedTuple):
    """What the translations along an axis need; the first index is ``o + reach`` for sources o
    boxes above the targets.

    ``matrices[., a, b]`` are the coefficients c_ab, ``majorants[., a, b]`` those of upper bounds.
    Sources more than `reach` boxes away are left out; their values are at most `beyond`.
    """

    width: float
    reach: int
    matrices: np.ndarray
    majorants: np.ndarray
    beyond: float

    def errors(self, order):
        """Bounds of the errors of the translations if `order` coefficients are kept, (2 reach +
        1,).
        """
        return np.array(
            [_error(self.width, abs(o), order) for o in range(-self.reach, self.reach + 1)]
        )


@lru_cache(maxsize=16)
def tables(width, reach):
    """The `Tables` for boxes of the given width."""
    offsets = range(-reach, reach + 1)
    return Tables(
        width,
        reach,
        np.array([_coefficients(width, o)[:MAX_ORDER, :MAX_ORDER] for o in offsets]),
        np.array([_majorant(width, o) for o in offsets]),
        math.exp(-((reach * width) ** 2)),
    )


@jit(distinct=True)
def polynomials(x, vectors, order, out):
    """Write ``T_0 ... T_{order-1}`` at the first ``vectors * LANES`` places of `x` into the rows of
    `out`.
    """
    count = vectors * LANES
    for k in range(count):
        out[0, k] = 1.0
    if order > 1:
        for k in range(count):
            out[1, k] = x[k]
    for a in range(2, order):
        for k in range(count):
            out[a, k] = 2.0 * x[k] * out[a - 1, k] - out[a - 2, k]
