"""Starts from coarse graphs and what they may miss; seeds, threads, cancelling."""

import itertools
from types import SimpleNamespace
from unittest import mock

import kdegraph
import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from graphs import check_spectrum
from kdegraph.dispatch import spectrum
from kdegraph.geometry.tree import build_tree
from kdegraph.graph import similarity_graph
from kdegraph.spectral.solver.coarse import coarse_vectors
from promises import check_threads
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

# ---------------------------------------------------------------- the start from groups of points


@pytest.fixture
def made(small_graphs_have_coarse_ones, monkeypatch):
    """Counts the starts from coarse graphs."""
    made = mock.Mock(side_effect=coarse_vectors)
    monkeypatch.setattr("kdegraph.spectral.spectrum.coarse_vectors", made)
    return made


@pytest.mark.parametrize("name", ["moons", "blobs", "uniform", "varied", "rings"])
def test_groups_of_points_give_the_right_spectrum(made, name):
    data = kdegraph.datasets.make(name, n=1500, seed=0)
    graph = similarity_graph(data.X, sigma=data.sigma, n_rounds=20, seed=0)
    exact = oracle.eigenvalues(graph.adjacency)
    for k in (2, 5, 9):
        made.reset_mock()
        found = spectrum(graph, k)
        assert np.abs(found.eigenvalues - exact[:k]).max() < 5e-6
        if found.n_products:
            assert made.call_count == 1
            without_points = spectrum(graph.adjacency, k)  # in breadth-first order
            assert np.abs(without_points.eigenvalues - exact[:k]).max() < 5e-6


@pytest.mark.parametrize("weight", [1e-9, 1e-3, 0.02])
def test_what_groups_of_points_cannot_show_is_found(made, weight):
    """Pairs and triples of vertices within the groups, weakly attached to a neighbor."""
    X, _ = make_moons(1500, noise=0.05, random_state=0)
    A = similarity_graph(X, sigma=0.2, n_rounds=20, seed=0).adjacency.toarray()
    rng = np.random.default_rng(0)
    # Four pairs and two triples.
    parts = np.split(rng.choice(1500, 14, replace=False), [2, 4, 6, 8, 11])
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
    exact = oracle.eigenvalues(A)
    for k in (3, 7, 10):
        for tol in (1e-4, 1e-3):
            found = spectrum(graph, k, tol=tol)
            assert np.abs(found.eigenvalues - exact[:k]).max() < 0.05 * tol
    assert made.call_count == 6


def test_groups_of_points_across_components(small_graphs_have_coarse_ones):
    data = kdegraph.datasets.make("blobs", n=2000, seed=0)
    graph = similarity_graph(data.X, sigma=0.2, n_rounds=20, seed=0)
    exact = oracle.eigenvalues(graph.adjacency)
    components = np.sum(exact < 1e-12)
    for k in (components, components + 1, components + 6):
        found = spectrum(graph, k)
        assert found.n_connected_components == components
        assert np.abs(found.eigenvalues - exact[:k]).max() < 5e-6


def test_bipartite_graph_whose_lowest_eigenvalues_mirror_the_highest(made):
    """The first filter expects no more below than random edges make. It raises as much there as
    above here; all is found nevertheless.
    """
    X, _ = make_moons(1500, noise=0.05, random_state=0)
    graph = similarity_graph(X, sigma=0.1, n_rounds=20, seed=0)
    side = np.random.default_rng(0).integers(0, 2, len(X))
    A = graph.adjacency.tocoo()
    across = side[A.row] != side[A.col]
    A = sp.csr_array((A.data[across], (A.row[across], A.col[across])), shape=A.shape)
    exact = oracle.eigenvalues(A)
    assert np.abs(exact[:20] + exact[::-1][:20] - 2).max() < 1e-12
    bipartite = SimpleNamespace(adjacency=A, points=graph.points, order=graph.order)
    for k in (4, 8, 12):
        found = spectrum(bipartite, k)
        assert found.converged
        assert np.abs(found.eigenvalues - exact[:k]).max() < 5e-6
    assert made.call_count == 3


# ---------------------------------------------------------------- seeds, threads, cancelling


@pytest.fixture(scope="module")
def sampled():
    X, _ = make_moons(3000, noise=0.05, random_state=0)
    return similarity_graph(X, sigma=0.15, n_rounds=30, seed=0).adjacency


@pytest.fixture(scope="module")
def larger():
    """A graph whose spectrum begins with that of a coarse one."""
    X = kdegraph.datasets.make("varied", n=6000, seed=0).X
    return similarity_graph(X, sigma="local", n_rounds=20, seed=0)


def test_results_depend_on_the_seed_only_and_not_on_threads(sampled, larger):
    def make():
        accurate, approximate = spectrum(sampled, 8, seed=5), spectrum(larger, 8, approximate=True)
        labels = kdegraph.spectral_clustering(larger, 7, seed=5).labels
        return accurate.eigenvectors, approximate.eigenvectors, labels

    check_threads(make)
    accurate, another = (spectrum(sampled, 8, seed=seed) for seed in (5, 6))
    assert not np.array_equal(another.eigenvectors, accurate.eigenvectors)
    assert np.abs(another.eigenvalues - accurate.eigenvalues).max() < 1e-6


def test_smaller_tolerance_gives_smaller_residuals(sampled):
    check_spectrum(sampled[:1500, :1500], 6, tol=1e-10)


def test_search_for_missed_eigenvectors_that_is_cut_short_is_said():
    """The coarse graph gives small residuals at once, but missed eigenvectors take longer."""
    X, _ = make_moons(6000, noise=0.05, random_state=0)
    graph = similarity_graph(X, sigma=0.1, n_rounds=10, seed=0)
    with pytest.warns(ConvergenceWarning, match="one may be missing"):
        found = spectrum(graph, 5, tol=0.5, max_products=4)
    assert found.residuals.max() <= 0.5
    assert not found.converged
    assert spectrum(graph, 5, tol=0.5).converged
