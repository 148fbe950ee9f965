"""The parts of building a graph."""

import tracemalloc

import kdegraph
import numpy as np
from kdegraph.geometry.kernel_functions import exp_neg
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.random import stream, uniform

from benchmarks.data import points
from benchmarks.experiment import experiment, grid
from benchmarks.measuring import timed

DIRECT_PAIRS = 3e8  # the direct sum is measured on at most so many


@jit
def bare_loop(begin, end, points, scale, indices, values):
    """One uniform, one kernel value and two stores for every entry of `indices`."""
    n, d = points.shape
    for i in range(begin, end):
        start = stream(np.uint64(0), i, 0)
        for k in range(indices.shape[1]):
            j = int(uniform(start, k) * n)
            t = 0.0
            for c in range(d):
                delta = (points[i, c] - points[j, c]) * scale
                t += delta * delta
            indices[i, k], values[i, k] = j, exp_neg(t)


def bare_seconds(X, sigma, L):
    indices, values = np.zeros((len(X), L), np.int32), np.zeros((len(X), L))
    return timed(lambda: parallel.run(bare_loop, len(X), X, 1 / sigma, indices, values)).seconds


def direct_seconds(X, sigma):
    """Seconds of the direct sum over all pairs, from a random part of the targets."""
    m = min(len(X), int(DIRECT_PAIRS / len(X)) + 1)
    some = X[np.random.default_rng(0).choice(len(X), m, replace=False)]
    sums = timed(lambda: kdegraph.gauss_transform(X, some, sigma=sigma, method="direct"))
    return sums.seconds * len(X) / m


def peak_memory(X, **parameters):
    """Peak memory during a run, without the points, over the bytes of the returned graph."""
    tracemalloc.start()
    graph = kdegraph.similarity_graph(X, **parameters)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    A = graph.adjacency
    arrays = A.data, A.indices, A.indptr, graph.neighbors, graph.kernel_degrees
    return peak / sum(array.nbytes for array in arrays)


@experiment(
    lambda: [
        *grid(data=["moons"], n=[15_000, 100_000], sigma=[0.1], L=[30]),
        {"data": "moons", "n": 1_000_000, "sigma": 0.1, "L": 10},
        {"data": "china", "n": 154_401, "sigma": 0.2, "L": 30},
    ],
    source="Results: the table, and the seconds for a photograph.",
    shown=("edges", "seconds", "seconds / bare loop", "direct sum / seconds", "memory"),
)
def stages(data, n, sigma, L):
    """Seconds and memory of `similarity_graph` by stage, beside a direct kernel sum and a limit.

    The limit is a bare loop, threaded like all else, that draws a random index, evaluates the
    kernel and stores both. The direct sum of large sets is extrapolated from a part of the targets.
    Memory is the peak of what NumPy holds, in sizes of the result.
    """
    X = np.ascontiguousarray(points(data, n).X)
    parameters = {"sigma": sigma, "n_rounds": L, "seed": 0}
    built = timed(lambda: kdegraph.similarity_graph(X, **parameters))
    bare, direct = bare_seconds(X, sigma, L), direct_seconds(X, sigma)
    return {
        "points": len(X),
        "edges": built.value.n_edges,
        "sampler": built.value.sampler,
        **built.value.timings,
        "seconds": built.seconds,
        "cpu": built.cpu,
        "seconds / bare loop": built.seconds / bare,
        "direct sum / seconds": direct / built.seconds,
        "memory": peak_memory(X, **parameters),
    }
