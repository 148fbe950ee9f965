"""From eigenvectors to labels: the rows that represent vertices, and two ways to cluster them."""

import numpy as np
import scipy.linalg
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from kdegraph.eigengap import MAX_ZERO
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit

KMEANS_ROWS = 20_000  # k-means is fitted to at most so many rows
# Coordinates are scaled down to this many times the root mean square of their column.
MAX_COORDINATE = 1e3
# Decimals to which rows are told apart, in units of the root mean square.
ROW_DECIMALS = 4


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
    rows *= _fade(spectrum.eigenvalues[:n_vectors], k)
    if kind in ("soft", "row"):
        lengths = np.linalg.norm(rows, axis=1)
        return rows / np.where(lengths > 0, lengths, 1.0)[:, None]
    if kind == "plain":
        return rows * np.sqrt(weight)[:, None] * np.sqrt(len(vertices))
    rows *= np.sqrt(len(vertices))
    largest = np.abs(rows).max(axis=0)
    return rows * np.where(largest > MAX_COORDINATE, MAX_COORDINATE / largest, 1.0)


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


def kmeans(rows, k, seed, n_init):
    """Labels by k-means, which is fitted to a sample where there are many rows.

    Returns
    -------
    (m,) int32 array
        With fewer than `k` values if `rows` has fewer distinct rows.
    """
    rng = np.random.default_rng(seed)
    sample = rows
    if len(rows) > KMEANS_ROWS:
        chosen = rng.choice(len(rows), KMEANS_ROWS, replace=False)
        # The extremes belong to the sample so that a small cluster is not left out.
        extremes = np.concatenate([np.argmax(rows, axis=0), np.argmin(rows, axis=0)])
        sample = rows[np.union1d(chosen, extremes)]
    k = min(k, len(np.unique(np.round(sample, ROW_DECIMALS), axis=0)))
    state = int(rng.integers(2**32))
    # With several threads, the small steps of k-means wait longer for each other than they work.
    with threadpool_limits(1, user_api="openmp"):
        fitted = KMeans(k, n_init=n_init, random_state=state).fit(sample)
        return fitted.labels_ if len(sample) == len(rows) else fitted.predict(rows)


def cluster_qr(rows):
    """Labels by a pivoted QR factorization.

    As many vertices as there are columns are chosen by a QR factorization with pivoting, in
    directions as different as can be; each row is labeled by the one of the orthogonal axes nearest
    to these directions that it is closest to.

    Returns
    -------
    (m,) int32 array

    References
    ----------
    A. Damle, V. Minden, L. Ying, "Simple, direct and efficient multi-way spectral clustering",
    Information and Inference 8 (2019), 181-203.
    """
    k = rows.shape[1]
    _, pivots = scipy.linalg.qr(rows.T, mode="r", pivoting=True)
    axes, _ = scipy.linalg.polar(rows[pivots[:k]].T)
    return np.abs(rows @ axes).argmax(axis=1).astype(np.int32)
