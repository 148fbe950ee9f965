"""Spectral clustering of a graph in memory."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kdegraph.clustering.conductance import conductances_of
from kdegraph.clustering.embedding import embed
from kdegraph.clustering.out_of_sample import join_outliers
from kdegraph.eigengap import AUTO_EIGENVALUES, suggest_n_clusters
from kdegraph.geometry.units import unit_scale
from kdegraph.layout import place_clusters
from kdegraph.manual import explained
from kdegraph.runtime.progress import stage_progress
from kdegraph.spectral.checked_graph import AdjacencyLike, check_adjacency, graph_parts
from kdegraph.spectral.spectrum import Spectrum, compute_spectrum
from kdegraph.validation import SparsePoints, check_choice, check_count, check_points


@dataclass(frozen=True, eq=False)
class Clustering:
    """A partition of the vertices of a graph, as `spectral_clustering` returns it.

    Two objects are equal only if they are the same object.

    Attributes
    ----------
    labels : (n,) int32 array
        Cluster of each vertex, 0 to ``n_clusters - 1`` in the order of the first members; -1 for
        isolated vertices of a graph without points. Of a `TiledGraph` a Dask array.
    n_clusters : int
    conductances : (n_clusters,) float64 array
        See `conductance`.
    isolated : (m,) int64 array
        Vertices without an edge: their labels are those of their nearest points, not of the graph.
    spectrum : Spectrum or None
        Of the graph without its isolated vertices and small components; None if it has no edges.
        Approximate where the graph is large.

    Examples
    --------
    >>> import numpy as np
    >>> from kdegraph import spectral_clustering
    >>> blocks = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    >>> spectral_clustering(blocks + 0.01, 2).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    labels: NDArray[np.int32] = field(repr=False)
    n_clusters: int
    conductances: NDArray[np.float64]
    isolated: NDArray[np.int64] = field(repr=False)
    spectrum: Spectrum | None = field(repr=False)


def vertices_in_clusters(
    adjacency: AdjacencyLike, smallest_component: int | Literal["auto"] = "auto"
) -> NDArray[np.int64]:
    """Find the vertices in connected components that are large enough to be clusters.

    Parameters
    ----------
    adjacency : SimilarityGraph, sparse or dense (n, n) matrix, or graph of NetworkX or igraph
        Symmetric weights, finite and >= 0.
    smallest_component : int or "auto", default="auto"
        As for `spectrum`, which has as many eigenvalues as this finds vertices.

    Returns
    -------
    (m,) int64 array
        Ascending. In `spectral_clustering` all others join the clusters of these.

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
    >>> import numpy as np
    >>> from kdegraph.clustering import vertices_in_clusters
    >>> triangle_and_point = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]])
    >>> vertices_in_clusters(triangle_and_point)
    array([0, 1, 2])
    """
    graph = check_adjacency(adjacency)
    return graph.in_components(graph.smallest_component(smallest_component))


def cluster(adjacency, n_clusters, rounding, smallest_component, spectrum, points, progress):
    """Cluster a graph in memory. The parameters are those of `kdegraph.spectral_clustering`; the
    `Rounding` stands for some of them.
    """
    given = graph_parts(adjacency)
    graph = check_adjacency(given, progress=stage_progress(progress, "components"))
    automatic = isinstance(n_clusters, str)
    n_clusters = check_n_clusters(n_clusters, graph.n)
    least = 1 if automatic else n_clusters
    points, kernel = _check_points(given, points, graph.n)
    rounding = rounding.for_points(points)
    if len(graph.isolated) == graph.n:
        if least > 1:
            raise ValueError(
                f"n_clusters must be 1 for a graph without edges, got {least}: all {graph.n} "
                "vertices are isolated; use a larger sigma"
            )
        return Clustering(np.zeros(graph.n, np.int32), 1, np.zeros(1), graph.isolated, None)

    min_size = least_component(smallest_component, graph, least)
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
    labels = _labels_in_large_components(
        graph, spectrum, n_clusters, rounding, given.sample_weight, progress
    )
    join_outliers(graph, points, kernel, labels)
    labels = numbered_by_first_member(labels)
    conductances = conductances_of(graph, labels)
    return Clustering(labels, len(conductances), conductances, graph.isolated, spectrum)


def check_n_clusters(n_clusters, n):
    """Return a number of clusters of n vertices, or "auto"."""
    if isinstance(n_clusters, str):
        return check_choice(n_clusters, "n_clusters", ("auto",))
    reason = f"(the number of vertices), here {n}"
    return check_count(n_clusters, "n_clusters", maximum=n, reason=reason)


def _labels_in_large_components(graph, spectrum, n_clusters, rounding, weight, progress):
    """Return labels for the vertices of components that the spectrum includes; -1 for others. They
    may have a weight each.
    """
    min_size = max(spectrum.smallest_component, 2)
    if np.sum(graph.sizes >= min_size) >= n_clusters:
        return largest_components(graph, n_clusters)
    vertices = graph.in_components(min_size)
    weight = None if weight is None else weight[vertices]
    if rounding.embedding == "layout":
        report = stage_progress(progress, "layout")
        rows = place_clusters(graph, spectrum.eigenvectors, rounding.seed, report)[vertices]
    else:
        n_vectors = rounding.n_eigenvectors(n_clusters, spectrum.n_components)
        rows = embed(graph, spectrum, n_clusters, n_vectors, vertices, rounding.embedding)
        if rounding.embedding == "plain" and weight is not None:
            rows /= np.sqrt(weight)[:, None]  # those of its copies
    labels = np.full(graph.n, -1, np.int32)
    labels[vertices] = rounding.labels(rows, n_clusters, weight)
    return labels


def _check_points(given, points, n):
    """Return the points, scaled to a moderate size, or None, and the name of the kernel, in whose
    metric distances are measured, or None.
    """
    points, kernel = given.points if points is None else points, given.kernel
    if points is None:
        return None, kernel
    points = check_points(points, "points", keep_sparse=True)
    if len(points) != n:
        raise ValueError(
            f"points must have one row for each of the {n} vertices, got shape {points.shape}"
        )
    if isinstance(points, SparsePoints):
        return points, kernel
    return np.ldexp(points, -unit_scale(points)), kernel


def _is_reusable(spectrum, graph, min_size, n_eigenvalues):
    """Return whether the spectrum has enough eigenvalues and excludes small components."""
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


def least_component(smallest_component, graph, n_clusters):
    """Return the smallest size of components that are kept, at least 2."""
    least = max(2, graph.smallest_component(smallest_component))
    if smallest_component == "auto" and graph.n_in_components(least) < n_clusters:
        least = 2
    if (most := graph.n_in_components(least)) < n_clusters:
        which = (
            "that have an edge" if least == 2 else f"in connected components of at least {least}"
        )
        raise explained(
            ValueError,
            "error-clusters",
            f"n_clusters must be at most the number of vertices {which}, {most} of {graph.n}, got "
            f"{n_clusters}; use a larger sigma or fewer clusters",
        )
    return least


def largest_components(graph, n_clusters):
    """Return labels for the vertices of the largest components, one cluster each; -1 for others."""
    cluster = np.full(len(graph.sizes), -1, np.int32)
    cluster[np.argsort(-graph.sizes, kind="stable")[:n_clusters]] = np.arange(n_clusters)
    return cluster[graph.component]


def numbered_by_first_member(labels):
    """Number the clusters in the order of their first members; -1 stays."""
    n = len(labels)
    first = np.full(labels.max() + 2, n)  # the last place is that of -1
    first[labels[::-1]] = np.arange(n)[::-1]  # the last one written is the first member
    clusters = np.flatnonzero(first[:-1] < n)
    number = np.full(len(first), -1, np.int32)
    number[clusters[np.argsort(first[clusters])]] = np.arange(len(clusters))
    return number[labels]
