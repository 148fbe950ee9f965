"""Compute the spectrum and the clusters of a graph, in memory or tile by tile."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from kdegraph.clustering.partition import Clustering, check_n_clusters, cluster
from kdegraph.clustering.rounding import MAX_STARTS, Rounding
from kdegraph.runtime.progress import responsive
from kdegraph.spectral.checked_graph import AdjacencyLike, check_smallest_component
from kdegraph.spectral.spectrum import Spectrum, compute_spectrum
from kdegraph.tiles import is_tiled
from kdegraph.validation import check_choice, check_count, check_positive, check_seed


@responsive
def spectrum(
    adjacency: AdjacencyLike,
    n_components: int,
    *,
    seed: "int | np.random.RandomState | np.random.Generator | None" = None,
    tol: float = 1e-4,
    max_products: int | None = None,
    omit_isolated: bool = False,
    smallest_component: int | Literal["auto"] = 1,
    approximate: bool = False,
    progress: Callable[[str, float], object] | None = None,
) -> Spectrum:
    """Compute the smallest eigenvalues of the normalized Laplacian, with multiplicity.

    That is ``I - D^-1/2 A D^-1/2``, with the diagonal matrix D of the degrees. Every eigenvalue is
    returned as often as it occurs, also for disconnected graphs and isolated vertices.

    Parameters
    ----------
    adjacency : SimilarityGraph, sparse or dense (n, n) matrix, or graph of NetworkX or igraph
        Symmetric weights, finite and >= 0. A self-loop on the diagonal counts in the degree of its
        vertex. A `TiledGraph` is read into memory, but see `approximate`. In a graph of NetworkX or
        igraph the weights are the attribute "weight" of the edges, or 1 without it; NetworkX's
        vertices are numbered in the order of its `nodes`.
    n_components : int
        Number of eigenvalues, 1 to n.
    seed : int, RandomState or numpy Generator, optional
        For the random starting vectors; None is a fixed seed. Results with different seeds agree up
        to the tolerance. The same seed gives the same result for any number of threads.
    tol : float, default=1e-4
        Largest residual ``||N v - lambda v||_2``; the eigenvalues are then exact to about
        ``tol**2`` over the gap to the rest of the spectrum. Where all wanted eigenvalues are tiny,
        the residual is at most ``20 * tol`` times the last eigenvalue of the iterated block of
        vectors (but never below 1e-9 unless `tol` itself is).
    max_products : int, optional
        Give up after this number of products of the matrix with a block of vectors. By default
        after some thousands.
    omit_isolated : bool, default=False
        Exclude isolated vertices. By default each is a component of its own, with eigenvalue 0 and
        its indicator as eigenvector.
    smallest_component : int or "auto", default=1
        Exclude connected components with fewer vertices. "auto" excludes isolated vertices and
        components too small to be clusters, those with fewer than ``min(2 log n, sqrt(m) / 2)``
        vertices, where m is the number of vertices in the component of a typical vertex.
    approximate : bool, default=False
        For large graphs (5,000 vertices and more) end as soon as the eigenvectors separate
        clusters: when the wanted eigenvalues have settled to about 10 to 20 %, or are small
        compared with the others. `tol` is not used, and eigenvectors that coarse graphs do not show
        are not searched for. It takes 5 to 30 products where an accurate spectrum takes hundreds,
        as for photographs; if it does not settle in these, the accurate spectrum is computed. A
        `TiledGraph` is processed tile by tile, the eigenvectors are a Dask array, and a warning is
        given if they do not settle in 30 products.
    progress : callable, optional
        Called as ``progress(stage, fraction)``; it may raise `Cancelled`.

    Returns
    -------
    Spectrum
        The eigenvectors of eigenvalue 0 belong to one component each and come in the order of the
        sizes of the components, the largest first.

    Raises
    ------
    ValueError, TypeError
        If the matrix is not square, symmetric, finite and non-negative, or another argument is out
        of its range.
    MemoryError
        If the eigenvectors do not fit into memory.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If the residuals did not reach the tolerance within `max_products`, or eigenvectors may have
        been missed (`Spectrum.converged` is False then).
    GraphWarning
        If the matrix looks like distances.

    Notes
    -----
    The connected components give the eigenvalue 0 and its eigenvectors without iteration. LAPACK
    finds the others for small graphs (n up to 400, or k more than about n / 6, or a dense matrix),
    and otherwise Chebyshev-filtered subspace iteration on a block of vectors, which gives up in
    favor of LAPACK, up to 4,000 vertices, once it has taken as long as that would take.

    A product costs O(nnz * k). A graph with cluster structure takes about 20 to 60 products, and
    more are necessary the closer the wanted eigenvalues are to the next ones: hundreds for a k-NN
    graph of 100,000 points. Memory: about four blocks of n times 1.5 k numbers and a copy of the
    matrix; 3 n^2 numbers where LAPACK is used.

    References
    ----------
    Y. Zhou, Y. Saad, M. L. Tiago, J. R. Chelikowsky, "Self-consistent-field calculations using
    Chebyshev-filtered subspace iteration", J. Comput. Phys. 219 (2006), 172-184.

    Examples
    --------
    The eigenvalues of a cycle of 6 vertices are ``1 - cos(2 pi j / 6)``, most of them twice:

    >>> import numpy as np
    >>> from kdegraph import spectrum
    >>> cycle = np.roll(np.eye(6), 1, axis=0)
    >>> spectrum(cycle + cycle.T, 5).eigenvalues.round(6).tolist()
    [0.0, 0.5, 0.5, 1.5, 1.5]
    """
    tol = check_positive(tol, "tol")
    max_products = None if max_products is None else check_count(max_products, "max_products")
    seed = 0 if seed is None else check_seed(seed)
    smallest_component = check_smallest_component(smallest_component)
    if omit_isolated and smallest_component == 1:
        smallest_component = 2
    if approximate and is_tiled(adjacency):
        from kdegraph.tiles.spectrum import spectrum_by_tiles

        found = spectrum_by_tiles(adjacency, n_components, seed, smallest_component, progress)
        if found is not None:
            return found
    options = seed, smallest_component, approximate, progress
    limits = {"tol": tol, "max_products": max_products}
    return compute_spectrum(adjacency, n_components, *options, **limits)


@responsive
def spectral_clustering(
    adjacency: AdjacencyLike,
    n_clusters: int | Literal["auto"],
    *,
    seed: int | np.random.RandomState | np.random.Generator | None = None,
    embedding: Literal["soft", "softer", "degree", "row", "plain", "layout"] = "soft",
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
    adjacency : SimilarityGraph, sparse or dense (n, n) matrix, or graph of NetworkX or igraph
        Symmetric weights, finite and >= 0, see `spectrum`. A `TiledGraph` is clustered tile by
        tile, see the notes.
    n_clusters : int or "auto"
        "auto": `suggest_n_clusters` of the smallest 20 eigenvalues.
    seed : int, RandomState or numpy Generator, optional
        For k-means and the eigensolver; None means 0. The same seed gives the same labels, whatever
        `set_num_threads` says.
    embedding : {"soft", "softer", "degree", "row", "plain", "layout"}, default="soft"
        Vertices are represented by the rows of ``D^-1/2 U`` ("degree"), of U with rows of length 1
        ("row"), or of U ("plain"), where U holds the first `n_clusters` eigenvectors. "soft" is
        "row" with twice as many eigenvectors, the i-th beyond k multiplied by ``(lambda_k /
        lambda_i)^2``: they count where the spectrum has no clear gap behind `n_clusters`, and
        vanish where it has one. "softer" has the power 1/2 in place of 2. "layout" are the places
        of `graph_layout` in ten dimensions after 100 steps, for "kmeans" only; 11 eigenvectors are
        computed for it.
    assign_labels : {"kmeans", "cluster_qr"} or None, default=None
        How clusters are found from these rows. "cluster_qr" is a pivoted QR factorization, without
        random choices. None is "cluster_qr" for the pixels of a picture (points whose last two
        columns are the rows and columns of a grid, each place once), and "kmeans" for other points.
    n_init : int, default=3
        Number of starts of k-means (k-means++), at most 1,000; the best result is kept.
    smallest_component : int or "auto", default="auto"
        Smallest number of vertices in a connected component that may be a cluster. "auto" is as for
        `spectrum` (or 2, if fewer than `n_clusters` vertices remain); with 2, a pair of outliers
        can be a cluster.
    spectrum : Spectrum, optional
        The spectrum of this graph, if it is known: with ``omit_isolated=True`` or
        `smallest_component`, or of a graph without isolated vertices. Components that it excludes
        are not clusters. It is computed again if it has fewer than `n_clusters` eigenvalues or
        components that are too small.
    points : (n, d) array, optional
        The points that the vertices stand for; by default those of the `SimilarityGraph`.
    progress : callable, optional
        Called as ``progress(stage, fraction)``; it may raise `Cancelled`.

    Returns
    -------
    Clustering
        The labels, the spectrum and the conductances of the clusters.

    Raises
    ------
    ValueError, TypeError
        For bad input, or more clusters than vertices with an edge in components that are large
        enough.
    MemoryError
        If a `TiledGraph` has to be read into memory and does not fit.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If the eigenvalues did not settle.
    GraphWarning
        If the matrix looks like distances.

    Notes
    -----
    *Isolated vertices* do not count as clusters: each gets the label of its nearest point that has
    an edge (in the metric of the kernel), or -1 if no points are known. In a graph without edges,
    all vertices are one cluster; asking for more is an error.

    *Small components*, such as pairs of outliers that drew each other, do not count as clusters
    either: each joins, as a whole, the cluster of its nearest point, or the largest cluster if no
    points are known. Otherwise the clusters of data with outliers or heavy tails would be these
    components, whose conductance is 0.

    *Components.* If the graph has `n_clusters` or more other connected components, those with the
    most vertices are the clusters, and the rest joins them in the same way. All conductances are 0
    then. With fewer components, each is a cluster or a union of clusters.

    *Low degrees.* At vertices of tiny degree (outliers) the error of an eigenvector is large
    compared with its entries. Its product with the matrix, which takes the entries of the
    neighbors, is used there instead, because an exact eigenvector is proportional to it.

    *Embedding.* On 15 sets of points with classes the mean adjusted Rand index is 0.92 with each
    (benchmarks: automatic); "row", and so "soft", is better where clusters touch, or in many
    dimensions. "degree" puts small clusters far from all others: take it where clusters may have
    less than a thousandth of the vertices. "layout" can be better for many clusters in many
    dimensions, is worse in the plane (benchmarks: reference_sets), and costs a layout. "cluster_qr"
    is within 0.02 of k-means, and better for photographs with a small sigma, for which it is the
    default.

    *Large graphs.* For a given number of clusters the spectrum is that of
    ``spectrum(approximate=True)``, which separates clusters as well in a fraction of the time; pass
    a `spectrum` for accurate eigenvalues. k-means is fitted to at most 10,000 random vertices, and
    all others join the nearest center.

    *Tiled graphs.* The labels and eigenvectors of a `TiledGraph` are Dask arrays, computed tile by
    tile and kept in its folder; a small one, or one with a given `spectrum` or `points`, is read
    into memory. Memory: about 90 bytes for each of 100,000,000 points of the plane, of all
    processes together, the graph included (benchmarks: tiled_clusters).

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
        check_choice(
            embedding, "embedding", ("soft", "softer", "degree", "row", "plain", "layout")
        ),
        None
        if assign_labels is None
        else check_choice(assign_labels, "assign_labels", ("kmeans", "cluster_qr")),
        check_count(n_init, "n_init", maximum=MAX_STARTS),
        0 if seed is None else check_seed(seed),
    )
    if rounding.embedding == "layout" and rounding.assign_labels == "cluster_qr":
        raise ValueError("assign_labels must be 'kmeans' or None for the embedding 'layout'")
    in_memory = rounding, smallest_component, spectrum, points, progress
    if not is_tiled(adjacency):
        return cluster(adjacency, n_clusters, *in_memory)
    from kdegraph.tiles.clusters import cluster_by_tiles
    from kdegraph.tiles.graph import TiledGraph, in_blocks

    graph = cast(TiledGraph, adjacency)
    if spectrum is None and points is None and rounding.embedding != "layout":
        number = check_n_clusters(n_clusters, graph.n_vertices)
        found = cluster_by_tiles(graph, number, rounding, smallest_component, progress)
        if found is not None:
            return found
    found = cluster(graph, n_clusters, *in_memory)
    return replace(found, labels=in_blocks(graph, found.labels))
