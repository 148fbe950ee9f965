"""Clusters of graphs that are kept tile by tile."""

import tempfile
import time
from pathlib import Path

import dask
import dask.array as da
import kdegraph
import numpy as np

from benchmarks.experiment import experiment
from benchmarks.experiments.tiles import BLOCK, FEW, PARAMETERS, Peaks, moons, scheduler

IN_MEMORY = 10_000_000  # points, of which the clusters are found in memory, too


def _classes(n):
    """The moon of each point of `moons`, in blocks like those of the points."""
    sizes = [min(BLOCK, n - first) for first in range(0, n, BLOCK)]
    parts = [dask.delayed(_block)(size, i) for i, size in enumerate(sizes)]
    blocks = [
        da.from_delayed(part, (size,), meta=np.empty(0, np.int32))
        for part, size in zip(parts, sizes, strict=True)
    ]
    return da.concatenate(blocks)


def _block(n, seed):
    return kdegraph.datasets.make("moons", n=n, seed=seed).y.astype(np.int32)


def _cluster(X):
    """Compile what is needed."""
    graph = kdegraph.similarity_graph(X, **PARAMETERS)
    kdegraph.spectral_clustering(graph, 3, seed=0)  # more than there are components


def in_memory_seconds(n):
    """Seconds of the clusters of the same graph in memory."""
    X = moons(n).compute()
    _cluster(X[:FEW])
    graph = kdegraph.similarity_graph(X, **PARAMETERS)
    start = time.perf_counter()
    kdegraph.spectral_clustering(graph, 2, seed=0)
    return time.perf_counter() - start


@experiment(
    lambda: [
        {"n": 1_000_000, "workers": 0},
        {"n": 10_000_000, "workers": 0},
        {"n": 100_000_000, "workers": 2},
    ],
    source="docs/larger_than_memory.md: the clusters of graphs that do not fit into memory.",
    limit=7200.0,
)
def tiled_clusters(n, workers):
    """Seconds, memory and disk of two moons that are clustered tile by tile, from end to end.

    Without workers by the threads of the process, otherwise by so many processes of one thread. The
    memory is that of all processes without mapped files, which the system can take back; "wrong"
    counts the points in the cluster of the other moon.
    """
    with scheduler(workers), tempfile.TemporaryDirectory() as folder:
        _cluster(moons(FEW))
        store = Path(folder, "graph")
        with Peaks(store) as peaks:
            start = time.perf_counter()
            graph = kdegraph.similarity_graph(moons(n), **PARAMETERS, store=store)
            graph_seconds = time.perf_counter() - start
            start = time.perf_counter()
            found = kdegraph.spectral_clustering(graph, 2, seed=0)
            seconds = time.perf_counter() - start
        n_other = int((found.labels != _classes(n).rechunk(found.labels.chunks)).sum().compute())
    values = {
        "graph seconds": graph_seconds,
        "cluster seconds": seconds,
        "products": found.spectrum.n_products,
        "wrong": min(n_other, n - n_other),
        "GiB": peaks.memory / 2**30,
        "GiB in folder": peaks.disk / 2**30,
    }
    if n <= IN_MEMORY:
        values["cluster seconds / in memory"] = seconds / in_memory_seconds(n)
    return values
