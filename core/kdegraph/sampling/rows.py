"""Exact samples from full rows of the kernel matrix: for few points, and for dimensions in which no tree helps."""

import numpy as np

from .. import parallel
from .._jit import jit
from ..kernels import EXPONENTIAL, LAPLACIAN, UNDERFLOW, exp_neg, exponents
from .streams import stream, uniform

BLOCK = 64  # sources whose sum is kept, so that a draw searches among sums first
TOGETHER = 4  # rows that are computed at a time
TILE = 25600  # coordinates that stay in the cache for these rows
PRODUCTS = 8  # from this dimension on distances come from inner products,
WIDEST = 1e4  # for points within so many sigma^2 of their middle: the exponents are then right to about 1e-11


# Costs in nanoseconds of one core: a pair, what a dimension adds, a draw.
PAIR, PAIR_DIM, PRODUCT_DIM, DRAW = 1.4, 0.2, 0.09, 35.0


def estimate_cost(kernel, tree, n_rounds):
    """Estimated cost of `draw_neighbors` in ns of one core."""
    n, d = tree.points.shape
    pair = PAIR + d * (PRODUCT_DIM if _by_products(kernel, tree) else PAIR_DIM)
    return n * n * pair + DRAW * n * n_rounds


def _by_products(kernel, tree):
    return tree.points.shape[1] >= PRODUCTS and kernel.code != LAPLACIAN and tree.radii(kernel.inverse_sigma)[0] ** 2 <= WIDEST


def draw_neighbors(kernel, tree, n_rounds, seed, *, stop=None, progress=None):
    """Draw `n_rounds` neighbours of every vertex in O(n^2 d) time and O(n) memory.

    Parameters
    ----------
    kernel : Kernel
    tree : Tree
    n_rounds : int
    seed : int
    stop : int, optional
        Draw for the first `stop` vertices only, in the tree's order.

    Returns
    -------
    neighbors : (n, n_rounds) int32
        Positions in the tree's order; -1 for isolated vertices.
    degrees : (n,) float64
        ``sum_{j != i} k(x_i, x_j)``, exact but for rounding (relative error 1e-10).
    """
    n, d = tree.points.shape
    neighbors, degrees = np.full((n, n_rounds), -1, np.int32), np.zeros(n)
    scaled, norms = np.empty((d, 0)), np.empty(0)
    if _by_products(kernel, tree):
        middle = tree.low[0] + (tree.high[0] - tree.low[0]) / 2
        scaled = (tree.columns - middle[:, None]) * kernel.inverse_sigma
        norms = (scaled**2).sum(axis=0)
    parallel.run(
        _draw_range, n if stop is None else stop, kernel.code, kernel.inverse_sigma, tree.points, tree.columns, scaled, norms, tree.order,
        np.uint64(seed), neighbors, degrees, chunk=max(TOGETHER, 500_000 // n), progress=progress,
    )  # fmt: skip
    return neighbors, degrees


@jit
def _draw_range(begin, end, code, scale, points, columns, scaled, norms, order, seed, neighbors, degrees):
    n, d = points.shape
    values, sums = np.empty((TOGETHER, n)), np.empty(-(-n // BLOCK))
    tile = max(64, TILE // d)
    for first in range(begin, end, TOGETHER):
        last = min(first + TOGETHER, end)
        for start in range(0, n, tile):
            stop = min(start + tile, n)
            for i in range(first, last):
                if norms.size:
                    _exponents_by_products(code, i, scaled, norms, start, stop, values[i - first, start:stop])
                else:
                    exponents(code, scale, points[i], columns, start, stop, values[i - first, start:stop])
        for i in range(first, last):
            row = values[i - first]
            row[i] = np.inf
            least = _least(row)
            if least > UNDERFLOW - 1.0 and norms.size:
                # At the edge of what counts as reachable all solvers have to agree.
                exponents(code, scale, points[i], columns, 0, n, row)
                row[i] = np.inf
                least = _least(row)
            if least >= UNDERFLOW:
                continue
            # Relative to the largest value, so that a row of small values keeps its precision.
            total = _running_sums(row, least, sums)
            degrees[i] = total * exp_neg(least)
            for draw in range(neighbors.shape[1]):
                neighbors[i, draw] = _search(row, sums, uniform(stream(seed, order[i], draw), 0) * total)


@jit(reassociate=True)
def _exponents_by_products(code, i, scaled, norms, start, stop, out):
    """Exponents between the point i and the points start..stop-1 from their inner products."""
    n, d = stop - start, scaled.shape[0]
    others = norms[start:stop]
    for j in range(n):
        out[j] = others[j] + norms[i]
    # Four dimensions at a time: the sums would else go to memory and back for each.
    for c in range(0, d - d % 4, 4):
        a, b, e, f = 2 * scaled[c, i], 2 * scaled[c + 1, i], 2 * scaled[c + 2, i], 2 * scaled[c + 3, i]
        x0, x1, x2, x3 = scaled[c, start:stop], scaled[c + 1, start:stop], scaled[c + 2, start:stop], scaled[c + 3, start:stop]
        for j in range(n):
            out[j] -= (a * x0[j] + b * x1[j]) + (e * x2[j] + f * x3[j])
    for c in range(d - d % 4, d):
        a, x = 2 * scaled[c, i], scaled[c, start:stop]
        for j in range(n):
            out[j] -= a * x[j]
    for j in range(n):
        out[j] = max(out[j], 0.0)
    if code == EXPONENTIAL:
        for j in range(n):
            out[j] = np.sqrt(out[j])


@jit
def _least(values):
    """The smallest value; four running minima, so that none waits for the one before."""
    a = b = c = e = np.inf
    n = values.size - values.size % 4
    for j in range(0, n, 4):
        a, b, c, e = min(a, values[j]), min(b, values[j + 1]), min(c, values[j + 2]), min(e, values[j + 3])
    for j in range(n, values.size):
        a = min(a, values[j])
    return min(min(a, b), min(c, e))


@jit(reassociate=True)
def _running_sums(values, least, sums):
    """Turn exponents into kernel values relative to the largest one, write their sums up to the end of each block, return the total."""
    total = 0.0
    for block in range(sums.size):
        part = values[block * BLOCK : min((block + 1) * BLOCK, values.size)]
        subtotal = 0.0
        for j in range(part.size):
            part[j] = exp_neg(part[j] - least) if part[j] < UNDERFLOW else 0.0
            subtotal += part[j]
        total += subtotal
        sums[block] = total
    return total


@jit
def _search(values, sums, u):
    """The first position at which the running sum of `values` exceeds `u` (the last positive one before where rounding leaves none)."""
    low, high = 0, sums.size - 1
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > u:
            high = middle
        else:
            low = middle + 1
    u -= sums[low - 1] if low else 0.0
    for j in range(low * BLOCK, min((low + 1) * BLOCK, values.size)):
        if u < values[j]:
            return j
        u -= values[j]
    for j in range(min((low + 1) * BLOCK, values.size) - 1, -1, -1):
        if values[j] > 0.0:
            return j
    return -1
