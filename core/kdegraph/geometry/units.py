"""Powers of two as units of coordinates, in which their squares neither overflow nor vanish."""

import math

import numpy as np


def unit_scale(X):
    """Return the exponent e of the power of two with ``max |X| <= 2**e``, or 0 where squares of the
    coordinates are harmless anyway.

    Multiplying by a power of two is exact; without it the squares of 1e200 and 1e-200 would
    overflow and vanish.
    """
    largest = max(abs(float(X.max())), abs(float(X.min())))
    return 0 if largest == 0 or 1e-100 < largest < 1e100 else math.frexp(largest)[1]


def common_scale(X, Y):
    """Return the exponent that `unit_scale` finds for two sets of points together."""
    return unit_scale(np.array([end for points in (X, Y) for end in (points.min(), points.max())]))


def rescaled(distances, indices, exponent):
    """Distances in units of 2**exponent, in units of the points; the indices as they are."""
    if not exponent:
        return distances, indices
    with np.errstate(over="ignore"):  # distances between coordinates near the largest double
        return np.minimum(np.ldexp(distances, exponent), np.finfo(float).max), indices
