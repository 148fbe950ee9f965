"""Interrupt the public functions at random moments, and check that all still works.

Run as a program, it prints how many interrupts the process has survived: ``python
tests/runtime/interrupts.py COUNT SCALE``, for instance of 500 calls with data of 2000 rows.

Ctrl+C in a terminal and the stop button of a notebook raise `KeyboardInterrupt` in the main thread,
between any two of its instructions, also while it deals with the one before.
"""

import gc
import os
import random
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import kdegraph
import numpy as np

MOST = 3  # interrupts that follow each other
PAUSE = 0.02  # seconds, the longest time between two of them
LONGEST = 2.0  # seconds, the longest time until the first one
LEAK = 300 * 2**20  # bytes that may be lost: a few times the arrays of one call


class Interrupts:
    """Send SIGINT to this process, which raises `KeyboardInterrupt` only while an action runs."""

    def __init__(self):
        self.sent = self.raised = 0
        self._armed = False
        signal.signal(signal.SIGINT, self._handle)

    def _handle(self, number, frame):
        if self._armed:
            self.raised += 1
            raise KeyboardInterrupt

    def during(self, action, pauses):
        """Call `action` while an interrupt comes after each of the `pauses`, in seconds."""
        over = threading.Event()
        sender = threading.Thread(target=self._send, args=(pauses, over))
        try:
            self._armed = True
            sender.start()
            action()
        except (KeyboardInterrupt, kdegraph.Cancelled):
            pass
        finally:
            self._armed = False
        over.wait()
        sender.join()

    def _send(self, pauses, over):
        for pause in pauses:
            time.sleep(pause)
            os.kill(os.getpid(), signal.SIGINT)
            self.sent += 1
        over.set()


def actions(scale, folder):
    """Return the name and a call of every public function that takes a while."""
    rng = np.random.default_rng(0)
    X, many, wide = (rng.normal(size=(scale * n, d)) for n, d in ((20, 2), (50, 8), (10, 20)))
    graph = kdegraph.similarity_graph(X, sigma=0.3, n_rounds=10, seed=0)
    transformer = kdegraph.SimilarityGraphTransformer(sigma=0.3, random_state=0).fit(X[:scale])
    estimator = kdegraph.KDESpectralClustering(3, sigma=0.3, random_state=0).fit(X[: 2 * scale])

    table = "\n".join(f"{x},{y}" for x, y in X.tolist()).encode()

    columns = {f"x{i}": values.tolist() for i, values in enumerate(many.T)}

    def listen(stage, fraction):
        pass

    def saved(write, name, read=Path.read_bytes):
        """Write a file over an earlier one, which is whole whatever happens."""
        try:
            write(folder / name)
        finally:
            assert read(folder / name)

    return {
        "kernel_sum": lambda: kdegraph.kernel_sum(X, sigma=0.1, method="tree"),
        "kernel_sum, direct": lambda: kdegraph.kernel_sum(wide, sigma=1.0, method="direct"),
        "gauss_transform": lambda: kdegraph.gauss_transform(X, X[::2], sigma=0.3),
        "similarity_graph": lambda: kdegraph.similarity_graph(X, sigma=0.1, seed=0),
        "similarity_graph, progress": lambda: kdegraph.similarity_graph(X, seed=0, progress=listen),
        "similarity_graph, automatic": lambda: kdegraph.similarity_graph(many[::5], seed=0),
        "similarity_graph, near": lambda: kdegraph.similarity_graph(wide, sampler="near", seed=0),
        "similarity_graph, recursive": lambda: kdegraph.similarity_graph(
            X[:scale], sampler="recursive", seed=0
        ),
        "estimate_sigma": lambda: kdegraph.estimate_sigma(many, seed=0),
        "local_bandwidths": lambda: kdegraph.local_bandwidths(many),
        "full_graph": lambda: kdegraph.full_graph(wide[: 2 * scale], sigma=1.0),
        "full_graph, sparse": lambda: kdegraph.full_graph(X, sigma=1e-4),
        "knn_graph": lambda: kdegraph.knn_graph(many, 10),
        "knn_graph, progress": lambda: kdegraph.knn_graph(many, 10, progress=listen),
        "knn_graph, 20 dimensions": lambda: kdegraph.knn_graph(wide, 10),
        "spectrum": lambda: kdegraph.spectrum(graph, 10, seed=1),
        "spectral_clustering": lambda: kdegraph.spectral_clustering(graph, 5, progress=listen),
        "conductance": lambda: kdegraph.conductance(graph, np.arange(len(X)) % 3),
        "cluster_scales": lambda: kdegraph.cluster_scales(X[: scale // 2], seed=0),
        "graph_layout": lambda: kdegraph.graph_layout(graph, seed=0),
        "diagnose": lambda: kdegraph.diagnose(graph, n_clusters=3),
        "describe_clusters": lambda: kdegraph.describe_clusters(many, np.arange(len(many)) % 9),
        "save, load": lambda: saved(graph.save, "graph.npz", kdegraph.SimilarityGraph.load),
        "export_graph": lambda: saved(lambda path: kdegraph.export_graph(path, graph), "a.gexf"),
        "datasets.load": lambda: kdegraph.datasets.load(table, filename="t.csv"),
        "datasets.photo": lambda: kdegraph.datasets.photo("china", max_pixels=20 * scale),
        "TableTransformer": lambda: kdegraph.TableTransformer().fit_transform(columns),
        "fit, automatic": lambda: kdegraph.KDESpectralClustering(random_state=0).fit(X[:scale]),
        "fit": lambda: kdegraph.KDESpectralClustering(3, random_state=0).fit(X),
        "predict": lambda: estimator.predict(many[:, :2]),
        "transform": lambda: transformer.transform(X[: scale + 20]),
    }


def works():
    """Return whether a few quick calls return the right results."""
    X = np.random.default_rng(1).normal(size=(300, 2))
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    values = np.exp(-distances)
    sums = kdegraph.kernel_sum(X, sigma=1.0, eps=1e-9)
    neighbors = kdegraph.knn_graph(X, 1).toarray() > 0
    graph = kdegraph.similarity_graph(X, sigma=0.5, n_rounds=10, seed=0)
    again = kdegraph.similarity_graph(X, sigma=0.5, n_rounds=10, seed=0)
    np.fill_diagonal(distances, np.inf)
    return (
        np.allclose(sums, values.sum(axis=1))
        and neighbors[np.arange(300), distances.argmin(axis=1)].all()
        and np.array_equal(graph.neighbors, again.neighbors)
        and abs(kdegraph.spectrum(graph, 2).eigenvalues[0]) < 1e-9
    )


def resident_bytes():
    """Return the resident memory of this process, or 0 where the system does not report it."""
    gc.collect()
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def attack(count, scale, seed, folder):
    """Interrupt `count` calls; return how many interrupts each function has raised."""
    chance, interrupts, raised = random.Random(seed), Interrupts(), {}
    calls = actions(scale, folder)
    seconds = {}
    for name, call in calls.items():
        begin = time.perf_counter()
        call()
        seconds[name] = time.perf_counter() - begin
    before = resident_bytes()
    names = list(calls)
    for number in range(count):
        name = names[number % len(names)]
        moment = chance.uniform(0, min(1.1 * seconds[name], LONGEST))
        again = [chance.uniform(0, PAUSE) for _ in range(chance.randrange(MOST))]
        was = interrupts.raised
        interrupts.during(calls[name], [moment, *again])
        raised[name] = raised.get(name, 0) + interrupts.raised - was
        assert works(), f"after an interrupt of {name} results are wrong"
    # This thread and the pool, which has as many threads as it has ever needed at once.
    most_threads = 1 + kdegraph.get_num_threads()
    end = time.monotonic() + 60
    while threading.active_count() > most_threads and time.monotonic() < end:
        time.sleep(0.1)
    assert threading.active_count() <= most_threads, threading.enumerate()
    assert (grown := resident_bytes() - before) < LEAK, (
        f"{grown / 2**20:.0f} MiB were not given back"
    )
    return raised


if __name__ == "__main__":
    count, scale = map(int, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        raised = attack(count, scale, seed=0, folder=Path(folder))
    print(*(f"{name:32s} {number}" for name, number in raised.items()), sep="\n")
    print(f"survived {sum(raised.values())} interrupts of {count} calls")
