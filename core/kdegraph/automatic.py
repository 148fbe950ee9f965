"""Count the clusters of points, where their number is not given."""

import itertools
from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from kdegraph.bandwidth import is_pixel_grid, pixel_sigma
from kdegraph.clustering.partition import vertices_in_clusters
from kdegraph.dispatch import spectrum
from kdegraph.eigengap import (
    SEGMENT_EIGENVALUES,
    Bounds,
    SuggestedNumber,
    suggest_n_clusters,
    weigh,
)
from kdegraph.geometry.neighbor_forest import keeping_lists
from kdegraph.geometry.neighbors import duplicate_groups
from kdegraph.graph import similarity_graph
from kdegraph.graph_parameters import Scale
from kdegraph.layout import graph_layout
from kdegraph.metrics import points_of
from kdegraph.principal import reduced
from kdegraph.runtime.progress import responsive
from kdegraph.stability import MAX_PLAIN_DIMENSIONS
from kdegraph.validation import check_sample_weight, check_seed

__all__ = ["count_clusters"]

# Scales at which clusters are counted: of different kinds, so that a gap which only one of them
# shows does not decide.
SCALES = (Scale("auto"), Scale("moderate", 20.0), Scale("moderate", 40.0), Scale("local", 30.0))
# Points in more than `MAX_PLAIN_DIMENSIONS` are also counted in layouts of graphs at these scales.
LAYOUTS = (Scale("moderate", 20.0), Scale("moderate", 40.0))
MAX_COUNTED = 3_000  # points whose clusters are counted; a random sample stands for more
N_EIGENVALUES = 101
MAX_ROWS = 1_000  # of the eigenvectors that decide
MEAN_SIZE = 4  # points of a cluster, on average, at least: others are found among single points


@responsive
def count_clusters(
    X: ArrayLike,
    *,
    min_clusters: int = 1,
    max_clusters: int | None = None,
    metric: str = "euclidean",
    sample_weight: ArrayLike | None = None,
    seed: int | None = None,
    progress: Callable[[str, float], object] | None = None,
) -> SuggestedNumber:
    """Count the clusters of points by the spectra of graphs of several scales.

    This is what ``KDESpectralClustering(n_clusters="auto")`` does.

    Parameters
    ----------
    X : (n, d) array-like
        Points.
    min_clusters : int, default=1
        Smallest number to find.
    max_clusters : int, optional
        Largest number to find.
    metric : {"euclidean", "cosine", "haversine"}
        The distance, see `similarity_graph`.
    sample_weight : (n,) array_like, optional
        Weights of the points, see `similarity_graph`.
    seed : int, optional
        For the draws of the graphs, and for the sample if there are more than 3,000 points.
    progress : callable, optional
        Called as ``progress(stage, fraction)``; raising `Cancelled` there stops the computation.

    Returns
    -------
    SuggestedNumber
        An int with the attributes `confidence` and `candidates`. For the pixels of a picture (see
        `kdegraph.datasets.photo`) it is a number of segments, with a confidence of 0.

    Raises
    ------
    ValueError, TypeError
        For points, bounds or a seed that cannot be used.

    Notes
    -----
    There are four graphs: one bandwidth for all points ("auto"), moderate ones of perplexity 20 and
    40, and local ones of perplexity 30; of few points those whose perplexity is less than a third
    of their number. `suggest_n_clusters` weighs numbers of clusters by the 101 smallest eigenvalues
    and the eigenvectors of each, but of few points at most one for every four of them. The squares
    of these weights, as shares of their sum, are added up over the graphs, and the number with the
    largest sum is the answer. The confidence is what the second largest one lacks to it, as a
    share. Points at one to five places, at least four at each on average, are as many clusters. For
    a picture it takes the eigenvalues of the graph that `KDESpectralClustering` makes.

    In more than three dimensions two layouts of the points, those of the moderate graphs, are
    treated in the same way, and all three have the same weight: see `graph_layout`, which makes
    gaps wider. In fewer dimensions layouts tear some single clusters apart. Of more than 50
    dimensions the first 50 principal components are taken.

    *Measured*: on 38 standard sets in two and three dimensions 26 of the answers are right. In more
    than three dimensions 28 of 28 are for single clusters and 20 of 31 for sets with classes;
    without layouts it is 24 and 14 (the experiment `counting`). Where the answer is 1 and wrong,
    the confidence is at most 0.55. With thousands of points
    and few clusters it may be 0: the last of the 101 eigenvalues is small then, and there may be
    more clusters.

    Cost: that of the graphs and their spectra, for at most 3,000 points (all pixels of a picture).

    Examples
    --------
    >>> import kdegraph
    >>> from kdegraph.automatic import count_clusters
    >>> X = kdegraph.datasets.make("blobs", n=300, seed=0).X
    >>> count_clusters(X, seed=0)
    3
    """
    points, seed = points_of(X, metric, keep_single=True), check_seed(seed)
    bounds = Bounds.checked(min_clusters, max_clusters)
    weight = check_sample_weight(sample_weight, len(points))
    options = {"seed": seed, "progress": progress}
    if is_pixel_grid(points):
        n, scale = SEGMENT_EIGENVALUES, Scale(pixel_sigma(points))
        found = _spectrum(points, weight, scale, n, n, options)
        n_segments = 1 if found is None else suggest_n_clusters(found.eigenvalues, photograph=True)
        return SuggestedNumber(bounds.nearest(n_segments))
    n_piles = len(duplicate_groups(points)[1])  # different places: a few are a cluster each
    if n_piles <= 5 and MEAN_SIZE * n_piles <= len(points):
        return SuggestedNumber.by_weight({bounds.nearest(n_piles): 1.0})
    if len(points) > MAX_COUNTED:
        chosen = np.random.default_rng(seed).choice(len(points), MAX_COUNTED, replace=False)
        points, weight = points[chosen], None if weight is None else weight[chosen]
    points = reduced(points)
    with keeping_lists(points):
        return number_from(_spectra(points, weight, options), bounds, MAX_ROWS)


def _spectra(points, weight, options):
    """Yield the spectra of graphs at each scale: those of the points and, if these are in many
    dimensions, of their layouts.
    """
    layouts = (
        graph_layout(_graph(points, weight, scale, options), **options)
        for scale in LAYOUTS
        if points.shape[1] > MAX_PLAIN_DIMENSIONS and scale.suits(len(points))
    )
    for cloud in itertools.chain([points], layouts):
        with keeping_lists(cloud):
            for scale in SCALES:
                if scale.suits(len(cloud)):
                    yield _spectrum(cloud, weight, scale, N_EIGENVALUES, 3, options)


def number_from(spectra, bounds, max_rows) -> SuggestedNumber:
    """Return the number of clusters that several spectra show together.

    None stands for the spectrum of a graph with too few vertices. The eigenvectors are read at
    about `max_rows` vertices.
    """
    total: Counter = Counter()
    for found in spectra:
        squares = {bounds.nearest(1): 1.0, None: 1.0}
        if found is not None:
            step = max(1, len(found.eigenvectors) // max_rows)
            weights = weigh(found.eigenvalues, found.eigenvectors[::step], bounds)
            squares = {k: weight**2 for k, weight in weights.items()}
        total.update({k: square / sum(squares.values()) for k, square in squares.items()})
    return SuggestedNumber.by_weight(total)


def _spectrum(points, weight, scale, n_eigenvalues, least, options):
    """Return the spectrum of the graph at a scale, or None; see `spectrum_to_count`."""
    graph = _graph(points, weight, scale, options)
    return spectrum_to_count(graph, n_eigenvalues, least, **options)


def _graph(points, weight, scale, options):
    return similarity_graph(points, **scale._asdict(), sample_weight=weight, **options)


def spectrum_to_count(graph, n_eigenvalues, least=3, **options):
    """Return the spectrum of a graph, or None if it has too few vertices for `least` values."""
    n_vertices = vertices_in_clusters(graph).size
    n_eigenvalues = min(n_eigenvalues, n_vertices - 1, max(3, n_vertices // MEAN_SIZE))
    if n_eigenvalues < least:
        return None
    return spectrum(graph, n_eigenvalues, smallest_component="auto", **options)
