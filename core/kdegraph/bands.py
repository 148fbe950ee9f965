"""Follow clusters from scale to scale, and outline them as bands that split and merge."""

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

GAP = 0.02  # between two bands, as a share of all points ...
ALL_GAPS = 0.3  # ... and at most between all of them
BLOCK = 0.3  # half of the width of a band at a scale, as a share of the way to the next scale
N_STEPS = 13  # places at which a curve between two scales is drawn


class Outline(NamedTuple):
    """Outline a band at one scale, or the points that go from one band to another.

    Attributes
    ----------
    cluster : int
    scale : int
        The place of the scale; for points that go on, of the smaller of the two.
    into : int or None
        The cluster at the next larger scale that the points go on to.
    opacity : float
        From 0 to 1, by the stability of the cluster.
    x : (m,) array
        Places on the axis of the logarithms (base 10) of the scales, in the order of the scales.
    low, high : (m,) array
        The lower and the upper edge there. All points together have a height of 1.
    """

    cluster: int
    scale: int
    into: int | None
    opacity: float
    x: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def follow(labelings: NDArray[np.int32]) -> NDArray[np.int32]:
    """Number the clusters of several scales, (s, n), so that they keep their numbers.

    A cluster has the number of an earlier one if more than half of the points in either of the two
    are in both; there is at most one such cluster at each scale. The last scale comes first.
    """
    numbered = np.empty_like(labelings)
    known: list[NDArray[np.intp]] = []  # the latest members of clusters, by their numbers
    for i in reversed(range(len(labelings))):
        labels = labelings[i]
        sizes = np.bincount(labels)
        number = np.full(len(sizes), -1)
        closest = np.zeros(len(sizes))
        for cluster, members in enumerate(known):
            common = np.bincount(labels[members], minlength=len(sizes))
            alike = common / (len(members) + sizes - common)
            same = (alike > 0.5) & (alike > closest)
            number[same], closest[same] = cluster, alike[same]
        number[number < 0] = len(known) + np.arange(np.count_nonzero(number < 0))
        known += [np.empty(0, np.intp)] * (number.max() + 1 - len(known))
        parts = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
        for cluster, members in zip(number.tolist(), parts, strict=True):
            known[cluster] = members
        numbered[i] = number[labels]
    return numbered


def parents(numbered: NDArray[np.int32]) -> list[dict[int, int]]:
    """Return for each scale the number of each cluster, and that of the cluster at the next scale
    with most of its points; nothing for the last scale.
    """
    found: list[dict[int, int]] = []
    for own, following in itertools.pairwise(numbered):
        pairs, counts = _pairs(own, following)
        ascending = np.argsort(counts, kind="stable")  # the last one has most points
        found.append(dict(pairs[ascending].tolist()))
    return [*found, {}]


def _pairs(own, following):
    """Return the pairs of numbers (m, 2) of points at two scales, in order, and their counts."""
    following = following.astype(np.int64)
    n = following.max() + 1
    pairs, counts = np.unique(own * n + following, return_counts=True)
    return np.stack(np.divmod(pairs, n), axis=1), counts


def opacity(stability):
    """Return how opaque clusters are drawn: those that are luck can hardly be seen."""
    return 0.08 + 0.82 * stability**3


def outlines(
    numbered: NDArray[np.int32], scales: NDArray, stability: NDArray[np.float64]
) -> list[Outline]:
    """Return the outlines of all bands, and of the points that go from one to another.

    The `scales` ascend or descend. `stability` (s, c) has a row for each of them and a column for
    each number of a cluster. Bands lie in such an order that those that merge are near each other.
    """
    places = np.log10(scales)
    ways = np.diff(places) if len(places) > 1 else np.ones(1)
    nearest = np.minimum(np.abs([*ways[:1], *ways]), np.abs([*ways, *ways[-1:]]))
    halves = BLOCK * np.sign(ways[0]) * nearest
    order = np.lexsort(numbered)  # by the last scale, then by the one before, and so on
    rank = np.argsort(order)
    stacks = [_stack(labels, rank) for labels in numbered]
    found = []
    for i, bottoms in enumerate(stacks):
        x = places[i] + np.array([-halves[i], halves[i]])
        for cluster, (low, height) in bottoms.items():
            edges = np.full(2, low), np.full(2, low + height)
            found.append(Outline(cluster, i, None, opacity(stability[i, cluster]), x, *edges))
        if i + 1 < len(stacks):
            x = np.linspace(places[i] + halves[i], places[i + 1] - halves[i + 1], N_STEPS)
            for a, b, low, high in _flows(numbered[i : i + 2], *stacks[i : i + 2]):
                visible = opacity(min(stability[i, a], stability[i + 1, b]))
                visible *= 1.0 if a == b else 0.6  # points that change their cluster are paler
                found.append(Outline(a, i, b, visible, x, low, high))
    return found


def _stack(labels, rank):
    """Return the lower edge and the height of each band at one scale, from below."""
    present, index, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.argsort(np.bincount(index, weights=rank) / sizes)
    heights = sizes[order] / labels.size
    gap = min(GAP, ALL_GAPS / len(present))
    low = np.cumsum(heights + gap) - heights - gap
    low -= (low[-1] + heights[-1]) / 2
    edges = zip(low.tolist(), heights.tolist(), strict=True)
    return dict(zip(present[order].tolist(), edges, strict=True))


def _flows(numbered, left, right):
    """Yield from which band to which points go from one scale to the next, and their edges."""
    start = {cluster: low for cluster, (low, _) in left.items()}
    end = {cluster: low for cluster, (low, _) in right.items()}
    pairs, counts = _pairs(*numbered)
    heights = dict(zip(map(tuple, pairs.tolist()), counts / numbered.shape[1], strict=True))
    ease = np.linspace(0, 1, N_STEPS)
    ease = ease**2 * (3 - 2 * ease)
    for a, b in sorted(heights, key=lambda pair: (left[pair[0]], right[pair[1]])):
        low = start[a] + (end[b] - start[a]) * ease
        yield a, b, low, low + heights[a, b]
        start[a] += heights[a, b]
        end[b] += heights[a, b]
