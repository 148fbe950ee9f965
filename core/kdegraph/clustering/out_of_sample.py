"""Clusters of points that were not there when the graph was made."""

import numpy as np

from kdegraph.geometry.neighbors import query_tree
from kdegraph.kde.api import kernel_sum


def assign(graph, points, labels, queries, bandwidths):
    """The cluster of each query: the one with the largest kernel sum, ``sum_{j in C} k(y, x_j)``.

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


def nearest_points(points, queries, kernel_name=None):
    """Distance from each query to its nearest point in the metric of the kernel, and the number of
    that point.
    """
    from scipy.spatial import cKDTree

    p = 1 if kernel_name == "laplacian" else 2
    distances, indices = query_tree(cKDTree(points, balanced_tree=False), queries, 1, p=p)
    return distances[:, 0], indices[:, 0]
