"""How many clusters points have, where users do not say: by the spectrum of a graph of its own."""

import numpy as np

from kdegraph.clustering.bandwidth_choice import is_pixel_grid
from kdegraph.clustering.partition import vertices_in_clusters
from kdegraph.eigengap import (
    SEGMENT_EIGENVALUES,
    NumberOfClusters,
    estimate_n_clusters,
    suggest_n_segments,
)
from kdegraph.graph import similarity_graph
from kdegraph.spectral.spectrum import spectrum

# Effective number of neighbors: the gap stands out more than with the few that suit clustering.
PERPLEXITY = 30.0
# Of so many neighbors of a point at least this number are beyond the perplexity.
POINTS_PER_PERPLEXITY = 3
# Eigenvalues: up to one less clusters are found.
N_EIGENVALUES = 101
# Points: a random sample of so many stands for more.
MAX_POINTS = 20_000


def count_clusters(points, seed):
    """The number of clusters of points, and the confidence in it; of the pixels of a picture a
    number of segments, with a confidence of 0.
    """
    if is_pixel_grid(points):
        return _count_segments(points, seed)
    if len(points) > MAX_POINTS:
        points = points[np.random.default_rng(seed).choice(len(points), MAX_POINTS, replace=False)]
    perplexity = PERPLEXITY if len(points) > POINTS_PER_PERPLEXITY * PERPLEXITY else None
    graph = similarity_graph(points, sigma="local", perplexity=perplexity, seed=seed)
    found = _spectrum(graph, N_EIGENVALUES, seed)
    if found is None:
        return NumberOfClusters(1, 0.0)
    return estimate_n_clusters(found.eigenvalues, found.eigenvectors)


def _count_segments(points, seed):
    graph = similarity_graph(points, sigma="auto", seed=seed)
    found = _spectrum(graph, SEGMENT_EIGENVALUES, seed)
    if found is None or found.n_components < SEGMENT_EIGENVALUES:
        return NumberOfClusters(1, 0.0)
    return NumberOfClusters(suggest_n_segments(found.eigenvalues), 0.0)


def _spectrum(graph, n_eigenvalues, seed):
    """The spectrum without outliers; None if there are too few vertices for any number of clusters
    but 1.
    """
    most = vertices_in_clusters(graph).size - 1
    if most < 3:
        return None
    return spectrum(graph, min(n_eigenvalues, most), seed=seed, smallest_component="auto")
