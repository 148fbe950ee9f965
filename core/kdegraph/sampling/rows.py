"""Exact samples from full rows of the kernel matrix: for few points, and for dimensions in which no
tree helps.
"""

import numpy as np

from kdegraph.geometry.kernels import EXPONENTIAL, LAPLACIAN, UNDERFLOW, exp_neg, exponents
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.random import stream, uniform

BLOCK = 64  # sources whose sum is kept, so that a draw searches among sums first
TOGETHER = 4, 32  # rows that are computed at a time: coordinate by coordinate, by matrix products
TILE = (
    25600,
    8000,
    # Coordinates that stay in the cache for these rows (products so small are computed by one thread).
)
PRODUCTS = (
    8  # from this dimension on distances come from inner products, where these are precise enough,
)
WIDEST = 100.0  # for points within so many sigma of their middle
UNIT_ROUNDOFF = 2.0**-53

# Costs in nanoseconds of one core: a pair, what a dimension adds, a draw; what a pair costs more
# where the rows that are computed together have so many entries that they leave the caches.
PAIR, PAIR_DIM, PRODUCT_DIM, DRAW = 1.5, 0.16, 0.08, 35.0
FAR, CACHED = 2.0, 2_000_000


def estimate_cost(kernel, tree, n_rounds, eps):
    """Estimated cost of `draw_neighbors` in ns of one core."""
    n, d = tree.points.shape
    products = _by_products(kernel, tree, eps)
    pair = (
        PAIR
        + d * (PRODUCT_DIM if products else PAIR_DIM)
        + (FAR if n * TOGETHER[products] > CACHED else 0.0)
    )
    return n * n * pair + DRAW * n * n_rounds


def _by_products(kernel, tree, eps):
    """Whether the exponents are computed from inner products: twice as fast, and the error of
    kernel values is at most eps / 2.

    With all points within R of their middle, in units of sigma, and the unit roundoff u, the
    coordinates change a squared distance by at most 16 u R^2, two norms and twice an inner product
    by 4 d u R^2, and adding these up by 12 u R^2. The square root of the exponential kernel turns
    an error e of points that are near each other into sqrt(e).
    """
    d, radius = tree.points.shape[1], tree.radii(kernel.inverse_sigma)[0]
    if d < PRODUCTS or kernel.code == LAPLACIAN or radius > WIDEST:
        return False
    error = 4 * (d + 7) * UNIT_ROUNDOFF * radius**2
    return bool((np.sqrt(error) if kernel.code == EXPONENTIAL else error) <= eps / 2)


def draw_neighbors(kernel, tree, n_rounds, seed, eps, *, stop=None, progress=None):
    """Draw `n_rounds` neighbors of every vertex in O(n^2 d) time and O(n) memory.

    Parameters
    ----------
    kernel : Kernel
    tree : Tree
    n_rounds : int
    seed : int
    eps : float
        Relative error of degrees and probabilities, in (0, 1).
    stop : int, optional
        Draw for the first `stop` vertices only, in the tree's order.

    Returns
    -------
    neighbors : (n, n_rounds) int32
        Positions in the tree's order; -1 for isolated vertices.
    degrees : (n,) float64
        ``sum_{j != i} k(x_i, x_j)``.
    """
    n, d = tree.points.shape
    neighbors, degrees = np.full((n, n_rounds), -1, np.int32), np.zeros(n)
    products = _by_products(kernel, tree, eps)
    scaled, norms = np.empty((0, d)), np.empty(0)
    if products:
        middle = tree.low[0] + (tree.high[0] - tree.low[0]) / 2
        scaled = (tree.points - middle) * kernel.inverse_sigma
        norms = (scaled**2).sum(axis=1)
    # Whole groups of rows, so that their products are the same however many threads there are.
    together = TOGETHER[products]
    chunk = together * max(1, 500_000 // (n * together))
    parallel.run(
        _draw_range, n if stop is None else stop, kernel.code, kernel.inverse_sigma, tree.points, tree.columns, scaled, norms, tree.order,
        np.uint64(seed), neighbors, degrees, together, max(16, TILE[products] // d), chunk=chunk, progress=progress,
    )  # fmt: skip
    return neighbors, degrees


@jit
def _draw_range(
    begin,
    end,
    code,
    scale,
    points,
    columns,
    scaled,
    norms,
    order,
    seed,
    neighbors,
    degrees,
    together,
    tile,
):
    n = len(points)
    values, sums = np.empty((together, n)), np.empty(-(-n // BLOCK))
    for first in range(begin, end, together):
        last = min(first + together, end)
        for start in range(0, n, tile):
            stop = min(start + tile, n)
            if norms.size:
                _exponents_by_products(code, first, last, start, stop, scaled, norms, values)
                continue
            for i in range(first, last):
                exponents(
                    code, scale, points[i], columns, start, stop, values[i - first, start:stop]
                )
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
                neighbors[i, draw] = _search(
                    row, sums, uniform(stream(seed, order[i], draw), 0) * total
                )


@jit(reassociate=True)
def _exponents_by_products(code, first, last, start, stop, scaled, norms, out):
    """Exponents between the points first..last-1 and start..stop-1 from their inner products, into
    ``out[:, start:stop]``.
    """
    products = np.dot(scaled[first:last], scaled[start:stop].T)
    others = norms[start:stop]
    for i in range(first, last):
        row, own = out[i - first, start:stop], products[i - first]
        for j in range(stop - start):
            row[j] = max(others[j] + norms[i] - 2 * own[j], 0.0)
        if code == EXPONENTIAL:
            for j in range(stop - start):
                row[j] = np.sqrt(row[j])


@jit
def _least(values):
    """The smallest value; four running minima, so that none waits for the one before."""
    a = b = c = e = np.inf
    n = values.size - values.size % 4
    for j in range(0, n, 4):
        a, b, c, e = (
            min(a, values[j]),
            min(b, values[j + 1]),
            min(c, values[j + 2]),
            min(e, values[j + 3]),
        )
    for j in range(n, values.size):
        a = min(a, values[j])
    return min(min(a, b), min(c, e))


@jit(reassociate=True)
def _running_sums(values, least, sums):
    """Turn exponents into kernel values relative to the largest one, write their sums up to the end
    of each block, return the total.
    """
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
    """The first position at which the running sum of `values` exceeds `u` (the last positive one
    before where rounding leaves none).
    """
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
