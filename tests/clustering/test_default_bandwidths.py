"""The estimator without given bandwidths, and the eigenvectors beyond the number of clusters."""

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import blocks
from kdegraph import (
    KDESpectralClustering,
    datasets,
    local_bandwidths,
    similarity_graph,
    spectral_clustering,
)
from kdegraph.bandwidth import is_pixel_grid
from kdegraph.clustering.embedding import embed
from kdegraph.dispatch import spectrum
from kdegraph.local_bandwidth import bandwidths_of_new_points
from kdegraph.spectral.checked_graph import check_adjacency
from sklearn.metrics import adjusted_rand_score


def tight_beside_wide(seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), [400, 150, 150])
    centers = np.array([[0.0, 0.0], [6.0, 0.0], [6.35, 0.0]])
    return centers[y] + rng.normal(size=(700, 2)) * np.array([1.2, 0.05, 0.05])[y, None], y


@pytest.mark.filterwarnings("ignore::kdegraph.diagnosis.GraphWarning")
def test_default_finds_tight_beside_wide_clusters():
    X, y = tight_beside_wide()
    model = KDESpectralClustering(3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.sigma_, local_bandwidths(X, rule="moderate"))
    assert adjusted_rand_score(y, model.labels_) > 0.98
    model = KDESpectralClustering(3, perplexity=8.0, random_state=0).fit(X)
    expected = local_bandwidths(X, perplexity=8.0, rule="moderate")
    np.testing.assert_array_equal(model.sigma_, expected)
    one = [
        adjusted_rand_score(y, KDESpectralClustering(3, sigma=sigma, random_state=0).fit(X).labels_)
        for sigma in ("auto", 0.1, 0.5, 2.0)
    ]
    assert max(one) < 0.9


def test_noise_between_many_points_does_not_hide_the_clusters():
    data = datasets.make("moons", n=10_000, noise=0.1, seed=0)

    def score(sigma):
        labels = KDESpectralClustering(2, sigma=sigma, random_state=0).fit_predict(data.X)
        return adjusted_rand_score(data.y, labels)

    assert score(None) > 0.95
    assert score("local") < 0.7


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_new_points_get_the_clusters_around_them(alpha):
    X = tight_beside_wide()[0]
    model = KDESpectralClustering(3, alpha=alpha, random_state=0).fit(X)
    queries, expected = tight_beside_wide(seed=1)
    assert adjusted_rand_score(expected, model.predict(queries)) > 0.97
    assert (model.predict(X) == model.labels_).mean() > 0.99
    with pytest.raises(ValueError, match="new points, whose bandwidths are unknown"):
        KDESpectralClustering(3, sigma=model.sigma_, random_state=0).fit(X).predict(queries)


def test_new_points_have_moderate_bandwidths_beside_those_of_the_fitted_points():
    X = tight_beside_wide()[0]
    queries = np.random.default_rng(1).uniform([5.7, -0.4], [6.7, 0.4], (2_000, 2))
    model = KDESpectralClustering(3, random_state=0).fit(X)
    squares = ((queries[:, None] - X[None]) ** 2).sum(axis=2)

    def clusters(bandwidths):
        kernel = np.exp(-squares / (bandwidths[:, None] * model.sigma_[None]))
        return np.argmax(kernel @ np.eye(3)[model.labels_], axis=1)

    expected = clusters(bandwidths_of_new_points(X, queries, rule="moderate"))
    np.testing.assert_array_equal(model.predict(queries), expected)
    assert (clusters(bandwidths_of_new_points(X, queries)) != expected).any()


def test_pixels_have_one_bandwidth():
    rng = np.random.default_rng(0)
    image = np.repeat([[0.2, 0.9]], 10, axis=1)[..., None] + 0.01 * rng.normal(size=(12, 20, 3))
    data = datasets.image_points(np.clip(image, 0, 1))
    points = data.X
    assert is_pixel_grid(points)
    model = KDESpectralClustering(2, random_state=0).fit(points)
    assert model.sigma_ == data.sigma
    assert model.spectrum_.n_components == 2
    y = (np.arange(20) >= 10)[None, :].repeat(12, axis=0).ravel()
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_pixels_are_rounded_by_a_factorization():
    """With the points of the graph, or with given ones; other points are rounded by k-means."""
    data = datasets.photo("china", max_pixels=1000)
    X, k = data.X, data.n_clusters
    graph = similarity_graph(X, sigma=data.sigma, seed=0)
    roundings = {
        name: spectral_clustering(graph, k, seed=0, assign_labels=name).labels
        for name in ("cluster_qr", "kmeans")
    }
    assert (roundings["cluster_qr"] != roundings["kmeans"]).any()
    for given, points, name in (
        (graph, None, "cluster_qr"),
        (graph.adjacency, X, "cluster_qr"),
        (graph, X[:, ::-1], "kmeans"),
    ):
        found = spectral_clustering(given, k, seed=0, points=points).labels
        np.testing.assert_array_equal(found, roundings[name])
    model = KDESpectralClustering(k, random_state=0)
    quick, slow = model.fit_predict(X), model.set_params(assign_labels="kmeans").fit_predict(X)
    assert (quick != slow).any()


def test_what_is_one_cluster_and_a_few_points_stays_local():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(400, 2)), rng.normal(size=(14, 2)) + 50])
    model = KDESpectralClustering(2, random_state=0).fit(X)
    assert np.ndim(model.sigma_) == 1
    assert np.bincount(model.labels_).tolist() == [400, 14]


@pytest.mark.parametrize(
    "change",
    [
        lambda points: points[:-1],
        lambda points: np.vstack([points[:-1], points[:1]]),
        lambda points: points[:, 3:],
        lambda points: points[:, ::-1],
        lambda points: np.c_[points[:, :4], 1999 + points[:, 4]],
        lambda points: points * [1, 1, 1, 2, 1],
        lambda points: np.c_[points[:, :4], points[:, 4] ** 2],
    ],
    ids=[
        "a pixel is missing",
        "a pixel comes twice",
        "no colors",
        "other order",
        "years from 1999",
        "long pixels",
        "times that are not regular",
    ],
)
def test_other_points_are_no_pixels(change):
    points = datasets.image_points(np.random.default_rng(0).random((6, 7, 3))).X
    assert is_pixel_grid(points)
    assert not is_pixel_grid(change(points))


def blocks_in_a_row(sizes, between):
    """Complete graphs, each joined to the next one by a weak edge."""
    matrix = blocks(*sizes).tolil()
    for end in np.cumsum(sizes)[:-1]:
        matrix[end - 1, end] = matrix[end, end - 1] = between
    return sp.csr_array(matrix)


@pytest.mark.parametrize(("kind", "power"), [("soft", 2.0), ("softer", 0.5)])
def test_eigenvectors_beyond_the_clusters_fade(kind, power):
    """Column i beyond k is that of the plain rows times a power of lambda_k / lambda_i, before the
    rows get length 1.
    """
    graph = check_adjacency(blocks_in_a_row([8, 9, 10, 11, 12], 0.3))
    found = spectrum(graph, 6, seed=0)
    vertices = np.arange(graph.n)
    rows = embed(graph, found, 3, 6, vertices, kind)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    values = found.eigenvalues
    factors = np.r_[1, 1, 1, (values[2] / values[3:6]) ** power]
    expected = embed(graph, found, 6, 6, vertices, "plain") * factors
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(rows, expected, atol=1e-6)


def test_eigenvectors_beyond_a_gap_vanish():
    graph = blocks_in_a_row([30, 40, 50], 1e-6)
    labels = spectral_clustering(graph, 3).labels
    assert adjusted_rand_score(np.repeat(np.arange(3), [30, 40, 50]), labels) == 1.0
    checked = check_adjacency(graph)
    found = spectrum(checked, 6, seed=0)
    rows = embed(checked, found, 3, 6, np.arange(120), "soft")
    assert np.abs(rows[:, 3:]).max() < 1e-6
