"""Clusters of graphs that are kept tile by tile."""

import tempfile
import time
from pathlib import Path

import kdegraph
import numpy as np
from kdegraph.tiles import scheduler as of_tiles

from benchmarks.experiment import experiment
from benchmarks.experiments.tiles import FEW, PARAMETERS, Peaks, moons, scheduler

IN_MEMORY = 10_000_000  # points, of which the clusters are found in memory, too


class TileSeconds:
    """The seconds in which this process waits for tiles; in all others it works itself."""

    def __enter__(self):
        self.seconds, self._run = 0.0, of_tiles.run
        of_tiles.run = self._timed
        return self

    def __exit__(self, *error):
        of_tiles.run = self._run

    def _timed(self, *args, **options):
        start = time.perf_counter()
        self._run(*args, **options)
        self.seconds += time.perf_counter() - start


def cluster(X, parameters, k, workers):
    """The clustering of points from end to end, its labels in memory, and what it took."""
    with scheduler(workers), tempfile.TemporaryDirectory() as folder:
        _compile(X[:FEW], parameters)
        store = Path(folder, "graph")
        with Peaks(store) as peaks, TileSeconds() as tiles:
            start = time.perf_counter()
            graph = kdegraph.similarity_graph(X, **parameters, store=store)
            graph_seconds, tiles.seconds = time.perf_counter() - start, 0.0
            start = time.perf_counter()
            found = kdegraph.spectral_clustering(graph, k, seed=0)
            seconds = time.perf_counter() - start
        labels = found.labels.compute()
    values = {
        "graph seconds": graph_seconds,
        "cluster seconds": seconds,
        "of these, for tiles": tiles.seconds,
        "products": found.spectrum.n_products,
        "GiB": peaks.memory / 2**30,
        "GiB in folder": peaks.disk / 2**30,
    }
    return found, labels, values


def _compile(X, parameters):
    graph = kdegraph.similarity_graph(X, **parameters)
    kdegraph.spectral_clustering(graph, 3, seed=0)  # more than there are components


def in_memory_seconds(n):
    """Seconds of the clusters of the same graph in memory."""
    X = moons(n)[0].compute()
    _compile(X[:FEW], PARAMETERS)
    graph = kdegraph.similarity_graph(X, **PARAMETERS)
    start = time.perf_counter()
    kdegraph.spectral_clustering(graph, 2, seed=0)
    return time.perf_counter() - start


@experiment(
    lambda: [
        {"n": 1_000_000, "workers": 0},
        *({"n": 10_000_000, "workers": workers} for workers in (0, 1, 2)),
        {"n": 20_000_000, "workers": 2},
        {"n": 100_000_000, "workers": 2},
    ],
    source="docs/larger_than_memory.md: the clusters of graphs that do not fit into memory.",
    limit=7200.0,
)
def tiled_clusters(n, workers):
    """Seconds, memory and disk of two moons that are clustered tile by tile, from end to end.

    Without workers by the threads of the process, otherwise by so many processes of one thread. The
    memory is that of all processes without mapped files, which the system can take back. "Of these,
    for tiles" are the seconds of what more workers would share; "wrong" counts the points in the
    cluster of the other moon.
    """
    X, y = moons(n)
    _, labels, values = cluster(X, PARAMETERS, 2, workers)
    n_other = int(np.sum(labels != y.compute()))
    values["wrong"] = min(n_other, n - n_other)
    if n <= IN_MEMORY and workers == 0:
        values["cluster seconds / in memory"] = values["cluster seconds"] / in_memory_seconds(n)
    return values
