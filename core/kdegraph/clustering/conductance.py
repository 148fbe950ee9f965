"""Conductance of clusters."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.spectral.checked_graph import AdjacencyLike, check_adjacency
from kdegraph.validation import as_array


def conductance(adjacency: AdjacencyLike, labels: ArrayLike) -> NDArray[np.float64]:
    """Compute the conductance ``w(S, V \\ S) / vol(S)`` of every cluster S of a graph.

    Parameters
    ----------
    adjacency : SimilarityGraph, sparse or dense (n, n) matrix, or graph of NetworkX or igraph
        Symmetric weights, finite and >= 0.
    labels : (n,) array of integers
        Vertices with negative labels (noise) are in no cluster: edges to them leave a cluster.

    Returns
    -------
    (k,) float64 array
        For the clusters in the order of ``np.unique(labels)`` without the negative ones; in [0, 1].
        A cluster without edges (volume 0) has conductance 0.

    Raises
    ------
    ValueError, TypeError
        For a matrix that is not an adjacency matrix (see `spectrum`), or labels of another length
        or kind.

    Notes
    -----
    Cost: O(number of edges).

    Examples
    --------
    Of the triangle in a graph of four vertices, one edge of seven ends leads outside:

    >>> from kdegraph import conductance
    >>> A = [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]]
    >>> conductance(A, [0, 0, 0, 1]).round(3).tolist()
    [0.143, 1.0]
    """
    graph = check_adjacency(adjacency)
    array = as_array(labels, "labels")
    if array.dtype.kind not in "iub":
        raise TypeError(
            f"labels must be whole numbers, got dtype {array.dtype}; "
            "np.unique(labels, return_inverse=True)[1] turns names into numbers"
        )
    if array.shape != (graph.n,):
        raise ValueError(f"labels must have shape ({graph.n},), one per vertex, got {array.shape}")
    array = array if array.dtype.kind == "u" else array.astype(np.int64)
    values, number = np.unique(array, return_inverse=True)
    n_noise = np.sum(values < 0)
    return conductances_of(graph, np.maximum(number - n_noise, -1).astype(np.int32))


def conductances_of(graph, labels):
    """Return the conductances of the clusters of a `CheckedGraph`. The labels, an int32 array, are
    numbers from 0, and -1 for noise, which is one set.
    """
    cut = np.empty(graph.n)
    parallel.run(_cut_weights, graph.n, graph.matrix, labels, cut)
    return quotients(*(np.bincount(labels + 1, of_rows)[1:] for of_rows in (cut, graph.degrees)))


def quotients(cuts, volumes):
    """Return the conductances of clusters with these cut weights and volumes."""
    return np.minimum(np.divide(cuts, volumes, out=np.zeros(len(cuts)), where=volumes > 0), 1.0)


@jit(distinct=True, reassociate=True)
def _cut_weights(start, stop, matrix, labels, cut):
    indptr, indices, weights = matrix
    for i in range(start, stop):
        own, total = labels[i], 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += weights[p] if labels[np.uint32(indices[p])] != own else 0.0
        cut[i] = total
