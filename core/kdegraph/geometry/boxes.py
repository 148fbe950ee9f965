"""Distances between axis-aligned boxes, as exponents of a kernel.

A collection of boxes is any NamedTuple with the fields `low` and `high`, (n_boxes, d) float64
arrays of the smallest and the largest coordinates: a `Tree`, whose nodes are boxes, is one.
"""

import numpy as np

from kdegraph.geometry.kernels import EXPONENTIAL, LAPLACIAN
from kdegraph.runtime.jit import jit


@jit(inline=True, borrow=True)
def box_distances(code, inverse_sigma, boxes, a, others, b):
    """The smallest and the largest exponent between the points of box `a` of `boxes` and those of
    box `b` of `others`.

    The kernel values between the boxes lie between ``exp(-largest)`` and ``exp(-smallest)``.
    """
    smallest, largest = 0.0, 0.0
    for c in range(boxes.low.shape[1]):
        gap, span = interval_distances(
            boxes.low[a, c], boxes.high[a, c], others.low[b, c], others.high[b, c]
        )
        gap *= inverse_sigma
        span *= inverse_sigma
        if code == LAPLACIAN:
            smallest += gap
            largest += span
        else:
            smallest += gap * gap
            largest += span * span
    if code == EXPONENTIAL:
        return np.sqrt(smallest), np.sqrt(largest)
    return smallest, largest


@jit(inline=True, borrow=True)
def interval_distances(low, high, other_low, other_high):
    """The smallest and the largest distance between the numbers of two intervals."""
    gap = max(max(low - other_high, other_low - high), 0.0)
    span = max(high - other_low, other_high - low)
    return gap, span


@jit(inline=True, borrow=True)
def squared_radius(boxes, k, inverse_sigma):
    """The square of half the diagonal of box `k` in units of sigma; infinite if it overflows."""
    total = 0.0
    for c in range(boxes.low.shape[1]):
        # Each half by itself: the difference of the largest doubles would overflow.
        half = (boxes.high[k, c] / 2 - boxes.low[k, c] / 2) * inverse_sigma
        total += half * half
    return total
