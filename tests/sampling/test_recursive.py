"""Algorithm 1 with a KDE solver as a black box: the law, the lemma, what the solver is asked."""

import math

import numpy as np
import oracle
import pytest
from kdegraph import similarity_graph
from kdegraph.kde import DirectKDE, FastKDE, Kernel


class Exact:
    """A user's estimator: numpy only, counts what it is asked."""

    def __init__(self):
        self.fits, self.sizes, self.queries = 0, [], 0

    def fit(self, sources, kernel):
        assert isinstance(kernel, Kernel)
        assert np.asarray(sources).ndim == 2
        self.fits += 1
        self.sizes.append(len(sources))
        self.sources, self.kernel = sources, kernel
        return self

    def sums(self, targets):
        self.queries += len(targets)
        K = oracle.kernel_matrix(targets, self.sources, self.kernel.name, self.kernel.sigma)
        return K.sum(axis=1).astype(float)


class Noisy(Exact):
    """Every answer is wrong by the largest allowed error, with a sign fixed by the question."""

    def __init__(self, eps, mode):
        super().__init__()
        self.eps, self.mode = eps, mode

    def sums(self, targets):
        exact = super().sums(targets)
        if self.mode == "random":
            key = np.abs(np.sin(1e4 * (targets.sum(axis=1) + self.sources.sum()))) * 1e6
            sign = np.where(key.astype(int) % 2, 1.0, -1.0)
        else:
            # Sources to the right are overestimated, those to the left underestimated: errors add
            # up along a descent.
            sign = np.where(self.sources[:, 0].mean() > targets[:, 0], 1.0, -1.0)
        return exact * (1 + self.eps * sign)


def frequencies(X, kernel, sigma, solver, n_rounds=6000):
    """P[i draws j] to within 1 / n_rounds, which a grid of uniforms measures."""
    graph = similarity_graph(X, kernel=kernel, sigma=sigma, n_rounds=n_rounds, kde=solver, seed=0)
    assert graph.sampler == "recursive"
    return np.array([np.bincount(row, minlength=len(X)) for row in graph.neighbors]) / n_rounds


@pytest.mark.parametrize("mode", ["random", "adverse"])
@pytest.mark.parametrize(("d", "kernel"), [(1, "gaussian"), (3, "laplacian"), (3, "exponential")])
def test_lemma_every_probability_within_a_factor_of_two(d, kernel, mode):
    X = np.random.default_rng(d).normal(size=(260, d))
    eps = 1 / (6 * math.log2(len(X)))
    sigma = 1.0
    P = frequencies(X, kernel, sigma, Noisy(eps, mode))
    K = oracle.full_graph(X, kernel, sigma)
    exact = K / K.sum(axis=1, keepdims=True)
    slack = 1.01 / 6000
    assert (2 * exact + slack >= P).all()
    assert (exact / 2 - slack <= P).all()
    large = exact > 20 / 6000
    assert np.abs(P[large] / exact[large] - 1).max() > 1.2 * eps, "the noise had no effect"
    assert (np.diag(P) == 0).all()


@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_exact_solver_gives_the_exact_law(kernel):
    X = np.concatenate([np.random.default_rng(0).normal(size=(150, 2)), [[6.0, 0.0]]])
    K = oracle.full_graph(X, kernel, 0.5)
    exact = K / K.sum(axis=1, keepdims=True)
    for solver in (Exact(), "direct", DirectKDE(), FastKDE(1e-9)):
        assert np.abs(frequencies(X, kernel, 0.5, solver, 2000) - exact).max() < 1.000001 / 2000


def test_fast_solver_keeps_the_law_on_larger_sets():
    X = np.random.default_rng(1).normal(size=(3000, 2))
    direct = similarity_graph(X, sigma=0.5, n_rounds=50, seed=2, kde="direct")
    for kde in ("fgt", FastKDE(1e-10)):
        fast = similarity_graph(X, sigma=0.5, n_rounds=50, seed=2, kde=kde, eps=1e-10)
        assert (fast.neighbors != direct.neighbors).mean() < 1e-6
        np.testing.assert_allclose(fast.kernel_degrees, direct.kernel_degrees, rtol=1e-10)


def test_degrees_come_from_the_solver():
    X = np.random.default_rng(3).normal(size=(200, 2))
    graph = similarity_graph(X, sigma=0.5, kde=Noisy(0.02, "random"), seed=0)
    exact = oracle.full_graph(X, "gaussian", 0.5).sum(axis=1)
    assert np.abs(graph.kernel_degrees / exact - 1).max() <= 0.02 + 1e-12
    assert np.abs(graph.kernel_degrees / exact - 1).max() > 1e-3


def test_solver_is_called_and_rounds_share_one_descent():
    X = np.random.default_rng(4).normal(size=(400, 2))
    fits, queries = {}, {}
    for n_rounds in (1, 20, 2000):
        solver = Exact()
        graph = similarity_graph(X, sigma=0.5, n_rounds=n_rounds, kde=solver, seed=0)
        fits[n_rounds], queries[n_rounds] = solver.fits, solver.queries
        assert set(solver.sizes) >= {200, 100, 50, 25}  # halves of halves
        assert max(solver.sizes) == 200
        assert "samples" in graph.timings
    # Twice the halves of all levels: once for siblings, once in the descent.
    nodes = 2 * (2 + 4 + 8 + 16 + 32)
    assert 0 < fits[1] <= fits[20] <= fits[2000] <= nodes
    # A vertex is asked about once in each half it reaches, with all its uniforms: not once per
    # round.
    assert queries[2000] <= nodes / 2 * 400 + 5 * 400


@pytest.mark.parametrize("blind", [0.0, -1e-9])
def test_an_estimator_that_sees_nothing_far_away(blind):
    """Estimates of zero, or slightly below, where the truth is small and positive."""

    class Blind(Exact):
        def sums(self, targets):
            exact = super().sums(targets)
            return np.where(exact < 0.05, blind, exact)

    X = np.random.default_rng(7).normal(size=(300, 2)) * 3
    graph = similarity_graph(X, sigma=0.5, n_rounds=20, kde=Blind(), seed=0)
    own = np.arange(300)[:, None]
    assert (graph.neighbors != own).all()
    assert graph.neighbors.max() < 300
    assert np.isfinite(graph.adjacency.data).all()
    assert (graph.adjacency.data > 0).all()
