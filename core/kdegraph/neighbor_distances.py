"""The edges of graphs as rows of distances, the way scikit-learn's nearest neighbors take them."""

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from kdegraph.geometry.neighbors import unit_scale

# Coordinates: the differences of one block of pairs of points are held in memory, 8 bytes each.
BLOCK_COORDINATES = 2**23
# Why a row has an entry: what comes first is kept first.
ITSELF, JOINED, NEAR = range(3)


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
    m, n = edges.shape
    known = np.flatnonzero(vertices >= 0)
    rows = np.concatenate([known, np.repeat(np.arange(m), np.diff(edges.indptr))])
    columns = np.concatenate([vertices[known], edges.indices])
    reasons = np.repeat([ITSELF, JOINED], [known.size, edges.nnz])
    if n_neighbors is not None:
        short = np.flatnonzero(np.bincount(rows, minlength=m) <= n_neighbors)
        if short.size:
            near = _nearest(points, queries[short], n_neighbors + 1)
            more, others = np.repeat(short, n_neighbors + 1), near.ravel()
            new = ~np.isin(more * n + others, rows * n + columns)
            rows, columns = np.append(rows, more[new]), np.append(columns, others[new])
            reasons = np.append(reasons, np.full(np.count_nonzero(new), NEAR))
    distances = _pair_distances(queries, rows, points, columns)
    order = np.lexsort([distances, reasons, rows])
    if n_neighbors is not None:
        starts = np.searchsorted(rows[order], np.arange(m))
        rank = np.arange(order.size) - starts[rows[order]]
        order = order[rank <= n_neighbors]
    order = order[np.lexsort([distances[order], reasons[order] != ITSELF, rows[order]])]
    indptr = np.searchsorted(rows[order], np.arange(m + 1))
    return scipy.sparse.csr_matrix((distances[order], columns[order], indptr), shape=(m, n))


def _nearest(points, queries, k):
    """The k nearest points to each query, (m, k)."""
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
