"""From eigenvectors to cluster labels: the rows that represent vertices, and two ways to part them."""

import numpy as np
import scipy.linalg
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit

SAMPLE = 20_000  # k-means starts from so many rows at most
# Coordinates beyond this many times the root mean square of their column say no more than this.
FAR = 1e3
DISTINCT = 4  # decimals to which rows are told apart, in units of the root mean square


def embed(graph, spectrum, k, vertices, kind):
    """Rows that represent the vertices.

    Parameters
    ----------
    graph : Graph
    spectrum : Spectrum
    k : int
        Number of eigenvectors to use.
    vertices : (m,) int array
    kind : {"degree", "row", "plain"}
        ``D^-1/2 U``, U with rows of length 1, or U.

    Returns
    -------
    (m, k) float64 array
        Columns with a root mean square (over the degrees for "degree") of 1.
    """
    degrees = graph.degrees[vertices]
    weight = degrees / degrees.mean()
    rows = np.zeros((graph.n, k))
    rows[vertices] = spectrum.eigenvectors[vertices, :k] / np.sqrt(weight)[:, None]
    # An eigenvector is accurate to an absolute error, which the division magnifies at vertices of
    # tiny degree (outliers). The rows of an exact one obey row = mean of the neighbors' rows / (1 -
    # eigenvalue), and those neighbors are mostly of larger degree.
    smooth = np.empty_like(rows)
    parallel.run(_neighbor_means, graph.n, graph.matrix, graph.degrees, rows, smooth)
    remaining = 1.0 - spectrum.eigenvalues[:k]
    rows = np.where(
        remaining > 0.5,
        smooth[vertices] / np.where(remaining > 0.5, remaining, 1.0),
        rows[vertices],
    )
    if kind == "row":
        lengths = np.linalg.norm(rows, axis=1)
        return rows / np.where(lengths > 0, lengths, 1.0)[:, None]
    if kind == "plain":
        return rows * np.sqrt(weight)[:, None] * np.sqrt(len(vertices))
    rows *= np.sqrt(len(vertices))
    largest = np.abs(rows).max(axis=0)
    return rows * np.where(largest > FAR, FAR / largest, 1.0)


@jit
def _neighbor_means(start, stop, matrix, degrees, rows, means):
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
    if len(rows) > SAMPLE:
        chosen = rng.choice(len(rows), SAMPLE, replace=False)
        extreme = np.concatenate(
            [np.argmax(rows, axis=0), np.argmin(rows, axis=0)]
        )  # a small cluster must not be left out
        sample = rows[np.union1d(chosen, extreme)]
    k = min(k, len(np.unique(np.round(sample, DISTINCT), axis=0)))
    state = int(rng.integers(2**32))
    with threadpool_limits(
        1, user_api="openmp"
    ):  # threads that wait for each other cost more than such small steps
        fitted = KMeans(k, n_init=n_init, random_state=state).fit(sample)
        return fitted.labels_ if len(sample) == len(rows) else fitted.predict(rows)


def cluster_qr(rows):
    """Labels by the method of Damle, Minden and Ying ("Simple, direct and efficient multi-way
    spectral clustering", 2019).

    As many vertices as there are columns are chosen by a QR factorization with pivoting, in
    directions as different as can be; each row is labeled by the one of the orthogonal axes nearest
    to these directions that it is closest to.

    Returns
    -------
    (m,) int32 array
    """
    k = rows.shape[1]
    _, pivots = scipy.linalg.qr(rows.T, mode="r", pivoting=True)
    axes, _ = scipy.linalg.polar(rows[pivots[:k]].T)
    return np.abs(rows @ axes).argmax(axis=1).astype(np.int32)
