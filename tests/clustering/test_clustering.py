"""Conductance against a naive sum, spectral clustering on graphs with known parts, and the rules
for what is not connected.
"""

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from graphs import blocks, complete
from kdegraph.clustering.conductance import conductance
from kdegraph.dispatch import spectral_clustering, spectrum
from kdegraph.graph import similarity_graph
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score


def random_graph(n, density=0.2, seed=0):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    return sp.csr_array(W + W.T)


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(1500, noise=0.05, random_state=1)
    return similarity_graph(X, sigma=0.1, n_rounds=30, seed=0), y


# ---------------------------------------------------------------- conductance


def test_conductance_is_the_naive_sum():
    A = random_graph(60)
    labels = np.random.default_rng(0).integers(-1, 5, 60)
    expected = oracle.conductances(A.toarray(), labels)
    assert np.allclose(conductance(A, labels), expected, rtol=1e-12)
    assert np.allclose(conductance(A.toarray(), 7 * labels), expected, rtol=1e-12)


def test_conductance_by_hand():
    A = np.array([[0, 2, 1], [2, 0, 0], [1, 0, 0]])
    assert np.allclose(conductance(A, [0, 0, 1]), [1 / 5, 1])
    assert np.allclose(conductance(A, [5, 9, 9]), [1, 3 / 3])
    assert conductance(A, [0, 0, 0]).tolist() == [0]
    assert np.allclose(conductance(A, [0, 0, -1]), [1 / 5])  # edges to noise leave the cluster
    assert conductance(A, [-1, -1, -2]).shape == (0,)
    assert conductance(sp.csr_array((3, 3)), [0, 1, 1]).tolist() == [0, 0]  # no edges
    assert np.allclose(conductance([[3, 1], [1, 0]], [0, 1]), [1 / 4, 1])  # a self-loop counts


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([0, 1], ValueError, r"labels must have shape \(3,\)"),
        (["a", "b", "b"], TypeError, "return_inverse"),
    ],
)
def test_bad_labels_are_refused(labels, error, message):
    with pytest.raises(error, match=message):
        conductance(complete(3), labels)


# ---------------------------------------------------------------- clustering


@pytest.fixture(scope="module")
def touching():
    centers = [[0, 0], [4, 0], [0, 4], [4, 4]]
    X, y = make_blobs(800, centers=centers, cluster_std=0.8, random_state=0)
    return similarity_graph(X, sigma=1.0, n_rounds=30, seed=0), y


@pytest.mark.parametrize("assign_labels", ["kmeans", "cluster_qr"])
@pytest.mark.parametrize("embedding", ["soft", "degree", "row", "plain"])
def test_clusters_are_found(moons, touching, embedding, assign_labels):
    options = {"embedding": embedding, "assign_labels": assign_labels}
    graph, y = moons
    found = spectral_clustering(graph, 2, **options)
    assert adjusted_rand_score(y, found.labels) == 1.0
    assert found.labels.dtype == np.int32
    assert found.n_clusters == 2
    assert np.allclose(
        found.conductances,
        oracle.conductances(graph.adjacency.toarray(), found.labels),
        rtol=1e-9,
        atol=1e-12,
    )
    assert found.spectrum.n_components == 2  # the two components are the clusters
    graph, y = touching
    found = spectral_clustering(graph, 4, **options)
    assert found.spectrum.n_connected_components - len(found.isolated) < 4  # so k-means has decided
    assert adjusted_rand_score(y, found.labels) > 0.93
    assert found.conductances.max() < 0.15
    values, first = np.unique(found.labels, return_index=True)
    assert values.tolist() == [0, 1, 2, 3]
    assert (np.diff(first) > 0).all()  # numbered by first members


def test_automatic_number(moons):
    found = spectral_clustering(moons[0], "auto")
    assert found.n_clusters == 2
    assert adjusted_rand_score(moons[1], found.labels) == 1.0
    assert found.spectrum.n_components == 20
    assert spectral_clustering(complete(3), "auto").n_clusters == 1
    assert spectral_clustering(sp.csr_array((4, 4)), "auto").n_clusters == 1


def test_given_spectrum_is_reused_if_it_suffices(moons):
    graph, y = moons
    given = spectrum(graph, 4, omit_isolated=True)
    assert spectral_clustering(graph, 2, spectrum=given).spectrum is given
    assert spectral_clustering(graph, 4, spectrum=given).spectrum is given
    assert spectral_clustering(graph, "auto", spectrum=given).spectrum is given
    anew = spectral_clustering(graph, 6, spectrum=given)
    assert anew.spectrum.n_components == 12
    assert np.array_equal(anew.labels, spectral_clustering(graph, 6).labels)
    assert adjusted_rand_score(y, spectral_clustering(graph, 2, spectrum=given).labels) == 1.0


def test_spectrum_of_another_graph_is_refused(moons):
    with pytest.raises(ValueError, match="spectrum is not of this graph"):
        spectral_clustering(moons[0], 2, spectrum=spectrum(complete(5), 2))
    with pytest.raises(ValueError, match="spectrum is not of this graph"):
        spectral_clustering(blocks(3, 3), 2, spectrum=spectrum(blocks(5, 1), 2))
    with pytest.raises(TypeError, match="spectrum must be a Spectrum"):
        spectral_clustering(moons[0], 2, spectrum=np.ones((1500, 2)))


def test_spectrum_with_isolated_vertices_is_not_reused():
    A = sp.csr_array(sp.block_diag([complete(6), sp.csr_array((3, 3))]))
    found = spectral_clustering(A, 2, spectrum=spectrum(A, 5))
    assert found.spectrum.omit_isolated
    assert sorted(set(found.labels[:6])) == [0, 1]


def test_many_vertices_are_clustered_from_a_sample(moons, monkeypatch):
    graph, _ = moons
    exact = spectral_clustering(graph, 5, embedding="row")
    monkeypatch.setattr("kdegraph.clustering.rounding.MAX_SAMPLE", 200)
    sampled = spectral_clustering(graph, 5, embedding="row")
    assert adjusted_rand_score(exact.labels, sampled.labels) > 0.8
    assert sampled.conductances.max() < 0.1


def test_default_finds_a_cluster_of_a_thousandth_of_many_points():
    rng, n = np.random.default_rng(0), 40_000
    y = np.r_[np.arange(n - 40) % 2, np.full(40, 2)]
    X = (
        rng.normal(size=(n, 2)) * np.array([1.0, 1.0, 0.3])[y, None]
        + np.array([[0.0, 0.0], [7.0, 0.0], [3.5, 5.0]])[y]
    )
    labels = spectral_clustering(similarity_graph(X, sigma=0.6, seed=0), 3, seed=0).labels
    assert adjusted_rand_score(y, labels) > 0.99
    found = labels == np.bincount(labels[y == 2]).argmax()
    assert np.sum(found & (y == 2)) > 0.9 * np.sum(found | (y == 2))


def test_small_part_is_not_lost_in_the_sample(monkeypatch):
    monkeypatch.setattr("kdegraph.clustering.rounding.MAX_SAMPLE", 50)
    A = sp.csr_array(sp.block_diag([random_graph(4000, 0.01), complete(2)]))
    options = {"embedding": "degree", "smallest_component": 2}
    for seed in range(5):
        labels = spectral_clustering(A, 3, seed=seed, **options).labels
        assert labels[4000] == labels[4001]
        assert labels[4000] not in labels[:4000]


# ---------------------------------------------------------------- components, isolated vertices,
# degenerate graphs


def test_small_components_join_the_nearest_or_the_largest():
    A = blocks(5, 4, 2, 3)
    points = np.r_[np.full(5, 0.0), np.full(4, 10.0), [6.0, 4.9], np.full(3, -2.0)][:, None]
    assert spectral_clustering(A, 2).labels.tolist() == [0] * 5 + [1] * 4 + [0] * 5
    by_distance = spectral_clustering(A, 2, points=points).labels
    # the pair joins as a whole: its member at 6.0 is 4 away from the second cluster, nearer than
    # that at 4.9 to any
    assert by_distance.tolist() == [0] * 5 + [1] * 4 + [1] * 2 + [0] * 3
    assert spectral_clustering(A, 2, points=points).conductances.tolist() == [0, 0]


def test_isolated_points_take_the_label_of_the_nearest_point_with_an_edge():
    rng = np.random.default_rng(0)
    X = np.r_[
        rng.normal(0, 0.1, (40, 2)),
        rng.normal(3, 0.1, (40, 2)),
        [[50.0, 50.0]],
        [[-30.0, 0.0]],
        [[-30.5, 0.0]],
    ]
    graph = similarity_graph(X, sigma=0.4, n_rounds=20, seed=0)
    graph_with_two = spectral_clustering(graph, 2)
    assert 80 in graph_with_two.isolated
    assert set(graph_with_two.labels[:40]) == {0}
    assert set(graph_with_two.labels[40:81]) == {1}
    linked = sp.csr_array(sp.block_diag([blocks(4, 5), sp.csr_array((2, 2))]))
    without_points = spectral_clustering(linked, 2)
    assert without_points.labels.tolist() == [0] * 4 + [1] * 5 + [-1, -1]
    assert without_points.isolated.tolist() == [9, 10]
    assert without_points.conductances.shape == (2,)
    assert without_points.n_clusters == 2


def test_nearest_is_in_the_metric_of_the_kernel():
    """The isolated point is nearer to the first group in the 1-norm, to the other in the 2-norm."""
    X = np.r_[np.full((30, 2), 0.0), np.full((30, 2), 24.0), [[13.9, 0.0]]] * 1.0
    X[30:60] = [22.0, 8.0]
    X += np.random.default_rng(0).normal(0, 1e-3, X.shape)
    # 1-norm: 13.9 and 16.1; 2-norm: 13.9 and 11.4
    for kernel, expected in (("laplacian", 0), ("gaussian", 1)):
        graph = similarity_graph(X, sigma=0.01, kernel=kernel, n_rounds=30, seed=0)
        found = spectral_clustering(graph, 2)
        assert found.isolated.tolist() == [60]
        assert found.labels.tolist() == [0] * 30 + [1] * 30 + [expected]


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_nearest_points_at_extreme_scales(unit):
    A = sp.csr_array(sp.block_diag([blocks(3, 3), sp.csr_array((1, 1))]))
    points = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.2, 4.0])[:, None] * unit
    assert spectral_clustering(A, 2, points=points).labels.tolist() == [0, 0, 0, 1, 1, 1, 1]


def with_outliers(X, n_pairs, seed=0):
    """The points, and far from them and from each other pairs of outliers."""
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * np.arange(n_pairs) / n_pairs
    places = X.mean(axis=0) + 100 * np.ptp(X) * np.c_[np.cos(angle), np.sin(angle)]
    return np.r_[X, np.repeat(places, 2, axis=0) + rng.normal(0, 1e-3, (2 * n_pairs, 2))]


@pytest.mark.parametrize("n_clusters", ["auto", 2])
def test_pairs_of_outliers_are_no_clusters(n_clusters):
    X, y = make_blobs(1000, centers=[[0, 0], [5, 0]], cluster_std=0.8, random_state=0)
    graph = similarity_graph(with_outliers(X, 5), sigma=0.7, n_rounds=30, seed=0)
    found = spectral_clustering(graph, n_clusters)
    assert found.n_clusters == 2
    assert found.spectrum.smallest_component > 2
    assert adjusted_rand_score(y, found.labels[:1000]) > 0.98
    outliers = found.labels[1000:].reshape(5, 2)
    assert (outliers[:, 0] == outliers[:, 1]).all()
    right_and_left = found.labels[[X[:, 0].argmax(), X[:, 0].argmin()]]
    assert (outliers[[0, 2]] == right_and_left[:, None]).all()
    assert np.allclose(
        found.conductances, oracle.conductances(graph.adjacency.toarray(), found.labels)
    )
    assert len(found.isolated) == 0


def test_a_small_component_is_a_cluster_if_asked_for():
    A = blocks(400, 300, 8)
    three, two = [0] * 400 + [1] * 300 + [2] * 8, [0] * 400 + [1] * 300 + [0] * 8
    assert spectral_clustering(A, 3, smallest_component=8).labels.tolist() == three
    assert spectral_clustering(A, 2, smallest_component=9).labels.tolist() == two
    assert spectral_clustering(A, "auto", smallest_component=2).n_clusters == 3
    assert spectral_clustering(A, "auto").n_clusters == 2
    given = spectrum(A, 4, smallest_component=9)
    found = spectral_clustering(A, 2, spectrum=given, smallest_component=2)
    assert found.spectrum is given
    assert found.labels.tolist() == two
    # A spectrum that counts the small one is not reused.
    assert spectral_clustering(A, "auto", spectrum=spectrum(A, 4)).n_clusters == 2
    message = r"at most the number of vertices in .* of at least 9, 700 of 708, got 701"
    with pytest.raises(ValueError, match=message):
        spectral_clustering(A, 701, smallest_component=9)
    assert spectral_clustering(A, 701).n_clusters == 701  # "auto" gives way


def test_no_edges_at_all():
    found = spectral_clustering(sp.csr_array((5, 5)), 1)
    assert found.labels.tolist() == [0] * 5
    assert found.conductances.tolist() == [0]
    assert found.isolated.tolist() == list(range(5))
    assert found.spectrum is None
    X = np.arange(6.0)[:, None]
    graph = similarity_graph(X, sigma=1e-300, seed=0)
    assert spectral_clustering(graph, 1).labels.tolist() == [0] * 6
    message = r"n_clusters must be 1 for a graph without edges, got 2.*all 6"
    with pytest.raises(ValueError, match=message):
        spectral_clustering(graph, 2)
    assert spectral_clustering([[0.0]], 1).labels.tolist() == [0]


@pytest.mark.parametrize("n", [2, 3, 10])
def test_as_many_clusters_as_vertices(n):
    assert spectral_clustering(complete(n), n).labels.tolist() == list(range(n))


@pytest.mark.parametrize("k", [1, 2, 5])
def test_graphs_of_equal_points(k):
    graph = similarity_graph(np.zeros((200, 2)), sigma=1.0, n_rounds=10, seed=0)
    found = spectral_clustering(graph, k)
    assert len(found.conductances) == found.n_clusters == len(np.unique(found.labels)) == k
    labels = spectral_clustering(complete(60), k).labels
    assert len(np.unique(labels)) == k


def test_outliers_of_tiny_degree_do_not_capture_clusters():
    """Weakly attached vertices belong to the cluster that they are attached to, however small their
    degrees.
    """
    X, y = make_blobs(1500, centers=[[0, 0], [4, 0], [0, 4]], cluster_std=0.8, random_state=0)
    A = similarity_graph(X, sigma=1.0, n_rounds=30, seed=0).adjacency
    rng = np.random.default_rng(0)
    hosts = rng.integers(0, 1500, 40)
    weights = 10.0 ** rng.uniform(-15, -6, 40)
    link = sp.csr_array((weights, (np.arange(40), hosts)), shape=(40, 1500))
    grown = sp.csr_array(sp.block_array([[A, link.T], [link, None]]))
    found = spectral_clustering(grown, 3)
    assert found.spectrum.n_connected_components == 1
    assert adjusted_rand_score(y, found.labels[:1500]) > 0.95
    assert np.array_equal(found.labels[1500:], found.labels[hosts])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_clusters": 7}, ValueError, "n_clusters must be at most 6.*got 7"),
        ({"n_clusters": 5}, ValueError, "number of vertices that have an edge, 4 of 6, got 5"),
        ({"points": np.zeros((5, 2))}, ValueError, "one row for each of the 6 vertices"),
        ({"assign_labels": np.array([])}, TypeError, "assign_labels must be one of 'kmeans'"),
        ({"n_init": 1_001}, ValueError, "n_init must be at most 1000, got 1001"),
    ],
)
def test_bad_arguments_are_refused(options, error, message):
    A = sp.csr_array(sp.block_diag([complete(4), sp.csr_array((2, 2))]))
    with pytest.raises(error, match=message):
        spectral_clustering(A, **{"n_clusters": 2, **options})
