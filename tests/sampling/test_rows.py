"""The sampler from full rows: the exact law, the exact degrees, the same streams in any order."""

import numpy as np
import oracle
import pytest
from kdegraph import Kernel
from kdegraph.geometry.tree import build_tree
from kdegraph.sampling import rows
from scipy import stats


@pytest.mark.parametrize("name", ["gaussian", "laplacian", "exponential"])
@pytest.mark.parametrize(("n", "d"), [(40, 2), (700, 3), (500, 9)])
def test_law_and_degrees(name, n, d):
    X = np.random.default_rng(n).normal(size=(n, d))
    tree = build_tree(X)
    neighbors, degrees = rows.draw_neighbors(Kernel(name, 1.5), tree, 4000, 11, 1e-3)
    K = oracle.full_graph(tree.points, name, 1.5)
    np.testing.assert_allclose(degrees, K.sum(axis=1), rtol=1e-12)
    p_values = []
    for i in range(0, n, n // 20):
        assert (neighbors[i] != i).all()
        expected = 4000 * K[i] / K[i].sum()
        counts = np.bincount(neighbors[i], minlength=n)
        large = expected >= 5
        observed = np.append(counts[large], counts[~large].sum())
        law = np.append(expected[large], expected[~large].sum())
        keep = law > 0
        p_values.append(
            stats.chisquare(observed[keep], law[keep] * observed.sum() / law[keep].sum()).pvalue
        )
    assert stats.kstest(p_values, "uniform").pvalue > 1e-3


def test_tiny_values_keep_their_law():
    """All kernel values are near 1e-280: their ratios still decide."""
    X = np.array([[0.0], [25.4], [-25.41]])
    neighbors, degrees = rows.draw_neighbors(
        Kernel("gaussian", 1.0), build_tree(X), 20_000, 3, 1e-3
    )
    tree = build_tree(X)
    i = int(np.flatnonzero(tree.order == 0)[0])
    values = np.exp([-(25.4**2), -(25.41**2)])
    share = np.mean(tree.order[neighbors[i]] == 1)
    expected = 1 / (1 + np.exp(25.4**2 - 25.41**2))
    assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / 20_000)
    np.testing.assert_allclose(degrees[i], values.sum(), rtol=1e-10)


def test_isolated_vertices():
    X = np.array([[0.0], [1.0], [1e6]])
    neighbors, degrees = rows.draw_neighbors(Kernel("gaussian", 1.0), build_tree(X), 5, 0, 1e-3)
    far = int(np.argmax(build_tree(X).points[:, 0]))
    assert (neighbors[far] == -1).all()
    assert degrees[far] == 0
    assert (np.delete(neighbors, far, axis=0) >= 0).all()


def crowds_in_corners(d, rng):
    """Points that are near each other and far from the middle: the inner products of their
    coordinates cancel.
    """
    corners = np.array([np.ones(d), -np.ones(d), rng.choice([-1.0, 1.0], d)])
    return corners[rng.integers(0, 3, 600)] + 10.0 ** rng.uniform(
        -12, -3, size=(600, 1)
    ) * rng.normal(size=(600, d))


def worst_error(degrees, X, kernel, sigma):
    exact = oracle.kernel_matrix(X, X, kernel, sigma)
    np.fill_diagonal(exact, 0)
    exact = exact.sum(axis=1)
    return float(np.abs(degrees / exact - 1).max())


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
@pytest.mark.parametrize("d", [8, 60])
@pytest.mark.parametrize("sigma", [0.1, 1.0, 4e5])
def test_products_are_taken_where_they_are_precise_enough(kernel, d, sigma):
    """Just before and just behind the edge the degrees keep the promise."""
    X = crowds_in_corners(d, np.random.default_rng(d))
    kernel, tree = Kernel(kernel, sigma), build_tree(X)
    at_edge = next(
        eps for eps in np.geomspace(1e-30, 0.9, 5000) if rows.uses_products(kernel, tree, eps)
    )
    for eps, products in ((at_edge, True), (0.9 * at_edge, False), (1e-13, at_edge <= 1e-13)):
        assert rows.uses_products(kernel, tree, eps) == products
        _, degrees = rows.draw_neighbors(kernel, tree, 1, 0, eps)
        assert worst_error(degrees, tree.points, kernel.name, sigma) <= eps + 2e-16 * (d + 8)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
def test_products_are_taken_with_usual_errors(kernel):
    """With the default eps for 15,000 points, in up to 784 dimensions, within 100 sigma of their
    middle.
    """
    for d in (8, 784):
        X = np.zeros((4, d))
        X[:2, 0] = 99.0, -99.0
        assert rows.uses_products(Kernel(kernel, 1.0), build_tree(X), 0.012)
    assert not rows.uses_products(Kernel(kernel, 1e-300), build_tree(X), 0.012)
