"""Attack the functions of points: extreme values, any container, any parameter."""

import functools
import inspect

import kdegraph
import numpy as np
import oracle
import pytest
import scipy.sparse
from attack.contract import REFUSED, attempt, unchanged
from attack.points import KERNELS, SPARSE, tables
from attack.points import values as any_value
from hypothesis import given, settings
from hypothesis import strategies as st

KERNEL = st.sampled_from(KERNELS)
FACTOR = st.one_of(st.floats(0.01, 100), st.floats(1e-300, 1e300))
SEED = st.integers(0, 2**64 - 1)


def bandwidth(X, factor):
    """Return a bandwidth that suits the points, or an extreme one."""
    with np.errstate(over="ignore"):
        return float(np.clip(factor * (np.ptp(X) / 10 or 1.0), 1e-307, 1e307))


@given(
    X=tables(), Y=tables(), kernel=KERNEL, factor=FACTOR, eps=st.floats(1e-12, 0.9), data=st.data()
)
def test_kernel_sums_keep_their_error(X, Y, kernel, factor, eps, data):
    Y, n = np.resize(Y, (len(Y), X.shape[1])), len(X)
    rng = np.random.default_rng(n)
    weights = {
        "none": None,
        "positive": rng.random(n),
        "signed": rng.normal(size=n),
        "spread": rng.normal(size=n) * 10.0 ** rng.integers(-200, 200, n),
        "zero": np.zeros(n),
    }[data.draw(st.sampled_from(["none", "positive", "signed", "spread", "zero"]))]
    methods = ["auto", "direct", "tree", *["fgt"] * (kernel == "gaussian")]
    options = {"method": data.draw(st.sampled_from(methods)), "eps": eps, "kernel": kernel}
    sigma = bandwidth(X, factor)
    with unchanged(X, Y, weights):
        sums = kdegraph.kernel_sum(X, Y, sigma=sigma, weights=weights, **options)
    assert oracle.excess(sums, X, Y, kernel, sigma, eps, weights) <= 1


@given(X=tables(), kernel=KERNEL, factor=FACTOR, local=st.booleans())
def test_full_graphs_are_exact(X, kernel, factor, local):
    sigma = bandwidth(X, factor)
    if local:
        sigma = sigma * np.random.default_rng(len(X)).uniform(0.1, 1.0, len(X))
    roots = np.sqrt(sigma, dtype=np.longdouble)
    pairs = np.multiply.outer(roots, roots) if local else sigma
    found = oracle.dense(kdegraph.full_graph(X, sigma=sigma, kernel=kernel))
    expected = oracle.full_graph(X, kernel, pairs)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-300)


@given(X=tables(n=(2, 40)), k=st.integers(1, 39))
def test_nearest_neighbors_are_nearest(X, k):
    k = min(k, len(X) - 1)
    joined = kdegraph.knn_graph(X, k).toarray() > 0
    distances = oracle.exponents(X, X, "exponential", np.abs(X).max() or 1.0)
    np.fill_diagonal(distances, np.inf)
    radius = np.sort(distances, axis=1)[:, k - 1, None]
    slack = 1e-14 * radius + 1e-150  # squares of less vanish beside the largest coordinate
    assert (joined == joined.T).all()
    assert not joined.diagonal().any()
    farthest = radius + slack
    assert (distances <= np.maximum(farthest, farthest.T))[joined].all()
    assert joined[distances < radius - slack].all()


@given(
    X=tables(n=(1, 60)),
    kernel=KERNEL,
    factor=FACTOR,
    seed=SEED,
    rounds=st.integers(1, 40),
    sampler=st.sampled_from(["auto", "near", "rejection", "recursive"]),
)
def test_sampled_weights_follow_from_the_neighbors(X, kernel, factor, seed, rounds, sampler):
    sigma = bandwidth(X, factor)
    with unchanged(X):
        graph = kdegraph.similarity_graph(
            X, sigma=sigma, kernel=kernel, seed=seed, n_rounds=rounds, sampler=sampler, eps=1e-9
        )
    K = oracle.full_graph(X, kernel, sigma)
    A = graph.adjacency
    assert A.has_canonical_format
    assert (A != A.T).nnz == 0
    reached = K.sum(axis=1) > 1e-300  # below, numbers have few digits
    expected = oracle.sampled_weights(graph.neighbors, K, graph.draws)
    pairs = np.ix_(reached, reached)
    np.testing.assert_allclose(A.toarray()[pairs], expected[pairs], rtol=1e-5, atol=1e-290)
    assert (graph.neighbors[K.sum(axis=1) == 0] == -1).all()
    assert (graph.neighbors[reached] >= 0).all()


def directions(X):
    X = X.astype(np.longdouble)
    X = X / np.abs(X).max(axis=1, keepdims=True)
    return X / np.sqrt((X * X).sum(axis=1, keepdims=True))


def places(X):
    latitude, longitude = np.radians(X.astype(np.longdouble)).T
    across = np.cos(latitude)
    unit = [across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)]
    return 6371.0088 * np.stack(unit, axis=1)


@given(X=tables(d=(1, 5)), kind=st.sampled_from([np.float64, np.float32]), container=st.booleans())
def test_cosine_distances(X, kind, container):
    with np.errstate(over="ignore", under="ignore"):
        X = np.clip(X, -3e38, 3e38).astype(kind) if kind == np.float32 else X
    call = functools.partial(kdegraph.full_graph, sigma=0.7, metric="cosine")
    found = attempt(lambda: call(scipy.sparse.csr_array(X) if container else X), "X")
    if not X.any(axis=1).all():
        assert found is REFUSED
        return
    expected = oracle.full_graph(directions(X), "gaussian", 0.7)
    np.testing.assert_allclose(oracle.dense(found), expected, rtol=1e-11)


LATITUDE = st.one_of(st.floats(-90, 90), st.sampled_from([-90.0, 90.0, 0.0, 90 - 1e-9]))
LONGITUDE = st.one_of(st.floats(-180, 360), st.sampled_from([-180.0, 180.0, 360.0, 180 - 1e-9]))


@given(X=st.lists(st.tuples(LATITUDE, LONGITUDE), min_size=1, max_size=20), sigma=st.floats(1, 9e3))
def test_haversine_distances(X, sigma):
    found = kdegraph.full_graph(X, sigma=sigma, metric="haversine")
    expected = oracle.full_graph(places(np.array(X)), "gaussian", sigma)
    # A degree has ten digits after the point: a micrometer, beside which sigma is a kilometer.
    np.testing.assert_allclose(oracle.dense(found), expected, rtol=1e-8, atol=1e-300)


@given(X=tables(n=(2, 30), d=(13, 16)), format=st.sampled_from(SPARSE), data=st.data())
def test_sparse_points_are_those_of_the_dense_array(X, format, data):
    X = np.where(np.random.default_rng(len(X)).random(X.shape) < 0.3, X, 0.0)
    sparse = scipy.sparse.csr_array(X).asformat(format)
    sigma = bandwidth(X, data.draw(FACTOR))
    kernel = data.draw(st.sampled_from([name for name in KERNELS if name != "laplacian"]))
    with unchanged(sparse):
        found = kdegraph.full_graph(sparse, sigma=sigma, kernel=kernel)
        graph = kdegraph.similarity_graph(sparse, sigma=sigma, kernel=kernel, seed=0)
    expected = oracle.full_graph(X, kernel, sigma)
    np.testing.assert_allclose(oracle.dense(found), expected, rtol=1e-9, atol=1e-300)
    assert np.isfinite(graph.adjacency.data).all()
    assert (graph.adjacency.data > 0).all()
    assert (expected[graph.adjacency.nonzero()] > 0).all()


def with_defaults(function, **defaults):
    def call(X, **options):
        found = function(X, **defaults | options)
        return getattr(found, "adjacency", found)

    return call


def fitted(estimator, method, **defaults):
    defaults = {"random_state": 0} | defaults
    return lambda X, **options: getattr(estimator(**defaults | options), method)(X)


FUNCTIONS = {
    "similarity_graph": with_defaults(kdegraph.similarity_graph, seed=0),
    "full_graph": with_defaults(kdegraph.full_graph, sigma=1.0),
    "knn_graph": with_defaults(kdegraph.knn_graph, n_neighbors=1),
    "kernel_sum": with_defaults(kdegraph.kernel_sum, sigma=1.0),
    "gauss_transform": with_defaults(kdegraph.gauss_transform, sigma=1.0),
    "estimate_sigma": with_defaults(kdegraph.estimate_sigma, seed=0),
    "local_bandwidths": kdegraph.local_bandwidths,
    "KDESpectralClustering": fitted(kdegraph.KDESpectralClustering, "fit_predict", n_rounds=5),
    "SimilarityGraphTransformer": fitted(kdegraph.SimilarityGraphTransformer, "fit_transform"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_value_of_a_parameter_is_used_or_refused(name):
    call = FUNCTIONS[name]
    known = list(inspect.signature(getattr(kdegraph, name)).parameters)
    for other in ("X", "sources", "targets", "progress", "verbose", "store", "n_jobs"):
        if other in known:
            known.remove(other)
    X = np.random.default_rng(0).normal(size=(12, 2))

    @settings(max_examples=max(1, settings.default.max_examples // (10 if name[0] == "K" else 1)))
    @given(options=st.dictionaries(st.sampled_from(known), any_value, min_size=1, max_size=2))
    def check(options):
        found = attempt(lambda: call(X, **options), *known)
        if found is not REFUSED and "weights" not in options:
            assert np.isfinite(oracle.dense(found)).all()

    check()
