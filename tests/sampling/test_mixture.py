"""Samples from lists of near neighbors and from all others: the law, the weights, the graph."""

import kdegraph
import numpy as np
import oracle
import pytest
from kdegraph.geometry import neighbor_forest
from kdegraph.geometry.kernel_functions import UNDERFLOW
from kdegraph.geometry.neighbor_forest import NeighborLists
from kdegraph.sampling import mixture
from kdegraph.scaled_kernel import kernel_row, pair_kernel
from kdegraph.validation import check_points
from promises import check_threads
from scipy.sparse import csr_array
from scipy.stats import chi2
from sklearn.metrics import adjusted_rand_score

N, D, LISTED = 60, 30, 8


@pytest.fixture
def taken(monkeypatch):
    """Let the mixture be taken in many dimensions however few the points are."""
    costs = neighbor_forest.NEIGHBOR_COSTS._replace(near_point=0.0, near_point_per_dimension=0.0)
    monkeypatch.setattr(neighbor_forest, "NEIGHBOR_COSTS", costs)


def points(n=N, d=D, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def lists_of(X, length=LISTED, wrong=0.0, seed=0):
    """The nearest neighbors of all points, a share of them replaced by any others."""
    rng = np.random.default_rng(seed)
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(distances, np.inf)
    by_distance = np.argsort(distances, axis=1)[:, :-1]
    indices = by_distance[:, :length].copy()
    for row, all_others in zip(indices, by_distance, strict=True):
        some = rng.random(length) < wrong
        row[some] = rng.choice(all_others[length:], some.sum(), replace=False)
    return NeighborLists(
        np.take_along_axis(distances, indices, axis=1), indices.astype(np.int32), np.arange(len(X))
    )


def kernel_matrix(name, bandwidth, X):
    K = np.array([kernel_row(name, bandwidth, X, i) for i in range(len(X))])
    np.fill_diagonal(K, 0.0)
    return K


def probabilities(law, K):
    """The law of the draws from its definition, and the exact sums of the acceptances."""
    n = len(K)
    listed = np.zeros((n, n), bool)
    np.put_along_axis(listed, law.neighbors.astype(int), True, axis=1)
    smallest = np.where(listed, K, np.inf).min(axis=1, keepdims=True)
    accepted = np.clip(K / smallest, 1 / mixture.RANGE, 1.0)
    accepted[listed | np.eye(n, dtype=bool)] = 0.0
    near, totals = np.where(listed, K, 0.0), accepted.sum(axis=1, keepdims=True)
    share = law.far_share[:, None]
    return (1 - share) * near / near.sum(axis=1, keepdims=True) + share * accepted / totals, totals


def bandwidths(kind, X):
    return 6.0 if kind == "one" else np.random.default_rng(5).uniform(4.0, 9.0, len(X))


@pytest.mark.parametrize("bandwidth", ["one", "each"])
@pytest.mark.parametrize("name", oracle.KERNELS)
def test_draws_follow_the_law(name, bandwidth):
    X, n_rounds = points(), 20_000
    sigma = bandwidths(bandwidth, X)
    kernel, lists = pair_kernel(name, sigma, N), lists_of(X, wrong=0.3)
    law, _ = mixture.mixture_law(kernel, X, lists, n_rounds, 1)
    expected, _ = probabilities(law, kernel_matrix(name, sigma, X))
    neighbors = mixture.draw_neighbors(law, n_rounds, 1)
    for i in range(N):
        counts = np.bincount(neighbors[i], minlength=N)
        assert counts[i] == 0
        others = np.arange(N) != i
        gaps = (counts - n_rounds * expected[i])[others] ** 2 / (n_rounds * expected[i][others])
        assert chi2.sf(gaps.sum(), N - 2) > 1e-5


@pytest.mark.parametrize(
    ("bandwidth", "wrong", "sparse"),
    [("one", 0.0, False), ("one", 1.0, False), ("each", 0.3, False), ("one", 0.3, True)],
)
def test_the_matrix_is_unbiased_whatever_is_listed(bandwidth, wrong, sparse):
    X, n_rounds, n_graphs = points(), 5, 2000
    if sparse:
        X[np.abs(X) < 1] = 0.0
    sigma = bandwidths(bandwidth, X)
    K = kernel_matrix("gaussian", sigma, X)
    given = check_points(csr_array(X), keep_sparse=True) if sparse else X
    law, _ = mixture.mixture_law(
        pair_kernel("gaussian", sigma, N), given, lists_of(X, wrong=wrong), n_rounds, 0
    )
    law.far_total[:] = probabilities(law, K)[1][:, 0]
    total, squares = np.zeros((N, N)), np.zeros((N, N))
    for seed in range(1, n_graphs + 1):
        neighbors = mixture.draw_neighbors(law, n_rounds, seed)
        A = mixture.weighted_adjacency(law, neighbors).toarray()
        assert (A == A.T).all()
        total += A
        squares += A**2
    mean = total / n_graphs
    pairs = np.triu_indices(N, 1)
    errors = np.sqrt((squares / n_graphs - mean**2)[pairs] / n_graphs)
    z = (mean - K)[pairs] / errors
    assert abs(z).max() < 5.0
    assert abs(z.mean()) < 0.2
    assert 0.8 < z.std() < 1.2


def test_degrees_are_unbiased():
    X, n_laws = points(), 400
    K, kernel, lists = kernel_matrix("gaussian", 6.0, X), pair_kernel("gaussian", 6.0), lists_of(X)
    degrees = np.array(
        [mixture.mixture_law(kernel, X, lists, 10, seed)[1] for seed in range(n_laws)]
    )
    errors = degrees.std(axis=0) / np.sqrt(n_laws)
    z = (degrees.mean(axis=0) - K.sum(axis=1)) / errors
    assert abs(z).max() < 4.5
    # All pilot draws are made where the others count so much.
    assert (degrees.std(axis=0) < 0.1 * K.sum(axis=1)).all()


def test_sums_over_clipped_acceptances_are_exact():
    X = points()
    kernel = pair_kernel("gaussian", 0.8)  # the others are more than `RANGE` times smaller
    lists = lists_of(X, length=2)
    law, _ = mixture.mixture_law(kernel, X, lists, 10, 0)
    n_far = N - 3
    exact = probabilities(law, kernel_matrix("gaussian", 0.8, X))[1][:, 0]
    clipped = np.isclose(exact, n_far / mixture.RANGE)
    assert clipped.any()
    np.testing.assert_allclose(law.far_total[clipped], exact[clipped], rtol=1e-12)


@pytest.mark.usefixtures("taken")
@pytest.mark.parametrize(
    ("name", "kind"),
    [*((name, np.float64) for name in oracle.KERNELS), ("gaussian", np.float32)],
)
def test_graph_in_many_dimensions(name, kind, tmp_path):
    X = points(1500, 24).astype(kind)
    graph = kdegraph.similarity_graph(X, sigma="local", kernel=name, seed=3)
    assert (graph.sampler, graph.draws, graph.n_rounds) == ("mixture", "independent", 30)
    assert graph.points is X
    assert np.isnan(graph.eps)
    assert (graph.neighbors != np.arange(len(X))[:, None]).all()
    # Points without any structure: the others have the largest part in the degrees that they can.
    full = kdegraph.full_graph(X, sigma=graph.sigma, kernel=name).sum(axis=1)
    for degrees in (graph.adjacency.sum(axis=1), graph.kernel_degrees):
        assert abs(np.mean(degrees / full) - 1) < 0.1
        assert abs(np.median(degrees / full) - 1) < 0.15
    graph.save(tmp_path / "graph.npz")
    again = kdegraph.SimilarityGraph.load(tmp_path / "graph.npz")
    np.testing.assert_array_equal(again.points, X)
    assert again.sampler == "mixture"
    np.testing.assert_array_equal(again.adjacency.data, graph.adjacency.data)


@pytest.mark.usefixtures("taken")
def test_the_same_seed_draws_the_same_for_any_number_of_threads():
    X = points(2500, 24)

    def make(seed=3):
        graph = kdegraph.similarity_graph(X, sigma="local", seed=seed)
        return graph.neighbors, graph.adjacency.data

    check_threads(make, (1, 2))
    assert (make(4)[0] != make()[0]).any()


@pytest.mark.usefixtures("taken")
def test_bandwidths_are_nearly_those_of_the_nearest_neighbors():
    X = points(2500, 24)
    for sigma, estimate in (
        ("auto", kdegraph.estimate_sigma),
        ("local", kdegraph.local_bandwidths),
    ):
        graph = kdegraph.similarity_graph(X, sigma=sigma, seed=0)
        np.testing.assert_array_equal(graph.sigma, estimate(X))
    few = X[:, :19]  # so few dimensions that neighbors are exact
    X[:, 19:] = 0.0
    assert kdegraph.estimate_sigma(X) == pytest.approx(kdegraph.estimate_sigma(few), rel=0.01)
    ratio = kdegraph.local_bandwidths(X) / kdegraph.local_bandwidths(few)
    assert abs(np.median(ratio) - 1) < 0.001
    assert np.quantile(abs(ratio - 1), 0.95) < 0.02


@pytest.mark.usefixtures("taken")
def test_clusters_are_found():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, 1000)
    X = (2 * rng.normal(size=(5, 50))[labels] + rng.normal(size=(1000, 50))).astype(np.float32)
    for sigma in ("auto", "local"):
        graph = kdegraph.similarity_graph(X, sigma=sigma, seed=0)
        found = kdegraph.spectral_clustering(graph, 5, seed=0).labels
        assert adjusted_rand_score(labels, found) > 0.99
    fitted = kdegraph.KDESpectralClustering(5, random_state=0).fit(X)
    assert adjusted_rand_score(labels, fitted.labels_) > 0.99
    assert (fitted.predict(X[:50]) == fitted.labels_[:50]).all()


@pytest.mark.usefixtures("taken")
def test_points_out_of_reach_are_isolated():
    X = points(2500, 24)
    X[:3] += 1e6 * np.arange(1, 4)[:, None]
    graph = kdegraph.similarity_graph(X, sigma=5.0, seed=0)
    assert graph.sampler == "mixture"
    assert (graph.kernel_degrees[:3] == 0).all()
    assert (graph.neighbors[:3] == -1).all()
    assert (np.diff(graph.adjacency.indptr)[:3] == 0).all()
    assert (np.diff(graph.adjacency.indptr)[3:] > 0).all()


@pytest.mark.usefixtures("taken")
def test_points_that_coincide():
    X = points(2500, 24)
    X[100:200] = X[0]
    for sigma in ("local", "auto"):
        graph = kdegraph.similarity_graph(X, sigma=sigma, seed=0)
        assert np.isfinite(graph.adjacency.data).all()
        assert (np.diff(graph.adjacency.indptr) > 0).all()
    same = kdegraph.similarity_graph(np.ones((2500, 24)), sigma=1.0, seed=0)
    np.testing.assert_allclose(same.kernel_degrees, 2499, rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_points(n):
    graph = kdegraph.similarity_graph(points(n, 3), sigma=2.0, sampler="mixture", seed=0)
    assert graph.neighbors.shape == (n, 30)
    assert (graph.neighbors == -1).all() == (n == 1)
    full = kdegraph.full_graph(points(n, 3), sigma=2.0).sum(axis=1)
    np.testing.assert_allclose(graph.kernel_degrees, full, rtol=1e-12)


def test_exponents_at_the_edge_of_what_counts():
    X = np.array([[0.0], [np.sqrt(UNDERFLOW) * 0.999], [-np.sqrt(UNDERFLOW) * 1.001]])
    graph = kdegraph.similarity_graph(X, sigma=1.0, sampler="mixture", n_rounds=3, seed=0)
    assert graph.adjacency.nnz == 2
    assert (graph.neighbors[2] == -1).all()


@pytest.mark.usefixtures("taken")
def test_what_needs_exact_degrees_is_refused_or_done_otherwise():
    X = points(2500, 24)
    for options in ({"alpha": 0.5}, {"weighting": "paper"}):
        with pytest.raises(ValueError, match="mixture"):
            kdegraph.similarity_graph(X, sigma=1.0, sampler="mixture", **options)
        assert kdegraph.similarity_graph(X, sigma=5.0, seed=0, **options).sampler != "mixture"
    for perplexity in (0.5, 2500, -1, np.nan):
        with pytest.raises(ValueError, match="perplexity"):
            kdegraph.similarity_graph(X, sigma="local", perplexity=perplexity)
