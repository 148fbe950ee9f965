"""Clusters at a range of scales: bands that last, split and merge."""

import itertools

import kdegraph
import numpy as np
import pytest
from kdegraph.bands import follow, parents
from kdegraph.spectral import checked_graph
from kdegraph.votes import jaccard
from sklearn.metrics import adjusted_rand_score

PAIRS = np.array([(x + dx, y) for x, y in [(0, 0), (10, 0), (5, 9)] for dx in (-1, 1)])


def nested(n, seed=0):
    """Points in three groups of two subgroups each, and the subgroup of each point."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(6, size=n)
    return PAIRS[truth] + 0.2 * rng.normal(size=(n, 2)), truth


def test_groups_of_groups_are_six_bands_then_three_then_one():
    X, truth = nested(900)
    found = kdegraph.cluster_scales(X, [0.4, 0.5, 2.5, 3.0, 60.0], seed=0)
    assert found.n_clusters.tolist() == [6, 6, 3, 3, 1]
    expected = [truth, truth, truth // 2, truth // 2, 0 * truth]
    for labels, right in zip(found.labels, expected, strict=True):
        assert adjusted_rand_score(right, labels) == 1
    rows = found.to_arrow().to_pylist()
    assert [row["sigma"] for row in rows] == np.repeat(found.sigma, found.n_clusters).tolist()
    assert all(row["stability"] == 1 for row in rows)
    for i, sigma in enumerate(found.sigma):
        bands = {row["cluster"]: row for row in rows if row["sigma"] == sigma}
        assert sum(row["size"] for row in bands.values()) == 900
        for cluster, row in bands.items():
            members = found.labels[i] == cluster
            assert row["size"] == members.sum()
            if i + 1 < len(found.sigma):  # these groups are nested
                assert np.unique(found.labels[i + 1][members]) == row["parent"]
            else:
                assert row["parent"] is None
    np.testing.assert_array_equal(found.labels[0], found.labels[1])
    np.testing.assert_array_equal(found.labels[2], found.labels[3])


def test_the_automatic_scales_show_all_levels_in_their_order():
    X, truth = nested(600)
    found = kdegraph.cluster_scales(X, seed=1)
    numbers = found.n_clusters
    assert np.count_nonzero(numbers == 6) >= 3
    assert np.count_nonzero(numbers == 3) >= 3
    assert numbers[-1] == 1
    assert (np.diff(numbers) <= 0).all()
    assert adjusted_rand_score(truth, found.labels[numbers == 6][0]) > 0.99
    again = kdegraph.cluster_scales(X, seed=1)
    for name in ("sigma", "labels", "stability", "eigengap", "confidence"):
        np.testing.assert_array_equal(getattr(found, name), getattr(again, name))


def test_noise_is_one_band_or_unstable():
    X = np.random.default_rng(0).uniform(size=(800, 2))
    found = kdegraph.cluster_scales(X, seed=0)
    several = found.n_clusters > 1
    assert np.count_nonzero(several) <= 4
    assert np.nanmean(found.stability[several]) < 0.9
    assert (found.stability[~several][found.stability[~several] >= 0] == 1).all()


def test_a_cluster_keeps_its_number_while_most_points_stay():
    coarse = np.repeat([0, 1], [6, 4])
    middle = np.repeat([2, 0, 1], [4, 2, 4])  # of the six points, four stay together
    other = np.repeat([0, 1, 2, 3], [2, 2, 2, 4])
    found = follow(np.array([other, middle, coarse], np.int32))
    np.testing.assert_array_equal(found[2], np.repeat([0, 1], [6, 4]))
    np.testing.assert_array_equal(found[1], np.repeat([0, 2, 1], [4, 2, 4]))
    # Half of the points of cluster 0 are in either part: no part is that cluster any more.
    np.testing.assert_array_equal(found[0], np.repeat([3, 4, 2, 1], [2, 2, 2, 4]))
    assert parents(found) == [{3: 0, 4: 0, 2: 2, 1: 1}, {0: 0, 2: 0, 1: 1}, {}]


def test_the_stability_in_a_replicate_is_the_jaccard_index_with_the_closest_cluster():
    labels, again = np.random.default_rng(0).integers([[4], [3]], size=(2, 50))
    sets = [
        [set(np.flatnonzero(one == c)) for c in range(k)] for one, k in ((labels, 4), (again, 3))
    ]
    expected = [max(len(a & b) / len(a | b) for b in sets[1]) for a in sets[0]]
    np.testing.assert_allclose(jaccard(labels, again, 4).max(axis=1), expected)


def test_bands_are_as_high_as_clusters_are_large_and_the_points_between_fill_them():
    X, _ = nested(300)
    found = kdegraph.cluster_scales(X, [0.4, 3.0], seed=0)
    drawn = found.outlines()
    blocks = {(one.scale, one.cluster): one for one in drawn if one.into is None}
    for (scale, cluster), one in blocks.items():
        share = np.mean(found.labels[scale] == cluster)
        np.testing.assert_allclose(one.high - one.low, share)
    flows = [one for one in drawn if one.into is not None]
    assert len(flows) == 6
    for one in flows:
        before, after = blocks[0, one.cluster], blocks[1, one.into]
        assert (one.low[0], one.high[0]) == pytest.approx((before.low[0], before.high[0]))
        assert one.low[-1] >= after.low[0] - 1e-12
        assert one.high[-1] <= after.high[0] + 1e-12
    for scale in (0, 1):  # bands do not overlap
        edges = sorted((one.low[0], one.high[0]) for one in blocks.values() if one.scale == scale)
        assert all(high < low for (_, high), (low, _) in itertools.pairwise(edges))


def test_a_part_of_many_points_is_used():
    X, truth = nested(2000)
    found = kdegraph.cluster_scales(X, [0.4, 3.0], max_points=500, seed=3)
    assert found.labels.shape == (2, 500)
    assert len(np.unique(found.rows)) == 500
    assert adjusted_rand_score(truth[found.rows], found.labels[0]) == 1
    assert len(kdegraph.cluster_scales(np.eye(700)[:, :600], [1.0], seed=0).rows) == 700
    assert len(kdegraph.cluster_scales(np.eye(800, 784) + 1e-9, [1.0], seed=0).rows) == 618


@pytest.mark.parametrize(
    "X",
    [
        [[1.0, 2.0]],
        [[1.0, 2.0]] * 30,
        [[0.0], [1.0]],
        np.repeat([[0.0, 0.0], [1.0, 1.0], [5.0, 0.0]], 20, axis=0),
        np.random.default_rng(0).normal(size=(40, 3)) * [1.0, 1.0, 0.0],
        np.r_[np.random.default_rng(0).normal(size=(60, 2)), [[1e200, -1e200]]],
        np.random.default_rng(0).normal(size=(60, 2)) * 1e-200,
    ],
    ids=["one point", "one place", "two", "three places", "constant", "far", "tiny"],
)
def test_odd_points_have_bands_too(X):
    found = kdegraph.cluster_scales(X, seed=0)
    n = len(X)
    assert found.labels.shape == (len(found.sigma), n)
    assert np.isfinite(found.sigma).all()
    table = found.to_arrow()
    assert np.sum(table["size"].to_numpy()) == n * len(found.sigma)
    for labels, number, stable in zip(found.labels, found.n_clusters, found.stability, strict=True):
        assert len(np.unique(labels)) == number == np.count_nonzero(np.isfinite(stable))
    assert all(np.isfinite(one.high).all() for one in found.outlines())


def test_a_scale_at_which_hardly_any_point_has_a_neighbor_is_no_error():
    X = np.random.default_rng(0).uniform(size=(40, 5))
    found = kdegraph.cluster_scales(X, np.geomspace(1e-5, 10, 14), seed=1)
    assert found.n_clusters.max() > 1
    assert ((found.stability >= 0) | np.isnan(found.stability)).all()


def test_the_other_distances_have_bands_too():
    rng = np.random.default_rng(0)
    directions = np.eye(4)[rng.integers(4, size=200)] + 0.05 * rng.normal(size=(200, 4))
    X = directions * rng.uniform(1, 100, size=(200, 1))
    assert 4 in kdegraph.cluster_scales(X, metric="cosine", seed=0).n_clusters


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scales": []}, "at least one"),
        ({"scales": [[1.0]]}, "list of at least one sigma"),
        ({"scales": [1.0, 0.0]}, "positive"),
        ({"scales": ["a"]}, "scales"),
        ({"max_clusters": 0}, "max_clusters"),
        ({"max_points": 0}, "max_points"),
        ({"metric": "taxi"}, "metric"),
    ],
)
def test_what_cannot_be_used_is_refused(options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        kdegraph.cluster_scales([[0.0], [1.0]], **options)


def test_the_plot_has_a_band_for_each_outline_and_the_numbers_of_clusters():
    from matplotlib.figure import Figure

    X, _ = nested(300)
    found = kdegraph.cluster_scales(X, [0.4, 3.0], seed=0)
    ax = Figure().subplots()
    assert found.plot(ax) is ax
    assert len(ax.collections) == len(found.outlines())
    assert [text.get_text() for text in ax.texts] == ["6", "3"]
    assert "900" not in repr(found)
    assert "300 points" in repr(found)


def test_numbers_of_clusters_are_those_of_one_spectrum_and_followed():
    X, truth = nested(600)
    graph = kdegraph.similarity_graph(X, sigma=1.0, seed=0)
    found = kdegraph.cluster_numbers(graph, [3, 1, 6, 12, 3], seed=0)
    assert (found.along, found.n_clusters.tolist()) == ("n_clusters", [12, 6, 3, 1])
    spectrum = kdegraph.spectrum(graph, 13, seed=0)
    for k, labels, stable, gap in zip(
        found.n_clusters, found.labels, found.stability, found.eigengap, strict=True
    ):
        expected = kdegraph.spectral_clustering(graph, k, seed=0).labels
        assert adjusted_rand_score(expected, labels) > (0.6 if k == 12 else 1 - 1e-9)
        assert gap == pytest.approx(np.diff(spectrum.eigenvalues)[k - 1], abs=1e-3)
        assert np.count_nonzero(np.isfinite(stable)) == k
        if k < 12:
            assert np.nanmin(stable) == 1
    assert np.nanmean(found.stability[0]) < 1
    assert adjusted_rand_score(truth, found.labels[1]) == 1
    for below, above in zip(found.labels[1:3], found.labels[2:], strict=True):
        for cluster in np.unique(below):  # groups in groups
            assert len(np.unique(above[below == cluster])) == 1
    ends = [one.x[[0, -1]] for one in found.outlines() if one.into is not None]
    assert all(start > end for start, end in ends)  # from many to few
    assert np.isfinite(kdegraph.cluster_numbers(graph, [2], n_replicates=0).stability).all()


def test_a_graph_is_checked_once_for_all_numbers(monkeypatch):
    graph = kdegraph.similarity_graph(nested(300)[0], sigma=1.0, seed=0)
    checked, check = [], checked_graph.connected_components

    def count(*args):
        checked.append(args)
        return check(*args)

    monkeypatch.setattr(checked_graph, "connected_components", count)
    kdegraph.cluster_numbers(graph, range(2, 8), n_replicates=0)
    assert len(checked) <= 2


@pytest.mark.parametrize(("shape", "numbers"), [((1, 1), [1]), ((2, 2), [4, 3, 2])])
def test_a_picture_of_few_pixels_has_few_numbers(shape, numbers):
    gray = kdegraph.datasets.image_points(np.full((*shape, 3), 90, np.uint8))
    graph = kdegraph.similarity_graph(gray.X, sigma=1.0, seed=0)
    found = kdegraph.cluster_numbers(graph)
    assert found.n_clusters.tolist() == numbers
    assert found.labels.shape == (len(numbers), len(gray.X))
    assert np.isnan(found.eigengap[0])


@pytest.mark.parametrize(
    ("graph", "options", "error", "words"),
    [
        (np.eye(3), {}, TypeError, "SimilarityGraph with its points"),
        (None, {"numbers": []}, ValueError, "at least one"),
        (None, {"numbers": [0]}, ValueError, "each of the numbers"),
        (None, {"numbers": [31]}, ValueError, "30"),
        (None, {"n_replicates": -1}, ValueError, "n_replicates"),
    ],
)
def test_numbers_that_cannot_be_used_are_refused(graph, options, error, words):
    if graph is None:
        graph = kdegraph.similarity_graph(np.arange(30.0)[:, None], sigma=1.0, seed=0)
    with pytest.raises(error, match=words):
        kdegraph.cluster_numbers(graph, **options)
