"""What the explorer shows of the algorithm, against the graph that the library has drawn."""

from itertools import pairwise

import kdegraph
import numpy as np
import pytest
from kdegraph import datasets
from kdegraph.tree import build_tree
from kdegraph_explorer.algorithm.halving import LEAF, halvings, sample_of
from kdegraph_explorer.algorithm.neighborhood import neighborhood


@pytest.fixture(scope="module")
def graph():
    X = datasets.make("moons", n=300, seed=0).X
    return kdegraph.similarity_graph(X, sigma=0.3, n_rounds=7, seed=5, sampler="recursive", kde="direct")


def test_halving_ends_at_the_neighbour_that_algorithm_1_has_drawn(graph):
    tree = build_tree(graph.points, LEAF)
    for point in range(0, 300, 7):
        for draw in range(7):
            assert sample_of(halvings(graph, tree, point, draw), tree) == graph.neighbors[point, draw]


def test_halving_halves(graph):
    tree = build_tree(graph.points, LEAF)
    steps = halvings(graph, tree, 11, 3)
    row = np.exp(-((graph.points - graph.points[11]) ** 2).sum(axis=1) / graph.sigma**2)
    row[11] = 0
    assert (steps[0].start, steps[0].stop) == (0, 300)
    for step, after in pairwise(steps):
        assert (after.start, after.stop) == step.chosen
    for step in steps:
        assert step.middle == (step.start + step.stop) // 2
        np.testing.assert_allclose(step.left, row[tree.order[step.start : step.middle]].sum(), rtol=1e-12)
        np.testing.assert_allclose(step.right, row[tree.order[step.middle : step.stop]].sum(), rtol=1e-12)
        assert 0 <= step.uniform < 1
    assert steps[-1].chosen[1] - steps[-1].chosen[0] == 1


def test_isolated_point_has_no_halving():
    X = np.array([[0.0, 0.0], [0.1, 0.0], [1e6, 0.0]])
    graph = kdegraph.similarity_graph(X, sigma=0.1, n_rounds=4, seed=0)
    assert halvings(graph, build_tree(X, LEAF), 2, 0) == []
    found = neighborhood(graph, 2, 2)
    assert found.sampled.tolist() == []
    assert found.nearest.tolist() == [1, 0]
    assert found.chance(0) == 0.0


def test_neighbourhood_is_that_of_the_graph(graph):
    found = neighborhood(graph, 20, 6)
    drawn, times = np.unique(graph.neighbors[20], return_counts=True)
    assert dict(zip(found.sampled.tolist(), found.times.tolist(), strict=True)) == dict(zip(drawn.tolist(), times.tolist(), strict=True))
    np.testing.assert_array_equal(found.weight, graph.adjacency[20, :].toarray().ravel()[found.sampled])
    distances = np.linalg.norm(graph.points - graph.points[20], axis=1)
    assert found.nearest.tolist() == np.argsort(distances)[1:7].tolist()
    chances = [found.chance(j) for j in range(300)]
    np.testing.assert_allclose(chances, np.where(distances > 0, np.exp(-(distances**2) / 0.09), 0) / graph.kernel_degrees[20], rtol=1e-9)
    np.testing.assert_allclose(sum(chances), 1, rtol=1e-2)
    assert [found.times_drawn(j) for j in drawn] == times.tolist()


@pytest.mark.parametrize(("n_points", "fewest", "most"), [(1, 0, 0), (2, 1, 1), (3, 1, 2)])
def test_few_points(n_points, fewest, most):
    X = np.arange(2.0 * n_points).reshape(-1, 2)
    graph = kdegraph.similarity_graph(X, sigma=2.0, n_rounds=3, seed=0)
    assert len(neighborhood(graph, 0, n_points - 1).nearest) == n_points - 1
    assert fewest <= len(halvings(graph, build_tree(X, LEAF), 0, 0)) <= most
