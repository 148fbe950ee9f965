"""Graphs tile by tile: the same bits as in memory, also by processes and after interruptions."""

import functools
import os
import runpy
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import CancelledError
from pathlib import Path
from types import SimpleNamespace

import dask.array as da
import numpy as np
import programs
import pytest
import scipy.sparse
from kdegraph import TiledGraph, datasets, similarity_graph
from kdegraph.tiles.folder import Folder
from pyarrow import parquet
from sampled import PARAMETERS, assert_same_graph
from tiled import N, interrupt, lazy, written


def moons(n=N):
    return datasets.make("moons", n=n, seed=0).X


@functools.cache
def in_memory():
    """The graph that most tests make by tiles."""
    return similarity_graph(moons(), sigma=0.1, seed=3)


@functools.cache
def by_tiles():
    """The same graph, which tests may read only."""
    return similarity_graph(lazy(moons()), sigma=0.1, seed=3)


def assert_same_bits(tiled, graph):
    """The tiled graph, computed, is the one in memory, bit for bit."""
    assert_same_graph(tiled.compute(), graph)
    for name in (*PARAMETERS, "n_edges"):
        assert getattr(tiled, name) == getattr(graph, name), name


def complete(store):
    """Begin, or go on with, the graph of `in_memory` in a folder, and compare it."""
    tiled = similarity_graph(lazy(moons()), sigma=0.1, seed=3, store=store)
    assert_same_bits(tiled, in_memory())
    return tiled


SAME = {
    "rejection": {"sigma": 0.1, "sampler": "rejection"},
    "near": {"sigma": 0.02, "sampler": "near"},
    "automatic": {},
    "laplacian": {"sigma": 0.05, "kernel": "laplacian"},
    "moderate": {"sigma": "moderate"},
    "local and alpha": {"sigma": "local", "alpha": 0.5},
    "array": {"sigma": np.geomspace(0.01, 0.1, N)},
    "alpha": {"sigma": 0.05, "alpha": 1.0},
    "many rounds": {"sigma": 0.1, "n_rounds": 150, "weighting": "paper"},
}


UNUSUAL = {
    "one point": np.zeros((1, 2)),
    "two points": np.array([[0.0], [1.0]]),
    "duplicates": np.repeat(moons(500), 20, axis=0),
    "all equal": np.ones((N, 2)),
    "outliers": np.concatenate([moons(N - 2), [[1e9, 0.0], [-1e200, 1e200]]]),
    "five dimensions": np.random.default_rng(0).normal(size=(N, 5)),
    "single precision": moons().astype(np.float32),
}


CASES = {name: (moons(), parameters) for name, parameters in SAME.items()} | {
    name: (X, {"sigma": 0.3, "n_rounds": 10}) for name, X in UNUSUAL.items()
}


@pytest.mark.parametrize("name", CASES)
def test_same_bits_as_in_memory(name):
    X, parameters = CASES[name]
    tiled = similarity_graph(lazy(X), seed=3, **parameters)
    assert isinstance(tiled, TiledGraph)
    if name in SAME:
        assert tiled.n_blocks == 5
    assert_same_bits(tiled, similarity_graph(X, seed=3, **parameters))


@pytest.mark.usefixtures("in_another_process")
def test_same_bits_by_another_process():
    complete(None)


def test_a_block_of_the_matrix_is_rows_of_it():
    tiled = by_tiles()
    rows = tiled.adjacency[2_500:2_510].compute()
    matrix = in_memory().adjacency
    assert (rows != matrix[2_500:2_510]).nnz == 0
    assert rows.has_sorted_indices
    degrees = tiled.adjacency.map_blocks(
        lambda block: block.sum(axis=1), drop_axis=1, dtype=float, meta=np.empty(0)
    )
    np.testing.assert_array_equal(degrees.compute(), matrix.sum(axis=1))


def test_the_points_of_an_array_go_into_a_store_too(tmp_path):
    X = moons(3_000)
    tiled = similarity_graph(X, sigma=0.1, seed=3, store=tmp_path / "graph")
    assert_same_bits(TiledGraph.load(tmp_path / "graph"), similarity_graph(X, sigma=0.1, seed=3))
    assert not list((tmp_path / "graph").glob("plan.*"))  # the tree is not kept
    tiled.remove()
    assert list(tmp_path.iterdir()) == []


def test_edges_as_a_folder_of_parquet_files(tmp_path):
    tiled = by_tiles()
    tiled.to_parquet(tmp_path / "edges")
    edges = parquet.read_table(tmp_path / "edges").to_pydict()
    upper = scipy.sparse.triu(in_memory().adjacency, format="csr")
    source, target = upper.nonzero()
    np.testing.assert_array_equal(edges["source"], source)
    np.testing.assert_array_equal(edges["target"], target)
    np.testing.assert_array_equal(edges["weight"], upper.data)
    assert len(list((tmp_path / "edges").iterdir())) == tiled.n_blocks
    with pytest.raises(ValueError, match="is not empty"):
        tiled.to_parquet(tmp_path / "edges")


# The function of each stage that is called for tile after tile, or block after block.
FUNCTIONS = {
    "points": "kdegraph.tiles.points._put_rows",
    "samples": "kdegraph.tiles.build.draw_tile",
    "graph": "kdegraph.tiles.build.join_tile",
}


def interrupted(store, stage, **parameters):
    """Begin a graph, and stop it at the third tile or block of a stage."""
    interrupt(
        FUNCTIONS[stage],
        lambda: similarity_graph(lazy(moons()), sigma=0.1, store=store, **parameters),
    )


@pytest.mark.parametrize("stage", FUNCTIONS)
def test_an_interrupted_graph_is_completed(stage, tmp_path):
    store = tmp_path / "graph"
    interrupted(store, stage, seed=3)
    with pytest.raises(ValueError, match="holds no graph that is complete"):
        TiledGraph.load(store)
    before = written(store)
    complete(store)
    after = written(store)
    kept = {name for name in before if name.startswith(("points", "draws", "rows"))}
    assert {after[name] for name in kept} == {before[name] for name in kept}
    assert not any("sent" in name or name.startswith(".") for name in after)


def test_what_was_being_written_when_a_graph_was_interrupted_is_no_step_of_it(tmp_path):
    store = tmp_path / "graph"
    interrupted(store, "graph", seed=3)
    left = [".sent-4-0123456789abcdef.json", ".draws-4.neighbors-0123456789abcdef.npy"]
    for name in left:
        (store / name).touch()
    Folder(store).check_all()  # also while a task of the interrupted graph is at work
    complete(store)
    assert not any((store / name).exists() for name in left)


def test_a_complete_graph_is_not_computed_again(tmp_path):
    X, store = moons(3_000), tmp_path / "graph"
    similarity_graph(lazy(X), sigma=0.1, seed=3, store=store)
    before = written(store)
    similarity_graph(lazy(X), sigma=0.1, seed=3, store=store)
    assert written(store) == before


def test_a_seed_that_was_drawn_is_kept(tmp_path):
    store = tmp_path / "graph"
    interrupted(store, "samples")
    tiled = similarity_graph(lazy(moons()), sigma=0.1, store=store)
    assert_same_bits(tiled, similarity_graph(moons(), sigma=0.1, seed=tiled.seed))


KILLED = """
    import os, signal
    import dask.array as da
    from kdegraph import datasets, similarity_graph

    def progress(stage, fraction):
        if stage == "graph" and fraction >= 0.5:
            os.kill(os.getpid(), signal.SIGKILL)

    X = da.from_array(datasets.make("moons", n={n}, seed=0).X, chunks=1_500)
    similarity_graph(X, sigma=0.1, seed=3, store={store!r}, progress=progress)
"""


def test_a_graph_whose_process_was_killed_is_completed(tmp_path):
    store = tmp_path / "graph"
    code = textwrap.dedent(KILLED.format(n=N, store=str(store)))
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
    complete(store)


def test_workers_of_a_cluster_may_be_killed():
    distributed = pytest.importorskip("distributed")
    X, killed = moons(), []
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        similarity_graph(lazy(X), sigma=0.1, seed=1)  # the workers have compiled

        def progress(stage, fraction):
            if stage == "samples" and fraction > 0 and not killed:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        tiled = similarity_graph(lazy(X), sigma=0.1, seed=3, progress=progress)
        assert killed
        assert_same_bits(tiled, in_memory())


def test_a_scheduler_that_is_lost_is_named(monkeypatch):
    class Lost:
        def result(self):
            raise CancelledError("scheduler-connection-lost")

    client = SimpleNamespace(
        scheduler=SimpleNamespace(address="tcp://10.0.0.1:8786"),
        compute=lambda tasks: [Lost() for _ in tasks],
    )
    monkeypatch.setattr("distributed.as_completed", iter)
    monkeypatch.setattr("kdegraph.tiles.scheduler._client", lambda: client)
    with pytest.raises(RuntimeError, match=r"scheduler at tcp://10\.0\.0\.1:8786 was lost"):
        similarity_graph(lazy(moons(100)), sigma=0.1)


def test_what_is_damaged_is_named_and_nothing_is_overwritten(tmp_path):
    store = tmp_path / "graph"
    interrupted(store, "graph", seed=3)
    damaged = store / "draws-2.neighbors.npy"
    content = bytearray(damaged.read_bytes())
    content[-7] ^= 1
    damaged.write_bytes(content)
    before = written(store)
    with pytest.raises(ValueError, match=r"draws-2\.neighbors\.npy.* checksum"):
        complete(store)
    assert written(store) == before

    damaged.write_bytes(content[:-100])
    with pytest.raises(ValueError, match=r"draws-2\.neighbors\.npy.* is damaged"):
        complete(store)
    # As the message says:
    for path in store.glob("draws-2.*"):
        path.unlink()
    complete(store)


def test_a_store_with_something_else_is_refused(tmp_path):
    X, store = moons(3_000), tmp_path / "graph"
    similarity_graph(lazy(X), sigma=0.1, seed=3, store=store)
    before = written(store)
    with pytest.raises(ValueError, match=r"another graph: sigma is 0\.1 there and 0\.2 here"):
        similarity_graph(lazy(X), sigma=0.2, seed=3, store=store)
    with pytest.raises(ValueError, match=r"another graph: seed is 3 there and 4 here"):
        similarity_graph(lazy(X), sigma=0.1, seed=4, store=store)
    other = X.copy()
    other[1_234, 1] += 1e-9
    with pytest.raises(ValueError, match="holds other points: row 1234 of X"):
        similarity_graph(lazy(other), sigma=0.1, seed=3, store=store)
    assert written(store) == before

    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "to my aunt.txt").write_text("Dear aunt")
    with pytest.raises(ValueError, match=r"holds other files, for instance 'to my aunt\.txt'"):
        similarity_graph(lazy(X), sigma=0.1, store=tmp_path / "letters")
    assert len(list((tmp_path / "letters").iterdir())) == 1


TEMPORARY = """
import sys
import dask, dask.array as da
from kdegraph import similarity_graph

with dask.config.set({"temporary-directory": sys.argv[1]}):
    graph = similarity_graph(da.ones((10, 2)), sigma=1.0)
print(graph.path, graph.path.exists())
"""


def test_a_temporary_folder_ends_with_the_process(tmp_path):
    path, existed = programs.run(TEMPORARY, str(tmp_path)).stdout.split()
    assert path.startswith(str(tmp_path))
    assert existed == "True"
    assert list(tmp_path.iterdir()) == []


def with_nan(row):
    X = moons(3_000)
    X[row, 1] = np.nan
    return lazy(X)


REFUSED = {
    "NaN": (with_nan(2_345), {}, r"X must be finite, but X\[2345, 1\] is nan"),
    "one dimension": (da.ones(10), {}, r"X must have shape \(n, d\), got \(10,\)"),
    "no points": (da.ones((0, 2)), {}, "X has no points"),
    "text": (da.from_array(np.array([["a", "b"]])), {}, "X must hold numbers"),
    "unknown sizes": (lazy(moons(100))[da.ones(100) > 0], {}, r"X\.compute_chunk_sizes\(\)"),
    "recursive": (da.ones((10, 2)), {"sampler": "recursive"}, "'recursive' needs all points"),
    "mixture": (da.ones((10, 2)), {"sampler": "mixture"}, "'mixture' needs all points"),
    "many dimensions": (da.ones((20_000, 50)), {}, "'mixture' needs all points"),
    "sigma": (da.ones((10, 2)), {"sigma": 0.0}, "sigma must be positive"),
}


@pytest.mark.parametrize(("X", "parameters", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_an_error(X, parameters, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        similarity_graph(X, **parameters, store=tmp_path / "graph")
    assert not list(tmp_path.glob("**/*.npy"))


def test_a_graph_that_does_not_fit_into_memory_is_not_read(monkeypatch):
    tiled = by_tiles()
    needed = 48 * tiled.n_edges
    monkeypatch.setattr("kdegraph.runtime.memory.ALWAYS_AVAILABLE", 0)
    monkeypatch.setattr("kdegraph.runtime.memory.available_memory", lambda: needed)
    tiled.compute()
    monkeypatch.setattr("kdegraph.runtime.memory.available_memory", lambda: needed - 1)
    with pytest.raises(MemoryError, match="edges needs about"):
        tiled.compute()


def test_the_example_runs_and_its_graph_is_kept(tmp_path, monkeypatch, capsys):
    path = Path(__file__).parents[2] / "examples" / "larger_than_memory.py"
    example = runpy.run_path(str(path))
    monkeypatch.chdir(tmp_path)
    for name, value in {"BLOCK": 2_500, "BLOCKS": 4}.items():
        monkeypatch.setitem(example["main"].__globals__, name, value)
    example["main"]()
    said = capsys.readouterr().out
    assert "10,000 points" in said
    assert "points in each cluster: [5000 5000]" in said
    assert TiledGraph.load("moons.graph").n_vertices == 10_000
