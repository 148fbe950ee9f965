"""Labels from the rows that represent vertices: by k-means or a pivoted QR factorization."""

from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from kdegraph.bandwidth import is_pixel_grid
from kdegraph.clustering.embedding import FADING
from kdegraph.eigengap import axes_near
from kdegraph.layout import CLUSTER_DIMENSIONS
from kdegraph.runtime.threads import blas_threads, openmp

MAX_STARTS = 1_000  # of k-means, which cannot be interrupted
MAX_SAMPLE = 10_000  # largest number of rows that k-means is fitted to


class Rounding(NamedTuple):
    """The parameters of `spectral_clustering` for labels from eigenvectors."""

    embedding: str
    assign_labels: str | None
    n_init: int
    seed: int

    def for_points(self, points):
        """Return the parameters with `assign_labels` chosen for points, if it was not given."""
        if self.assign_labels is not None:
            return self
        takes_axes = self.embedding != "layout"  # places have none, as eigenvectors do
        in_picture = takes_axes and points is not None and is_pixel_grid(points)
        return self._replace(assign_labels="cluster_qr" if in_picture else "kmeans")

    def n_eigenvectors(self, n_clusters, most):
        """Return the number of eigenvectors that represent vertices, at most `most`."""
        if self.embedding == "layout":
            return min(1 + CLUSTER_DIMENSIONS, most)
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
        return self.fit(rows[chosen], n_clusters, rng, weight).predict(rows)

    def fit(self, sample, n_clusters, rng, weight=None):
        """Return `Axes` or `Centers` for rows of an embedding that stand for all."""
        if self.assign_labels == "cluster_qr":
            return Axes(axes_near(sample))
        # It is slow to import, and clusters that are connected components do not need it.
        from sklearn.cluster import KMeans

        # Rows that agree to four decimals count as equal; 0.0 is added because of -0.0.
        distinct = {row.tobytes() for row in np.round(sample, 4) + 0.0}
        k = min(n_clusters, len(distinct))
        state = int(rng.integers(2**32))
        with _few_threads():
            found = KMeans(k, n_init=self.n_init, random_state=state)
            return Centers(found.fit(sample, sample_weight=weight))


def choose_rows(n, rng):
    """Return the numbers of a sample of n rows, or of all if these are few enough."""
    return rng.choice(n, MAX_SAMPLE, replace=False) if n > MAX_SAMPLE else np.arange(n)


def extremes(rows):
    """Return the rows with the extremes of each column, which belong to the sample so that small
    clusters are not missed.
    """
    return np.concatenate([np.argmax(rows, axis=0), np.argmin(rows, axis=0)])


@contextmanager
def _few_threads():
    """Let k-means use one thread: with several, its small steps would mostly wait for each other.

    It limits the threads of BLAS by itself, and at its end restores the number that it has found,
    also for other threads of the program. So that is one before it begins.
    """
    with blas_threads(0), openmp().limit(limits=1):
        yield


class Centers(NamedTuple):
    """The means of clusters, as a fitted `KMeans` of scikit-learn."""

    fitted: Any

    def predict(self, rows):
        """Return the center that each row is closest to, (m,) int32."""
        with _few_threads():
            return self.fitted.predict(rows)


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

    def predict(self, rows):
        """Return the axis that each row is closest to, (m,) int32."""
        with blas_threads(0):
            return np.abs(rows @ self.columns).argmax(axis=1).astype(np.int32)
