"""How many clusters points have, where users do not say: by the spectrum of a graph of its own."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from kdegraph.clustering.partition import vertices_in_clusters
from kdegraph.eigengap import (
    SEGMENT_EIGENVALUES,
    NumberOfClusters,
    estimate_n_clusters,
    suggest_n_segments,
)
from kdegraph.graph import similarity_graph
from kdegraph.pixels import is_pixel_grid, pixel_sigma
from kdegraph.runtime.progress import responsive
from kdegraph.spectral.spectrum import spectrum
from kdegraph.validation import check_points, check_seed

# Effective number of neighbors: the gap stands out more than with the few that suit clustering.
PERPLEXITY = 30.0
# Of so many neighbors of a point at least this number are beyond the perplexity.
POINTS_PER_PERPLEXITY = 3
# Eigenvalues: up to one less clusters are found.
N_EIGENVALUES = 101
# Points: a random sample of so many stands for more.
MAX_POINTS = 20_000


@responsive
def count_clusters(
    X: ArrayLike,
    *,
    seed: int | None = None,
    progress: Callable[[str, float], object] | None = None,
) -> NumberOfClusters:
    """Count the clusters of points with a graph that is made for counting.

    This is what ``KDESpectralClustering(n_clusters="auto")`` does.

    Parameters
    ----------
    X : (n, d) array-like
        Points.
    seed : int, optional
        For the draws of the graph, and of the points where there are more than 20,000.
    progress : callable, optional
        Called as ``progress(stage, fraction)``; raising `Cancelled` there stops the computation.

    Returns
    -------
    NumberOfClusters
        The number, and the confidence in it; of the pixels of a picture (see
        `kdegraph.datasets.photo`) a number of segments, with a confidence of 0.

    Raises
    ------
    ValueError, TypeError
        For points or a seed that cannot be used.

    Notes
    -----
    The graph has locally scaled bandwidths of perplexity 30, with which gaps stand out more than
    with the few neighbors that suit clustering, and `estimate_n_clusters` takes its 101 smallest
    eigenvalues and eigenvectors. Of a picture, `suggest_n_segments` takes the eigenvalues of the
    graph that `KDESpectralClustering` makes of it. Cost: that of a graph and its spectrum, for at
    most 20,000 points (all pixels of a picture).

    Examples
    --------
    >>> import kdegraph
    >>> X = kdegraph.datasets.make("blobs", n=300, seed=0).X
    >>> kdegraph.count_clusters(X, seed=0).n_clusters
    3
    """
    points, seed = check_points(X, keep_single=True), check_seed(seed)
    if is_pixel_grid(points):
        return _count_segments(points, seed, progress)
    if len(points) > MAX_POINTS:
        points = points[np.random.default_rng(seed).choice(len(points), MAX_POINTS, replace=False)]
    perplexity = PERPLEXITY if len(points) > POINTS_PER_PERPLEXITY * PERPLEXITY else None
    graph = similarity_graph(
        points, sigma="local", perplexity=perplexity, seed=seed, progress=progress
    )
    found = _spectrum(graph, N_EIGENVALUES, seed, progress)
    if found is None:
        return NumberOfClusters(1, 0.0)
    return estimate_n_clusters(found.eigenvalues, found.eigenvectors)


def _count_segments(points, seed, progress):
    graph = similarity_graph(points, sigma=pixel_sigma(points), seed=seed, progress=progress)
    found = _spectrum(graph, SEGMENT_EIGENVALUES, seed, progress)
    if found is None or found.n_components < SEGMENT_EIGENVALUES:
        return NumberOfClusters(1, 0.0)
    return NumberOfClusters(suggest_n_segments(found.eigenvalues), 0.0)


def _spectrum(graph, n_eigenvalues, seed, progress):
    """The spectrum without outliers; None if there are too few vertices for any number of clusters
    but 1.
    """
    most = vertices_in_clusters(graph).size - 1
    if most < 3:
        return None
    return spectrum(
        graph,
        min(n_eigenvalues, most),
        seed=seed,
        smallest_component="auto",
        progress=progress,
    )
