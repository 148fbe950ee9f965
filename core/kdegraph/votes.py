"""The clusters that most of several graphs of the same points agree on: a vote."""

import itertools
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse import coo_array

from kdegraph.clustering.partition import numbered_by_first_member
from kdegraph.clustering.rounding import Rounding
from kdegraph.runtime.threads import blas_threads

__all__ = ["SURE", "Vote", "matched", "vote"]

SURE = 0.9  # the share of replicates in which a point that is not doubtful has its cluster
# Clusters above which a vote starts from the spectral consensus. With 0 in place of 20, small
# clusters are found less well: see zoo and ecoli in the experiment `reference_sets`.
MAX_MATCHED = 20


class Vote(NamedTuple):
    """The clusters that several replicates agree on.

    Attributes
    ----------
    labels : (n,) int32 array
        Numbered by their first members.
    probabilities : (n,) float64 array
        The share of replicates in which the point is in its cluster.
    stability : (k,) float64 array
        For each cluster the mean over the replicates of its Jaccard index with the cluster that
        stands for it there: the points in both, as a share of the points in either.
    """

    labels: NDArray[np.int32]
    probabilities: NDArray[np.float64]
    stability: NDArray[np.float64]

    @property
    def doubtful(self) -> NDArray[np.bool_]:
        """Return whether each point is in its cluster in fewer than 90 % of the replicates."""
        return self.probabilities < SURE

    @property
    def n_doubtful(self) -> int:
        """Return how many points are doubtful."""
        return int(np.count_nonzero(self.doubtful))


def vote(labelings: list[NDArray[np.int32]], identical: NDArray[np.int64] | None = None) -> Vote:
    """Return the clusters to which most replicates assign the points.

    The clusters of each replicate are matched one to one with the present ones, so that as many
    points as possible stay, and each point moves to the cluster with most votes, until none moves.
    The vote starts from the labels that agree best with the others, of those with most clusters;
    from the `consensus`, if there are more than 20 clusters, as replicates then join and divide
    different ones, so that none of them is a good start. A cluster that would lose all its points
    keeps them. If the groups of `identical` points are given, all of a group have the label that
    most of them get.

    References
    ----------
    S. Dudoit, J. Fridlyand, "Bagging to improve the accuracy of a clustering procedure",
    Bioinformatics 19 (2003), 1090-1099. C. Hennig, "Cluster-wise assessment of cluster stability",
    Computational Statistics & Data Analysis 52 (2007), 258-271 (the Jaccard index).
    """
    n_labels = max(int(one.max()) + 1 for one in labelings)
    labels = _start(labelings, n_labels)
    for _ in range(10):  # until the labels stay, which takes two or three counts
        winners = _winners([matched(one, labels, n_labels) for one in labelings], labels, n_labels)
        if np.array_equal(winners, labels):
            break
        labels = winners
    labels = together(labels, identical)
    n_clusters = labels.max() + 1
    present = [matched(one, labels, n_labels) for one in labelings]
    stability = np.mean([jaccard(labels, one, n_labels).diagonal() for one in present], axis=0)
    return Vote(labels, np.mean([one == labels for one in present], axis=0), stability[:n_clusters])


def _start(labelings, n_labels):
    """Return the labels from which a vote starts, with `n_labels` clusters."""
    if n_labels > MAX_MATCHED:
        labels = consensus(labelings, n_labels)
        if len(np.unique(labels)) == n_labels:
            return labels
    numbers = np.array([1 + one.max() for one in labelings])
    agreement = np.where(numbers == n_labels, agreements(labelings).sum(axis=1), -np.inf)
    return labelings[int(np.argmax(agreement))]


def consensus(labelings: list[NDArray[np.int32]], n_clusters: int) -> NDArray[np.int32]:
    """Return the clusters of the bipartite graph of points and of the clusters of all labelings,
    where each point has an edge to each of its clusters.

    The rows of its first eigenvectors that belong to points are clustered by k-means.

    References
    ----------
    X. Z. Fern, C. E. Brodley, "Solving cluster ensemble problems by bipartite graph partitioning",
    ICML 2004.
    """
    points = np.arange(labelings[0].size)
    # Edges divided by the square roots of the degrees of their ends.
    edges = scipy.sparse.hstack([
        coo_array(((np.bincount(one)[one] * len(labelings)) ** -0.5, (points, one)))
        for one in labelings
    ]).tocsr()  # fmt: skip
    n = edges.shape[1]
    squares = (edges.T @ edges).toarray()
    with blas_threads(n):
        _, vectors = scipy.linalg.eigh(squares, subset_by_index=[n - n_clusters, n - 1])
    rows = edges @ vectors
    rows /= np.linalg.norm(rows, axis=0)
    # No row is zero: the first eigenvector of its connected component is among them.
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    return Rounding("row", "kmeans", n_init=3, seed=0).labels(rows, n_clusters)


def agreements(labelings: list[NDArray[np.int32]]) -> NDArray[np.float64]:
    """Return the adjusted Rand index of each two labelings, a symmetric matrix.

    That of scikit-learn takes four times as long for a few thousand points, because of its checks,
    and there may be hundreds of pairs.
    """
    n = labelings[0].size
    # Ordered pairs of different points that are in the same cluster.
    together = [np.sum(np.bincount(labels) ** 2.0) - n for labels in labelings]
    wide = [labels.astype(np.int64) for labels in labelings]  # their products may be large
    found = np.eye(len(labelings))
    for i, j in itertools.combinations(range(len(labelings)), 2):
        pairs = wide[i] * (1 + wide[j].max()) + wide[j]
        in_both = np.sum(np.unique(pairs, return_counts=True)[1] ** 2.0) - n
        expected = together[i] * together[j] / max(1, n * (n - 1))
        largest = (together[i] + together[j]) / 2
        same = largest == expected  # one cluster each, or as many as points
        found[i, j] = found[j, i] = 1.0 if same else (in_both - expected) / (largest - expected)
    return found


def jaccard(labels: NDArray[np.int32], others: NDArray[np.int32], k: int) -> NDArray[np.float64]:
    """Return the Jaccard index of each of k clusters with each one of other labels, (k, k)."""
    common = coo_array((np.ones(labels.size), (labels, others)), shape=(k, k)).toarray()
    either = common.sum(axis=1)[:, None] + common.sum(axis=0) - common
    return common / np.maximum(either, 1)


def matched(
    labels: NDArray[np.integer], reference: NDArray[np.integer], n_labels: int
) -> NDArray[np.int32]:
    """Rename clusters one to one, so that as many points as possible have their reference label."""
    from scipy.optimize import linear_sum_assignment  # slow to import

    common = coo_array((np.ones(labels.size), (labels, reference)), shape=(n_labels, n_labels))
    _, name = linear_sum_assignment(common.toarray(), maximize=True)
    return name.astype(np.int32)[labels]


def _winners(matched, labels, n_labels):
    """Return the label with most votes for each point; the present one where it is among these, or
    where no point would have it any more.
    """
    votes = np.zeros((labels.size, n_labels), np.uint8)
    points = np.arange(labels.size)
    for one in matched:
        votes[points, one] += 1
    winners = np.argmax(votes, axis=1).astype(np.int32)
    winners = np.where(votes[points, labels] == votes[points, winners], labels, winners)
    lost = np.isin(labels, np.setdiff1d(labels, winners))
    return np.where(lost, labels, winners)


def together(labels: NDArray[np.int32], identical: NDArray[np.int64] | None) -> NDArray[np.int32]:
    """Return labels, numbered by their first members, where all points of each group of `identical`
    ones have the label that most of them have.
    """
    if identical is not None:
        n_labels = np.int64(labels.max()) + 1
        pairs, counts = np.unique(identical * n_labels + labels, return_counts=True)
        group, label = np.divmod(pairs, n_labels)
        most = np.empty(identical.max() + 1, np.int32)
        ascending = np.argsort(counts, kind="stable")  # the last one written has the largest count
        most[group[ascending]] = label[ascending]
        labels = most[identical]
    return numbered_by_first_member(labels)
