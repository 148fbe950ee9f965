"""Clusters for new points, and for vertices outside any cluster, from the points near them."""

import numpy as np

from kdegraph.geometry.kernel_functions import KERNELS
from kdegraph.geometry.neighbors import query_tree
from kdegraph.kde.api import kernel_sum


def assign(graph, points, labels, queries, bandwidths):
    """Assign to each query the cluster C with the largest kernel sum, ``sum_{j in C} k(y, x_j)``.

    These sums, divided by their total, are the Nystroem extension of the clusters' indicators,
    which the leading eigenvectors of the graph span: the probabilities that a step of the random
    walk from the query leads into each cluster.

    Parameters
    ----------
    graph : SimilarityGraph
    points : (n, d) float64 array
    labels : (n,) int array, >= 0
    queries : (m, d) float64 array
    bandwidths : float or (m,) float64 array
        Of the queries.

    Returns
    -------
    (m,) array like `labels`
        A query out of reach of all points gets the label of the nearest.
    """
    local = isinstance(graph.sigma, np.ndarray)
    densities = None if graph.densities is None else np.asarray(graph.densities)
    best, largest = np.empty(len(queries), labels.dtype), np.zeros(len(queries))
    for label in np.unique(labels):
        members = labels == label
        sums = kernel_sum(
            points[members],
            queries,
            kernel=graph.kernel,
            sigma=graph.sigma[members] if local else graph.sigma,
            target_sigma=bandwidths if local else None,
            # The density of the query is the same for all clusters.
            weights=None if densities is None else densities[members] ** -graph.alpha,
        )
        better = sums > largest
        best[better], largest[better] = label, sums[better]
    far = largest == 0
    if far.any():
        best[far] = labels[nearest_points(points, queries[far], graph.kernel)[1]]
    return best


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
    from scipy.spatial import cKDTree

    tree, p = cKDTree(points, balanced_tree=False), KERNELS[kernel_name or "gaussian"].norm
    distances, indices = query_tree(tree, queries, 1, p=p)
    return distances[:, 0], indices[:, 0]
