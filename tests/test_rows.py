"""The sampler from full rows: the exact law, the exact degrees, the same streams in any order."""

import numpy as np
import oracle
import pytest
from kdegraph import Kernel
from kdegraph.sampling import rows
from kdegraph.tree import build_tree
from scipy import stats


@pytest.mark.parametrize("name", ["gaussian", "laplacian", "exponential"])
@pytest.mark.parametrize(("n", "d"), [(40, 2), (700, 3)])
def test_law_and_degrees(name, n, d):
    X = np.random.default_rng(n).normal(size=(n, d))
    tree = build_tree(X)
    neighbors, degrees = rows.draw_neighbors(Kernel(name, 1.5), tree, 4000, 11)
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
        p_values.append(stats.chisquare(observed[keep], law[keep] * observed.sum() / law[keep].sum()).pvalue)
    assert stats.kstest(p_values, "uniform").pvalue > 1e-3


def test_tiny_values_keep_their_law():
    """All kernel values are near 1e-280: their ratios still decide."""
    X = np.array([[0.0], [25.4], [-25.41]])
    neighbors, degrees = rows.draw_neighbors(Kernel("gaussian", 1.0), build_tree(X), 20_000, 3)
    tree = build_tree(X)
    i = int(np.flatnonzero(tree.order == 0)[0])
    values = np.exp([-(25.4**2), -(25.41**2)])
    share = np.mean(tree.order[neighbors[i]] == 1)
    expected = 1 / (1 + np.exp(25.4**2 - 25.41**2))
    assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / 20_000)
    np.testing.assert_allclose(degrees[i], values.sum(), rtol=1e-10)


def test_isolated_vertices():
    X = np.array([[0.0], [1.0], [1e6]])
    neighbors, degrees = rows.draw_neighbors(Kernel("gaussian", 1.0), build_tree(X), 5, 0)
    far = int(np.argmax(build_tree(X).points[:, 0]))
    assert (neighbors[far] == -1).all()
    assert degrees[far] == 0
    assert (np.delete(neighbors, far, axis=0) >= 0).all()
