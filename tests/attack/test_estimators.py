"""Attack the estimator: points and matrices of all kinds, all ways to choose, and new points."""

import warnings
from unittest import SkipTest

import kdegraph
import numpy as np
import oracle
import scipy.sparse
from attack.contract import REFUSED, attempt, check_refusal, unchanged
from attack.points import SPARSE, tables
from attack.test_graphs import graphs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import estimator_checks_generator

FEWER = settings(max_examples=max(1, settings.default.max_examples // 5))
CLUSTERS = {"n_clusters": st.one_of(st.just("auto"), st.integers(1, 6))}
OF_MATRICES = {
    "alpha": st.sampled_from([0.0, 0.5, 1.0]),
    "smallest_component": st.sampled_from(["auto", 1, 3]),
    "kernel": st.sampled_from(["gaussian", "exponential", "laplacian"]),
    "assign_labels": st.sampled_from(["kmeans", "cluster_qr"]),
    "max_clusters": st.integers(1, 8),
}
OF_POINTS = {
    "metric": st.sampled_from(["euclidean", "cosine"]),
    "sigma": st.sampled_from([None, "auto", "local", "moderate", 1.0, 1e-9, 1e9]),
    "perplexity": st.sampled_from([None, 2.0, 5.0]),
    "noise": st.sampled_from([None, 0.5, 1.0]),
    "embedding": st.sampled_from(["soft", "softer", "degree", "row", "plain"]),
}
WORDS = ("X", "sigma", "perplexity", "noise", "alpha", "embedding", "n_clusters", "max_clusters")
WORDS += ("metric", "kernel", "assign_labels", "adjacency", "smallest_component", "affinity")


def is_refusal(error):
    """Return whether an error, or the one that it is about, refuses parameters in words."""
    while error is not None:
        try:
            check_refusal(error, WORDS)
        except AssertionError:
            error = error.__context__
        else:
            return True
    return False


def check_fitted(model, n):
    """Check what holds for the attributes of every fitted estimator."""
    labels, k = model.labels_, model.n_clusters_
    assert labels.shape == (n,)
    assert labels.min() >= -1
    assert labels.max() < k
    assert np.isfinite(model.conductances_).all()
    assert ((model.conductances_ >= 0) & (model.conductances_ <= 1 + 1e-12)).all()
    if model.probabilities_ is not None:
        assert ((model.probabilities_ >= 0) & (model.probabilities_ <= 1)).all()
        assert ((model.stability_ >= 0) & (model.stability_ <= 1)).all()


def check_new(model, new):
    """Check the answers for new points or rows."""
    memberships = attempt(lambda: model.predict_proba(new), *WORDS)
    if memberships is REFUSED:
        return
    assert memberships.shape == (new.shape[0], model.n_clusters_)
    assert (memberships >= 0).all()
    np.testing.assert_allclose(memberships.sum(axis=1), 1.0, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(new), memberships.argmax(axis=1))
    coordinates = attempt(lambda: model.transform(new), *WORDS)
    assert coordinates is REFUSED or np.isfinite(coordinates).all()


GRIDS = {
    kdegraph.KDESpectralClustering: CLUSTERS | OF_MATRICES | OF_POINTS,
    kdegraph.SimilarityGraphTransformer: {
        "mode": st.sampled_from([None, "affinity", "distance"]),
        "sigma": OF_POINTS["sigma"].filter(lambda sigma: sigma is not None),
        "sampler": st.sampled_from(["auto", "near", "rejection"]),
        "n_rounds": st.sampled_from(["auto", 1, 9]),
        "metric": OF_POINTS["metric"],
        "weighting": st.sampled_from(["inclusion", "paper"]),
    }
    | {name: OF_MATRICES[name] for name in ("alpha", "kernel")},
}
# They take what has memberships for a classifier, or compare bits with weights and without.
NOT_CHECKED = ("sample_weight_equivalence", "sparse_array", "sparse_matrix")


@settings(FEWER, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(data=st.data(), kind=st.sampled_from(sorted(GRIDS, key=str)))
def test_scikit_learn_checks_with_any_parameters(data, kind):
    options = data.draw(st.fixed_dictionaries({}, optional=GRIDS[kind]))
    checks = [
        (estimator, check)
        for estimator, check in estimator_checks_generator(kind(**options))
        if not any(name in check.func.__name__ for name in NOT_CHECKED)
    ]
    estimator, check = data.draw(st.sampled_from(checks))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            check(estimator)
        except SkipTest:
            return
        except (AssertionError, ValueError, TypeError) as error:
            if not is_refusal(error):
                raise


@FEWER
@given(
    X=tables(n=(1, 40), scales=(-150, 150)),
    new=tables(n=(1, 5), scales=(-150, 150)),
    options=st.fixed_dictionaries(CLUSTERS, optional=OF_MATRICES | OF_POINTS),
    format=st.sampled_from([None, None, *SPARSE]),
)
def test_points_have_clusters_and_new_points_belong_to_them(X, new, options, format):
    if format is not None:
        X, new = (scipy.sparse.csr_array(np.tile(one, 13)).asformat(format) for one in (X, new))
        new = new.tocsr()[:, np.arange(X.shape[1]) % new.shape[1]]
    else:
        new = np.resize(new, (len(new), X.shape[1]))
    model = kdegraph.KDESpectralClustering(random_state=0, n_rounds=5, **options)
    with unchanged(X):
        fitted = attempt(lambda: model.fit(X), *WORDS)
    if fitted is REFUSED:
        return
    check_fitted(model, X.shape[0])
    check_new(model, new)
    coordinates = attempt(lambda: model.transform(X), *WORDS)
    assert coordinates is REFUSED or np.isfinite(coordinates).all()
    score = attempt(lambda: model.score(new), *WORDS)
    assert score is REFUSED or score <= 1


@FEWER
@given(
    A=graphs(n=(1, 30)),
    options=st.fixed_dictionaries(CLUSTERS, optional=OF_MATRICES),
    format=st.sampled_from([None, *SPARSE]),
)
def test_precomputed_weights(A, options, format):
    given = A if format is None else scipy.sparse.csr_array(A).asformat(format)
    model = kdegraph.KDESpectralClustering(affinity="precomputed", random_state=0, **options)
    with unchanged(given):
        fitted = attempt(lambda: model.fit(given), *WORDS)
    if fitted is not REFUSED:
        check_fitted(model, len(A))
        check_new(model, A[:3])


@FEWER
@given(
    X=tables(n=(1, 30)),
    options=st.fixed_dictionaries(CLUSTERS, optional=OF_MATRICES),
    sigma=st.sampled_from([None, "auto", "local", 1.0, 1e-200, 1e200]),
    format=st.sampled_from([None, None, *SPARSE]),
)
def test_precomputed_distances(X, options, sigma, format):
    D = oracle.exponents(X, X, "exponential", 1.0).astype(float).clip(0, 1e307)
    given = D if format is None else scipy.sparse.csr_array(D).asformat(format)
    model = kdegraph.KDESpectralClustering(
        affinity="precomputed_distances", sigma=sigma, random_state=0, **options
    )
    with unchanged(given):
        fitted = attempt(lambda: model.fit(given), *WORDS)
    if fitted is not REFUSED:
        check_fitted(model, len(X))
        check_new(model, D[:3])
        weights = oracle.dense(model.affinity_matrix_)
        assert np.isfinite(weights).all()
        if format is None and isinstance(sigma, float) and not options.get("alpha"):
            kernel = options.get("kernel", "gaussian")
            exact = oracle.exponent_of(kernel, D.astype(np.longdouble) / sigma)
            expected = np.where(np.eye(len(X)) > 0, 0, np.exp(-exact)).astype(float)
            np.testing.assert_allclose(weights, expected, rtol=1e-10, atol=1e-300)
