"""Divide a graph into a range of numbers of clusters, and find how stable each of them is."""

from collections.abc import Callable, Iterable

import numpy as np

from kdegraph.clustering.partition import vertices_in_clusters
from kdegraph.dispatch import spectral_clustering
from kdegraph.dispatch import spectrum as find_spectrum
from kdegraph.graph import similarity_graph
from kdegraph.ribbon import AtScale, ClusterScales, followed
from kdegraph.runtime.progress import (
    held_progress,
    partial_progress,
    responsive,
    stage_progress,
)
from kdegraph.sampled_graph.result import SimilarityGraph
from kdegraph.spectral.checked_graph import check_adjacency, graph_parts
from kdegraph.spectral.spectrum import Spectrum
from kdegraph.validation import check_count, check_seed
from kdegraph.votes import jaccard

__all__ = ["cluster_numbers"]

MOST_NUMBERS = 50  # largest number of clusters into which a graph is divided by default
# Parameters of a graph with which its replicates are drawn.
REDRAWN = ("sigma", "kernel", "n_rounds", "alpha", "weighting", "sample_weight")


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
    <ClusterScales with 300 points, 1 to 5 clusters>
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
        found.append(AtScale(labels, stable, np.nan, gap))
    sigma = np.nan if isinstance(graph.sigma, np.ndarray) else graph.sigma
    return followed(
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
    parts = graph_parts(graph)
    checked = parts._replace(adjacency=check_adjacency(parts))  # once for all numbers
    n_usable = len(vertices_in_clusters(checked))
    n_eigenvalues = min(numbers[0] + 1, n_usable)
    if n_usable and (spectrum is None or spectrum.n_components < n_eigenvalues):
        how = {"smallest_component": "auto", "approximate": True}
        spectrum = find_spectrum(checked, n_eigenvalues, **how, **options)
    found = []
    for i, k in enumerate(numbers):
        options["progress"] = held_progress(progress, i / len(numbers))
        if k > n_usable:
            found.append((np.zeros(len(graph.points), np.int32), np.nan))
            continue
        labels = spectral_clustering(checked, k, spectrum=spectrum, **options).labels
        gap = np.diff(spectrum.eigenvalues[k - 1 : k + 1])
        found.append((labels, float(gap[0]) if len(gap) else np.nan))
    return found
