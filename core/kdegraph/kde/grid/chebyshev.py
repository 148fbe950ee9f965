"""Chebyshev expansions of the Gaussian between two boxes of a regular lattice.

Lengths are in units of sigma. With boxes of width h that are o boxes apart and local coordinates u,
v in [-1, 1], ``exp(-(o h + (u - v) h / 2)^2) = sum_ab c_ab T_a(v) T_b(u)``. In d dimensions the
Gaussian is a product of such factors.

Keeping ``a, b < p`` leaves an error whose largest size is bounded from its values on a fine grid:
with ``u = cos s`` it is a trigonometric polynomial in s, and one of degree m is nowhere larger than
its maximum over the angles ``j pi / N`` divided by ``cos(m pi / (2 N))`` (H. Ehlich and K. Zeller,
"Schwankung von Polynomen zwischen Gitterpunkten", Mathematische Zeitschrift 86 (1964)); the same
holds in v. The factors themselves are bounded from above by functions linear in u and in v.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.runtime.jit import jit

# Widths of boxes that are considered, in units of sigma.
BOX_WIDTHS = (
    *(2.0, 1.7, 1.4, 1.2, 1.1, 1.0, 0.92, 0.85, 0.78),
    *(0.7, 0.65, 0.6, 0.55, 0.5, 0.42, 0.35, 0.3, 0.25),
)

# The largest order of an expansion; narrower boxes cost less than larger orders.
MAX_CHEBYSHEV_ORDER = 18

# Chebyshev points of a variable: coefficients beyond are far below the rounding errors.
CHEBYSHEV_POINTS = 44

# Steps of the grid of angles on which errors are bounded.
ANGLE_STEPS = 128

# Places at which polynomials are computed at a time, a multiple of the length of vectors.
VECTOR_PLACES = 16


@lru_cache(maxsize=2048)
def _coefficients(width, apart):
    """Return the coefficients c_ab for sources `apart` boxes above the targets, (CHEBYSHEV_POINTS,
    CHEBYSHEV_POINTS).
    """
    n = CHEBYSHEV_POINTS
    angles = np.pi * (np.arange(n) + 0.5) / n
    nodes = np.cos(angles)
    basis = np.cos(np.arange(n)[:, None] * angles) * (2.0 / n)
    basis[0] /= 2.0
    distances = apart * width + (nodes - nodes[:, None]) * (width / 2)
    return basis @ np.exp(-(distances**2)) @ basis.T


@lru_cache(maxsize=2048)
def _truncation_sum(width, apart, order):
    """Return a simple bound of the error of an expansion: the sum of the absolute coefficients that
    it leaves out, as no Chebyshev polynomial exceeds 1.
    """
    size = np.abs(_coefficients(width, apart))
    return size[order:].sum() + size[:order, order:].sum()


@lru_cache(maxsize=2048)
def _error_bound(width, apart, order):
    """Return a bound of the error of an expansion, rounding included."""
    # The terms of 12 further orders are bounded together, on the grid of angles; those that follow
    # are tiny and bounded one by one.
    n = min(order + 12, CHEBYSHEV_POINTS)
    left_out = _coefficients(width, apart)[:n, :n].copy()
    left_out[:order, :order] = 0.0
    angles = np.outer(np.arange(ANGLE_STEPS + 1), np.arange(n)) * (math.pi / ANGLE_STEPS)
    values = np.cos(angles)
    between = math.cos((n - 1) * math.pi / (2 * ANGLE_STEPS)) ** 2
    largest = np.abs(values @ left_out @ values.T).max() / between
    rounding = 4e-15 * np.abs(_coefficients(width, apart)).sum()
    return largest + _truncation_sum(width, apart, n) + rounding


@lru_cache(maxsize=2048)
def _majorant(width, apart):
    """Return the (2, 2) coefficients of a function linear in u and in v, nowhere below the
    Gaussian.

    It joins the values at the corners. Where the Gaussian is convex in u and in v that is enough;
    elsewhere it is raised by what it lacks on a grid, and by what may lie between the grid's
    points.
    """
    t = np.linspace(0.0, 1.0, 65)
    corners = np.exp(-(((apart + np.arange(2) - np.arange(2)[:, None]) * width) ** 2))
    if (abs(apart) - 1) * width < math.sqrt(0.5):
        hats = np.stack([1.0 - t, t])
        lacking = np.exp(-(((apart + t - t[:, None]) * width) ** 2)) - hats.T @ corners @ hats
        # Second derivatives are at most 2 width^2.
        corners = corners + max(lacking.max(), 0.0) + (width * t[1]) ** 2 / 2
    corners = corners + 1e-12 * corners.max()  # more than the rounding errors here and below
    to_polynomials = np.array([[0.5, -0.5], [0.5, 0.5]])
    return to_polynomials.T @ corners @ to_polynomials


@lru_cache(maxsize=64)
def relative_errors(width: float, d: int) -> NDArray[np.float64]:
    """Return for every order the sum of estimated error bounds, divided by the sum of kernel
    values, for points of constant density in `d` dimensions.
    """
    apart = [abs(o) for o in _offsets(math.ceil(6 / width))]
    # On average an error is smaller than its bound.
    errors = width * np.array(
        [
            0.7 * sum(_truncation_sum(width, o, order) for o in apart)
            for order in range(MAX_CHEBYSHEV_ORDER + 1)
        ]
    )
    values = sum(_majorant(width, o)[0, 0] for o in apart) * width
    return ((values + errors) ** d - values**d) / math.pi ** (d / 2)


@lru_cache(maxsize=1024)
def least_order(width: float, d: int, eps: float) -> int | None:
    """Return the least order whose `relative_errors` are at most `eps`; None if there is none.

    It is at least 2, as the error bounds are expansions of order 2 anyway.
    """
    good = np.flatnonzero(relative_errors(width, d) <= eps)
    return max(int(good[0]), 2) if good.size else None


def _offsets(reach):
    """Return the range of the number of boxes that sources may lie above the targets."""
    return range(-reach, reach + 1)


class Translations(NamedTuple):
    """Tables for translations along an axis; the first index of arrays is ``o + reach`` for sources
    o boxes above the targets.
    """

    width: float  # of a box, in units of sigma
    reach: int  # sources more than `reach` boxes away are left out
    # (2 reach + 1, order, order): ``matrices[., a, b]`` are the coefficients c_ab, up to the
    # largest order
    matrices: NDArray[np.float64]
    majorants: NDArray[np.float64]  # (2 reach + 1, 2, 2): the coefficients of upper bounds
    beyond: float  # kernel values of the sources that are left out are at most this

    def errors(self, order: int) -> NDArray[np.float64]:
        """Return bounds of the errors of translations with `order` coefficients, (2 reach + 1,)."""
        return np.array([_error_bound(self.width, abs(o), order) for o in _offsets(self.reach)])


@lru_cache(maxsize=16)
def translations(width: float, reach: int) -> Translations:
    """Return the `Translations` for boxes of the given width."""
    order = MAX_CHEBYSHEV_ORDER
    return Translations(
        width,
        reach,
        np.array([_coefficients(width, o)[:order, :order] for o in _offsets(reach)]),
        np.array([_majorant(width, o) for o in _offsets(reach)]),
        math.exp(-((reach * width) ** 2)),
    )


@jit(distinct=True, borrow=True)
def polynomials(x, vectors, order, out):
    """Write ``T_0 ... T_{order-1}`` at the first ``vectors * VECTOR_PLACES`` places of `x` into the
    rows of `out`.
    """
    count = vectors * VECTOR_PLACES
    for k in range(count):
        out[0, k] = 1.0
    if order > 1:
        for k in range(count):
            out[1, k] = x[k]
    for a in range(2, order):
        for k in range(count):
            out[a, k] = 2.0 * x[k] * out[a - 1, k] - out[a - 2, k]
