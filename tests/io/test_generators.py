"""Points that are generated."""

from itertools import product

import kdegraph
import numpy as np
import pytest
from kdegraph import datasets
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import adjusted_rand_score


@pytest.mark.parametrize("name", datasets.names())
def test_exactly_n_points(name):
    for n, noise in product([1, 2, 3, 7, 500], [None, 0, 0.3]):
        data = datasets.make(name, n=n, noise=noise, seed=3)
        assert data.X.shape[0] == data.n_points == n
        assert data.X.dtype == np.float64
        assert data.X.flags.c_contiguous
        assert np.isfinite(data.X).all()
        assert len(data.feature_names) == data.X.shape[1]
        assert data.name == name
        assert data.description.endswith(".")
        assert data.description == datasets.describe(name)
        assert data.sigma > 0
        if data.y is not None:
            assert data.y.shape == (n,)
            assert data.y.dtype == np.int64
            assert set(data.y) <= set(range(data.n_clusters))
            assert len(data.label_names) == data.n_clusters
            assert n < 500 or len(set(data.y)) == data.n_clusters


@pytest.mark.parametrize("name", datasets.names())
def test_the_seed_and_the_noise_decide(name):
    first, again, other = (datasets.make(name, n=60, seed=seed) for seed in (5, 5, 2**60))
    np.testing.assert_array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)
    same = datasets.make(name, n=60, noise=datasets.default_noise(name), seed=5)
    np.testing.assert_array_equal(first.X, same.X)
    quiet, loud = (datasets.make(name, n=400, noise=noise, seed=0) for noise in (0.01, 20.0))
    assert loud.X.std() > 1.5 * quiet.X.std()


@pytest.mark.parametrize(
    "name", ["two_bananas", "three_circles", "smiling_face", "petals", "circles_and_blobs"]
)
def test_shapes_are_the_clusters_of_the_graph(name):
    data = datasets.make(name, n=2000, seed=0)
    graph = kdegraph.similarity_graph(data.X, sigma=data.sigma, seed=0)
    found = kdegraph.spectral_clustering(graph, data.n_clusters, seed=0).labels
    assert adjusted_rand_score(data.y, found) > 0.99


def test_a_small_cluster_is_small():
    data = datasets.make("small_beside_large", n=1000, seed=0)
    assert np.bincount(data.y).tolist() == [950, 50]
    spread = [data.X[data.y == label].std() for label in (0, 1)]
    np.testing.assert_allclose(spread, [1.0, 0.2], rtol=0.2)


def test_knn_falls_apart_on_clumps_and_the_kernel_graph_does_not():
    data = datasets.make("clumps", n=1000, seed=0)
    n_components, _ = connected_components(kdegraph.knn_graph(data.X))
    assert n_components >= 30
    graph = kdegraph.full_graph(data.X, sigma=data.sigma)
    across = data.y[:, None] != data.y
    assert graph[across].sum() < 0.01 * graph.sum()
    n_components, _ = connected_components(np.where(across, 0, graph) > 1e-3)
    assert n_components == 2


def test_no_bandwidth_suits_two_scales_and_a_knn_graph_does():
    data = datasets.make("scales", n=1000, seed=0)
    graphs = [
        kdegraph.full_graph(data.X, sigma=data.sigma * factor) for factor in (0.5, 1, 2.5, 10)
    ]
    *gaussian, knn = (
        adjusted_rand_score(data.y, kdegraph.spectral_clustering(graph, 4, seed=0).labels)
        for graph in [*graphs, kdegraph.knn_graph(data.X)]
    )
    assert max(gaussian) < 0.8
    assert knn > 0.95


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"name": "moon"}, ValueError, "unknown name 'moon'.*'moons'"),
        ({"name": 3}, TypeError, "name"),
        ({"n": 0}, ValueError, "n must be"),
        ({"n": 2.5}, ValueError, "n must be"),
        ({"noise": -1}, ValueError, "noise"),
        ({"noise": float("nan")}, ValueError, "noise"),
        ({"noise": "much"}, TypeError, "noise"),
        ({"noise": 1j}, TypeError, "noise"),
        ({"seed": -3}, ValueError, "seed"),
        ({"n": 2**62}, MemoryError, "points need about .* TiB, and .* are available"),
        ({"n": 10**400}, MemoryError, "points need about"),
    ],
)
def test_make_refuses(arguments, error, message):
    with pytest.raises(error, match=message):
        datasets.make(**{"name": "moons", **arguments})
