"""What must work at the edges, and what must be refused with a message that names the argument."""

import math
from fractions import Fraction

import numpy as np
import oracle
import pytest
import scipy.sparse
from kdegraph import (
    Cancelled,
    estimate_sigma,
    full_graph,
    gauss_transform,
    kernel_sum,
    knn_graph,
    similarity_graph,
)
from kdegraph.validation import check_points

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
@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_one_point(way, kernel):
    graph = similarity_graph([[1.0, 2.0, 3.0]], sigma=1.0, kernel=kernel, n_rounds=4, seed=0, **way)
    assert graph.adjacency.shape == (1, 1)
    assert graph.n_edges == 0
    assert graph.neighbors.tolist() == [[-1] * 4]
    assert graph.kernel_degrees.tolist() == [0.0]
    assert graph.laplacian().toarray().tolist() == [[0.0]]


def test_one_point_with_everything_automatic():
    graph = similarity_graph([[1.0, 2.0]])
    assert graph.n_edges == 0
    assert graph.sigma > 0


@pytest.mark.nojit
def test_two_points(way):
    graph = similarity_graph([[0.0], [1.0]], sigma=1.0, n_rounds=3, seed=0, **way)
    assert graph.neighbors.tolist() == [[1] * 3, [0] * 3]
    k = math.exp(-1)
    np.testing.assert_allclose(graph.adjacency.toarray(), [[0, k], [k, 0]], rtol=1e-14)
    np.testing.assert_allclose(graph.kernel_degrees, k, rtol=0.2)


@pytest.mark.parametrize("n", [2, 9, 300, 5000])
def test_duplicates_only(way, n):
    for sigma in ("auto", 1e-3, 1e300):
        graph = similarity_graph(np.full((n, 3), 0.1), sigma=sigma, n_rounds=10, seed=0, **way)
        np.testing.assert_allclose(graph.kernel_degrees, n - 1, rtol=0.17)
        assert graph.neighbors.min() >= 0
        assert graph.neighbors.max() < n
        assert (graph.neighbors != np.arange(n)[:, None]).all()
        assert graph.n_edges <= n * 10


@pytest.mark.parametrize("constant", [0.0, 3.0, -1e9, 1e300])
def test_constant_columns_change_nothing(way, constant):
    Y = np.column_stack([X[:, 0], np.full(30, constant), X[:, 1]])
    graph, expected = (similarity_graph(Z, sigma=0.8, n_rounds=12, seed=0, **way) for Z in (Y, X))
    assert np.array_equal(graph.neighbors, expected.neighbors)
    np.testing.assert_allclose(graph.kernel_degrees, expected.kernel_degrees, rtol=1e-12)


@pytest.mark.parametrize("sigma", [5e-324, 1e-308, 1e-300, 1e-200])
@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_tiny_bandwidth_isolates_all(way, kernel, sigma):
    for Y in (X, X * 1e10, np.arange(30.0)[:, None]):
        graph = similarity_graph(Y, sigma=sigma, kernel=kernel, seed=0, **way)
        assert graph.n_edges == 0
        assert (graph.neighbors == -1).all()
        assert (graph.kernel_degrees == 0).all()


@pytest.mark.parametrize("kernel", oracle.KERNELS)
@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e10])
def test_tiny_bandwidth_on_larger_sets(way, kernel, scale):
    Y = np.concatenate(
        [RNG.normal(size=(1500, 2)) * scale, np.zeros((2, 2))]
    )  # one pair of duplicates
    graph = similarity_graph(Y, sigma=1e-300, kernel=kernel, n_rounds=4, seed=0, **way)
    assert graph.n_edges == 1
    assert (graph.neighbors[:-2] == -1).all()
    assert graph.neighbors[-2:].tolist() == [[1501] * 4, [1500] * 4]


@pytest.mark.parametrize("sigma", [1e100, 1e300, 1.7e308])
@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_huge_bandwidth_joins_all_equally(way, kernel, sigma):
    graph = similarity_graph(X, sigma=sigma, kernel=kernel, n_rounds=3000, seed=0, **way)
    np.testing.assert_allclose(graph.kernel_degrees, 29, rtol=0.21)
    for i, row in enumerate(graph.neighbors):
        p = np.full(30, 1 / 29)
        p[i] = 0
        assert oracle.chi_square_p(np.bincount(row, minlength=30), p) > 1e-5


def test_huge_coordinates(way):
    """Around 1e9 all that counts are the differences."""
    grid = np.random.default_rng(1).integers(0, 2000, size=(300, 2)) / 1024
    near = similarity_graph(grid, sigma=0.25, n_rounds=15, seed=0, **way)
    far = similarity_graph(grid + 1e9, sigma=0.25, n_rounds=15, seed=0, **way)
    assert np.array_equal(near.neighbors, far.neighbors)
    np.testing.assert_allclose(near.adjacency.toarray(), far.adjacency.toarray(), rtol=1e-6)


@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_largest_coordinates(way, kernel):
    Y = np.array([[1.7e308, 0.0], [-1.7e308, 0.0], [0.0, 1.7e308], [0.0, -1.7e308], [1.7e308, 0.0]])
    for sigma in (1.0, 1e300, 1e308):
        graph = similarity_graph(Y, sigma=sigma, kernel=kernel, n_rounds=5, seed=0, **way)
        assert (graph.neighbors[0] >= 0).all()
        assert np.isfinite(graph.adjacency.data).all()
        assert graph.kernel_degrees[0] >= 0.8


@pytest.mark.parametrize("exponent", [-1000, -997, 997])
def test_scales_do_not_matter(way, exponent):
    """Coordinates of about 1e-300 and 1e300: a power of two changes no digit."""
    Y = np.random.default_rng(4).normal(size=(400, 2))
    scaled = np.ldexp(Y, exponent)
    graph, expected = (
        similarity_graph(Z, sigma=s, n_rounds=9, seed=0, **way)
        for Z, s in ((scaled, math.ldexp(0.5, exponent)), (Y, 0.5))
    )
    assert np.array_equal(graph.neighbors, expected.neighbors)
    assert np.array_equal(graph.adjacency.data, expected.adjacency.data)


@pytest.mark.parametrize("exponent", [-1000, -997, 997])
def test_scales_do_not_matter_to_sums_and_other_graphs(exponent):
    Y = np.random.default_rng(4).normal(size=(400, 2))
    scaled, sigma = np.ldexp(Y, exponent), math.ldexp(0.5, exponent)
    for kernel in oracle.KERNELS:
        expected = kernel_sum(Y, kernel=kernel, sigma=0.5, method="direct")
        for method in ("direct", "tree", "fgt") if kernel == "gaussian" else ("direct", "tree"):
            np.testing.assert_allclose(
                kernel_sum(scaled, kernel=kernel, sigma=sigma, method=method), expected, rtol=2e-6
            )
        np.testing.assert_allclose(
            full_graph(scaled, sigma=sigma, kernel=kernel),
            full_graph(Y, sigma=0.5, kernel=kernel),
            rtol=1e-13,
        )
    assert (knn_graph(scaled, 5) != knn_graph(Y, 5)).nnz == 0
    assert estimate_sigma(scaled, seed=0) == math.ldexp(estimate_sigma(Y, seed=0), exponent)


@pytest.mark.parametrize("method", ["direct", "tree", "fgt"])
def test_smallest_bandwidth(method):
    for Y in (X, np.ldexp(X, 1000), np.zeros((300, 2))):
        expected = len(Y) if (Y == 0).all() else 1
        np.testing.assert_allclose(kernel_sum(Y, sigma=5e-324, method=method), expected, rtol=1e-6)


@pytest.mark.parametrize("sigma", [1e-3, 0.5])
def test_a_crowd_in_one_place(sigma):
    """100,000 times the same point among others."""
    others = np.random.default_rng(5).normal(size=(500, 2))
    Y = np.concatenate([np.tile([[0.3, 0.1]], (100_000, 1)), others])
    graph = similarity_graph(Y, sigma=sigma, n_rounds=10, seed=0)
    K = oracle.kernel_matrix(
        others, np.concatenate([others, [[0.3, 0.1]]]), "gaussian", sigma
    ).astype(float)
    np.fill_diagonal(K, 0)
    np.testing.assert_allclose(
        graph.kernel_degrees[:100_000], 99_999 + K[:, -1].sum(), rtol=graph.eps
    )
    np.testing.assert_allclose(
        graph.kernel_degrees[100_000:],
        K[:, :-1].sum(axis=1) + 100_000 * K[:, -1],
        rtol=graph.eps,
        atol=1e-300,
    )
    assert (graph.neighbors[:100_000] >= 0).all()
    assert (graph.neighbors != np.arange(len(Y))[:, None]).all()
    counts = np.bincount(graph.neighbors[:100_000].ravel() // 1000, minlength=101)[
        :100
    ]  # nobody in the crowd is preferred
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


def test_kinds_of_input(way):
    ints = np.random.default_rng(2).integers(-30, 30, size=(80, 2))
    read_only = ints.astype(float)
    read_only.flags.writeable = False
    wide = np.zeros((160, 4))
    wide[::2, ::2] = ints
    kinds = [
        ints,
        ints.tolist(),
        tuple(map(tuple, ints.tolist())),
        *(ints.astype(kind) for kind in (np.float32, np.float16, np.int8, object, ">f4")),
        np.asfortranarray(ints.astype(float)),
        read_only,
        wide[::2, ::2],
        np.ma.array(ints, mask=False),
    ]
    graphs = [
        similarity_graph(Y, sigma=np.float32(6), n_rounds=np.int64(7), seed=0, **way) for Y in kinds
    ]
    for graph in graphs:
        assert np.array_equal(graph.neighbors, graphs[0].neighbors)
        assert np.array_equal(graph.adjacency.data, graphs[0].adjacency.data)
    assert np.array_equal(read_only, ints)
    booleans = similarity_graph(ints > 0, sigma=1, n_rounds=3.0, seed=0, **way)
    assert booleans.n_rounds == 3


def test_data_frames(way):
    pandas = pytest.importorskip("pandas")
    graph = similarity_graph(pandas.DataFrame(X, columns=["a", "b"]), sigma=1.0, seed=0, **way)
    assert np.array_equal(graph.neighbors, similarity_graph(X, sigma=1.0, seed=0, **way).neighbors)


def test_input_is_left_alone(way):
    before = X.copy()
    similarity_graph(X, sigma=1.0, seed=0, **way)
    assert np.array_equal(X, before)


@pytest.mark.parametrize("sigma", [Fraction(1, 2), np.float64(0.5), np.float16(0.5)])
def test_kinds_of_sigma(sigma):
    assert similarity_graph(X, sigma=sigma, seed=0).sigma == 0.5


# Refusals.

BAD_POINTS = {
    "nan": ([[0.0, 1.0], [np.nan, 2.0]], ValueError, r"finite.*\[1, 0\].*nan"),
    "inf": ([[0.0, np.inf]], ValueError, r"finite.*\[0, 1\].*inf"),
    "float overflow": (np.array([[np.longdouble("1e400"), 0]]), ValueError, "finite"),
    "no points": (np.zeros((0, 2)), ValueError, "no points"),
    "empty list": ([], ValueError, r"shape \(n, d\), got \(0,\)"),
    "no columns": (np.zeros((3, 0)), ValueError, "no columns"),
    "one dimension": ([1.0, 2.0], ValueError, r"shape \(n, d\), got \(2,\).*reshape"),
    "three dimensions": (np.zeros((2, 2, 2)), ValueError, r"shape \(n, d\), got \(2, 2, 2\)"),
    "number": (3.0, ValueError, r"shape \(n, d\), got \(\)"),
    "none": (None, ValueError, r"shape \(n, d\)"),
    "ragged": ([[1.0], [1.0, 2.0]], ValueError, "rows differ in length"),
    "strings": ([["a", "b"]], ValueError, "must hold numbers"),
    "numbers as strings": ([["1", "2"]], ValueError, "must hold numbers"),
    "bytes": (np.array([[b"1"]]), ValueError, "must hold numbers"),
    "mixed": ([[1.0, "b"]], ValueError, "must hold numbers"),
    "objects": ([[1.0, {}]], ValueError, "must hold numbers"),
    "none inside": ([[1.0, None]], ValueError, "must hold numbers|finite"),
    "dates": (np.array([["2020-01-01"]], dtype="M8[D]"), ValueError, "must hold numbers"),
    "records": (np.zeros((2, 2), dtype=[("a", float)]), ValueError, "must hold numbers"),
    "complex": ([[1j, 2.0]], ValueError, "complex"),
    "sparse": (scipy.sparse.eye_array(3).tocsr(), TypeError, "sparse.*toarray"),
    "masked": (np.ma.array([[1.0, 2.0]], mask=[[False, True]]), ValueError, "masked"),
}


@pytest.mark.parametrize("name", BAD_POINTS)
def test_bad_points(name):
    bad, kind, message = BAD_POINTS[name]
    with pytest.raises(kind, match=message) as caught:
        similarity_graph(bad, sigma=1.0)
    assert str(caught.value).startswith("X ")
    with pytest.raises(kind, match=message) as caught:
        kernel_sum(bad, sigma=1.0)
    assert str(caught.value).startswith("sources ")
    if bad is not None:
        with pytest.raises(kind, match=message) as caught:
            gauss_transform([[0.0, 1.0]], bad, sigma=1.0)
        assert str(caught.value).startswith("targets ")


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


NOT_REAL = "kde: Solver.sums must return real numbers"
BAD_SOLVERS = [
    (None, TypeError, "kde must be one of .*NoneType has no method 'fit'"),
    (3, TypeError, "kde must be one of .*int has no method 'fit'"),
    (NoSums(), TypeError, "kde must be one of .*NoSums has no method 'sums'"),
    (
        Solver(fit=lambda self: None),
        TypeError,
        "kde: Solver.fit.* must return the fitted object .*None",
    ),
    (
        Solver(sums=lambda t: np.ones(len(t) + 1)),
        ValueError,
        r"kde: Solver.sums must return shape \(\d+,\).*got",
    ),
    (
        Solver(sums=lambda t: np.ones((len(t), 1))),
        ValueError,
        r"kde: Solver.sums must return shape",
    ),
    (
        Solver(sums=lambda t: 1.0),
        ValueError,
        r"kde: Solver.sums must return shape .*got \(\)",
    ),
    (
        Solver(sums=lambda t: np.full(len(t), np.nan)),
        ValueError,
        r"kde: Solver.sums returned nan",
    ),
    (
        Solver(sums=lambda t: np.full(len(t), np.inf)),
        ValueError,
        r"kde: Solver.sums returned inf",
    ),
    (Solver(sums=lambda t: None), TypeError, NOT_REAL),
    (Solver(sums=lambda t: ["a"] * len(t)), TypeError, NOT_REAL),
    (Solver(sums=lambda t: np.ones(len(t)) * 1j), TypeError, NOT_REAL),
]
NAMED = ("kernel", "sampler", "draws", "weighting")  # chosen by name only
BAD_ARGUMENTS = [
    *(
        ("sigma", value, ValueError, "sigma must be positive and finite, got")
        for value in (0, -1.0, math.nan, math.inf, -math.inf)
    ),
    ("sigma", "wide", ValueError, "sigma must be a positive number, an array .*, got 'wide'"),
    ("sigma", [1.0], ValueError, r"sigma must have shape \(30,\), one for each point, got \(1,\)"),
    ("sigma", [1.0] * 29 + [0.0], ValueError, r"sigma must be positive .* sigma\[29\] is 0.0"),
    ("sigma", [1.0] * 29 + [1e101], ValueError, "differ by a factor of more than 1e\\+100"),
    ("sigma", ["1"] * 30, TypeError, "sigma must hold real numbers"),
    ("alpha", "1", TypeError, "alpha must be a number from 0 to 1, got '1'"),
    ("alpha", 1.5, ValueError, r"alpha must lie in \[0, 1\], got 1.5"),
    *(
        ("sigma", value, TypeError, "sigma must be a positive number, got")
        for value in (None, 1j, True, b"1")
    ),
    *(
        ("n_rounds", value, ValueError, "n_rounds must be a whole number >= 1, got")
        for value in (0, -3, 2.5, math.nan, math.inf)
    ),
    *(
        ("n_rounds", value, TypeError, "n_rounds must be a whole number >= 1, got")
        for value in (None, [3], True, 1j)
    ),
    ("n_rounds", "many", ValueError, "n_rounds must be a number or 'auto', got 'many'"),
    ("n_rounds", 2**40, ValueError, "n_rounds must be at most"),
    *(
        ("eps", value, ValueError, "eps .*got|eps must be positive")
        for value in (0, 1, 1.5, -0.1, math.nan, math.inf)
    ),
    *(
        ("eps", value, TypeError, "eps must be a positive number, got")
        for value in ("small", True, 1j)
    ),
    *(
        (name, "nonsense", ValueError, f"unknown {name} 'nonsense'; choose one of")
        for name in ("kernel", "sampler", "draws", "kde", "weighting")
    ),
    (
        "sampler",
        "rows",  # of earlier versions
        ValueError,
        "unknown sampler 'rows'; choose one of "
        "'auto', 'mixture', 'near', 'recursive', 'rejection'$",
    ),
    *((name, 3, TypeError, f"{name} must be one of .*got 3") for name in NAMED),
    *((name, None, TypeError, f"{name} must be one of .*got None") for name in NAMED),
    *(
        ("seed", value, TypeError, "seed must be None, a whole number")
        for value in ("1", 1.5, True, [1])
    ),
    *(("seed", value, ValueError, r"seed must lie in \[0, 2\*\*64\)") for value in (-1, 2**64)),
    *(("kde", *bad) for bad in BAD_SOLVERS),
]


@pytest.mark.parametrize(
    ("name", "value", "kind", "message"), BAD_ARGUMENTS, ids=lambda value: repr(value)[:30]
)
def test_bad_arguments(name, value, kind, message):
    with pytest.raises(kind, match=message):
        similarity_graph(X, **({"sigma": 1.0} | {name: value}))


BAD_SUM_ARGUMENTS = [
    ("kernel", "epanechnikov", ValueError, "unknown kernel"),
    ("method", "magic", ValueError, "unknown method 'magic'; choose one of 'auto'"),
    ("method", None, TypeError, "method must be one of"),
    ("sigma", -1.0, ValueError, "sigma must be positive"),
    ("sigma", math.nan, ValueError, "sigma must be positive"),
    ("sigma", "auto", TypeError, "sigma must be a positive number"),
    ("eps", 0.0, ValueError, "eps"),
    ("eps", 1.0, ValueError, "eps is a relative error"),
    ("eps", None, TypeError, "eps"),
    ("weights", [1.0], ValueError, r"weights must have shape \(30,\).*got \(1,\)"),
    ("weights", 1.0, ValueError, r"weights must have shape \(30,\).*got \(\)"),
    ("weights", np.ones((30, 1)), ValueError, r"weights must have shape"),
    ("weights", np.full(30, np.nan), ValueError, r"weights must be finite, but weights\[0\]"),
    ("weights", np.full(30, np.inf), ValueError, r"weights must be finite"),
    ("weights", ["a"] * 30, TypeError, "weights must hold real numbers"),
    ("weights", [1j] * 30, TypeError, "weights must hold real numbers"),
    (
        "targets",
        np.zeros((4, 3)),
        ValueError,
        "targets must have 2 columns like the sources, got 3",
    ),
]


@pytest.mark.parametrize(
    ("name", "value", "kind", "message"), BAD_SUM_ARGUMENTS, ids=lambda value: repr(value)[:30]
)
def test_bad_arguments_of_sums(name, value, kind, message):
    with pytest.raises(kind, match=message):
        kernel_sum(X, **({"sigma": 1.0} | {name: value}))


def test_expansions_are_for_the_gaussian():
    with pytest.raises(ValueError, match=r"method 'fgt'.*'laplacian'.*method='tree'"):
        kernel_sum(X, kernel="laplacian", sigma=1.0, method="fgt")


def test_errors_come_before_any_work():
    def progress(stage, fraction):
        raise Cancelled

    for bad in (
        {"n_rounds": 0},
        {"seed": -1},
        {"kernel": "x"},
        {"sigma": -1.0},
        {"weighting": "x"},
        {"kde": 3},
        {"eps": 2.0},
    ):
        with pytest.raises((ValueError, TypeError)):
            similarity_graph(X, progress=progress, **bad)
