"""The choice of a scale by the agreement of replicates."""

import itertools
from types import SimpleNamespace

import dask.array
import numpy as np
import pytest
import scipy.stats
from kdegraph import KDESpectralClustering, datasets, similarity_graph, spectral_clustering
from kdegraph.decision import Settings, cluster_at, decide
from kdegraph.graph_parameters import Scale
from kdegraph.neighbor_layout import NeighborLayouts
from kdegraph.stability import (
    MAX_REPLICATES,
    N_REPLICATES,
    Replicates,
    affordable_replicates,
    compare,
    embeddings_for,
    not_degenerate,
    scales,
    stability,
)
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import adjusted_rand_score


def fit_of(labels_at):
    """Return a function for `compare` that reads labels from a table of scales."""

    return lambda scale, number: found_at(scale, labels_at[scale][number])


def found_at(scale, labels, *further):
    """Return what a function for `compare` finds."""
    clusters = SimpleNamespace(labels=labels)
    return SimpleNamespace(scale=scale, clusters=clusters, further_labels=further)


@pytest.mark.parametrize(
    ("sizes", "automatic"),
    [((500, 500), False), ((500, 300, 4), True), ((500, 300, 40), False), ((100, 3), True)],
)
@pytest.mark.filterwarnings("ignore::kdegraph.diagnosis.GraphWarning")
def test_a_pile_of_identical_points_is_a_cluster(sizes, automatic):
    pile = np.repeat(np.arange(len(sizes)), sizes)
    X = np.array([[1.0, 1.0], [2.0, 2.0], [7.0, 1.0]])[pile]
    model = KDESpectralClustering("auto" if automatic else len(sizes), random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, pile)
    assert (model.stability_ == 1.0).all()


@pytest.mark.parametrize("n_compared", [4000, 300])
def test_identical_points_have_one_label(n_compared, monkeypatch):
    monkeypatch.setattr("kdegraph.decision.MAX_COMPARED", n_compared)
    X = np.random.default_rng(0).integers(0, 6, (600, 2)).astype(float)
    labels = KDESpectralClustering(7, random_state=0).fit(X).labels_
    places, group = np.unique(X, axis=0, return_inverse=True)
    assert np.unique(np.c_[group, labels], axis=0).shape[0] == len(places)


def test_stability_is_the_mean_index_of_pairs():
    rng = np.random.default_rng(0)
    labelings = [rng.integers(3, size=60).astype(np.int32) for _ in range(4)]
    pairs = itertools.combinations(labelings, 2)
    expected = np.mean([adjusted_rand_score(*pair) for pair in pairs])
    assert stability(labelings, 3) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("sizes", "degenerate"),
    [([50, 50, 50, 50], False), ([100, 40, 40, 20], False), ([195, 2, 2, 1], True)],
)
def test_stable_but_degenerate_clusters_count_less(sizes, degenerate):
    labels = np.repeat(np.arange(4, dtype=np.int32), sizes)
    share = np.exp(scipy.stats.entropy(sizes)) / 4
    assert (share < 0.6) == degenerate
    assert stability([labels, labels], 4) == pytest.approx(min(1, share / 0.6))


def test_labels_that_cut_off_outliers_which_the_sample_lacks_have_no_vote():
    def sizes(*of):
        return np.repeat(np.arange(len(of), dtype=np.int32), of)

    halves, uneven = (Replicates(None, [sizes(*of)] * 4) for of in ((50, 50), (98, 2)))
    cut, whole, other = sizes(997, 3), sizes(500, 500), sizes(600, 400)
    for labelings, compared, expected in (
        ([cut, whole, cut, other], [halves], [whole, other]),
        ([cut, whole, other], [uneven], [cut, whole, other]),  # the sample has a small cluster, too
        ([cut, cut, whole], [halves], [cut, cut, whole]),  # a single one would be sure of all
        ([cut, whole, other], [halves, uneven], [cut, whole, other]),
    ):
        found = not_degenerate(labelings, compared)
        assert all(labels is one for labels, one in zip(found, expected, strict=True))


def test_scales_suit_the_number_of_points():
    def perplexities(n):
        return [scale.perplexity for scale in scales(n) if scale.sigma == "moderate"]

    assert perplexities(5) == [None]
    assert perplexities(61) == [None, 10.0, 20.0]
    assert perplexities(60) == [None, 10.0]
    assert perplexities(1000) == [None, 10.0, 20.0, 40.0]
    assert scales(1000)[-1] == Scale("auto")
    assert scales(1000, 7.0) == [Scale("moderate", 7.0)]


def test_the_most_stable_scale_comes_first_then_nearly_as_stable_ones():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(2, dtype=np.int32), 200)
    shuffled = [rng.permutation(truth) for _ in range(N_REPLICATES)]
    nearly, less = ([truth.copy() for _ in range(N_REPLICATES)] for _ in range(2))
    nearly[0][:1] = 1
    less[0][:4] = 1
    assert 0.99 < stability(nearly, 2) < 1.0
    assert 0.97 < stability(less, 2) < 0.99
    unlucky, good, other = Scale("moderate"), Scale("moderate", 10.0), Scale("moderate", 20.0)
    best = Scale("auto")
    table = {unlucky: shuffled, other: less, good: nearly, best: [truth] * N_REPLICATES}
    compared = compare(fit_of(table), list(table), 2)
    assert [one.fit.scale for one in compared] == [best, good]
    assert compared[0].labelings == table[best]
    assert compared[1].labelings == table[good]


@pytest.mark.parametrize(("best", "least"), [(1.0, 0.99), (0.8, 0.59), (0.3, -0.41)])
def test_the_less_stable_the_best_scale_is_the_more_others_vote(best, least, monkeypatch):
    stable = np.array([best, least + 1e-9, least - 1e-9])
    candidates = [Scale("moderate", perplexity) for perplexity in (10.0, 20.0, 40.0)]
    monkeypatch.setattr(
        "kdegraph.stability.stability", lambda labelings, k: stable[labelings[0][0]]
    )
    labels_at = {scale: [np.full(3, i)] * N_REPLICATES for i, scale in enumerate(candidates)}
    compared = compare(fit_of(labels_at), candidates, 2)
    assert [one.fit.scale for one in compared] == candidates[:2]


def test_graphs_of_many_dimensions_are_clustered_in_two_ways():
    assert embeddings_for(3) == embeddings_for(9, "cluster_qr") == ("soft",)
    assert embeddings_for(4) == embeddings_for(4, "kmeans") == ("softer", "layout")
    first, second, third, fourth = (np.full(5, i, np.int32) for i in range(4))
    found = {0: found_at(Scale("auto"), first, second), 1: found_at(Scale("auto"), third, fourth)}
    fit = lambda scale, number: found[number]  # noqa: E731
    replicates = Replicates.of(fit, [(Scale("auto"), 0), (Scale("auto"), 1)])
    assert replicates.fit is found[0]
    assert replicates.labelings == [first, second, third, fourth]


def test_clusters_at_a_scale_are_those_of_its_graph_by_each_embedding():
    X = datasets.make("blobs20d", n=300, seed=0).X
    settings = Settings(5, {}, {"n_init": 2})
    kinds = ("softer", "layout")
    found = cluster_at(Scale("moderate", 10.0), X, settings, 3, embeddings=kinds)
    graph = similarity_graph(X, sigma="moderate", perplexity=10.0, seed=3)
    expected = spectral_clustering(graph, 5, seed=3, n_init=2, embedding="softer")
    np.testing.assert_array_equal(found.clusters.labels, expected.labels)
    layout = spectral_clustering(
        graph, 5, seed=3, n_init=2, embedding="layout", spectrum=expected.spectrum
    )
    assert len(found.further_labels) == 1
    np.testing.assert_array_equal(found.further_labels[0], layout.labels)
    by_user = settings._replace(clusters={"embedding": "degree"})
    found = cluster_at(Scale("moderate", 10.0), X, by_user, 3, embeddings=kinds)
    assert found.further_labels == ()
    expected = spectral_clustering(graph, 5, seed=3, embedding="degree")
    np.testing.assert_array_equal(found.clusters.labels, expected.labels)


@pytest.mark.parametrize(
    ("n", "d", "options", "expected"),
    [
        (300, 20, {}, [(20.0, 5, 8), (20.0, 5, 10)]),
        (299, 20, {}, []),
        (301, 20, {}, []),
        (300, 3, {}, []),
        (300, 20, {"graph": {"kernel": "laplacian"}}, []),
        (300, 20, {"clusters": {"embedding": "layout"}}, []),
    ],
)
def test_layouts_of_near_neighbors_of_many_points_vote_beside_each_second_replicate(
    n, d, options, expected, monkeypatch
):
    called, rng = [], np.random.default_rng(0)

    def labels(self, perplexity, n_clusters, seed, progress=None):
        called.append((perplexity, n_clusters, seed))
        return rng.integers(n_clusters, size=n, dtype=np.int32)

    monkeypatch.setattr(NeighborLayouts, "labels", labels)
    for bound in ("MIN_POINTS", "MAX_POINTS"):
        monkeypatch.setattr(f"kdegraph.decision.{bound}", 300)
    y = np.arange(n) % 5
    X = 20 * np.eye(20)[y][:, :d] + rng.normal(size=(n, d))
    found = decide(X, Settings(5, **options), 7, perplexity=20.0)
    assert called == expected
    if expected:  # two of ten labelings are random
        assert abs(found.vote.probabilities.mean() - (8 + 2 / 5) / 10) < 0.02


def test_a_scale_without_so_many_clusters_is_left_out():
    def fit(scale, number):
        if scale.sigma == "auto":
            raise ValueError("too many clusters")
        return found_at(scale, np.arange(6, dtype=np.int32) // 2)

    compared = compare(fit, [Scale("auto"), Scale("moderate")], 3)
    assert [one.fit.scale for one in compared] == [Scale("moderate")]
    with pytest.raises(ValueError, match="too many clusters"):
        compare(fit, [Scale("auto")], 3)


@pytest.mark.parametrize(
    ("load", "k", "least"), [(load_breast_cancer, 2, 0.6), (load_wine, 3, 0.8)]
)
def test_seeds_agree_on_the_classes_where_clusters_are_said_to_be_stable(load, k, least):
    """At a small perplexity a few points are cut off, and which ones is luck."""
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    if k == 2:
        one = KDESpectralClustering(2, sigma="moderate", perplexity=5.0, random_state=0).fit(X)
        assert np.bincount(one.labels_).min() < 10
    one, other = (KDESpectralClustering(k, random_state=state).fit(X) for state in (0, 1))
    assert min(adjusted_rand_score(y, model.labels_) for model in (one, other)) > least
    assert adjusted_rand_score(one.labels_, other.labels_) > 0.9
    sure = (one.probabilities_ > 0.95) & (other.probabilities_ > 0.95)
    assert sure.mean() > 0.75
    assert adjusted_rand_score(one.labels_[sure], other.labels_[sure]) > 0.98


def test_probabilities_are_those_of_further_replicates():
    """Where a point is said to stay in nine of ten replicates, it does in nine of ten others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 2)) + 2.0 * rng.integers(2, size=(900, 1))
    model = KDESpectralClustering(2, random_state=0).fit(X)
    stays = []
    for seed in range(100, 120):
        graph = similarity_graph(X, **model._scale._asdict(), seed=seed)
        labels = spectral_clustering(graph, 2, seed=seed).labels
        same = labels == model.labels_
        stays.append(same if same.mean() > 0.5 else ~same)
    share = np.mean(stays, axis=0)
    assert share[model.probabilities_ >= 0.9].mean() > 0.95
    doubtful = model.probabilities_ < 0.9
    assert 0 < doubtful.sum() < 300
    assert share[doubtful].mean() < 0.9


def test_doubtful_points_are_noise_on_request():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) + 2.0 * rng.integers(2, size=(300, 1))
    model = KDESpectralClustering(2, random_state=0).fit(X)
    for noise in (0.75, 1.0):
        other = clone(model).set_params(noise=noise)
        labels = other.fit_predict(X)
        doubtful = model.probabilities_ < noise
        assert 0 < doubtful.sum() < 200
        np.testing.assert_array_equal(labels, np.where(doubtful, -1, model.labels_))
        assert labels.dtype == model.labels_.dtype
        assert labels is other.labels_
        assert other.n_clusters_ == 2
        np.testing.assert_array_equal(other.probabilities_, model.probabilities_)
        np.testing.assert_array_equal(other.conductances_, model.conductances_)
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(KDESpectralClustering(1, noise=1.0).fit_predict(X), 0)


@pytest.mark.parametrize("kind", ["picture", "Dask array"])
def test_there_is_no_noise_where_there_is_one_graph(kind):
    if kind == "picture":
        X = datasets.image_points(np.random.default_rng(0).random((6, 7, 3))).X
    else:
        X = dask.array.from_array(np.random.default_rng(0).normal(size=(40, 2)))
    with pytest.raises(ValueError, match="noise needs several graphs"):
        KDESpectralClustering(2, noise=0.5).fit(X)


def test_a_sample_of_many_points_decides_about_the_scale(monkeypatch):
    monkeypatch.setattr("kdegraph.decision.MAX_COMPARED", 500)
    data = datasets.make("moons", n=2_000, seed=0)
    model = KDESpectralClustering(2, random_state=0).fit(data.X)
    assert model.graph_.adjacency.shape == (2_000, 2_000)
    assert adjusted_rand_score(data.y, model.labels_) > 0.95
    assert model.probabilities_.shape == (2_000,)
    assert np.isin(model.probabilities_, np.arange(1, MAX_REPLICATES + 1) / MAX_REPLICATES).all()


def test_all_points_have_two_to_six_replicates_and_more_in_many_dimensions():
    assert affordable_replicates(2, 2 * 50_000) == affordable_replicates(16, 16 * 20_000) == 6
    assert affordable_replicates(3, 500_000) == affordable_replicates(4, 1_000_000) == 2
    assert affordable_replicates(3, 250_000) == affordable_replicates(4, 500_000) == 4
    assert affordable_replicates(2, 2 * 10**8) == affordable_replicates(50, 10**8) == 2
    assert affordable_replicates(5, 0) == 6  # sparse points without a stored coordinate


def test_one_cluster_and_given_bandwidths_need_one_graph():
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = KDESpectralClustering(1, random_state=0).fit(X)
    assert (model.probabilities_ == 1).all()
    assert model.stability_.tolist() == [1.0]
    model = KDESpectralClustering(2, sigma=1.0, random_state=0).fit(X)
    assert model.probabilities_ is None
    assert model.stability_ is None
