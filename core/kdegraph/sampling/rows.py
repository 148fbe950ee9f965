"""Exact samples from full rows of the kernel matrix: for few points, and for dimensions in which
trees do not help.
"""

from typing import NamedTuple

import numpy as np

from kdegraph.costs import ROW_COSTS
from kdegraph.geometry.kernels import EXPONENTIAL, LAPLACIAN, UNDERFLOW, exp_neg, exponents
from kdegraph.geometry.local_scale import LocalScale, factor_and_shift, rescale_row
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.random import stream, uniform
from kdegraph.sampling.inversion import minimum, n_blocks, running_sums, search

# Rows that are computed together, coordinate by coordinate and by matrix products.
ROWS_TOGETHER = 4
PRODUCT_ROWS_TOGETHER = 32
# Coordinates of sources that stay in the cache while these rows pass by. Matrix products so small
# are computed by one thread of BLAS.
CACHED_COORDINATES = 25600
CACHED_PRODUCT_COORDINATES = 8000
# Inner products are considered from this dimension on, where they are faster, and for points within
# so many sigma of the middle of their bounding box.
MIN_PRODUCT_DIMENSION = 8
MAX_PRODUCT_RADIUS = 100.0
UNIT_ROUNDOFF = 2.0**-53


class RowSources(NamedTuple):
    """The sources of all rows, in the tree's order.

    Attributes
    ----------
    local : LocalScale
        Their bandwidths.
    points, columns : (n, d) and (d, n) float64
    order : (n,) int64
        Original numbers, which choose the random streams.
    scaled, norms : (n, d) and (n,) float64
        Coordinates from the middle in units of sigma, and their squared norms; empty where
        distances do not come from inner products.
    """

    local: LocalScale
    points: np.ndarray
    columns: np.ndarray
    order: np.ndarray
    scaled: np.ndarray
    norms: np.ndarray


def estimate_cost(kernel, tree, n_rounds, eps):
    """Estimated cost of `draw_neighbors` in ns of one core."""
    n, d = tree.points.shape
    pair = ROW_COSTS.pair
    if uses_products(kernel, tree, eps):
        pair += ROW_COSTS.pair_per_dimension_by_products * d
        together = PRODUCT_ROWS_TOGETHER
    else:
        pair += ROW_COSTS.pair_per_dimension * d
        together = ROWS_TOGETHER
    if n * together > ROW_COSTS.cached_values:
        pair += ROW_COSTS.pair_beyond_caches
    return n * n * pair + ROW_COSTS.draw * n * n_rounds


def uses_products(kernel, tree, eps):
    """Whether the exponents are computed from inner products, which is twice as fast: where the
    error of kernel values is at most eps / 2.

    With all points within R of their middle, in units of sigma, and the unit roundoff u, the
    rounding of coordinates changes a squared distance by at most 16 u R^2, that of two squared
    norms and twice an inner product by 4 d u R^2, and that of their sum by 12 u R^2. The square
    root of the exponential kernel turns an error e for points that are near each other into
    sqrt(e). Where bandwidths differ, the error of an exponent grows by the product of two factors.
    """
    d, radius = tree.points.shape[1], tree.radii(kernel.inverse_sigma)[0]
    if d < MIN_PRODUCT_DIMENSION or kernel.code == LAPLACIAN or radius > MAX_PRODUCT_RADIUS:
        return False
    error = 4 * (d + 7) * UNIT_ROUNDOFF * radius**2
    error = np.sqrt(error) if kernel.code == EXPONENTIAL else error
    return bool(error * kernel.local.largest_factor**2 <= eps / 2)


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
    scaled, norms = np.empty((0, d)), np.empty(0)
    together, tile = ROWS_TOGETHER, CACHED_COORDINATES // d
    if uses_products(kernel, tree, eps):
        middle = tree.low[0] + (tree.high[0] - tree.low[0]) / 2
        scaled = (tree.points - middle) * kernel.inverse_sigma
        norms = (scaled**2).sum(axis=1)
        together, tile = PRODUCT_ROWS_TOGETHER, CACHED_PRODUCT_COORDINATES // d
    sources = RowSources(kernel.local, tree.points, tree.columns, tree.order, scaled, norms)
    # A chunk is a number of whole groups of rows, so that the matrix products are the same for any
    # number of threads.
    chunk = together * max(1, 500_000 // (n * together))
    parallel.run(
        _draw_range, n if stop is None else stop, kernel.code, kernel.inverse_sigma, sources,
        np.uint64(seed), together, max(16, tile), neighbors, degrees,
        chunk=chunk, progress=progress,
    )  # fmt: skip
    return neighbors, degrees


@jit
def _draw_range(
    begin, end, code, inverse_sigma, sources, seed, together, tile, neighbors, degrees
):  # fmt: skip
    """Draw for the targets begin ... end - 1, `together` rows at a time."""
    n = len(sources.points)
    values, sums = np.empty((together, n)), np.empty(n_blocks(n))
    for first in range(begin, end, together):
        last = min(first + together, end)
        _fill_exponents(code, inverse_sigma, sources, first, last, tile, values)
        for i in range(first, last):
            row = values[i - first]
            least = _least_exponent(code, inverse_sigma, sources, i, row)
            if least >= UNDERFLOW:
                continue
            # Relative to the largest value, so that a row of small values keeps its precision.
            _exponentiate(row, least)
            total = running_sums(row, sums)
            degrees[i] = total * exp_neg(least)
            for draw in range(neighbors.shape[1]):
                u = uniform(stream(seed, sources.order[i], draw), 0)
                neighbors[i, draw] = search(row, sums, u * total)


@jit
def _fill_exponents(code, inverse_sigma, sources, first, last, tile, values):
    """Write the exponents between the targets first ... last - 1 and all sources to `values`, for
    `tile` sources at a time.
    """
    n = len(sources.points)
    for start in range(0, n, tile):
        stop = min(start + tile, n)
        if sources.norms.size:
            _exponents_by_products(
                code, first, last, start, stop, sources.scaled, sources.norms, values
            )
            for i in range(first, last):
                _rescale(sources.local, i, start, values[i - first, start:stop])
            continue
        for i in range(first, last):
            _row_exponents(code, inverse_sigma, sources, i, start, stop, values[i - first])


@jit
def _row_exponents(code, inverse_sigma, sources, i, start, stop, row):
    """Write the exponents between the target i and the sources start ... stop - 1 to their place in
    `row`.
    """
    out = row[start:stop]
    exponents(code, inverse_sigma, sources.points[i], sources.columns, start, stop, out)
    _rescale(sources.local, i, start, out)


@jit
def _rescale(local, i, start, out):
    """Rescale the exponents between the target i and the sources from `start` on."""
    factor, shift = factor_and_shift(local, i)
    rescale_row(factor, shift, local, start, out)


@jit
def _least_exponent(code, inverse_sigma, sources, i, row):
    """The smallest exponent of the row of target i, whose own one becomes infinite."""
    row[i] = np.inf
    least = minimum(row)
    if least > UNDERFLOW - 1.0 and sources.norms.size:
        # At the edge of what counts as reachable all solvers have to agree: as they compute it.
        _row_exponents(code, inverse_sigma, sources, i, 0, row.size, row)
        row[i] = np.inf
        least = minimum(row)
    return least


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


@jit(distinct=True)
def _exponentiate(values, least):
    """Turn exponents into kernel values relative to the largest one, whose exponent is `least`."""
    for j in range(values.size):
        values[j] = exp_neg(values[j] - least) if values[j] < UNDERFLOW else 0.0
