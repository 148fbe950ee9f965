"""Graphs of NetworkX, and of igraph where it is installed, in place of a matrix and made of one."""

import sys

import kdegraph
import networkx as nx
import numpy as np
import pytest
from kdegraph.spectral.checked_graph import graph_parts


def weighted():
    """A small graph with text as vertices, whose order is not that of their names."""
    graph = nx.karate_club_graph()
    return nx.relabel_nodes(graph, {i: f"member {(7 * i) % 34}" for i in range(34)})


def multigraph():
    graph = nx.MultiGraph()
    graph.add_edges_from([(0, 1), (1, 0), (1, 2), (2, 2), (2, 2)])
    graph.add_edge(3, 0, weight=0.5)
    return graph


@pytest.mark.parametrize(
    "graph",
    [
        weighted(),
        multigraph(),
        nx.petersen_graph(),
        nx.empty_graph(3),
        nx.path_graph(4, create_using=nx.DiGraph).reverse(),
    ],
)
def test_the_matrix_of_a_networkx_graph_is_that_of_networkx(graph):
    found = graph_parts(graph).adjacency
    assert np.array_equal(found.toarray(), nx.to_numpy_array(graph))


def test_functions_take_graphs_of_networkx():
    graph = weighted()
    matrix = nx.to_scipy_sparse_array(graph)
    found = kdegraph.spectral_clustering(graph, 2)
    assert np.array_equal(found.labels, kdegraph.spectral_clustering(matrix, 2).labels)
    model = kdegraph.KDESpectralClustering(2, affinity="precomputed").fit(graph)
    assert np.array_equal(found.labels, model.labels_)
    exact = np.linalg.eigvalsh(nx.normalized_laplacian_matrix(graph).toarray())
    np.testing.assert_allclose(kdegraph.spectrum(graph, 5).eigenvalues, exact[:5], atol=1e-8)
    inside = {vertex for vertex, label in zip(graph, found.labels, strict=True) if label == 0}
    cut = nx.cut_size(graph, inside, weight="weight") / nx.volume(graph, inside, weight="weight")
    np.testing.assert_allclose(kdegraph.conductance(graph, found.labels)[0], cut)
    assert kdegraph.diagnose(graph, n_clusters=2) == []


def test_sampled_graphs_become_graphs_of_networkx_and_back():
    for n in (1, 200):
        X = kdegraph.datasets.make("moons", n=200, seed=0).X[:n]
        graph = kdegraph.similarity_graph(X, sigma=0.1, n_rounds=5, seed=0)
        found = graph.to_networkx()
        assert list(found) == list(range(n))
        assert found.number_of_edges() == graph.n_edges
        assert abs(graph_parts(found).adjacency - graph.adjacency).nnz == 0
        assert np.array_equal(nx.to_numpy_array(found), graph.adjacency.toarray())


def test_a_missing_package_is_named_with_its_remedy(monkeypatch):
    graph = kdegraph.similarity_graph([[0.0], [1.0]], sigma=1.0, seed=0)
    for name in ("networkx", "igraph"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=f"this needs {name} .*: pip install {name}"):
            getattr(graph, f"to_{name}")()


def test_the_matrix_of_an_igraph_graph_is_that_of_igraph():
    igraph = pytest.importorskip("igraph")
    for given in (weighted(), nx.petersen_graph(), nx.path_graph(4, create_using=nx.DiGraph)):
        graph = igraph.Graph.from_networkx(given)
        assert np.array_equal(graph_parts(graph).adjacency.toarray(), nx.to_numpy_array(given))
    assert graph_parts(igraph.Graph(3)).adjacency.nnz == 0
    sampled = kdegraph.similarity_graph(np.arange(50.0)[:, None], sigma=2.0, seed=0)
    there = sampled.to_igraph()
    assert (there.vcount(), there.ecount()) == (50, sampled.n_edges)
    assert abs(graph_parts(there).adjacency - sampled.adjacency).nnz == 0
    assert kdegraph.similarity_graph([[0.0]], seed=0).to_igraph().vcount() == 1
    found = kdegraph.spectral_clustering(igraph.Graph.from_networkx(weighted()), 2)
    assert np.array_equal(found.labels, kdegraph.spectral_clustering(weighted(), 2).labels)
