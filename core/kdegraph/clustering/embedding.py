"""Rows that represent vertices, from eigenvectors."""

import numpy as np
import scipy.sparse

from kdegraph.eigengap import MAX_ZERO
from kdegraph.spectral.solver.rayleigh_ritz import MIN_DIVISOR

# Eigenvectors beyond the k-th one are multiplied by this power of ``lambda_k / lambda_i``. Without
# a gap after the k-th eigenvalue it is random which eigenvectors are the first k, and some clusters
# are seen in the next ones only.
FADING = {"soft": 2.0, "softer": 0.5}


def embed(graph, spectrum, k, n_vectors, vertices, kind):
    """Return rows that represent some `vertices` of a `CheckedGraph`, (m, n_vectors) float64, from
    its `Spectrum`. The root mean square of each column is 1, over the degrees for "degree".

    The rows are those of ``D^-1/2 U`` for the `kind` "degree", of U for "plain", and of U with rows
    of length 1 for "soft", "softer" and "row". Eigenvectors beyond the number of clusters k have
    smaller factors, see `FADING`.
    """
    degrees = graph.degrees[vertices]
    weight = degrees / degrees.mean()
    rows = spectrum.eigenvectors[vertices, :n_vectors]
    low = np.flatnonzero(weight < 0.1)  # vertices of low degree
    _take_from_neighbors(graph, spectrum, vertices[low], rows, low)
    if kind == "degree":
        rows /= np.sqrt(weight)[:, None]
    rows = represent(rows, len(vertices), spectrum.eigenvalues[:n_vectors], k, kind)
    if kind == "degree":
        rows *= limits(np.abs(rows).max(axis=0))
    return rows


def _take_from_neighbors(graph, spectrum, vertices, rows, low):
    """Set ``rows[low]``, those of `vertices` of low degree, from the rows of their neighbors.

    The absolute error of an eigenvector is large compared with its entries at vertices of tiny
    degree (outliers). An exact eigenvector is its product with M, divided by 1 - eigenvalue, and
    the neighbors mostly have larger degrees; this is used where 1 - eigenvalue is not small.
    """
    indptr, indices, weights = graph.matrix
    edges = scipy.sparse.csr_array((weights, indices, indptr), shape=(graph.n, graph.n))[vertices]
    edges.data /= np.sqrt(graph.degrees[edges.indices])
    k = rows.shape[1]
    image = edges @ spectrum.eigenvectors[:, :k] / np.sqrt(graph.degrees[vertices])[:, None]
    values = 1.0 - spectrum.eigenvalues[:k]
    usable = values > MIN_DIVISOR
    rows[low] = np.where(usable, image / np.where(usable, values, 1.0), rows[low])


def represent(rows, n, eigenvalues, k, kind):
    """Return rows that represent some of n vertices as `embed` does, before the `limits` on
    columns.

    The (m, n_vectors) `rows`, which are overwritten, are those of ``D^-1/2 U`` for "degree", with
    degrees in units of their mean, of U for "plain", and of either for the others.
    """
    if kind in FADING:
        beyond = eigenvalues[k:]
        ratio = eigenvalues[k - 1] / np.maximum(beyond, MAX_ZERO)
        rows[:, k:] *= np.where(beyond > MAX_ZERO, ratio, 1) ** FADING[kind]
    if kind in ("soft", "softer", "row"):
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows /= np.where(lengths > 0, lengths, 1.0)[:, None]
        return rows
    return rows * np.sqrt(n)


def limits(largest):
    """Return the factors that limit columns with these largest magnitudes to 1,000 times their root
    mean square, for the kind "degree".
    """
    return np.where(largest > 1e3, 1e3 / largest, 1.0)
