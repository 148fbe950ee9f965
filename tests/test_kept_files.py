"""Files of earlier versions open with the same contents."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from explorer_actions import PATIENCE
from kdegraph import SimilarityGraph, TiledGraph, spectral_clustering
from kdegraph_explorer.exports import session_file

KEPT = Path(__file__).with_name("kept")
VERSIONS = sorted(path for path in KEPT.iterdir() if path.joinpath("expected.json").is_file())
PARAMETERS = ("kernel", "n_rounds", "seed", "alpha")

versions = pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)


def expected(version, kind):
    """Return the contents of files of a version, which it has noted itself."""
    return json.loads((version / "expected.json").read_text())[kind]


def kept(kind, *others):
    """Run a test with each version and each of its files of a kind but others."""
    pairs = [(version, name) for version in VERSIONS for name in expected(version, kind)]
    pairs = [pair for pair in pairs if pair[1] not in others]
    ids = [f"{version.name}-{name}" for version, name in pairs]
    return pytest.mark.parametrize(("version", "name"), pairs, ids=ids)


def unpacked(version, name, tmp_path):
    """Unpack a folder that is kept as an archive."""
    shutil.unpack_archive(version / f"{name}.zip", tmp_path / name)
    return tmp_path / name


def check_graph(graph, facts):
    assert {name: getattr(graph, name) for name in PARAMETERS} == {
        name: facts[name] for name in PARAMETERS
    }
    np.testing.assert_array_equal(graph.sigma, facts["sigma"])
    np.testing.assert_array_equal(graph.neighbors, facts["neighbors"])
    np.testing.assert_array_equal(graph.points, facts["points"])
    np.testing.assert_array_equal(graph.kernel_degrees, facts["kernel_degrees"])
    np.testing.assert_array_equal(graph.sample_weight, facts.get("sample_weight"))
    weights = graph.adjacency.toarray()
    np.testing.assert_allclose(weights.sum(axis=1), facts["weights"], rtol=1e-14)
    assert np.array_equal(weights, weights.T)
    left = np.arange(len(weights)) < len(weights) // 2
    labels = spectral_clustering(graph, 2, seed=0).labels
    assert set(labels[left]).isdisjoint(labels[~left])


@kept("graphs", "tiles")
def test_graph_in_npz_and_zarr(version, name, tmp_path):
    facts = expected(version, "graphs")[name]
    check_graph(SimilarityGraph.load(version / f"{name}.npz"), facts)
    store = unpacked(version, f"{name}.zarr", tmp_path)
    check_graph(SimilarityGraph.from_zarr(store), facts)
    if not facts.get("sample_weight"):  # which graphs by tiles do not have
        check_graph(TiledGraph.from_zarr(store, tmp_path / "tiles").compute(), facts)


@versions
def test_folder_of_a_tiled_graph(version, tmp_path):
    store = unpacked(version, "tiles", tmp_path)
    check_graph(TiledGraph.load(store).compute(), expected(version, "graphs")["tiles"])


def test_the_sampler_rows_of_earlier_versions_is_read(tmp_path):
    """Graphs keep its name, which `similarity_graph` does not take any more."""
    version = KEPT / "2026-11-25"
    assert SimilarityGraph.load(version / "graph.npz").sampler == "rows"
    assert SimilarityGraph.from_zarr(unpacked(version, "graph.zarr", tmp_path)).sampler == "rows"
    assert TiledGraph.load(unpacked(version, "tiles", tmp_path)).sampler == "rows"


@versions
def test_labels(version):
    labels = expected(version, "labels")
    assert np.load(version / "labels.npy").tolist() == labels
    for read, ending in ((pyarrow.csv.read_csv, "csv"), (pyarrow.parquet.read_table, "parquet")):
        frame = read(version / f"labels.{ending}")
        assert frame.column_names[-1] in ("label", "cluster")
        assert frame[-1].to_pylist() == labels


@kept("sessions")
def test_session_files(version, name, sessions):
    facts, session = expected(version, "sessions")[name], sessions()
    session.restore(session_file.read(session, (version / f"{name}.json").read_bytes()))
    session.wait(PATIENCE)
    state = session.state
    assert state.error == ""
    assert state.source == facts["source"]
    np.testing.assert_allclose(state.dataset.X, facts["points"], rtol=1e-12)
    assert (state.n_clusters, state.n_rounds, state.sigma) == (3, 9, 0.5)
    assert state.selection.tolist() == [1, 4, 5]
    later = facts.keys() & {"edits", "cluster_names", "fade"}
    assert {each: getattr(state, each) for each in later} == {each: facts[each] for each in later}
    assert bool(state.edits) == bool(state.outcome("kde").edited) == (name == "edited")
