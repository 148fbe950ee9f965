"""Distances, nearest neighbors and kernel values of sparse points, without making them dense.

A point is compared with all points of a *tile* at once, by products of its entries with the columns
of the tile: ``||x - y||^2 = ||x||^2 + ||y||^2 - 2 xy``. Where this sum has lost its digits, it is
computed anew from the differences. The tile stays in the caches, which makes the search for the
neighbors of 100,000 documents 2.5 times as fast as without tiles.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from kdegraph.geometry.kernel_functions import exp_neg, scaled_term, to_exponents
from kdegraph.geometry.local_scale import rescale
from kdegraph.geometry.tree_search import insert
from kdegraph.geometry.units import common_scale, rescaled
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.progress import partial_progress

TILE = 8192  # points
# A squared distance below this share of the squared norm of a point has fewer than ten digits.
LOST = 1e-6


class SparseRows(NamedTuple):
    """The arrays of a sparse matrix in CSR form, or of `SparsePoints`, for compiled code."""

    indptr: np.ndarray  # of points int64
    indices: np.ndarray  # of points int32, if that suffices, and ascending in each row
    values: np.ndarray  # of points float64


class Tile(NamedTuple):
    """Some points that follow each other, by columns."""

    first: int  # the number of the first one
    indptr: np.ndarray  # (d + 1,)
    indices: np.ndarray  # the points that have an entry in a column, counted from the first
    values: np.ndarray
    norms: np.ndarray  # squared norms of the points


def sparse_rows(points, values=None):
    """Return the `SparseRows` of `SparsePoints`, or with other values of their entries."""
    kind = np.int32 if points.shape[1] < 2**31 else np.int64
    # For the compiler, read-only arrays have another type.
    return SparseRows(
        np.require(points.indptr, np.int64, "W"),
        np.require(points.indices, kind, "W"),
        np.require(points.data if values is None else values, np.float64, "W"),
    )


def tiles_of(points, values):
    """Yield the points tile by tile, with these values of their entries."""
    for first in range(0, len(points), TILE):
        part = points[first : first + TILE]
        begin = points.indptr[first]
        part.data = values[begin : begin + part.nnz]
        columns = part.tocsc()
        row = np.repeat(np.arange(len(part)), np.diff(part.indptr))
        with np.errstate(over="ignore"):  # what overflows is out of reach
            norms = np.bincount(row, part.data * part.data, minlength=len(part))
        yield Tile(first, columns.indptr, columns.indices, columns.data, norms)


def nearest_rows(points, k, queries=None, *, numbers=None, progress=None):
    """Find the `k` nearest points to each of the queries, exactly. Return distances, ascending
    along each row, and indices, (m, k) float64 and int32.

    All are `SparsePoints`. The point whose number is that of a query, from `numbers`, is not among
    its neighbors; without queries, all points are queries. Time: for each entry of a query one
    addition for each point that has an entry in the same column.
    """
    if queries is None:
        queries, numbers = points, np.arange(len(points))
    m = len(queries)
    numbers = np.full(m, -1) if numbers is None else numbers
    exponent = common_scale(points, queries)
    asked, rows = (sparse_rows(X, np.ldexp(X.data, -exponent)) for X in (queries, points))
    # Descending lists, as `insert` has them: the last entry is lower than any other.
    squared, indices = np.full((m, k + 1), np.inf), np.zeros((m, k + 1), np.int32)
    squared[:, k] = -np.inf
    for tile in tiles_of(points, rows.values):
        done = tile.first / len(points), (tile.first + len(tile.norms)) / len(points)
        part = partial_progress(progress, *done)
        parallel.run(_search, m, asked, numbers, rows, tile, squared, indices, progress=part)
    distances = np.sqrt(np.ascontiguousarray(squared[:, -2::-1]))
    return rescaled(distances, np.ascontiguousarray(indices[:, -2::-1]), exponent)


@jit
def _search(begin, end, queries, numbers, points, tile, squared, indices):
    """Put those points of a tile into the lists of some queries that are near enough."""
    out = np.empty(tile.norms.size)
    for i in range(begin, end):
        _squares_to_tile(queries, i, points, tile, out)
        for j in range(out.size):
            if out[j] < squared[i, 0] and tile.first + j != numbers[i]:
                insert(out[j], tile.first + j, squared[i], indices[i])


@jit(borrow=True)
def _squares_to_tile(queries, i, points, tile, out):
    """Write the squared distances of a query to the points of a tile to `out`."""
    norm = 0.0
    for p in range(queries.indptr[i], queries.indptr[i + 1]):
        norm += queries.values[p] * queries.values[p]
    for j in range(out.size):
        out[j] = norm + tile.norms[j]
    for p in range(queries.indptr[i], queries.indptr[i + 1]):
        c, value = queries.indices[p], -2.0 * queries.values[p]
        for q in range(tile.indptr[c], tile.indptr[c + 1]):
            out[np.uint32(tile.indices[q])] += value * tile.values[q]
    for j in range(out.size):
        if not LOST * norm <= out[j] < np.inf:  # also where it is not a number
            out[j] = _squared_distance(queries, i, points, tile.first + j, 1.0)


@jit(borrow=True)
def _squared_distance(X, i, Y, j, scale):
    """Return the squared distance of X[i] and Y[j], whose differences are multiplied by `scale`."""
    p, p_end, q, q_end = X.indptr[i], X.indptr[i + 1], Y.indptr[j], Y.indptr[j + 1]
    total = 0.0
    while p < p_end or q < q_end:
        left = p < p_end and (q == q_end or X.indices[p] <= Y.indices[q])
        right = q < q_end and (p == p_end or Y.indices[q] <= X.indices[p])
        delta = (X.values[p] if left else 0.0) - (Y.values[q] if right else 0.0)
        total += (delta * scale) * (delta * scale)
        p, q = p + left, q + right
    return total


def pair_distances(queries, rows, points, columns):
    """Return the distances between ``queries[rows]`` and ``points[columns]``, `SparsePoints`."""
    exponent = common_scale(points, queries)
    ends = [sparse_rows(X, np.ldexp(X.data, -exponent)) for X in (queries, points)]
    squared = np.empty(len(rows))
    pairs = np.asarray(rows, np.intp), np.asarray(columns, np.intp)
    parallel.run(_pair_squares, len(rows), *ends, *pairs, squared)
    return rescaled(np.sqrt(squared), None, exponent)[0]


@jit
def _pair_squares(begin, end, X, Y, rows, columns, out):
    for e in range(begin, end):
        out[e] = _squared_distance(X, rows[e], Y, columns[e], 1.0)


class KernelRows:
    """Kernel values between any `SparsePoints` and given ones."""

    def __init__(self, kernel, points):
        """Prepare the rows of a kernel that has the bandwidths of the points."""
        self.kernel, self.rows = kernel, self._in_sigma(points, kernel)
        self._tiles = list(tiles_of(points, self.rows.values))

    @staticmethod
    def _in_sigma(points, kernel):
        with np.errstate(over="ignore"):  # what overflows is out of reach
            return sparse_rows(points, points.data * kernel.inverse_sigma)

    def fill(self, targets, local, values, progress=None):
        """Write the values of (m, n) pairs; `local` has the bandwidths of the targets."""
        kernel, asked = self.kernel, self._in_sigma(targets, self.kernel)
        for number, tile in enumerate(self._tiles):
            part = partial_progress(progress, *(np.array([number, number + 1]) / len(self._tiles)))
            args = kernel.code, asked, local, self.rows, tile, kernel.local, values
            parallel.run(_fill, len(targets), *args, progress=part)


@jit
def _fill(begin, end, code, targets, target_local, points, tile, local, values):
    """Write the kernel values between some targets and the points of a tile."""
    first, last = tile.first, tile.first + tile.norms.size
    for i in range(begin, end):
        row = values[i, first:last]
        _squares_to_tile(targets, i, points, tile, row)
        if local.factor.size:
            factor, shift = local.factor[first:last], local.shift[first:last]
            rescale(code, target_local.factor[i], target_local.shift[i], factor, shift, row)
        else:
            to_exponents(code, row)
        for j in range(row.size):
            row[j] = exp_neg(row[j])


def scaled_distance(code, inverse_sigma, points, i, j):
    """Return the scaled distance of two points, which are rows of an array or `SparseRows`, in
    double precision. Compiled code contains only what it needs of both.
    """
    kind = _of_sparse if isinstance(points, SparseRows) else _of_dense
    return kind(code, inverse_sigma, points, i, j)


@overload(scaled_distance, inline="always")
def _compiled(code, inverse_sigma, points, i, j):
    if isinstance(points, types.BaseTuple):
        return lambda code, inverse_sigma, points, i, j: _of_sparse(
            code, inverse_sigma, points, i, j
        )
    return lambda code, inverse_sigma, points, i, j: _of_dense(code, inverse_sigma, points, i, j)


@jit(borrow=True)
def _of_sparse(code, inverse_sigma, points, i, j):
    return _squared_distance(points, i, points, j, inverse_sigma)


@jit(reassociate=True, borrow=True)
def _of_dense(code, inverse_sigma, points, i, j):
    """By a vectorized loop."""
    x, y = points[i], points[j]
    total = 0.0
    for c in range(x.size):
        total += scaled_term(code, (np.float64(x[c]) - np.float64(y[c])) * inverse_sigma)
    return total
