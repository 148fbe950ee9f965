"""Graphs that are made tile by tile."""

import contextlib
import tempfile
import threading
import time
from pathlib import Path

import dask
import dask.array as da
import kdegraph
import numpy as np
import psutil

from benchmarks.experiment import experiment

PARAMETERS = {"sigma": 0.1, "n_rounds": 10, "seed": 0}
BLOCK = 1_000_000  # points
IN_MEMORY = 10_000_000  # points, of which the graph is made in memory, too
FEW = 20_000  # points on which everything is compiled
WATCHED = 0.1  # seconds between two looks at the memory


def moons(n):
    """Points of two moons and the moon of each, made block by block when they are needed."""
    points, classes = [], []
    for i, first in enumerate(range(0, n, BLOCK)):
        size = min(BLOCK, n - first)
        block = dask.delayed(kdegraph.datasets.make)("moons", n=size, seed=i)
        points.append(da.from_delayed(block.X, (size, 2), meta=np.empty((0, 2))))
        classes.append(da.from_delayed(block.y, (size,), meta=np.empty(0, np.int64)))
    return da.concatenate(points), da.concatenate(classes)


@contextlib.contextmanager
def scheduler(workers):
    """Dask's threads, or a cluster of so many processes of one thread each."""
    if workers == 0:
        yield
        return
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield


class Peaks:
    """The most memory that this process and its children have together, without mapped files, and
    the most bytes in a folder.
    """

    def __init__(self, folder):
        self._folder = folder

    def __enter__(self):
        self.memory = self.disk = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._ended.set()
        self._thread.join()

    def _watch(self):
        this = psutil.Process()
        while not self._ended.wait(WATCHED):
            total = 0
            for process in (this, *this.children(recursive=True)):
                with contextlib.suppress(psutil.NoSuchProcess):
                    memory = process.memory_info()
                    total += memory.rss - memory.shared
            self.memory = max(self.memory, total)
            self.disk = max(self.disk, self._bytes_in_folder())

    def _bytes_in_folder(self):
        total = 0
        for path in self._folder.rglob("*.*"):
            with contextlib.suppress(FileNotFoundError):  # it may have been renamed
                total += path.stat().st_size
        return total


def in_memory_seconds(n):
    """Seconds of the same graph in memory."""
    X = moons(n)[0].compute()
    start = time.perf_counter()
    kdegraph.similarity_graph(X, **PARAMETERS)
    return time.perf_counter() - start


@experiment(
    lambda: [
        *({"n": 1_000_000, "workers": workers} for workers in (0, 1, 2)),
        *({"n": 10_000_000, "workers": workers} for workers in (0, 1, 2)),
        *({"n": 20_000_000, "workers": workers} for workers in (0, 2)),
        {"n": 100_000_000, "workers": 2},
    ],
    source="docs/larger_than_memory.md: the same bits, tile by tile.",
    limit=3600.0,
)
def tiles(n, workers):
    """Seconds, memory and disk of graphs of two moons that are made tile by tile.

    Without workers by the threads of the process, otherwise by so many processes of one thread. The
    memory is that of all processes without mapped files, which the system can take back; the points
    are made in blocks. The seconds of the same graph in memory are those of all threads.
    """
    with scheduler(workers), tempfile.TemporaryDirectory() as folder:
        kdegraph.similarity_graph(moons(FEW)[0], **PARAMETERS, store=Path(folder, "few"))
        X, store = moons(n)[0], Path(folder, "graph")
        with Peaks(store) as peaks:
            start = time.perf_counter()
            graph = kdegraph.similarity_graph(X, **PARAMETERS, store=store)
            seconds = time.perf_counter() - start
        in_folder = sum(path.stat().st_size for path in store.iterdir())
    values = {"edges": graph.n_edges, "tiles": graph.n_blocks, **graph.timings}
    values |= {"seconds": seconds, "GiB": peaks.memory / 2**30, "GiB in folder": in_folder / 2**30}
    if n <= IN_MEMORY:
        values["seconds / in memory"] = seconds / in_memory_seconds(n)
    return values
