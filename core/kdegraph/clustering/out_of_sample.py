"""Clusters of points that were not there when the graph was made."""

import numpy as np

from kdegraph.geometry.closest_pair import closest_pair
from kdegraph.geometry.kernels import GAUSSIAN, LAPLACIAN
from kdegraph.geometry.neighbors import query_tree
from kdegraph.geometry.tree import build_tree
from kdegraph.kde.api import kernel_sum

# Queries: those of a group of at most as many are looked up one by one, and a larger group gets a
# tree of its own.
SMALL_GROUP = 64


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
    return _query(_tree_of(points), queries, kernel_name)


def nearest_to_groups(points, queries, group, kernel_name=None):
    """The number of the point that is nearest to any query of a group, for each group.

    Parameters
    ----------
    points : (n, d) float64 array
    queries : (m, d) float64 array
    group : (m,) int array
        From 0 to one less than the number of groups, each of which occurs.
    kernel_name : str, optional
        Of the kernel in whose metric distances are measured.

    Returns
    -------
    (number of groups,) int array
    """
    sizes = np.bincount(group)
    nearest = np.empty(len(sizes), np.intp)
    small = np.flatnonzero(sizes[group] <= SMALL_GROUP)
    if len(small):
        distance, found = _query(_tree_of(points), queries[small], kernel_name)
        by_distance = np.lexsort((distance, group[small]))
        groups, first = np.unique(group[small[by_distance]], return_index=True)
        nearest[groups] = found[by_distance[first]]
    large = np.flatnonzero(sizes > SMALL_GROUP)
    if len(large):
        code = LAPLACIAN if kernel_name == "laplacian" else GAUSSIAN
        tree, order, last = build_tree(points), np.argsort(group, kind="stable"), np.cumsum(sizes)
        for i in large:
            members = order[last[i] - sizes[i] : last[i]]
            nearest[i], _ = closest_pair(code, tree, build_tree(queries[members]))
    return nearest


def _tree_of(points):
    from scipy.spatial import cKDTree

    return cKDTree(points, balanced_tree=False)


def _query(tree, queries, kernel_name):
    p = 1 if kernel_name == "laplacian" else 2
    distances, indices = query_tree(tree, queries, 1, p=p)
    return distances[:, 0], indices[:, 0]
