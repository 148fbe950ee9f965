"""All samplers draw from k(x_i, .) / deg(i): tests with fixed seeds against exact laws."""

import itertools

import numpy as np
import oracle
import pytest
from kdegraph import similarity_graph
from sampled import WAYS, ways


def cloud(d, rng, n=70):
    """Two groups, a few duplicates and an outlier (the last point)."""
    X = np.concatenate(
        [rng.normal(size=(n // 2, d)), 3 + 0.3 * rng.normal(size=(n - n // 2 - 6, d))]
    )
    return np.concatenate([X, X[:3], X[:2], np.full((1, d), 9.0)])


def check_law(X, kernel, sigma, n_rounds, options, seed):
    n = len(X)
    graph = similarity_graph(
        X, kernel=kernel, sigma=sigma, n_rounds=n_rounds, seed=seed, eps=0.3, **options
    )
    K = oracle.full_graph(X, kernel, sigma)
    assert graph.neighbors.shape == (n, n_rounds)
    assert graph.neighbors.dtype == np.int32
    oracle.check_draws(graph.neighbors, K, stratified=options.get("draws") == "stratified")


# All kernels in the plane, and all numbers of dimensions with one kernel.
KERNELS = pytest.mark.parametrize(
    ("d", "kernel"), [(1, "gaussian"), (20, "gaussian"), *((2, name) for name in oracle.KERNELS)]
)


@ways
@KERNELS
def test_law(d, kernel, name):
    X = cloud(d, np.random.default_rng(d))
    for sigma in (0.02, 0.4, 2.5, 1e3):
        check_law(X, kernel, sigma, 3000, WAYS[name], seed=int(sigma * 100) + d)


@KERNELS
def test_degrees_have_the_relative_error_eps(d, kernel):
    """From points that do not see each other to points that are all alike."""
    rng = np.random.default_rng(d)
    scales = 10.0 ** rng.uniform(-9, 1, size=(100, 1))
    X = np.concatenate([cloud(d, rng, 100), rng.normal(size=(100, d)) * scales])
    for sigma in (0.05, 1.0, 30.0, 4e5):
        exponents = oracle.exponents(X, X, kernel, sigma)
        K = oracle.kernel_matrix(X, X, kernel, sigma)
        np.fill_diagonal(K, 0)
        exact = K.sum(axis=1)
        mean = (K * np.where(K > 0, exponents, 0)).sum(axis=1) / np.maximum(exact, 1e-320)
        for eps in (0.3, 1e-4, 1e-13):
            allowed = (eps + 1e-16 * (d + 8) * (1 + mean)) * exact
            for way in WAYS.values():
                graph = similarity_graph(
                    X, kernel=kernel, sigma=sigma, n_rounds=1, eps=eps, seed=0, **way
                )
                assert (np.abs(graph.kernel_degrees - exact) <= allowed).all()


@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_law_of_the_outlier(kernel):
    """A point whose kernel values are all below 1e-100 still draws by their ratios."""
    rng = np.random.default_rng(5)
    far = 0.45 * oracle.reach(kernel) if kernel != "gaussian" else 17.0
    X = np.concatenate([rng.normal(size=(60, 2)), [[far, 0.5]]])
    p = oracle.kernel_matrix(X[-1:], X[:-1], kernel, 1.0)[0]
    assert p.max() < 1e-70
    p = np.append((p / p.sum()).astype(float), 0.0)
    for name, options in WAYS.items():
        graph = similarity_graph(X, kernel=kernel, sigma=1.0, n_rounds=20_000, seed=1, **options)
        counts = np.bincount(graph.neighbors[-1], minlength=len(X))
        if name == "stratified":
            assert np.abs(counts - 20_000 * p).max() < 1 + 1e-6
        else:
            assert oracle.chi_square_p(counts, p) > 1e-4


@pytest.mark.parametrize("n_rounds", [1, 20])
@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_law_of_many_vertices_with_few_draws(kernel, n_rounds):
    """Few rounds take wide groups of targets; copies of one cluster give the counts."""
    base = np.random.default_rng(n_rounds).normal(size=(40, 2))
    copies = 600 // n_rounds + 60
    X, base = oracle.replicas(base, copies)
    graph = similarity_graph(X, kernel=kernel, sigma=1.5, n_rounds=n_rounds, seed=n_rounds)
    offset = np.repeat(np.arange(copies) * 40, 40)[:, None]
    neighbors = (graph.neighbors - offset).reshape(copies, 40, n_rounds)
    of_base = neighbors.transpose(1, 0, 2).reshape(40, -1)
    assert of_base.max() < 40
    oracle.check_draws(of_base, oracle.full_graph(base, kernel, 1.5), least=1e-4)


@pytest.mark.parametrize("name", ["rejection", "near"])
def test_consecutive_draws_are_independent(name):
    X = np.random.default_rng(0).normal(size=(50, 2))
    P = oracle.full_graph(X, "gaussian", 1.0)
    P /= P.sum(axis=1, keepdims=True)
    neighbors = similarity_graph(X, sigma=1.0, n_rounds=4000, seed=3, **WAYS[name]).neighbors
    for lag in (1, 2, 5):
        same = neighbors[:, :-lag] == neighbors[:, lag:]
        expected = (P**2).sum(axis=1)
        z = (same.mean(axis=1) - expected) / np.sqrt(expected * (1 - expected) / same.shape[1])
        assert np.abs(z).max() < 4.5


@pytest.mark.parametrize("name", ["rejection", "near", "independent"])
def test_vertices_draw_independently(name):
    """Duplicates have the same law but streams of their own."""
    X = np.concatenate([np.zeros((2, 1)), np.linspace(1, 2, 20)[:, None]])
    neighbors = similarity_graph(X, sigma=5.0, n_rounds=400, seed=1, **WAYS[name]).neighbors
    first, second = (np.bincount(row, minlength=22)[2:] for row in neighbors[:2])
    assert 8 < np.abs(first - second).sum() < 200


@pytest.mark.nojit
@ways
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_law_on_a_few_points(kernel, name):
    X = np.random.default_rng(2).normal(size=(20, 2))
    check_law(X, kernel, 0.8, 60, WAYS[name], seed=4)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("sampler", ["rejection", "near", "recursive"])
@pytest.mark.parametrize("kernel", oracle.KERNELS)
@pytest.mark.parametrize("d", [1, 3])
def test_edge_of_underflow(d, kernel, sampler):
    """Points at an exponent of 708 up to rounding: reached or not, but the same everywhere."""
    rng = np.random.default_rng(d)
    outcomes = set()
    for _ in range(4):
        X = rng.normal(size=(2, d))
        distance = np.linalg.norm(X[0] - X[1], 1 if kernel == "laplacian" else 2)
        edge = distance / oracle.reach(kernel)
        for step in range(-3, 4):
            graph = similarity_graph(
                X, sigma=edge * (1 + step * 2.3e-16), kernel=kernel, sampler=sampler, seed=1
            )
            reached = bool((graph.neighbors >= 0).any())
            outcomes.add(reached)
            assert (graph.neighbors >= 0).all() == reached
            assert (graph.kernel_degrees > 0).all() == (graph.kernel_degrees > 0).any() == reached
            assert graph.adjacency.nnz == 2 * reached
            assert np.isfinite(graph.adjacency.data).all()
            assert (graph.adjacency.data > 0).all()
    assert outcomes == {True, False}


def test_law_in_hard_places():
    """Huge groups beside tiny ones, a line of outliers, and a remote point that stays alone."""
    rng = np.random.default_rng(3)
    crowd, near, line = 1500, 300, 300
    X = np.concatenate(
        [
            np.zeros((crowd, 2)),
            rng.normal(size=(near, 2)) * 1e-3,
            np.linspace(1, 26, line)[:, None] * [1.0, 0.0],
            [[60.0, 60.0]],
        ]
    )
    part = np.repeat(np.arange(3), [crowd, near, line])
    K = oracle.full_graph(X, "gaussian", 1.0)[:-1, :-1]
    P = K / K.sum(axis=1, keepdims=True)
    on_line = np.flatnonzero(part == 2)
    mean, square = P[on_line] @ X[:-1, 0], P[on_line] @ X[:-1, 0] ** 2
    for n_rounds, sampler in itertools.product((1, 30), ("rejection", "near")):
        graph = similarity_graph(X, sigma=1.0, n_rounds=n_rounds, seed=0, sampler=sampler)
        assert (graph.neighbors[-1] == -1).all()
        neighbors = graph.neighbors[:-1]
        assert (neighbors >= 0).all()
        oracle.check_parts(neighbors, P, part)
        # Along the line the law changes from vertex to vertex.
        excess = X[neighbors[on_line], 0].sum() - n_rounds * mean.sum()
        assert abs(excess) < 4 * np.sqrt(n_rounds * (square - mean**2).sum())
