"""Neighborhoods, rounds and timings, against the graph that the library has drawn."""

import kdegraph
import numpy as np
import pytest
from explorer_actions import silent
from kdegraph import datasets
from kdegraph_explorer.algorithm.convergence import (
    convergence,
    estimated_eigenvalues,
)
from kdegraph_explorer.algorithm.neighborhood import TreeKeeper, neighborhood


def moons_graph(sigma):
    X = datasets.make("moons", n=300, seed=0).X
    return kdegraph.similarity_graph(X, sigma=sigma, n_rounds=7, seed=5)


def test_isolated_and_few_points_have_few_neighbors():
    X = np.array([[0.0, 0.0], [0.1, 0.0], [1e6, 0.0]])
    graph = kdegraph.similarity_graph(X, sigma=0.1, n_rounds=4, seed=0)
    found = neighborhood(graph, 2, 2)
    assert found.sampled.tolist() == []
    assert found.nearest.tolist() == [1, 0]
    assert found.chance(0) == 0.0
    for n_points in (1, 2, 3):
        X = np.arange(2.0 * n_points).reshape(-1, 2)
        graph = kdegraph.similarity_graph(X, sigma=2.0, n_rounds=3, seed=0)
        assert len(neighborhood(graph, 0, n_points - 1).nearest) == n_points - 1


def test_neighborhood_is_that_of_the_graph():
    graph = moons_graph(0.3)
    found = neighborhood(graph, 20, 6)
    drawn, times = np.unique(graph.neighbors[20], return_counts=True)
    order = np.argsort(found.sampled)
    np.testing.assert_array_equal(found.sampled[order], drawn)
    np.testing.assert_array_equal(found.times[order], times)
    np.testing.assert_array_equal(found.weight, graph.adjacency[[20]].toarray()[0, found.sampled])
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


# ---- rounds


@pytest.mark.parametrize("sigma", [0.3, "local"])
def test_convergence_is_followed_round_by_round(sigma):
    graph = moons_graph(sigma)
    tree, parts = TreeKeeper()(graph.points), []
    found = convergence(graph, tree, 4, silent, parts.append)
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

    def stop(stage, fraction):
        if fraction > 0.3:
            raise kdegraph.Cancelled

    with pytest.raises(kdegraph.Cancelled):
        convergence(graph, tree, 4, stop, silent)


def test_full_graph_is_estimated():
    graph = moons_graph(0.3)
    full = kdegraph.spectrum(kdegraph.full_graph(graph.points, sigma=graph.sigma), 4).eigenvalues
    estimate, n_rounds = estimated_eigenvalues(graph, 4, None)
    assert n_rounds == 4 * graph.n_rounds
    np.testing.assert_allclose(estimate, full, rtol=0.1, atol=1e-6)


def test_rounds_without_edges():
    X = np.array([[0.0, 0.0], [1e6, 0.0]])
    graph = kdegraph.similarity_graph(X, sigma=0.1, n_rounds=2, seed=0)
    found = convergence(graph, TreeKeeper()(X), 3, silent, silent)
    assert np.isnan(found.eigenvalues).all()
    assert found.degree_errors.tolist() == [0.0, 0.0]
