"""Place the vertices of a graph in a few dimensions, neighbors near each other."""

import math
from collections.abc import Callable

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from kdegraph.geometry.sparse_points import SparseRows
from kdegraph.runtime.jit import jit
from kdegraph.runtime.memory import check_memory
from kdegraph.runtime.parallel import run
from kdegraph.runtime.progress import partial_progress, responsive, stage_progress
from kdegraph.runtime.random import stream, uniform
from kdegraph.spectral.checked_graph import AdjacencyLike, check_adjacency
from kdegraph.spectral.spectrum import compute_spectrum
from kdegraph.validation import check_count, check_seed

__all__ = ["graph_layout"]

# Epochs of a graph with up to `MANY_VERTICES`; of larger ones fewer, but at least `MIN_EPOCHS`.
N_EPOCHS, MIN_EPOCHS = 200, 40
MANY_VERTICES = 100_000
# Layouts in which clusters are found have more dimensions than a picture, so that clusters need not
# be torn, and fewer epochs: 200 take twice as long, and what replicates agree on is no better.
CLUSTER_DIMENSIONS, CLUSTER_EPOCHS = 10, 100
# Random vertices that push a vertex away in each epoch. With 20 the layouts are no better.
N_PUSHING = 10
# How many times more vertices push a vertex away than pull it, as in UMAP.
REPULSION = 5.0
# Largest coordinate at the beginning, in units of the distance within which vertices attract each
# other, and the standard deviation of what is added, so that no two places are equal.
EXTENT, JITTER = 10.0, 1e-3


@responsive
def graph_layout(
    adjacency: AdjacencyLike,
    n_components: int = 2,
    *,
    seed: int | np.random.RandomState | np.random.Generator | None = None,
    progress: Callable[[str, float], object] | None = None,
) -> NDArray[np.float64]:
    """Place the vertices of a graph in a few dimensions, so that neighbors are near each other.

    The picture of points in many dimensions: the graph is what it knows of them. Distances between
    clusters, and the sizes of clusters, mean little.

    Parameters
    ----------
    adjacency : SimilarityGraph, sparse or dense (n, n) matrix, or graph of NetworkX or igraph
        Symmetric weights, finite and >= 0. A `TiledGraph` is read into memory.
    n_components : int, default=2
        Dimensions, at least 1.
    seed : int, RandomState or numpy Generator, optional
        For the start and for the random vertices that push others away; None means 0. The same seed
        gives the same places, whatever `set_num_threads` says.
    progress : callable, optional
        Called as ``progress(stage, fraction)``; it may raise `Cancelled`.

    Returns
    -------
    (n, n_components) float64 array
        In units of the distance within which vertices attract each other. Vertices without an edge
        stay near the origin.

    Raises
    ------
    ValueError, TypeError
        For a matrix that is not an adjacency matrix (see `spectrum`), or an `n_components` or a
        `seed` that cannot be used.
    MemoryError
        If the places do not fit into memory.

    Notes
    -----
    The places reduce the cross entropy of the weights, each divided by the largest one of its
    vertex, and of the similarities ``1 / (1 + r^2)`` of places at distance r. Along each edge
    vertices pull each other, and random pairs push each other apart, five times as many as pull.
    All vertices move at once, 200 times (less often if there are more than 100,000 of them) with
    steps that become smaller. They start from the first eigenvectors of the normalized Laplacian.

    Cost: that of these eigenvectors and O(number of edges * n_components) for each of the 200
    steps.

    References
    ----------
    L. McInnes, J. Healy, J. Melville, "UMAP: Uniform Manifold Approximation and Projection for
    Dimension Reduction", arXiv:1802.03426 (2018). J. Tang, J. Liu, M. Zhang, Q. Mei, "Visualizing
    large-scale and high-dimensional data", WWW 2016 (the similarities).

    Examples
    --------
    >>> import kdegraph
    >>> X = kdegraph.datasets.make("blobs", n=300, seed=0).X
    >>> graph = kdegraph.similarity_graph(X, seed=0)
    >>> kdegraph.graph_layout(graph).shape
    (300, 2)
    """
    n_components = check_count(n_components, "n_components")
    seed = 0 if seed is None else check_seed(seed)
    graph, eigenvectors = start(adjacency, n_components, seed, progress)
    report = stage_progress(progress, "layout")
    return place(graph, eigenvectors, n_components, N_EPOCHS, seed, report)


def start(adjacency, n_components, seed, progress=None):
    """Return the `CheckedGraph`, and the eigenvectors from which its layout starts."""
    graph = check_adjacency(adjacency, progress=stage_progress(progress, "components"))
    need = f"{n_components} coordinates of {graph.n} vertices need"
    check_memory(4 * 8 * graph.n * n_components, need, "use fewer n_components")
    most = graph.n_in_components(graph.smallest_component("auto"))
    eigenvectors = np.empty((graph.n, 0))
    if most > 1:
        k = min(n_components + 1, most)
        eigenvectors = compute_spectrum(graph, k, seed, "auto", True, progress).eigenvectors
    return graph, eigenvectors


def place_clusters(graph, eigenvectors, seed, progress=None):
    """Return a layout of a `CheckedGraph` to find clusters in, (n, CLUSTER_DIMENSIONS)."""
    return place(graph, eigenvectors, CLUSTER_DIMENSIONS, CLUSTER_EPOCHS, seed, progress)


def place(graph, eigenvectors, n_components, n_epochs, seed, progress=None):
    """Return the layout of a `CheckedGraph` with known eigenvectors; see `graph_layout`.

    Graphs with more than `MANY_VERTICES` have fewer epochs.
    """
    weights = _relative_weights(graph)
    pulls = weights.sum(axis=1)
    weights = SparseRows(weights.indptr, weights.indices, weights.data)
    # Vertices begin at their rows of eigenvectors, then zeros, and a little noise.
    places = np.random.default_rng(seed).normal(scale=JITTER, size=(graph.n, n_components))
    known = eigenvectors[:, 1 : 1 + n_components]
    places[:, : known.shape[1]] += EXTENT / np.abs(known).max(axis=0, initial=1e-300) * known
    moved = np.empty_like(places)
    n_epochs = max(MIN_EPOCHS, math.ceil(n_epochs * min(1.0, MANY_VERTICES / graph.n)))
    for epoch in range(n_epochs):
        part = partial_progress(progress, epoch / n_epochs, (epoch + 1) / n_epochs)
        numbers = 1.0 - epoch / n_epochs, np.uint64(seed), epoch
        run(_move, graph.n, weights, pulls, places, moved, *numbers, progress=part)
        places, moved = moved, places
    return places


def _relative_weights(graph):
    """Return the weights without loops, each divided by the smaller of its ends' largest ones."""
    indptr, indices, weights = graph.matrix
    rows = np.repeat(np.arange(graph.n), np.diff(indptr))
    weights = np.where(rows == indices, 0.0, weights)
    largest = np.full(graph.n, np.finfo(float).tiny)
    np.maximum.at(largest, rows, weights)
    relative = weights / np.minimum(largest[rows], largest[indices])
    return scipy.sparse.csr_array((relative, indices, indptr), shape=(graph.n, graph.n))


@jit(reassociate=True, distinct=True)
def _move(begin, end, matrix, pulls, places, moved, step, seed, epoch):
    """Write where vertices `begin` to `end` move in one epoch.

    A step as long as the pulls together would overshoot; it is divided by 1 + `step` times their
    sum, as in an implicit method.
    """
    indptr, neighbors, weights = matrix
    n, d = places.shape
    force = np.empty(d)
    for i in range(begin, end):
        force[:] = 0.0
        stiffness = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j = neighbors[e]
            # The edge pulls both of its vertices, once from either side.
            pull = 4.0 * weights[e] / (1.0 + _squared_distance(places, i, j))
            stiffness += pull
            for c in range(d):
                force[c] += pull * (places[j, c] - places[i, c])
        share = REPULSION * pulls[i] / N_PUSHING
        numbers = stream(seed, i, epoch)
        for s in range(N_PUSHING):
            j = int(uniform(numbers, s) * n)
            if j != i:
                squared = _squared_distance(places, i, j)
                # Vertices at the same place are not thrown apart too far, and none causes a step of
                # more than 4.
                push = 2.0 / ((1e-3 + squared) * (1.0 + squared))
                push = share * min(push, 4.0 / math.sqrt(squared + 1e-12))
                for c in range(d):
                    force[c] += push * (places[i, c] - places[j, c])
        for c in range(d):
            moved[i, c] = places[i, c] + step * force[c] / (1.0 + step * stiffness)


@jit(reassociate=True, inline=True)
def _squared_distance(places, i, j):
    total = 0.0
    for c in range(places.shape[1]):
        total += (places[i, c] - places[j, c]) ** 2
    return total
