"""Clusters from precomputed matrices: of weights as they are, or of distances by a kernel."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from kdegraph.adjacency import with_copies
from kdegraph.bandwidth import bounded_mean
from kdegraph.geometry.kernels import Kernel
from kdegraph.graph_parameters import Scale
from kdegraph.local_bandwidth import bandwidths_of_distances, neighbors_needed
from kdegraph.scaled_kernel import Bandwidth, check_sigma
from kdegraph.sparse_checks import check_sparse
from kdegraph.spectral.checked_graph import GraphParts, asymmetric
from kdegraph.validation import as_array, check_fraction, check_sample_weight

AFFINITIES = ("kernel", "precomputed", "precomputed_distances")


class Distances(NamedTuple):
    """Turn distances between points, and from new points to these, into weights."""

    place: NDArray[np.int32]  # (n,): the same number for points at distance zero
    sigma: Bandwidth  # that of all points, or (n,)
    scale: Scale  # the parameters of the bandwidths
    kernel: str
    # (n,): what each point multiplies its weights by: its own weight, and ``g_i ** -alpha``.
    factor: NDArray[np.float64]

    @classmethod
    def fitted(cls, X, scale, kernel, alpha, sample_weight) -> "tuple[Distances, GraphParts]":
        """Return the transformation, and the symmetric weights between the points: zero for pairs
        whose distance is not stored in a sparse matrix, and on the diagonal but for points that
        stand for several.
        """
        rows = _square(X)
        n, alpha = rows.shape[0], check_fraction(alpha, "alpha")
        scale = scale if scale.sigma is not None else scale._replace(sigma="local")
        zero = np.flatnonzero(rows.data == 0)
        pairs = _row_numbers(rows)[zero], rows.indices[zero]
        identical = scipy.sparse.csr_array((np.ones(len(zero)), pairs), shape=rows.shape)
        place = connected_components(identical, directed=False)[1]
        sigma = _bandwidth(rows, place, scale)
        own = check_sample_weight(sample_weight, n)
        found = cls(place, sigma, scale, kernel, np.ones(n) if own is None else own)
        weights = found._weights(rows, sigma)
        weights.data[rows.indices == _row_numbers(rows)] = 0.0
        weights = weights.maximum(weights.T)
        density = found.factor + weights @ found.factor
        if alpha > 0:
            found = found._replace(factor=found.factor * density**-alpha)
        weights.data *= found.factor[weights.indices] * found.factor[_row_numbers(weights)]
        if own is not None:
            weights = with_copies(weights, own, density, alpha)
        return found, GraphParts(weights, sample_weight=own)

    def of_new(self, X) -> scipy.sparse.csr_array:
        """Return weights between new points and the fitted ones, from rows of distances; those of a
        row have a common factor if densities are divided out. Out of reach of all fitted points, 1
        for the nearest.
        """
        rows, sigma = _rows(X, len(self.place)), self.sigma
        if isinstance(sigma, np.ndarray):
            if not isinstance(self.scale.sigma, str):
                raise ValueError(
                    "bandwidths of new points are unknown, as sigma was an array with those of the "
                    "fitted points; take sigma='local' or a number"
                )
            sigma = _bandwidth(rows, self.place, self.scale)
        weights = self._weights(rows, sigma)
        weights.data *= self.factor[weights.indices]
        for i in np.flatnonzero(weights.sum(axis=1) == 0):  # out of reach of all fitted points
            stored = slice(*rows.indptr[i : i + 2])
            weights.data[stored] = rows.data[stored] == rows.data[stored].min(initial=np.inf)
        return weights

    def _weights(self, rows, of_rows):
        """Return the kernel values of rows of distances with these bandwidths."""
        n_rows, n = rows.shape
        pair = np.sqrt(np.broadcast_to(of_rows, n_rows))[_row_numbers(rows)]
        pair *= np.sqrt(np.broadcast_to(self.sigma, n))[rows.indices]
        with np.errstate(over="ignore"):
            scaled = np.minimum(rows.data / pair, np.finfo(float).max)
        values = scaled
        if len(scaled):
            values = Kernel(self.kernel, 1.0).pairwise(scaled[:, None], [[0.0]])[:, 0]
        return scipy.sparse.csr_array((values, rows.indices, rows.indptr), rows.shape)


def weights_of(
    X, affinity, scale, kernel, alpha, sample_weight=None
) -> tuple[Any, Distances | None]:
    """Return what `spectral_clustering` takes, and how distances were turned into it, if X is a
    matrix of distances.
    """
    if affinity == "precomputed_distances":
        found, weights = Distances.fitted(X, scale, kernel, alpha, sample_weight)
        return weights, found
    if sample_weight is not None:
        raise ValueError(
            "sample_weight is for affinity='kernel' and 'precomputed_distances': give the weights "
            "of affinity='precomputed' multiplied by those of both points"
        )
    if scale.sigma is not None or scale.perplexity is not None:
        raise ValueError(
            "sigma and perplexity are for affinity='kernel' and 'precomputed_distances'; leave "
            "them out: the weights of affinity='precomputed' have their bandwidth"
        )
    return X, None


def rows_of(X, n, distances: Distances | None) -> scipy.sparse.csr_array:
    """Return the weights between new points and the n fitted ones."""
    return _rows(X, n) if distances is None else distances.of_new(X)


def shares(X, labels, distances: Distances | None) -> NDArray[np.float64]:
    """Return the weights between new points and the members of each cluster, (m, k), as shares of
    their total; those of the sizes of clusters for a point without any weight.
    """
    rows = rows_of(X, len(labels), distances)
    inside = np.flatnonzero(labels >= 0)
    entries = np.ones(len(inside)), (inside, labels[inside])
    members = scipy.sparse.csr_array(entries, shape=(len(labels), labels.max() + 1))
    sums = (rows @ members).toarray()
    sums[sums.sum(axis=1) == 0] = members.sum(axis=0)
    return sums / sums.sum(axis=1, keepdims=True)


def _square(X):
    """Return square distances in CSR form, symmetric if dense."""
    rows = _rows(X)
    if rows.shape[0] != rows.shape[1]:
        raise ValueError(
            "X must be a square matrix of the distances between points for "
            f"affinity='precomputed_distances', got shape {rows.shape}"
        )
    own = rows.diagonal()
    i = np.argmax(own)
    if own[i] > 1e-6 * rows.data.max(initial=0.0):
        raise ValueError(
            f"X must be distances, zero on the diagonal, but X[{i}, {i}] is {own[i]}; weights need "
            "affinity='precomputed'"
        )
    rows.data = np.where(rows.indices == _row_numbers(rows), 0.0, rows.data)
    if not scipy.sparse.issparse(X):
        table = rows.data.reshape(rows.shape)
        if not np.allclose(table, table.T, rtol=1e-8, atol=1e-8 * table.max()):
            i, j = np.unravel_index(np.argmax(abs(table - table.T)), table.shape)
            raise asymmetric(table, i, j, "X")
        rows.data = np.minimum(table, table.T).ravel()
    return rows


def _rows(X, n_columns=None):
    """Return distances or weights in CSR form, with all entries of a dense matrix stored."""
    X = X if scipy.sparse.issparse(X) else as_array(X, "X", "a matrix")
    if X.ndim != 2 or X.dtype.kind not in "fiub" or 0 in X.shape:
        raise ValueError(
            f"X must be a matrix of real numbers, got shape {X.shape} and dtype {X.dtype}"
        )
    if n_columns not in (None, X.shape[1]):
        raise ValueError(
            f"X must have one column for each of the {n_columns} fitted points, got {X.shape[1]}"
        )
    if scipy.sparse.issparse(X):
        check_sparse(X, "X")
        rows = scipy.sparse.csr_array(X, dtype=np.float64)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
    else:
        m, n = X.shape
        data, columns = X.astype(np.float64).ravel(), np.tile(np.arange(n, dtype=np.int32), m)
        rows = scipy.sparse.csr_array((data, columns, np.arange(0, m * n + 1, n)), X.shape)
    if not (rows.data >= 0).all() or np.isinf(rows.data).any():
        raise ValueError("X must hold finite numbers >= 0, but has negative ones, NaN or infinity")
    return rows


def _bandwidth(rows, place, scale):
    """Return the bandwidth of each row of distances, or one for all."""
    n = rows.shape[1]
    sigma = check_sigma(scale.sigma, n)
    if not isinstance(sigma, str):
        return sigma
    if sigma == "moderate":
        raise ValueError(
            "sigma='moderate' needs the dimension of the points, which distances do not have; take "
            "sigma='local' or 'auto'"
        )
    # With "auto" as many as `estimate_sigma` takes.
    k = 10 if sigma == "auto" else neighbors_needed(n, sigma, scale.perplexity)
    near = [_nearest(rows, i, place, k) for i in range(rows.shape[0])]
    counts = np.array([len(one) for one in near])
    if sigma == "auto":
        of_places = [near[i] for i in np.unique(place, return_index=True)[1]]
        return bounded_mean(np.array([one[-1] for one in of_places if len(one)])) or 1.0
    bandwidths = np.ones(len(near))
    for count in np.unique(counts[counts > 0]):
        same = np.flatnonzero(counts == count)
        table = np.array([near[i] for i in same])
        bandwidths[same] = bandwidths_of_distances(table, count, scale.perplexity)
    return bandwidths


def _nearest(rows, i, place, k):
    """Return the k smallest distances in a row to other places, ascending, or all if fewer."""
    stored = slice(rows.indptr[i], rows.indptr[i + 1])
    distances, places = rows.data[stored], place[rows.indices[stored]]
    distances, places = distances[distances > 0], places[distances > 0]
    order = np.argsort(distances, kind="stable")
    first = np.sort(np.unique(places[order], return_index=True)[1])
    return distances[order[first[:k]]]


def _row_numbers(rows):
    return np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
