"""Local bandwidths against their definitions, in extended precision, and against scikit-learn."""

import math

import numpy as np
import pytest
from kdegraph import local_bandwidths
from promises import check_threads
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from sklearn.manifold._utils import _binary_search_perplexity

LARGEST = np.finfo(float).max


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
    assert sigmas.shape == (n,)
    assert sigmas.dtype == np.float64
    distances = others(X, n_near(n, perplexity))
    for row, sigma in zip(distances, sigmas, strict=True):
        assert abs(entropy(row, sigma) - math.log(perplexity)) <= 1e-6
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


def test_the_default_perplexity_is_five():
    X = np.random.default_rng(0).standard_normal((50, 2))
    np.testing.assert_array_equal(local_bandwidths(X), local_bandwidths(X, perplexity=5))


@pytest.mark.nojit
@pytest.mark.parametrize("n", [4, 7, 15])
def test_the_default_for_few_points_is_a_third_of_the_others(n):
    X = np.random.default_rng(0).standard_normal((n, 2))
    perplexity = max((n - 1) / 3, 1)
    sigmas = local_bandwidths(X)
    np.testing.assert_array_equal(sigmas, local_bandwidths(X, perplexity=perplexity))
    if n > 4:  # with perplexity 1, the nearest neighbor alone has all the weight
        for row, sigma in zip(others(X, n - 1), sigmas, strict=True):
            assert abs(entropy(row, sigma) - math.log(perplexity)) <= 1e-6


@pytest.mark.nojit
def test_the_rule_of_neighbors_is_a_distance():
    for d in (1, 2, 20):
        X = np.random.default_rng(d).standard_normal((60, d))
        distances = np.sort(cdist(X, X), axis=1)
        for m in (1, 7):
            sigmas = local_bandwidths(X, rule="neighbor", n_neighbors=m)
            np.testing.assert_allclose(sigmas, distances[:, m], rtol=1e-12)
        np.testing.assert_array_equal(sigmas, local_bandwidths(X, rule="neighbor"))


def test_more_neighbors_than_points_are_all_of_them():
    X = np.array([[0.0], [1.0], [5.0]])
    np.testing.assert_array_equal(local_bandwidths(X, rule="neighbor"), [5.0, 4.0, 5.0])


@pytest.mark.nojit
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
    for row, sigma in zip(others(places, 4), sigmas[::10], strict=True):
        assert entropy(row, sigma) == pytest.approx(math.log(3.9), abs=1e-6)


@pytest.mark.nojit
@pytest.mark.parametrize("rule", ["perplexity", "neighbor"])
def test_bandwidths_where_no_entropy_decides(rule):
    for scale in (1e-300, 1.0, 1e300):
        for n in (1, 40):
            places = np.full((n, 3), 0.5 * scale)
            np.testing.assert_array_equal(local_bandwidths(places, rule=rule), np.ones(n))
        for n in (2, 20):  # all neighbors are equally far
            sigmas = local_bandwidths(scale * np.eye(n), rule=rule)
            np.testing.assert_allclose(sigmas, scale * math.sqrt(2), rtol=1e-12)


@pytest.mark.parametrize("step", [1.0, 0.1, 1e-9])
def test_inside_a_grid_the_bandwidth_is_its_step(step):
    """In three dimensions six neighbors are equally near: no law has the perplexity 5."""
    X = np.stack(np.meshgrid(*[np.arange(9) * step] * 3), axis=-1).reshape(-1, 3)
    middle = (abs(X - 4 * step) < 2.5 * step).all(axis=1)
    for perplexity in (1, 5, 6):
        sigmas = local_bandwidths(X, perplexity=perplexity)
        np.testing.assert_allclose(sigmas[middle], step, rtol=1e-9)
    sigmas = local_bandwidths(X, perplexity=7)
    for row, sigma in zip(others(X, 21)[middle], sigmas[middle], strict=True):
        assert abs(entropy(row, sigma) - math.log(7)) <= 1e-6


def test_rounding_makes_no_difference_to_a_grid():
    X = np.stack(np.meshgrid(*[np.linspace(0, 1, 9)] * 3), axis=-1).reshape(-1, 3)
    rounded = X.astype(np.float32)
    np.testing.assert_allclose(local_bandwidths(rounded), local_bandwidths(X), rtol=1e-3)
    noise = np.random.default_rng(0).uniform(-1, 1, np.shape(np.eye(30))) * 1e-15
    np.testing.assert_allclose(local_bandwidths(np.eye(30) + noise), math.sqrt(2), rtol=1e-12)


@pytest.mark.nojit
@pytest.mark.parametrize("rule", ["perplexity", "neighbor"])
def test_bandwidths_scale_exactly_with_powers_of_two(rule):
    for d in (2, 20):
        X = np.random.default_rng(0).standard_normal((60, d))
        expected = local_bandwidths(X, rule=rule)
        for exponent in (-990, 3, 1000):
            scaled = local_bandwidths(np.ldexp(X, exponent), rule=rule)
            np.testing.assert_array_equal(scaled, np.ldexp(expected, exponent))


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
    assert abs(entropy(others(X, 15)[-1], sigma) - math.log(5)) <= 1e-5
    assert sigma < 0.2 * far


def test_a_tight_cluster_beside_a_wide_one_gets_small_bandwidths():
    cluster = np.random.default_rng(0).standard_normal((40, 2))
    sigmas = local_bandwidths(np.concatenate([cluster, 2.0**30 + 2.0**20 * cluster]))
    np.testing.assert_allclose(sigmas[40:], 2.0**20 * sigmas[:40], rtol=1e-8)


def test_bandwidths_do_not_depend_on_the_number_of_threads():
    X = np.random.default_rng(0).random((30_000, 2))
    check_threads(lambda: local_bandwidths(X))


@pytest.mark.nojit
def test_bad_arguments_are_named():
    for name, values, error in (
        ("perplexity", (20, 1e9, 0.99, math.nan, math.inf, -5), ValueError),
        ("perplexity", ("5", True, [5.0]), TypeError),
        ("rule", ("entropy",), ValueError),
        ("rule", (1,), TypeError),
        ("n_neighbors", (0,), ValueError),
        ("n_neighbors", ("7",), TypeError),
    ):
        for value in values:
            with pytest.raises(error, match=name) as refusal:
                local_bandwidths(np.eye(20), **{name: value})
            assert str(value) in str(refusal.value).replace("e+09", "000000000.0")
