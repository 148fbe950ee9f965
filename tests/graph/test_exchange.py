"""Files of graphs for other programs, as NetworkX reads them."""

import kdegraph
import networkx
import numpy as np
import pytest
import scipy.sparse
from kdegraph import datasets, exchange

READ = {"graphml": networkx.read_graphml, "gexf": networkx.read_gexf}
X = datasets.make("moons", n=120, seed=0).X


@pytest.mark.parametrize("ending", READ)
def test_another_program_reads_the_same_graph(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(exchange, "BLOCK", 7)
    graph = kdegraph.similarity_graph(X, sigma=0.2, seed=0)
    path = tmp_path / f"graph.{ending}"
    kdegraph.export_graph(path, graph)
    found = READ[ending](path, node_type=int)
    assert not found.is_directed()
    assert list(found) == list(range(120))
    assert found.number_of_edges() == graph.n_edges
    again = networkx.to_scipy_sparse_array(found, nodelist=range(120))
    np.testing.assert_array_equal(again.toarray(), graph.adjacency.toarray())


ATTRIBUTES = {
    "number": np.array([3, -1, 2**40]),
    "size": [0.1, np.nan, np.inf],
    "good": [True, False, True],
    'a "name" & <more>': ["plain", "<b>&\"'", "line\nand \x00 none"],
    "kind": np.array(["ant", None, "ant"], dtype=object),
}


@pytest.mark.parametrize("ending", READ)
def test_attributes_keep_their_values_and_types(tmp_path, ending):
    path = tmp_path / f"graph.{ending}"
    kdegraph.export_graph(path, scipy.sparse.eye_array(3), attributes=ATTRIBUTES)
    found = READ[ending](path, node_type=int)
    known = [
        {name: value for name, value in found.nodes[i].items() if name != "label"} for i in range(3)
    ]
    text = 'a "name" & <more>'
    assert known == [
        {"number": 3, "size": 0.1, "good": True, text: "plain", "kind": "ant"},
        {"number": -1, "good": False, text: "<b>&\"'"},
        {
            "number": 2**40,
            "size": float("inf"),
            "good": True,
            text: "line\nand \ufffd none",
            "kind": "ant",
        },
    ]
    assert sorted(networkx.selfloop_edges(found)) == [(0, 0), (1, 1), (2, 2)]


def test_what_cannot_be_written_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "graph.gexf"
    path.write_text("earlier")
    for graph, attributes, error, words in (
        ([[0.0, 1.0], [2.0, 0.0]], {}, ValueError, "symmetric"),
        (np.zeros((2, 2)), {"label": [1, 2, 3]}, ValueError, r"'label'.*\(2,\).*\(3,\)"),
        (np.zeros((2, 2)), {"label": [1j, 2]}, TypeError, "'label'.*complex128"),
        (np.zeros((2, 2)), {3: [1, 2]}, TypeError, "names.*3"),
    ):
        with pytest.raises(error, match=words):
            kdegraph.export_graph(path, graph, attributes=attributes)
    assert path.read_text() == "earlier"
    with pytest.raises(ValueError, match=r"\.graphml or \.gexf, got 'graph\.npz'"):
        kdegraph.export_graph("graph.npz", np.zeros((2, 2)))


def test_a_graph_without_edges_or_attributes(tmp_path):
    for ending, read in READ.items():
        kdegraph.export_graph(tmp_path / f"g.{ending}", np.zeros((1, 1)))
        assert list(read(tmp_path / f"g.{ending}")) == ["0"]
