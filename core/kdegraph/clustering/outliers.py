"""Vertices that are no clusters: isolated ones, and those of components that are too small."""

import numpy as np

from kdegraph.clustering.out_of_sample import nearest_points, nearest_to_groups


def least_component(smallest_component, graph, n_clusters):
    """The least size of components that count, at least 2."""
    least = max(2, graph.smallest_component(smallest_component))
    if smallest_component == "auto" and graph.n_in_components(least) < n_clusters:
        least = 2
    if (most := graph.n_in_components(least)) < n_clusters:
        which = (
            "that have an edge" if least == 2 else f"in connected components of at least {least}"
        )
        raise ValueError(
            f"n_clusters must be at most the number of vertices {which}, {most} of {graph.n}, got "
            f"{n_clusters}; use a larger sigma or fewer clusters"
        )
    return least


def largest_components(graph, n_clusters):
    """Labels for the vertices of the largest components, one cluster each; -1 for all others."""
    cluster = np.full(len(graph.sizes), -1, np.int32)
    cluster[np.argsort(-graph.sizes, kind="stable")[:n_clusters]] = np.arange(n_clusters)
    return cluster[graph.component]


def join_small_components(graph, points, kernel, labels):
    """Give every component without labels, as a whole, the label of its nearest point that has one
    (without points that of the largest cluster); isolated vertices are left as they are.
    """
    rest = np.flatnonzero((labels < 0) & (graph.sizes[graph.component] > 1))
    if len(rest) == 0:
        return
    main = np.flatnonzero(labels >= 0)
    if points is None:
        labels[rest] = np.argmax(np.bincount(labels[main]))
        return
    group = np.unique(graph.component[rest], return_inverse=True)[1]
    nearest = nearest_to_groups(points[main], points[rest], group, kernel)
    labels[rest] = labels[main[nearest]][group]


def join_isolated(graph, points, kernel, labels):
    """Give isolated vertices the labels of the nearest points that have one, if there are any."""
    isolated = graph.isolated
    if points is not None and len(isolated):
        linked = np.flatnonzero(labels >= 0)
        nearest = nearest_points(points[linked], points[isolated], kernel)[1]
        labels[isolated] = labels[linked[nearest]]


def numbered_by_first_member(labels):
    """Number the clusters in the order of their first members; -1 stays what it is."""
    n = len(labels)
    first = np.full(labels.max() + 2, n)  # the last place is that of -1
    first[labels[::-1]] = np.arange(n)[::-1]  # what is written last stays
    clusters = np.flatnonzero(first[:-1] < n)
    number = np.full(len(first), -1, np.int32)
    number[clusters[np.argsort(first[clusters])]] = np.arange(len(clusters))
    return number[labels]
