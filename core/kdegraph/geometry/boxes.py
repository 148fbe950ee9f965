"""Distances between axis-aligned boxes, for the exponents of a kernel.

A collection of boxes is any NamedTuple with the fields `low` and `high`, (n_boxes, d) float64
arrays of the smallest and the largest coordinates: a `Tree`, whose nodes are boxes, is one.
"""

from kdegraph.geometry.kernel_functions import exponent_of, scaled_term
from kdegraph.runtime.jit import jit


@jit(inline=True, borrow=True)
def box_distances(code, inverse_sigma, boxes, a, others, b):
    """Return the smallest and the largest scaled distance between the points of two boxes."""
    smallest, largest = 0.0, 0.0
    for c in range(boxes.low.shape[1]):
        gap, span = interval_distances(
            boxes.low[a, c], boxes.high[a, c], others.low[b, c], others.high[b, c]
        )
        smallest += scaled_term(code, gap * inverse_sigma)
        largest += scaled_term(code, span * inverse_sigma)
    return smallest, largest


@jit(inline=True, borrow=True)
def box_exponents(code, inverse_sigma, boxes, a, others, b):
    """Return the smallest and the largest exponent between two boxes, see `box_distances`.

    The kernel values between the boxes lie between ``exp(-largest)`` and ``exp(-smallest)``.
    """
    smallest, largest = box_distances(code, inverse_sigma, boxes, a, others, b)
    return exponent_of(code, smallest), exponent_of(code, largest)


@jit
def leaf_exponents(code, inverse_sigma, tree, node, least, most):
    """Write the smallest and the largest exponents between a node and each leaf of a tree."""
    first = tree.start.size - least.size
    for k in range(least.size):
        least[k], most[k] = box_exponents(code, inverse_sigma, tree, node, tree, first + k)


@jit(inline=True, borrow=True)
def interval_distances(low, high, other_low, other_high):
    """Return the smallest and the largest distance between the numbers of two intervals."""
    gap = max(max(low - other_high, other_low - high), 0.0)
    span = max(high - other_low, other_high - low)
    return gap, span
