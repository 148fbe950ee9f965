"""The kd-tree: permutation, tight boxes, balanced halves, all leaves on one level."""

import numpy as np
import oracle
import pytest
from kdegraph.geometry.boxes import box_exponents
from kdegraph.geometry.kernel_functions import KERNELS
from kdegraph.geometry.tree import LEAF_SIZE, build_tree
from promises import check_threads

RNG = np.random.default_rng(0)


CASES = {
    "one": np.zeros((1, 3)),
    "two": np.array([[1.0], [0.0]]),
    "seventeen": RNG.normal(size=(17, 2)),
    "cloud": RNG.normal(size=(500, 5)),
    "duplicates": np.full((300, 2), 7.5),
    "few values": RNG.integers(0, 3, size=(400, 2)).astype(float),
    "constant columns": RNG.normal(size=(200, 1)) * [0, 1, 0] + [3.0, 0, -1e9],
    "sorted": np.arange(333.0)[:, None],
    "reversed": np.arange(333.0)[::-1, None].copy(),
    "organ pipe": np.concatenate([np.arange(200.0), np.arange(200.0)[::-1]])[:, None],
    "lattice": np.column_stack(np.divmod(np.arange(400.0), 20)),
    "offset": RNG.normal(size=(100, 2)) + 1e9,
    "extreme": np.array([[1.7e308, 0.0], [-1.7e308, 1.0], [0.0, 2.0], [1e-308, 3.0]] * 10),
    "negative zero": np.array([[0.0], [-0.0]] * 20),
}


def points_of(tree, node):
    return tree.points[tree.start[node] : tree.stop[node]]


def check(X, tree, leaf_size):
    n, d = X.shape
    assert np.array_equal(np.sort(tree.order), np.arange(n))
    assert np.array_equal(tree.points, X[tree.order])
    assert np.array_equal(tree.columns, tree.points.T)
    assert tree.columns.flags.c_contiguous
    n_nodes = 2**tree.n_levels - 1
    assert tree.start.shape == tree.stop.shape == (n_nodes,)
    assert tree.low.shape == tree.high.shape == (n_nodes, d)
    assert (tree.start[0], tree.stop[0]) == (0, n)
    size = tree.stop - tree.start
    assert (size > 0).all()
    for node in range(n_nodes):
        inside = points_of(tree, node)
        assert np.array_equal(tree.low[node], inside.min(axis=0))
        assert np.array_equal(tree.high[node], inside.max(axis=0))
        if node < tree.first_leaf:
            left, right = 2 * node + 1, 2 * node + 2
            assert tree.start[left] == tree.start[node]
            assert tree.stop[left] == tree.start[right]
            assert tree.stop[right] == tree.stop[node]
            assert abs(size[left] - size[right]) <= 1
            width = tree.high[node] / 2 - tree.low[node] / 2
            axis = int(np.argmax(width))
            assert points_of(tree, left)[:, axis].max() <= points_of(tree, right)[:, axis].min()
    leaves = size[tree.first_leaf :]
    assert leaves.size == 2 ** (tree.n_levels - 1)
    assert leaves.max() <= leaf_size
    assert leaves.max() - leaves.min() <= 1
    # Not more levels than needed.
    assert tree.n_levels == 1 or -(-n // 2 ** (tree.n_levels - 2)) > leaf_size


@pytest.mark.nojit
@pytest.mark.parametrize("X", CASES.values(), ids=CASES)
def test_structure(X):
    before = X.copy()
    for leaf_size in (2, 8, 16):
        check(X, build_tree(X, leaf_size), leaf_size)
    assert np.array_equal(X, before)


def test_large_tree_does_not_depend_on_threads():
    X = np.random.default_rng(1).normal(size=(6000, 2))
    X[1000:2000] = X[0]
    check(X, build_tree(X), LEAF_SIZE)
    check_threads(lambda: build_tree(X).order)


def test_radii():
    tree = build_tree(np.random.default_rng(2).normal(size=(100, 3)))
    expected = np.linalg.norm(tree.high - tree.low, axis=1) / 2
    for scale in (1.0, 0.25):
        np.testing.assert_allclose(tree.radii(scale), expected * scale, rtol=1e-14)
    extreme = build_tree(np.array([[1.7e308], [-1.7e308]] * 10))
    assert extreme.radii(1e-308)[0] == pytest.approx(1.7)
    assert np.isinf(extreme.radii(1e10)[0])


@pytest.mark.nojit
@pytest.mark.parametrize("kernel", KERNELS)
def test_box_exponents_enclose_all_exponents(kernel):
    rng = np.random.default_rng(3)
    A, B = rng.normal(size=(60, 3)), rng.normal(size=(70, 3)) + 1.0
    left, right = build_tree(A), build_tree(B)
    for a in range(0, left.start.size, 3):
        for b in range(right.start.size):
            t = oracle.exponents(points_of(left, a), points_of(right, b), kernel, 0.5).astype(float)
            least, most = box_exponents(KERNELS[kernel].code, 2.0, left, a, right, b)
            assert 0 <= least <= t.min() * (1 + 1e-14)
            assert most >= t.max() * (1 - 1e-14)
