"""Where the solver starts: groups of points, earlier spectra, bad starts; what no start shows is
found. Seeds, threads, cancelling.
"""

import itertools
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import kdegraph
import numpy as np
import oracle
import pytest
import scipy.linalg
import scipy.sparse as sp
from graphs import check_spectrum, complete, cycle
from kdegraph.geometry.tree import build_tree
from kdegraph.graph import similarity_graph
from kdegraph.runtime.responsive import Cancelled
from kdegraph.runtime.threads import set_num_threads
from kdegraph.spectral.spectrum import spectrum
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

# ---------------------------------------------------------------- the start from groups of points


@pytest.fixture
def grouped(monkeypatch):
    """Small graphs start from groups of points as large ones do."""
    monkeypatch.setattr("kdegraph.spectral.laplacian.IN_CACHE", 0)
    monkeypatch.setattr("kdegraph.spectral.solver.coarse.MIN_VERTICES", 100)
    monkeypatch.setattr("kdegraph.spectral.solver.coarse.NODE_SIZE", 2)
    monkeypatch.setattr("kdegraph.spectral.spectrum.DENSE_UP_TO", 100)
    starts = []
    start = kdegraph.spectral.solver.coarse.coarse_start
    monkeypatch.setattr(
        "kdegraph.spectral.spectrum.coarse_start",
        lambda *args: starts.append(start(*args)) or starts[-1],
    )
    return starts


@pytest.mark.parametrize("name", ["moons", "blobs", "uniform", "varied", "rings"])
@pytest.mark.parametrize("k", [2, 5, 9])
def test_groups_of_points_give_the_right_spectrum(grouped, name, k):
    data = kdegraph.datasets.make(name, n=1500, seed=0)
    graph = similarity_graph(data.X, sigma=data.sigma, n_rounds=20, seed=0)
    found = spectrum(graph, k)
    exact = scipy.linalg.eigh(oracle.normalized_laplacian(graph.adjacency), eigvals_only=True)[:k]
    assert np.abs(found.eigenvalues - exact).max() < 5e-6
    if found.n_products:
        assert len(grouped) == 1
        cold = spectrum(graph.adjacency, k)  # no points: breadth-first order
        assert np.abs(cold.eigenvalues - exact).max() < 5e-6


@pytest.mark.parametrize("weight", [1e-9, 1e-3, 0.02])
@pytest.mark.parametrize("seed", range(4))
def test_what_groups_of_points_cannot_show_is_found(grouped, weight, seed):
    """Tiny clusters within the groups: pairs and triples of vertices that hang together, weakly
    attached to one of their neighbors.
    """
    X, _ = make_moons(1500, noise=0.05, random_state=0)
    A = similarity_graph(X, sigma=0.2, n_rounds=20, seed=0).adjacency.toarray()
    rng = np.random.default_rng(seed)
    parts = np.split(
        rng.choice(1500, 14, replace=False), [2, 4, 6, 8, 11]
    )  # four pairs and two triples
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
    exact = scipy.linalg.eigh(oracle.normalized_laplacian(A), eigvals_only=True)
    for k in (3, 7, 10):
        for tol in (1e-4, 1e-3):
            found = spectrum(graph, k, seed=seed, tol=tol)
            assert np.abs(found.eigenvalues - exact[:k]).max() < 0.05 * tol
    assert len(grouped) == 6


def test_groups_of_points_across_components(grouped):
    data = kdegraph.datasets.make("blobs", n=2000, seed=0)
    graph = similarity_graph(data.X, sigma=0.2, n_rounds=20, seed=0)
    exact = scipy.linalg.eigh(oracle.normalized_laplacian(graph.adjacency), eigvals_only=True)
    components = np.sum(exact < 1e-12)
    for k in (components, components + 1, components + 6):
        found = spectrum(graph, k)
        assert found.n_connected_components == components
        assert np.abs(found.eigenvalues - exact[:k]).max() < 5e-6


def test_bipartite_graph_whose_lowest_eigenvalues_mirror_the_highest(grouped):
    """The first filter expects no more below than random edges make. It raises as much there as
    above here; all is found nevertheless.
    """
    X, _ = make_moons(3000, noise=0.05, random_state=0)
    graph = similarity_graph(X, sigma=0.1, n_rounds=20, seed=0)
    side = np.random.default_rng(0).integers(0, 2, len(X))
    A = graph.adjacency.tocoo()
    across = side[A.row] != side[A.col]
    A = sp.csr_array((A.data[across], (A.row[across], A.col[across])), shape=A.shape)
    exact = scipy.linalg.eigh(oracle.normalized_laplacian(A), eigvals_only=True)
    assert np.abs(exact[:20] + exact[::-1][:20] - 2).max() < 1e-12
    bipartite = SimpleNamespace(adjacency=A, points=graph.points, order=graph.order)
    for k in (4, 8, 12):
        cold = spectrum(bipartite, k)
        warm = spectrum(bipartite, k, v0=spectrum(graph, k))
        assert all(
            found.converged and np.abs(found.eigenvalues - exact[:k]).max() < 5e-6
            for found in (cold, warm)
        )
    assert len(grouped) >= 3


# ---------------------------------------------------------------- warm starts, seeds, threads,
# cancelling


def before_and_after(seed):
    """The graphs before and after a small move of sigma."""
    X, _ = make_moons(3000, noise=0.05, random_state=seed)
    return tuple(
        similarity_graph(X, sigma=s, n_rounds=30, seed=seed).adjacency for s in (0.15, 0.16)
    )


@pytest.fixture(scope="module")
def two_graphs():
    return before_and_after(0)


def test_warm_starts_save_work():
    """In the long run: which eigenvalues are near each other, and so how far a filter has to go, is
    a matter of chance.
    """
    n_products = np.zeros(3)
    for seed in range(6):
        before, after = before_and_after(seed)
        previous = spectrum(before, 10)
        cold = spectrum(after, 10)
        found = [
            cold,
            spectrum(after, 10, v0=previous),
            spectrum(after, 10, v0=previous.eigenvectors),
        ]
        assert all(np.abs(warm.eigenvalues - cold.eigenvalues).max() < 1e-6 for warm in found)
        n_products += [one.n_products for one in found]
    assert (n_products[1:] < 0.95 * n_products[0]).all()


@pytest.mark.parametrize("name", ["moons", "blobs", "varied"])
@pytest.mark.parametrize("ratio", [1.0, 1.05, 1.5, 3.0, 0.5])
def test_warm_starts_from_any_sigma_are_right_and_take_no_longer(name, ratio):
    data = kdegraph.datasets.make(name, n=6000, seed=0)
    graph, before = (
        similarity_graph(data.X, sigma=data.sigma / r, n_rounds=10, seed=0) for r in (1.0, ratio)
    )
    cold = spectrum(graph, 8, tol=1e-3)
    warm = spectrum(graph, 8, tol=1e-3, v0=spectrum(before, 8, tol=1e-3))
    assert np.abs(warm.eigenvalues - cold.eigenvalues).max() < 1e-5
    assert warm.n_products <= 1.5 * cold.n_products  # the coarse graph is saved


@pytest.mark.parametrize("size", [2, 5, 20, 100])
def test_cluster_that_is_new_since_the_warm_start_is_found(size):
    """Vertices from anywhere that now hang together, and to the rest by little: nothing in the
    earlier spectrum shows them.
    """
    n = 6000
    data = kdegraph.datasets.make("moons", n=n, seed=0)
    graph = similarity_graph(data.X, sigma=data.sigma, n_rounds=10, seed=0)
    members = np.random.default_rng(size).choice(n, size, replace=False)
    keep = sp.diags_array(np.where(np.isin(np.arange(n), members), 1e-6, 1.0))
    place = sp.csr_array((np.ones(size), (members, np.arange(size))), shape=(n, size))
    A = sp.csr_array(keep @ graph.adjacency @ keep + place @ complete(size) @ place.T)
    changed = SimpleNamespace(adjacency=A, points=graph.points, order=graph.order)
    cold, warm = (
        spectrum(changed, 8, tol=1e-3, v0=v0) for v0 in (None, spectrum(graph, 8, tol=1e-3))
    )
    assert np.abs(warm.eigenvalues - cold.eigenvalues).max() < 1e-5
    assert np.sum(warm.eigenvalues < 1e-3) == 3  # two moons and the new cluster


@pytest.mark.parametrize("link", [1e-9, 1e-4, 1.0])
def test_components_that_have_joined_since_the_warm_start(link):
    """Of the vectors that were exact before, one combination is again, and the others show what has
    become of the parts.
    """
    X, y = make_moons(6000, noise=0.05, random_state=0)
    X[:, 0] += 3 * y
    apart = similarity_graph(X, sigma=0.1, n_rounds=10, seed=0)
    ends = np.flatnonzero(y == 0)[:2], np.flatnonzero(y == 1)[:2]
    A = apart.adjacency.tolil()
    A[ends] = A[ends[::-1]] = link
    joined = SimpleNamespace(adjacency=A.tocsr(), points=apart.points, order=apart.order)
    before = spectrum(apart, 8, tol=1e-3)
    cold, warm = (spectrum(joined, 8, tol=1e-3, v0=v0) for v0 in (None, before))
    assert (before.n_connected_components, cold.n_connected_components) == (2, 1)
    assert np.abs(warm.eigenvalues - cold.eigenvalues).max() < 1e-5
    assert warm.n_products <= cold.n_products + 1


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
    check_spectrum(C[:1000, :1000], 40, v0=start.eigenvectors[:1000])


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
    check_spectrum(two_graphs[0][:1500, :1500], 6, tol=1e-10)


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
    monkeypatch.setattr("kdegraph.spectral.solver.iteration.MAX_PRODUCTS", 20)
    monkeypatch.setattr("kdegraph.spectral.solver.iteration.MAX_WORK", 0)
    with pytest.warns(ConvergenceWarning, match="did not converge: residual"):
        found = spectrum(cycle(20_000), 8)
    assert not found.converged
    assert found.residuals.max() > 1e-9


def test_search_for_missing_vectors_that_is_cut_short_is_said():
    """A perfect start has small residuals at once, but that nothing is missing in it takes products
    to see.
    """
    A = similarity_graph(
        make_moons(6000, noise=0.05, random_state=0)[0], sigma=0.1, n_rounds=10, seed=0
    ).adjacency
    known = spectrum(A, 5, tol=1e-4)
    with pytest.warns(ConvergenceWarning, match="one may be missing"):
        found = spectrum(A, 5, v0=known, tol=1e-3, max_products=4)
    assert found.residuals.max() <= 1e-3
    assert not found.converged
    assert spectrum(A, 5, v0=known, tol=1e-3).converged


def test_several_python_threads_at_once(two_graphs):
    expected = spectrum(two_graphs[0], 6)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: spectrum(two_graphs[0], 6), range(8)))
    for other in found:
        assert np.array_equal(other.eigenvectors, expected.eigenvectors)
