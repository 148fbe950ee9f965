"""Parts of a graph computed alone: the same neighbors in any pieces and any order, and a stated
error for what is out of reach.
"""

import numpy as np
import oracle
import pytest
from kdegraph import parts
from kdegraph.geometry.kernels import Kernel
from kdegraph.geometry.tree import build_tree

EPS = 0.01


@pytest.fixture(autouse=True)
def small_cells(monkeypatch):
    monkeypatch.setattr(parts, "CELL", 100)


def cloud(n, d=2, seed=0):
    """Points far wider than the kernels below, so that most are out of reach of each other, and one
    that is far from all.
    """
    X = np.random.default_rng(seed).uniform(0, 40, size=(n, d))
    X[0] = 500.0
    return X


def collect(X, kernel, error, pieces, seed=5, n_rounds=6):
    """Degrees and neighbors of all points, from pieces of targets that are computed one after the
    other.
    """
    tree = build_tree(X)
    degrees, neighbors = np.full(len(X), np.nan), np.full((len(X), n_rounds), -2)
    for targets in pieces:
        for part in parts.parts(tree, kernel, error, targets):
            mine = np.isin(part.targets, targets)
            assert not np.isin(
                part.targets[mine], np.flatnonzero(~np.isnan(degrees))
            ).any()  # each once
            found, drawn = part.draw_neighbors(kernel, n_rounds, seed, EPS)
            degrees[part.targets[mine]], neighbors[part.targets[mine]] = found[mine], drawn[mine]
    assert not np.isnan(degrees).any()
    return degrees, neighbors


@pytest.mark.parametrize("kernel", oracle.KERNELS)
@pytest.mark.parametrize("error", [0.0, 1e-6])
def test_pieces_and_their_order_do_not_matter(kernel, error):
    X = cloud(1500)
    kernel = Kernel(kernel, 0.8 if kernel == "gaussian" else 0.04)
    rng = np.random.default_rng(1)
    expected = collect(X, kernel, error, [np.arange(1500)])
    for n_pieces in (2, 7, 40):
        pieces = np.array_split(rng.permutation(1500), n_pieces)
        degrees, neighbors = collect(X, kernel, error, pieces)
        assert np.array_equal(degrees, expected[0])
        assert np.array_equal(neighbors, expected[1])


def test_other_seeds_draw_others():
    X, kernel = cloud(600), Kernel("gaussian", 2.0)
    (_, a), (_, b) = (collect(X, kernel, 0.0, [np.arange(600)], seed=seed) for seed in (1, 2))
    assert (a != b).any()


@pytest.mark.parametrize("kernel", oracle.KERNELS)
@pytest.mark.parametrize("error", [0.0, 1e-9, 1e-3, 1.0])
def test_what_is_out_of_reach_adds_no_more_than_the_stated_error(kernel, error):
    X = cloud(1500)
    kernel = Kernel(kernel, 0.8 if kernel == "gaussian" else 0.04)
    K = oracle.full_graph(X, kernel.name, kernel.sigma)
    radius, smaller = parts.reach(kernel, 1500, error), False
    for part in parts.parts(build_tree(X), kernel, error):
        outside = np.setdiff1d(np.arange(1500), part.vertices)
        smaller |= outside.size > 0
        lost = K[np.ix_(part.targets, outside)].sum(axis=1)
        assert (lost <= error).all()
        norm = 1 if kernel.name == "laplacian" else 2
        distances = np.linalg.norm(X[part.targets][:, None] - X[outside], ord=norm, axis=2)
        assert outside.size == 0 or distances.min() >= radius
        degrees, _ = part.draw_neighbors(kernel, 1, 0, EPS)
        exact = K[part.targets].sum(axis=1)
        assert (np.abs(degrees - exact) <= EPS * exact + error).all()
    assert smaller


def test_reach():
    assert parts.reach(Kernel("gaussian", 2.0), 1000, 0.0) == pytest.approx(2 * np.sqrt(708))
    for name in oracle.KERNELS:
        kernel = Kernel(name, 0.3)
        assert kernel.pairwise([[0.0]], [[parts.reach(kernel, 1000, 1e-6)]])[
            0, 0
        ] * 1000 == pytest.approx(1e-6)
        assert parts.reach(kernel, 1000, 5000.0) == 0


@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_neighbors_follow_the_kernel(kernel):
    """Every vertex many times: the law of the neighbors is that of the whole graph, over the
    borders of cells too.
    """
    X, rounds = np.random.default_rng(3).normal(size=(250, 2)), 4000
    kernel = Kernel(kernel, 0.7)
    _, neighbors = collect(X, kernel, 0.0, [np.arange(250)], n_rounds=rounds)
    K = oracle.full_graph(X, kernel.name, kernel.sigma)
    p = [
        oracle.chi_square_p(np.bincount(neighbors[i], minlength=250), K[i] / K[i].sum())
        for i in range(250)
    ]
    assert min(p) > 1e-5
    assert np.mean(np.array(p) < 0.5) == pytest.approx(0.5, abs=0.15)


def test_a_point_without_others_in_reach_is_isolated():
    degrees, neighbors = collect(cloud(500), Kernel("gaussian", 0.8), 1e-6, [np.arange(500)])
    assert degrees[0] == 0
    assert (neighbors[0] == -1).all()
    assert (neighbors[1:] >= 0).any()
    assert (neighbors != np.arange(500)[:, None]).all()
