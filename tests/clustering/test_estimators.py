"""The scikit-learn estimators: scikit-learn's own checks, pipelines, results on data with a known
answer.
"""

import kdegraph
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from kdegraph.dispatch import spectral_clustering
from kdegraph.estimators import KDESpectralClustering
from kdegraph.transformer import SimilarityGraphTransformer
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks


def expected_failures(estimator):
    """The checks of scikit-learn that take whatever has memberships for a classifier, and those
    that compare bits with weights and without.
    """
    if not isinstance(estimator, KDESpectralClustering):
        return {}
    names = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")
    equivalence = [
        f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")
    ]
    # Laws, not draws, are the same with copies: tests/clustering/test_sample_weight.py.
    reason = "another graph is drawn, and points of weight zero are refused"
    return dict.fromkeys(names, "it is not a classifier") | dict.fromkeys(equivalence, reason)


@parametrize_with_checks(
    [KDESpectralClustering(), SimilarityGraphTransformer()],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def moons():
    return make_moons(600, noise=0.05, random_state=0)


def test_clustering_finds_the_moons_and_its_attributes_agree(moons):
    X, y = moons
    model = KDESpectralClustering(2, sigma=0.1, n_rounds=30, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.labels_.dtype == np.int32
    assert model.sigma_ == 0.1
    assert model.n_clusters_ == 2
    assert model.n_features_in_ == 2
    assert model.affinity_matrix_ is model.graph_.adjacency
    assert model.spectrum_.n_components == 2
    assert model.conductances_.shape == (2,)
    assert model.conductances_.max() < 0.01
    again = spectral_clustering(model.graph_, 2)
    assert adjusted_rand_score(again.labels, model.labels_) == 1.0


@pytest.mark.parametrize("name", ["moons", "anisotropic", "spirals", "blobs20d"])
def test_new_points_get_the_cluster_that_fitting_anew_gives_them(name):
    data = kdegraph.datasets.make(name, n=1600, seed=0)
    shuffled = np.random.default_rng(0).permutation(1600)
    known, new = shuffled[:1200], shuffled[1200:]
    model = KDESpectralClustering(data.n_clusters, sigma=data.sigma, n_rounds=30, random_state=0)
    predicted = model.fit(data.X[known]).predict(data.X[new])
    assert predicted.dtype == model.labels_.dtype
    anew = model.fit(data.X).labels_[new]
    assert adjusted_rand_score(anew, predicted) > 0.98
    assert (model.predict(data.X) == model.labels_).mean() > 0.99


def test_prediction_is_the_largest_membership_where_clusters_are_symmetric():
    """There sums may differ in the last digit, and their shares not even there."""
    right = np.random.default_rng(0).normal([2.0, 0.0], 0.4, size=(50, 2))
    X = np.concatenate([right, right[::-1] * [-1.0, 1.0], right - [2.0, 2.3]])
    model = KDESpectralClustering(3, sigma=1.0, random_state=0).fit(X)
    axis = np.column_stack([np.zeros(5_000), np.linspace(-1.5, 0.5, 5_000)])
    shares = model.predict_proba(axis)
    np.testing.assert_allclose(shares[:, 0], shares[:, 1], rtol=1e-5)
    assert np.array_equal(model.predict(axis), shares.argmax(axis=1))


def test_points_out_of_reach_get_the_cluster_of_the_nearest_point():
    X = np.r_[np.zeros((20, 2)), np.full((20, 2), 10.0)] + np.random.default_rng(0).normal(
        0, 0.1, (40, 2)
    )
    for kernel in ("gaussian", "laplacian"):
        model = KDESpectralClustering(2, sigma=0.3, kernel=kernel, random_state=0).fit(X)
        queries = [[-1e6, 0.0], [1e6, 1e6], [9.0, 9.0]]
        assert model.predict(queries).tolist() == [0, 1, 1]
        assert model.predict_proba(queries[:2]).tolist() == [[1, 0], [0, 1]]
    X[:] = 3.0
    assert model.predict([[-1e6, 0.0]]).tolist() == [0]  # the model has a copy


def test_new_points_need_a_fit_and_the_same_columns(moons):
    for model, use in (
        (KDESpectralClustering(2, sigma=0.1), "predict"),
        (KDESpectralClustering(2, sigma=0.1), "predict_proba"),
        (SimilarityGraphTransformer(sigma=0.1), "transform"),
    ):
        with pytest.raises(NotFittedError):
            getattr(model, use)(moons[0])
        with pytest.raises(ValueError, match="3 features"):
            getattr(model.fit(moons[0]), use)(np.zeros((2, 3)))
        with pytest.raises(ValueError, match="NaN"):
            getattr(model, use)([[0.0, np.nan]])


def test_transform_of_all_points_tells_duplicates_apart():
    X = np.zeros((30, 1))
    model = SimilarityGraphTransformer(sigma=1.0, n_rounds=2, random_state=0).fit(X)
    assert abs(model.transform(X) - model.graph_.adjacency).max() == 0
    assert (
        abs(model.transform(-X[:2])[[1]] - model.graph_.adjacency[[0]]).max() == 0
    )  # -0.0 is the same point


def test_changing_the_result_or_the_data_does_not_change_the_model():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = SimilarityGraphTransformer(sigma=1.0, random_state=0)
    A = model.fit_transform(X)
    expected = A.toarray()
    A.data[:] = 0
    copy = X.copy()
    X[:] = 7
    assert np.array_equal(model.transform(copy).toarray(), expected)


def test_new_and_fitted_points_mix_and_rows_do_not_depend_on_each_other(moons):
    X, _ = moons
    model = SimilarityGraphTransformer(sigma=0.1, random_state=0).fit(X)
    mixed = np.array([X[7], [0.5, 0.2], X[0], [1e6, 0.0]])
    rows = model.transform(mixed)
    assert abs(rows[[0, 2]] - model.graph_.adjacency[[7, 0]]).max() == 0
    assert rows[[3]].nnz == 0  # no fitted point within reach
    for i in range(4):
        assert abs(model.transform(mixed[[i]]) - rows[[i]]).max() == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 41}, "n_clusters must be at most 40"),
        ({"n_clusters": "auto", "min_clusters": 41}, "min_clusters must be at most 40"),
        ({"sigma": 1e-300}, "all 40 vertices are isolated"),
        ({"noise": 1.5}, r"noise must lie in \(0, 1\], got 1.5"),
        ({"noise": 0.9, "sigma": 1.0}, "noise needs several graphs.*leave out noise or sigma"),
    ],
)
def test_bad_parameters_are_refused_when_fitted(parameters, message):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = clone(KDESpectralClustering(**{"n_clusters": 3, **parameters}))
    with pytest.raises(ValueError, match=message):
        model.fit(X)


def test_a_new_point_at_one_of_two_places_belongs_there():
    """Its own bandwidth is the smallest number, and factors of distances would overflow."""
    X = np.repeat([[2.0], [-2.5]], 13, axis=1)
    for kind in (np.asarray, scipy.sparse.csr_array):
        model = KDESpectralClustering(sigma="local", random_state=0).fit(kind(X))
        np.testing.assert_array_equal(model.predict_proba(kind(X[:1])).sum(axis=1), [1.0])
        assert model.predict(kind(X[:1]))[0] == model.labels_[0]


def test_a_new_point_whose_squares_overflow_gets_the_cluster_of_the_nearest():
    X = 1e299 * np.array([[0.0], [0.5], [9.0], [9.5]])
    model = KDESpectralClustering(2, sigma=1e299, random_state=0).fit(X)
    assert model.predict([[1e302], [-1e302]]).tolist() == model.labels_[[3, 0]].tolist()


def test_a_new_point_at_the_only_fitted_one_may_come_with_others():
    model = KDESpectralClustering(random_state=0).fit([[0.0]])
    np.testing.assert_array_equal(model.predict_proba([[2.0], [1.0], [0.0]]), [[1.0]] * 3)


DAYS = pd.to_datetime(["2024-01-31", "2024-02-29"])
BAD = (
    ([[10**400], [1]], "X has a number beyond the range of float64"),
    ([["a"], ["b"]], "X must hold numbers, got dtype <U1 .text, dates or records.; drop or encode"),
    (pd.DataFrame({"a": ["u", "v"], "b": [1, 2]}), "could not convert string to float: 'u'.; drop"),
    (pd.DataFrame({"a": DAYS, "b": [1.0, 2.0]}), "X must hold numbers, .* not 'Timestamp'.; drop"),
    (pd.DataFrame({"a": DAYS, "b": DAYS}), "X must hold numbers, got dtype datetime64"),
    (DAYS.to_numpy().reshape(-1, 1) - DAYS[0].to_numpy(), "must hold numbers, got dtype timedelta"),
    (pd.DataFrame({"a": DAYS.tz_localize("UTC"), "b": [1.0, 2.0]}), "not 'Timestamp'.; drop"),
    ([[1.0, 2.0], [3.0, np.nan]], r"X must be finite, but X\[1, 1\] is nan"),
    ([1.0, 2.0], r"X must have shape \(n, d\), got \(2,\)"),
)


@pytest.mark.parametrize(("X", "message"), BAD)
def test_bad_points_are_refused_in_the_words_of_the_functions(X, message):
    for estimator in (kdegraph.KDESpectralClustering(), kdegraph.SimilarityGraphTransformer()):
        with pytest.raises(ValueError, match=message):
            estimator.fit(X)
    with pytest.raises(ValueError, match=message):
        kdegraph.similarity_graph(X)
