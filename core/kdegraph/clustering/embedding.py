"""From eigenvectors to the rows that represent vertices."""

import numpy as np

from kdegraph.eigengap import MAX_ZERO

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
    rows = spectrum.eigenvectors[vertices, :n_vectors]
    if kind == "degree":
        degrees = graph.degrees[vertices]
        rows /= np.sqrt(degrees / degrees.mean())[:, None]
    rows = represent(rows, len(vertices), spectrum.eigenvalues[:n_vectors], k, kind)
    if kind == "degree":
        rows *= limits(np.abs(rows).max(axis=0))
    return rows


def represent(rows, n, eigenvalues, k, kind):
    """Rows that represent some of n vertices.

    Parameters
    ----------
    rows : (m, n_vectors) float64 array
        Of ``D^-1/2 U`` for "degree", with degrees in units of their mean, of U for "plain", and of
        either for the others; overwritten.
    n : int
    eigenvalues : (n_vectors,) float64 array
    k, kind
        See `embed`.

    Returns
    -------
    (m, n_vectors) float64 array
        Those of `embed`, but for the `limits` on columns.
    """
    rows *= _fade(eigenvalues, k)
    if kind in ("soft", "row"):
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows /= np.where(lengths > 0, lengths, 1.0)[:, None]
        return rows
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
