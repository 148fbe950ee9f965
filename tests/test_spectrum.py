"""The spectrum against LAPACK and closed forms: multiplicity, components, isolated vertices, warm starts, bad input."""

import itertools
import math
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import kdegraph
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from kdegraph.graph import similarity_graph
from kdegraph.parallel import Cancelled, set_num_threads
from kdegraph.spectra import Spectrum, spectrum, suggest_n_clusters
from kdegraph.tree import build_tree
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import kneighbors_graph

TOL = 1e-4


def laplacian(A):
    """Dense normalised Laplacian; rows of isolated vertices are zero. Shares no code with the package."""
    A = A.toarray() if sp.issparse(A) else np.asarray(A, dtype=float)
    degrees = A.sum(axis=1)
    scale = np.array([1 / math.sqrt(d) if d > 0 else 0.0 for d in degrees])
    return np.diag((degrees > 0).astype(float)) - scale[:, None] * A * scale


def check(A, k, *, eigenvalues=None, tol=TOL, **options):
    """Compute a spectrum and hold everything that is promised against the oracle."""
    found = spectrum(A, k, tol=tol, **options)
    N = laplacian(A)
    exact = scipy.linalg.eigh(N, eigvals_only=True) if eigenvalues is None else np.sort(eigenvalues)
    assert found.converged
    assert found.n_components == k
    assert found.eigenvalues.shape == (k,)
    assert found.eigenvectors.shape == (len(N), k)
    assert (np.diff(found.eigenvalues) >= -1e-12).all()
    assert found.eigenvalues.min() >= 0
    assert np.abs(found.eigenvalues - exact[:k]).max() < max(0.05 * tol, 1e-13)
    assert np.abs(found.eigenvectors.T @ found.eigenvectors - np.eye(k)).max() < 1e-9
    residuals = np.linalg.norm(N @ found.eigenvectors - found.eigenvectors * found.eigenvalues, axis=0)
    assert residuals.max() <= tol * 1.01 + 1e-13
    assert np.allclose(residuals, found.residuals, atol=max(1e-12, 0.01 * tol))
    return found


def cycle(n):
    i = np.arange(n)
    A = sp.csr_array((np.ones(n), (i, (i + 1) % n)), shape=(n, n))
    return A + A.T


def cycle_values(n):
    return 1 - np.cos(2 * np.pi * np.arange(n) / n)


def complete(n):
    return sp.csr_array(np.ones((n, n)) - np.eye(n))


def hypercube(d):
    A = sp.csr_array((1, 1))
    edge = sp.csr_array([[0.0, 1.0], [1.0, 0.0]])
    for _ in range(d):
        A = sp.kron(A, sp.eye_array(2)) + sp.kron(sp.eye_array(A.shape[0]), edge)
    return sp.csr_array(A)


def separated_blobs(n, c, k=8):
    """k-NN graph with exactly `c` components."""
    centres = np.array([[1000.0 * (i % 5), 1000.0 * (i // 5)] for i in range(c)])
    X, y = make_blobs(n, centers=centres, cluster_std=1.0, random_state=c)
    A = kneighbors_graph(X, k)
    return sp.csr_array(A + A.T), y


# ---------------------------------------------------------------- small graphs, every number of eigenvalues


@pytest.mark.parametrize("n", [*range(1, 13), 30])
def test_every_number_of_eigenvalues_of_small_graphs(n):
    rng = np.random.default_rng(n)
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.6), 1)
    A = sp.csr_array(W + W.T)
    for k in range(1, n + 1):
        check(A, k)


def test_every_number_of_eigenvalues_around_the_change_to_lapack(monkeypatch):
    monkeypatch.setattr("kdegraph.spectra.DENSE_UP_TO", 0)
    A, _ = separated_blobs(120, 3)
    exact = scipy.linalg.eigh(laplacian(A), eigvals_only=True)
    products = []
    for k in range(1, 61):
        found = spectrum(A, k)
        products.append(found.n_products)
        assert np.abs(found.eigenvalues - exact[:k]).max() < 1e-5
    assert max(products[:3]) == 0  # the components
    assert min(products[3:8]) > 0  # the block iteration
    assert max(products[40:]) == 0  # LAPACK


def test_one_vertex():
    found = check(sp.csr_array((1, 1)), 1)
    assert found.eigenvalues.tolist() == [0]
    assert found.eigenvectors.tolist() == [[1]]
    assert found.isolated.tolist() == [0]
    assert found.n_connected_components == 1


def test_graph_without_edges():
    found = check(sp.csr_array((7, 7)), 7)
    assert found.eigenvalues.tolist() == [0] * 7
    assert found.n_connected_components == 7


# ---------------------------------------------------------------- multiplicity, by closed forms and LAPACK


@pytest.mark.parametrize("n", [3, 6, 300, 500, 2000])
def test_cycles_have_double_eigenvalues(n):
    k = min(n, 9)
    found = check(cycle(n), k, eigenvalues=cycle_values(n))
    gap = cycle_values(n)[1] / 20 if n > 3 else 1e-9  # far tighter than the tolerance: each copy is where it belongs
    assert np.abs(found.eigenvalues - np.sort(cycle_values(n))[:k]).max() < gap


@pytest.mark.parametrize("k", [1, 2, 10, 600])
def test_complete_graph(k):
    check(complete(600), k, eigenvalues=np.r_[0, np.full(599, 600 / 599)])


@pytest.mark.parametrize("k", [2, 5, 11, 12, 13, 20])
def test_hypercube_has_binomial_multiplicities(k):
    d = 11
    values = np.repeat(2 * np.arange(d + 1) / d, [math.comb(d, c) for c in range(d + 1)])
    found = check(hypercube(d), k, eigenvalues=values)
    assert found.n_products > 0  # by iteration


@pytest.mark.parametrize("k", [3, 5, 9, 30])
def test_torus_has_eigenvalues_of_multiplicity_four(k):
    m = 30
    ring, eye = cycle(m), sp.eye_array(m)
    c = np.cos(2 * np.pi * np.arange(m) / m)
    values = (1 - (c[:, None] + c) / 2).ravel()
    check(sp.csr_array(sp.kron(ring, eye) + sp.kron(eye, ring)), k, eigenvalues=values)


@pytest.mark.parametrize("c", [2, 5, 20])
@pytest.mark.parametrize("extra", [-1, 0, 1, 6])
def test_disconnected_graphs(c, extra):
    A, y = separated_blobs(1000, c)
    found = check(A, c + extra)
    assert found.n_connected_components == c
    assert np.sum(found.eigenvalues == 0) == min(c, c + extra)
    if extra == 0:  # the eigenvectors are the components
        members = np.abs(found.eigenvectors) > 0
        assert (members.sum(axis=1) == 1).all()
        sizes = members.sum(axis=0)
        assert (np.diff(sizes) <= 0).all()
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


def test_equal_components_have_equal_eigenvalues():
    part, _ = separated_blobs(200, 1)
    A = sp.csr_array(sp.block_diag([part] * 4))
    values = np.sort(np.tile(scipy.linalg.eigh(laplacian(part), eigvals_only=True), 4))
    check(A, 14, eigenvalues=values)


def test_nearly_disconnected_moons_have_both_leading_eigenvalues():
    X, _ = make_moons(1000, noise=0.05, random_state=0)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=-1) / 0.1**2)
    np.fill_diagonal(K, 0)
    K[K < 1e-10] = 0
    exact = scipy.linalg.eigh(laplacian(K), eigvals_only=True)
    assert 0 < exact[1] < 1e-5 < 1e-3 < exact[2]  # one component, two in practice
    for k in (1, 2, 3, 4, 8):
        check(sp.csr_array(K), k)


def test_nearly_disconnected_blobs_have_all_tiny_eigenvalues():
    A, _ = separated_blobs(1200, 30)
    order = np.random.default_rng(0).permutation(1200)
    link = sp.csr_array((np.full(1200, 1e-9), (np.arange(1200), order)), shape=(1200, 1200))
    A = sp.csr_array(A + link + link.T)
    for k in (29, 30, 31):
        found = check(A, k)
        assert found.n_connected_components == 1
        assert np.sum(found.eigenvalues < 1e-6) == min(k, 30)


@pytest.mark.parametrize("k", [2, 10, 25])
def test_weights_over_twelve_orders_of_magnitude(k):
    A, _ = separated_blobs(900, 4)
    upper = sp.triu(A, 1).tocoo()
    upper.data = 10.0 ** np.random.default_rng(0).uniform(-12, 0, upper.nnz)
    check(sp.csr_array(upper + upper.T), k)


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e200, 1e305])
def test_the_unit_of_the_weights_does_not_matter(unit):
    A, _ = separated_blobs(600, 2)
    assert np.abs(spectrum(A * unit, 8).eigenvalues - spectrum(A, 8).eigenvalues).max() < 1e-7


def test_isolated_vertices_are_components_of_their_own():
    A, _ = separated_blobs(500, 2)
    rows = np.r_[0:100, 103:503]
    B = sp.csr_array((505, 505))
    lift = sp.csr_array((np.ones(500), (rows, np.arange(500))), shape=(505, 500))
    B = sp.csr_array(lift @ A @ lift.T)
    found = check(B, 12)
    assert found.isolated.tolist() == [100, 101, 102, 503, 504]
    assert found.n_connected_components == 7
    assert np.sum(found.eigenvalues == 0) == 7
    assert np.array_equal(np.flatnonzero(found.eigenvectors[:, 2]), [100])  # after the larger components
    without = spectrum(B, 7, omit_isolated=True)
    assert without.omit_isolated
    assert np.abs(without.eigenvalues - found.eigenvalues[5:]).max() < 1e-7
    assert (without.eigenvectors[found.isolated] == 0).all()


def test_self_loops_count_in_the_degree():
    rng = np.random.default_rng(0)
    W = rng.random((30, 30))
    check(W + W.T, 30)
    found = check(np.diag([1.0, 2.0, 0.0]), 3)
    assert found.eigenvalues.tolist() == [0, 0, 0]


# ---------------------------------------------------------------- input of many kinds


@pytest.mark.parametrize(
    "convert", [sp.csr_matrix, sp.csc_array, sp.coo_matrix, sp.lil_array, sp.dok_array, lambda A: A.toarray(), sp.bsr_array]
)
def test_formats(convert):
    A, _ = separated_blobs(420, 2)
    given = convert(A)
    assert np.array_equal(spectrum(given, 5).eigenvalues, spectrum(A, 5).eigenvalues)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool, np.uint8])
def test_types_of_weights(dtype):
    A = (separated_blobs(420, 2)[0] > 0).astype(dtype)
    assert np.array_equal(spectrum(A, 5).eigenvalues, spectrum(A.astype(float), 5).eigenvalues)


def test_explicit_zeros_and_duplicates_are_no_edges_and_the_argument_is_not_changed():
    A, _ = separated_blobs(420, 2)
    coo = A.tocoo()
    rows, columns = np.r_[coo.row, coo.row, 0, 419], np.r_[coo.col, coo.col, 419, 0]
    data = np.r_[coo.data / 2, coo.data / 2, 0, 0]
    order = np.lexsort((-columns, rows))  # unsorted within each row
    indptr = np.r_[0, np.cumsum(np.bincount(rows, minlength=420))]
    given = sp.csr_array((data[order], columns[order], indptr), shape=(420, 420))
    kept = given.data.copy(), given.indices.copy(), given.indptr.copy()
    for array in (given.data, given.indices, given.indptr):
        array.flags.writeable = False
    found = spectrum(given, 5)
    assert found.n_connected_components == 2
    assert np.abs(found.eigenvalues - spectrum(A, 5).eigenvalues).max() < 1e-10
    assert all(np.array_equal(*pair) for pair in zip(kept, (given.data, given.indices, given.indptr), strict=True))


def test_similarity_graph_is_accepted():
    X, _ = make_moons(600, noise=0.05, random_state=0)
    graph = similarity_graph(X, sigma=0.1, seed=0)
    assert np.array_equal(spectrum(graph, 6).eigenvalues, spectrum(graph.adjacency, 6).eigenvalues)
    check(graph.adjacency, 6)


# ---------------------------------------------------------------- the start from groups of points


@pytest.fixture
def grouped(monkeypatch):
    """Small graphs start from groups of points as large ones do."""
    monkeypatch.setattr("kdegraph._laplacian.IN_CACHE", 0)
    monkeypatch.setattr("kdegraph._coarse.MIN_VERTICES", 100)
    monkeypatch.setattr("kdegraph._coarse.NODE_SIZE", 2)
    monkeypatch.setattr("kdegraph.spectra.DENSE_UP_TO", 100)
    starts = []
    start = kdegraph._coarse.coarse_start
    monkeypatch.setattr("kdegraph.spectra.coarse_start", lambda *args: starts.append(start(*args)) or starts[-1])
    return starts


@pytest.mark.parametrize("name", ["moons", "blobs", "uniform", "varied", "rings"])
@pytest.mark.parametrize("k", [2, 5, 9])
def test_groups_of_points_give_the_right_spectrum(grouped, name, k):
    data = kdegraph.datasets.make(name, n=1500, seed=0)
    graph = similarity_graph(data.X, sigma=data.sigma, n_rounds=20, seed=0)
    found = spectrum(graph, k)
    exact = scipy.linalg.eigh(laplacian(graph.adjacency), eigvals_only=True)[:k]
    assert np.abs(found.eigenvalues - exact).max() < 5e-6
    if found.n_products:
        assert len(grouped) == 1
        cold = spectrum(graph.adjacency, k)  # no points: breadth-first order
        assert np.abs(cold.eigenvalues - exact).max() < 5e-6


@pytest.mark.parametrize("weight", [1e-9, 1e-3, 0.02])
@pytest.mark.parametrize("seed", range(4))
def test_what_groups_of_points_cannot_show_is_found(grouped, weight, seed):
    """Tiny clusters within the groups: pairs and triples of vertices that hang together, weakly attached to one of their neighbours."""
    X, _ = make_moons(1500, noise=0.05, random_state=0)
    A = similarity_graph(X, sigma=0.2, n_rounds=20, seed=0).adjacency.toarray()
    rng = np.random.default_rng(seed)
    parts = np.split(rng.choice(1500, 14, replace=False), [2, 4, 6, 8, 11])  # four pairs and two triples
    for part in parts:
        host = np.flatnonzero(A[part[0]])[0]
        A[part] = 0
        A[:, part] = 0
        for i, j in itertools.combinations(part, 2):
            A[i, j] = A[j, i] = 1.0
        A[part[0], host] = A[host, part[0]] = weight
    A = sp.csr_array(A)
    order = build_tree(X, 8).order
    graph = SimpleNamespace(adjacency=A, points=X, order=order)
    exact = scipy.linalg.eigh(laplacian(A), eigvals_only=True)
    for k in (3, 7, 10):
        for tol in (1e-4, 1e-3):
            found = spectrum(graph, k, seed=seed, tol=tol)
            assert np.abs(found.eigenvalues - exact[:k]).max() < 0.05 * tol
    assert len(grouped) == 6


def test_groups_of_points_across_components(grouped):
    data = kdegraph.datasets.make("blobs", n=2000, seed=0)
    graph = similarity_graph(data.X, sigma=0.2, n_rounds=20, seed=0)
    exact = scipy.linalg.eigh(laplacian(graph.adjacency), eigvals_only=True)
    components = np.sum(exact < 1e-12)
    for k in (components, components + 1, components + 6):
        found = spectrum(graph, k)
        assert found.n_connected_components == components
        assert np.abs(found.eigenvalues - exact[:k]).max() < 5e-6


# ---------------------------------------------------------------- warm starts, seeds, threads, cancelling


@pytest.fixture(scope="module")
def two_graphs():
    """The graphs before and after a small move of sigma."""
    X, _ = make_moons(3000, noise=0.05, random_state=0)
    return tuple(similarity_graph(X, sigma=s, n_rounds=30, seed=0).adjacency for s in (0.15, 0.16))


def test_warm_start_saves_work(two_graphs):
    before, after = two_graphs
    cold = spectrum(after, 10)
    warm = spectrum(after, 10, v0=spectrum(before, 10))
    assert np.abs(warm.eigenvalues - cold.eigenvalues).max() < 1e-6
    assert warm.n_products <= 0.8 * cold.n_products
    plain = spectrum(after, 10, v0=spectrum(before, 10).eigenvectors)
    assert np.abs(plain.eigenvalues - cold.eigenvalues).max() < 1e-6
    assert plain.n_products < cold.n_products


@pytest.mark.parametrize("lost", [[1], [2], [2, 3], [4, 9], list(range(8))])
def test_what_a_start_lacks_is_found(two_graphs, lost):
    A = two_graphs[0]
    full = spectrum(A, 10)
    block = np.hstack([full.eigenvectors, full.guards])
    for seed in range(3):
        found = spectrum(A, 10, v0=np.delete(block, lost, axis=1), seed=seed)
        assert np.abs(found.eigenvalues - full.eigenvalues).max() < 1e-6


@pytest.mark.parametrize(
    "start",
    [
        lambda n: np.ones((n, 1)),
        lambda n: np.zeros((n, 3)),
        lambda n: np.random.default_rng(0).normal(size=(n, 40)),
        lambda n: np.eye(n)[:, :12],
        lambda n: np.ones((n, 20), dtype=np.int64),
        lambda n: np.empty((n, 0)),
    ],
)
def test_useless_starts_do_no_harm(two_graphs, start):
    A = two_graphs[0]
    expected = spectrum(A, 6).eigenvalues
    assert np.abs(spectrum(A, 6, v0=start(A.shape[0])).eigenvalues - expected).max() < 1e-6


def test_start_after_components_have_split_off(two_graphs):
    A = two_graphs[0]
    start = spectrum(A, 6)
    C = A.tolil()
    C[:30] = 0
    C[:, :30] = 0
    C[0, 1] = C[1, 0] = 1e-3
    C = C.tocsr()
    check(C[:1000, :1000], 40, v0=start.eigenvectors[:1000])


def test_results_depend_on_the_seed_only_and_not_on_threads(two_graphs):
    A = two_graphs[0]
    try:
        found = []
        for threads in (1, 2, 3):
            set_num_threads(threads)
            found.append(spectrum(A, 8, seed=5))
    finally:
        set_num_threads(None)
    for other in found[1:]:
        assert np.array_equal(other.eigenvalues, found[0].eigenvalues)
        assert np.array_equal(other.eigenvectors, found[0].eigenvectors)
    another = spectrum(A, 8, seed=6)
    assert not np.array_equal(another.eigenvectors, found[0].eigenvectors)
    assert np.abs(another.eigenvalues - found[0].eigenvalues).max() < 1e-6


def test_smaller_tolerance_gives_smaller_residuals(two_graphs):
    check(two_graphs[0][:1500, :1500], 6, tol=1e-10)


def test_signs_make_the_largest_entry_positive(two_graphs):
    vectors = spectrum(two_graphs[0], 6).eigenvectors
    assert (vectors[np.abs(vectors).argmax(axis=0), np.arange(6)] > 0).all()


def test_progress_rises_and_cancels(two_graphs):
    calls = []
    spectrum(two_graphs[0], 8, progress=lambda stage, fraction: calls.append((stage, fraction)))
    stages = [stage for stage, _ in calls]
    assert set(stages) == {"components", "eigenvectors"}
    fractions = [fraction for stage, fraction in calls if stage == "eigenvectors"]
    assert len(fractions) > 10  # one a product
    assert all(0 <= a <= b <= 1 for a, b in itertools.pairwise(fractions))

    def cancel(stage, fraction):
        if stage == "eigenvectors" and fraction > 0:
            raise Cancelled

    with pytest.raises(Cancelled):
        spectrum(two_graphs[0], 8, progress=cancel)


def test_what_does_not_converge_is_said(monkeypatch):
    monkeypatch.setattr("kdegraph._eigen.MAX_PRODUCTS", 20)
    monkeypatch.setattr("kdegraph._eigen.MAX_WORK", 0)
    with pytest.warns(ConvergenceWarning, match="did not converge: residual"):
        found = spectrum(cycle(5000), 8)
    assert not found.converged
    assert found.residuals.max() > 1e-9


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([(0, 1, np.nan), (1, 0, np.nan)], r"adjacency\[0, 1\] is nan"),
        ([(0, 2, np.inf), (2, 0, np.inf)], r"adjacency\[0, 2\] is inf"),
        ([(1, 2, -0.5), (2, 1, -0.5)], r"adjacency\[1, 2\] is -0.5"),
        ([(0, 1, 1.0)], r"symmetric, but adjacency\[0, 1\] is 1.0 and adjacency\[1, 0\] is 0.0"),
        ([(1, 0, 1.0)], r"symmetric, but adjacency\[1, 0\] is 1.0 and adjacency\[0, 1\] is 0.0"),
        ([(0, 1, 1.0), (1, 0, 1.1)], r"symmetric, but adjacency\[0, 1\] is 1.0 and adjacency\[1, 0\] is 1.1"),
        ([(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)], "symmetric"),
        ([(0, 1, 1.0), (1, 0, 1.0), (2, 1, 1.0)], r"symmetric, but adjacency\[2, 1\] is 1.0"),
        ([(0, 1, 1.0), (1, 0, 1.0), (1, 3, 1.0)], r"symmetric, but adjacency\[1, 3\] is 1.0"),
    ],
)
def test_bad_weights_are_refused(entries, message):
    rows, columns, weights = zip(*entries, strict=True)
    A = sp.csr_array((weights, (rows, columns)), shape=(4, 4))
    for given in (A, A.toarray()):
        with pytest.raises(ValueError, match=message):
            spectrum(given, 2)


def test_asymmetry_by_rounding_is_accepted():
    W = np.random.default_rng(0).random((20, 20))
    A = W + W.T
    A[3, 4] *= 1 + 1e-12
    assert spectrum(A, 3).eigenvalues[0] == 0


@pytest.mark.parametrize(
    ("A", "error", "message"),
    [
        (np.ones((3, 4)), ValueError, r"square.*\(3, 4\)"),
        (np.ones(4), ValueError, "square"),
        (np.ones((2, 2, 2)), ValueError, "square"),
        (np.zeros((0, 0)), ValueError, "no vertices"),
        ([[0, 1], [1]], ValueError, "rows differ in length"),
        ([["a", "b"], ["c", "d"]], TypeError, "real numbers"),
        (np.eye(3) * 1j, TypeError, "complex"),
        (None, TypeError, "real numbers"),
        ("graph", TypeError, "real numbers"),
        (sp.csr_array((3, 5)), ValueError, "square"),
    ],
)
def test_what_is_no_adjacency_matrix_is_refused(A, error, message):
    with pytest.raises(error, match=message):
        spectrum(A, 1)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "n_components must be a whole number >= 1, got 0"),
        ({"n_components": 7}, ValueError, "n_components must be at most 6.*got 7"),
        ({"n_components": 2.5}, ValueError, "n_components must be a whole number"),
        ({"n_components": "2"}, TypeError, "n_components"),
        ({"n_components": None}, TypeError, "n_components"),
        ({"n_components": True}, TypeError, "n_components"),
        ({"tol": 0}, ValueError, "tol"),
        ({"tol": "small"}, TypeError, "tol"),
        ({"seed": -1}, ValueError, "seed"),
        ({"seed": "x"}, TypeError, "seed"),
        ({"v0": np.ones((5, 2))}, ValueError, r"v0 must have one row for each of the 6 vertices.*\(5, 2\)"),
        ({"v0": np.ones(6)}, ValueError, "v0"),
        ({"v0": np.full((6, 2), np.nan)}, ValueError, "v0 must be finite"),
        ({"v0": np.full((6, 2), "a")}, TypeError, "v0"),
    ],
)
def test_bad_arguments_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        spectrum(cycle(6), **{"n_components": 2, **options})


def test_omitting_isolated_vertices_limits_the_number():
    A = sp.csr_array(sp.block_diag([complete(3), sp.csr_array((2, 2))]))
    assert spectrum(A, 5).n_components == 5
    with pytest.raises(ValueError, match=r"at most 3.*2 are isolated"):
        spectrum(A, 4, omit_isolated=True)
    with pytest.raises(ValueError, match="no edges"):
        spectrum(sp.csr_array((4, 4)), 1, omit_isolated=True)


@pytest.mark.parametrize("k", [10, 300])
def test_what_cannot_fit_is_refused(monkeypatch, k):
    A, _ = separated_blobs(600, 2)
    monkeypatch.setattr("kdegraph.spectra.available_memory", lambda: 8 * 600 * k)
    with pytest.raises(MemoryError, match=f"{k} eigenvectors of a graph of 600 vertices need .* fewer n_components"):
        spectrum(A, k)
    monkeypatch.setattr("kdegraph.spectra.available_memory", lambda: 3 * 8 * 600 * 600 - 1)  # the dense matrix does not
    if k == 300:
        with pytest.raises(MemoryError, match="fewer n_components"):
            spectrum(A, k)
    else:
        assert spectrum(A, k).n_components == k


def test_several_python_threads_at_once(two_graphs):
    expected = spectrum(two_graphs[0], 6)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: spectrum(two_graphs[0], 6), range(8)))
    for other in found:
        assert np.array_equal(other.eigenvectors, expected.eigenvectors)


def test_spectrum_is_a_small_thing_to_print():
    found = spectrum(cycle(500), 4)
    assert isinstance(found, Spectrum)
    assert len(repr(found)) < 300


# ---------------------------------------------------------------- number of clusters


@pytest.mark.parametrize(
    ("eigenvalues", "expected"),
    [
        ([0, 4e-8, 0.0024, 0.0024, 0.0097, 0.0097, 0.0217], 2),
        ([0, 4e-8, 0.0024], 2),
        ([0, 0, 0.0024, 0.0024, 0.0097], 2),
        ([0, 1e-9, 1e-7, 1e-6, 1e-5, 0.3, 0.31, 0.35], 5),
        ([0, 0, 0, 0, 0, 0.1], 5),
        ([0] * 20, 20),
        ([0] * 19 + [0.2], 19),
        ([0.0], 1),
        ([0, 0.5], 1),
        ([0, 0], 2),
        ([0, 0.02, 0.5, 0.5], 2),
        ([0, *(j * j * 0.0024 for j in range(1, 8))], 1),  # a segment
        ([0, 0.01, 0.01, 0.02, 0.04, 0.04, 0.05, 0.05], 1),  # a square
        ([0, 0.9, 0.92, 0.95], 1),
        ([0, 0, 0.3, 0.4, 0.5], 2),
        (np.linspace(0, 1, 20), 1),
        ((0, 1), 1),
    ],
)
def test_suggested_number_of_clusters(eigenvalues, expected):
    assert suggest_n_clusters(eigenvalues) == expected


def test_suggestion_for_points():
    X, _ = make_blobs(600, centers=5, cluster_std=0.3, random_state=4)
    assert suggest_n_clusters(spectrum(similarity_graph(X, sigma=1.0, seed=0), 20).eigenvalues) == 5
    null = np.random.default_rng(0).random((600, 2))
    assert suggest_n_clusters(spectrum(similarity_graph(null, sigma=0.2, seed=0), 20).eigenvalues) == 1


@pytest.mark.parametrize(
    ("eigenvalues", "error", "message"),
    [
        ([0, 0.3, 0.2], ValueError, r"ascending, but eigenvalues\[1\] = 0.3 > eigenvalues\[2\] = 0.2"),
        ([], ValueError, "at least one"),
        ([[0, 1]], ValueError, "shape"),
        ([0, np.nan], ValueError, "lie in"),
        ([0, 2.5], ValueError, "lie in"),
        ([-0.5, 1], ValueError, "lie in"),
        (["0", "1"], TypeError, "real numbers"),
        (None, TypeError, "real numbers"),
    ],
)
def test_bad_eigenvalues_are_refused(eigenvalues, error, message):
    with pytest.raises(error, match=message):
        suggest_n_clusters(eigenvalues)
