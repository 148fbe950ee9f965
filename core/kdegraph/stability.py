"""Clusters that stay the same from draw to draw: the choice of a scale, and the vote of its draws.

A sampled graph is one draw of many, and another one costs little. What changes from draw to draw is
luck, and what stays is structure. Bandwidths that are too small or too large for the clusters let
chance decide where to cut; those that suit them give the same clusters again and again.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array

from kdegraph.clustering.partition import numbered_by_first_member

# Perplexities of moderate bandwidths; None adapts to a small number of points.
PERPLEXITIES = (None, 10.0, 20.0, 40.0)
# Effective number of clusters, as a share of their number, below which they are degenerate: a few
# points were cut off from the rest. On the standard sets nothing changes from 0.3 to 0.6.
MIN_EFFECTIVE = 0.6
N_DRAWS = 4  # graphs at each scale
# Scales that are less stable than the most stable one by at most this have a vote, too. With 0.1
# the mean score of sets with many clusters falls by 0.07: scales at which some merge have a vote.
NEARLY = 0.02
# Votes are counted anew until the labels stay, which takes two or three counts.
MAX_COUNTS = 10


class Scale(NamedTuple):
    """The parameters `sigma` and `perplexity` of `similarity_graph`."""

    sigma: Any
    perplexity: float | None = None


def scales(n: int, perplexity: float | None = None) -> list[Scale]:
    """Return the scales to compare for n points: moderate bandwidths and one bandwidth for all, or
    moderate ones of the perplexity that the user has given.
    """
    if perplexity is not None:
        return [Scale("moderate", perplexity)]
    # The law of a perplexity is that of three times as many neighbors.
    several = [p for p in PERPLEXITIES if p is None or n > 3 * p]
    return [*(Scale("moderate", p) for p in several), Scale("auto")]


def stability(labelings: list[NDArray[np.int32]], n_clusters: int) -> float:
    """Return how stable and how far from degenerate the clusters of several draws are, at most 1.

    It is the mean adjusted Rand index of two draws, multiplied by the effective number of clusters
    (by the entropy of their sizes) as far as that is less than 0.6 of their number: the same few
    outliers may be cut off in each draw.
    """
    # It is slow to import, and most of the library does not need it.
    from sklearn.metrics import adjusted_rand_score

    pairs = list(itertools.combinations(labelings, 2))
    agreement = np.mean([adjusted_rand_score(*pair) for pair in pairs]) if pairs else 1.0
    effective = np.mean([_effective_number(labels) for labels in labelings]) / n_clusters
    return float(agreement * min(1.0, effective / MIN_EFFECTIVE))


def _effective_number(labels):
    """Return the exponential of the entropy of the sizes of clusters."""
    sizes = np.bincount(labels)
    shares = sizes[sizes > 0] / labels.size
    return np.exp(-np.sum(shares * np.log(shares)))


class Draws(NamedTuple):
    """Clusters of several graphs at one scale.

    Attributes
    ----------
    scale : Scale
    fit : object
        What the caller made of the first graph.
    labelings : list of (n,) int32 arrays
    stability : float
        See `stability`.
    """

    scale: Scale
    fit: Any
    labelings: list[NDArray[np.int32]]
    stability: float


def draw(fit, scale, n_clusters, seed, n_draws=N_DRAWS) -> Draws:
    """Return several draws at a scale, with the seeds from `seed` on.

    ``fit(scale, seed)`` returns an object whose ``clusters.labels`` are those of a graph.
    """
    first = fit(scale, seed)
    others = [fit(scale, seed + i).clusters.labels for i in range(1, n_draws)]
    labelings = [first.clusters.labels, *others]
    return Draws(scale, first, labelings, stability(labelings, n_clusters))


def compare(fit, candidates, n_clusters, seed) -> list[Draws]:
    """Return the draws at the most stable scale, then those at others that are nearly as stable.

    Scales at which the graph does not have so many clusters are left out.

    Raises
    ------
    ValueError
        If there is no such scale.
    """
    if n_clusters == 1:
        return [draw(fit, candidates[0], 1, seed, n_draws=1)]
    found, errors = [], []
    for scale in candidates:
        try:
            found.append(draw(fit, scale, n_clusters, seed))
        except ValueError as refused:
            errors.append(refused)
    if not found:
        raise errors[0]
    found.sort(key=lambda draws: -draws.stability)
    return [draws for draws in found if draws.stability >= found[0].stability - NEARLY]


def draw_in_turn(fit, compared: list[Draws], n_draws, seed):
    """Return the first fit, and the labels of `n_draws` fits, at each of the scales in turn."""
    turns = zip(itertools.cycle(draws.scale for draws in compared), range(n_draws), strict=False)
    fits = (fit(scale, seed + turn) for scale, turn in turns)
    first = next(fits)
    return first, [first.clusters.labels, *(one.clusters.labels for one in fits)]


class Vote(NamedTuple):
    """The clusters that several draws agree on.

    Attributes
    ----------
    labels : (n,) int32 array
        Numbered by their first members.
    probabilities : (n,) float64 array
        The share of draws in which the point is in its cluster.
    stability : (k,) float64 array
        For each cluster the mean over the draws of its Jaccard index with the cluster that stands
        for it there: the points in both, as a share of the points in either.
    """

    labels: NDArray[np.int32]
    probabilities: NDArray[np.float64]
    stability: NDArray[np.float64]


def vote(labelings: list[NDArray[np.int32]]) -> Vote:
    """Return the clusters to which most draws assign the points.

    The clusters of each draw are matched one to one with the present ones, so that as many points
    as possible stay, and each point moves to the cluster with most votes, until none moves. The
    vote starts from the labels of the first draw, and ends where a cluster would lose all points.

    References
    ----------
    S. Dudoit, J. Fridlyand, "Bagging to improve the accuracy of a clustering procedure",
    Bioinformatics 19 (2003), 1090-1099. C. Hennig, "Cluster-wise assessment of cluster stability",
    Computational Statistics & Data Analysis 52 (2007), 258-271 (the Jaccard index).
    """
    labels = labelings[0]
    n_labels = 1 + max(int(one.max()) for one in labelings)
    n_clusters = np.unique(labels).size
    for _ in range(MAX_COUNTS):
        winners = _winners([_matched(one, labels, n_labels) for one in labelings], labels, n_labels)
        if np.array_equal(winners, labels) or np.unique(winners).size < n_clusters:
            break
        labels = winners
    labels = numbered_by_first_member(labels)
    matched = [_matched(one, labels, n_labels) for one in labelings]
    return Vote(
        labels,
        np.mean([one == labels for one in matched], axis=0),
        np.mean([_jaccard_indices(one, labels) for one in matched], axis=0),
    )


def _matched(labels, reference, n_labels):
    """Rename clusters one to one, so that as many points as possible have their reference label."""
    common = coo_array((np.ones(labels.size), (labels, reference)), shape=(n_labels, n_labels))
    _, name = linear_sum_assignment(common.toarray(), maximize=True)
    return name.astype(np.int32)[labels]


def _winners(matched, labels, n_labels):
    """Return the label with most votes for each point; the present one where it is among these."""
    votes = np.zeros((labels.size, n_labels), np.uint8)
    points = np.arange(labels.size)
    for one in matched:
        votes[points, one] += 1
    winners = np.argmax(votes, axis=1).astype(np.int32)
    return np.where(votes[points, labels] == votes[points, winners], labels, winners)


def _jaccard_indices(matched, labels):
    """Return the Jaccard index of each cluster with that of the same label."""
    k = labels.max() + 1
    common = np.bincount(labels[matched == labels], minlength=k)
    return common / (np.bincount(labels) + np.bincount(matched, minlength=k)[:k] - common)
