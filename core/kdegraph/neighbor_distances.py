"""The edges of graphs as rows of distances, the way scikit-learn's nearest neighbors take them."""

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors, sort_graph_by_row_values

from kdegraph.geometry.neighbors import unit_scale

# Coordinates: the differences of one block of pairs of points are held in memory, 8 bytes each.
BLOCK_COORDINATES = 2**18


def distance_rows(
    edges: scipy.sparse.csr_array,
    points: NDArray[np.float64],
    queries: NDArray[np.float64],
    vertices: NDArray[np.intp],
    n_neighbors: int | None = None,
) -> scipy.sparse.csr_matrix:
    """Distances along edges: what `sklearn.neighbors.KNeighborsTransformer` would return if the
    points that a query is joined to were its nearest ones.

    Parameters
    ----------
    edges : (m, n) csr_array
        What the queries are joined to.
    points : (n, d) float64 array
    queries : (m, d) float64 array
    vertices : (m,) int array
        Which of the points each query is; -1 if it is none of them.
    n_neighbors : int, optional
        From 1 to n - 1. Then all rows have ``n_neighbors + 1`` entries: the nearest points that the
        query is joined to, and where these are too few, also the nearest of the others.

    Returns
    -------
    (m, n) csr_matrix of float64
        Euclidean distances, ascending along each row. A query that is one of the points has itself
        as its first neighbor, at the distance zero, which is stored.
    """
    known = vertices >= 0
    columns = np.insert(edges.indices, edges.indptr[:-1][known], vertices[known])
    indptr = edges.indptr + np.append(0, np.cumsum(known))
    rows = _sorted_rows(columns, indptr, points, queries)
    if n_neighbors is None:
        return rows
    table = _nearest_joined(rows, n_neighbors + 1)
    short = np.flatnonzero(table[:, -1] < 0)
    if short.size:
        table[short] = _filled(table[short], points, queries[short])
    return _sorted_rows(table.ravel(), np.arange(len(table) + 1) * table.shape[1], points, queries)


def _sorted_rows(columns, indptr, points, queries):
    """The matrix of distances from each query to the points in its row, ascending; of points at the
    same distance the first one stays first.
    """
    pairs = np.repeat(np.arange(len(queries)), np.diff(indptr))
    distances = _pair_distances(queries, pairs, points, columns)
    # Without empty rows: scikit-learn may take a matrix that begins with one for sorted.
    filled, n = np.unique(indptr), len(points)
    rows = scipy.sparse.csr_matrix((distances, columns, filled), shape=(len(filled) - 1, n))
    rows = sort_graph_by_row_values(rows, warn_when_not_sorted=False)
    return scipy.sparse.csr_matrix((rows.data, rows.indices, indptr), shape=(len(queries), n))


def _nearest_joined(rows, length):
    """The first entries of all rows as a table, (m, length); -1 where a row has fewer."""
    counts = np.diff(rows.indptr)
    position = np.arange(rows.nnz) - np.repeat(rows.indptr[:-1], counts)
    table = np.full((len(counts), length), -1)
    table[np.arange(length) < counts[:, None]] = rows.indices[position < length]
    return table


def _filled(table, points, queries):
    """The table with the points nearest to each query, of those not yet in its row, for each -1."""
    near = _nearest(points, queries, table.shape[1])
    first = np.arange(len(table))[:, None] * len(points)  # numbers the pairs of a row and a point
    new = ~np.isin(first + near, (first + table)[table >= 0])
    missing = np.count_nonzero(table < 0, axis=1)
    table[table < 0] = near[new & (np.cumsum(new, axis=1) <= missing[:, None])]
    return table


def _nearest(points, queries, k):
    """The k nearest points to each query, (m, k), ascending."""
    exponent = _common_scale(points, queries)
    index = NearestNeighbors(n_neighbors=k).fit(np.ldexp(points, -exponent))
    return index.kneighbors(np.ldexp(queries, -exponent), return_distance=False)


def _pair_distances(queries, rows, points, columns):
    """Distances between ``queries[rows]`` and ``points[columns]``."""
    exponent = _common_scale(points, queries)
    distances = np.empty(len(rows))
    size = max(1, BLOCK_COORDINATES // points.shape[1])
    for start in range(0, len(rows), size):
        block = slice(start, start + size)
        ends = points[columns[block]], queries[rows[block]]
        here, there = (np.ldexp(end, -exponent) for end in ends)
        distances[block] = np.linalg.norm(here - there, axis=1)
    with np.errstate(over="ignore"):  # distances between coordinates near the largest double
        return np.minimum(np.ldexp(distances, exponent), np.finfo(float).max)


def _common_scale(points, queries):
    """The exponent that `unit_scale` finds for points and queries together."""
    return unit_scale(np.array([end for X in (points, queries) for end in (X.min(), X.max())]))
