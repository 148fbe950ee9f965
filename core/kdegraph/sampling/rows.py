"""Exact samples from full rows of the kernel matrix: for few points, and for dimensions in which no tree helps."""

import numpy as np

from .. import parallel
from .._jit import jit
from ..kernels import UNDERFLOW, exp_neg, exponents
from .streams import stream, uniform

BLOCK = 256  # sources whose sum is kept, so that a draw walks over sums first


def draw_neighbors(kernel, tree, n_rounds, seed, *, progress=None):
    """Draw `n_rounds` neighbours of every vertex in O(n^2 d) time and O(n) memory.

    Parameters
    ----------
    kernel : Kernel
    tree : Tree
    n_rounds : int
    seed : int

    Returns
    -------
    neighbors : (n, n_rounds) int32
        Positions in the tree's order; -1 for isolated vertices.
    degrees : (n,) float64
        ``sum_{j != i} k(x_i, x_j)``, exact.
    """
    n = tree.order.size
    neighbors, degrees = np.full((n, n_rounds), -1, np.int32), np.zeros(n)
    parallel.run(
        _draw_range, n, kernel.code, kernel.inverse_sigma, tree.points, tree.columns, tree.order, np.uint64(seed), neighbors, degrees,
        chunk=max(1, 500_000 // n), progress=progress,
    )  # fmt: skip
    return neighbors, degrees


@jit(reassociate=True)
def _draw_range(begin, end, code, scale, points, columns, order, seed, neighbors, degrees):
    n = order.size
    values, sums = np.empty(n), np.empty(-(-n // BLOCK))
    for i in range(begin, end):
        exponents(code, scale, points[i], columns, 0, n, values)
        values[i] = np.inf
        least = np.inf
        for j in range(n):
            least = min(least, values[j])
        if least >= UNDERFLOW:
            continue
        # Relative to the largest value, so that a row of small values keeps its precision.
        total = 0.0
        for block in range(sums.size):
            part = values[block * BLOCK : min((block + 1) * BLOCK, n)]
            subtotal = 0.0
            for j in range(part.size):
                part[j] = exp_neg(part[j] - least) if part[j] < UNDERFLOW else 0.0
                subtotal += part[j]
            sums[block] = subtotal
            total += subtotal
        degrees[i] = total * exp_neg(least)
        for draw in range(neighbors.shape[1]):
            neighbors[i, draw] = _walk(values, sums, uniform(stream(seed, order[i], draw), 0) * total)


@jit
def _walk(values, sums, u):
    """The first position at which the running sum of `values` exceeds `u` (the last positive one where rounding leaves none)."""
    block, found = 0, -1
    while block < sums.size:
        if u < sums[block] or block == sums.size - 1:
            for j in range(block * BLOCK, min((block + 1) * BLOCK, values.size)):
                if values[j] > 0.0:
                    found = j
                    if u < values[j]:
                        return j
                u -= values[j]
            # Rounding: the block's running sum fell short of its sum.
            if found >= block * BLOCK:
                return found
            u = 0.0
        else:
            u -= sums[block]
        block += 1
    for j in range(values.size - 1, -1, -1):
        if values[j] > 0.0:
            return j
    return -1
