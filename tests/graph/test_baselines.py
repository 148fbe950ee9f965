"""full_graph, knn_graph and estimate_sigma against definitions written out with plain NumPy."""

import tracemalloc

import numpy as np
import oracle
import pytest
import scipy.sparse
from kdegraph.bandwidth import estimate_sigma
from kdegraph.baselines import full_graph, knn_graph
from kdegraph.costs import NEIGHBOR_COSTS
from promises import check_threads
from sampled import check_matrix
from scipy.spatial.distance import pdist, squareform

MAX_TREE_DIMENSION = NEIGHBOR_COSTS.max_tree_dimension


def distances_to_others(X):
    """All distances, with an infinite diagonal."""
    distance = squareform(pdist(X))
    np.fill_diagonal(distance, np.inf)
    return distance


def naive_knn(X, k):
    """Adjacency of the symmetrized k-NN graph for data without ties."""
    distance = distances_to_others(X)
    adjacency = np.zeros(distance.shape, bool)
    np.put_along_axis(adjacency, np.argsort(distance, axis=1)[:, :k], True, axis=1)
    return adjacency | adjacency.T


@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_full_graph_is_the_kernel_without_self_loops(kernel):
    X = np.random.default_rng(5).standard_normal((70, 5))
    graph = full_graph(X, sigma=0.8, kernel=kernel)
    assert isinstance(graph, np.ndarray)
    np.testing.assert_allclose(graph, oracle.full_graph(X, kernel, 0.8), rtol=1e-12, atol=1e-300)
    assert (np.diag(graph) == 0).all()


@pytest.mark.parametrize("kernel", oracle.KERNELS)
@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_full_graph_is_sparse_where_most_values_underflow(kernel, scale):
    rng = np.random.default_rng(0)
    X = (rng.integers(0, 5, (200, 2)) * 1000.0 + rng.standard_normal((200, 2))) * scale
    sigma = (3.0 if kernel == "gaussian" else 0.8) * scale
    graph = full_graph(X, sigma=sigma, kernel=kernel)
    check_matrix(graph, 200)
    assert graph.nnz > 100
    expected = oracle.full_graph(X / scale, kernel, sigma / scale)
    # atol: values next to the point of underflow
    np.testing.assert_allclose(graph.toarray(), expected, rtol=1e-9, atol=1e-300)


def test_full_graph_refuses_before_allocating():
    X = np.random.default_rng(0).random((3_000_000, 1))  # 65 TiB
    with pytest.raises(
        MemoryError, match=r"n = 3,000,000 points needs 65\.5 TiB .* limit of .*similarity_graph"
    ):
        full_graph(X, sigma=1.0)
    with pytest.raises(MemoryError, match=r"limit of 100 bytes"):
        full_graph(X[:10], sigma=1.0, max_bytes=100)
    # A sparse one, whose kernel reaches sqrt(708) = 26.6: two neighbors on each side.
    line = np.arange(1000.0)[:, None] * 10
    assert full_graph(line, sigma=1.0).nnz == 2 * (999 + 998)
    with pytest.raises(MemoryError, match=r"1,997 edges that do not underflow"):
        full_graph(line, sigma=1.0, max_bytes=1000)


@pytest.mark.parametrize("options", [{"sigma": np.ones(2300)}, {"sigma": 1.0, "alpha": 0.5}])
def test_the_limit_holds_where_evenly_spread_points_are_far_apart(options):
    """The share of pairs that do not underflow is estimated on points of which no two are near."""
    n = 2300
    spread = np.unique(np.linspace(0, n - 1, 128).astype(int))
    X = np.random.default_rng(0).normal(size=(n, 2)) * 1e-3 - 1e9
    X[spread] = np.column_stack([1e6 * np.arange(len(spread)), np.zeros(len(spread))])
    tracemalloc.start()
    with pytest.raises(MemoryError, match=r"values that do not underflow in .* of its rows"):
        full_graph(X, max_bytes=2**20, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**25
    fits = full_graph(X, max_bytes=24 * n * n, **options)
    assert fits.nnz == (n - 128) * (n - 129)


@pytest.mark.parametrize("d", [1, 2, 5, MAX_TREE_DIMENSION, MAX_TREE_DIMENSION + 1, 20])
def test_knn_graph_is_the_union_of_nearest_neighbors(d):
    X = np.random.default_rng(d).standard_normal((120, d))
    for k in (1, 3, 10):
        graph = knn_graph(X, k)
        check_matrix(graph, 120)
        np.testing.assert_array_equal(graph.toarray(), naive_knn(X, k))


def test_knn_graph_with_kernel_weights():
    X = np.random.default_rng(1).standard_normal((80, 3))
    for kernel in oracle.KERNELS:
        graph = knn_graph(X, 4, mode="kernel", sigma=0.7, kernel=kernel)
        check_matrix(graph, 80)
        np.testing.assert_allclose(
            graph.toarray(), naive_knn(X, 4) * oracle.full_graph(X, kernel, 0.7), rtol=1e-12
        )
    default = knn_graph(X, 4, mode="kernel")
    np.testing.assert_array_equal(
        default.data, knn_graph(X, 4, mode="kernel", sigma=estimate_sigma(X, 4)).data
    )


def test_knn_graph_leaves_out_edges_that_underflow():
    graph = knn_graph([[0.0], [1.0], [1000.0]], 1, mode="kernel", sigma=1.0)
    check_matrix(graph, 3)
    np.testing.assert_array_equal(graph.toarray() > 0, [[0, 1, 0], [1, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize("d", [2, MAX_TREE_DIMENSION + 3])
@pytest.mark.parametrize("copies", [2, 5, 6, 30])
def test_duplicates_are_neighbors_and_cost_no_point_its_own(d, copies):
    k = 5
    places = np.random.default_rng(d).standard_normal((12, d))
    X = np.random.default_rng(0).permutation(np.repeat(places, copies, axis=0))
    graph = knn_graph(X, k)
    check_matrix(graph, len(X))
    distance = distances_to_others(X)
    kth = np.sort(distance, axis=1)[:, k - 1]
    for i in range(len(X)):
        joined = np.sort(distance[i, graph[[i]].indices])
        # The k nearest distances are met exactly; further edges come from the other side.
        np.testing.assert_allclose(joined[:k], np.sort(distance[i])[:k], atol=1e-12)
        for j in graph[[i]].indices:
            assert distance[i, j] <= kth[i] + 1e-12 or distance[i, j] <= kth[j] + 1e-12
    assert (np.diff(graph.indptr) >= k).all()


def test_knn_graph_of_thousands_of_identical_points_stays_small():
    graph = knn_graph(np.zeros((20_000, 2)), 10)
    np.testing.assert_array_equal(np.diff(graph.indptr), 20)
    n_components, _ = scipy.sparse.csgraph.connected_components(graph)
    assert n_components == 1


def test_a_crowd_is_still_seen_by_others():
    X = np.concatenate([np.zeros((50, 2)), [[1.0, 0.0], [5.0, 0.0]]])
    graph = knn_graph(X, 3)
    check_matrix(graph, 52)
    assert graph[[50]].nnz >= 3
    assert (graph[[50]].indices < 50).sum() == 3
    assert 50 in graph[[51]].indices


def test_a_tight_cluster_far_away_keeps_its_neighbors_in_high_dimension():
    rng = np.random.default_rng(0)
    near, far = rng.standard_normal((60, 20)), rng.standard_normal((20, 20)) + 1e7
    graph = knn_graph(np.concatenate([near, far]), 3)
    distance = distances_to_others(np.concatenate([near, far]))
    for i in range(60, 80):
        got = np.sort(distance[i, graph[[i]].indices])[:3]
        np.testing.assert_allclose(got, np.sort(distance[i])[:3], rtol=1e-6)


def test_knn_graph_of_few_points():
    check_matrix(knn_graph([[1.0, 2.0]]), 1)
    assert knn_graph([[1.0, 2.0]]).nnz == 0
    np.testing.assert_array_equal(knn_graph([[0.0], [1.0]], 1).toarray(), [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match=r"n_neighbors must be at most 4 with n = 5 points.*got 5"):
        knn_graph(np.eye(5), 5)


def test_results_do_not_depend_on_the_number_of_threads():
    X = np.random.default_rng(0).random((700, 2))
    check_threads(
        lambda: (full_graph(X, sigma=0.1), knn_graph(X, 5, mode="kernel").data, estimate_sigma(X))
    )


def test_sigma_is_the_mean_distance_to_the_kth_neighbor():
    X = np.random.default_rng(0).standard_normal((300, 3))
    distance = np.sort(distances_to_others(X), axis=1)
    assert estimate_sigma(X) == pytest.approx(distance[:, 9].mean())
    assert estimate_sigma(X, 3) == pytest.approx(distance[:, 2].mean())


@pytest.mark.parametrize("far", [1e3, 1e9, 1e100])
def test_outliers_do_not_set_sigma(far):
    X = np.random.default_rng(0).standard_normal((1000, 2))
    distances = np.sort(distances_to_others(X), axis=1)[:, 9]
    outliers = far * np.array([[1.0, 2.0], [-3.0, 1.0], [1.0, -2.0]])
    # Each counts as ten times the median, however far it is.
    counted = np.concatenate([distances, [10 * np.median(distances)] * 3])
    assert distances.max() < counted.max()
    assert estimate_sigma(np.concatenate([X, outliers])) == pytest.approx(counted.mean(), rel=0.002)


def test_sigma_of_many_points_is_sampled_and_repeatable():
    X = np.random.default_rng(0).random((20_000, 2))
    exact = estimate_sigma(X[:5000]) * 0.5  # four times as dense: half the distance
    first, second = estimate_sigma(X, seed=1), estimate_sigma(X, seed=2)
    assert first == estimate_sigma(X, seed=1)
    assert first != second
    assert first == pytest.approx(exact, rel=0.05)
    assert second == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([[5.0, 5.0]], 1.0),  # a single point
        (np.full((50, 2), 3.0), 1.0),  # a single place
        ([[0.0], [4.0]], 4.0),  # fewer points than neighbors
        # Each place counts once, k = 2.
        (np.repeat([[0.0], [4.0], [8.0]], 30, axis=0), (8 + 4 + 8) / 3),
        (np.concatenate([np.zeros((30, 1)), [[3.0]]]), 3.0),  # a crowd says nothing
        ([[0.0], [1e308]], 1e308),
        ([[-1.7e308], [1.7e308]], np.finfo(float).max),  # the distance itself overflows
    ],
)
def test_sigma_where_it_is_not_obvious(points, expected):
    assert estimate_sigma(points) == pytest.approx(expected, rel=1e-12)
