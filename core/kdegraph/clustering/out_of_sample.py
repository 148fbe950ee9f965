"""Clusters for new points, and for vertices outside any cluster, from the points near them."""

import numpy as np
from scipy.sparse import csr_array

from kdegraph.geometry.kernel_functions import KERNELS
from kdegraph.geometry.neighbors import query_tree
from kdegraph.geometry.sparse_points import nearest_rows
from kdegraph.kde.api import kernel_sum
from kdegraph.scaled_kernel import kernel_blocks
from kdegraph.validation import SparsePoints


def memberships(graph, points, labels, queries, bandwidths):
    """Return the kernel sums of queries over the members of each cluster, as shares of their total.

    The share of cluster C is ``sum_{j in C} k(y, x_j) / sum_j k(y, x_j)``. It is the Nystroem
    extension of the cluster's indicator, which the leading eigenvectors of the graph span: the
    probability that a step of the random walk from the query leads into the cluster.

    Parameters
    ----------
    graph : SimilarityGraph
    points : (n, d) float64 array
    labels : (n,) int array
        Each of 0, 1, ..., k - 1 at least once.
    queries : (m, d) float64 array
    bandwidths : float or (m,) float64 array
        Of the queries.

    Returns
    -------
    (m, k) float64 array
        Of a query out of reach of all points, 1 for the cluster of the nearest, and 0 otherwise.
    """
    if isinstance(points, SparsePoints):
        sums = _sums_of_sparse_points(graph, points, labels, queries, bandwidths)
    else:
        sums = _sums(graph, points, labels, queries, bandwidths)
    far = np.flatnonzero(sums.max(axis=1) == 0)
    if far.size:
        nearest = nearest_points(points, queries[far], graph.kernel)[1]
        sums[far, labels[nearest]] = 1.0
    sums /= sums.sum(axis=1, keepdims=True)
    return sums


def _sums(graph, points, labels, queries, bandwidths):
    """Return the kernel sums of queries over the members of each cluster, (m, k)."""
    local = isinstance(graph.sigma, np.ndarray)
    densities = None if graph.densities is None else np.asarray(graph.densities)
    sums = np.empty((len(queries), labels.max() + 1))
    for label in range(sums.shape[1]):
        members = labels == label
        sums[:, label] = kernel_sum(
            points[members],
            queries,
            kernel=graph.kernel,
            sigma=graph.sigma[members] if local else graph.sigma,
            target_sigma=bandwidths if local else None,
            # The density of the query is the same for all clusters.
            weights=None if densities is None else densities[members] ** -graph.alpha,
        )
    return sums


def _sums_of_sparse_points(graph, points, labels, queries, bandwidths):
    """`_sums` of `SparsePoints`."""
    n = len(labels)
    members = csr_array((np.ones(n), labels, np.arange(n + 1)))
    blocks = kernel_blocks(graph.kernel, graph.sigma, points, queries, bandwidths)
    return np.concatenate([values @ members for values in blocks])


def join_outliers(graph, points, kernel, labels):
    """Give labels to vertices that have none, -1, in place.

    A component without labels gets, as a whole, the label of its nearest point that has one, or
    without points that of the largest cluster. Then isolated vertices get the labels of the nearest
    points that have one; without points they keep -1.
    """
    isolated = graph.sizes[graph.component] == 1
    main, rest = np.flatnonzero(labels >= 0), np.flatnonzero((labels < 0) & ~isolated)
    if len(rest) and points is None:
        labels[rest] = np.argmax(np.bincount(labels[main]))
    elif len(rest):
        group = np.unique(graph.component[rest], return_inverse=True)[1]
        distance, nearest = nearest_points(points[main], points[rest], kernel)
        by_distance = np.lexsort((distance, group))
        first = by_distance[np.unique(group[by_distance], return_index=True)[1]]
        labels[rest] = labels[main[nearest[first]]][group]
    if points is not None and isolated.any():
        linked = np.flatnonzero(labels >= 0)
        nearest = nearest_points(points[linked], points[isolated], kernel)[1]
        labels[isolated] = labels[linked[nearest]]


def nearest_points(points, queries, kernel_name=None):
    """Return the distance from each query to its nearest point in the metric of the kernel, and the
    number of that point.
    """
    if isinstance(points, SparsePoints):
        distances, indices = nearest_rows(points, 1, queries)
        return distances[:, 0], indices[:, 0]
    from scipy.spatial import cKDTree

    tree, p = cKDTree(points, balanced_tree=False), KERNELS[kernel_name or "gaussian"].norm
    distances, indices = query_tree(tree, queries, 1, p=p)
    return distances[:, 0], indices[:, 0]
