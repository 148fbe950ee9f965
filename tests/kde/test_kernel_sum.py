"""Kernel sums keep the promise of their error, whatever the method; degrees a relative one."""

import itertools

import numpy as np
import oracle
import pytest
from kdegraph import gauss_transform, kernel_sum
from kdegraph.geometry.tree import build_tree
from kdegraph.kde import KERNEL_SUM_METHODS, Kernel
from kdegraph.kde.dispatch import (
    InnerGrid,
    KernelSum,
    choose_for_degrees,
    choose_method,
    degrees_at,
    kernel_degrees,
)
from kdegraph.kde.grid import chebyshev
from kdegraph.kde.grid.plan import choose_grid
from kdegraph.kde.grid.transform import grid_sums
from kdegraph.kde.tree import plan
from promises import check_threads

METHODS = {
    kernel: [m for m in KERNEL_SUM_METHODS if m != "fgt" or kernel == "gaussian"]
    for kernel in oracle.KERNELS
}
SOLVERS = [(kernel, method) for kernel, methods in METHODS.items() for method in methods]


def degrees(X, kernel, sigma, eps):
    tree = build_tree(X)
    result = np.empty(len(X))
    result[tree.order] = kernel_degrees(Kernel(kernel, sigma), tree, eps)
    return result


def cloud(d, n, rng):
    """A wide cloud, a narrow one, duplicates and an outlier; the extent is about 10."""
    wide, narrow = rng.normal(size=(n // 2, d)), 4 + 0.01 * rng.normal(size=(n // 3, d))
    X = np.concatenate([wide, narrow, np.repeat(wide[:1], n // 10, axis=0), np.full((1, d), -6.0)])
    return X[rng.permutation(len(X))]


def clusters(d, n, rng):
    centers = rng.uniform(0, 10, size=(5, d))
    return centers[rng.integers(0, 5, n)] + rng.normal(size=(n, d)) * 10.0 ** rng.uniform(
        -1.5, 0, size=(n, 1)
    )


def heavy_tails(d, n, rng):
    """Most points within a few units, the others up to some 10,000 units away."""
    return rng.standard_cauchy(size=(n, d))


def outliers(d, n, rng):
    """A normal distribution and five points far away."""
    return np.concatenate([rng.normal(size=(n - 5, d)), 1e5 * rng.normal(size=(5, d))])


def check_sums(X, Y=None, pick=None, *, kernel="gaussian", sigma=1.0, eps=1e-6, **options):
    """Check sums at the targets, or at some of the sources, against the promise."""
    got = kernel_sum(X, Y, kernel=kernel, sigma=sigma, eps=eps, **options)
    assert got.shape == (len(X if Y is None else Y),)
    at = X if Y is None else Y
    if pick is not None:
        got, at = got[pick], at[pick]
    assert oracle.excess(got, X, at, kernel, sigma, eps, options.get("weights")) <= 1


@pytest.mark.parametrize("ratio", [1e-3, 0.1, 1.0, 1e3])
@pytest.mark.parametrize("d", [1, 2, 3, 20])
def test_guarantee(d, ratio):
    rng = np.random.default_rng([d, int(ratio * 1e3)])
    X, Y = cloud(d, 500, rng), cloud(d, 100, rng) + 0.1
    Y[:5] = X[:5]
    weights = rng.normal(size=len(X)) * 10.0 ** rng.integers(-6, 6, len(X))
    sigma = ratio * np.ptp(X, axis=0).max()
    for kernel, methods in METHODS.items():
        exact, mass = oracle.sums_and_masses(X, Y, kernel, sigma, weights)
        for method, eps in itertools.product(methods, (1e-1, 1e-6, 1e-12)):
            options = {"kernel": kernel, "sigma": sigma, "eps": eps, "method": method}
            got = kernel_sum(X, Y, weights=weights, **options)
            allowed = eps * mass + 1e-14 * np.abs(weights).sum()
            assert got.shape == (len(Y),)
            assert (np.abs(got - exact) <= allowed).all()


@pytest.mark.parametrize(("kernel", "method"), SOLVERS)
def test_guarantee_with_targets_the_sources(kernel, method):
    rng = np.random.default_rng(7)
    X = cloud(2, 1500, rng)
    pick = rng.choice(len(X), 200, replace=False)
    for sigma, eps in itertools.product((0.02, 0.3, 5.0), (1e-2, 1e-10)):
        check_sums(X, pick=pick, kernel=kernel, sigma=sigma, eps=eps, method=method)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_guarantee_of_groups_of_every_radius(d, monkeypatch):
    """Whatever radius the estimate of costs prefers: each is forced in turn."""
    rng = np.random.default_rng(d)
    X = np.concatenate([rng.uniform(0, 3, size=(3000, d)), rng.normal(size=(500, d)) * 0.05])
    Y = np.concatenate([rng.uniform(-1, 4, size=(100, d)), X[:50]])
    weights = rng.normal(size=len(X))
    for radius in (0.12, 0.35, 1.0):
        monkeypatch.setattr(plan, "GROUP_RADII", (radius,))
        for eps in (1e-1, 1e-4, 1e-8):
            check_sums(X, Y, weights=weights, eps=eps, method="tree")


@pytest.mark.parametrize("points", [heavy_tails, outliers])
@pytest.mark.parametrize("onto_sources", [True, False])
@pytest.mark.parametrize("d", [1, 2])
def test_guarantee_of_grids_over_most_of_the_points(d, onto_sources, points):
    rng = np.random.default_rng(d)
    X = points(d, 20_000, rng)
    Y = None if onto_sources else points(d, 20_000, rng)
    at = X if onto_sources else Y
    # In one dimension, a grid over all points is cheap unless rounded coordinates forbid it.
    for eps in (1e-10,) if d == 1 else (1e-2, 1e-10):
        chosen = choose_method(KernelSum(Kernel("gaussian", 1.0), X, Y, eps))
        assert isinstance(chosen, InnerGrid)
        assert not chosen.sources.all()
        outside = np.flatnonzero(~chosen.targets)
        near = np.argsort(np.abs(at).max(axis=1))[np.flatnonzero(chosen.targets).size - 20 :][:20]
        pick = np.concatenate([rng.choice(len(at), 50, replace=False), outside[:20], near])
        for weights in (np.ones(len(X)), rng.normal(size=len(X))):
            check_sums(X, Y, pick, weights=weights, eps=eps)


@pytest.mark.parametrize("points", [heavy_tails, outliers])
@pytest.mark.parametrize("d", [1, 2])
def test_degrees_on_a_grid_over_most_of_the_points(d, points):
    rng = np.random.default_rng(d)
    X, kernel, eps = points(d, 20_000, rng), Kernel("gaussian", 1.0), 1e-10 if d == 1 else 1e-2
    assert isinstance(choose_for_degrees(kernel, build_tree(X), eps), InnerGrid)
    pick = np.concatenate([rng.choice(len(X), 50), np.argsort(np.abs(X).max(axis=1))[-100:]])
    exact = oracle.sums_and_masses(X, X[pick], "gaussian", 1.0)[0] - 1
    got = degrees(X, "gaussian", 1.0, eps)[pick]
    # The reference has lost digits where the point's own value of 1 is nearly all of the sum.
    assert (np.abs(got - exact) <= eps * exact + 1e-12).all()


@pytest.mark.parametrize(
    ("d", "width"), [(1, 0.25), (1, 2.0), (2, 0.7), (2, 2.0), (3, 0.25), (3, 0.7), (4, 0.7), (5, 1)]
)
def test_guarantee_of_grids(d, width, monkeypatch):
    """Each width of boxes is forced in turn; nearly all sums are not handed back."""
    monkeypatch.setattr(chebyshev, "BOX_WIDTHS", (width,))
    rng = np.random.default_rng(d)
    side = {1: 40.0, 2: 8.0, 3: 4.0, 4: 2.0, 5: 1.5}[d] * min(1.0, 2 * width)
    spread, narrow = rng.uniform(0, side, (1500, d)), side / 3 + rng.normal(size=(300, d)) * 0.05
    X = np.concatenate([spread, narrow, np.full((30, d), 0.1)])
    Y = np.concatenate([rng.uniform(-0.5, side + 0.5, size=(50, d)), X[:50]])
    bounds = np.minimum(X.min(0), Y.min(0)), np.maximum(X.max(0), Y.max(0))
    for weights in (np.ones(len(X)), 10.0 ** rng.uniform(-3, 3, len(X)), rng.normal(size=len(X))):
        exact, mass = oracle.sums_and_masses(X, Y, "gaussian", 1.0, weights)
        used = 0
        for eps in (0.1, 1e-2, 1e-4, 1e-8, 1e-12):
            grid = choose_grid(Kernel("gaussian", 1.0), X, bounds, len(Y), eps)
            if grid is None:
                continue
            got, left = grid_sums(grid, X, Y, weights, eps)
            if left.size == len(Y):  # too few to be worth an expansion
                continue
            assert left.size <= len(Y) / 2
            allowed = eps * mass
            allowed[left] = np.inf
            assert (np.abs(got - exact) <= allowed).all()
            used += 1
        assert used >= (4 if d <= 2 else 2 if d <= 4 else 1)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_degrees_by_grids(d):
    """Without the point itself, far from all others too."""
    rng = np.random.default_rng(d)
    far = [np.full(d, 4.0), np.full(d, 4.0), np.full(d, -4.0)]
    X = np.concatenate([far, rng.normal(size=(4000, d))])
    K = oracle.kernel_matrix(X[:100], X, "gaussian", 2.0)
    np.fill_diagonal(K, 0.0)
    exact = K.sum(axis=1)
    for eps in (0.1, 1e-2, 1e-4):
        bounds = X.min(axis=0), X.max(axis=0)
        grid = choose_grid(Kernel("gaussian", 2.0), X, bounds, len(X), eps)
        got, left = grid_sums(grid, X, None, np.ones(len(X)), eps, own=1.0)
        assert left.size < len(X) / 10
        error = np.abs(got[:100] / exact - 1)
        error[left[left < 100]] = 0.0
        assert error.max() <= eps
        assert np.abs(degrees(X, "gaussian", 2.0, eps)[:100] / exact - 1).max() <= eps


@pytest.mark.parametrize(("kernel", "method"), SOLVERS)
def test_the_unit_of_the_weights_does_not_matter(kernel, method):
    """From the smallest doubles to sums near the largest: a power of two changes no digit."""
    rng = np.random.default_rng(11)
    n = 6000 if kernel == "gaussian" else 1500
    X, weights = rng.normal(size=(n, 1)), rng.integers(-2, 5, n).astype(float)
    X[0] = 1e9  # leaves too few points in most boxes of a grid
    for eps in (1e-2, 1e-12):
        options = {"kernel": kernel, "sigma": 1.0, "eps": eps, "method": method}
        expected = kernel_sum(X, weights=weights, **options)
        for exponent in (-1074, 1000):
            got = kernel_sum(X, weights=np.ldexp(weights, exponent), **options)
            assert np.array_equal(got, np.ldexp(expected, exponent))


WEIGHTS = {
    "subnormal": lambda rng, n: 5e-324 * rng.integers(0, 20, n),
    "near the smallest": lambda rng, n: rng.normal(size=n) * 1e-308,
    "near the largest": lambda rng, n: rng.uniform(-1, 1, n) * 1.7e308 / n,
    "far apart": lambda rng, n: rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-300, 300, n),
    "two sizes": lambda rng, n: rng.choice([1e300, 1e-300, 5e-324, 0.0], n),
    "one is huge": lambda rng, n: np.where(np.arange(n) == n // 2, -1e308, rng.random(n)),
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_guarantee_for_extreme_weights(kind):
    for d, n in ((1, 30), (1, 8000), (2, 800), (5, 800)):
        rng = np.random.default_rng([d, len(kind)])
        X = clusters(d, n, rng)
        pick = rng.choice(n, 20)
        weights = WEIGHTS[kind](rng, n)
        for kernel, method in SOLVERS:
            sigma, eps = 10.0 ** rng.uniform(-1, 3), 10.0 ** rng.uniform(-13, -0.5)
            options = {"kernel": kernel, "sigma": sigma, "eps": eps, "method": method}
            targets = (X[pick], None) if n > 800 else (None, pick)
            check_sums(X, *targets, weights=weights, **options)


@pytest.mark.parametrize(("kernel", "method"), SOLVERS)
def test_sums_beyond_the_largest_double_are_infinite(kernel, method):
    X = np.repeat([[0.0], [1e3], [2e3]], 2000, axis=0)
    weights = np.repeat([1e308, -1e308, 8e304], 2000)
    options = {"kernel": kernel, "sigma": 1.0, "weights": weights, "method": method}
    got = kernel_sum(X, [[0.0], [1e3], [2e3], [5e2]], **options)
    assert got[:2].tolist() == [np.inf, -np.inf]
    np.testing.assert_allclose(got[2] / 1.6e308, 1.0, rtol=1e-6)
    assert abs(got[3]) < 1e302
    weights[::2] *= -1
    assert np.isfinite(kernel_sum(X, **options)).all()


def test_sums_of_coordinates_that_overflow():
    """The sum of the coordinates, and so their mean, is infinite."""
    for d in (3, 5):
        X = 1e307 * (1 + 1e-3 * clusters(d, 700, np.random.default_rng(d)))
        for (kernel, method), sigma in itertools.product(SOLVERS, (1e300, 1e304, 1e306)):
            check_sums(X, pick=np.arange(20), kernel=kernel, sigma=sigma, method=method)


@pytest.mark.parametrize("method", KERNEL_SUM_METHODS)
def test_huge_offsets(method):
    """Points on the grid of the doubles around an offset, and bandwidths of few steps or many."""
    rng = np.random.default_rng(8)
    for offset in (1e9, 1e12):
        step = np.spacing(offset)
        X = offset + rng.integers(0, 400, size=(1200, 2)) * step
        for sigma, eps in itertools.product((3 * step, 40 * step, 1e3 * step), (1e-3, 1e-10)):
            check_sums(X, pick=np.arange(50), sigma=sigma, eps=eps, method=method)


@pytest.mark.nojit
@pytest.mark.parametrize(("kernel", "method"), SOLVERS)
def test_small_problems(kernel, method):
    options = {"kernel": kernel, "method": method}
    assert kernel_sum([[3.0]], sigma=1.0, **options).tolist() == [1.0]
    assert kernel_sum([[3.0]], sigma=1.0, weights=[-2.5], **options).tolist() == [-2.5]
    places, line = np.ones((40, 2)), np.arange(40.0)[:, None]
    np.testing.assert_allclose(kernel_sum(places, sigma=1e-3, **options), 40.0, rtol=1e-6)
    assert not kernel_sum(line, sigma=1e-3, weights=np.zeros(40), **options).any()
    rng = np.random.default_rng(9)
    X, Y = rng.normal(size=(60, 2)), rng.normal(size=(20, 2))
    got = kernel_sum(X, Y, sigma=0.5, eps=1e-7, **options)
    assert oracle.excess(got, X, Y, kernel, 0.5, 1e-7) <= 1
    ones = np.ones(60, np.float32)[::-1]
    assert np.array_equal(kernel_sum(X, Y, sigma=0.5, eps=1e-7, weights=ones, **options), got)
    if kernel == "gaussian":
        assert np.array_equal(gauss_transform(X, Y, sigma=0.5, eps=1e-7, method=method), got)


def test_does_not_depend_on_threads():
    X = clusters(2, 3000, np.random.default_rng(1))
    for method in KERNEL_SUM_METHODS:
        check_threads(lambda method=method: gauss_transform(X, sigma=1.0, eps=1e-5, method=method))


@pytest.mark.parametrize("kernel", oracle.KERNELS)
@pytest.mark.parametrize("d", [1, 3])
def test_degrees_are_relatively_exact_everywhere(d, kernel):
    """Outliers too, whose degrees go down to about 1e-280."""
    rng = np.random.default_rng(d)
    reach = 0.9 * oracle.reach(kernel)
    X = np.concatenate([rng.normal(size=(700, d)), reach * np.eye(d), -0.6 * reach * np.eye(d)])
    X[0] = X[1]
    exact = oracle.full_graph(X, kernel, 1.0).sum(axis=1)
    assert (exact > 0).all()
    assert exact.min() < 1e-180
    for eps in (0.3, 1e-2, 1e-6, 1e-11):
        assert np.abs(degrees(X, kernel, 1.0, eps) / exact - 1).max() <= eps


@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_degrees_at_some_positions(kernel):
    """In any order; all of them too, where the tree is cheaper than all pairs."""
    X = np.random.default_rng(6).uniform(0, 100, size=(6000, 2))
    tree = build_tree(X)
    positions = np.random.default_rng(7).permutation(6000)
    K = oracle.kernel_matrix(tree.points[positions[:100]], tree.points, kernel, 1.0)
    for count in (100, 6000):
        got = degrees_at(Kernel(kernel, 1.0), tree, positions[:count], 1e-3)
        assert got.shape == (count,)
        np.testing.assert_allclose(got[:100], K.sum(axis=1) - 1, rtol=1e-3)


@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_degrees_leave_out_the_point_itself(kernel):
    """Points so close that nodes are lumped: a point must not be lumped with itself."""
    unit = np.random.default_rng(0).random((400, 1))
    for eps in (1e-2, 1e-4):
        for width in np.geomspace(1.2, 4, 6) * eps:
            X = unit * (np.sqrt(width) if kernel == "gaussian" else width)
            exact = oracle.full_graph(X, kernel, 1.0).sum(axis=1)
            assert np.abs(degrees(X, kernel, 1.0, eps) / exact - 1).max() <= eps


@pytest.mark.nojit
@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_degrees_are_zero_where_all_values_underflow_and_only_there(kernel):
    edge = oracle.reach(kernel)
    line = 1e6 + np.arange(40.0)[:, None] * 1e5 + np.zeros(2)
    for distance, reached in ((0.999 * edge, True), (1.001 * edge, False)):
        X = np.concatenate([[[0.0, 0.0], [distance, 0.0]], line])
        got = degrees(X, kernel, 1.0, 0.1)
        assert (got[:2] > 0).all() == reached
        assert (got[2:] == 0).all()
        if reached:
            exact = oracle.full_graph(X, kernel, 1.0).sum(axis=1)
            np.testing.assert_allclose(got[:2], exact[:2], rtol=0.1)
