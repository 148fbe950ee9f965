"""Graphs as Zarr stores."""

import json

import dask.array as da
import numpy as np
import pytest
import scipy.sparse
import zarr
from kdegraph import SimilarityGraph, datasets, similarity_graph
from sampled import digest

MOONS = datasets.make("moons", n=3_000, seed=0).X
PARAMETERS = {
    "one sigma": {"sigma": 0.1},
    "local and alpha": {"sigma": "local", "alpha": 0.5},
}


def lazily(X):
    return da.from_array(X, chunks=(700, 2))


@pytest.mark.parametrize("make", [np.asarray, lazily], ids=["in memory", "tiled"])
@pytest.mark.parametrize("parameters", PARAMETERS.values(), ids=PARAMETERS)
def test_a_graph_is_read_as_it_was(parameters, make, tmp_path):
    graph = similarity_graph(make(MOONS), seed=3, n_rounds=8, **parameters)
    graph.to_zarr(tmp_path / "graph.zarr")
    read = SimilarityGraph.from_zarr(tmp_path / "graph.zarr")
    expected = similarity_graph(MOONS, seed=3, n_rounds=8, **parameters)
    assert digest(read) == digest(expected)
    for name in ("kernel_degrees", "neighbors", "sigma", "densities", "points", "order"):
        np.testing.assert_array_equal(getattr(read, name), getattr(expected, name))
    for name in ("kernel", "n_rounds", "seed", "sampler", "draws", "weighting", "eps", "alpha"):
        assert getattr(read, name) == getattr(expected, name), name
    assert [path.name for path in tmp_path.iterdir()] == ["graph.zarr"]


def test_the_matrix_has_the_layout_of_anndata(tmp_path):
    graph = similarity_graph(MOONS, sigma=0.1, seed=3)
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


def test_what_is_there_is_not_overwritten(tmp_path):
    graph = similarity_graph(MOONS, sigma=0.1, seed=3)
    (tmp_path / "there").mkdir()
    with pytest.raises(FileExistsError, match="there' exists"):
        graph.to_zarr(tmp_path / "there")
    assert list((tmp_path / "there").iterdir()) == []


def test_an_interrupted_store_is_removed(tmp_path, monkeypatch):
    graph = similarity_graph(MOONS, sigma=0.1, seed=3)

    def failing(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("kdegraph.graph_zarr._write_rows", failing)
    with pytest.raises(KeyboardInterrupt):
        graph.to_zarr(tmp_path / "graph.zarr")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_graph_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no"):
        SimilarityGraph.from_zarr(tmp_path / "missing.zarr")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match="is not a graph written by to_zarr"):
        SimilarityGraph.from_zarr(tmp_path / "folder")
    similarity_graph(MOONS, sigma=0.1, seed=3).to_zarr(tmp_path / "graph.zarr")
    chunk = tmp_path / "graph.zarr" / "neighbors" / ".zarray"
    facts = json.loads(chunk.read_text()) | {"shape": [2_999, 10]}
    chunk.write_text(json.dumps(facts))
    with pytest.raises(ValueError, match="is not a graph written by to_zarr"):
        SimilarityGraph.from_zarr(tmp_path / "graph.zarr")
