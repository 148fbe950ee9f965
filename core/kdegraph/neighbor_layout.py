"""Layouts of points by their near neighbors, which show clusters in many dimensions.

A sampled graph lacks many of the nearest neighbors of each point, about half of the first fifteen
at the perplexity 5. Its cuts are right on average, but a layout is made of single edges.
"""

import numpy as np
import scipy.sparse

from kdegraph.clustering.rounding import Rounding
from kdegraph.geometry.neighbors import groups_of_identical
from kdegraph.layout import CLUSTER_DIMENSIONS, place_clusters, start
from kdegraph.local_bandwidth import (
    bandwidths_of_distances,
    neighbors_needed,
    neighbors_of_law,
)
from kdegraph.runtime.progress import stage_progress

# With fewer points, as in small tables, the nearest neighbors do not outline clusters: such layouts
# lowered the adjusted Rand index of 300 points of PenDigits by 0.04 and that of eight tables of 60
# to 350 rows by 0.02; they raised that of 1,000 sentences by 0.03 and of 1,797 digits by 0.05.
MIN_POINTS = 1_000
# Of more points these layouts would take longer than all other votes: 150,000 points in eight
# dimensions took over 150 s in place of 93 s.
MAX_POINTS = 50_000


class NeighborLayouts:
    """Cluster layouts of the same points again and again, with different seeds. k-means has
    `n_init` starts, and the points may have a `weight` each.
    """

    def __init__(self, points, weight=None, n_init=3):
        vertex = groups_of_identical(points)
        if vertex is None:
            self._places, self._vertex = points, slice(None)
        else:
            self._places = points[np.unique(vertex, return_index=True)[1]]
            self._vertex = vertex
        self._weight, self._n_init, self._starts = weight, n_init, {}

    def labels(self, perplexity, n_clusters, seed, progress=None):
        """Return the clusters that k-means finds in a layout of `neighbor_graph`, (n,) int32.

        Identical points have the same place. The graph and the start of its layouts are computed
        once for each perplexity.
        """
        if perplexity not in self._starts:
            report = stage_progress(progress, "nearest neighbors")
            graph = neighbor_graph(self._places, perplexity, report)
            self._starts[perplexity] = start(graph, CLUSTER_DIMENSIONS, 0, progress)
        graph, eigenvectors = self._starts[perplexity]
        report = stage_progress(progress, "layout")
        places = place_clusters(graph, eigenvectors, seed, report)
        rounding = Rounding("layout", "kmeans", self._n_init, seed)
        return rounding.labels(places[self._vertex], n_clusters, self._weight)


def neighbor_graph_bytes(n, perplexities):
    """Return the memory for making `neighbor_graph` of n points, at the largest of perplexities.

    Its sparse matrices took 77 to 85 bytes for each neighbor of a point.
    """
    n_neighbors = (neighbors_needed(n, "moderate", perplexity) for perplexity in perplexities)
    return 85 * n * max(n_neighbors, default=0)


def neighbor_graph(X, perplexity=None, progress=None):
    """Return the graph of near neighbors of different points, an (n, n) csr_array.

    The weight of a neighbor j of i is its probability in the law of `local_bandwidths`, divided by
    that of the nearest neighbor: ``exp(-(r_ij^2 - r_i^2) / sigma_i^2)``, where r_i is the distance
    to the nearest. Two weights a and b of one pair become ``a + b - a b``, as in UMAP. In many
    dimensions the nearest distances are nearly as large as others, and the differences of their
    squares are what distinguishes neighbors.
    """
    if (n := len(X)) == 1:
        return scipy.sparse.csr_array((1, 1))
    distances, neighbors = neighbors_of_law(X, perplexity, progress)
    sigmas = bandwidths_of_distances(distances, n - 1, perplexity)[:, None]
    nearest, k = distances[:, :1], distances.shape[1]
    with np.errstate(over="ignore"):
        gaps = (distances - nearest) / sigmas * ((distances + nearest) / sigmas)
    weights = np.exp(-np.maximum(gaps, 0.0)).ravel()  # near distances ascend to rounding only
    first = np.arange(0, n * k + 1, k)
    one_way = scipy.sparse.csr_array((weights, neighbors.ravel(), first), shape=(n, n))
    graph = one_way + one_way.T - one_way * one_way.T
    graph.eliminate_zeros()
    return graph
