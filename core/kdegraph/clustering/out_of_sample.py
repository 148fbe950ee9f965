"""Clusters and coordinates of new points and of outliers, from the points near them."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.clustering.embedding import embed
from kdegraph.geometry.kernel_functions import KERNELS
from kdegraph.geometry.neighbors import equal_rows, keys_of_rows, query_tree
from kdegraph.geometry.sparse_points import nearest_rows
from kdegraph.geometry.units import common_scale, rescaled
from kdegraph.kde.api import kernel_sum
from kdegraph.scaled_kernel import exponent_shifts, kernel_blocks
from kdegraph.spectral.checked_graph import check_adjacency
from kdegraph.spectral.solver.rayleigh_ritz import MIN_DIVISOR
from kdegraph.validation import SparsePoints


def memberships(graph, points, labels, queries, bandwidths):
    """Return the kernel sums of queries over the members of each cluster, as shares of their total.

    The share of cluster C is ``sum_{j in C} k(y, x_j) / sum_j k(y, x_j)``. It is the Nystroem
    extension of the cluster's indicator, which the leading eigenvectors of the graph span: the
    probability that a step of the random walk from the query leads into the cluster. Of a query out
    of reach of all points, it is 1 for the cluster of the nearest, and 0 otherwise.

    `labels` (n,) has each of 0, 1, ..., k - 1 at least once; `bandwidths` are those of the queries.
    """
    n_clusters = labels.max() + 1
    if isinstance(points, SparsePoints):  # all clusters at once: they share the kernel values
        indicators = np.eye(n_clusters)[labels]
        sums = _sums(graph, points, queries, bandwidths, np.arange(len(labels)), indicators)
    else:
        sums = np.empty((len(queries), n_clusters))
        for label in range(n_clusters):
            members = np.flatnonzero(labels == label)
            ones = np.ones((len(members), 1))
            sums[:, [label]] = _sums(graph, points, queries, bandwidths, members, ones)
    far = np.flatnonzero(sums.max(axis=1) == 0)
    if far.size:
        nearest = nearest_points(points, queries[far], graph.kernel)[1]
        sums[far, labels[nearest]] = 1.0
    sums /= sums.sum(axis=1, keepdims=True)
    return sums


def _sums(graph, points, queries, bandwidths, members, values):
    """Return the kernel sums of each column of `values` over some points, (m, k), up to a factor
    for each query, which stands for its density.
    """
    local = isinstance(graph.sigma, np.ndarray)
    sigma = graph.sigma[members] if local else graph.sigma
    shift = exponent_shifts(graph.densities, graph.alpha, graph.sample_weight)
    if shift is not None:
        values = values * np.exp(-shift[members])[:, None]
    if isinstance(points, SparsePoints):
        blocks = kernel_blocks(graph.kernel, sigma, points[members], queries, bandwidths)
        return np.concatenate([kernel_values @ values for kernel_values in blocks])
    of_columns = [
        kernel_sum(
            points[members],
            queries,
            kernel=graph.kernel,
            sigma=sigma,
            target_sigma=bandwidths if local else None,
            weights=column,
        )
        for column in values.T
    ]
    return np.column_stack(of_columns)


class Coordinates(NamedTuple):
    """The spectral coordinates of fitted points: the rows of ``D^-1/2 U`` (see `embed`)."""

    # (m,): the points that have coordinates: those in components that are large enough
    vertices: NDArray[np.int64]
    rows: NDArray[np.float64]  # (m, k)
    eigenvalues: NDArray[np.float64]  # (k,)
    n: int  # number of fitted points

    @classmethod
    def of_graph(cls, graph, spectrum, k) -> "Coordinates":
        """Return the coordinates by the first k eigenvectors; all 0 of a graph without edges."""
        checked = check_adjacency(graph)
        if spectrum is None:
            return cls(np.arange(checked.n), np.zeros((checked.n, k)), np.zeros(k), checked.n)
        vertices = checked.in_components(max(spectrum.smallest_component, 2))
        spectrum = replace(spectrum, eigenvectors=np.asarray(spectrum.eigenvectors))
        rows = embed(checked, spectrum, k, k, vertices, "degree")
        return cls(vertices, rows, spectrum.eigenvalues[:k], checked.n)

    def of_fitted(self) -> NDArray[np.float64]:
        """Return the coordinates of all fitted points, 0 for those that have none."""
        rows = np.zeros((self.n, self.rows.shape[1]))
        rows[self.vertices] = self.rows
        return rows

    def extended(self, sums) -> NDArray[np.float64]:
        """Return the coordinates of new points by the Nystroem extension: the mean of those of
        their neighbors, divided by 1 - eigenvalue. ``sums(values)`` returns for each new point the
        weighted sums of the columns of values of `vertices`. It is NaN without any weight.
        """
        divisors = 1.0 - self.eigenvalues
        divisors = np.where(divisors > MIN_DIVISOR, divisors, 1.0)
        found = sums(np.column_stack([np.ones(len(self.vertices)), self.rows]))
        with np.errstate(invalid="ignore"):
            return found[:, 1:] / found[:, :1] / divisors

    def of_points(self, graph, points, queries, bandwidths) -> NDArray[np.float64]:
        """Return the coordinates of new points by their kernel sums; out of reach of all fitted
        points, those of the nearest.
        """
        arguments = graph, points, queries, bandwidths, self.vertices
        found = self.extended(lambda values: _sums(*arguments, values))
        far = np.flatnonzero(np.isnan(found).any(axis=1))
        if far.size:
            nearest = nearest_points(points[self.vertices], queries[far], graph.kernel)[1]
            found[far] = self.rows[nearest]
        return found


def fitted_vertices(points, queries):
    """Return for each query the number of the point that it is, or -1; if all are the points in
    the same order, these, and otherwise the first of several equal ones.
    """
    if queries.shape == points.shape and equal_rows(queries, points).all():
        return np.arange(len(points))
    # Equal points get equal bytes: adding 0 removes negative zeros.
    queries, points = (one.astype(np.float64) + 0.0 for one in (queries, points))
    fitted_as = {key: i for i, key in reversed(list(enumerate(keys_of_rows(points))))}
    return np.array([fitted_as.get(key, -1) for key in keys_of_rows(queries)])


def join_outliers(graph, points, kernel, labels):
    """Give labels to vertices that have none, -1, in place.

    A component without labels gets, as a whole, the label of its nearest point that has one, or
    without points that of the largest cluster. Then isolated vertices get the labels of the nearest
    points that have one; without points they keep -1.
    """
    isolated = graph.sizes[graph.component] == 1
    main, rest = np.flatnonzero(labels >= 0), np.flatnonzero((labels < 0) & ~isolated)
    if len(rest) and points is None:
        labels[rest] = np.argmax(np.bincount(labels[main]))
    elif len(rest):
        group = np.unique(graph.component[rest], return_inverse=True)[1]
        distance, nearest = nearest_points(points[main], points[rest], kernel)
        by_distance = np.lexsort((distance, group))
        first = by_distance[np.unique(group[by_distance], return_index=True)[1]]
        labels[rest] = labels[main[nearest[first]]][group]
    if points is not None and isolated.any():
        linked = np.flatnonzero(labels >= 0)
        nearest = nearest_points(points[linked], points[isolated], kernel)[1]
        labels[isolated] = labels[linked[nearest]]


def nearest_points(points, queries, kernel_name=None):
    """Return the distances to the nearest points in the metric of the kernel, and their numbers."""
    if isinstance(points, SparsePoints):
        distances, indices = nearest_rows(points, 1, queries)
        return distances[:, 0], indices[:, 0]
    from scipy.spatial import cKDTree

    exponent, p = common_scale(points, queries), KERNELS[kernel_name or "gaussian"].norm
    tree = cKDTree(np.ldexp(points, -exponent), balanced_tree=False)
    found = query_tree(tree, np.ldexp(queries, -exponent), 1, p=p)
    distances, indices = rescaled(*found, exponent)
    return distances[:, 0], indices[:, 0]
