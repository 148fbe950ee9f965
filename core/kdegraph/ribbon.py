"""Find clusters at a range of scales, or numbers, and how stable each of them is."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from math import ceil, isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kdegraph.automatic import number_from, spectrum_to_count
from kdegraph.bands import Outline, follow, outlines, parents
from kdegraph.bandwidth import estimate_sigma
from kdegraph.clustering.partition import vertices_in_clusters
from kdegraph.dispatch import spectral_clustering
from kdegraph.dispatch import spectrum as find_spectrum
from kdegraph.eigengap import Bounds
from kdegraph.geometry.neighbor_forest import keeping_lists
from kdegraph.geometry.neighbors import groups_of_identical
from kdegraph.geometry.units import unit_scale
from kdegraph.graph import similarity_graph
from kdegraph.metrics import points_of
from kdegraph.runtime.progress import (
    held_progress,
    partial_progress,
    responsive,
    stage_progress,
)
from kdegraph.sampled_graph.result import SimilarityGraph
from kdegraph.spectral.spectrum import Spectrum
from kdegraph.stability import jaccard, vote
from kdegraph.validation import SparsePoints, as_array, check_count, check_positive, check_seed

__all__ = ["ClusterScales", "cluster_numbers", "cluster_scales"]

# Neighbors drawn per point. More would be drawn at large scales by default, where it makes no
# difference to the clusters and takes most of the time.
N_ROUNDS = 20
# Points that are used, and their pairs times coordinates, all of which some samplers go through in
# more than three dimensions.
MAX_POINTS, MAX_WORK = 10_000, 3e8
MAX_ROWS = 2_000  # of the eigenvectors that decide on the number of clusters
MOST_NUMBERS = 50  # largest number of clusters into which a graph is divided by default
# Parameters of a graph with which its replicates are drawn.
REDRAWN = ("sigma", "kernel", "n_rounds", "alpha", "weighting", "sample_weight")
TICKS = ("1", "2", "3", "5", "7")  # the first digits of numbers of clusters below a plot
AXES = {"sigma": "bandwidth sigma", "n_clusters": "number of clusters"}


@dataclass(frozen=True, eq=False, repr=False)
class ClusterScales:
    """Hold the clusters of points at several scales, as `cluster_scales` returns them.

    In the result of `cluster_numbers` the scales are numbers of clusters.

    Clusters have numbers from 0, and keep them from scale to scale as long as more than half of
    the points in either of two are in both.

    Attributes
    ----------
    sigma : (s,) float64 array
        The scales, ascending: one bandwidth for all points. The same for all numbers; NaN where
        each point has its own.
    n_clusters : (s,) int array
        The number of clusters at each scale, descending if the scales are numbers.
    confidence : (s,) float64 array
        How clear this number is, from 0 to 1, see `suggest_n_clusters`; NaN if it was given.
    eigengap : (s,) float64 array
        How much larger the eigenvalue after those of the clusters is than the last of these; NaN
        where the graph has too few vertices.
    rows : (m,) int array
        The points that were used, ascending: all of them, or a random part.
    labels : (s, m) int32 array
        The number of the cluster of each of these points at each scale.
    stability : (s, c) float64 array
        For each scale and each number of a cluster the mean over the replicates of its Jaccard
        index with the closest cluster there: the points in both, as a share of the points in
        either. NaN where there is no such cluster.
    along : {"sigma", "n_clusters"}
        The attribute in which the scales differ.

    Examples
    --------
    >>> import kdegraph
    >>> X = kdegraph.datasets.make("blobs", n=300, seed=0).X
    >>> kdegraph.cluster_scales(X, [0.5, 1.0], seed=0)
    <ClusterScales with 300 points, sigma 0.5 to 1, 3 to 3 clusters>
    """

    sigma: NDArray[np.float64]
    n_clusters: NDArray[np.int64]
    confidence: NDArray[np.float64]
    eigengap: NDArray[np.float64]
    rows: NDArray[np.intp]
    labels: NDArray[np.int32]
    stability: NDArray[np.float64]
    along: str = "sigma"

    @property
    def scales(self) -> NDArray[Any]:
        """The values of the attribute in which the scales differ."""
        return getattr(self, self.along)

    def __repr__(self) -> str:
        """Return a line without the arrays."""
        numbers = f"{self.n_clusters.min()} to {self.n_clusters.max()} clusters"
        return (
            f"<ClusterScales with {len(self.rows):,} points, sigma {self.sigma[0]:.4g} to "
            f"{self.sigma[-1]:.4g}, {numbers}>"
        )

    def to_arrow(self) -> Any:
        """Return a table with a row for each cluster at each scale.

        Its methods ``to_pandas()`` and ``to_pydict()`` return a data frame and a dict of lists.

        Returns
        -------
        pyarrow.Table
            With the columns `sigma`, `cluster`, `size` (the number of its points among those that
            were used), `stability`, `parent` (the cluster at the next larger scale that most of its
            points are in; null at the largest one), and, the same for all clusters of a scale,
            `n_clusters`, `confidence` and `eigengap`.

        Examples
        --------
        >>> import kdegraph
        >>> X = kdegraph.datasets.make("blobs", n=300, seed=0).X
        >>> found = kdegraph.cluster_scales(X, [0.5, 1.0], seed=0)
        >>> found.to_arrow().slice(2, 2).select(["cluster", "size", "parent"]).to_pydict()
        {'cluster': [2, 0], 'size': [100, 100], 'parent': [2, None]}
        """
        import pyarrow as pa

        scale, cluster = np.nonzero(np.isfinite(self.stability))
        places = list(zip(scale.tolist(), cluster.tolist(), strict=True))
        above = parents(self.labels)
        return pa.table(
            {
                "sigma": self.sigma[scale],
                "cluster": cluster,
                "size": [np.count_nonzero(self.labels[i] == number) for i, number in places],
                "stability": self.stability[scale, cluster],
                "parent": pa.array([above[i].get(number) for i, number in places], pa.int64()),
                "n_clusters": self.n_clusters[scale],
                "confidence": self.confidence[scale],
                "eigengap": self.eigengap[scale],
            }
        )

    def outlines(self) -> list[Outline]:
        """Return the outlines of the bands of clusters, and of the points between them.

        Returns
        -------
        list of Outline
            With the attributes `cluster`, `scale` (its place in `scales`), `into` (for points on
            the way to the next scale, the cluster there; otherwise None), `opacity`, `x`
            (logarithms of the scales, base 10), `low` and `high`. All points together have a height
            of 1.
        """
        return outlines(self.labels, self.scales, self.stability)

    def plot(self, ax: Any = None) -> Any:
        """Draw the clusters as bands along the scales, with Matplotlib.

        A band is as high as its cluster is large, and faint where that is not stable. The number of
        clusters stands above each bandwidth.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            By default the axes of a new figure.

        Returns
        -------
        matplotlib.axes.Axes
        """
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=(7, 3.5), layout="constrained")
        drawn = self.outlines()
        for one in drawn:
            x = 10**one.x
            look = {"color": f"C{one.cluster % 10}", "alpha": one.opacity, "linewidth": 0}
            ax.fill_between(x, one.low, one.high, **look)
        top = max(one.high.max() for one in drawn)
        if self.along == "sigma":
            for sigma, number in zip(self.sigma, self.n_clusters, strict=True):
                ax.text(sigma, top + 0.04, str(number), ha="center")
        ax.set(xscale="log", xlabel=AXES[self.along], ylabel="points", yticks=[])
        if self.along == "n_clusters":
            ticks = [k for k in self.n_clusters.tolist() if str(k).rstrip("0") in TICKS]
            ax.set_xticks(ticks, [*map(str, ticks)])
            ax.minorticks_off()
        ax.set_ylim(-top - 0.04, top + 0.16)
        return ax


@responsive
def cluster_numbers(
    graph: SimilarityGraph,
    numbers: Iterable[int] | None = None,
    *,
    spectrum: Spectrum | None = None,
    n_replicates: int = 1,
    seed: int | None = None,
    progress: Callable[[str, float], object] | None = None,
) -> ClusterScales:
    """Divide a graph into several numbers of clusters, and follow these from number to number.

    It shows which clusters split when there are more, as for the segments of a photograph, whose
    number is a matter of taste.

    Parameters
    ----------
    graph : SimilarityGraph
        With its points.
    numbers : iterable of int, optional
        By default 2 to 50, as far as the graph has enough vertices.
    spectrum : Spectrum, optional
        That of the graph, if it is known, see `spectral_clustering`.
    n_replicates : int, default=1
        Graphs of the same points with other seeds, for the stability; without any it is 1.
    seed : int, optional
        For k-means and the eigensolver; None means 0.
    progress : callable, optional
        Called as ``progress(stage, fraction)``; raising `Cancelled` there stops the computation.

    Returns
    -------
    ClusterScales
        The clusters in each of the numbers, which descend, with the methods `to_arrow` and `plot`.

    Raises
    ------
    ValueError, TypeError
        For a graph without points, or numbers or a seed that cannot be used.

    See Also
    --------
    cluster_scales : Clusters at several bandwidths.

    Notes
    -----
    One spectrum of each graph, with one more eigenvalue than the largest number, serves all
    numbers. Cost: a second for each graph of 10,000 pixels, on one core.

    Examples
    --------
    >>> import kdegraph
    >>> X = kdegraph.datasets.make("blobs", n=300, seed=0).X
    >>> graph = kdegraph.similarity_graph(X, sigma=1.0, seed=0)
    >>> kdegraph.cluster_numbers(graph, range(1, 6))
    <ClusterScales with 300 points, sigma 1 to 1, 1 to 5 clusters>
    """
    points = getattr(graph, "points", None)
    if points is None:
        raise TypeError(
            f"graph must be a SimilarityGraph with its points, got {graph!r:.60}; make it with "
            "kdegraph.similarity_graph"
        )
    n = len(points)
    wanted = _check_numbers(numbers, n, len(vertices_in_clusters(graph)))
    n_graphs = 1 + check_count(n_replicates, "n_replicates", minimum=0)
    seed = 0 if seed is None else check_seed(seed)
    report, divided = stage_progress(progress, "numbers"), []
    for i in range(n_graphs):
        step = partial_progress(report, i / n_graphs, (i + 1) / n_graphs)
        if i > 0:
            kept = {name: getattr(graph, name) for name in REDRAWN}
            options = {"seed": graph.seed + 1, "progress": held_progress(step, 0.0)}
            graph, spectrum = similarity_graph(points, **kept, **options), None
        divided.append(_divided(graph, wanted, spectrum, seed, step))
    own, *others = divided
    found = []
    for i, (labels, gap) in enumerate(own):
        most = max(int(one[i][0].max()) + 1 for one in divided)
        again = [jaccard(labels, one[i][0], most).max(axis=1) for one in others]
        stable = np.mean(again, axis=0) if again else np.ones(most)
        found.append(_AtScale(labels, stable, np.nan, gap))
    sigma = np.nan if isinstance(graph.sigma, np.ndarray) else graph.sigma
    return _followed(
        found,
        sigma=np.full(len(wanted), sigma),
        n_clusters=np.array(wanted),
        rows=np.arange(n),
        along="n_clusters",
    )


def _check_numbers(numbers, n, n_usable):
    """Return the numbers of clusters of a caller, or the usual ones, descending."""
    if numbers is None:
        return list(range(min(MOST_NUMBERS, n_usable), 1, -1)) or [1]
    wanted = {check_count(k, "each of the numbers", maximum=n) for k in numbers}
    if not wanted:
        raise ValueError("numbers must have at least one number of clusters, got none")
    return sorted(wanted, reverse=True)


def _divided(graph, numbers, spectrum, seed, progress):
    """Return for each of the numbers, which descend, the labels of a graph divided into as many
    clusters (one, if it has too few vertices), and the eigengap after that number.
    """
    options = {"seed": seed, "progress": held_progress(progress, 0.0)}
    n_usable = len(vertices_in_clusters(graph))
    n_eigenvalues = min(numbers[0] + 1, n_usable)
    if n_usable and (spectrum is None or spectrum.n_components < n_eigenvalues):
        how = {"smallest_component": "auto", "approximate": True}
        spectrum = find_spectrum(graph, n_eigenvalues, **how, **options)
    found = []
    for i, k in enumerate(numbers):
        options["progress"] = held_progress(progress, i / len(numbers))
        if k > n_usable:
            found.append((np.zeros(len(graph.points), np.int32), np.nan))
            continue
        labels = spectral_clustering(graph, k, spectrum=spectrum, **options).labels
        gap = np.diff(spectrum.eigenvalues[k - 1 : k + 1])
        found.append((labels, float(gap[0]) if len(gap) else np.nan))
    return found


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
    rows = _part(len(points), check_count(max_points, "max_points"), seed)
    points = points[rows] if len(rows) < len(points) else points
    sigmas = automatic_scales(points, seed) if scales is None else _check_scales(scales)
    # Three further graphs, each of this share of the points.
    replicates = [_part(len(points), ceil(0.8 * len(points)), seed + i) for i in (1, 2, 3)]
    found = []
    with ExitStack() as kept:
        parts = [(part, points[part]) for part in replicates]
        for some in (points, *(some for _, some in parts)):
            kept.enter_context(keeping_lists(some))
        for i, sigma in enumerate(sigmas):
            report = held_progress(stage_progress(progress, "scales"), i / len(sigmas))
            found.append(_clusters_at(points, parts, sigma, bounds, seed, report))
    numbers = np.array([int(one.labels.max()) + 1 for one in found])
    return _followed(found, sigma=sigmas, n_clusters=numbers, rows=rows)


def _followed(found, **fields):
    """Return the `ClusterScales` of the clusters at all scales, `_AtScale`."""
    labels = follow(np.array([one.labels for one in found]))
    stability = np.full((len(found), labels.max() + 1), np.nan)
    for i, one in enumerate(found):
        stability[i, labels[i]] = one.stability[one.labels]
    return ClusterScales(
        confidence=np.array([one.confidence for one in found]),
        eigengap=np.array([one.eigengap for one in found]),
        labels=labels,
        stability=stability,
        **fields,
    )


class _AtScale(NamedTuple):
    """The clusters at one scale."""

    labels: NDArray[np.int32]
    stability: NDArray[np.float64]
    confidence: float
    eigengap: float


def _clusters_at(points, parts, sigma, bounds, seed, progress):
    """Return the clusters at one scale, `_AtScale`; the `parts` are numbers of points, and these
    points.
    """
    options = {"seed": seed, "progress": progress}
    graph = similarity_graph(points, sigma=sigma, n_rounds=N_ROUNDS, **options)
    found = spectrum_to_count(graph, bounds.most + 1, tol=1e-3, approximate=True, **options)
    if found is None:
        return _AtScale(np.zeros(len(points), np.int32), np.ones(1), 0.0, np.nan)
    number = number_from([found], bounds, MAX_ROWS)
    k = min(int(number), found.n_components - 1)
    gap = float(found.eigenvalues[k] - found.eigenvalues[k - 1])
    labels = spectral_clustering(graph, k, spectrum=found, **options).labels
    labels = vote([labels], groups_of_identical(points)).labels
    k = int(labels.max()) + 1
    stability = np.ones(1)
    if k > 1:
        stability = np.zeros(k)
        for rows, part in parts:
            again = np.zeros(len(part), np.int32)
            graph = similarity_graph(part, sigma=sigma, n_rounds=N_ROUNDS, **options)
            if np.count_nonzero(np.diff(graph.adjacency.indptr)) >= k:  # vertices with an edge
                again = spectral_clustering(graph, k, **options).labels
            stability += jaccard(labels[rows], again, k).max(axis=1) / len(parts)
    return _AtScale(labels, stability, number.confidence, gap)


def _part(n, most, seed):
    """Return the numbers of all points, or of a random part of them."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


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
