"""Moderate bandwidths: their formula, the law they are made for, and what takes them by name."""

import numpy as np
import pytest
from kdegraph import (
    SimilarityGraphTransformer,
    full_graph,
    knn_graph,
    local_bandwidths,
    moderate_bandwidths,
    similarity_graph,
)
from kdegraph.local_bandwidth import bandwidths_of_new_points
from kdegraph.moderate_bandwidth import moderate, moderate_bandwidths_of_new_points


@pytest.fixture(scope="module")
def uneven():
    """Points that lie tight on the left and wide on the right."""
    rng = np.random.default_rng(0)
    return np.exp(rng.normal(size=(400, 2)))


@pytest.mark.parametrize("perplexity", [None, 12.0])
@pytest.mark.parametrize("d", [1, 2])
def test_between_the_local_bandwidth_and_the_geometric_mean_of_all(uneven, d, perplexity):
    X = uneven[:, :d]
    local = local_bandwidths(X, perplexity=perplexity)
    middle = np.exp(np.log(local).mean())
    expected = np.maximum(middle * (local / middle) ** (d / (d + 1)), 0.75 * local)
    found = moderate_bandwidths(X, perplexity=perplexity)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert 0.01 < np.mean(found == 0.75 * local) < 0.5


def test_local_above_twelve_dimensions():
    X = np.random.default_rng(0).normal(size=(300, 13))
    np.testing.assert_array_equal(moderate_bandwidths(X), local_bandwidths(X))
    assert np.all(moderate_bandwidths(X[:, :12]) != local_bandwidths(X[:, :12]))
    new = moderate_bandwidths_of_new_points(X[:200], X[200:])
    np.testing.assert_array_equal(new, bandwidths_of_new_points(X[:200], X[200:]))


@pytest.mark.parametrize("scale", [np.finfo(float).tiny, 1.0, np.finfo(float).max])
@pytest.mark.parametrize("d", [1, 2, 12])
def test_numbers_at_the_limits(scale, d):
    local = np.full(5, scale)
    np.testing.assert_allclose(moderate(local, local, d), local, rtol=1e-12)


def test_one_place_and_points_that_coincide(uneven):
    np.testing.assert_array_equal(moderate_bandwidths([[3.0, 4.0]]), [1.0])
    np.testing.assert_array_equal(moderate_bandwidths(np.zeros((5, 2))), np.ones(5))
    found = moderate_bandwidths(np.vstack([uneven, uneven]))
    np.testing.assert_allclose(found, np.tile(moderate_bandwidths(uneven), 2), rtol=1e-12)


@pytest.mark.parametrize(
    ("X", "perplexity", "message"),
    [
        ([[0.0, np.nan]], None, "NaN"),
        ([], None, "points|empty|shape"),
        (np.zeros((5, 2)), 5, "perplexity is an effective number"),
    ],
)
def test_what_cannot_be_is_refused(X, perplexity, message):
    with pytest.raises(ValueError, match=message):
        moderate_bandwidths(X, perplexity=perplexity)


def test_the_word_is_what_the_function_returns(uneven):
    sigma = moderate_bandwidths(uneven, perplexity=7.0)

    word, array = (
        similarity_graph(uneven, **options, seed=0)
        for options in ({"sigma": "moderate", "perplexity": 7.0}, {"sigma": sigma})
    )
    np.testing.assert_array_equal(word.sigma, sigma)
    assert (word.adjacency != array.adjacency).nnz == 0
    full = full_graph(uneven, sigma="moderate", perplexity=7.0)
    np.testing.assert_array_equal(full, full_graph(uneven, sigma=sigma))
    word, array = (
        knn_graph(uneven, 5, mode="kernel", sigma=sigma)
        for sigma in ("moderate", moderate_bandwidths(uneven))
    )
    assert (word != array).nnz == 0


def test_new_points_are_measured_by_the_fitted_ones(uneven):
    """The expected row of a new point is its kernel values, with its own moderate bandwidth."""
    X, new = uneven[:60], uneven[60:61]
    local = np.append(local_bandwidths(X), local_bandwidths(uneven[:61])[60])
    middle = np.exp(np.log(local[:-1]).mean())
    own = max(middle * (local[-1] / middle) ** (2 / 3), 0.75 * local[-1])
    assert moderate_bandwidths_of_new_points(X, new)[0] == pytest.approx(own, rel=1e-9)
    pairs = own * moderate_bandwidths(X)
    expected = np.exp(-((X - new) ** 2).sum(axis=1) / pairs)
    options = {"sigma": "moderate", "n_rounds": 30}
    rows = [
        SimilarityGraphTransformer(**options, random_state=seed).fit(X).transform(new).toarray()[0]
        for seed in range(100)
    ]
    np.testing.assert_allclose(np.mean(rows, axis=0), expected, atol=0.06)


def test_what_needs_one_bandwidth_refuses_them(uneven):
    with pytest.raises(ValueError, match="needs kernel sums with one bandwidth"):
        similarity_graph(uneven, sigma="moderate", sampler="recursive")


def ratio_of_cuts(X, sigma):
    """How much more the kernel across upright lines through the unit square is, on the mean over
    all of them, in the upper half than in the lower one.
    """
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    lines = np.abs(X[:, None, 0] - X[None, :, 0])  # those between two points, as a share of all
    cut = (np.exp(-squares / (sigma[:, None] * sigma[None])) * lines).sum(axis=1)
    low, high = ((X[:, 1] > least) & (X[:, 1] < least + 0.4) for least in (0.05, 0.55))
    return cut[high].sum() / cut[low].sum()


def test_a_cut_costs_the_density_along_it():
    """The upper half of a square has four times the density of the lower one."""
    X = np.random.default_rng(0).random((3_000, 2))
    X[:, 1] = np.where(np.arange(3_000) < 600, X[:, 1] / 2, 0.5 + X[:, 1] / 2)
    assert ratio_of_cuts(X, moderate_bandwidths(X)) == pytest.approx(4.0, rel=0.1)
    assert ratio_of_cuts(X, local_bandwidths(X)) == pytest.approx(2.0, rel=0.1)
