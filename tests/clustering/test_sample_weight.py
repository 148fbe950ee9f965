"""Weighted points: what a weight stands for is a number of points at one place."""

import kdegraph
import numpy as np
import oracle
import pytest
import scipy.stats
from kdegraph import KDESpectralClustering, similarity_graph
from kdegraph.clustering.rounding import Rounding
from kdegraph.explain import adjacency_after, kernel_values, sampling_tree
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

N = 60
X = np.random.default_rng(0).normal(size=(N, 2))
WEIGHTS = np.random.default_rng(1).integers(1, 5, N)
COPY_OF = np.repeat(np.arange(N), WEIGHTS)
KINDS = [
    {"sigma": 0.8},
    {"sigma": 0.8, "kernel": "laplacian", "alpha": 0.5},
    {"sigma": "local", "alpha": 1.0},
]


def weights_between_places(options):
    """The full graph of all copies, by an oracle, with those at one place put together."""
    bandwidths = np.ones(N) * options["sigma"] if options["sigma"] != "local" else None
    if bandwidths is None:
        bandwidths = kdegraph.local_bandwidths(X)
    pairs = np.sqrt(np.outer(bandwidths, bandwidths))[np.ix_(COPY_OF, COPY_OF)]
    copies = X[COPY_OF]
    K = oracle.kernel_matrix(copies, copies, options.get("kernel", "gaussian"), pairs)
    g = K.sum(axis=1) ** -options.get("alpha", 0.0)
    K = K * np.outer(g, g)
    np.fill_diagonal(K, 0.0)
    place = np.eye(N)[COPY_OF]
    return (place.T @ K @ place).astype(float)


@pytest.mark.parametrize("options", KINDS)
def test_degrees_are_those_of_the_copies(options):
    graph = similarity_graph(X, sample_weight=WEIGHTS, eps=1e-9, seed=0, **options)
    expected = weights_between_places(options)
    loops = np.diag(expected)
    np.testing.assert_allclose(graph.kernel_degrees, expected.sum(axis=1) - loops, rtol=1e-8)
    np.testing.assert_allclose(graph.adjacency.diagonal(), loops, rtol=1e-8)
    row = expected[7] - np.diag(loops)[7]
    np.testing.assert_allclose(kernel_values(graph, 7), row, rtol=1e-8)


@pytest.mark.parametrize("sampler", ["near", "mixture"])
def test_the_graph_is_an_unbiased_estimate_of_that_of_the_copies(sampler):
    options, n = {"sigma": 0.8, "n_rounds": 5, "sampler": sampler}, 400
    graphs = [similarity_graph(X, sample_weight=WEIGHTS, seed=i, **options) for i in range(n)]
    expected = weights_between_places({"sigma": 0.8})
    tables = np.array([graph.adjacency.toarray() for graph in graphs])
    error = tables.std(axis=0) / np.sqrt(n) + 1e-9
    often = expected > 0.02
    assert often.mean() > 0.5
    assert np.abs(tables.mean(axis=0) - expected)[often].max() < 6 * error[often].max()
    assert abs(np.sum(tables.mean(axis=0) - expected)) < 0.01 * expected.sum()
    assert graphs[0].n_edges == np.count_nonzero(np.triu(tables[0], 1))


def test_draws_have_the_law_of_the_copies():
    """Draws from a point with weights, and those of all its copies from other places."""
    options = {"sigma": 0.8, "sampler": "near", "seed": 0}
    weighted = similarity_graph(X, sample_weight=WEIGHTS, n_rounds=4000, **options)
    copies = similarity_graph(X[COPY_OF], n_rounds=4000, **options)
    K = weights_between_places({"sigma": 0.8})
    np.fill_diagonal(K, 0.0)
    for i in (0, 17, 42):
        counts = np.bincount(weighted.neighbors[i], minlength=N)
        of_copies = np.bincount(COPY_OF[copies.neighbors[i == COPY_OF].ravel()], minlength=N)
        of_copies[i] = 0
        likely = K[i] / K[i].sum() * 4000 > 5
        expected = K[i, likely] / K[i, likely].sum()
        for found in (counts[likely], of_copies[likely]):
            assert scipy.stats.chisquare(found, expected * found.sum()).pvalue > 0.001
        unweighted = expected / WEIGHTS[likely]
        unweighted *= counts[likely].sum() / unweighted.sum()
        assert scipy.stats.chisquare(counts[likely], unweighted).pvalue < 1e-6


def test_the_graph_of_the_first_rounds_is_that_of_fewer_rounds():
    options = {"sample_weight": WEIGHTS, "sigma": "local", "alpha": 0.5, "seed": 0}
    graph, fewer = (similarity_graph(X, n_rounds=n, **options) for n in (9, 4))
    found = adjacency_after(graph, sampling_tree(X), 4).toarray()
    np.testing.assert_allclose(found, fewer.adjacency.toarray(), rtol=1e-12)


@pytest.fixture(scope="module")
def shapes():
    data = kdegraph.datasets.make("moons", n=300, seed=0)
    weights = np.random.default_rng(0).integers(1, 4, 300)
    return data.X, data.y, weights


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_clusters": 2, "sigma": 0.15},
        {"n_clusters": 2, "sigma": "local", "alpha": 0.5},
        {"n_clusters": 2},
        {},
    ],
)
def test_clusters_and_predictions_are_those_of_the_copies(shapes, parameters):
    points, labels, weights = shapes
    copy_of = np.repeat(np.arange(300), weights)
    model = KDESpectralClustering(random_state=0, **parameters)
    found = model.fit_predict(points, sample_weight=weights)
    assert adjusted_rand_score(labels, found) == 1.0
    new = np.random.default_rng(2).uniform(-1, 2, (50, 2))
    if parameters.get("sigma") is None:
        return
    shares = model.predict_proba(new)
    copies = KDESpectralClustering(random_state=0, **parameters).fit(points[copy_of])
    assert np.array_equal(copies.labels_, found[copy_of])
    np.testing.assert_allclose(copies.predict_proba(new), shares, atol=0.02)


@pytest.mark.parametrize("alpha", [0.0, 0.7])
def test_distances_with_weights_are_those_between_copies(alpha):
    """There is no chance in these graphs: spectra and coordinates agree, too."""
    parameters = {"affinity": "precomputed_distances", "sigma": 0.8, "alpha": alpha}
    model, copies = (KDESpectralClustering(3, random_state=0, **parameters) for _ in range(2))
    model.fit(cdist(X, X), sample_weight=WEIGHTS)
    copies.fit(cdist(X[COPY_OF], X[COPY_OF]))
    expected = weights_between_places({"sigma": 0.8, "alpha": alpha})
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), expected, rtol=1e-12)
    eigenvalues = copies.spectrum_.eigenvalues[:3]
    np.testing.assert_allclose(model.spectrum_.eigenvalues[:3], eigenvalues, atol=1e-6)
    assert np.array_equal(model.labels_[COPY_OF], copies.labels_)
    new = cdist(np.random.default_rng(3).normal(size=(9, 2)), X)
    for method in ("predict_proba", "transform"):
        found, wanted = getattr(model, method)(new), getattr(copies, method)(new[:, COPY_OF])
        np.testing.assert_allclose(np.abs(found), np.abs(wanted), atol=1e-4)


@pytest.mark.parametrize("embedding", ["soft", "plain", "degree"])
def test_rounding_counts_copies(embedding):
    rows = np.array([[0.0], [4.0], [6.0], [10.0]])
    rounding = Rounding(embedding, "kmeans", 3, 0)
    found = rounding.labels(rows, 2, np.array([1.0, 1.0, 1.0, 100.0]))
    assert found[0] == found[1] == found[2] != found[3]
    found = rounding.labels(rows, 2, np.array([100.0, 1.0, 1.0, 1.0]))
    assert found[0] != found[1] == found[2] == found[3]


def test_equal_weights_of_one_change_nothing_and_kept_graphs_keep_weights(tmp_path):
    plain, ones = (
        similarity_graph(X, sigma=0.8, seed=0, sample_weight=one) for one in (None, [1] * N)
    )
    assert ones.sample_weight is None
    assert np.array_equal(ones.neighbors, plain.neighbors)
    graph = similarity_graph(X, sigma=0.8, seed=0, sample_weight=WEIGHTS)
    graph.save(tmp_path / "graph.npz")
    read = kdegraph.SimilarityGraph.load(tmp_path / "graph.npz")
    assert np.array_equal(read.sample_weight, WEIGHTS)
    assert read.n_edges == graph.n_edges
    graph.to_zarr(tmp_path / "graph.zarr")
    read = kdegraph.SimilarityGraph.from_zarr(tmp_path / "graph.zarr")
    assert np.array_equal(read.sample_weight, WEIGHTS)
    with pytest.raises(ValueError, match=r"SimilarityGraph\.from_zarr reads it"):
        kdegraph.TiledGraph.from_zarr(tmp_path / "graph.zarr", tmp_path / "tiles")


@pytest.mark.parametrize(("smallest", "largest"), [(1e-12, 1.0), (1.0, 1e12), (1e-6, 1e6)])
def test_extreme_weights_give_the_degrees_of_the_law(smallest, largest):
    weights = np.geomspace(smallest, largest, N)
    K = oracle.full_graph(X, "gaussian", 0.8) * np.outer(weights, weights)
    for sampler, rtol in (("near", 1e-8), ("mixture", 0.01)):
        graph = similarity_graph(
            X, sigma=0.8, sample_weight=weights, sampler=sampler, eps=1e-9, seed=0
        )
        np.testing.assert_allclose(graph.kernel_degrees, K.sum(axis=1), rtol=rtol)
        assert np.isfinite(graph.adjacency.data).all()


@pytest.mark.parametrize(
    ("weights", "options", "message"),
    [
        ([1.0] * (N - 1), {}, r"shape \(60,\)"),
        ([0.0] + [1.0] * (N - 1), {}, "leave out points whose weight is zero"),
        ([np.nan] + [1.0] * (N - 1), {}, r"sample_weight\[0\] is nan"),
        ([2.0] * N, {"sampler": "rejection"}, "points of equal weight"),
        ([2.0] * N, {"kde": "direct"}, "points of equal weight"),
        ([2.0] * N, {"store": "unused"}, "points in memory"),
    ],
)
def test_bad_weights_are_refused(weights, options, message):
    with pytest.raises(ValueError, match=message):
        similarity_graph(X, sigma=0.8, sample_weight=weights, **options)


def test_the_estimator_refuses_weights_where_it_cannot_use_them():
    K = oracle.full_graph(X, "gaussian", 0.8)
    with pytest.raises(ValueError, match="multiplied by those of both points"):
        KDESpectralClustering(2, affinity="precomputed").fit(K, sample_weight=WEIGHTS)
    lazy = pytest.importorskip("dask.array").from_array(X)
    with pytest.raises(ValueError, match="not for Dask arrays"):
        KDESpectralClustering(2).fit(lazy, sample_weight=WEIGHTS)


def test_sparse_points_and_counting_take_weights():
    data = kdegraph.datasets.make("blobs20d", n=200, seed=0)
    weights = np.random.default_rng(0).integers(1, 4, 200)
    sparse = pytest.importorskip("scipy.sparse").csr_array(data.X)
    model = KDESpectralClustering(random_state=0).fit(sparse, sample_weight=weights)
    assert adjusted_rand_score(data.y, model.labels_) == 1.0
    assert adjusted_rand_score(data.y, model.predict(sparse)) == 1.0
