"""Data that an explorer begins with: frames, files, datasets, graphs."""

import kdegraph
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from explorer_actions import TABLE as ANIMALS
from kdegraph import datasets
from kdegraph.validation import LOCAL_WORDS
from kdegraph_explorer.attributes import material_of

TABLE = ANIMALS.replace(b"kind", b"label")  # a name that says what it holds
COLUMNS = ("width", "height", "weight")


def frame():
    """The table as a data frame with a text column, a category and an index of words."""
    words = [line.split(b",") for line in TABLE.decode().encode().split()]
    data = pd.DataFrame(words[1:], columns=[name.decode() for name in words[0]])
    numbers = {name: data[name].map(int) for name in COLUMNS}
    kind = data["label"].map(bytes.decode).astype("category")
    return pd.DataFrame({**numbers, "label": kind}).set_axis([f"row {i}" for i in range(len(data))])


class OnlyArrow:
    """A table of another library, of which only the protocol is known, as of polars."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def test_columns_of_a_frame_are_chosen_as_those_of_a_file(explore):
    expected = datasets.load(TABLE, filename="animals.csv")
    arrow = pa.table(frame())
    for table in (frame(), arrow, OnlyArrow(arrow)):
        found = explore(table, sigma=2.0).session.state.dataset
        assert found.feature_names == expected.feature_names == COLUMNS
        np.testing.assert_array_equal(found.X, expected.X)
        np.testing.assert_array_equal(found.y, expected.y)
        assert found.label_names == expected.label_names == ("ant", "bee")
        assert found.name == "data.parquet"


def test_labels_of_a_frame_are_a_column_or_are_given_beside_it():
    named = material_of(frame(), "label").dataset
    assert named.label_names == ("ant", "bee")
    given = material_of(frame(), [i % 3 for i in range(40)]).dataset
    assert given.y.tolist() == [i % 3 for i in range(40)]
    assert given.feature_names == COLUMNS


def test_a_file_a_dataset_and_a_graph_go_in(explore, tmp_path):
    path = tmp_path / "animals.csv"
    path.write_bytes(TABLE)
    for name in (path, str(path)):
        explorer = explore(name, sigma=2.0)
        assert explorer.session.state.dataset.name == "animals.csv"
        assert explorer.graph.sigma == 2.0
    data = datasets.make("blobs", n=80, seed=0)
    assert explore(data, sigma=1.0).session.sources["given"].loader()() is data
    graph = kdegraph.similarity_graph(data.X, sigma=0.7, n_rounds=5, seed=3)
    again = explore(graph, n_clusters=2).graph
    assert (again.adjacency != graph.adjacency).nnz == 0


def test_what_cannot_be_explored_is_refused_at_once():
    laplacian = {"sigma": 1.0, "kernel": "laplacian", "n_rounds": 2, "seed": 0}
    for X, y, message in (
        ("nowhere.csv", None, "X is 'nowhere.csv', and there is no such file"),
        ("points.docx", None, "docx"),
        ("nowhere.csv", [1], "y cannot be given with a file"),
        (pd.DataFrame({"kind": ["a", "b"]}), None, "number"),
        (frame(), "colour", "colour"),
        (frame(), [1, 2], r"y must have shape \(40,\)"),
        (
            kdegraph.similarity_graph(np.eye(4), **laplacian),
            None,
            "kernel 'laplacian'; pass points",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            material_of(X, y)


def test_a_graph_with_a_bandwidth_for_each_point_is_made_again(explore):
    points = datasets.make("moons", n=100, seed=0).X
    for sigma in LOCAL_WORDS:
        graph = kdegraph.similarity_graph(points, sigma=sigma, n_rounds=5, seed=3)
        explorer = explore(graph, n_clusters=2)
        assert explorer.sigma == sigma
        assert (explorer.graph.adjacency != graph.adjacency).nnz == 0
