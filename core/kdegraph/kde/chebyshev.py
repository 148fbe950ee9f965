"""Chebyshev expansions of the Gaussian between two boxes of a regular grid.

Lengths are in units of sigma. With boxes of width h that are o boxes apart and local coordinates u, v in [-1, 1], ``exp(-(o h + (u - v) h
/ 2)^2) = sum_ab c_ab T_a(v) T_b(u)``. Keeping ``a, b < p`` leaves an error of at most the sum of the other ``|c_ab|``, as ``|T| <= 1``. In
d dimensions the Gaussian is a product of such factors.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .._jit import jit

WIDTHS = (2.0, 1.7, 1.4, 1.2, 1.0, 0.85, 0.7, 0.6, 0.5, 0.42, 0.35, 0.3, 0.25)  # candidates for the width of a box
MAX_ORDER = 18
SAMPLES = 44  # Chebyshev points of a variable: coefficients beyond are far below the rounding errors
CELLS = 2  # parts of a box in each dimension, for bounds
ROUNDING = 4e-15  # of sums of products of coefficients and polynomials


@lru_cache(maxsize=2048)
def _coefficients(width, apart):
    """The coefficients c_ab for sources `apart` boxes above the targets, (SAMPLES, SAMPLES)."""
    angles = np.pi * (np.arange(SAMPLES) + 0.5) / SAMPLES
    nodes = np.cos(angles)
    basis = np.cos(np.arange(SAMPLES)[:, None] * angles) * (2.0 / SAMPLES)
    basis[0] /= 2.0
    return basis @ np.exp(-((apart * width + (nodes - nodes[:, None]) * (width / 2)) ** 2)) @ basis.T


@lru_cache(maxsize=2048)
def _errors(width, apart):
    """Bounds of the error of the expansions of order 0, 1, ..., `MAX_ORDER`."""
    size = np.abs(_coefficients(width, apart))
    kept = np.array([size[:order, :order].sum() for order in range(MAX_ORDER + 1)])
    # What is left is added up by itself where it would cancel.
    left = np.array([size[order:].sum() + size[:order, order:].sum() for order in range(MAX_ORDER + 1)])
    return left + ROUNDING * (kept + left)


def _largest(width, apart):
    """The largest value between two intervals of the given width, `apart` of them from each other."""
    return np.exp(-((np.maximum(np.abs(apart) - 1, 0) * width) ** 2))


@lru_cache(maxsize=64)
def relative_errors(width, d):
    """For every order: bounds of all errors over the sum of all values, where the points have a constant density."""
    offsets = np.arange(-math.ceil(6 / width), math.ceil(6 / width) + 1)
    errors = sum(_errors(width, abs(int(o))) for o in offsets) * width
    cells = np.arange(CELLS * offsets[0], CELLS * offsets[-1] + 1)
    values = _largest(width / CELLS, cells).sum() * width / CELLS
    return ((values + errors) ** d - values**d) / math.pi ** (d / 2)


class Tables(NamedTuple):
    """What the translations along an axis need; the first index is ``o + reach`` for sources o boxes above the targets.

    ``matrices[., a, b]`` are the coefficients c_ab; ``largest[., s, t]`` the largest values between the cells s of the targets and t of the
    sources, ``typical[., s, t]`` those between their centres; ``errors[order, .]`` bounds of the errors. Sources more than `reach` boxes
    away are left out; their values are at most `beyond`.
    """

    reach: int
    matrices: np.ndarray
    largest: np.ndarray
    typical: np.ndarray
    errors: np.ndarray
    beyond: float


@lru_cache(maxsize=16)
def tables(width, reach):
    """The `Tables` for boxes of the given width."""
    offsets = range(-reach, reach + 1)
    cell = np.arange(CELLS)
    apart = np.array([o * CELLS + cell - cell[:, None] for o in offsets])
    return Tables(
        reach,
        np.array([_coefficients(width, o)[:MAX_ORDER, :MAX_ORDER] for o in offsets]),
        _largest(width / CELLS, apart),
        np.exp(-((apart * width / CELLS) ** 2)),
        np.array([_errors(width, abs(o)) for o in offsets]).T,
        float(_largest(width, reach + 1)),
    )


@jit
def polynomials(x, count, order, out):
    """Write ``T_0 ... T_{order-1}`` at the first `count` places of `x` into the rows of `out`."""
    for k in range(count):
        out[0, k] = 1.0
    if order > 1:
        for k in range(count):
            out[1, k] = x[k]
    for a in range(2, order):
        for k in range(count):
            out[a, k] = 2.0 * x[k] * out[a - 1, k] - out[a - 2, k]
