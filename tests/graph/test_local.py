"""Graphs with a bandwidth per point, and with densities divided out, against exact sums."""

import numpy as np
import oracle
import pytest
import scipy.sparse
from kdegraph import (
    estimate_sigma,
    explain,
    full_graph,
    kernel_sum,
    knn_graph,
    local_bandwidths,
    similarity_graph,
)

TINY = 1e-290  # values below may count as zero: it depends on the densities that divide them


def scattered(d, seed=0, n=120):
    """Two groups, one tiny, with duplicates and outliers; bandwidths of all magnitudes."""
    rng = np.random.default_rng(seed)
    third = n // 3
    X = np.concatenate(
        [
            rng.normal(size=(third, d)),
            5 + 1e-6 * rng.normal(size=(third, d)),
            rng.normal(size=(n - 2 * third - 8, d)) * 10.0 ** rng.uniform(-6, 6, size=(1, 1)),
            np.zeros((5, d)),
            np.full((3, d), 1e4) * np.arange(1, 4)[:, None],
        ]
    )
    return X, 10.0 ** rng.uniform(-6, 6, size=n)


def exact(X, kernel, sigma, alpha=0.0):
    """The matrix of the graph that is documented, in extended precision, with a zero diagonal."""
    sigma = sigma.astype(np.longdouble)
    pair = np.sqrt(sigma[:, None] * sigma)
    t = oracle.exponents(X, X, kernel, pair)
    K = np.where(t < oracle.UNDERFLOW, np.exp(-t), 0)
    g = K.sum(axis=1)
    W = K / (g[:, None] * g) ** np.longdouble(alpha)
    np.fill_diagonal(W, 0)
    return W


@pytest.mark.parametrize("kernel", oracle.KERNELS)
@pytest.mark.parametrize(("d", "alpha"), [(1, 0.0), (2, 1.0), (5, 0.0), (12, 0.5)])
def test_degrees_keep_their_relative_error(alpha, d, kernel):
    X, sigma = scattered(d, seed=d)
    expected = exact(X, kernel, sigma, alpha).sum(axis=1).astype(float)
    for eps in (0.3, 1e-3, 1e-10):
        graph = similarity_graph(
            X, sigma=sigma, kernel=kernel, alpha=alpha, sampler="near", n_rounds=1, eps=eps, seed=0
        )
        # The error of the densities enters with alpha for both ends; rounding is relative to
        # exponents of at most 708.
        allowed = (1 + eps) * (1 - eps) ** (-2 * alpha) - 1 + 1e-11
        assert (np.abs(graph.kernel_degrees - expected) <= allowed * expected).all()


@pytest.mark.parametrize("kernel", oracle.KERNELS)
@pytest.mark.parametrize(("d", "alpha"), [(1, 0.0), (3, 0.7), (8, 0.0)])
def test_law(d, alpha, kernel):
    """Coarse degrees do not change the law; with densities, it is that of those divided out."""
    X, sigma = scattered(d, seed=10 + d)
    eps = 0.3 if alpha == 0 else 1e-9
    graph = similarity_graph(
        X, sigma=sigma, kernel=kernel, alpha=alpha, sampler="near", n_rounds=3000, eps=eps, seed=1
    )
    oracle.check_draws(graph.neighbors, exact(X, kernel, sigma, alpha))


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_weights_are_unbiased(alpha):
    X, _ = scattered(2, seed=3, n=60)
    sigma = local_bandwidths(X, perplexity=8)
    options = {"sigma": sigma, "alpha": alpha, "n_rounds": 10, "eps": 1e-9}
    graphs = [similarity_graph(X, seed=seed, **options) for seed in range(300)]
    W = exact(X, "gaussian", sigma, alpha).astype(float)
    weights = np.array([graph.adjacency.toarray() for graph in graphs])
    oracle.check_unbiased(weights, W, 10, "independent")


@pytest.mark.nojit
@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_weights_are_those_of_the_pairs(kernel):
    X, sigma = scattered(2, seed=4, n=40)
    graph = similarity_graph(
        X, sigma=sigma, kernel=kernel, alpha=0.5, sampler="near", n_rounds=5, eps=1e-12, seed=0
    )
    W = exact(X, kernel, sigma, 0.5).astype(float)
    expected = oracle.sampled_weights(graph.neighbors, W, "independent")
    assert np.allclose(graph.adjacency.toarray(), expected, rtol=1e-9, atol=0)


def test_one_bandwidth_for_all_is_the_graph_of_that_bandwidth():
    X, _ = scattered(3, seed=5)
    options = {"sampler": "near", "n_rounds": 20, "seed": 2, "eps": 1e-9}
    one = similarity_graph(X, sigma=0.7, **options)
    same = similarity_graph(X, sigma=np.full(len(X), 0.7), **options)
    assert np.array_equal(one.neighbors, same.neighbors)
    assert np.allclose(one.adjacency.data, same.adjacency.data, rtol=1e-12)


@pytest.mark.parametrize("sampler", ["recursive", "rejection"])
def test_samplers_that_need_one_bandwidth_say_so(sampler):
    X, sigma = scattered(2)
    for options in ({"sigma": "local"}, {"sigma": sigma}, {"sigma": 1.0, "alpha": 0.5}):
        with pytest.raises(ValueError, match=f"sampler '{sampler}' needs .* one bandwidth"):
            similarity_graph(X, sampler=sampler, **options)


@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_values_of_one_point_are_explained(kernel):
    X, sigma = scattered(3, seed=8)
    for given, alpha in ((sigma, 0.5), (0.8, 0.0)):
        graph = similarity_graph(X, sigma=given, kernel=kernel, alpha=alpha, eps=1e-12, seed=0)
        W = exact(X, kernel, np.broadcast_to(given, len(X)), alpha).astype(float)
        for point in (0, 50, 119):
            values = explain.kernel_values(graph, point)
            assert np.allclose(values, W[point], rtol=1e-9, atol=0)


@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_full_graph_with_densities(kernel):
    X, sigma = scattered(2, seed=11)
    for alpha in (0.5, 1.0):
        full = oracle.dense(full_graph(X, sigma=sigma, alpha=alpha, kernel=kernel))
        expected = exact(X, kernel, sigma, alpha).astype(float)
        assert np.allclose(full, expected, rtol=1e-11, atol=TINY)
        assert np.array_equal(full, full.T)


def test_full_graph_of_bandwidths_that_reach_few_points_is_sparse():
    X = np.arange(400.0)[:, None]
    sigma = np.where(np.arange(400) % 2, 0.5, 0.05)
    graph = full_graph(X, sigma=sigma, max_bytes=2**22)
    assert scipy.sparse.issparse(graph)
    expected = exact(X, "gaussian", sigma).astype(float)
    assert np.allclose(graph.toarray(), expected, rtol=1e-12, atol=0)
    with pytest.raises(MemoryError, match="n = 400 points needs"):
        full_graph(X, sigma=sigma, max_bytes=1000)


@pytest.mark.parametrize("one", [0.3, "auto"])
def test_densities_with_one_bandwidth(one):
    X, _ = scattered(2, seed=12)
    sigma = estimate_sigma(X, seed=0) if one == "auto" else one
    expected = exact(X, "gaussian", np.full(len(X), sigma), 1.0).astype(float)
    full = oracle.dense(full_graph(X, sigma=one, alpha=1.0))
    assert np.allclose(full, expected, rtol=1e-11, atol=TINY)
    degrees = similarity_graph(X, sigma=one, alpha=1.0, eps=1e-9, seed=0).kernel_degrees
    assert np.allclose(degrees, expected.sum(axis=1), rtol=1e-8, atol=0)


@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_kernel_sums(kernel):
    X, sigma = scattered(3, seed=13)
    Y, own = scattered(3, seed=14, n=40)
    weights = np.random.default_rng(0).normal(size=len(X))
    K = exact(np.concatenate([Y, X]), kernel, np.concatenate([own, sigma]))[:40, 40:]
    sums = kernel_sum(X, Y, sigma=sigma, target_sigma=own, weights=weights, kernel=kernel)
    error = np.abs(sums - (K @ weights).astype(float))
    assert (error <= 1e-12 * (K @ np.abs(weights)) + 1e-14 * np.abs(weights).sum()).all()
    K = exact(X, kernel, sigma)
    np.fill_diagonal(K, 1)
    assert np.allclose(kernel_sum(X, sigma=sigma, kernel=kernel), K.sum(axis=1).astype(float))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "fgt"}, "method 'fgt' needs one bandwidth"),
        ({"method": "tree"}, "method 'tree' needs one bandwidth"),
        ({"target_sigma": [1.0]}, "need both targets and target_sigma"),
        ({"targets": [[0.0, 0.0]]}, "need both targets and target_sigma"),
        ({"targets": [[0.0, 0.0]], "target_sigma": [-1.0]}, "target_sigma must be positive"),
        ({"sigma": 1.0, "target_sigma": [1.0]}, "target_sigma needs a bandwidth for each source"),
    ],
)
def test_bad_bandwidths_of_sums(options, message):
    X, sigma = scattered(2)
    with pytest.raises(ValueError, match=message):
        kernel_sum(X, **({"sigma": sigma} | options))


@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_nearest_neighbors_with_weights(kernel):
    X, sigma = scattered(2, seed=15)
    graph = knn_graph(X, 5, mode="kernel", sigma=sigma, kernel=kernel).toarray()
    expected = exact(X, kernel, sigma).astype(float)
    assert (graph > 0).any()
    assert np.allclose(graph[graph > 0], expected[graph > 0], rtol=1e-11, atol=0)


@pytest.mark.parametrize(
    ("n", "d", "perplexity"), [(12, 2, 11.9), (2, 100, None), (10, 50, None), (30, 1000, None)]
)
def test_few_points_and_a_perplexity_of_nearly_all_of_them(n, d, perplexity):
    """Of so many rounds that the graph is nearly the full one."""
    X = np.random.default_rng(0).normal(size=(n, d))
    options = {"sigma": "local", "perplexity": perplexity, "n_rounds": 5000, "eps": 1e-3}
    graph = similarity_graph(X, seed=0, **options)
    assert np.array_equal(graph.sigma, local_bandwidths(X, perplexity=perplexity))
    expected = exact(X, "gaussian", graph.sigma).sum(axis=1).astype(float)
    assert np.allclose(graph.kernel_degrees, expected, rtol=1e-3, atol=0)
    assert np.allclose(graph.adjacency.sum(axis=1), expected, rtol=0.02, atol=0)


@pytest.mark.parametrize(
    ("perplexity", "error", "message"),
    [
        *((p, ValueError, r"is an effective number .* n = 12; got") for p in (12, 12.5, 1e300)),
        *((p, ValueError, "perplexity") for p in (0.5, -1, np.nan)),
        ("5", TypeError, "perplexity"),
    ],
)
def test_a_perplexity_of_all_points_is_refused(perplexity, error, message):
    with pytest.raises(error, match=message):
        similarity_graph(np.eye(12, 2), sigma="local", perplexity=perplexity)


@pytest.mark.parametrize("n", [1, 2, 30])
def test_points_that_are_all_equal_have_the_kernel_value_one(n):
    graph = similarity_graph(np.full((n, 3), 7.0), seed=0, sigma="local", n_rounds=5000)
    assert graph.sigma.tolist() == [1.0] * n
    assert (graph.kernel_degrees == n - 1.0).all()
    assert np.allclose(graph.adjacency.toarray(), 1 - np.eye(n), rtol=1e-9)
