"""Metrics: rows of distances against scikit-learn's, and the functions that take one.

Weights of either metric: tests/attack/test_points.py.
"""

import kdegraph
import numpy as np
import pytest
from kdegraph.automatic import count_clusters
from kdegraph.diagnosis import GraphWarning
from kdegraph.metrics import EARTH_RADIUS, points_of
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.metrics.pairwise import haversine_distances


def across_the_date_line(n=100, seed=0):
    """Two groups of islands, 5 degrees apart: latitudes and longitudes, and their groups."""
    rng = np.random.default_rng(seed)
    groups = np.repeat([0, 1], n)
    latitude = rng.normal(np.where(groups, -18, -17), 0.2)
    longitude = rng.normal(np.where(groups, 175, 180), 0.2)
    return np.c_[latitude, (longitude + 180) % 360 - 180], groups


def directions(n=300, d=5, seed=0):
    """Points of very different lengths, and the same ones of length 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X * np.exp(rng.normal(size=(n, 1))), X / np.linalg.norm(X, axis=1, keepdims=True)


def test_straight_distances_are_shorter_by_as_much_as_is_promised():
    for kilometers, share in ((100, 1.1e-5), (1000, 1.1e-3)):
        degrees = [[0.0, 0.0], [0.0, np.degrees(kilometers / EARTH_RADIUS)]]
        straight = np.linalg.norm(np.subtract(*points_of(degrees, "haversine")))
        assert (1 - share) * kilometers < straight < kilometers


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cosine_does_for_all_points_what_euclidean_does_for_those_of_length_1(dtype):
    X, units = (array.astype(dtype) for array in directions())
    assert points_of(X, "cosine", keep_single=True).dtype == dtype
    by_angle = kdegraph.similarity_graph(X, sigma=0.5, metric="cosine", seed=0)
    expected = kdegraph.similarity_graph(units, sigma=0.5, seed=0)
    np.testing.assert_array_equal(by_angle.neighbors, expected.neighbors)
    np.testing.assert_allclose(by_angle.adjacency.data, expected.adjacency.data, rtol=1e-6)
    assert (by_angle.metric, expected.metric) == ("cosine", "euclidean")


@pytest.mark.parametrize(
    "function",
    [
        lambda X, **options: kdegraph.full_graph(X, sigma=0.5, **options),
        lambda X, **options: kdegraph.knn_graph(X, 5, mode="kernel", **options).toarray(),
        lambda X, **options: kdegraph.local_bandwidths(X, **options),
        lambda X, **options: kdegraph.estimate_sigma(X, **options),
        lambda X, **options: int(count_clusters(X, seed=0, **options)),
        lambda X, **options: (
            kdegraph.SimilarityGraphTransformer(sigma=0.5, random_state=0, **options)
            .fit(X[:200])
            .transform(X[150:])
            .sum(axis=1)
        ),
        lambda X, **options: (
            kdegraph.KDESpectralClustering(3, random_state=0, **options)
            .fit(X[:200])
            .predict_proba(X[150:])
        ),
    ],
    ids=["full", "knn", "bandwidths", "sigma", "count", "transformer", "estimator"],
)
def test_every_function_takes_the_metric(function):
    X, units = directions()
    np.testing.assert_allclose(function(X, metric="cosine"), function(units), rtol=1e-6, atol=1e-9)


def test_places_across_the_date_line_are_near():
    places, groups = across_the_date_line()
    model = kdegraph.KDESpectralClustering(2, metric="haversine", random_state=0).fit(places)
    assert adjusted_rand_score(groups, model.labels_) == 1.0
    eastward = np.where(places < [-90, 0], places + 360, places)  # the same longitudes
    np.testing.assert_array_equal(model.predict(eastward), model.labels_)
    kilometers = EARTH_RADIUS * haversine_distances(np.radians(places))
    K = kdegraph.full_graph(places, sigma=30.0, metric="haversine")
    expected = np.exp(-((kilometers / 30.0) ** 2))
    near = (kilometers < 100) & (kilometers > 0)
    np.testing.assert_allclose(K[near], expected[near], rtol=3e-4)


def test_rows_of_distances_are_cosine_distances_and_kilometers():
    X, _ = directions(60)
    places = np.random.default_rng(0).uniform([-80, -180], [80, 180], (60, 2))
    kilometers = EARTH_RADIUS * haversine_distances(np.radians(places))
    for metric, points, expected in (
        ("cosine", X, pairwise_distances(X, metric="cosine")),
        ("haversine", places, kilometers),
    ):
        rows = kdegraph.SimilarityGraphTransformer(
            mode="distance", n_neighbors=4, metric=metric, random_state=0
        ).fit_transform(points)
        assert (np.diff(rows.indptr) == 5).all()
        found = np.repeat(np.arange(60), 5), rows.indices
        np.testing.assert_allclose(rows.data, expected[found], rtol=1e-6, atol=1e-7)


def test_the_metric_is_kept_in_files_and_by_tiles(tmp_path):
    places, _ = across_the_date_line()
    graph = kdegraph.similarity_graph(places, metric="haversine", seed=0)
    graph.save(tmp_path / "graph.npz")
    assert kdegraph.SimilarityGraph.load(tmp_path / "graph.npz").metric == "haversine"
    da = pytest.importorskip("dask.array")
    tiled = kdegraph.similarity_graph(da.from_array(places, 50), metric="haversine", seed=0)
    assert tiled.metric == "haversine"
    assert abs(tiled.adjacency.compute() - graph.adjacency).max() == 0
    lazily = kdegraph.KDESpectralClustering(2, metric="haversine", random_state=0)
    assert lazily.fit(da.from_array(places, 50)).graph_.metric == "haversine"


def test_columns_of_angles_have_one_unit():
    X, _ = directions()
    X[:, :2] *= 1e-4
    with pytest.warns(GraphWarning, match="very different scales"):
        kdegraph.KDESpectralClustering(2, random_state=0).fit(X)
    graph = kdegraph.similarity_graph(X, metric="cosine", seed=0)
    assert not any(finding.problem == "columns" for finding in kdegraph.diagnose(graph))


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([[1.0, 2.0], [0.0, 0.0]], {"metric": "cosine"}, r"X\[1\] has only zeros"),
        ([[1.0, 2.0, 3.0]], {"metric": "haversine"}, "latitude and longitude.* 3 columns"),
        ([[0.0, 1.0], [151.2, -33.9]], {"metric": "haversine"}, r"X\[1, 0\] is 151.2.*swap"),
        ([[0.0, 361.0]], {"metric": "haversine"}, r"longitude X\[0, 1\] is 361"),
        ([[1.0, 2.0]], {"metric": "cityblock"}, "kernel='laplacian'"),
        ([[1.0, 2.0]], {"metric": "jaccard"}, "unknown metric 'jaccard'; choose one of"),
        ([[1.0, 2.0]], {"metric": "cosine", "kernel": "laplacian"}, "L1 distance"),
    ],
)
def test_refusals(X, options, message):
    for function in (kdegraph.similarity_graph, kdegraph.full_graph):
        with pytest.raises(ValueError, match=message):
            function(X, sigma=1.0, **options)
    with pytest.raises(TypeError, match="precomputed_distances"):
        kdegraph.similarity_graph([[1.0, 2.0]], metric=lambda x, y: 0.0)
