"""Automatic choices for clustering points: the number of clusters, and the perplexities to try."""

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
from kdegraph.spectral.spectrum import compute_spectrum
from kdegraph.validation import check_points, check_seed

# Perplexity of the graph for counting: gaps stand out more than with one that suits clustering. It
# needs more than three times as many points.
COUNTING_PERPLEXITY = 30.0
MAX_POINTS = 20_000  # a random sample of this size stands for more points


@responsive
def count_clusters(
    X: ArrayLike,
    *,
    seed: int | None = None,
    progress: Callable[[str, float], object] | None = None,
) -> NumberOfClusters:
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
    NumberOfClusters
        The number, and the confidence in it. For the pixels of a picture (see
        `kdegraph.datasets.photo`) it is a number of segments, with a confidence of 0.

    Raises
    ------
    ValueError, TypeError
        For points or a seed that cannot be used.

    Notes
    -----
    The graph has local bandwidths of perplexity 30, with which gaps stand out more than with one
    that suits clustering, and `estimate_n_clusters` takes its 101 smallest eigenvalues and
    eigenvectors. For a picture, `suggest_n_segments` takes the eigenvalues of the graph that
    `KDESpectralClustering` makes. Cost: that of a graph and its spectrum, for at most 20,000 points
    (all pixels of a picture).

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
    perplexity = COUNTING_PERPLEXITY if len(points) > 3 * COUNTING_PERPLEXITY else None
    graph = similarity_graph(
        points, sigma="local", perplexity=perplexity, seed=seed, progress=progress
    )
    found = _spectrum(graph, 101, seed, progress)  # for at most 100 clusters
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
    """Return the spectrum without outliers, or None if there are too few vertices for more than one
    cluster.
    """
    most = vertices_in_clusters(graph).size - 1
    if most < 3:
        return None
    return compute_spectrum(
        graph,
        min(n_eigenvalues, most),
        seed=seed,
        smallest_component="auto",
        progress=progress,
    )


def perplexities(n, perplexity):
    """Return the perplexities to try, in this order, for n points, given that of the user or None.

    There are at least 30 points for each unit of a perplexity, so that densities can be estimated,
    except for the first one, None, which adapts to a small number of points (`local_bandwidths`).
    """
    if perplexity is not None:
        return [perplexity]
    return [None, *(p for p in (10.0, 20.0, 40.0) if n >= 30 * p)]


def is_degenerate(labels, n_clusters):
    """Return whether a few of the clusters hold nearly all points: their effective number, by the
    entropy of their sizes, is less than 0.6 of their number. On the standard sets nothing changes
    from 0.3 to 0.6.
    """
    labels = np.asarray(labels)
    shares = np.bincount(labels[labels >= 0]) / max(np.sum(labels >= 0), 1)
    shares = shares[shares > 0]
    return bool(np.exp(-np.sum(shares * np.log(shares))) < 0.6 * n_clusters)
