"""The automatic bandwidth where points coincide: copies, and coordinates on a grid."""

import numpy as np
import pytest
from kdegraph import datasets, estimate_sigma, similarity_graph, spectral_clustering
from kdegraph.geometry import neighbor_forest
from sklearn.metrics import adjusted_rand_score


def with_copies(X, how, rng):
    """Points, some of them several times, in any order."""
    n = len(X)
    times = {
        "half of them twice": 1 + (np.arange(n) % 2),
        "all eight times": np.full(n, 8),
        "a few very often": np.where(np.arange(n) % 40 == 0, 60, 1),
    }[how]
    return rng.permutation(np.repeat(X, times, axis=0))


@pytest.mark.parametrize("how", ["half of them twice", "all eight times", "a few very often"])
def test_copies_do_not_change_sigma(how):
    for d in (1, 2, 9):
        rng = np.random.default_rng(d)
        X = np.round(rng.normal(size=(400, d)), 9)  # as decimal numbers from a file
        copied = with_copies(X, how, rng)
        assert estimate_sigma(copied) == pytest.approx(estimate_sigma(X), rel=1e-12)


def test_copies_do_not_change_sigma_in_many_dimensions(monkeypatch):
    costs = neighbor_forest.NEIGHBOR_COSTS._replace(near_point=0.0, near_point_per_dimension=0.0)
    monkeypatch.setattr(neighbor_forest, "NEIGHBOR_COSTS", costs)  # however few the points are
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 50))
    copied = with_copies(X, "half of them twice", rng)
    assert neighbor_forest.has_many_dimensions(X)
    expected = estimate_sigma(X)  # of most of the nearest neighbors
    assert estimate_sigma(copied) == pytest.approx(expected, rel=0.01)
    graph = similarity_graph(copied, sigma="auto", n_rounds=1, seed=0)
    assert graph.sigma == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("shape", ["moons", "spirals"])
def test_clusters_are_found_where_every_second_point_is_a_copy(shape):
    data = datasets.make(shape, n=1500, seed=0)
    rows = np.r_[np.arange(1500), np.repeat(np.arange(0, 1500, 2), 2)]
    graph = similarity_graph(data.X[rows], seed=0)
    labels = spectral_clustering(graph, data.n_clusters, seed=0).labels
    assert adjusted_rand_score(data.y[rows], labels) > 0.95


@pytest.mark.parametrize(("shape", "step"), [("moons", 1), ("spirals", 0.1), ("rings", 0.1)])
def test_clusters_are_found_on_a_grid(shape, step):
    data = datasets.make(shape, n=1500, seed=0)
    X = np.round(data.X / np.ptp(data.X) * 40) * step
    assert len(np.unique(X, axis=0)) < 1000
    sigma = estimate_sigma(X)
    assert step <= sigma < 2 * step  # neighboring places are connected, places two steps off hardly
    labels = spectral_clustering(similarity_graph(X, seed=0), data.n_clusters, seed=0).labels
    assert adjusted_rand_score(data.y, labels) > 0.95
