"""Find the clusters of points at a range of scales, and how stable each of them is."""

from collections.abc import Callable
from math import ceil, isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kdegraph.automatic import number_from, spectrum_to_count
from kdegraph.bandwidth import estimate_sigma
from kdegraph.dispatch import spectral_clustering
from kdegraph.eigengap import Bounds
from kdegraph.geometry.neighbor_forest import keeping_lists
from kdegraph.geometry.neighbors import groups_of_identical
from kdegraph.geometry.units import unit_scale
from kdegraph.graph import similarity_graph
from kdegraph.metrics import points_of
from kdegraph.ribbon import AtScale, ClusterScales, followed
from kdegraph.runtime.progress import held_progress, responsive, stage_progress
from kdegraph.stability import random_part
from kdegraph.validation import SparsePoints, as_array, check_count, check_positive, check_seed
from kdegraph.votes import jaccard, together

__all__ = ["cluster_scales"]

# Neighbors drawn per point. More would be drawn at large scales by default, where it makes no
# difference to the clusters and takes most of the time.
N_ROUNDS = 20
# Points that are used, and their pairs times coordinates, all of which some samplers go through in
# more than three dimensions.
MAX_POINTS, MAX_WORK = 10_000, 3e8
MAX_ROWS = 2_000  # of the eigenvectors that decide on the number of clusters


@responsive
def cluster_scales(
    X: ArrayLike,
    scales: ArrayLike | None = None,
    *,
    max_clusters: int = 16,
    max_points: int | None = None,
    metric: str = "euclidean",
    seed: int | None = None,
    progress: Callable[[str, float], object] | None = None,
) -> ClusterScales:
    """Find which clusters points have at which scale, and how stable they are.

    Clusters that are found in a wide range of scales and in each replicate are structure; those
    that change are luck.

    Parameters
    ----------
    X : (n, d) array-like
        Points.
    scales : array-like, optional
        The bandwidths sigma of the scales; by default 16, from a third of `estimate_sigma` to the
        distance within which 95 % of the pairs of points are.
    max_clusters : int, default=16
        Largest number of clusters at a scale.
    max_points : int, optional
        Largest number of points that are used; a random part stands for more. By default 10,000 in
        up to three dimensions, 3,900 in 20, and 620 in 784.
    metric : {"euclidean", "cosine", "haversine"}
        The distance, see `similarity_graph`.
    seed : int, optional
        For the draws of the graphs, and for the part of the points.
    progress : callable, optional
        Called as ``progress(stage, fraction)``; raising `Cancelled` there stops the computation.

    Returns
    -------
    ClusterScales
        The clusters at each scale, with the methods `to_arrow` and `plot`.

    Raises
    ------
    ValueError, TypeError
        For points, scales, numbers or a seed that cannot be used.

    See Also
    --------
    KDESpectralClustering : The clusters at one scale, of all points.

    Notes
    -----
    At each scale the spectrum of a sampled graph, with 20 neighbors drawn per point, gives the
    number of clusters, see `suggest_n_clusters`, and the clusters. If there are more than one,
    three replicates, each the graph of a random 80 % of the points, are divided into as many. One
    cluster of all points is always stable.

    ``KDESpectralClustering(found.n_clusters[i], sigma=found.sigma[i])`` finds the clusters of all
    points at one of the scales.

    Cost: that of at most 64 graphs of 10,000 points and of their spectra; two to seven seconds for
    points in the plane on two cores.

    References
    ----------
    C. Hennig, "Cluster-wise assessment of cluster stability", Computational Statistics & Data
    Analysis 52 (2007), 258-271.

    Examples
    --------
    >>> import kdegraph
    >>> X = kdegraph.datasets.make("blobs", n=300, seed=0).X
    >>> found = kdegraph.cluster_scales(X, seed=0)
    >>> int(found.n_clusters[-1]), 3 in found.n_clusters
    (1, True)
    """
    points, seed = points_of(X, metric, keep_single=True), check_seed(seed)
    bounds = Bounds.checked(1, max_clusters)
    if max_points is None:
        max_points = min(MAX_POINTS, isqrt(int(MAX_WORK * len(points) / max(1, points.size))))
    points, rows = random_part(points, check_count(max_points, "max_points"), seed)
    sigmas = automatic_scales(points, seed) if scales is None else _check_scales(scales)
    # Three further graphs, each of this share of the points.
    parts = [random_part(points, ceil(0.8 * len(points)), seed + i) for i in (1, 2, 3)]
    found = []
    with keeping_lists(points, *(part for part, _ in parts)):
        for i, sigma in enumerate(sigmas):
            report = held_progress(stage_progress(progress, "scales"), i / len(sigmas))
            found.append(_clusters_at(points, parts, sigma, bounds, seed, report))
    numbers = np.array([int(one.labels.max()) + 1 for one in found])
    return followed(found, sigma=sigmas, n_clusters=numbers, rows=rows)


def _clusters_at(points, parts, sigma, bounds, seed, progress):
    """Return the clusters at one scale; the `parts` are some of the points, and their numbers."""
    options = {"seed": seed, "progress": progress}
    graph = similarity_graph(points, sigma=sigma, n_rounds=N_ROUNDS, **options)
    found = spectrum_to_count(graph, bounds.most + 1, tol=1e-3, approximate=True, **options)
    if found is None:
        return AtScale(np.zeros(len(points), np.int32), np.ones(1), 0.0, np.nan)
    number = number_from([found], bounds, MAX_ROWS)
    k = min(int(number), found.n_components - 1)
    gap = float(found.eigenvalues[k] - found.eigenvalues[k - 1])
    labels = spectral_clustering(graph, k, spectrum=found, **options).labels
    labels = together(labels, groups_of_identical(points))
    k = int(labels.max()) + 1
    stability = np.ones(1)
    if k > 1:
        stability = np.zeros(k)
        for part, rows in parts:
            again = np.zeros(len(part), np.int32)
            graph = similarity_graph(part, sigma=sigma, n_rounds=N_ROUNDS, **options)
            if np.count_nonzero(np.diff(graph.adjacency.indptr)) >= k:  # vertices with an edge
                again = spectral_clustering(graph, k, **options).labels
            stability += jaccard(labels[rows], again, k).max(axis=1) / len(parts)
    return AtScale(labels, stability, number.confidence, gap)


def automatic_scales(points, seed) -> NDArray[np.float64]:
    """Return 16 scales, from a third of `estimate_sigma` to the distance within which 95 % of the
    pairs of points are, where two clusters of equal size are one; one if all points are equal.
    """
    others = np.random.default_rng(seed).permutation(len(points))
    exponent = unit_scale(points)
    scaled = points * 2.0**-exponent
    offsets = scaled - scaled[others]
    if isinstance(points, SparsePoints):
        squares = offsets.power(2).sum(axis=1)
    else:
        squares = np.sum(np.square(offsets, dtype=np.float64), axis=1)
    smallest = estimate_sigma(points, seed=0)
    extent = np.sqrt(np.quantile(squares, 0.95)) * 2.0**exponent
    if extent == 0:
        return np.array([smallest])
    return np.geomspace(1 / 3 * smallest, max(extent, smallest), 16)


def _check_scales(scales):
    """Return the scales of a caller, ascending and without repetitions."""
    values = np.atleast_1d(as_array(scales, "scales"))
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"scales must be a list of at least one sigma, got shape {values.shape}")
    return np.unique([check_positive(value, "each of the scales") for value in values.tolist()])
