"""The estimator on matrices of weights and of distances, against that on the same points."""

import kdegraph
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from kdegraph import (
    KDESpectralClustering,
    estimate_sigma,
    full_graph,
    local_bandwidths,
    similarity_graph,
)
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import cosine_distances
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph
from sklearn.utils import get_tags


def by_distances(**parameters):
    return KDESpectralClustering(affinity="precomputed_distances", random_state=0, **parameters)


@pytest.fixture(scope="module")
def moons():
    return kdegraph.datasets.make("moons", n=300, seed=0)


@pytest.mark.parametrize("n_clusters", [2, "auto"])
def test_weights_in_any_form_are_clustered_as_they_are(moons, n_clusters):
    graph = similarity_graph(moons.X, sigma=0.2, seed=0)
    expected = kdegraph.spectral_clustering(graph, n_clusters, seed=0).labels
    A = graph.adjacency
    for given in (graph, A, sp.coo_matrix(A), A.toarray(), A.toarray().astype(np.float32)):
        model = KDESpectralClustering(n_clusters, affinity="precomputed", random_state=0).fit(given)
        assert adjusted_rand_score(expected, model.labels_) == 1.0
        assert model.graph_ is given
        assert isinstance(model.affinity_matrix_, sp.csr_array)
        np.testing.assert_allclose(model.affinity_matrix_.toarray(), A.toarray(), rtol=1e-6)
        assert model.sigma_ is None
        assert model.n_features_in_ == 300


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"sigma": "local", "perplexity": 12.0},
        {"sigma": "local", "kernel": "matern-3/2", "alpha": 0.5},
        {"sigma": "auto", "kernel": "exponential", "alpha": 1.0},
        {"sigma": 0.3},
        {"sigma": np.linspace(0.1, 0.4, 330)},
    ],
)
def test_weights_of_distances_are_those_of_the_full_graph_of_the_points(moons, parameters):
    X = np.vstack([moons.X, moons.X[:20], moons.X[:10]])  # some points two or three times
    expected = full_graph(X, **({"sigma": "local"} | parameters))
    expected, perplexity = sp.csr_array(expected), parameters.get("perplexity")
    for table in (cdist(X, X), sp.csr_array(np.ones((330, 330)))):
        if sp.issparse(table):
            table.data[:] = cdist(X, X).ravel()  # stored zeros
        model = by_distances(n_clusters=2, **parameters).fit(table)
        np.testing.assert_allclose(
            model.affinity_matrix_.toarray(), expected.toarray(), rtol=1e-9, atol=1e-300
        )
        exact = {"auto": estimate_sigma(X), "local": local_bandwidths(X, perplexity=perplexity)}
        sigma = parameters.get("sigma", "local")
        sigma = exact[sigma] if isinstance(sigma, str) else sigma
        np.testing.assert_allclose(model.sigma_, sigma, rtol=1e-9)
        same = kdegraph.spectral_clustering(expected, 2).labels
        assert adjusted_rand_score(same, model.labels_) == 1.0


def test_near_distances_are_enough(moons):
    X = moons.X
    rows = kneighbors_graph(X, 15, mode="distance")  # not symmetric
    model = by_distances(n_clusters=2).fit(rows)
    assert adjusted_rand_score(moons.y, model.labels_) == 1.0
    np.testing.assert_allclose(model.sigma_, local_bandwidths(X), rtol=1e-9)
    full = full_graph(X, sigma="local")
    known = ((rows + rows.T) > 0).toarray()
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), full * known, rtol=1e-9)
    # Rows of different lengths, one of them empty.
    X = np.vstack([X, [[50.0, 50.0]]])
    model = by_distances(n_clusters=2).fit(radius_neighbors_graph(X, 0.4, mode="distance"))
    assert model.labels_[-1] == -1
    assert model.isolated_.tolist() == [300]
    assert adjusted_rand_score(moons.y, model.labels_[:-1]) == 1.0


def test_a_diagonal_that_is_zero_up_to_rounding_is_zero(moons):
    D = cdist(moons.X, moons.X)
    expected = by_distances(n_clusters=2).fit(D)
    rounded = D + 1e-9 * np.eye(300)
    for given in (rounded, sp.csr_array(rounded)):
        model = by_distances(n_clusters=2).fit(given)
        assert abs(model.affinity_matrix_ - expected.affinity_matrix_).max() == 0
        assert np.diagonal(rounded).min() == given.diagonal().max() == 1e-9  # not changed


def test_any_dissimilarity_will_do():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    X = rng.normal(np.eye(3)[y] * 4, 0.6) * rng.uniform(0.1, 10, (180, 1))  # three directions
    found = by_distances(n_clusters=3).fit_predict(cosine_distances(X))
    assert adjusted_rand_score(y, found) > 0.95


def test_new_points_are_rows_of_weights_or_distances(moons):
    known, new = moons.X[::2], moons.X[1::2]
    for sigma in ("local", 0.2, None):
        points = KDESpectralClustering(2, sigma=sigma or "local", random_state=0).fit(known)
        model = by_distances(n_clusters=2, sigma=sigma).fit(cdist(known, known))
        assert np.array_equal(model.labels_, points.labels_)
        shares = model.predict_proba(cdist(new, known))
        np.testing.assert_allclose(shares, points.predict_proba(new), rtol=1e-6, atol=1e-9)
        assert np.array_equal(model.predict(sp.csr_array(cdist(new, known))), points.predict(new))
        far = cdist([[1e4, -1e4]], known)
        assert model.predict(far)[0] == model.labels_[np.argmin(far)]
    weights = np.exp(-(cdist(known, known) ** 2) / 0.04)
    model = KDESpectralClustering(2, affinity="precomputed").fit(weights)
    rows = np.exp(-(cdist(new, known) ** 2) / 0.04)
    sums = rows @ np.eye(2)[model.labels_]
    np.testing.assert_allclose(model.predict_proba(rows), sums / sums.sum(axis=1, keepdims=True))
    # Without weights nothing is known of a point but how large the clusters are.
    sizes = np.bincount(model.labels_) / len(known)
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, len(known)))), [sizes])


def test_cross_validation_splits_rows_and_columns(moons):
    assert not get_tags(KDESpectralClustering()).input_tags.pairwise
    assert get_tags(by_distances()).input_tags.pairwise
    search = GridSearchCV(
        by_distances(n_clusters=2), {"sigma": [0.15, 30.0]}, scoring="adjusted_rand_score", cv=3
    )
    search.fit(cdist(moons.X, moons.X), moons.y)
    assert search.best_params_ == {"sigma": 0.15}
    assert search.best_score_ > 0.95


def spoiled(value, *places):
    D = cdist(np.arange(12.0)[:, None], np.arange(12.0)[:, None])
    for place in places:
        D[place] = value
    return D


@pytest.mark.parametrize(
    ("parameters", "X", "error", "message"),
    [
        ({"affinity": "rbf"}, spoiled(0), ValueError, "unknown affinity 'rbf'; choose one of 'ker"),
        ({"affinity": "precomputed", "sigma": 1.0}, spoiled(0), ValueError, "sigma and perplexity"),
        (
            {"affinity": "precomputed", "sigma": np.ones(12)},
            spoiled(0),
            ValueError,
            "sigma and perplexity are for",
        ),
        ({"noise": 0.5}, spoiled(0), ValueError, "noise needs several graphs.*precomputed matrix"),
        ({"sigma": "moderate"}, spoiled(0), ValueError, "needs the dimension.*'local' or 'auto'"),
        ({"perplexity": 12}, spoiled(0), ValueError, "perplexity .* n = 12"),
        ({"alpha": 2}, spoiled(0), ValueError, "alpha must lie in"),
        ({"kernel": "cosine"}, spoiled(0), ValueError, "kernel"),
        ({}, spoiled(1.0, (3, 3)), ValueError, r"X\[3, 3\] is 1.0; .* affinity='precomputed'"),
        ({}, spoiled(7.0, (3, 4)), ValueError, r"symmetric, but X\[3, 4\] is 7.0 and X\[4, 3\] is"),
        ({}, spoiled(-1.0, (3, 4), (4, 3)), ValueError, "finite numbers >= 0"),
        ({}, spoiled(np.nan, (3, 4), (4, 3)), ValueError, "finite numbers >= 0"),
        ({}, spoiled(0)[:5], ValueError, r"must be a square matrix .* got shape \(5, 12\)"),
        ({}, np.zeros((0, 0)), ValueError, r"got shape \(0, 0\)"),
        ({}, [["a"]], ValueError, "real numbers"),
        ({"affinity": "precomputed"}, spoiled(-1.0, (3, 4), (4, 3)), ValueError, ">= 0"),
        ({"affinity": "precomputed"}, spoiled(0)[:5], ValueError, "square"),
    ],
)
def test_what_cannot_be_used_is_refused(parameters, X, error, message):
    model = by_distances(n_clusters=2).set_params(**parameters)
    with pytest.raises(error, match=message):
        model.fit(X)


def test_new_rows_have_a_column_for_each_fitted_point_and_a_bandwidth(moons):
    D = cdist(moons.X, moons.X)
    model = by_distances(n_clusters=2, sigma=np.full(300, 0.2)).fit(D)
    with pytest.raises(ValueError, match="one column for each of the 300 fitted points, got 299"):
        model.predict(D[:, 1:])
    with pytest.raises(ValueError, match="sigma was an array"):
        model.predict(D[:3])


@pytest.mark.parametrize("affinity", ["precomputed", "precomputed_distances"])
def test_new_rows_in_a_frame_have_its_columns_in_their_order(moons, affinity):
    D = cdist(moons.X, moons.X)
    table = D if affinity == "precomputed_distances" else np.exp(-(D**2) / 0.1)
    frame = pd.DataFrame(table, columns=[f"p{i}" for i in range(len(D))])
    model = KDESpectralClustering(2, affinity=affinity, random_state=0).fit(frame)
    np.testing.assert_array_equal(model.predict(frame[:9]), model.labels_[:9])
    for method in (model.predict, model.predict_proba, model.transform):
        with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
            method(frame[frame.columns[::-1]])
    model.fit(table).predict(table)  # the names are forgotten: no warning


def test_sparse_distances_may_store_no_pair():
    model = by_distances().fit(sp.csr_array((3, 3)))
    assert model.affinity_matrix_.nnz == 0
    assert model.predict_proba(sp.csr_array((2, 3))).shape == (2, model.n_clusters_)


def test_one_point_and_points_that_are_all_the_same():
    for n in (1, 30):
        model = by_distances(n_clusters=1).fit(np.zeros((n, n)))
        assert model.labels_.tolist() == [0] * n
        assert np.all(model.sigma_ == 1.0)
