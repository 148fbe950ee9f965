"""Distances along the edges of a graph, as rows of a matrix of nearest neighbors."""

import numpy as np
import scipy.sparse
from sklearn.neighbors import NearestNeighbors, sort_graph_by_row_values

from kdegraph.geometry.sparse_points import nearest_rows, pair_distances
from kdegraph.geometry.units import common_scale
from kdegraph.validation import SparsePoints


def distance_rows(edges, points, queries, vertices, n_neighbors=None):
    """Return distances along `edges`, (m, n) CSR, to the points that the queries are joined to, as
    `sklearn.neighbors.KNeighborsTransformer` returns those to the nearest points: Euclidean,
    ascending along each row. `vertices` has the number of the point that each query is, or -1. A
    query that is one of the points has itself as its first neighbor, at the distance zero, which is
    stored.

    With an `n_neighbors` from 1 to n - 1, all rows have ``n_neighbors + 1`` entries: the nearest
    points that the query is joined to, and where these are too few, also the nearest of the others.
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
    """Return the matrix of distances from each query to the points in its row, ascending. Of points
    at the same distance the first one stays first.
    """
    pairs = np.repeat(np.arange(len(queries)), np.diff(indptr))
    distances = _pair_distances(queries, pairs, points, columns)
    # Without empty rows: scikit-learn may take a matrix that begins with one for sorted.
    filled, n = np.unique(indptr), len(points)
    rows = scipy.sparse.csr_matrix((distances, columns, filled), shape=(len(filled) - 1, n))
    rows = sort_graph_by_row_values(rows, warn_when_not_sorted=False)
    return scipy.sparse.csr_matrix((rows.data, rows.indices, indptr), shape=(len(queries), n))


def _nearest_joined(rows, length):
    """Return the first entries of all rows as a table, (m, length); -1 where a row has fewer."""
    counts = np.diff(rows.indptr)
    position = np.arange(rows.nnz) - np.repeat(rows.indptr[:-1], counts)
    table = np.full((len(counts), length), -1)
    table[np.arange(length) < counts[:, None]] = rows.indices[position < length]
    return table


def _filled(table, points, queries):
    """Return the table with each -1 replaced by the nearest point that is not yet in the row."""
    near = _nearest(points, queries, table.shape[1])
    first = np.arange(len(table))[:, None] * len(points)  # numbers the pairs of a row and a point
    new = ~np.isin(first + near, (first + table)[table >= 0])
    missing = np.count_nonzero(table < 0, axis=1)
    table[table < 0] = near[new & (np.cumsum(new, axis=1) <= missing[:, None])]
    return table


def _nearest(points, queries, k):
    """Return the k nearest points to each query, (m, k), ascending."""
    if isinstance(points, SparsePoints):
        return nearest_rows(points, k, queries)[1]
    exponent = common_scale(points, queries)
    index = NearestNeighbors(n_neighbors=k).fit(np.ldexp(points, -exponent))
    return index.kneighbors(np.ldexp(queries, -exponent), return_distance=False)


def _pair_distances(queries, rows, points, columns):
    """Return the distances between ``queries[rows]`` and ``points[columns]``."""
    if isinstance(points, SparsePoints):
        return pair_distances(queries, rows, points, columns)
    exponent = common_scale(points, queries)
    distances = np.empty(len(rows))
    # The differences of one block of pairs of points take 2 MiB.
    size = max(1, 2**18 // points.shape[1])
    for start in range(0, len(rows), size):
        block = slice(start, start + size)
        ends = points[columns[block]], queries[rows[block]]
        here, there = (np.ldexp(end, -exponent) for end in ends)
        distances[block] = np.linalg.norm(here - there, axis=1)
    with np.errstate(over="ignore"):  # distances between coordinates near the largest double
        return np.minimum(np.ldexp(distances, exponent), np.finfo(float).max)
