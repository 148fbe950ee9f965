"""The search for nearest neighbors against all distances, in extended precision."""

import math

import numpy as np
import pytest
from kdegraph.costs import NEIGHBOR_COSTS
from kdegraph.geometry import neighbors
from kdegraph.geometry.lanes import LANES, squared_gaps
from kdegraph.geometry.neighbors import nearest, nearest_in_tree
from kdegraph.geometry.tree import build_tree
from kdegraph.runtime.jit import jit
from promises import check_threads
from scipy.spatial import cKDTree

RNG = np.random.default_rng(0)


CASES = {
    "one": np.zeros((1, 3)),
    "two": np.array([[1.0], [0.0]]),
    "less than a leaf": RNG.normal(size=(7, 2)),
    "line": RNG.normal(size=(150, 1)),
    "plane": RNG.normal(size=(190, 2)),
    "space": RNG.random((133, 3)),
    "many dimensions": RNG.normal(size=(120, 9)),
    "wide": RNG.normal(size=(20, NEIGHBOR_COSTS.max_tree_dimension)),
    "duplicates": np.repeat(RNG.normal(size=(9, 2)), 15, axis=0),
    "one place": np.full((70, 2), 7.5),
    "few values": RNG.integers(0, 3, size=(150, 2)).astype(float),
    "lattice": np.indices((5, 5, 5)).reshape(3, -1).T.astype(float),
    "constant column": np.column_stack([np.full(100, 3.0), RNG.normal(size=100)]),
    "outliers": np.concatenate([RNG.random((90, 2)), 10.0 ** RNG.uniform(3, 12, (9, 2))]),
    "heavy tails": RNG.standard_cauchy((160, 2)),
    "far from zero": np.round(RNG.random((110, 2)) * 2**10) / 2**10 + 1e9,
    "huge": RNG.normal(size=(100, 2)) * 1e300,
    "largest": np.array([[1.7e308, 0.0], [-1.7e308, 1e300], [0.0, 2e305], [1e306, 3e307]] * 6),
    "tiny": RNG.normal(size=(100, 3)) * 1e-300,
}


def check(X, distances, indices, k):
    """Distances are the k smallest ones, and those to the points that the indices name."""
    wide = X.astype(np.longdouble)
    every = np.sqrt(((wide[:, None] - wide[None]) ** 2).sum(axis=2))
    every = np.minimum(every, np.longdouble(np.finfo(float).max))
    assert distances.shape == indices.shape == (len(X), k)
    assert indices.dtype == np.intp
    np.testing.assert_allclose(distances, np.sort(every, axis=1)[:, :k].astype(float), rtol=1e-14)
    assert (np.diff(distances, axis=1) >= 0).all()
    named = np.take_along_axis(every, indices, axis=1).astype(float)
    np.testing.assert_allclose(distances, named, rtol=1e-14)
    for row in indices:
        assert len(set(row)) == k


def nearest_of_all(X, k):
    """The nearest points of all points, which are found in a tree."""
    return nearest(X, np.arange(len(X)), k)


@pytest.mark.nojit
@pytest.mark.parametrize("X", CASES.values(), ids=CASES)
def test_the_nearest_points_of_all(X):
    for k in (1, min(9, len(X))):
        check(X, *nearest_of_all(X, k), k)


@pytest.mark.parametrize("X", CASES.values(), ids=CASES)
def test_many_neighbors(X):
    for k in (math.ceil(0.1 * len(X)), len(X)):
        check(X, *nearest_of_all(X, k), k)


@pytest.mark.parametrize("leaf_size", [1, 3, 8, 20, 1000])
def test_leaves_of_any_size(leaf_size):
    X = CASES["plane"]
    check(X, *nearest_in_tree(build_tree(X, leaf_size), 11), 11)


@pytest.mark.parametrize("d", [1, 2, 5, 9])
def test_many_points(d):
    """The distances are those of SciPy's tree."""
    X = np.random.default_rng(d).normal(size=(8000, d)) ** 3
    X[:3000] = X[0] + 1e-6 * X[:3000]
    X[3000:3100] = X[3000]
    for k in (1, 12):
        distances, indices = nearest_in_tree(build_tree(X), k)
        theirs, _ = neighbors.query_tree(cKDTree(X), X, k)
        np.testing.assert_allclose(distances, theirs, rtol=1e-14)
        differences = X[:, None] - X[indices]
        np.testing.assert_allclose(distances, np.linalg.norm(differences, axis=2), rtol=1e-14)


def test_neighbors_do_not_depend_on_the_number_of_threads():
    X = np.random.default_rng(0).integers(0, 60, (20_000, 2)).astype(float)  # many ties
    check_threads(lambda: nearest_in_tree(build_tree(X), 10))


def test_distances_scale_exactly_with_powers_of_two():
    X = CASES["space"]
    distances, indices = nearest_of_all(X, 10)
    for exponent in (-1000, -300, 300, 990):
        scaled = nearest_of_all(np.ldexp(X, exponent), 10)
        np.testing.assert_array_equal(scaled[0], np.ldexp(distances, exponent))
        np.testing.assert_array_equal(scaled[1], indices)


@pytest.mark.parametrize("share", [0.1, 0.7, 1.0])
@pytest.mark.parametrize("d", [2, NEIGHBOR_COSTS.max_tree_dimension, 20])
def test_queries_in_any_order(share, d):
    X = np.random.default_rng(d).random((300, d))
    queries = np.random.default_rng(0).permutation(300)[: int(share * 300)]
    every = np.linalg.norm(X[queries, None] - X[None], axis=2)
    distances, indices = nearest(X, queries, 6)
    np.testing.assert_allclose(distances, np.sort(every, axis=1)[:, :6], atol=1e-7)
    np.testing.assert_array_equal(indices, np.argsort(every, axis=1)[:, :6])
    np.testing.assert_array_equal(indices[:, 0], queries)


@jit
def use_squared_gaps(points, low, high, bounds, out):
    return squared_gaps(points, low, high, bounds, out)


@pytest.mark.nojit
@pytest.mark.parametrize("d", [1, 2, 7])
def test_squared_gaps(d):
    rng = np.random.default_rng(d)
    points, low, out = rng.normal(size=(d, LANES)), rng.normal(size=d), np.empty(LANES)
    for high in (low, low + rng.random(d)):
        gaps = np.clip(points, low[:, None], high[:, None]) - points
        expected = (gaps**2).sum(axis=0)
        for bounds in (np.full(LANES, -1.0), np.full(LANES, np.inf), rng.random(LANES) * d):
            bits = use_squared_gaps(points, low, high, bounds, out)
            np.testing.assert_allclose(out, expected, rtol=1e-14)
            assert [bits >> lane & 1 for lane in range(LANES)] == list(out < bounds)
