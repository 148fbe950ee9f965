"""Graphs as Zarr stores."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
import zarr
from kdegraph import SimilarityGraph, TiledGraph, datasets, similarity_graph, spectral_clustering
from sampled import assert_same_graph, digest
from tiled import interrupt, lazy, written

MOONS = datasets.make("moons", n=3_000, seed=0).X
PARAMETERS = {
    "one sigma": {"sigma": 0.1},
    "local and alpha": {"sigma": "local", "alpha": 0.5},
}


@pytest.mark.parametrize("make", [np.asarray, lazy], ids=["in memory", "tiled"])
@pytest.mark.parametrize("parameters", PARAMETERS.values(), ids=PARAMETERS)
def test_a_graph_is_read_as_it_was(parameters, make, tmp_path):
    graph = similarity_graph(make(MOONS), seed=3, n_rounds=8, **parameters)
    graph.to_zarr(tmp_path / "graph.zarr")
    read = SimilarityGraph.from_zarr(tmp_path / "graph.zarr")
    assert_same_graph(read, similarity_graph(MOONS, seed=3, n_rounds=8, **parameters))
    assert [path.name for path in tmp_path.iterdir()] == ["graph.zarr"]


@pytest.fixture(scope="module")
def graph():
    return similarity_graph(MOONS, sigma=0.1, seed=3)


def test_the_matrix_has_the_layout_of_anndata(graph, tmp_path):
    graph.to_zarr(tmp_path / "graph.zarr")
    group = zarr.open_group(tmp_path / "graph.zarr", mode="r")["adjacency"]
    assert dict(group.attrs) == {
        "encoding-type": "csr_matrix",
        "encoding-version": "0.1.0",
        "shape": [3_000, 3_000],
    }
    arrays = tuple(group[name][...] for name in ("data", "indices", "indptr"))
    matrix = scipy.sparse.csr_array(arrays, shape=group.attrs["shape"])
    assert (matrix != graph.adjacency).nnz == 0


def test_what_is_there_is_not_overwritten(graph, tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(FileExistsError, match="there' exists"):
        graph.to_zarr(tmp_path / "there")
    assert list((tmp_path / "there").iterdir()) == []


def test_an_interrupted_store_is_removed(graph, tmp_path, monkeypatch):
    def failing(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("kdegraph.graph_files._write_rows", failing)
    with pytest.raises(KeyboardInterrupt):
        graph.to_zarr(tmp_path / "graph.zarr")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("read", [SimilarityGraph.from_zarr, TiledGraph.from_zarr])
def test_other_folders_and_shapes_are_refused_before_they_are_read(read, graph, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no"):
        read(tmp_path / "missing.zarr")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match="is not a graph written by to_zarr"):
        read(tmp_path / "folder")
    graph.to_zarr(tmp_path / "graph.zarr")
    description = tmp_path / "graph.zarr" / "kernel_degrees" / ".zarray"
    right = json.loads(description.read_text())
    for change in ({"shape": [2_999]}, {"shape": [2**40]}, {"chunks": [2**40]}):
        description.write_text(json.dumps(right | change))
        with pytest.raises(ValueError, match="is not a graph written by to_zarr"):
            read(tmp_path / "graph.zarr")


@pytest.fixture(scope="module")
def five_tiles(tmp_path_factory):
    """A graph in memory that is divided into five tiles, and its Zarr store."""
    X = datasets.make("moons", n=10_000, seed=0).X
    graph = similarity_graph(X, sigma="local", alpha=0.5, seed=3, n_rounds=8)
    path = tmp_path_factory.mktemp("zarr") / "graph.zarr"
    graph.to_zarr(path)
    return graph, path


def test_a_graph_is_unpacked_as_it_was(five_tiles):
    graph, path = five_tiles
    tiled = TiledGraph.from_zarr(path)
    assert tiled.n_blocks == 5
    assert tiled.n_edges == graph.n_edges
    assert_same_graph(tiled.compute(), graph)


@pytest.mark.usefixtures("in_another_process")
def test_another_process_unpacks_a_graph(five_tiles):
    graph, path = five_tiles
    assert digest(TiledGraph.from_zarr(path).compute()) == digest(graph)


def test_an_unpacked_graph_has_the_folder_of_one_made_there(tmp_path):
    """So it has the same clusters, bit for bit."""
    X = lazy(datasets.make("moons", n=10_000, seed=0).X)
    made = similarity_graph(X, sigma=0.1, seed=3, store=tmp_path / "made")
    made.to_zarr(tmp_path / "graph.zarr")
    unpacked = TiledGraph.from_zarr(tmp_path / "graph.zarr", tmp_path / "unpacked")
    one, other = (spectral_clustering(graph, 2, seed=0) for graph in (made, unpacked))
    np.testing.assert_array_equal(one.labels.compute(), other.labels.compute())
    np.testing.assert_array_equal(one.conductances, other.conductances)
    assert not list((tmp_path / "unpacked").glob("sent-*"))


def test_what_was_unpacked_before_an_interruption_is_not_done_again(five_tiles, tmp_path):
    graph, path = five_tiles
    store = tmp_path / "graph"
    interrupt("kdegraph.tiles.from_zarr._join_tile", lambda: TiledGraph.from_zarr(path, store))
    with pytest.raises(ValueError, match="holds no graph that is complete"):
        TiledGraph.load(store)
    before = {name: time for name, time in written(store).items() if name.startswith("rows-")}
    assert len(before) > 2
    assert digest(TiledGraph.from_zarr(path, store).compute()) == digest(graph)
    assert written(store).items() >= before.items()


def test_what_cannot_be_unpacked_is_refused(five_tiles, graph, tmp_path):
    _, path = five_tiles
    replace(graph, points=None).to_zarr(tmp_path / "without.zarr")
    with pytest.raises(ValueError, match="has no points"):
        TiledGraph.from_zarr(tmp_path / "without.zarr", tmp_path / "store")
    assert not (tmp_path / "store").exists()
    graph.to_zarr(tmp_path / "other.zarr")
    TiledGraph.from_zarr(path, tmp_path / "store")
    with pytest.raises(ValueError, match="holds another graph"):
        TiledGraph.from_zarr(tmp_path / "other.zarr", tmp_path / "store")


@pytest.mark.parametrize(
    ("name", "value"),
    [("indices", 10_000), ("neighbors", -2), ("order", 0), ("sigma", -1.0), ("densities", np.nan)],
)
def test_a_damaged_block_is_named(five_tiles, tmp_path, name, value):
    shutil.copytree(five_tiles[1], tmp_path / "graph.zarr")
    root = zarr.open_group(tmp_path / "graph.zarr", mode="r+")
    array = root["adjacency"][name] if name == "indices" else root[name]
    array[3_000] = value
    with pytest.raises(ValueError, match=r"graph\.zarr' is not a graph written by to_zarr"):
        TiledGraph.from_zarr(tmp_path / "graph.zarr", tmp_path / "store")
    with pytest.raises(ValueError, match="holds no graph that is complete"):
        TiledGraph.load(tmp_path / "store")
