"""The vote of replicates about the labels of points."""

import numpy as np
import pytest
from kdegraph.votes import MAX_MATCHED, agreements, consensus, vote
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score


def by_hand(labelings):
    """Return labels and probabilities by counting, for labelings with equal names of clusters."""
    counts = np.array([np.bincount(point, minlength=9) for point in np.transpose(labelings)])
    return np.argmax(counts, axis=1), counts.max(axis=1) / len(labelings)


def test_most_replicates_decide_about_each_point():
    rng = np.random.default_rng(0)
    truth = np.r_[0:3, rng.integers(3, size=200)]
    labelings = [truth.copy() for _ in range(5)]
    for labels in labelings[1:]:
        moved = 3 + rng.choice(200, 30, replace=False)
        labels[moved] = rng.integers(3, size=30)
    expected, probabilities = by_hand(labelings)
    renamed = [rng.permutation(3)[labels].astype(np.int32) for labels in labelings[1:]]
    found = vote([labelings[0].astype(np.int32), *renamed])
    np.testing.assert_array_equal(found.labels[:3], [0, 1, 2])
    certain = probabilities > 0.5  # no tie
    np.testing.assert_array_equal(found.labels[certain], expected[certain])
    np.testing.assert_allclose(found.probabilities[certain], probabilities[certain])
    jaccard = [
        np.mean(
            [
                np.sum((one == k) & (found.labels == k)) / np.sum((one == k) | (found.labels == k))
                for one in labelings
            ]
        )
        for k in range(3)
    ]
    np.testing.assert_allclose(found.stability, jaccard)


def test_identical_points_share_their_votes():
    first = np.array([0, 0, 1, 1, 1, 2, 2, 0], np.int32)
    group = np.array([0, 0, 0, 1, 1, 2, 3, 3])
    found = vote([first], group)
    np.testing.assert_array_equal(found.labels, [0, 0, 0, 1, 1, 2, *[found.labels[7]] * 2])
    assert found.labels[7] in (0, 2)
    np.testing.assert_allclose(found.probabilities[:6], [1, 1, 0, 1, 1, 1])


def test_no_cluster_loses_all_its_points_in_a_vote():
    first = np.array([0, 0, 0, 1, 1, 1, 2], np.int32)
    other = np.array([0, 0, 0, 1, 1, 1, 1], np.int32)
    third = np.array([0, 0, 1, 1, 1, 1, 1], np.int32)
    assert np.argmax(agreements([first, other, third]).sum(axis=1)) == 1  # with two clusters
    found = vote([first, other, third])
    np.testing.assert_array_equal(found.labels, first)  # two of three see the last point elsewhere
    np.testing.assert_allclose(found.probabilities, [1, 1, 2 / 3, 1, 1, 1, 1 / 3])
    np.testing.assert_allclose(
        found.stability, [(1 + 1 + 2 / 3) / 3, (1 + 3 / 4 + 3 / 5) / 3, 1 / 3]
    )


def test_a_cluster_that_keeps_its_points_does_not_end_the_vote():
    first = np.array([0] * 6 + [1] * 6 + [2], np.int32)
    other, third = first.copy(), first.copy()
    other[[5, 12]] = 1
    third[[5, 12]] = 1
    found = vote([first, other, third, first])
    np.testing.assert_array_equal(found.labels, first)
    found = vote([first, other, third, third])  # it starts from one of the two latter
    np.testing.assert_array_equal(found.labels[:12], other[:12])


def joined_and_divided(n_groups, rng):
    """Return labels of groups of 30, and labelings that each join three pairs of groups, and
    divide three others at random.
    """
    truth = np.repeat(np.arange(n_groups), 30).astype(np.int32)
    labelings = []
    for _ in range(8):
        labels = truth.copy()
        for kept, joined, divided in rng.permutation(n_groups)[:9].reshape(3, 3):
            labels[truth == joined] = kept
            labels[(truth == divided) & (rng.random(truth.size) < 0.5)] = joined
        labelings.append(labels)
    return truth, labelings


def test_many_clusters_are_those_that_replicates_join_and_divide_seldom():
    truth, labelings = joined_and_divided(MAX_MATCHED + 4, np.random.default_rng(0))
    found = vote(labelings)
    np.testing.assert_array_equal(found.labels, truth)
    assert adjusted_rand_score(truth, vote(labelings[:1]).labels) < 0.9


def test_the_consensus_is_a_cut_of_the_graph_of_points_and_clusters():
    _, labelings = joined_and_divided(9, np.random.default_rng(1))
    member = np.hstack([one[:, None] == np.arange(9) for one in labelings]).astype(float)
    n, m = member.shape
    weights = np.block([[np.zeros((n, n)), member], [member.T, np.zeros((m, m))]])
    degrees = weights.sum(axis=1)
    vectors = np.linalg.eigh(weights / np.sqrt(np.outer(degrees, degrees)))[1][:n, -9:]
    expected = KMeans(9, n_init=10, random_state=0).fit_predict(
        vectors / np.linalg.norm(vectors, axis=1)[:, None]
    )
    assert adjusted_rand_score(consensus(labelings, 9), expected) == 1.0


def test_the_vote_starts_from_the_labels_that_agree_best_with_the_others():
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=400).astype(np.int32)
    labelings = [rng.integers(4, size=400).astype(np.int32)]
    for _ in range(3):
        labels = truth.copy()
        moved = rng.choice(400, 40, replace=False)
        labels[moved] = rng.integers(4, size=40)
        labelings.append(labels)
    found = vote(labelings)
    assert adjusted_rand_score(found.labels, truth) > 0.9
    assert found.probabilities.mean() < 0.8  # the first labels are no part of it


@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 2), (40, 1), (40, 3), (40, 40)])
def test_agreements_are_adjusted_rand_indices(n, k):
    rng = np.random.default_rng(0)
    labelings = [rng.integers(k, size=n).astype(np.int32) for _ in range(3)]
    labelings.append(np.arange(n, dtype=np.int32))
    labelings.append(np.zeros(n, np.int32))
    expected = [[adjusted_rand_score(a, b) for b in labelings] for a in labelings]
    np.testing.assert_allclose(agreements(labelings), expected, atol=1e-12)
