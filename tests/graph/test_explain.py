"""The replay of a sampled graph, against the graph itself and against the formulas of the paper."""

import dataclasses
from itertools import pairwise

import kdegraph
import numpy as np
import pytest
from kdegraph import datasets
from kdegraph.explain import adjacency_after, halvings, kernel_values, sample_of, sampling_tree

ROUNDS = 7


@pytest.fixture(scope="module")
def graph():
    X = datasets.make("moons", n=300, seed=0).X
    return kdegraph.similarity_graph(
        X, sigma=0.3, n_rounds=ROUNDS, seed=5, sampler="recursive", kde="direct"
    )


def test_halving_ends_at_the_neighbor_that_algorithm_1_has_drawn(graph):
    tree = sampling_tree(graph.points)
    for point in range(0, 300, 7):
        drawn = [sample_of(halvings(graph, tree, point, draw), tree) for draw in range(ROUNDS)]
        assert drawn == graph.neighbors[point].tolist()


def test_every_halving_is_one_of_the_half_before(graph):
    tree = sampling_tree(graph.points)
    steps = halvings(graph, tree, 11, 3)
    row = np.exp(-((graph.points - graph.points[11]) ** 2).sum(axis=1) / graph.sigma**2)
    row[11] = 0
    assert (steps[0].start, steps[0].stop) == (0, 300)
    for step, after in pairwise(steps):
        assert (after.start, after.stop) == step.chosen
    for step in steps:
        assert step.middle == (step.start + step.stop) // 2
        left, right = tree.order[step.start : step.middle], tree.order[step.middle : step.stop]
        np.testing.assert_allclose(step.left, row[left].sum(), rtol=1e-12)
        np.testing.assert_allclose(step.right, row[right].sum(), rtol=1e-12)
        assert 0 <= step.uniform < 1
    assert steps[-1].chosen[1] - steps[-1].chosen[0] == 1


@pytest.mark.parametrize(("places", "numbers"), [((0, 1e6), {0}), ((0,), {0}), ((0, 1, 2), {1, 2})])
def test_isolated_and_few_points_have_few_halvings(places, numbers):
    X = np.array(places, dtype=float)[:, None]
    graph = kdegraph.similarity_graph(X, sigma=2.0, n_rounds=3, seed=0)
    assert len(halvings(graph, sampling_tree(X), 0, 0)) in numbers


def test_all_rounds_give_the_graph_and_fewer_give_its_part(graph):
    tree = sampling_tree(graph.points)
    assert adjacency_after(graph, tree, ROUNDS) is graph.adjacency
    part = adjacency_after(graph, tree, 3)
    drawn = graph.neighbors[:, :3]
    expected = np.zeros((300, 300), bool)
    expected[np.repeat(np.arange(300), 3), drawn.ravel()] = True
    np.testing.assert_array_equal(part.toarray() > 0, expected | expected.T)


@pytest.mark.parametrize("sampler", ["recursive", "rejection", "near"])
@pytest.mark.parametrize("weighting", ["inclusion", "paper"])
def test_rounds_weigh_edges_as_the_library_does(sampler, weighting):
    X = datasets.make("moons", n=200, seed=0).X
    options = {"sigma": 0.3, "seed": 3, "sampler": sampler, "weighting": weighting}
    graph = kdegraph.similarity_graph(X, n_rounds=8, **options)
    tree, n_rounds = sampling_tree(X), 5
    found = adjacency_after(graph, tree, n_rounds).tocoo()
    i, j = found.coords
    kernel = np.exp(-((X[i] - X[j]) ** 2).sum(axis=1) / 0.09)
    a, b = kernel / graph.kernel_degrees[i], kernel / graph.kernel_degrees[j]
    if weighting == "inclusion" and graph.draws == "independent":
        a, b = 1 - (1 - a) ** n_rounds, 1 - (1 - b) ** n_rounds
    else:
        a, b = np.minimum(n_rounds * a, 1), np.minimum(n_rounds * b, 1)
    np.testing.assert_allclose(found.data, kernel / (a + b - a * b), rtol=1e-9)


def test_what_the_graph_does_not_have_is_refused(graph):
    tree = sampling_tree(graph.points)
    with pytest.raises(ValueError, match="point must be at most 299, got 300"):
        halvings(graph, tree, 300, 0)
    with pytest.raises(ValueError, match="draw must be at most 6, got 7"):
        halvings(graph, tree, 0, ROUNDS)
    with pytest.raises(ValueError, match=r"n_rounds must be at most 7 \(the rounds of the graph\)"):
        adjacency_after(graph, tree, ROUNDS + 1)
    without = dataclasses.replace(graph, points=None)
    with pytest.raises(ValueError, match="graph must hold its points"):
        kernel_values(without, 0)
