"""The spectrum of all kinds of graphs, against LAPACK and closed forms."""

import math

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
import scipy.sparse.csgraph
import scipy.sparse.linalg
from graphs import check_spectrum, complete, cycle, hypercube, separated_blobs
from kdegraph.baselines import full_graph
from kdegraph.costs import LAPACK_COSTS
from kdegraph.dispatch import spectrum
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits


def set_costs(monkeypatch, **costs):
    """Change what decides between LAPACK and the iteration."""
    monkeypatch.setattr(
        "kdegraph.spectral.solver.iteration.LAPACK_COSTS", LAPACK_COSTS._replace(**costs)
    )


# ---------------------------------------------------------------- LAPACK or iteration


def test_every_number_of_eigenvalues_around_the_change_to_lapack(monkeypatch):
    set_costs(monkeypatch, max_small=0, multiplication=math.inf)
    A, _ = separated_blobs(120, 3)
    exact = oracle.eigenvalues(A)
    products = []
    for k in range(1, 61):
        found = spectrum(A, k)
        products.append(found.n_products)
        assert np.abs(found.eigenvalues - exact[:k]).max() < 1e-5
    assert max(products[:3]) == 0  # the components
    assert min(products[3:8]) > 0  # the block iteration
    assert max(products[40:]) == 0  # LAPACK


def random_graph(n, degree):
    """Edges at random: all eigenvalues but the first lie close to each other, far from it."""
    W = sp.random_array((n, n), density=degree / (2 * n), rng=np.random.default_rng(0))
    return sp.csr_array(W + W.T)


@pytest.mark.parametrize(("n", "degree", "k"), [(906, 55, 10), (2000, 20, 10), (6000, 30, 3)])
def test_graphs_without_clusters(n, degree, k, monkeypatch):
    """Null vectors, whose rounding errors grow most, do not take the place of all others."""
    set_costs(monkeypatch, multiplication=math.inf)
    A = random_graph(n, degree)
    found = spectrum(A, k, tol=5e-7)
    assert found.converged
    assert 0 < found.n_products < 500
    scale = sp.diags_array(1 / np.sqrt(A.sum(axis=1)))
    M = scale @ A @ scale
    largest = scipy.sparse.linalg.eigsh(M, k, which="LA", tol=1e-10, return_eigenvectors=False)
    assert np.abs(found.eigenvalues - np.sort(1 - largest)).max() < 1e-9


def nearly_equal_weights(n, rng):
    W = 1 + 1e-6 * rng.random((n, n))
    return W + W.T


def points_in_many_dimensions(n, rng):
    return full_graph(rng.normal(size=(n, 50)), sigma=7.0)


def random_weights(n, rng):
    W = rng.random((n, n)) * (rng.random((n, n)) < 0.3)
    return W + W.T


@pytest.mark.parametrize("k", [3, 18])
@pytest.mark.parametrize("make", [nearly_equal_weights, points_in_many_dimensions, random_weights])
def test_never_takes_much_longer_than_lapack(make, k, monkeypatch):
    """The iteration hands over once it has taken as long, whatever the number of vertices."""
    set_costs(monkeypatch, max_instead=0)
    n = 900
    A = make(n, np.random.default_rng(k))
    found = spectrum(A, k, tol=1e-9)
    exact = oracle.eigenvalues(A)[:k]
    assert found.converged
    assert np.abs(found.eigenvalues - exact).max() < 1e-12
    assert found.residuals.max() < 1e-12  # it was LAPACK
    assert found.n_products * 16 * np.count_nonzero(A) <= n**3


@pytest.mark.parametrize(
    ("n", "tol", "is_single"), [(401, 1e-4, True), (401, 9e-6, False), (400, 1e-4, False)]
)
def test_lapack_works_in_single_precision_where_that_suffices(n, tol, is_single, monkeypatch):
    set_costs(monkeypatch, multiplication=0)
    found = check_spectrum(random_weights(n, np.random.default_rng(0)), 20, tol=tol)
    assert found.n_products == 0  # it was LAPACK
    assert (found.residuals.max() > 1e-9) == is_single
    assert found.residuals.max() < 1e-6


def test_lapack_works_in_double_precision_where_eigenvalues_are_tiny(monkeypatch):
    set_costs(monkeypatch, multiplication=0)
    n = 500
    path = sp.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1])
    found = spectrum(path, 2)
    exact = 2 * math.sin(math.pi / (2 * (n - 1))) ** 2  # 2e-5
    assert found.n_products == 0
    assert abs(found.eigenvalues[1] / exact - 1) < 1e-8


def test_iterates_on_where_lapack_has_no_room(monkeypatch):
    """The eigenvalues still come, or it is said that they did not converge."""
    monkeypatch.setattr(
        "kdegraph.spectral.solver.iteration.fits", lambda n_bytes: n_bytes < 10 * 1000**2
    )
    A = random_weights(1000, np.random.default_rng(0))
    found = spectrum(A, 3, tol=1e-6)
    exact = oracle.eigenvalues(A)[:3]
    assert found.n_products > 0
    assert np.abs(found.eigenvalues - exact).max() < 1e-9
    set_costs(monkeypatch, max_instead=500)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        assert not spectrum(A, 3, tol=1e-6, max_products=60).converged


# ---------------------------------------------------------------- multiplicity, by closed forms and
# LAPACK


@pytest.mark.parametrize("k", [5, 12, 20])
def test_hypercube_has_binomial_multiplicities(k):
    d = 11
    values = np.repeat(2 * np.arange(d + 1) / d, [math.comb(d, c) for c in range(d + 1)])
    found = check_spectrum(hypercube(d), k, eigenvalues=values)
    assert found.n_products > 0  # by iteration


@pytest.mark.parametrize("c", [2, 5, 20])
def test_disconnected_graphs(c):
    A, y = separated_blobs(1000, c)
    eigenvalues = oracle.eigenvalues(A)
    for k in (c - 1, c, c + 1, c + 6):
        found = check_spectrum(A, k, eigenvalues=eigenvalues)
        assert found.n_connected_components == c
        assert np.sum(found.eigenvalues == 0) == min(c, k)
    members = np.abs(spectrum(A, c).eigenvectors) > 0  # the components
    assert (members.sum(axis=1) == 1).all()
    assert (np.diff(members.sum(axis=0)) <= 0).all()
    assert all(len(np.unique(y[members[:, i]])) == 1 for i in range(c))


@pytest.mark.parametrize("k", [20, 1050, 1055])
def test_thousands_of_components(k):
    A = sp.csr_array(sp.block_diag([complete(3)] * 1000 + [sp.csr_array((50, 50))]))
    found = spectrum(A, k)
    expected = np.r_[np.zeros(1050), np.full(2000, 1.5)][:k]
    assert np.abs(found.eigenvalues - expected).max() < 1e-7
    assert np.abs(found.eigenvectors.T @ found.eigenvectors - np.eye(k)).max() < 1e-9
    assert found.n_connected_components == 1050
    assert found.isolated.tolist() == list(range(3000, 3050))


def test_isolated_vertices_are_components_of_their_own():
    A, _ = separated_blobs(500, 2)
    rows = np.r_[0:100, 103:503]
    B = sp.csr_array((505, 505))
    lift = sp.csr_array((np.ones(500), (rows, np.arange(500))), shape=(505, 500))
    B = sp.csr_array(lift @ A @ lift.T)
    found = check_spectrum(B, 12)
    assert found.isolated.tolist() == [100, 101, 102, 503, 504]
    assert found.n_connected_components == 7
    assert np.sum(found.eigenvalues == 0) == 7
    # After the larger components.
    assert np.array_equal(np.flatnonzero(found.eigenvectors[:, 2]), [100])
    without = spectrum(B, 7, omit_isolated=True)
    assert without.omit_isolated
    assert np.abs(without.eigenvalues - found.eigenvalues[5:]).max() < 1e-7
    assert (without.eigenvectors[found.isolated] == 0).all()


@pytest.mark.parametrize("least", [1, 4, 5, 250])
def test_small_components_can_be_left_out(least):
    A, _ = separated_blobs(500, 2)
    parts = [np.ones((1, 1)) * 0, complete(4), A, complete(2), complete(4), complete(200)]
    B = sp.csr_array(sp.block_diag(parts))
    component = scipy.sparse.csgraph.connected_components(B)[1]
    rows = np.bincount(component)[component] >= least
    found = spectrum(B, 8, smallest_component=least, tol=1e-6)
    inside = spectrum(sp.csr_array(B[rows][:, rows]), 8, tol=1e-6)
    assert np.abs(found.eigenvalues - inside.eigenvalues).max() < 1e-9
    assert (found.eigenvectors[~rows] == 0).all()
    assert np.abs(np.linalg.norm(found.eigenvectors, axis=0) - 1).max() < 1e-9
    assert found.omit_isolated == (least > 1)
    assert (found.smallest_component, found.n_connected_components) == (least, 7)
    with pytest.raises(ValueError, match="and left out" if least > 1 else "number of vertices"):
        spectrum(B, int(rows.sum()) + 1, smallest_component=least)


@pytest.mark.parametrize(
    ("sizes", "least"),
    [
        ((1000, 900, 2, 1, 1), 16),  # sqrt(1000) / 2 = 15.8, 2 log(1904) = 15.1
        ((3000, 9), 17),  # 2 log(3009) = 16.02
        ((100, 8, 8), 5),
        ((16, 16, 2), 2),
        ((17, 17, 17, 2), 3),
        ((5, 4, 3, 2), 2),
    ],
)
def test_what_is_small_by_itself(sizes, least):
    rings = [cycle(size) if size > 2 else complete(size) for size in sizes]
    A = sp.csr_array(sp.block_diag(rings))
    assert spectrum(A, 1, smallest_component="auto").smallest_component == least


def test_larger_components_than_there_are():
    with pytest.raises(
        ValueError, match=r"only small components: all 5 vertices are in components of fewer than 6"
    ):
        spectrum(complete(5), 1, smallest_component=6)
    for bad in (0, "small", None, 2.5):
        with pytest.raises((ValueError, TypeError), match="smallest_component"):
            spectrum(complete(5), 1, smallest_component=bad)


# ---------------------------------------------------------------- graphs with everything at once:
# up to 20 components of many shapes, some of them twice (repeated eigenvalues), clusters joined by
# tiny weights (clustered eigenvalues), isolated vertices, and weights over twelve orders of
# magnitude, the vertices in random order


def scattered(n, rng):
    """A connected graph with weights from 1e-12 to 1: a random tree and as many edges again."""
    rows = np.r_[np.arange(1, n), rng.integers(0, n, n)]
    columns = np.r_[rng.integers(0, np.arange(1, n)), rng.integers(0, n, n)]
    A = sp.csr_array((10.0 ** rng.uniform(-12, 0, len(rows)), (rows, columns)), shape=(n, n))
    return A + A.T


def clustered(n, rng):
    """Three dense parts, joined by weights of 1e-9."""
    part, near = np.arange(n) * 3 // n, np.abs(np.subtract.outer(np.arange(n), np.arange(n))) < 30
    W = np.where(near, np.where(np.equal.outer(part, part), 1.0, 1e-9), 0.0)
    np.fill_diagonal(W, 0)
    return sp.csr_array(W)


SHAPES = (lambda n, rng: cycle(n), lambda n, rng: complete(n), scattered, clustered)


def assorted(n, c, seed):
    """`n` vertices in `c` components, of which about one in four is an isolated vertex."""
    rng = np.random.default_rng([n, c, seed])
    n_single = min(c // 4, n)
    c_rest = max(c - n_single, 1)
    bounds = np.linspace(0, n - n_single, c_rest + 1).astype(int)
    parts = [sp.csr_array((n_single, n_single))] if n_single else []
    for i, size in enumerate(np.diff(bounds)):
        # Each shape twice: of the same size, the deterministic ones have the same eigenvalues.
        shape = SHAPES[(i // 2 + seed) % 4]
        parts.append(shape(size, rng) if size > 2 else complete(size))
    A = sp.csr_array(sp.block_diag(parts))
    A = A * 10.0 ** rng.uniform(-3, 3)
    order = rng.permutation(n)
    return sp.csr_array(A[order][:, order])


def check_numbers(A, c, numbers):
    eigenvalues = oracle.eigenvalues(A)
    for k in numbers:
        found = check_spectrum(A, k, eigenvalues=eigenvalues)
        assert found.n_connected_components == c
        assert (found.eigenvalues[:c] == 0).all()


LARGE = [(100, 1), (100, 20), (300, 3), (450, 8), (700, 1), (700, 20), (1500, 5), (2000, 2)]


@pytest.mark.parametrize(("n", "c"), LARGE)
def test_spread_of_numbers_of_eigenvalues(n, c):
    numbers = {1, 2, c, c + 1, c + 7, 25}
    numbers |= {n // 20, n // 3, n - 1, n} if n < 1000 else set()
    with threadpool_limits(1, user_api="blas"):
        for seed in range(4 if n == 100 else 1):
            check_numbers(assorted(n, c, seed), c, sorted(numbers))


# ---------------------------------------------------------------- input of many kinds


def test_types_of_weights():
    edges = separated_blobs(420, 2)[0] > 0
    expected = spectrum(edges.astype(float), 5).eigenvalues
    for dtype in (np.float32, np.int64, bool, np.uint8):
        assert np.array_equal(spectrum(edges.astype(dtype), 5).eigenvalues, expected)
