"""Seconds to build a similarity graph, beside nearest-neighbor graphs and the published algorithm
by others, on the same data in one run.

    python benchmarks/peers.py [--n 15000 --n 100000] [--photograph photograph.jpg] [--stag
    path/to/python] [--csv peers.csv]

kdegraph draws `--neighbors` neighbors of every point and weights the edges; the others find as many
nearest ones and return a sparse matrix (scikit-learn and `kdegraph.knn_graph`) or arrays of
neighbors (PyNNDescent and FAISS). STAG's `approximate_similarity_graph` is the same algorithm as
kdegraph's recursive sampler, with its own number of edges: about two for every point, which is what
"kdegraph, as STAG" draws. The runs of all methods alternate. Before each run the same method runs
for a moment without being counted (but for STAG, and above 200,000 points), since at first the
caches are empty and the other core is asleep. The table has the medians of the time by the clock
and of the time of all cores, which other work on the machine disturbs less; set
OMP_WAIT_POLICY=passive, so that FAISS does not wait busily. Peers that cannot be imported are left
out; this is how to install them:

    python -m venv peers && peers/bin/pip install -c constraints.txt . pynndescent faiss-cpu
    python -m venv stag && stag/bin/pip install "numpy<2" stag  # it needs an older numpy
    peers/bin/python benchmarks/peers.py --stag stag/bin/python
"""

import math
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import click
import kdegraph
import numpy as np
from _common import cell, clock, csv_option, medians, moons, write
from PIL import Image

MANY = 200_000  # points; of more, everything runs once
AWAKE = 0.2  # seconds
MOST = {"FAISS exact": 110_000, "STAG": 20_000}  # points; beyond, it takes minutes
STAG = """
import sys, time
import numpy, stag.cluster, stag.utility
data = stag.utility.DenseMat(numpy.load(sys.argv[1]))
start = time.perf_counter(), time.process_time()
graph = stag.cluster.approximate_similarity_graph(data, float(sys.argv[2]))
print(time.perf_counter() - start[0], time.process_time() - start[1], graph.number_of_edges())
"""


def kdegraph_sampled(X, sigma, k):
    kdegraph.similarity_graph(X, sigma=sigma, n_rounds=k, seed=0)


def kdegraph_nearest(X, sigma, k):
    kdegraph.knn_graph(X, k)


def scikit_learn(X, sigma, k):
    from sklearn.neighbors import kneighbors_graph

    kneighbors_graph(X, k, n_jobs=-1)


def pynndescent(X, sigma, k):
    from pynndescent import NNDescent

    NNDescent(X, n_neighbors=k + 1, n_jobs=-1).neighbor_graph  # noqa: B018


def faiss_index(make):
    def search(X, sigma, k):
        import faiss

        Y = X.astype(np.float32)
        index = make(faiss, *Y.shape)
        if not index.is_trained:
            index.train(Y)
        index.add(Y)
        index.search(Y, k + 1)

    return search


def inverted_file(faiss, n, d):
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, int(4 * math.sqrt(n)))
    index.nprobe = 4
    return index


PEERS = {
    "kdegraph": ("kdegraph", kdegraph_sampled),
    "kdegraph.knn_graph": ("kdegraph", kdegraph_nearest),
    "scikit-learn": ("sklearn", scikit_learn),
    "PyNNDescent": ("pynndescent", pynndescent),
    "FAISS IVF": ("faiss", faiss_index(inverted_file)),
    "FAISS HNSW": ("faiss", faiss_index(lambda faiss, n, d: faiss.IndexHNSWFlat(d, 16))),
    "FAISS exact": ("faiss", faiss_index(lambda faiss, n, d: faiss.IndexFlatL2(d))),
}


def stag_run(python, X, sigma):
    """Seconds, core seconds, and edges, in a process of its own, without the time to start it and
    to read the points.
    """
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "points.npy"), X)
        command = [python, "-c", STAG, Path(folder, "points.npy"), str(sigma**-2)]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return tuple(map(float, out.split()))


def again(build, X, sigma, k):
    """Seconds and core seconds once the cores are awake, which takes the system a tenth of a second
    after a pause.
    """
    end = time.perf_counter() + AWAKE
    while len(X) <= MANY and time.perf_counter() < end:
        build(X, sigma, k)
    return clock(build, X, sigma, k)[1:]


def measure(name, X, sigma, k, runs, stag):
    """Rows of the table for one data set."""
    n, d = X.shape
    timed = {
        peer: lambda build=build: again(build, X, sigma, k)
        for peer, (module, build) in PEERS.items()
        if find_spec(module) and n <= MOST.get(peer, math.inf)
    }
    if stag and n <= MOST["STAG"]:
        rounds = round(stag_run(stag, X, sigma)[2] / n)
        timed["STAG"] = lambda: stag_run(stag, X, sigma)[:2]
        timed["kdegraph, as STAG"] = lambda: again(kdegraph_sampled, X, sigma, rounds)
    times = {peer: [] for peer in timed}
    for _ in range(runs if n <= MANY else 1):
        for peer, run in timed.items():
            times[peer].append(run())
    medians_of = {peer: medians(found) for peer, found in times.items()}
    for peer, (passed, used) in medians_of.items():
        ratio = used / medians_of["kdegraph"][1]
        yield {
            "data": name,
            "n": n,
            "d": d,
            "method": peer,
            "seconds": passed,
            "core seconds": used,
            "times kdegraph": ratio,
        }


def data_sets(sizes, photograph):
    """(name, points, sigma)."""
    for n in sizes:
        yield "moons", moons(n), 0.1
    if photograph:
        for pixels in (15_000, None):
            data = kdegraph.datasets.image_points(Image.open(photograph), max_pixels=pixels)
            yield "pixels", data.X, data.sigma


@click.command()
@click.option(
    "--n",
    "sizes",
    type=int,
    multiple=True,
    default=(15_000, 100_000),
    show_default=True,
    help="Points of two moons.",
)
@click.option(
    "--photograph",
    type=click.Path(exists=True),
    help="A picture whose pixels are points too, in 5 dimensions.",
)
@click.option("--neighbors", "k", default=10, show_default=True)
@click.option("--runs", default=5, show_default=True)
@click.option("--stag", help="A Python that can import stag.")
@csv_option
def main(sizes, photograph, k, runs, stag, path):
    """Print one line for each data set and method."""
    warm = moons(5000)
    # Compile the kernels, or load them from the cache.
    for X in (warm, np.random.default_rng(0).random((5000, 5))):
        list(measure("warm-up", X, 0.2, k, 1, None))
    rows = []
    for name, X, sigma in data_sets(sizes, photograph):
        for row in measure(name, X, sigma, k, runs, stag):
            rows.append(row)
            click.echo("".join(cell(value, 19) for value in row.values()))
    write(path, rows)


if __name__ == "__main__":
    main()
