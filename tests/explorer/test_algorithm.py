"""What the explorer shows of the algorithm, against the graph that the library has drawn."""

from itertools import pairwise

import kdegraph
import numpy as np
import pytest
from kdegraph import datasets
from kdegraph_explorer.algorithm.halving import halvings, sample_of
from kdegraph_explorer.algorithm.neighborhood import neighborhood
from kdegraph_explorer.algorithm.rounds import (
    adjacency_after,
    convergence,
    estimated_eigenvalues,
    rounds_to_compare,
)
from kdegraph_explorer.algorithm.scaling import Series, measure
from kdegraph_explorer.algorithm.trees import TreeKeeper


@pytest.fixture(scope="module")
def graph():
    X = datasets.make("moons", n=300, seed=0).X
    return kdegraph.similarity_graph(
        X, sigma=0.3, n_rounds=7, seed=5, sampler="recursive", kde="direct"
    )


def test_halving_ends_at_the_neighbor_that_algorithm_1_has_drawn(graph):
    tree = TreeKeeper()(graph.points)
    for point in range(0, 300, 7):
        for draw in range(7):
            assert (
                sample_of(halvings(graph, tree, point, draw), tree) == graph.neighbors[point, draw]
            )


def test_halving_halves(graph):
    tree = TreeKeeper()(graph.points)
    steps = halvings(graph, tree, 11, 3)
    row = np.exp(-((graph.points - graph.points[11]) ** 2).sum(axis=1) / graph.sigma**2)
    row[11] = 0
    assert (steps[0].start, steps[0].stop) == (0, 300)
    for step, after in pairwise(steps):
        assert (after.start, after.stop) == step.chosen
    for step in steps:
        assert step.middle == (step.start + step.stop) // 2
        np.testing.assert_allclose(
            step.left, row[tree.order[step.start : step.middle]].sum(), rtol=1e-12
        )
        np.testing.assert_allclose(
            step.right, row[tree.order[step.middle : step.stop]].sum(), rtol=1e-12
        )
        assert 0 <= step.uniform < 1
    assert steps[-1].chosen[1] - steps[-1].chosen[0] == 1


def test_isolated_point_has_no_halving():
    X = np.array([[0.0, 0.0], [0.1, 0.0], [1e6, 0.0]])
    graph = kdegraph.similarity_graph(X, sigma=0.1, n_rounds=4, seed=0)
    assert halvings(graph, TreeKeeper()(X), 2, 0) == []
    found = neighborhood(graph, 2, 2)
    assert found.sampled.tolist() == []
    assert found.nearest.tolist() == [1, 0]
    assert found.chance(0) == 0.0


def test_neighborhood_is_that_of_the_graph(graph):
    found = neighborhood(graph, 20, 6)
    drawn, times = np.unique(graph.neighbors[20], return_counts=True)
    assert dict(zip(found.sampled.tolist(), found.times.tolist(), strict=True)) == dict(
        zip(drawn.tolist(), times.tolist(), strict=True)
    )
    np.testing.assert_array_equal(
        found.weight, graph.adjacency[20, :].toarray().ravel()[found.sampled]
    )
    distances = np.linalg.norm(graph.points - graph.points[20], axis=1)
    assert found.nearest.tolist() == np.argsort(distances)[1:7].tolist()
    chances = [found.chance(j) for j in range(300)]
    np.testing.assert_allclose(
        chances,
        np.where(distances > 0, np.exp(-(distances**2) / 0.09), 0) / graph.kernel_degrees[20],
        rtol=1e-9,
    )
    np.testing.assert_allclose(sum(chances), 1, rtol=1e-2)
    assert [found.times_drawn(j) for j in drawn] == times.tolist()


@pytest.mark.parametrize(("n_points", "fewest", "most"), [(1, 0, 0), (2, 1, 1), (3, 1, 2)])
def test_few_points(n_points, fewest, most):
    X = np.arange(2.0 * n_points).reshape(-1, 2)
    graph = kdegraph.similarity_graph(X, sigma=2.0, n_rounds=3, seed=0)
    assert len(neighborhood(graph, 0, n_points - 1).nearest) == n_points - 1
    assert fewest <= len(halvings(graph, TreeKeeper()(X), 0, 0)) <= most


# ---- rounds


def test_all_rounds_give_the_graph_and_fewer_give_its_part(graph):
    tree = TreeKeeper()(graph.points)
    assert adjacency_after(graph, tree, 7) is graph.adjacency
    part = adjacency_after(graph, tree, 3)
    drawn = graph.neighbors[:, :3]
    expected = np.zeros((300, 300), bool)
    expected[np.repeat(np.arange(300), 3), drawn.ravel()] = True
    np.testing.assert_array_equal(part.toarray() > 0, expected | expected.T)


@pytest.mark.parametrize("sampler", ["recursive", "rejection", "rows"])
@pytest.mark.parametrize("weighting", ["inclusion", "paper"])
def test_rounds_weigh_edges_as_the_library_does(sampler, weighting):
    X = datasets.make("moons", n=200, seed=0).X
    options = {"sigma": 0.3, "seed": 3, "sampler": sampler, "weighting": weighting}
    graph = kdegraph.similarity_graph(X, n_rounds=8, **options)
    tree, n_rounds = TreeKeeper()(X), 5
    found = adjacency_after(graph, tree, n_rounds).tocoo()
    i, j = found.coords
    kernel = np.exp(-((X[i] - X[j]) ** 2).sum(axis=1) / 0.09)
    a, b = kernel / graph.kernel_degrees[i], kernel / graph.kernel_degrees[j]
    if weighting == "inclusion" and graph.draws == "independent":
        a, b = 1 - (1 - a) ** n_rounds, 1 - (1 - b) ** n_rounds
    else:
        a, b = np.minimum(n_rounds * a, 1), np.minimum(n_rounds * b, 1)
    np.testing.assert_allclose(found.data, kernel / (a + b - a * b), rtol=1e-9)


def test_convergence_is_followed_round_by_round(graph):
    tree, parts = TreeKeeper()(graph.points), []
    found = convergence(graph, tree, 4, lambda stage, fraction: None, parts.append)
    assert found.rounds.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert [len(part.rounds) for part in parts] == found.rounds.tolist()
    np.testing.assert_allclose(
        found.eigenvalues[-1], kdegraph.spectrum(graph, 4).eigenvalues, atol=1e-5
    )
    degrees = graph.adjacency.sum(axis=1)
    np.testing.assert_allclose(
        found.degree_errors[-1], np.sqrt(np.mean((degrees / graph.kernel_degrees - 1) ** 2))
    )
    assert found.degree_errors[-1] < 0.5 * found.degree_errors[0]


def test_convergence_can_be_cancelled(graph):
    def stop(stage, fraction):
        if fraction > 0.3:
            raise kdegraph.Cancelled

    with pytest.raises(kdegraph.Cancelled):
        convergence(graph, TreeKeeper()(graph.points), 4, stop, lambda part: None)


def test_full_graph_is_estimated(graph):
    full = kdegraph.spectrum(kdegraph.full_graph(graph.points, sigma=graph.sigma), 4).eigenvalues
    estimate, n_rounds = estimated_eigenvalues(graph, 4, None)
    assert n_rounds == 4 * graph.n_rounds
    np.testing.assert_allclose(estimate, full, rtol=0.1, atol=1e-6)


def test_many_rounds_are_followed_in_steps():
    steps = rounds_to_compare(500)
    assert (steps[0], steps[-1]) == (1, 500)
    assert len(steps) <= 24
    assert (np.diff(steps) > 0).all()


def test_rounds_without_edges():
    X = np.array([[0.0, 0.0], [1e6, 0.0]])
    graph = kdegraph.similarity_graph(X, sigma=0.1, n_rounds=2, seed=0)
    found = convergence(graph, TreeKeeper()(X), 3, lambda stage, fraction: None, lambda part: None)
    assert np.isnan(found.eigenvalues).all()
    assert found.degree_errors.tolist() == [0.0, 0.0]


# ---- scaling


def series(**options):
    values = {
        "methods": ("kde", "knn", "full"),
        "sizes": (100, 200),
        "sigma": 0.3,
        "n_rounds": 5,
        "n_neighbors": 4,
        "n_clusters": 2,
        "seed": 0,
    }
    return Series(points=lambda n: datasets.make("moons", n=n, seed=0).X, **{**values, **options})


def test_every_method_is_timed_at_every_size():
    parts, reports = [], []
    timings = measure(series(), lambda stage, fraction: reports.append(fraction), parts.append)
    assert [(timing.n, timing.method) for timing in timings] == [
        (n, method) for n in (100, 200) for method in ("kde", "knn", "full")
    ]
    assert [len(part) for part in parts] == [1, 2, 3, 4, 5, 6]
    assert all(set(timing.seconds) == {"graph", "eigenvalues", "clusters"} for timing in timings)
    assert all(timing.total == sum(timing.seconds.values()) > 0 for timing in timings)
    X = datasets.make("moons", n=200, seed=0).X
    assert timings[-2].n_edges == kdegraph.knn_graph(X, 4).nnz // 2
    assert 0 <= min(reports) <= max(reports) <= 1


def test_full_graph_of_many_points_is_not_timed(monkeypatch):
    monkeypatch.setattr("kdegraph_explorer.algorithm.scaling.FULL_UP_TO", 150)
    timings = measure(series(methods=("full",)), lambda stage, fraction: None, lambda part: None)
    assert [timing.n for timing in timings] == [100]


def test_timing_can_be_cancelled():
    def stop(stage, fraction):
        if stage.startswith("200"):
            raise kdegraph.Cancelled

    parts = []
    with pytest.raises(kdegraph.Cancelled):
        measure(series(), stop, parts.append)
    assert len(parts) == 3
