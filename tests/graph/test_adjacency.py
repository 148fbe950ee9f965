"""Graphs at the edges of what is accepted, and refusals with a message that names the argument."""

import math
from fractions import Fraction

import numpy as np
import oracle
import pytest
from kdegraph import estimate_sigma, full_graph, kernel_sum, knn_graph, similarity_graph
from kdegraph.validation import check_points
from promises import cancel

WAYS = {
    "rejection": {"sampler": "rejection"},
    "stratified": {"sampler": "recursive"},
    "independent": {"sampler": "recursive", "draws": "independent"},
    "direct": {"kde": "direct"},
}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))


@pytest.fixture(params=WAYS)
def way(request):
    return WAYS[request.param]


@pytest.mark.nojit
def test_one_point(way):
    for kernel in oracle.KERNELS:
        graph = similarity_graph([[1.0, 2.0]], sigma=1.0, kernel=kernel, n_rounds=4, seed=0, **way)
        assert graph.adjacency.shape == (1, 1)
        assert graph.n_edges == 0
        assert graph.neighbors.tolist() == [[-1] * 4]
        assert graph.kernel_degrees.tolist() == [0.0]
        assert graph.laplacian().toarray().tolist() == [[0.0]]
    assert similarity_graph([[1.0, 2.0]], **way).sigma > 0


@pytest.mark.nojit
def test_two_points(way):
    graph = similarity_graph([[0.0], [1.0]], sigma=1.0, n_rounds=3, seed=0, **way)
    assert graph.neighbors.tolist() == [[1] * 3, [0] * 3]
    k = math.exp(-1)
    np.testing.assert_allclose(graph.adjacency.toarray(), [[0, k], [k, 0]], rtol=1e-14)
    np.testing.assert_allclose(graph.kernel_degrees, k, rtol=0.2)


@pytest.mark.parametrize("n", [2, 9, 1500])
def test_duplicates_only(way, n):
    for sigma in ("auto", 1e-3, 1e300):
        graph = similarity_graph(np.full((n, 3), 0.1), sigma=sigma, n_rounds=10, seed=0, **way)
        np.testing.assert_allclose(graph.kernel_degrees, n - 1, rtol=0.17)
        assert graph.neighbors.min() >= 0
        assert graph.neighbors.max() < n
        assert (graph.neighbors != np.arange(n)[:, None]).all()
        assert graph.n_edges <= n * 10


def test_constant_columns_change_nothing(way):
    before = X.copy()
    expected = similarity_graph(X, sigma=0.8, n_rounds=12, seed=0, **way)
    assert np.array_equal(X, before)
    for constant in (0.0, -1e9, 1e300):
        Y = np.column_stack([X[:, 0], np.full(30, constant), X[:, 1]])
        graph = similarity_graph(Y, sigma=0.8, n_rounds=12, seed=0, **way)
        assert np.array_equal(graph.neighbors, expected.neighbors)
        np.testing.assert_allclose(graph.kernel_degrees, expected.kernel_degrees, rtol=1e-12)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "matern-5/2"])
def test_tiny_bandwidth_isolates_all_but_duplicates(way, kernel):
    for sigma in (5e-324, 1e-300, 1e-200):
        for n, scale in ((30, 1.0), (1500, 1e10)):
            Y = np.concatenate([RNG.normal(size=(n, 2)) * scale, np.zeros((2, 2))])
            graph = similarity_graph(Y, sigma=sigma, kernel=kernel, n_rounds=4, seed=0, **way)
            assert graph.n_edges == 1
            assert (graph.neighbors[:-2] == -1).all()
            assert graph.neighbors[-2:].tolist() == [[n + 1] * 4, [n] * 4]
            assert (graph.kernel_degrees[:-2] == 0).all()


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "matern-5/2"])
def test_huge_bandwidth_joins_all_equally(way, kernel):
    for sigma in (1e100, 1.7e308):
        graph = similarity_graph(X, sigma=sigma, kernel=kernel, n_rounds=3000, seed=0, **way)
        np.testing.assert_allclose(graph.kernel_degrees, 29, rtol=0.21)
        stratified = graph.draws == "stratified"
        oracle.check_draws(graph.neighbors, 1 - np.eye(30), stratified=stratified)


def test_huge_coordinates(way):
    """Around 1e9 only the differences count."""
    grid = np.random.default_rng(1).integers(0, 2000, size=(300, 2)) / 1024
    near = similarity_graph(grid, sigma=0.25, n_rounds=15, seed=0, **way)
    far = similarity_graph(grid + 1e9, sigma=0.25, n_rounds=15, seed=0, **way)
    assert np.array_equal(near.neighbors, far.neighbors)
    np.testing.assert_allclose(near.adjacency.toarray(), far.adjacency.toarray(), rtol=1e-6)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "matern-5/2"])
def test_largest_coordinates(way, kernel):
    Y = np.array([[1.7e308, 0.0], [-1.7e308, 0.0], [0.0, 1.7e308], [0.0, -1.7e308], [1.7e308, 0.0]])
    for sigma in (1.0, 1e300, 1e308):
        graph = similarity_graph(Y, sigma=sigma, kernel=kernel, n_rounds=5, seed=0, **way)
        assert (graph.neighbors[0] >= 0).all()
        assert np.isfinite(graph.adjacency.data).all()
        assert graph.kernel_degrees[0] >= 0.8


# Coordinates of about 1e-300 and 1e300: a power of two changes no digit.
@pytest.mark.parametrize("exponent", [-1000, 997])
def test_scales_do_not_matter(exponent):
    Y = np.random.default_rng(4).normal(size=(400, 2))
    scaled, sigma = np.ldexp(Y, exponent), math.ldexp(0.5, exponent)
    for way in WAYS.values():
        expected = similarity_graph(Y, sigma=0.5, n_rounds=9, seed=0, **way)
        graph = similarity_graph(scaled, sigma=sigma, n_rounds=9, seed=0, **way)
        assert np.array_equal(graph.neighbors, expected.neighbors)
        assert np.array_equal(graph.adjacency.data, expected.adjacency.data)
    graph, expected = (similarity_graph(Z, sigma="local", seed=0) for Z in (scaled, Y))
    assert np.array_equal(graph.sigma, np.ldexp(expected.sigma, exponent))
    assert np.array_equal(graph.neighbors, expected.neighbors)
    assert np.array_equal(graph.adjacency.data, expected.adjacency.data)
    for kernel in oracle.KERNELS:
        options = {"kernel": kernel, "sigma": sigma}
        expected = kernel_sum(Y, kernel=kernel, sigma=0.5, method="direct")
        for method in ("direct", "tree", "fgt") if kernel == "gaussian" else ("direct", "tree"):
            sums = kernel_sum(scaled, method=method, **options)
            np.testing.assert_allclose(sums, expected, rtol=2e-6)
        graph = full_graph(scaled, **options)
        np.testing.assert_allclose(graph, full_graph(Y, sigma=0.5, kernel=kernel), rtol=1e-13)
    assert (knn_graph(scaled, 5) != knn_graph(Y, 5)).nnz == 0
    assert estimate_sigma(scaled, seed=0) == math.ldexp(estimate_sigma(Y, seed=0), exponent)


@pytest.mark.parametrize("sigma", [1e-3, 0.5])
def test_a_crowd_in_one_place(sigma):
    """The same point 100,000 times among others."""
    others = np.random.default_rng(5).normal(size=(500, 2))
    Y = np.concatenate([np.tile([[0.3, 0.1]], (100_000, 1)), others])
    graph = similarity_graph(Y, sigma=sigma, n_rounds=10, seed=0)
    K = oracle.kernel_matrix(others, Y[99_999:], "gaussian", sigma).astype(float)
    np.fill_diagonal(K[:, 1:], 0)
    of_crowd = 99_999 + K[:, 0].sum()
    of_others = K[:, 1:].sum(axis=1) + 100_000 * K[:, 0]
    np.testing.assert_allclose(graph.kernel_degrees[:100_000], of_crowd, rtol=graph.eps)
    np.testing.assert_allclose(
        graph.kernel_degrees[100_000:], of_others, rtol=graph.eps, atol=1e-300
    )
    assert (graph.neighbors[:100_000] >= 0).all()
    assert (graph.neighbors != np.arange(len(Y))[:, None]).all()
    # Nobody in the crowd is preferred.
    counts = np.bincount(graph.neighbors[:100_000].ravel() // 1000, minlength=101)[:100]
    assert oracle.chi_square_p(counts, np.full(100, 0.01)) > 1e-5
    assert knn_graph(Y, 5).nnz > 0


def test_points_are_not_copied_without_need(tmp_path):
    np.save(tmp_path / "points.npy", X)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    read_only = X.copy()
    read_only.flags.writeable = False
    expected = similarity_graph(X, sigma=0.5, n_rounds=5, seed=0)
    for Y in (X, X[3:], read_only, mapped, np.ma.array(X)):
        assert np.shares_memory(check_points(Y), Y)
        graph = similarity_graph(Y, sigma=0.5, n_rounds=5, seed=0)
        assert np.shares_memory(graph.points, Y)
        assert len(Y) < 30 or np.array_equal(graph.neighbors, expected.neighbors)
    for Y in (np.asfortranarray(X), X[::2], X.astype(np.float32), X.astype(">f8")):
        copy = check_points(Y)
        assert copy.flags.c_contiguous
        assert copy.dtype == np.float64
        assert not np.shares_memory(copy, Y)


def test_kinds_of_numbers():
    for sigma in (Fraction(1, 2), np.float64(0.5), np.float16(0.5)):
        assert similarity_graph(X, sigma=sigma, seed=0).sigma == 0.5
    for n_rounds in (3.0, np.int64(3)):
        assert similarity_graph(X > 0, sigma=1, n_rounds=n_rounds, seed=0).n_rounds == 3


class NoSums:
    def fit(self, sources, kernel):
        return self


class Solver:
    def __init__(self, fit=lambda self: self, sums=lambda targets: np.ones(len(targets))):
        self._fit, self._sums = fit, sums

    def fit(self, sources, kernel):
        return self._fit(self)

    def sums(self, targets):
        return self._sums(targets)


SHAPE, NOT_REAL = "kde: Solver.sums must return shape", "kde: Solver.sums must return real numbers"
NAMED = ("kernel", "sampler", "draws", "weighting")  # chosen by name only
# Argument, values, the error and its message.
BAD_ARGUMENTS = [
    ("sigma", (0, -1.0, math.nan, math.inf), ValueError, "sigma must be positive and finite, got"),
    ("sigma", ("wide",), ValueError, "sigma must be a positive number, an array .*, got 'wide'"),
    ("sigma", ([1.0],), ValueError, r"must have shape \(30,\), one for each point, got \(1,\)"),
    ("sigma", ([1.0] * 29 + [0.0],), ValueError, r"sigma must be positive .* sigma\[29\] is 0.0"),
    ("sigma", ([1.0] * 29 + [1e101],), ValueError, "differ by a factor of more than 1e\\+100"),
    ("sigma", (["1"] * 30,), TypeError, "sigma must hold real numbers"),
    ("n_rounds", ("many",), ValueError, "n_rounds must be a number or 'auto', got 'many'"),
    ("n_rounds", (2**40,), ValueError, "n_rounds must be at most"),
    ("sampler", ("rows",), ValueError, "'auto', 'mixture', 'near', 'recursive', 'rejection'$"),
    *(
        (name, ("nonsense",), ValueError, f"unknown {name} 'nonsense'; choose one of")
        for name in (*NAMED, "kde")
    ),
    ("seed", ("1", 1.5, True, [1]), TypeError, "seed must be None, a whole number"),
    ("seed", (-1, 2**64), ValueError, r"seed must lie in \[0, 2\*\*64\)"),
    ("kde", (3,), TypeError, "kde must be one of .*int has no method 'fit'"),
    ("kde", (NoSums(),), TypeError, "kde must be one of .*NoSums has no method 'sums'"),
    ("kde", (Solver(fit=lambda self: None),), TypeError, "must return the fitted object .*None"),
    ("kde", (Solver(sums=lambda t: np.ones(len(t) + 1)),), ValueError, rf"{SHAPE} \(\d+,\).*got"),
    ("kde", (Solver(sums=lambda t: np.ones((len(t), 1))),), ValueError, SHAPE),
    ("kde", (Solver(sums=lambda t: 1.0),), ValueError, rf"{SHAPE} .*got \(\)"),
    ("kde", (Solver(sums=lambda t: t[:, 0] * np.nan),), ValueError, "Solver.sums returned nan"),
    ("kde", (Solver(sums=lambda t: np.full(len(t), np.inf)),), ValueError, "sums returned inf"),
    ("kde", (Solver(sums=lambda t: None),), TypeError, NOT_REAL),
    ("kde", (Solver(sums=lambda t: ["a"] * len(t)),), TypeError, NOT_REAL),
    ("kde", (Solver(sums=lambda t: np.ones(len(t)) * 1j),), TypeError, NOT_REAL),
]


def test_bad_arguments_are_refused_before_any_work():
    for name, values, kind, message in BAD_ARGUMENTS:
        progress = None if name == "kde" else cancel  # estimators are checked when they are used
        for value in values:
            with pytest.raises(kind, match=message):
                similarity_graph(X, progress=progress, **({"sigma": 1.0} | {name: value}))


BAD_SUM_ARGUMENTS = [
    ("method", "magic", "unknown method 'magic'; choose one of 'auto'"),
    ("eps", 1.0, "eps is a relative error"),
    ("weights", 1.0, r"weights must have shape \(30,\).*got \(\)"),
    ("weights", np.full(30, np.nan), r"weights must be finite, but weights\[0\]"),
    ("targets", np.zeros((4, 3)), "must have 2 columns like the sources, got 3"),
]


def test_bad_arguments_of_sums():
    for name, value, message in BAD_SUM_ARGUMENTS:
        with pytest.raises(ValueError, match=message):
            kernel_sum(X, **({"sigma": 1.0} | {name: value}))
    with pytest.raises(ValueError, match=r"method 'fgt'.*'laplacian'.*method='tree'"):
        kernel_sum(X, kernel="laplacian", sigma=1.0, method="fgt")
