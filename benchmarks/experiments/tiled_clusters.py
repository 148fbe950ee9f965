"""Clusters of graphs that are kept tile by tile."""

import tempfile
import time
from pathlib import Path

import kdegraph

from benchmarks.experiment import experiment
from benchmarks.experiments.tiles import FEW, PARAMETERS, Peaks, moons, scheduler

IN_MEMORY = 10_000_000  # points, of which the clusters are found in memory, too


def _cluster(X):
    """Compile what is needed."""
    graph = kdegraph.similarity_graph(X, **PARAMETERS)
    kdegraph.spectral_clustering(graph, 3, seed=0)  # more than there are components


def in_memory_seconds(n):
    """Seconds of the clusters of the same graph in memory."""
    X = moons(n)[0].compute()
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
        _cluster(moons(FEW)[0])
        store = Path(folder, "graph")
        with Peaks(store) as peaks:
            start = time.perf_counter()
            points, classes = moons(n)
            graph = kdegraph.similarity_graph(points, **PARAMETERS, store=store)
            graph_seconds = time.perf_counter() - start
            start = time.perf_counter()
            found = kdegraph.spectral_clustering(graph, 2, seed=0)
            seconds = time.perf_counter() - start
        n_other = int((found.labels != classes.rechunk(found.labels.chunks)).sum().compute())
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
