"""Automatic choices for points: the number of clusters and the bandwidths."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from kdegraph.bandwidth import is_pixel_grid, pixel_sigma
from kdegraph.clustering.partition import vertices_in_clusters
from kdegraph.dispatch import spectrum
from kdegraph.eigengap import SEGMENT_EIGENVALUES, SuggestedNumber, suggest_n_clusters
from kdegraph.graph import similarity_graph
from kdegraph.runtime.progress import responsive
from kdegraph.validation import check_points, check_seed

__all__ = ["count_clusters"]

MAX_COUNTED = 20_000  # points whose clusters are counted; a random sample stands for more
MEAN_SIZE = 4  # points of a cluster, on average, at least: others are found among single points


@responsive
def count_clusters(
    X: ArrayLike,
    *,
    seed: int | None = None,
    progress: Callable[[str, float], object] | None = None,
) -> SuggestedNumber:
    """Count the clusters of points by the spectrum of a graph that is made for counting.

    This is what ``KDESpectralClustering(n_clusters="auto")`` does.

    Parameters
    ----------
    X : (n, d) array-like
        Points.
    seed : int, optional
        For the draws of the graph, and for the sample if there are more than 20,000 points.
    progress : callable, optional
        Called as ``progress(stage, fraction)``; raising `Cancelled` there stops the computation.

    Returns
    -------
    SuggestedNumber
        An int with the attribute `confidence`, see `suggest_n_clusters`. For the pixels of a
        picture (see `kdegraph.datasets.photo`) it is a number of segments, with a confidence of 0.

    Raises
    ------
    ValueError, TypeError
        For points or a seed that cannot be used.

    Notes
    -----
    The graph has local bandwidths of perplexity 30, with which gaps stand out more than with one
    that suits clustering, and `suggest_n_clusters` takes its 101 smallest eigenvalues and
    eigenvectors, but of few points at most one for every four of them. For a picture it takes the
    eigenvalues of the graph that `KDESpectralClustering` makes. Cost: that of a graph and its
    spectrum, for at most 20,000 points (all pixels of a picture).

    Examples
    --------
    >>> import kdegraph
    >>> from kdegraph.automatic import count_clusters
    >>> X = kdegraph.datasets.make("blobs", n=300, seed=0).X
    >>> count_clusters(X, seed=0)
    3
    """
    points, seed = check_points(X, keep_single=True), check_seed(seed)
    photograph = is_pixel_grid(points)
    if photograph:
        width, n_eigenvalues = {"sigma": pixel_sigma(points)}, SEGMENT_EIGENVALUES
    else:
        if len(points) > MAX_COUNTED:
            chosen = np.random.default_rng(seed).choice(len(points), MAX_COUNTED, replace=False)
            points = points[chosen]
        # A perplexity needs more than three times as many points.
        perplexity = 30.0 if len(points) > 90 else None
        width, n_eigenvalues = {"sigma": "local", "perplexity": perplexity}, 101
    graph = similarity_graph(points, **width, seed=seed, progress=progress)
    n_vertices = vertices_in_clusters(graph).size
    n_eigenvalues = min(n_eigenvalues, n_vertices - 1, max(3, n_vertices // MEAN_SIZE))
    if n_eigenvalues < (SEGMENT_EIGENVALUES if photograph else 3):
        return SuggestedNumber(1)  # too few vertices for more than one cluster
    found = spectrum(graph, n_eigenvalues, seed=seed, smallest_component="auto", progress=progress)
    vectors = None if photograph else found.eigenvectors
    return suggest_n_clusters(found.eigenvalues, eigenvectors=vectors, photograph=photograph)
