"""`kdegraph cluster` for points that need not fit into memory."""

import dask
import distributed
import numpy as np
import pytest
import zarr
from cli.results import assert_refused, column, same_partition
from kdegraph import TiledGraph, datasets
from tiled import written

MOONS = datasets.make("moons", n=12_000, seed=0)
QUICK = ("cluster", "-k", 2, "--sigma", 0.2)


@pytest.fixture
def points(tmp_path):
    """Two moons as a Zarr array, in the folder of `run`."""
    zarr.save_array(tmp_path / "points.zarr", MOONS.X)
    return tmp_path / "points.zarr"


def test_clusters_of_a_zarr_array_whose_graph_is_kept(run, points):
    arguments = *QUICK, points, "--store", "graph"
    assert run(*arguments).exit_code == 0
    graph = TiledGraph.load(points.with_name("graph"))
    assert graph.n_vertices == 12_000
    before = written(graph.path)
    read = {"zarr": lambda path: zarr.open(path)[...], "npy": np.load, "csv": column}
    for ending in read:
        result = run(*arguments, "-o", f"labels.{ending}")
        assert result.exit_code == 0, result.output
        for line in ("12,000 points, 2 columns", "sigma 0.2", "clusters     2 (given)", "written"):
            assert line in result.stdout
        assert same_partition(read[ending](points.with_name(f"labels.{ending}")), MOONS.y)
    assert written(graph.path) == before
    assert_refused(run(*arguments, "--seed", 1), "holds another graph")


def test_workers_of_a_scheduler(run, points):
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        address = cluster.scheduler_address
        result = run(*QUICK, points, "--scheduler", address, "-o", "labels.npy")
    assert result.exit_code == 0, result.output
    assert same_partition(np.load(points.with_name("labels.npy")), MOONS.y)


def test_workers_with_a_limit_of_memory(run, points, monkeypatch):
    monkeypatch.setattr("kdegraph.runtime.threads.get_num_threads", lambda: 1)  # so many workers
    result = run(*QUICK, points, "--memory-limit", "600MB", "-o", "labels.npy")
    assert result.exit_code == 0, result.output
    assert same_partition(np.load(points.with_name("labels.npy")), MOONS.y)


def test_as_many_workers_as_the_limit_of_memory_is_enough_for(run, points, monkeypatch):
    started = []

    def cluster_of(n_workers, memory_limit, **options):
        started.append((n_workers, memory_limit))
        return distributed.LocalCluster(n_workers=1, processes=False, memory_limit=0, **options)

    monkeypatch.setattr("dask.distributed.LocalCluster", cluster_of)
    monkeypatch.setattr("kdegraph.runtime.threads.get_num_threads", lambda: 4)
    for limit in ("600MB", "1.3GB", "3GB"):
        result = run(*QUICK, points, "--memory-limit", limit, "-o", "labels.npy")
        assert result.exit_code == 0, result.output
    assert started == [(1, 600_000_000), (2, 650_000_000), (4, 750_000_000)]


REFUSED = {
    "method": (("--method", "knn"), "--method knn does not go with"),
    "label": (("--label", "y"), "--label does not go with"),
    "dropna": (("--dropna",), "--dropna does not go with"),
    "noise": (("--noise", 0.9), "--noise does not go with"),
    "scale": (("--scale", "standardize"), "--scale standardize does not go with"),
    "size": (("--memory-limit", "much"), "'much' is not a number of bytes"),
    "small": (("--memory-limit", "599MB"), "'599MB' is too little"),
    "output": (("-o", "labels.png"), "must end in"),
    "columns": (("--columns", "0,2"), "numbers from 0 to 1"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_options_that_do_not_go_with_tiles(run, points, options, message):
    assert_refused(run("cluster", points, "-k", 2, *options), message)


def test_a_scheduler_that_does_not_answer(run, points):
    with dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}):
        result = run("cluster", points, "-k", 2, "--scheduler", "tcp://127.0.0.1:9")
    assert_refused(result, "no scheduler answers at 'tcp://127.0.0.1:9'")


def test_a_folder_of_another_kind(run, tmp_path):
    (tmp_path / "folder").mkdir()
    assert_refused(run("cluster", "folder", "-k", 2), "is a directory")
