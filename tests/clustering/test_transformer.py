"""The transformer in scikit-learn's pipelines: rows of distances, and new points with bandwidths of
their own.
"""

import numpy as np
import oracle
import pytest
import scipy.sparse
from kdegraph import SimilarityGraphTransformer, local_bandwidths
from kdegraph.local_bandwidth import bandwidths_of_new_points
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs, make_moons
from sklearn.manifold import Isomap
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsTransformer,
    sort_graph_by_row_values,
)
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks


@parametrize_with_checks([SimilarityGraphTransformer(mode="distance", sigma="local", alpha=0.5)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def blobs():
    centers = [[0, 0], [4, 0], [0, 4]]
    return make_blobs(150, centers=centers, cluster_std=0.5, random_state=0)


def rows_of(matrix):
    """Pairs of the columns and the distances that are stored in each row."""
    return [
        (matrix.indices[start:stop], matrix.data[start:stop])
        for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    ]


# ---- distances


def test_distances_of_all_edges(blobs):
    X, _ = blobs
    model = SimilarityGraphTransformer(mode="distance", random_state=0)
    D = model.fit_transform(X)
    edges = model.graph_.adjacency
    assert isinstance(D, scipy.sparse.csr_matrix)
    assert sort_graph_by_row_values(D) is D  # sorted: nothing is copied, no warning
    exact = cdist(X, X)
    for i, (columns, distances) in enumerate(rows_of(D)):
        assert (columns[0], distances[0]) == (i, 0.0)
        assert set(columns[1:]) == set(edges.indices[edges.indptr[i] : edges.indptr[i + 1]])
        np.testing.assert_allclose(distances, exact[i, columns], rtol=1e-14)
    assert (model.transform(X) != D).nnz == 0


@pytest.mark.parametrize("n_neighbors", [1, 12, 149])
def test_rows_of_one_length_have_the_nearest_of_the_edges_and_then_of_the_others(
    blobs, n_neighbors
):
    X, _ = blobs
    model = SimilarityGraphTransformer(mode="distance", n_neighbors=n_neighbors, n_rounds=10)
    D = model.fit_transform(X)
    shape = KNeighborsTransformer(n_neighbors=n_neighbors).fit_transform(X)
    assert np.array_equal(D.indptr, shape.indptr)
    assert sort_graph_by_row_values(D) is D
    edges, exact = model.graph_.adjacency.toarray() > 0, cdist(X, X)
    for i, (columns, distances) in enumerate(rows_of(D)):
        by_distance = [j for j in np.argsort(exact[i]) if j != i]
        joined = [j for j in by_distance if edges[i, j]]
        others = [j for j in by_distance if not edges[i, j]]
        assert columns[0] == i
        assert set(columns[1:]) == set((joined + others)[:n_neighbors])
        np.testing.assert_allclose(distances, exact[i, columns], rtol=1e-14)


def test_a_point_comes_before_its_duplicates_and_isolated_points_get_neighbors():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1e6]])
    model = SimilarityGraphTransformer(sigma=1.0, mode="distance", n_neighbors=2, random_state=0)
    D = model.fit_transform(X)
    assert D.indices.reshape(5, 3)[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert D.data.reshape(5, 3)[:3].tolist() == [[0.0, 0.0, 0.0]] * 3  # stored zeros
    assert model.graph_.adjacency[[4]].nnz == 0
    assert D.indices.reshape(5, 3)[4, 1] == 3
    every_edge = model.set_params(n_neighbors=None).fit_transform(X)
    assert rows_of(every_edge)[4][0].tolist() == [4]


@pytest.mark.parametrize("size", [1e-200, 1e200, 1e308])
def test_distances_of_tiny_and_huge_coordinates(size):
    X = np.random.default_rng(0).uniform(-0.4, 0.4, (30, 2))
    expected = SimilarityGraphTransformer(mode="distance", n_neighbors=20, random_state=0)
    model = SimilarityGraphTransformer(mode="distance", n_neighbors=20, random_state=0)
    D = model.fit_transform(X * size)
    np.testing.assert_allclose(D.data / size, expected.fit_transform(X).data, rtol=1e-12)


def test_new_points_get_distances_to_what_they_are_joined_to(blobs):
    X, _ = blobs
    weights = SimilarityGraphTransformer(sigma=1.0, random_state=0).fit(X)
    model = SimilarityGraphTransformer(sigma=1.0, mode="distance", random_state=0).fit(X)
    mixed = np.array([X[7], [0.1, 0.2], [1e6, 0.0], X[3]])
    D, exact = model.transform(mixed), cdist(mixed, X)
    for i, (columns, distances) in enumerate(rows_of(D)):
        joined = weights.transform(mixed[[i]]).indices
        assert set(columns) == set(joined) | ({7} if i == 0 else {3} if i == 3 else set())
        np.testing.assert_allclose(distances, exact[i, columns], rtol=1e-14)
    D = model.transform([[1e6, 0.0], [0.1, 0.2]])
    assert D.indptr[1] == 0
    assert (np.diff(D.data) >= 0).all()  # sorted after an empty row, too
    model.set_params(n_neighbors=9)
    D = model.transform(mixed)
    assert np.diff(D.indptr).tolist() == [10] * 4
    assert D.indices[[0, 30]].tolist() == [7, 3]
    assert set(rows_of(D)[2][0]) == set(np.argsort(exact[2])[:10])


# ---- with scikit-learn's estimators


def test_isomap_unrolls_a_spiral():
    turns = np.linspace(2, 10, 400)
    X = np.column_stack([turns * np.cos(turns), turns * np.sin(turns)])
    model = make_pipeline(
        SimilarityGraphTransformer(sigma=0.5, mode="distance", n_neighbors=6, random_state=0),
        Isomap(n_neighbors=6, n_components=1, metric="precomputed"),
    )
    place = model.fit_transform(X)[:, 0]
    assert abs(np.corrcoef(np.argsort(np.argsort(place)), np.arange(400))[0, 1]) > 0.999


def test_a_classifier_of_neighbors_predicts_new_points():
    X, y = make_moons(400, noise=0.1, random_state=0)
    model = make_pipeline(
        SimilarityGraphTransformer(sigma=0.2, mode="distance", n_neighbors=5, random_state=0),
        KNeighborsClassifier(5, metric="precomputed"),
    )
    model.fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.95
    assert model.score(X[:300], y[:300]) > 0.95


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_neighbors": 5, "mode": "affinity"}, ValueError, "n_neighbors is for mode='distance'"),
        ({"mode": "distance", "n_neighbors": 150}, ValueError, "at most 149 with n = 150 points"),
        ({"sigma": np.ones(3)}, ValueError, r"sigma must have shape \(150,\)"),
    ],
)
def test_bad_parameters_are_refused_when_fitted(blobs, parameters, error, message):
    with pytest.raises(error, match=message):
        SimilarityGraphTransformer(**parameters).fit(blobs[0])


# ---- new points with bandwidths of their own


@pytest.mark.parametrize("perplexity", [None, 3, 20])
@pytest.mark.parametrize("d", [2, 12])
def test_the_bandwidth_of_a_new_point_is_that_of_a_point_which_is_added(perplexity, d):
    rng = np.random.default_rng(d)
    X = np.repeat(rng.normal(size=(30, d)), rng.integers(1, 4, 30), axis=0)
    queries = rng.normal(size=(5, d)) * [[1e-3], [1], [1], [10], [1e300]]
    found = bandwidths_of_new_points(X, queries, perplexity)
    expected = [local_bandwidths(np.vstack([X, q]), perplexity=perplexity)[-1] for q in queries]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_bandwidth_beside_a_single_place_is_the_distance():
    model = SimilarityGraphTransformer(sigma="local", random_state=0).fit(np.zeros((5, 2)))
    assert model.sigma_.tolist() == [1.0] * 5
    row = model.transform([[3.0, 4.0]])
    np.testing.assert_allclose(row.sum(), 5 * np.exp(-(5.0**2) / (1.0 * 5.0)))


@pytest.mark.parametrize(
    ("kernel", "alpha"),
    [("gaussian", 0.6), ("laplacian", 0.0), ("matern-3/2", 0.6)],
)
def test_rows_of_new_points_estimate_the_kernel_of_local_bandwidths(kernel, alpha):
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(12, 2)) * rng.uniform(0.1, 3, (12, 1)), rng.normal(size=(3, 2))
    sigma = local_bandwidths(X, perplexity=4)
    new = np.array([local_bandwidths(np.vstack([X, q]), perplexity=4)[-1] for q in queries])

    def values(A, sigma_a, B, sigma_b):
        pair = np.sqrt(np.multiply.outer(sigma_a, sigma_b))
        return oracle.kernel_matrix(A, B, kernel, pair).astype(float)

    density = values(X, sigma, X, sigma).sum(axis=1)
    exact = values(queries, new, X, sigma)
    of_new = 1 + exact.sum(axis=1, keepdims=True)
    exact = exact / (density * of_new) ** alpha
    n_rounds = 5000
    model = SimilarityGraphTransformer(
        sigma="local", perplexity=4, alpha=alpha, kernel=kernel, n_rounds=n_rounds, random_state=0
    )
    rows = model.set_params(eps=1e-9).fit(X).transform(queries).toarray()
    totals = exact.sum(axis=1, keepdims=True)
    # Stratified: no sum of weights is off by more than one draw.
    assert (abs(rows - exact) <= totals / n_rounds * (1 + 1e-6)).all()
    np.testing.assert_allclose(rows.sum(axis=1, keepdims=True), totals, rtol=1e-6)


def test_an_array_of_bandwidths_knows_none_of_new_points(blobs):
    X, _ = blobs
    model = SimilarityGraphTransformer(sigma=np.linspace(0.5, 1, 150), random_state=0).fit(X)
    assert abs(model.transform(X[[5, 3]]) - model.graph_.adjacency[[5, 3]]).max() == 0
    with pytest.raises(ValueError, match=r"1 new points.*sigma='local'"):
        model.transform([X[0], [9.0, 9.0]])
