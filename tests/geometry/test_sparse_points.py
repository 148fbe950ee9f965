"""Nearest neighbors, distances and kernel values of sparse points, against all pairs."""

import kdegraph
import numpy as np
import oracle
import pytest
import scipy.sparse
from kdegraph.geometry import sparse_points
from kdegraph.geometry.neighbor_forest import near_neighbors
from kdegraph.geometry.neighbors import duplicate_groups, groups_of_identical, nearest
from kdegraph.geometry.sparse_points import KernelRows, nearest_rows, pair_distances
from kdegraph.scaled_kernel import kernel_row, pair_kernel
from kdegraph.validation import check_points
from promises import check_fractions, check_threads
from scipy.spatial.distance import cdist


def sparse(n=300, d=40, seed=0, density=0.2):
    """Sparse points, some of which are equal or empty, and the same ones dense."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    dense[5:9] = dense[4]
    dense[20] = dense[30] = 0.0
    return check_points(scipy.sparse.csr_array(dense), keep_sparse=True), dense


@pytest.fixture(params=[37, 8192])
def tile(request, monkeypatch):
    """Tiles of which there are several, the last one not full, and one for all points."""
    monkeypatch.setattr(sparse_points, "TILE", request.param)


@pytest.mark.usefixtures("tile")
def test_neighbors_are_the_nearest_of_all():
    X, dense = sparse()
    queries, dense_queries = sparse(50, seed=1)
    distances, indices = nearest_rows(X, 12, queries)
    expected = np.sort(cdist(dense_queries, dense), axis=1)[:, :12]
    np.testing.assert_allclose(distances, expected, rtol=1e-9, atol=1e-12)
    of_indices = np.linalg.norm(dense_queries[:, None] - dense[indices], axis=2)
    np.testing.assert_allclose(of_indices, expected, rtol=1e-9, atol=1e-12)

    lists = near_neighbors(X, 60)
    others = cdist(dense, dense)
    np.fill_diagonal(others, np.inf)
    np.testing.assert_allclose(lists.distances, np.sort(others, axis=1)[:, :60], rtol=1e-9)
    assert (lists.distances[4:9, :4] == 0).all()
    assert (np.diff(np.sort(lists.indices, axis=1), axis=1) > 0).all()
    assert (lists.indices != np.arange(len(X))[:, None]).all()

    some = np.array([250, 4, 30])
    distances, indices = nearest(X, some, 5)
    assert indices[:, 0].tolist() == some.tolist()
    np.testing.assert_allclose(distances[:, 1:], np.sort(others[some], axis=1)[:, :4], rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-310, 1e-200, 1.0, 1e200, 1e307])
def test_distances_of_any_scale(unit):
    X, dense = sparse()
    with np.errstate(over="ignore", under="ignore"):
        X.data *= unit
    expected = np.sort(cdist(dense, dense), axis=1)[:, 1:11]
    rtol = 1e-9 if unit > 1e-300 else 1e-2  # subnormal numbers have few digits
    distances, _ = nearest_rows(X, 10)
    np.testing.assert_allclose(distances / unit, expected, rtol=rtol, atol=1e-9)
    pairs = np.arange(1, 300), np.arange(299)
    lengths = pair_distances(X, pairs[0], X, pairs[1]) / unit
    exact = np.linalg.norm(dense[1:] - dense[:-1], axis=1)
    np.testing.assert_allclose(lengths, exact, rtol=rtol, atol=1e-9)


def test_neighbors_in_a_tight_cluster_far_from_the_origin():
    """There the sum of squares and products has lost all its digits."""
    _, dense_gaps = sparse()
    dense = 1e6 + 1e-3 * dense_gaps
    X = check_points(scipy.sparse.csr_array(dense), keep_sparse=True)
    expected = np.sort(cdist(dense_gaps, dense_gaps), axis=1)[:, 1:11]
    np.testing.assert_allclose(nearest_rows(X, 10)[0] / 1e-3, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("tile")
@pytest.mark.parametrize("bandwidth", ["one", "each"])
@pytest.mark.parametrize("name", [name for name in oracle.KERNELS if name != "laplacian"])
def test_kernel_values(name, bandwidth):
    X, dense = sparse()
    n = len(X)
    sigma = 2.0 if bandwidth == "one" else np.random.default_rng(2).uniform(0.1, 3.0, n)
    kernel = pair_kernel(name, sigma)
    some, values = slice(40, 90), np.empty((50, n))
    KernelRows(kernel, X).fill(X[some], kernel.local.at(some), values)
    expected = [kernel_row(name, sigma, dense, i) for i in range(40, 90)]
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-300)


def test_equal_points_whose_squares_overflow_have_the_value_one():
    X = scipy.sparse.csr_array(np.eye(13)[[3, 3, 5]])
    for sigma in (1e-150, 1e-200, 1e-300):
        np.testing.assert_array_equal(
            oracle.dense(kdegraph.full_graph(X, sigma=sigma))[0], [0, 1, 0]
        )


def test_equal_points_are_found():
    X, dense = sparse()
    order, starts = duplicate_groups(X)
    assert len(starts) == len(np.unique(dense, axis=0))
    group = groups_of_identical(X)
    same = (dense[:, None] == dense).all(axis=2)
    np.testing.assert_array_equal(group[:, None] == group, same)
    assert groups_of_identical(X[order[starts]]) is None


def test_the_number_of_threads_does_not_matter_and_progress_is_reported():
    X, _ = sparse(2000)
    fractions = []
    check_threads(lambda: nearest_rows(X, 20, progress=fractions.append), (1, 2))
    check_fractions(fractions[: len(fractions) // 2])
