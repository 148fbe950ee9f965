"""The files that a session can be saved as, and the script that finds the same result."""

import ast
import json
import os

import kdegraph
import networkx
import numpy as np
import pyarrow as pa
import pytest
from explorer_actions import PATIENCE, TABLE, choose, export, give_file, put, reproduce, run_script
from hostile import quoted
from kdegraph import datasets
from kdegraph.datasets import Dataset
from kdegraph.validation import LOCAL_WORDS
from kdegraph_explorer.exports import EXPORTS, session_file
from kdegraph_explorer.uploads import StoredFile
from pyarrow import csv, parquet


def test_labels_as_csv_and_parquet_and_the_names_of_all_files(sessions):
    session = sessions()
    session.state.selection = np.array([4, 6])
    reproduce(session)
    table = csv.read_csv(pa.BufferReader(export(session, "labels-csv")))
    assert table.column_names == ["row", "kde_cluster", "knn_cluster", "reference", "selected"]
    assert table["row"].to_pylist() == list(range(200))
    for method in ("kde", "knn"):
        np.testing.assert_array_equal(
            table[f"{method}_cluster"].to_numpy(), session.state.outcome(method).colors + 1
        )
    assert np.flatnonzero(table["selected"].to_numpy(zero_copy_only=False)).tolist() == [4, 6]
    again = parquet.read_table(pa.BufferReader(export(session, "labels-parquet")))
    assert again.column_names == table.column_names
    assert again["kde_cluster"].to_pylist() == table["kde_cluster"].to_pylist()
    assert len({export.key for export in EXPORTS}) == len(EXPORTS)
    assert len({export.filename(session) for export in EXPORTS}) == len(EXPORTS)
    assert (
        next(export for export in EXPORTS if export.key == "script").filename(session) == "moons.py"
    )


def test_the_own_table_comes_back_with_the_clusters_of_the_page(sessions):
    session = sessions()
    content = b"code,when,x,y\n" + b"".join(
        b"%03d,2026-01-%02d,%s,%d\n"
        % (i, 1 + i % 28, b"" if i == 5 else b"%d" % (i % 2 * 9), i % 7)
        for i in range(60)
    )
    give_file(session, content)
    state = session.state
    state.name_cluster(0, "the first")
    reproduce(session)
    table = csv.read_csv(
        pa.BufferReader(export(session, "table-csv")),
        convert_options=csv.ConvertOptions(column_types={"code": pa.string()}),
    )
    names = ["code", "when", "x", "y", "cluster", "cluster_name", "probability"]
    assert table.column_names == names
    assert table["code"].to_pylist() == [f"{i:03d}" for i in range(60)]
    outcome, explored = state.outcome("kde"), np.delete(np.arange(60), 5)
    clusters = table["cluster"].to_pylist()
    assert clusters[5] is None
    assert [clusters[i] for i in explored] == (outcome.colors + 1).tolist()
    named = [table["cluster_name"][i].as_py() == "the first" for i in explored]
    assert named == (outcome.colors == 0).tolist()
    probabilities = np.array(table["probability"].to_pylist(), dtype=float)
    np.testing.assert_allclose(probabilities[explored], outcome.vote.probabilities)
    again = parquet.read_table(pa.BufferReader(export(session, "table-parquet")))
    assert again.column_names == names


def test_points_without_a_table_come_back_with_coordinates(sessions):
    session = sessions()
    reproduce(session)
    table = csv.read_csv(pa.BufferReader(export(session, "table-csv")))
    assert table.column_names[:3] == ["x", "y", "cluster"]
    np.testing.assert_allclose(table["x"].to_numpy(), session.state.shown.X[:, 0])


def test_labels_name_the_rows_of_the_file_and_the_classes(sessions):
    session = sessions()
    session.sources["upload"].incomplete = True
    give_file(session, TABLE.replace(b"\n1,1,", b"\n,1,"))
    put(session, "upload", label_column="kind")
    table = csv.read_csv(pa.BufferReader(export(session, "labels-csv")))
    assert table["row"].to_pylist()[:3] == [0, 2, 3]
    assert table["reference"].to_pylist()[:3] == ["ant", "ant", "bee"]


def test_graph_and_edges_also_for_other_programs(sessions, tmp_path):
    session = sessions()
    graph = session.state.outcome("kde").graph
    (tmp_path / "graph.npz").write_bytes(export(session, "graph"))
    read = kdegraph.SimilarityGraph.load(tmp_path / "graph.npz")
    np.testing.assert_array_equal(read.neighbors, graph.neighbors)
    edges = parquet.read_table(pa.BufferReader(export(session, "edges")))
    assert edges.num_rows == graph.n_edges
    source, target, weight = (edges[name].to_numpy() for name in ("source", "target", "weight"))
    assert (source < target).all()
    np.testing.assert_array_equal(graph.adjacency[source, target], weight)
    session.state.selection = np.array([4, 6])
    outcome, shown = session.state.outcome("kde"), session.state.shown
    for key, reader in (("graphml", networkx.read_graphml), ("gexf", networkx.read_gexf)):
        (tmp_path / "graph").write_bytes(export(session, key))
        found = reader(tmp_path / "graph", node_type=int)
        again = networkx.to_scipy_sparse_array(found, nodelist=range(200))
        np.testing.assert_array_equal(again.toarray(), outcome.adjacency.toarray())
        assert [found.nodes[i]["kde_cluster"] for i in range(200)] == (outcome.colors + 1).tolist()
        assert [found.nodes[i]["x"] for i in range(200)] == shown.X[:, 0].tolist()
        assert [i for i in range(200) if found.nodes[i]["selected"]] == [4, 6]


def check_script(session, folder, monkeypatch):
    """Run the script where the files are that it asks for, and compare what it finds with the
    session.
    """
    reproduce(session)
    monkeypatch.chdir(folder)
    found = run_script(session, folder)
    kde, knn = session.state.outcome("kde"), session.state.outcome("knn")
    np.testing.assert_array_equal(found["X"], session.state.shown.X)
    np.testing.assert_array_equal(found["graph"].neighbors, kde.graph.neighbors)
    assert (found["graph"].adjacency != kde.adjacency).nnz == 0
    np.testing.assert_array_equal(found["knn_labels"], knn.labels)
    np.testing.assert_allclose(
        found["knn_spectrum"].eigenvectors, knn.spectrum.eigenvectors, rtol=0, atol=1e-12
    )
    return found


def after_many_moves(session):
    put(session, "generators", shape="uniform", n=1000, noise=0.7, seed=2)  # no clusters: every
    for sigma in (0.05, 0.07, 0.11, 0.1):  # rounding error shows
        choose(session, sigma=sigma, n_clusters=7)
    choose(session, n_rounds=12, n_neighbors=7, seed=4, n_clusters=5)


def of_photograph(session):
    session.state.source = "photographs"
    put(session, "photographs", pixels=1000)


def of_table(session):
    give_file(session, TABLE, "zoo.csv")
    put(session, "upload", columns=["weight", "height"], label_column="kind")
    choose(session, sigma=3.0, n_clusters=2)


def of_scaled_columns(session):
    of_table(session)
    put(session, "upload", standardize=["weight", "width"], weights={"height": 2.5})


def of_part(session):
    session.sources[session.state.source].choose_part([*range(3, 40), 45, 50])
    session.wait(PATIENCE)


SCRIPTS = {
    "after many moves": (after_many_moves, "n_rounds=12"),
    "automatic": (lambda session: put(session, rounds_auto=True), ""),
    "without any edge": (lambda session: choose(session, sigma=1e-300), "sigma=1e-300"),
    **{
        kind: (
            lambda session, kind=kind: choose(session, bandwidth=kind, perplexity=8),
            f"sigma='{kind}', perplexity=8,",
        )
        for kind in LOCAL_WORDS
    },
    "photograph": (of_photograph, ""),
    "table": (of_table, "columns=['weight', 'height']"),
    "scaled columns": (of_scaled_columns, "standardize=['weight'], weights={'height': 2.5}"),
    "part": (of_part, ""),
}


@pytest.mark.parametrize(("prepare", "words"), SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_finds_what_is_shown(sessions, tmp_path, monkeypatch, prepare, words):
    (tmp_path / "zoo.csv").write_bytes(TABLE)
    session = sessions(bandwidth="one")
    prepare(session)
    check_script(session, tmp_path, monkeypatch)
    assert words in (tmp_path / "again.py").read_text()


def test_a_script_of_a_part_of_given_points(sessions, tmp_path, monkeypatch):
    session = sessions(given=Dataset(np.random.default_rng(0).normal(size=(60, 2)), name="mine"))
    of_part(session)
    (tmp_path / "points.parquet").write_bytes(export(session, "points"))
    check_script(session, tmp_path, monkeypatch)


def test_given_points_are_exported_with_every_bit_and_the_script_reads_them(
    sessions, tmp_path, monkeypatch
):
    rng = np.random.default_rng(0)
    for X in (rng.normal(size=(150, 4)), rng.normal(size=(50, 3)) * 1e-7):
        session = sessions(given=Dataset(X, name="given points"))
        content = export(session, "points")
        np.testing.assert_array_equal(datasets.load(content, filename="p.parquet").X, X)
        (tmp_path / "points.parquet").write_bytes(content)
        check_script(session, tmp_path, monkeypatch)


def test_file_that_failed_is_not_what_is_exported(sessions):
    session = sessions()
    session.state.source = "upload"
    put(session, "upload", file=StoredFile.of("bad.npy", b"words"))
    assert session.state.error
    assert b"generators" in export(session, "session")
    assert b"make('moons'" in export(session, "script")


# ---- names that are code or paths

CODE = (
    "'); import os; os.environ['PWN'] = '1'; ('",
    '"); import os; os.environ["PWN"] = "1"; ("',
    '""" + str(globals().update(PWN=1)) + """',
    "\\'); PWN = 1 #",
)
ROWS = b"".join(b"%d,%d\n" % (i % 7, i % 5) for i in range(40))


def test_script_quotes_names(sessions, tmp_path, monkeypatch):
    monkeypatch.delenv("PWN", raising=False)
    session = sessions(sigma=1.0)
    for code in CODE:
        name, content = f"{code}.csv", f"{quoted(code)},b\n".encode() + ROWS
        (tmp_path / name).write_bytes(content)
        give_file(session, content, name)
        assert "PWN" not in check_script(session, tmp_path, monkeypatch)
        assert "PWN" not in os.environ


def test_script_of_a_session_file_names_no_folder(sessions):
    session = sessions()
    give_file(session, b"a,b\n" + ROWS, "zoo.csv")
    values = json.loads(session_file.write(session))
    values["data"]["file"]["name"] = "../../etc/zoo.csv"
    session.restore(session_file.read(session, json.dumps(values).encode()))
    reproduce(session)
    assert session.state.error == ""
    nodes = ast.walk(ast.parse(export(session, "script")))
    texts = [str(node.value) for node in nodes if isinstance(node, ast.Constant)]
    assert "zoo.csv" in texts
    assert not any(".." in text for text in texts)
