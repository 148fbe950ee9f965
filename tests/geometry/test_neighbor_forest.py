"""Near neighbors in many dimensions, against all distances."""

import numpy as np
import pytest
from kdegraph.geometry.neighbor_forest import (
    LIST_LENGTH,
    keeping_lists,
    near_neighbors,
)
from promises import check_threads
from scipy.spatial.distance import cdist


def surface(n, d, seed=0):
    """Points near three surfaces of 6 dimensions."""
    rng = np.random.default_rng(seed)
    maps, middles = rng.normal(size=(3, 6, d)) / 3, rng.normal(size=(3, d))
    group = rng.integers(0, 3, n)
    flat = np.einsum("nq,nqd->nd", rng.normal(size=(n, 6)), maps[group])
    return np.tanh(flat) + middles[group] + 0.02 * rng.normal(size=(n, d))


def nearest_of_all(X, k):
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    indices = np.argsort(distances, axis=1)[:, :k]
    return np.take_along_axis(distances, indices, axis=1), indices


def recall(indices, expected):
    found = (indices[:, :, None] == expected[:, None, :]).any(axis=1)
    return found.mean()


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_nearly_all_of_the_nearest_are_found(kind):
    X = surface(2600, 60).astype(kind)
    lists = near_neighbors(X)
    assert lists.indices.shape == (2600, LIST_LENGTH)
    assert recall(lists.indices, nearest_of_all(X, LIST_LENGTH)[1]) > 0.98
    assert recall(lists.indices[:, :10], nearest_of_all(X, 10)[1]) > 0.995


def test_lists_are_ascending_and_name_each_other_point_once():
    X = surface(3000, 30)
    lists = near_neighbors(X, 70)
    own = np.arange(len(X))[:, None]
    exact = np.linalg.norm(X[own] - X[lists.indices], axis=2)
    np.testing.assert_allclose(lists.distances, exact, rtol=1e-12)
    assert (np.diff(lists.distances, axis=1) >= 0).all()
    assert (lists.indices != own).all()
    assert (np.diff(np.sort(lists.indices, axis=1), axis=1) > 0).all()
    np.testing.assert_array_equal(np.sort(lists.order), np.arange(len(X)))


def test_all_others_of_few_points():
    for n in (2, 3, LIST_LENGTH + 1):
        X = surface(n, 25)
        lists = near_neighbors(X)
        expected, indices = nearest_of_all(X, n - 1)
        np.testing.assert_allclose(lists.distances, expected, rtol=1e-12)
        np.testing.assert_array_equal(lists.indices, indices)
    assert near_neighbors(surface(1, 25)).indices.shape == (1, 0)


def test_the_number_of_threads_does_not_matter():
    X = surface(3000, 40)
    check_threads(lambda: tuple(near_neighbors(X)), (1, 2))


@pytest.mark.parametrize(
    ("kind", "scale"), [(np.float64, 1e-200), (np.float64, 1e200), (np.float32, 1e30)]
)
def test_any_scale(kind, scale):
    X = (surface(2500, 30).astype(kind) * kind(scale)).astype(kind)
    lists = near_neighbors(X)
    exact, expected = nearest_of_all(X.astype(np.float64) / scale, 10)
    assert recall(lists.indices[:, :10], expected) > 0.99
    np.testing.assert_allclose(np.median(lists.distances[:, :10] / scale / exact), 1, rtol=1e-6)


def test_far_from_the_origin():
    X = surface(2500, 30) + 1e7
    _, expected = nearest_of_all(X, 10)
    assert recall(near_neighbors(X).indices[:, :10], expected) > 0.99


def test_points_that_coincide():
    X = surface(2500, 30)
    X[100:300] = X[7]
    lists = near_neighbors(X)
    assert (lists.distances[100:300] == 0).all()
    assert (lists.indices[100:300] != np.arange(100, 300)[:, None]).all()
    assert (near_neighbors(np.ones((2500, 30))).distances == 0).all()


def test_lists_are_kept_for_an_array_within_a_context_only():
    X = np.random.default_rng(0).normal(size=(300, 24))
    with keeping_lists(X):
        first = near_neighbors(X)
        assert near_neighbors(X, 10) is first  # as many are looked for
        with keeping_lists(X, X[:200]):
            assert near_neighbors(X) is first
        assert near_neighbors(X) is first
        longer = near_neighbors(X, 80)
        assert longer.indices.shape == (300, 80)
        assert near_neighbors(X, 80) is longer
        assert near_neighbors(X.copy()) is not first
    again = near_neighbors(X)
    assert again is not first
    np.testing.assert_array_equal(again.indices, first.indices)
    np.testing.assert_array_equal(again.distances, first.distances)
