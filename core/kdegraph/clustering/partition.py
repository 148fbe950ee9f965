"""Spectral clustering of a graph."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kdegraph.clustering.conductance import conductances_of
from kdegraph.clustering.embedding import embed
from kdegraph.clustering.outliers import (
    join_isolated,
    join_small_components,
    largest_components,
    least_component,
    numbered_by_first_member,
)
from kdegraph.clustering.result import Clustering
from kdegraph.clustering.rounding import Rounding
from kdegraph.eigengap import AUTO_EIGENVALUES, suggest_n_clusters
from kdegraph.geometry.neighbors import unit_scale
from kdegraph.runtime.progress import responsive, stage_progress
from kdegraph.spectral.checked_graph import AdjacencyLike, check_adjacency, graph_parts
from kdegraph.spectral.result import Spectrum
from kdegraph.spectral.spectrum import spectrum as compute_spectrum
from kdegraph.tiles import is_tiled
from kdegraph.validation import check_choice, check_count, check_points, check_seed

EMBEDDINGS = ("soft", "degree", "row", "plain")
ROUNDINGS = ("kmeans", "cluster_qr")


def vertices_in_clusters(
    adjacency: AdjacencyLike, smallest_component: int | Literal["auto"] = "auto"
) -> NDArray[np.int64]:
    """Find the vertices in connected components that are large enough to be clusters.

    Parameters
    ----------
    adjacency : SimilarityGraph, sparse matrix or array of any format, or (n, n) array
        Symmetric weights, finite and >= 0.
    smallest_component : int or "auto", default="auto"
        As for `spectrum`, which has as many eigenvalues as this finds vertices.

    Returns
    -------
    (m,) int64 array
        Ascending. `spectral_clustering` has all others join the clusters of these.

    Raises
    ------
    ValueError, TypeError
        For a matrix that is not an adjacency matrix (see `spectrum`), or another
        `smallest_component`.

    Notes
    -----
    Cost: O(number of edges).

    Examples
    --------
    >>> import kdegraph, numpy as np
    >>> triangle_and_point = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]])
    >>> kdegraph.vertices_in_clusters(triangle_and_point)
    array([0, 1, 2])
    """
    graph = check_adjacency(adjacency)
    return graph.in_components(graph.smallest_component(smallest_component))


@responsive
def spectral_clustering(
    adjacency: AdjacencyLike,
    n_clusters: int | Literal["auto"],
    *,
    seed: int | np.random.RandomState | np.random.Generator | None = None,
    embedding: Literal["soft", "degree", "row", "plain"] = "soft",
    assign_labels: Literal["kmeans", "cluster_qr"] | None = None,
    n_init: int = 3,
    smallest_component: int | Literal["auto"] = "auto",
    spectrum: Spectrum | None = None,
    points: ArrayLike | None = None,
    progress: Callable[[str, float], object] | None = None,
) -> Clustering:
    """Partition a graph by the eigenvectors of its normalized Laplacian.

    Parameters
    ----------
    adjacency : SimilarityGraph, sparse matrix or array of any format, or (n, n) array
        Symmetric weights, finite and >= 0. A `TiledGraph` is clustered tile by tile, see the notes.
    n_clusters : int or "auto"
        "auto": `suggest_n_clusters` of the smallest 20 eigenvalues.
    seed : int, RandomState or numpy Generator, optional
        For k-means and the eigensolver; None means 0. The same seed gives the same labels, whatever
        `set_num_threads` says.
    embedding : {"soft", "degree", "row", "plain"}, default="soft"
        Vertices are represented by the rows of ``D^-1/2 U`` ("degree"), of U with rows of length 1
        ("row"), or of U ("plain"), where U holds the first `n_clusters` eigenvectors. "soft" is
        "row" with twice as many eigenvectors, the i-th beyond k multiplied by ``(lambda_k /
        lambda_i)^2``: they count where the spectrum has no clear gap behind `n_clusters`, and
        vanish where it has one.
    assign_labels : {"kmeans", "cluster_qr"} or None, default=None
        How these rows become clusters. "cluster_qr": by a pivoted QR factorization, without any
        choice at random. None is "cluster_qr" where the points are the pixels of a picture (their
        last two columns are the rows and columns of a grid, each place once), and "kmeans"
        elsewhere.
    n_init : int, default=3
        Starts of k-means (k-means++), of which the best is kept.
    smallest_component : int or "auto", default="auto"
        Connected components with fewer vertices are no clusters. "auto" as for `spectrum` (or 2, if
        so few vertices are left that they cannot be `n_clusters` clusters); 2 lets a pair of
        outliers be a cluster.
    spectrum : Spectrum, optional
        Of this very graph, to be reused: with ``omit_isolated=True`` or `smallest_component`, or of
        a graph without isolated vertices. Components that it leaves out are no clusters. It is
        computed anew if it has fewer than `n_clusters` eigenvalues or too small components.
    points : (n, d) array, optional
        The points that the vertices stand for; by default those of the `SimilarityGraph`.
    progress : callable, optional
        Called as ``progress(stage, fraction)``; it may raise `Cancelled`.

    Returns
    -------
    Clustering

    Raises
    ------
    ValueError, TypeError
        For bad input, more clusters than vertices, or more clusters than vertices with an edge (in
        components that are not too small).
    MemoryError
        If a `TiledGraph` has to be read into memory and does not fit.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If the eigenvalues did not settle.

    Notes
    -----
    *Isolated vertices* use up no cluster: each gets the label of its nearest point that has an edge
    (in the metric of the kernel), or -1 if no points are known. In a graph without any edge there
    is one cluster, with every vertex; asking for more is an error.

    *Small components*, such as pairs of outliers that drew each other, use up no cluster either:
    each joins, as a whole, the cluster of its nearest point (without points: the largest). With
    data that have outliers or heavy tails they would otherwise be the clusters found, as their
    conductance is 0.

    *Components.* If the graph has `n_clusters` or more other connected components, those with the
    most vertices are the clusters, and the rest joins in the same way. All conductances are 0 then.
    With fewer components, each is a cluster or a union of clusters.

    *Low degrees.* At vertices of tiny degree (outliers) an eigenvector is inaccurate beside its
    entries. What its product with the matrix gives there, from the neighbors, is used instead, as
    an exact eigenvector would have that.

    *Embedding.* Measured (benchmarks: automatic) with k-means: on 12 photographs at the paper's
    sigma the mean Rand index is 0.722 with "degree", 0.724 with "plain" and 0.720 with "row", and
    at the far smaller one of `estimate_sigma` 0.742, 0.771 and 0.791. On 15 sets of points with
    classes the mean adjusted Rand index is 0.92 with each: "row" is better where clusters touch, or
    in many dimensions. It is the default for that. "degree" puts small clusters far from all
    others: take it where one with less than a thousandth of the vertices is to be a cluster of its
    own. "cluster_qr" is within 0.02 of k-means, but for photographs with a small sigma, where it is
    better (0.808 with each), and the default. On 40 other photographs it is better than k-means
    with "row" by 0.009 (standard error 0.004); clusters of more parts merged afterwards, by the
    edges between them or by their colors, are no better.

    *Tiled graphs.* The labels and eigenvectors of a `TiledGraph` are Dask arrays. It is read into
    memory if it is small, or with `spectrum` or `points`. Otherwise a coarse graph of groups of
    vertices is clustered in memory, its eigenvectors are smoothed by products with the matrix, tile
    by tile, until the eigenvalues have settled to about a tenth, and what is found is kept in the
    folder of the graph. Memory: about 90 bytes for each of 100,000,000 points of the plane, of all
    processes together, the graph included (benchmarks: tiled_clusters).

    *Large graphs.* For a given number of clusters the spectrum is that of
    ``spectrum(approximate=True)``: it separates clusters as well, in a fraction of the time; pass
    a `spectrum` of your own for accurate eigenvalues. k-means is fitted to at most 10,000 random
    vertices, and all others join the nearest center.

    References
    ----------
    U. von Luxburg, "A tutorial on spectral clustering", Statistics and Computing 17 (2007),
    395-416. P. Macgregor, H. Sun, "Fast approximation of similarity graphs with kernel density
    estimation", NeurIPS 2023.

    Examples
    --------
    >>> import kdegraph
    >>> X = kdegraph.datasets.make("moons", n=1000, seed=0).X
    >>> graph = kdegraph.similarity_graph(X, sigma=0.1, seed=0)
    >>> found = kdegraph.spectral_clustering(graph, 2)
    >>> found.n_clusters, bool(found.conductances.max() < 0.01)
    (2, True)
    """
    rounding = Rounding(
        check_choice(embedding, "embedding", EMBEDDINGS),
        assign_labels and check_choice(assign_labels, "assign_labels", ROUNDINGS),
        check_count(n_init, "n_init"),
        0 if seed is None else check_seed(seed),
    )
    tiled = is_tiled(adjacency)
    cluster, graph = (_cluster_tiles, adjacency) if tiled else (_cluster, graph_parts(adjacency))
    return cluster(graph, n_clusters, rounding, smallest_component, spectrum, points, progress)


def _cluster_tiles(graph, n_clusters, rounding, smallest_component, spectrum, points, progress):
    """Cluster a `TiledGraph`: tile by tile, or in memory where it has to be there."""
    from kdegraph.clustering.by_tiles.clusters import cluster_by_tiles, lazy_labels

    if spectrum is None and points is None:
        n_clusters = _check_n_clusters(n_clusters, graph.n_vertices)
        found = cluster_by_tiles(graph, n_clusters, rounding, smallest_component, progress)
        if found is not None:
            return found
    parts = graph_parts(graph)
    found = _cluster(parts, n_clusters, rounding, smallest_component, spectrum, points, progress)
    return replace(found, labels=lazy_labels(graph, found.labels))


def _cluster(given, n_clusters, rounding, smallest_component, spectrum, points, progress):
    """Cluster a graph in memory."""
    graph = check_adjacency(given, progress=stage_progress(progress, "components"))
    automatic = isinstance(n_clusters, str)
    n_clusters = _check_n_clusters(n_clusters, graph.n)
    points, kernel = _check_points(given, points, graph.n)
    rounding = rounding.for_points(points)
    if len(graph.isolated) == graph.n:
        return _cluster_without_edges(graph, 1 if automatic else n_clusters)

    min_size = least_component(smallest_component, graph, 1 if automatic else n_clusters)
    most = graph.n_in_components(min_size)
    least = min(AUTO_EIGENVALUES, most) if automatic else n_clusters
    if spectrum is None or not _is_reusable(spectrum, graph, min_size, 3 if automatic else least):
        components_suffice = np.sum(graph.sizes >= min_size) >= least  # they are the clusters
        enough = automatic or components_suffice
        spectrum = compute_spectrum(
            graph,
            least if enough else rounding.n_eigenvectors(least, most),
            seed=rounding.seed,
            smallest_component=min_size,
            approximate=not automatic,
            progress=progress,
        )
    if automatic:
        n_clusters = suggest_n_clusters(spectrum.eigenvalues)

    if progress is not None:
        progress("k-means", 0.0)
    labels = _labels_in_large_components(graph, spectrum, n_clusters, rounding)
    join_small_components(graph, points, kernel, labels)
    join_isolated(graph, points, kernel, labels)
    labels = numbered_by_first_member(labels)
    conductances = conductances_of(graph, labels)
    return Clustering(labels, len(conductances), conductances, graph.isolated, spectrum)


def _check_n_clusters(n_clusters, n):
    """Return a number of clusters of n vertices, or "auto"."""
    if isinstance(n_clusters, str):
        return check_choice(n_clusters, "n_clusters", ("auto",))
    reason = f"(the number of vertices), here {n}"
    return check_count(n_clusters, "n_clusters", maximum=n, reason=reason)


def _labels_in_large_components(graph, spectrum, n_clusters, rounding):
    """Labels for the vertices of all components that the spectrum takes account of; -1 for all
    others.
    """
    min_size = max(spectrum.smallest_component, 2)
    if np.sum(graph.sizes >= min_size) >= n_clusters:
        return largest_components(graph, n_clusters)
    vertices = graph.in_components(min_size)
    n_vectors = rounding.n_eigenvectors(n_clusters, spectrum.n_components)
    rows = embed(graph, spectrum, n_clusters, n_vectors, vertices, rounding.embedding)
    labels = np.full(graph.n, -1, np.int32)
    labels[vertices] = rounding.labels(rows, n_clusters)
    return labels


def _cluster_without_edges(graph, n_clusters):
    """One cluster with all vertices of a graph without edges."""
    if n_clusters > 1:
        raise ValueError(
            f"n_clusters must be 1 for a graph without edges, got {n_clusters}: all {graph.n} "
            "vertices are isolated; use a larger sigma"
        )
    return Clustering(np.zeros(graph.n, np.int32), 1, np.zeros(1), graph.isolated, None)


def _check_points(given, points, n):
    """Return the points, scaled to a moderate size, or None, and the name of the kernel, in whose
    metric distances are measured, or None.
    """
    points, kernel = given.points if points is None else points, given.kernel
    if points is None:
        return None, kernel
    points = check_points(points, "points")
    if len(points) != n:
        raise ValueError(
            f"points must have one row for each of the {n} vertices, got shape {points.shape}"
        )
    return np.ldexp(points, -unit_scale(points)), kernel


def _is_reusable(spectrum, graph, min_size, n_eigenvalues):
    """Whether the spectrum has enough eigenvalues and leaves out components below `min_size`."""
    if not isinstance(spectrum, Spectrum):
        raise TypeError(f"spectrum must be a Spectrum, got {type(spectrum).__name__}")
    n = len(spectrum.eigenvectors)
    if n != graph.n or not np.array_equal(spectrum.isolated, graph.isolated):
        raise ValueError(
            f"spectrum is not of this graph: it has {n} vertices, {len(spectrum.isolated)} of them "
            f"isolated, the graph has {graph.n} and {len(graph.isolated)}"
        )
    too_small = (graph.sizes >= spectrum.smallest_component) & (graph.sizes < min_size)
    return not too_small.any() and spectrum.n_components >= n_eigenvalues
