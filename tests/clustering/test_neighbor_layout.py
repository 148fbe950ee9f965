"""Graphs of near neighbors, and the clusters of their layouts."""

import numpy as np
import pytest
from kdegraph import datasets, local_bandwidths, similarity_graph
from kdegraph.neighbor_layout import NeighborLayouts, neighbor_graph
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score


def by_hand(X, perplexity):
    """Return the weights of near neighbors from the definition, pair by pair."""
    n, k = len(X), min(len(X) - 1, max(15, int(np.ceil(3 * perplexity))))
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    sigmas = local_bandwidths(X, perplexity=perplexity)
    one_way = np.zeros((n, n))
    for i in range(n):
        near = np.argsort(distances[i])[:k]
        gaps = distances[i, near] ** 2 - distances[i].min() ** 2
        one_way[i, near] = np.exp(-gaps / sigmas[i] ** 2)
    return one_way, 1 - (1 - one_way) * (1 - one_way.T)


@pytest.mark.parametrize("d", [4, 30])
@pytest.mark.parametrize("perplexity", [2.0, 10.0])
def test_weights_of_near_neighbors_are_those_of_the_law_relative_to_the_nearest(d, perplexity):
    X = np.random.default_rng(0).normal(size=(200, d)) * np.linspace(1, 3, 200)[:, None]
    one_way, expected = by_hand(X, perplexity)
    law = one_way / one_way.sum(axis=1, keepdims=True)
    entropy = -np.sum(law * np.log(np.where(law > 0, law, 1.0)), axis=1)
    np.testing.assert_allclose(entropy, np.log(perplexity), atol=1e-5)  # the law of t-SNE
    found = neighbor_graph(X, perplexity)
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-9)
    assert (found.data > 0).all()


def test_identical_points_have_one_label_in_a_layout_of_their_places():
    y = np.repeat(np.arange(3), 30)
    places = np.random.default_rng(1).normal(size=(90, 5)) + 8 * np.eye(5)[y]
    number = np.r_[:90, np.random.default_rng(2).integers(90, size=200), np.full(100, 4)]
    labels = NeighborLayouts(places[number]).labels(5.0, 3, 0)
    np.testing.assert_array_equal(labels, labels[:90][number])
    assert adjusted_rand_score(y, labels[:90]) == 1.0


def test_a_sampled_graph_lacks_half_of_the_nearest_neighbors():
    X = np.random.default_rng(0).normal(size=(1500, 10))
    adjacency = similarity_graph(X, sigma="moderate", perplexity=5.0, seed=0).adjacency
    _, nearest = cKDTree(X).query(X, 16)
    present = adjacency[np.repeat(np.arange(1500), 15), nearest[:, 1:].ravel()] > 0
    assert 0.4 < present.mean() < 0.6


@pytest.mark.parametrize("exponent", [-1000, 1000])
def test_weights_of_near_neighbors_do_not_depend_on_the_unit(exponent):
    X = np.random.default_rng(0).normal(size=(100, 6))
    expected = neighbor_graph(X, 10.0)
    found = neighbor_graph(np.ldexp(X, exponent), 10.0)
    np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-6, atol=1e-300)


@pytest.mark.parametrize("n_places", [1, 2])
def test_points_at_few_places_are_clustered_by_their_places(n_places):
    X = np.repeat(np.arange(n_places), 30)[:, None] * np.ones(5)
    assert neighbor_graph(X[::30]).sum() == n_places * (n_places - 1)
    labels = NeighborLayouts(X).labels(None, n_places, 0)
    assert adjusted_rand_score(X[:, 0], labels) == 1.0


def test_layouts_of_near_neighbors_show_clusters_and_depend_on_the_seed():
    data = datasets.make("blobs20d", n=600, seed=0)
    layouts = NeighborLayouts(data.X)
    found = [layouts.labels(20.0, data.n_clusters, seed) for seed in (0, 1, 0)]
    assert adjusted_rand_score(data.y, found[0]) > 0.99
    np.testing.assert_array_equal(found[0], found[2])
    noise = np.random.default_rng(0).normal(size=(600, 20))
    layouts = NeighborLayouts(noise)
    first, other = (layouts.labels(20.0, 5, seed) for seed in (0, 1))
    assert adjusted_rand_score(first, other) < 0.9
