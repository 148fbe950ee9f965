"""From eigenvectors to the rows that represent vertices."""

import numpy as np

from kdegraph.eigengap import MAX_ZERO
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit

# Coordinates are scaled down to this many times the root mean square of their column.
MAX_COORDINATE = 1e3


def embed(graph, spectrum, k, n_vectors, vertices, kind):
    """Rows that represent the vertices.

    Parameters
    ----------
    graph : CheckedGraph
    spectrum : Spectrum
    k : int
        Number of clusters.
    n_vectors : int
        Number of eigenvectors to use. Those beyond k fade, see `_fade`.
    vertices : (m,) int array
    kind : {"soft", "degree", "row", "plain"}
        ``D^-1/2 U`` for "degree", U for "plain", and U with rows of length 1 for the others.

    Returns
    -------
    (m, n_vectors) float64 array
        Columns with a root mean square (over the degrees for "degree") of 1.
    """
    degrees = graph.degrees[vertices]
    weight = degrees / degrees.mean()
    rows = _degree_rows(graph, spectrum, n_vectors, vertices, weight)
    rows = represent(rows, weight, len(vertices), spectrum.eigenvalues[:n_vectors], k, kind)
    if kind == "degree":
        rows *= limits(np.abs(rows).max(axis=0))
    return rows


def represent(degree_rows, weight, n, eigenvalues, k, kind):
    """Rows that represent some of n vertices, from their rows of ``D^-1/2 U``.

    Parameters
    ----------
    degree_rows : (m, n_vectors) float64 array
        With degrees in units of their mean; overwritten.
    weight : (m,) float64 array
        The degrees, in the same unit.
    n : int
    eigenvalues : (n_vectors,) float64 array
    k, kind
        See `embed`.

    Returns
    -------
    (m, n_vectors) float64 array
        Those of `embed`, but for the `limits` on columns.
    """
    rows = degree_rows
    rows *= _fade(eigenvalues, k)
    if kind in ("soft", "row"):
        lengths = np.linalg.norm(rows, axis=1)
        return rows / np.where(lengths > 0, lengths, 1.0)[:, None]
    if kind == "plain":
        rows *= np.sqrt(weight)[:, None]
    return rows * np.sqrt(n)


def limits(largest):
    """Factors of columns whose largest entries have these magnitudes, for the kind "degree"."""
    return np.where(largest > MAX_COORDINATE, MAX_COORDINATE / largest, 1.0)


def _fade(eigenvalues, k):
    """Factors of the eigenvectors: 1 for the first k, ``(lambda_k / lambda_i)^2`` for the i-th.

    Without a gap behind the k-th eigenvalue which eigenvectors are the first k is a matter of
    chance, and clusters are lost that the next ones show.
    """
    factors = np.ones(eigenvalues.size)
    beyond = eigenvalues[k:]
    factors[k:] = np.where(beyond > MAX_ZERO, eigenvalues[k - 1] / np.maximum(beyond, MAX_ZERO), 1)
    return factors**2


def _degree_rows(graph, spectrum, k, vertices, weight):
    """The rows of ``D^-1/2 U``, with degrees in units of their mean.

    An eigenvector is accurate to an absolute error, which the division magnifies at vertices of
    tiny degree (outliers). The rows of an exact one obey row = mean of the neighbors' rows / (1 -
    eigenvalue), and those neighbors mostly have larger degrees; this is used instead where 1 -
    eigenvalue is not small.
    """
    rows = np.zeros((graph.n, k))
    rows[vertices] = spectrum.eigenvectors[vertices, :k] / np.sqrt(weight)[:, None]
    smooth = np.empty_like(rows)
    parallel.run(_neighbor_means, graph.n, graph.matrix, graph.degrees, rows, smooth)
    remaining = 1.0 - spectrum.eigenvalues[:k]
    usable = remaining > 0.5
    return np.where(usable, smooth[vertices] / np.where(usable, remaining, 1.0), rows[vertices])


@jit
def _neighbor_means(start, stop, matrix, degrees, rows, means):
    """Weighted means of the rows of each vertex's neighbors."""
    indptr, indices, weights = matrix
    for i in range(start, stop):
        means[i] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            share = weights[p] / degrees[i]
            for c in range(rows.shape[1]):
                means[i, c] += share * rows[indices[p], c]
