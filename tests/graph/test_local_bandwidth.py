"""Bandwidths per point against their definitions, in extended precision, and scikit-learn."""

import math

import numpy as np
import pytest
from kdegraph import (
    SimilarityGraphTransformer,
    full_graph,
    knn_graph,
    local_bandwidths,
    similarity_graph,
)
from kdegraph.local_bandwidth import bandwidths_of_new_points
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from sklearn.manifold._utils import _binary_search_perplexity


def others(X, k):
    """Distances of every point to its k nearest other ones, ascending, in extended precision."""
    X = np.asarray(X, np.longdouble)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.sqrt(np.sort(squared, axis=1)[:, 1 : k + 1])


def entropy(distances, sigma):
    """Entropy of the law of neighbors, in extended precision."""
    t = (distances / np.longdouble(sigma)) ** 2
    weights = np.exp(t.min() - t)
    law = weights / weights.sum()
    return float(-(law[law > 0] * np.log(law[law > 0])).sum())


def assert_perplexity(distances, sigmas, perplexity, within=1e-6):
    for row, sigma in zip(distances, sigmas, strict=True):
        assert abs(entropy(row, sigma) - math.log(perplexity)) <= within


def n_near(n, perplexity):
    return min(n - 1, max(15, math.ceil(3 * perplexity)))


def entropic_sigma(distances, perplexity):
    """The root of the entropy, by another method."""

    def excess(log_sigma):
        return entropy(distances, np.exp(np.longdouble(log_sigma))) - math.log(perplexity)

    near, far = np.log(distances[0]) - 7, np.log(distances[-1]) + 7
    return math.exp(brentq(excess, float(near), float(far), xtol=1e-14))


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("n", "d", "perplexity"),
    [(90, 1, 5), (90, 2, 5), (90, 2, 1.3), (90, 5, 8.5), (60, 20, 5), (40, 200, 15), (30, 2, 28.8)],
)
def test_the_law_of_neighbors_has_the_perplexity(n, d, perplexity):
    X = np.random.default_rng(n + d).standard_normal((n, d))
    sigmas = local_bandwidths(X, perplexity=perplexity)
    assert (sigmas.shape, sigmas.dtype) == ((n,), np.float64)
    distances = others(X, n_near(n, perplexity))
    assert_perplexity(distances, sigmas, perplexity)
    expected = [entropic_sigma(row, perplexity) for row in distances]
    np.testing.assert_allclose(sigmas, expected, rtol=1e-6)


@pytest.mark.parametrize("perplexity", [3, 5, 30])
def test_bandwidths_are_those_of_sklearn_without_its_factor_of_two(perplexity):
    """The rows of scikit-learn's search sum up to one, and have no other weight than ours."""
    X = np.random.default_rng(0).standard_normal((200, 3))
    distances = others(X, n_near(200, perplexity)).astype(float)
    law = np.exp(-((distances / local_bandwidths(X, perplexity=perplexity)[:, None]) ** 2))
    law /= law.sum(axis=1, keepdims=True)
    theirs = _binary_search_perplexity((distances**2).astype(np.float32), perplexity, 0)
    np.testing.assert_allclose(law, theirs, atol=2e-5)


@pytest.mark.parametrize(("n", "perplexity"), [(50, 5), (15, 14 / 3), (7, 2), (4, 1)])
def test_the_default_perplexity_is_five_or_a_third_of_the_others(n, perplexity):
    X = np.random.default_rng(0).standard_normal((n, 2))
    np.testing.assert_array_equal(local_bandwidths(X), local_bandwidths(X, perplexity=perplexity))


@pytest.mark.nojit
@pytest.mark.parametrize("d", [1, 2, 20])
@pytest.mark.parametrize("m", [1, 7])
def test_the_rule_of_neighbors_is_a_distance(d, m):
    X = np.random.default_rng(d).standard_normal((60, d))
    sigmas = local_bandwidths(X, rule="neighbor", n_neighbors=m)
    np.testing.assert_allclose(sigmas, np.sort(cdist(X, X), axis=1)[:, m], rtol=1e-12)
    if m == 7:
        np.testing.assert_array_equal(sigmas, local_bandwidths(X, rule="neighbor"))


def test_more_neighbors_than_points_are_all_of_them():
    X = np.array([[0.0], [1.0], [5.0]])
    np.testing.assert_array_equal(local_bandwidths(X, rule="neighbor"), [5.0, 4.0, 5.0])


@pytest.mark.parametrize("rule", ["perplexity", "neighbor"])
@pytest.mark.parametrize("d", [2, 20])
def test_duplicates_count_as_one_point(rule, d):
    rng = np.random.default_rng(0)
    places = rng.standard_normal((40, d))
    copied = rng.permutation(np.repeat(np.arange(40), rng.integers(1, 40, 40)))
    sigmas = local_bandwidths(places, rule=rule)
    np.testing.assert_array_equal(local_bandwidths(places[copied], rule=rule), sigmas[copied])


def test_a_perplexity_of_more_than_all_other_places_is_almost_that():
    places = np.random.default_rng(0).standard_normal((5, 2))
    sigmas = local_bandwidths(np.repeat(places, 10, axis=0), perplexity=20)
    assert_perplexity(others(places, 4), sigmas[::10], 3.9)


@pytest.mark.nojit
@pytest.mark.parametrize("rule", ["perplexity", "neighbor"])
@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([[3.0, 4.0]], 1.0),
        (np.full((40, 3), 0.5), 1.0),
        (np.eye(2), math.sqrt(2)),  # one neighbor
        (np.eye(20), math.sqrt(2)),  # all neighbors are equally far
    ],
)
def test_bandwidths_where_no_entropy_decides(rule, points, expected, scale):
    points = np.array(points) * scale
    expected *= scale if (points != points[0]).any() else 1.0
    np.testing.assert_allclose(local_bandwidths(points, rule=rule), expected, rtol=1e-12)


@pytest.mark.parametrize("step", [1.0, 0.1, 1e-9])
def test_inside_a_grid_the_bandwidth_is_its_step(step):
    """In three dimensions six neighbors are equally near: no law has the perplexity 5."""
    X = np.stack(np.meshgrid(*[np.arange(9) * step] * 3), axis=-1).reshape(-1, 3)
    middle = (abs(X - 4 * step) < 2.5 * step).all(axis=1)
    for perplexity in (1, 5, 6):
        sigmas = local_bandwidths(X, perplexity=perplexity)
        np.testing.assert_allclose(sigmas[middle], step, rtol=1e-9)
    sigmas = local_bandwidths(X, perplexity=7)
    assert_perplexity(others(X, 21)[middle], sigmas[middle], 7)


def test_rounding_makes_no_difference_to_a_grid():
    X = np.stack(np.meshgrid(*[np.linspace(0, 1, 9)] * 3), axis=-1).reshape(-1, 3)
    rounded = X.astype(np.float32)
    np.testing.assert_allclose(local_bandwidths(rounded), local_bandwidths(X), rtol=1e-3)
    noise = np.random.default_rng(0).uniform(-1, 1, np.shape(np.eye(30))) * 1e-15
    np.testing.assert_allclose(local_bandwidths(np.eye(30) + noise), math.sqrt(2), rtol=1e-12)


@pytest.mark.parametrize("rule", ["perplexity", "neighbor"])
@pytest.mark.parametrize("exponent", [-990, 1000])
@pytest.mark.parametrize("d", [2, 20])
def test_bandwidths_scale_exactly_with_powers_of_two(rule, exponent, d):
    X = np.random.default_rng(0).standard_normal((60, d))
    scaled = local_bandwidths(np.ldexp(X, exponent), rule=rule)
    np.testing.assert_array_equal(scaled, np.ldexp(local_bandwidths(X, rule=rule), exponent))


@pytest.mark.parametrize("rule", ["perplexity", "neighbor"])
@pytest.mark.parametrize(
    "X",
    [
        np.array([[-1.7e308], [1.7e308], [0.0]]),
        np.geomspace(1e-300, 1e300, 80)[:, None],
        np.geomspace(1e-300, 1e300, 80)[:, None] * [1.0, -1.0],
        10.0 ** np.random.default_rng(0).uniform(-20, 20, (80, 3)),
        np.cumsum(5e-324 * np.arange(1, 30))[:, None],
        np.append(np.random.default_rng(0).random((40, 2)), [[1e12, 0.0]], axis=0),
        np.repeat(np.append(0.0, np.geomspace(1e-12, 1e12, 25)), 3)[:, None],
    ],
    ids=["largest", "all scales", "on a line", "heavy tails", "smallest", "outlier", "crowds"],
)
def test_bandwidths_are_positive_and_finite(rule, X):
    for perplexity in (None, 1, 1.01, 2, len(X) - 1.5):
        sigmas = local_bandwidths(X, rule=rule, perplexity=perplexity)
        assert np.isfinite(sigmas).all()
        assert (sigmas >= np.finfo(float).tiny).all()


@pytest.mark.parametrize("far", [1e3, 1e6, 1e8])
def test_bandwidths_of_outliers_solve_the_rule_too(far):
    """From far away, distances differ little; their difference decides."""
    cluster = np.round(np.random.default_rng(0).random((50, 2)) * 2**12) / 2**12
    X = np.concatenate([cluster, [[far, 0.0]]])
    sigma = local_bandwidths(X)[-1]
    assert_perplexity(others(X, 15)[-1:], [sigma], 5, within=1e-5)
    assert sigma < 0.2 * far


# ---------------------------------------------------------------- moderate


@pytest.fixture(scope="module")
def uneven():
    """Points that lie tight on the left and wide on the right."""
    return np.exp(np.random.default_rng(0).normal(size=(400, 2)))


@pytest.mark.parametrize("perplexity", [None, 12.0])
@pytest.mark.parametrize("d", [1, 2])
def test_between_the_local_bandwidth_and_the_geometric_mean_of_all(uneven, d, perplexity):
    X = uneven[:, :d]
    local = local_bandwidths(X, perplexity=perplexity)
    middle = np.exp(np.log(local).mean())
    expected = np.maximum(middle * (local / middle) ** (d / (d + 1)), 0.75 * local)
    found = local_bandwidths(X, rule="moderate", perplexity=perplexity)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert 0.01 < np.mean(found == 0.75 * local) < 0.5


def test_moderate_bandwidths_are_local_above_twelve_dimensions():
    X = np.random.default_rng(0).normal(size=(300, 13))
    np.testing.assert_array_equal(local_bandwidths(X, rule="moderate"), local_bandwidths(X))
    Y = X[:, :12]
    assert np.all(local_bandwidths(Y, rule="moderate") != local_bandwidths(Y))
    new = bandwidths_of_new_points(X[:200], X[200:], rule="moderate")
    np.testing.assert_array_equal(new, bandwidths_of_new_points(X[:200], X[200:]))


def test_moderate_bandwidths_of_points_that_coincide(uneven):
    np.testing.assert_array_equal(local_bandwidths(np.zeros((5, 2)), rule="moderate"), np.ones(5))
    found = local_bandwidths(np.vstack([uneven, uneven]), rule="moderate")
    expected = np.tile(local_bandwidths(uneven, rule="moderate"), 2)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_word_is_the_rule(uneven):
    for word, rule in (("local", "perplexity"), ("moderate", "moderate")):
        sigma = local_bandwidths(uneven, rule=rule, perplexity=7.0)
        graph = similarity_graph(uneven, sigma=word, perplexity=7.0, seed=0)
        np.testing.assert_array_equal(graph.sigma, sigma)
        assert (graph.adjacency != similarity_graph(uneven, sigma=sigma, seed=0).adjacency).nnz == 0
        full = full_graph(uneven, sigma=word, perplexity=7.0)
        np.testing.assert_array_equal(full, full_graph(uneven, sigma=sigma))
        sigma = local_bandwidths(uneven, rule=rule)
        found, expected = (knn_graph(uneven, 5, mode="kernel", sigma=s) for s in (word, sigma))
        assert (found != expected).nnz == 0
        with pytest.raises(ValueError, match="needs kernel sums with one bandwidth"):
            similarity_graph(uneven, sigma=word, sampler="recursive")


def test_new_points_are_measured_by_the_fitted_ones(uneven):
    """The row of a new point has its kernel values, with its own moderate bandwidth."""
    X, new = uneven[:60], uneven[60:61]
    local = np.append(local_bandwidths(X), local_bandwidths(uneven[:61])[60])
    middle = np.exp(np.log(local[:-1]).mean())
    own = max(middle * (local[-1] / middle) ** (2 / 3), 0.75 * local[-1])
    assert bandwidths_of_new_points(X, new, rule="moderate")[0] == pytest.approx(own, rel=1e-9)
    expected = np.exp(-((X - new) ** 2).sum(axis=1) / own / local_bandwidths(X, rule="moderate"))
    options = {"sigma": "moderate", "n_rounds": 5000, "eps": 1e-9, "random_state": 0}
    model = SimilarityGraphTransformer(**options).fit(X)
    row = model.transform(new).toarray()[0]
    np.testing.assert_allclose(row, expected, atol=2 * expected.sum() / 5000)


@pytest.mark.parametrize(("rule", "ratio"), [("moderate", 4.0), ("perplexity", 2.0)])
def test_a_cut_costs_the_density_along_it(rule, ratio):
    """The upper half of a square has four times the density of the lower one; the kernel is summed
    over upright lines through it, on the mean over all of them, in the middle of either half.
    """
    X = np.random.default_rng(0).random((3_000, 2))
    X[:, 1] = np.where(np.arange(3_000) < 600, X[:, 1] / 2, 0.5 + X[:, 1] / 2)
    sigma = local_bandwidths(X, rule=rule)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    lines = np.abs(X[:, None, 0] - X[None, :, 0])  # those between two points, as a share of all
    cut = (np.exp(-squares / (sigma[:, None] * sigma[None])) * lines).sum(axis=1)
    low, high = ((X[:, 1] > least) & (X[:, 1] < least + 0.4) for least in (0.05, 0.55))
    assert cut[high].sum() / cut[low].sum() == pytest.approx(ratio, rel=0.1)
