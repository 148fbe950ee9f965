"""Places of the vertices of a graph."""

import kdegraph
import numpy as np
import pytest
import scipy.sparse
from kdegraph import datasets, graph_layout, layout, spectral_clustering
from kdegraph.runtime.random import stream, uniform
from kdegraph.spectral.checked_graph import check_adjacency
from sklearn.datasets import load_digits
from sklearn.manifold import trustworthiness
from sklearn.metrics import adjusted_rand_score
from tiled import lazy

N = 40


def some_graph():
    """A connected graph with weights of all sizes, as a dense matrix."""
    rng = np.random.default_rng(0)
    weights = rng.random((N, N)) ** 8 * (rng.random((N, N)) < 0.3)
    weights[np.arange(N - 1), np.arange(1, N)] = 0.5
    np.fill_diagonal(weights, 0.0)
    return weights + weights.T


def forces(places, weights, others):
    """The pull of all edges and the push of other vertices, from their definition.

    `others[i]` are the vertices that push vertex i, as a list of which the mean counts.
    """
    relative = weights / weights.max(axis=1, keepdims=True)
    relative = np.maximum(relative, relative.T)
    pull, stiffness, push = np.zeros_like(places), np.zeros(N), np.zeros_like(places)
    for i in range(N):
        for j in np.flatnonzero(relative[i]):
            towards = places[j] - places[i]
            strength = 4 * relative[i, j] / (1 + towards @ towards)
            pull[i] += strength * towards
            stiffness[i] += strength
        for j in others[i]:
            away = places[i] - places[j]
            squared = away @ away
            strength = 2 / ((1e-3 + squared) * (1 + squared))
            strength = min(strength, 4 / np.sqrt(squared + 1e-12))
            push[i] += 5 * relative[i].sum() * strength * away / len(others[i])
    return pull, stiffness, push


@pytest.fixture
def one_epoch(monkeypatch):
    """Return a function that gives the places before and after one epoch for a seed."""
    monkeypatch.setattr(layout, "MIN_EPOCHS", 1)
    monkeypatch.setattr(layout, "JITTER", 0.0)
    eigenvectors = np.random.default_rng(1).normal(size=(N, 4))
    before = eigenvectors[:, 1:] / np.abs(eigenvectors[:, 1:]).max(axis=0) * layout.EXTENT
    graph = check_adjacency(some_graph())
    return before, lambda seed: layout.place(graph, eigenvectors, 3, 1, seed)


def test_an_epoch_moves_vertices_as_edges_pull_and_drawn_vertices_push(one_epoch):
    before, move = one_epoch
    drawn = [
        [int(uniform(np.uint64(stream(7, i, 0)), s) * N) for s in range(layout.N_PUSHING)]
        for i in range(N)
    ]
    pull, stiffness, push = forces(before, some_graph(), drawn)
    expected = before + (pull + push) / (1 + stiffness)[:, None]
    np.testing.assert_allclose(move(7), expected, rtol=1e-9, atol=1e-9)


def test_the_mean_push_is_that_of_all_vertices(one_epoch):
    before, move = one_epoch
    pull, stiffness, push = forces(before, some_graph(), [range(N)] * N)
    expected = before + (pull + push) / (1 + stiffness)[:, None]
    moved = np.array([move(seed) for seed in range(2000)])
    error = moved.std(axis=0) / np.sqrt(len(moved))
    assert (error > 0).all()
    scores = (moved.mean(axis=0) - expected) / error
    assert np.abs(scores).max() < 4.5  # of 120 normal numbers the largest is beyond in 1 of 1,000
    assert 0.8 < scores.std() < 1.2


def test_the_seed_decides_and_not_the_number_of_threads():
    graph = kdegraph.similarity_graph(kdegraph.datasets.make("moons", n=3_000, seed=0).X, seed=0)
    places = graph_layout(graph, seed=1)
    assert places.shape == (3_000, 2)
    kdegraph.set_num_threads(1)
    try:
        np.testing.assert_array_equal(graph_layout(graph, seed=1), places)
    finally:
        kdegraph.set_num_threads(None)
    assert not np.array_equal(graph_layout(graph, seed=2), places)


def test_neighbors_in_many_dimensions_are_neighbors_in_the_layout():
    X, y = (array[::2] for array in load_digits(return_X_y=True))
    graph = kdegraph.similarity_graph(X, sigma="moderate", perplexity=10.0, seed=0)
    places = graph_layout(graph, seed=0)
    spectrum = kdegraph.spectrum(graph, 3)
    assert trustworthiness(X, places) > 0.95 > trustworthiness(X, spectrum.eigenvectors[:, 1:])
    found = spectral_clustering(graph, 10, embedding="layout", seed=0)
    assert adjusted_rand_score(y, found.labels) > 0.7


def test_clusters_of_places_need_k_means():
    photo = datasets.photo("china", max_pixels=500)
    graph = kdegraph.similarity_graph(photo.X, sigma=photo.sigma, seed=0)
    # Eigenvectors of pictures are rounded by "cluster_qr" by default, places are not.
    found = spectral_clustering(graph, 4, embedding="layout", points=photo.X)
    assert found.n_clusters == 4
    for n_clusters in (4, "auto"):
        with pytest.raises(ValueError, match="assign_labels must be 'kmeans'"):
            spectral_clustering(graph, n_clusters, embedding="layout", assign_labels="cluster_qr")


def test_a_tiled_graph_has_the_places_and_clusters_of_one_in_memory():
    X = datasets.make("blobs", n=6_000, seed=0).X
    tiled = kdegraph.similarity_graph(lazy(X), sigma=0.6, n_rounds=10, seed=0)
    graph = tiled.compute()
    np.testing.assert_array_equal(graph_layout(tiled), graph_layout(graph))
    found = spectral_clustering(tiled, 3, embedding="layout").labels.compute()
    expected = spectral_clustering(graph, 3, embedding="layout").labels
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n_components", [1, 3, 50])
def test_graphs_without_structure(n_components):
    graphs = {
        "no edges": scipy.sparse.csr_array((5, 5)),
        "one vertex": np.zeros((1, 1)),
        "a pair": np.array([[0.0, 1.0], [1.0, 0.0]]),
        "pairs": np.kron(np.eye(4), [[0.0, 1e-300], [1e-300, 0.0]]),
        "a complete graph": np.ones((12, 12)),
    }
    for name, graph in graphs.items():
        places = graph_layout(graph, n_components)
        assert places.shape == (graph.shape[0], n_components), name
        assert np.isfinite(places).all(), name


def test_neither_self_loops_nor_the_unit_of_weights_matter(monkeypatch):
    monkeypatch.setattr(layout, "MIN_EPOCHS", 3)  # in many, differences by rounding grow
    eigenvectors = np.random.default_rng(1).normal(size=(N, 4))
    weights = some_graph()
    expected = layout.place(check_adjacency(weights), eigenvectors, 3, 3, 0)
    for same in (2.0**-900 * weights, weights + 5.0 * np.eye(N)):
        found = layout.place(check_adjacency(same), eigenvectors, 3, 3, 0)
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_every_seed_of_64_bits_is_one():
    graph = np.ones((5, 5))
    assert np.isfinite(graph_layout(graph, seed=2**64 - 1)).all()
    assert (graph_layout(graph, seed=2**64 - 1) != graph_layout(graph, seed=2**63)).any()


def test_layouts_for_clusters_take_100_steps_and_others_200():
    graph = check_adjacency(some_graph())
    eigenvectors = np.random.default_rng(1).normal(size=(N, 4))
    found = layout.place_clusters(graph, eigenvectors, 0)
    np.testing.assert_array_equal(found, layout.place(graph, eigenvectors, 10, 100, 0))
    graph, eigenvectors = layout.start(some_graph(), 2, 0)
    expected = layout.place(graph, eigenvectors, 2, 200, 0)
    np.testing.assert_array_equal(graph_layout(some_graph(), seed=0), expected)
