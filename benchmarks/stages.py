"""Seconds and memory of `similarity_graph` by stage, beside the physical limit and the direct
kernel sum in the same run.

    python benchmarks/stages.py [--n 15000 --n 100000] [--data moons | photograph.jpg] [--csv
    benchmarks/results/stages.csv]

Every figure is the median of the runs. The limit is a bare loop, threaded like all else, that draws
a random index, evaluates the kernel and stores both. The direct sum of large sets is measured on a
part of the targets and extrapolated. Memory is the peak of what numpy holds during a run, the
result included, in bytes of the result.
"""

import statistics
import tracemalloc

import click
import kdegraph
import numpy as np
from _common import clock, csv_option, moons, show, write
from kdegraph.geometry.kernels import exp_neg
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.random import stream, uniform

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


def bare_seconds(X, sigma, n_rounds):
    indices, values = np.zeros((len(X), n_rounds), np.int32), np.zeros((len(X), n_rounds))
    return clock(parallel.run, bare_loop, len(X), X, 1 / sigma, indices, values)[1]


def direct_seconds(X, sigma):
    """Seconds of the direct sum over all pairs, from a random part of the targets."""
    m = min(len(X), int(DIRECT_PAIRS / len(X)) + 1)
    targets = X[np.random.default_rng(0).choice(len(X), m, replace=False)]
    return clock(kdegraph.gauss_transform, X, targets, sigma=sigma, method="direct")[1] * len(X) / m


def peak_memory(X, **parameters):
    """Peak memory during a run, without the points, over the bytes of the returned graph."""
    tracemalloc.start()
    graph = kdegraph.similarity_graph(X, **parameters)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    A = graph.adjacency
    return peak / sum(
        array.nbytes
        for array in (A.data, A.indices, A.indptr, graph.neighbors, graph.kernel_degrees)
    )


def measure(X, sigma, n_rounds, runs):
    """One row of the table for the points `X`."""
    graphs, direct, bare, seconds = [], [], [], []
    for run in range(runs + 1):  # the first run compiles or loads the kernels
        graph, passed, _ = clock(
            kdegraph.similarity_graph, X, sigma=sigma, n_rounds=n_rounds, seed=run
        )
        limit, sums = bare_seconds(X, sigma, n_rounds), direct_seconds(X, sigma)
        if run:
            graphs.append(graph.timings)
            seconds.append(passed)
            bare.append(limit)
            direct.append(sums)
    stages = {stage: statistics.median(timings[stage] for timings in graphs) for stage in graphs[0]}
    total, bare, direct = (statistics.median(values) for values in (seconds, bare, direct))
    row = {
        "n": len(X),
        "d": X.shape[1],
        "sigma": sigma,
        "L": n_rounds,
        "edges": graph.n_edges,
        "sampler": graph.sampler,
        **stages,
    }
    row |= {
        "total": total,
        "bare loop": bare,
        "total / bare": total / bare,
        "direct sum": direct,
        "direct / total": direct / total,
    }
    return row | {"memory": peak_memory(X, sigma=sigma, n_rounds=n_rounds, seed=0)}


def load(data, n):
    """Two moons, or all pixels of a photograph."""
    if data == "moons":
        return moons(n)
    from PIL import Image

    return np.ascontiguousarray(kdegraph.datasets.image_points(Image.open(data), max_pixels=None).X)


@click.command()
@click.option("--n", "sizes", type=int, multiple=True, default=(15_000, 100_000), show_default=True)
@click.option(
    "--data", default="moons", show_default=True, help="Or a picture, whose pixels are taken once."
)
@click.option("--sigma", default=0.1, show_default=True)
@click.option("--rounds", default=30, show_default=True)
@click.option("--runs", default=5, show_default=True)
@csv_option
def main(sizes, data, sigma, rounds, runs, path):
    """Print the table, one column a size."""
    rows = [
        measure(load(data, n), sigma, rounds, runs) for n in (sizes if data == "moons" else [0])
    ]
    show(rows)
    write(path, rows)


if __name__ == "__main__":
    main()
