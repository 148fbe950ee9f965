"""Rows that represent vertices, from eigenvectors, and their labels: by k-means or a pivoted QR
factorization.
"""

from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from threadpoolctl import threadpool_limits

from kdegraph.bandwidth import is_pixel_grid
from kdegraph.eigengap import MAX_ZERO
from kdegraph.runtime.threads import blas_threads
from kdegraph.spectral.solver.rayleigh_ritz import MIN_DIVISOR

LAYOUT_DIMENSIONS = 10  # more than a picture has, so that clusters need not be torn
MAX_SAMPLE = 10_000  # largest number of rows that k-means is fitted to
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


class Rounding(NamedTuple):
    """The parameters of `spectral_clustering` for labels from eigenvectors."""

    embedding: str
    assign_labels: str | None
    n_init: int
    seed: int

    def for_points(self, points):
        """Return the parameters with a value of `assign_labels` for these points (or None), if none
        was given.
        """
        if self.assign_labels is not None:
            return self
        takes_axes = self.embedding != "layout"  # places have none, as eigenvectors do
        in_picture = takes_axes and points is not None and is_pixel_grid(points)
        return self._replace(assign_labels="cluster_qr" if in_picture else "kmeans")

    def n_eigenvectors(self, n_clusters, most):
        """Return the number of eigenvectors that represent vertices, at most `most`."""
        if self.embedding == "layout":
            return min(1 + LAYOUT_DIMENSIONS, most)
        if self.embedding not in FADING or self.assign_labels == "cluster_qr":
            return n_clusters
        return min(2 * n_clusters, most)

    def labels(self, rows, n_clusters, weight=None):
        """Return labels for the rows of an embedding, (m,) int32, with fewer values than clusters
        if there are fewer distinct rows. The rows may have a weight each.
        """
        rng = np.random.default_rng(self.seed)
        chosen = slice(None)
        if self.assign_labels == "kmeans" and len(rows) > MAX_SAMPLE:
            chosen = np.union1d(choose_rows(len(rows), rng), extremes(rows))
        weight = None if weight is None else weight[chosen]
        return predict(self.fit(rows[chosen], n_clusters, rng, weight), rows)

    def fit(self, sample, n_clusters, rng, weight=None):
        """Fit a model for `predict` to rows of an embedding that stand for all."""
        if self.assign_labels == "cluster_qr":
            return Axes.of(sample)
        # It is slow to import, and clusters that are connected components do not need it.
        from sklearn.cluster import KMeans

        # Rows that agree to four decimals count as equal; 0.0 is added because of -0.0.
        distinct = {row.tobytes() for row in np.round(sample, 4) + 0.0}
        k = min(n_clusters, len(distinct))
        state = int(rng.integers(2**32))
        with _few_threads():
            return KMeans(k, n_init=self.n_init, random_state=state).fit(
                sample, sample_weight=weight
            )


def choose_rows(n, rng):
    """Return the numbers of a sample of n rows, or of all if these are few enough."""
    return rng.choice(n, MAX_SAMPLE, replace=False) if n > MAX_SAMPLE else np.arange(n)


def extremes(rows):
    """Return the rows with the extremes of each column, which belong to the sample so that small
    clusters are not missed.
    """
    return np.concatenate([np.argmax(rows, axis=0), np.argmin(rows, axis=0)])


def predict(fitted, rows):
    """Return labels for rows by a model that `Rounding.fit` has returned."""
    with _few_threads():
        return fitted.predict(rows)


@contextmanager
def _few_threads():
    """Let k-means use one thread: with several, its small steps would mostly wait for each other.

    It limits the threads of BLAS by itself, and at its end restores the number that it has found,
    also for other threads of the program. So that is one before it begins.
    """
    with blas_threads(0), threadpool_limits(1, user_api="openmp"):
        yield


class Axes(NamedTuple):
    """Orthogonal axes, one for each cluster, from a pivoted QR factorization.

    A QR factorization with pivoting chooses one row for each column, in directions that are as
    different as possible, and the axes are the orthogonal ones nearest to these directions.

    References
    ----------
    A. Damle, V. Minden, L. Ying, "Simple, direct and efficient multi-way spectral clustering",
    Information and Inference 8 (2019), 181-203.
    """

    columns: np.ndarray

    @classmethod
    def of(cls, rows):
        """Return the axes for the rows of an embedding."""
        k = rows.shape[1]
        _, pivots = scipy.linalg.qr(rows.T, mode="r", pivoting=True)
        return cls(scipy.linalg.polar(rows[pivots[:k]].T)[0])

    def predict(self, rows):
        """Return the axis that each row is closest to, (m,) int32."""
        return np.abs(rows @ self.columns).argmax(axis=1).astype(np.int32)
