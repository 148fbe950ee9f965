"""The automatic number of rounds, and the eigenvalues that are estimated for it."""

import kdegraph
import numpy as np
import oracle
import pytest
from kdegraph.geometry.kernels import Kernel
from kdegraph.geometry.tree import build_tree
from kdegraph.sampling.rounds import MAX_ROUNDS, MIN_ROUNDS, coarse_eigenvalues, suggest_n_rounds


def exact_eigenvalues(X, sigma, count):
    return oracle.eigenpairs(oracle.full_graph(X, "gaussian", sigma), count)[0]


@pytest.mark.parametrize("name", ["moons", "blobs", "uniform", "blobs20d"])
def test_few_points_are_taken_as_they_are(name):
    data = kdegraph.datasets.make(name, n=400, seed=0)
    found = coarse_eigenvalues(Kernel("gaussian", data.sigma), build_tree(data.X), 8)
    assert np.abs(found - exact_eigenvalues(data.X, data.sigma, 8)).max() < 1e-9


@pytest.mark.parametrize("name", ["moons", "rings", "uniform", "bridge"])
def test_nodes_stand_for_many_points(name):
    data = kdegraph.datasets.make(name, n=1800, seed=0)
    sigma = 3 * data.sigma  # wide enough for 128 nodes
    found = coarse_eigenvalues(Kernel("gaussian", sigma), build_tree(data.X), 8)
    assert np.abs(found - exact_eigenvalues(data.X, sigma, 8)).max() < 0.05


@pytest.mark.parametrize("name", ["moons", "anisotropic", "blobs3d", "uniform", "blobs20d"])
def test_eigenvalues_are_within_the_tolerance(name):
    data = kdegraph.datasets.make(name, n=1500, seed=0)
    k = data.n_clusters or 4
    exact = exact_eigenvalues(data.X, data.sigma, k + 1)
    graphs = [kdegraph.similarity_graph(data.X, sigma=data.sigma, seed=s) for s in range(5)]
    found = [kdegraph.spectrum(graph, k + 1).eigenvalues for graph in graphs]
    above = exact > 1e-3
    assert np.abs(np.median(found, axis=0)[above] / exact[above] - 1).max() < 0.2


def test_more_rounds_where_the_eigenvalues_are_large():
    X = np.random.default_rng(0).normal(size=(1000, 5))
    kernels = [Kernel("gaussian", sigma) for sigma in (0.5, 3.0, 30.0)]
    rounds = [suggest_n_rounds(kernel, build_tree(X)) for kernel in kernels]
    assert rounds == sorted(rounds)
    assert rounds[0] < rounds[-1] <= MAX_ROUNDS


@pytest.mark.parametrize(
    ("X", "sigma"),
    [
        ([[0.0]], 1.0),
        ([[0.0], [1.0]], 1.0),
        (np.arange(5.0)[:, None], 1e-300),
        (np.zeros((2000, 2)), 1.0),
        (np.zeros((3, 1)), 1e-300),
    ],
)
def test_degenerate_data(X, sigma):
    X = np.asarray(X)
    assert MIN_ROUNDS <= suggest_n_rounds(Kernel("gaussian", sigma), build_tree(X)) <= MAX_ROUNDS
    assert kdegraph.similarity_graph(X, sigma=sigma, seed=0).n_rounds >= MIN_ROUNDS


@pytest.mark.parametrize(
    ("name", "sigma"), [("blobs", 0.03630595537077167), ("spirals", 0.0060175352006797585)]
)
def test_many_equal_eigenvalues(name, sigma):
    """Nodes that hardly see each other: LAPACK's default method fails on these two."""
    tree = build_tree(kdegraph.datasets.make(name, n=3000, seed=0).X, 8)
    found = coarse_eigenvalues(Kernel("gaussian", sigma), tree, 20)
    assert len(found) == 20
    assert (np.diff(found) >= 0).all()
    assert found[0] < 1e-9
