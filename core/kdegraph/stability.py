"""Clusters that stay the same from replicate to replicate: the choice of a scale, and a vote.

A sampled graph is one of many, and another one, a replicate with another seed, costs little. What
changes from one to the next is luck, and what stays is structure. Bandwidths that are too small or
too large for the clusters let chance decide where to cut; those that suit them give the same
clusters again and again.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from kdegraph.clustering.partition import numbered_by_first_member
from kdegraph.graph_parameters import Scale
from kdegraph.validation import SparsePoints

# A perplexity of None is 5, or less for few points.
SCALES = (
    *(Scale("moderate", perplexity) for perplexity in (None, 10.0, 20.0, 40.0)),
    Scale("auto"),
)
# Points for which scales are compared; a random sample stands for more.
MAX_COMPARED = 4_000
N_REPLICATES = 4  # at each scale
# In more dimensions spectra have no clear gap: graphs are clustered by two embeddings each, and
# clusters are counted in layouts, too.
MAX_PLAIN_DIMENSIONS = 3
# Coordinates of all replicates of more points; there are two to six.
MAX_COORDINATES = 1_000_000
MAX_REPLICATES = 6
# Effective number of clusters, as a share of their number, below which they are degenerate: a few
# points were cut off from the rest. On the standard sets nothing changes from 0.3 to 0.6.
MIN_EFFECTIVE = 0.6
SURE = 0.9  # the share of replicates in which a point that is not doubtful has its cluster


def scales(n: int, perplexity: float | None = None) -> list[Scale]:
    """Return the scales to compare for n points: moderate bandwidths and one bandwidth for all, or
    moderate ones of the perplexity that the user has given.
    """
    if perplexity is not None:
        return [Scale("moderate", perplexity)]
    return [scale for scale in SCALES if scale.suits(n)]


def embeddings_for(n_dimensions: int, assign_labels: str | None = None) -> tuple[str, ...]:
    """Return the embeddings of `spectral_clustering` by which each replicate is clustered.

    In many dimensions spectra have no clear gap: some clusters are seen in the eigenvectors beyond
    the first ones, others in a layout. What both of them find is more than a habit of either.
    """
    if n_dimensions <= MAX_PLAIN_DIMENSIONS or assign_labels == "cluster_qr":
        return ("soft",)
    return ("softer", "layout")


def part_to_compare(points, seed):
    """Return the points for which scales are compared, all of them or a random sample, and their
    places.
    """
    if not isinstance(points, SparsePoints):
        points = np.asarray(points)
    if len(points) <= MAX_COMPARED:
        return points, slice(None)
    chosen = np.random.default_rng(seed).choice(len(points), MAX_COMPARED, replace=False)
    chosen.sort()
    return points[chosen], chosen


def stability(labelings: list[NDArray[np.int32]], n_clusters: int) -> float:
    """Return how stable and how far from degenerate the clusters of replicates are, at most 1.

    It is the mean adjusted Rand index of two replicates, multiplied by the effective number of
    clusters (by the entropy of their sizes) as far as that is less than 0.6 of their number: the
    same few outliers may be cut off each time.
    """
    pairs = np.triu_indices(len(labelings), 1)
    agreement = np.mean(agreements(labelings)[pairs])
    effective = np.mean([_effective_number(labels) for labels in labelings]) / n_clusters
    return float(agreement * min(1.0, effective / MIN_EFFECTIVE))


def agreements(labelings: list[NDArray[np.int32]]) -> NDArray[np.float64]:
    """Return the adjusted Rand index of each two labelings, a symmetric matrix.

    That of scikit-learn takes four times as long for a few thousand points, because of its checks,
    and there may be hundreds of pairs.
    """
    n = labelings[0].size
    # Ordered pairs of different points that are in the same cluster.
    together = [np.sum(np.bincount(labels) ** 2.0) - n for labels in labelings]
    found = np.eye(len(labelings))
    for i, j in itertools.combinations(range(len(labelings)), 2):
        table = coo_array((np.ones(n), (labelings[i], labelings[j]))).tocsr()
        in_both = np.sum(table.data**2) - n
        expected = together[i] * together[j] / max(1, n * (n - 1))
        largest = (together[i] + together[j]) / 2
        same = largest == expected  # one cluster each, or as many as points
        found[i, j] = found[j, i] = 1.0 if same else (in_both - expected) / (largest - expected)
    return found


def _effective_number(labels):
    """Return the exponential of the entropy of the sizes of clusters."""
    sizes = np.bincount(labels)
    shares = sizes[sizes > 0] / labels.size
    return np.exp(-np.sum(shares * np.log(shares)))


class Replicates(NamedTuple):
    """Clusters of several graphs, numbered from 0.

    Attributes
    ----------
    fit : object
        What the caller made of the first graph, with the attributes `scale`, `clusters` and
        `further_labels`.
    labelings : list of (n,) int32 arrays
        The labels of all graphs.
    """

    fit: Any
    labelings: list[NDArray[np.int32]]

    @classmethod
    def of(cls, fit, turns) -> "Replicates":
        """Return ``fit(scale, number)`` for the first of several pairs, and the labels for all."""
        fits = itertools.starmap(fit, turns)
        first = next(fits)
        labelings = [first.clusters.labels, *first.further_labels]
        for one in fits:
            labelings += [one.clusters.labels, *one.further_labels]
        return cls(first, labelings)


def compare(fit, candidates, n_clusters) -> list[Replicates]:
    """Return replicates at the most stable scale, then at those that are nearly as stable.

    ``fit(scale, number)`` returns what replicate `number` finds at a scale, see `Replicates`.
    Scales at which the graph has fewer clusters are skipped.

    Raises
    ------
    ValueError
        If there is no such scale.
    """
    found, errors = [], []
    for scale in candidates:
        try:
            one = Replicates.of(fit, [(scale, number) for number in range(N_REPLICATES)])
        except ValueError as refused:
            errors.append(refused)
        else:
            found.append((stability(one.labelings, n_clusters), one))
    if not found:
        raise errors[0]
    found.sort(key=lambda pair: -pair[0])
    enough = found[0][0] - tolerance(found[0][0])
    return [one for stable, one in found if stable >= enough]


def tolerance(stable):
    """Return how much less stable than the most stable scale others with a vote may be.

    Up to 0.05 and 1 in place of 0.01 and 0.25, the scores of the standard sets change by less than
    0.01; seeds agree better with more votes.
    """
    return 0.01 + 0.25 * (1.0 - stable)


def affordable_replicates(size):
    """Return how many replicates are made of all points, with `size` stored coordinates."""
    return min(MAX_REPLICATES, max(2, MAX_COORDINATES // max(1, size)))


def replicate_in_turn(fit, compared: list[Replicates], n) -> Replicates:
    """Return n replicates, one at each of the scales in turn."""
    in_turn = itertools.cycle(one.fit.scale for one in compared)
    return Replicates.of(fit, zip(in_turn, range(n), strict=False))


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
    The vote starts from the labels that agree best with the others, of those with most clusters. A
    cluster that would lose all its points keeps them. If the groups of `identical` points are
    given, all of a group have the label that most of them get.

    References
    ----------
    S. Dudoit, J. Fridlyand, "Bagging to improve the accuracy of a clustering procedure",
    Bioinformatics 19 (2003), 1090-1099. C. Hennig, "Cluster-wise assessment of cluster stability",
    Computational Statistics & Data Analysis 52 (2007), 258-271 (the Jaccard index).
    """
    numbers = np.array([1 + one.max() for one in labelings])
    n_labels = int(numbers.max())
    agreement = np.where(numbers == n_labels, agreements(labelings).sum(axis=1), -np.inf)
    labels = labelings[int(np.argmax(agreement))]
    for _ in range(10):  # until the labels stay, which takes two or three counts
        winners = _winners([_matched(one, labels, n_labels) for one in labelings], labels, n_labels)
        if np.array_equal(winners, labels):
            break
        labels = winners
    if identical is not None:
        labels = _same_in_groups(labels, identical, n_labels)
    labels = numbered_by_first_member(labels)
    n_clusters = labels.max() + 1
    matched = [_matched(one, labels, n_labels) for one in labelings]
    return Vote(
        labels,
        np.mean([one == labels for one in matched], axis=0),
        np.mean([jaccard(labels, one, n_labels).diagonal() for one in matched], axis=0)[
            :n_clusters
        ],
    )


def jaccard(labels: NDArray[np.int32], others: NDArray[np.int32], k: int) -> NDArray[np.float64]:
    """Return the Jaccard index of each of k clusters with each one of other labels, (k, k)."""
    common = coo_array((np.ones(labels.size), (labels, others)), shape=(k, k)).toarray()
    either = common.sum(axis=1)[:, None] + common.sum(axis=0) - common
    return common / np.maximum(either, 1)


def _matched(labels, reference, n_labels):
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


def _same_in_groups(labels, group, n_labels):
    """Return for each point the most frequent label of its group."""
    pairs, counts = np.unique(group * np.int64(n_labels) + labels, return_counts=True)
    group_of_pair, label_of_pair = np.divmod(pairs, n_labels)
    most = np.empty(group.max() + 1, np.int32)
    ascending = np.argsort(counts, kind="stable")  # the last one written has the largest count
    most[group_of_pair[ascending]] = label_of_pair[ascending]
    return most[group]
