"""Spectral clustering of a graph, and the conductance of its clusters."""

from dataclasses import dataclass, field

import numpy as np

from kdegraph.clustering.conductance import conductances_of
from kdegraph.clustering.embedding import cluster_qr, embed, kmeans
from kdegraph.clustering.out_of_sample import nearest_points
from kdegraph.eigengap import suggest_n_clusters
from kdegraph.geometry.neighbors import unit_scale
from kdegraph.runtime.progress import stage_progress
from kdegraph.runtime.responsive import responsive
from kdegraph.spectral.checked_graph import check_adjacency
from kdegraph.spectral.spectrum import Spectrum
from kdegraph.spectral.spectrum import spectrum as compute_spectrum
from kdegraph.validation import check_choice, check_count, check_points, check_seed

EMBEDDINGS = ("degree", "row", "plain")
ROUNDINGS = ("kmeans", "cluster_qr")
AUTO_COMPONENTS = 20  # eigenvalues from which n_clusters="auto" is read


@dataclass(frozen=True)
class Clustering:
    """A partition of the vertices of a graph.

    Attributes
    ----------
    labels : (n,) int32 array
        Cluster of each vertex, 0 to ``n_clusters - 1`` in the order of the first members; -1 for
        isolated vertices of a graph without points.
    n_clusters : int
    conductances : (n_clusters,) float64 array
        See `conductance`.
    isolated : (m,) int64 array
        Vertices without an edge: their labels are those of their nearest points, not of the graph.
    spectrum : Spectrum or None
        Of the graph without its isolated vertices and small components; None if it has no edges.
    """

    labels: np.ndarray = field(repr=False)
    n_clusters: int
    conductances: np.ndarray
    isolated: np.ndarray = field(repr=False)
    spectrum: Spectrum | None = field(repr=False)


def vertices_in_clusters(adjacency, smallest_component="auto"):
    """Find the vertices in connected components that are large enough to be clusters.

    Parameters
    ----------
    adjacency : SimilarityGraph, sparse matrix or array of any format, or (n, n) array
        Symmetric weights, finite and >= 0.
    smallest_component : int or "auto", default="auto"
        As for `spectrum`: which has so many eigenvalues as this finds vertices.

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
    """
    graph = check_adjacency(adjacency)
    return np.flatnonzero(
        graph.sizes[graph.component] >= graph.smallest_component(smallest_component)
    )


@responsive
def spectral_clustering(
    adjacency,
    n_clusters,
    *,
    seed=None,
    embedding="row",
    assign_labels="kmeans",
    n_init=3,
    smallest_component="auto",
    spectrum=None,
    points=None,
    progress=None,
):
    """Partition a graph by the eigenvectors of its normalized Laplacian.

    Parameters
    ----------
    adjacency : SimilarityGraph, sparse matrix or array of any format, or (n, n) array
        Symmetric weights, finite and >= 0.
    n_clusters : int or "auto"
        "auto": `suggest_n_clusters` of the smallest 20 eigenvalues.
    seed : int, RandomState or numpy Generator, optional
        For k-means and the eigensolver; None means 0. The same seed gives the same labels, whatever
        `set_num_threads` says.
    embedding : {"degree", "row", "plain"}, default="row"
        Vertices are represented by the rows of ``D^-1/2 U``, of U with rows of length 1, or of U,
        where U holds the first `n_clusters` eigenvectors.
    assign_labels : {"kmeans", "cluster_qr"}, default="kmeans"
        How these rows become clusters. "cluster_qr": by a pivoted QR factorization, without any
        choice at random.
    n_init : int, default=3
        Starts of k-means (k-means++), of which the best is kept.
    smallest_component : int or "auto", default="auto"
        Connected components with fewer vertices are no clusters. "auto" as for `spectrum` (or 2, if
        so few vertices are left that they cannot be `n_clusters` clusters); 2 lets a pair of
        outliers be a cluster.
    spectrum : Spectrum, optional
        Of this very graph, to be reused: with ``omit_isolated=True`` or `smallest_component`, or of
        a graph without isolated vertices. Components that it leaves out are no clusters. It is
        computed anew if it has too few eigenvalues or too small components.
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

    Notes
    ----- *Isolated vertices* use up no cluster: each gets the label of its nearest point that has
    an edge (in the metric of the kernel), or -1 where no points are known. In a graph without any
    edge there is one cluster, with every vertex; asking for more is an error.

    *Small components*, such as pairs of outliers that drew each other, use up no cluster either:
    each joins, as a whole, the cluster of its nearest point (without points: the largest). With
    data that have outliers or heavy tails they would otherwise be the clusters found, as their
    conductance is 0.

    *Components.* If the graph has `n_clusters` other connected components or more, those with the
    most vertices are the clusters, and the rest joins in the same way. All conductances are 0 then.
    With fewer components, each is a cluster or a union of clusters.

    *Low degrees.* Eigenvectors are divided by the square roots of the degrees; at vertices of tiny
    degree (outliers) the mean of the neighbors is used, which an exact eigenvector would have
    there.

    *Embedding.* Measured (benchmarks/automatic.py) with k-means: on 12 photographs at the paper's
    sigma the mean Rand index is 0.722 with "degree", 0.724 with "plain" and 0.720 with "row", and
    at the far smaller one of `estimate_sigma` 0.742, 0.771 and 0.791. On 15 sets of points with
    classes the mean adjusted Rand index is 0.92 with each: "row" is better where clusters touch, or
    in many dimensions. It is the default for that. "degree" puts small clusters far from all
    others: take it where one with less than a thousandth of the vertices is to be a cluster of its
    own. "cluster_qr" is within 0.02 of k-means, but for photographs with a small sigma, where it is
    better (0.808 with each).

    *Large graphs.* k-means is fitted to at most 20,000 random vertices, and all others join the
    nearest center.
    """
    seed = 0 if seed is None else check_seed(seed)
    check_choice(embedding, "embedding", EMBEDDINGS)
    check_choice(assign_labels, "assign_labels", ROUNDINGS)
    n_init = check_count(n_init, "n_init")
    graph = check_adjacency(adjacency, progress=stage_progress(progress, "components"))
    automatic = isinstance(n_clusters, str)
    if automatic:
        check_choice(n_clusters, "n_clusters", ("auto",))
    else:
        n_clusters = check_count(
            n_clusters,
            "n_clusters",
            maximum=graph.n,
            reason=f"(the number of vertices), here {graph.n}",
        )
    points, kernel = _check_points(adjacency, points, graph.n)
    isolated = graph.isolated
    if len(isolated) == graph.n:
        if not automatic and n_clusters > 1:
            raise ValueError(
                f"n_clusters must be 1 for a graph without edges, got {n_clusters}: all {graph.n} vertices are isolated; use a larger sigma"
            )
        return Clustering(np.zeros(graph.n, np.int32), 1, np.zeros(1), isolated, None)
    least = _smallest(smallest_component, graph, 1 if automatic else n_clusters)
    wanted = min(AUTO_COMPONENTS, graph.n_in_components(least)) if automatic else n_clusters
    if not _reusable(spectrum, graph, wanted, least, automatic):
        spectrum = compute_spectrum(
            graph, wanted, seed=seed, smallest_component=least, progress=progress
        )
    if automatic:
        n_clusters = suggest_n_clusters(spectrum.eigenvalues)
    if progress is not None:
        progress("k-means", 0.0)
    counted = graph.sizes >= max(spectrum.smallest_component, 2)
    if counted.sum() >= n_clusters:
        cluster = np.full(len(graph.sizes), -1, np.int32)
        cluster[np.argsort(-graph.sizes, kind="stable")[:n_clusters]] = np.arange(n_clusters)
        labels = cluster[graph.component]
    else:
        main = np.flatnonzero(counted[graph.component])
        rows = embed(graph, spectrum, n_clusters, main, embedding)
        labels = np.full(graph.n, -1, np.int32)
        labels[main] = (
            kmeans(rows, n_clusters, seed, n_init)
            if assign_labels == "kmeans"
            else cluster_qr(rows)
        )
    _join_rest(graph, points, kernel, labels)
    if points is not None and len(isolated):
        linked = np.flatnonzero(labels >= 0)
        labels[isolated] = labels[
            linked[nearest_points(points[linked], points[isolated], kernel)[1]]
        ]
    labels = _in_order(labels)
    conductances = conductances_of(graph, labels)
    return Clustering(labels, len(conductances), conductances, isolated, spectrum)


def _check_points(adjacency, points, n):
    """Return the points or None, and the name of the kernel, in whose metric distances are
    measured, if known.
    """
    kernel = getattr(adjacency, "kernel", None)
    if points is None:
        points = getattr(adjacency, "points", None)
        if points is None:
            return None, kernel
    points = check_points(points, "points")
    if len(points) != n:
        raise ValueError(
            f"points must have one row for each of the {n} vertices, got shape {points.shape}"
        )
    return np.ldexp(points, -unit_scale(points)), kernel


def _smallest(smallest_component, graph, n_clusters):
    """Vertices of the smallest components that count, at least 2."""
    least = max(2, graph.smallest_component(smallest_component))
    if smallest_component == "auto" and graph.n_in_components(least) < n_clusters:
        least = 2
    if (most := graph.n_in_components(least)) < n_clusters:
        which = (
            "that have an edge" if least == 2 else f"in connected components of at least {least}"
        )
        raise ValueError(
            f"n_clusters must be at most the number of vertices {which}, {most} of {graph.n}, got {n_clusters}; "
            "use a larger sigma or fewer clusters"
        )
    return least


def _reusable(spectrum, graph, k, least, automatic):
    """Whether the given spectrum has what is needed."""
    if spectrum is None:
        return False
    if not isinstance(spectrum, Spectrum):
        raise TypeError(f"spectrum must be a Spectrum, got {type(spectrum).__name__}")
    if len(spectrum.eigenvectors) != graph.n or not np.array_equal(
        spectrum.isolated, graph.isolated
    ):
        raise ValueError(
            f"spectrum is not of this graph: it has {len(spectrum.eigenvectors)} vertices, {len(spectrum.isolated)} of them isolated, "
            f"the graph has {graph.n} and {len(graph.isolated)}"
        )
    too_many = (graph.sizes >= spectrum.smallest_component) & (graph.sizes < least)
    return not too_many.any() and spectrum.n_components >= (3 if automatic else k)


def _join_rest(graph, points, kernel, labels):
    """Give every component without labels, as a whole, that of its nearest point that has one;
    isolated vertices keep theirs.
    """
    rest = np.flatnonzero((labels < 0) & (graph.sizes[graph.component] > 1))
    if len(rest) == 0:
        return
    main = np.flatnonzero(labels >= 0)
    if points is None:
        labels[rest] = np.argmax(np.bincount(labels[main]))
        return
    distance, nearest = nearest_points(points[main], points[rest], kernel)
    order = np.lexsort((distance, graph.component[rest]))
    component, first = np.unique(graph.component[rest][order], return_index=True)
    cluster = np.empty(len(graph.sizes), np.int32)
    cluster[component] = labels[main[nearest[order[first]]]]
    labels[rest] = cluster[graph.component[rest]]


def _in_order(labels):
    """Number the clusters by their first members."""
    values, first, number = np.unique(labels, return_index=True, return_inverse=True)
    member = values >= 0
    new = np.full(len(values), -1, np.int32)
    new[np.flatnonzero(member)[np.argsort(first[member])]] = np.arange(member.sum())
    return new[number]
