"""Graphs and clusters in many dimensions, beside nearest-neighbor libraries.

    python benchmarks/many_dimensions.py [--csv benchmarks/results/many_dimensions.csv]

The points are ten clusters near curved surfaces of twelve dimensions, float32. "graph" is
`similarity_graph` with local bandwidths, "graph, one sigma" with `estimate_sigma`, both with
L = 30; "clusters" is `spectral_clustering` of the first one, with the adjusted Rand index of its
labels.
PyNNDescent and FAISS (all distances) find 15 neighbors, and are left out where they are not
installed or would take long; kernels are compiled before. "recall" is the share of the 15 nearest
points that are among the neighbors found, for 300 points. Seconds by the clock and of the
processor, and the largest memory of the process so far.
"""

import contextlib
import resource

import click
import kdegraph
import numpy as np
from _common import clock, csv_option, show, write
from kdegraph.geometry.neighbor_forest import near_neighbors
from sklearn.metrics import adjusted_rand_score

CASES = ((10_000, 784), (70_000, 784), (1_000_000, 50))
CLUSTERS, SURFACE = 10, 12
N_NEIGHBORS, QUERIES = 15, 300
FEW = 2_500  # points on which everything is compiled
MOST_PAIRS = 2e8  # FAISS compares at most so many


def points(n, d):
    """(n, d) float32 points, and their clusters."""
    rng = np.random.default_rng(0)
    labels, X = rng.integers(0, CLUSTERS, n), np.empty((n, d), np.float32)
    for cluster in range(CLUSTERS):
        of_cluster = labels == cluster
        flat = rng.normal(size=(of_cluster.sum(), SURFACE))
        first, second = rng.normal(size=(2, SURFACE, d)) / np.sqrt(SURFACE)
        X[of_cluster] = np.tanh(flat @ first) + 0.5 * np.sin(flat @ second)
        X[of_cluster] += 0.5 * rng.normal(size=d)
    X += 0.05 * rng.standard_normal(X.shape, dtype=np.float32)
    return X, labels


def recall(X, neighbors):
    """The share of the nearest points of some points that are among their neighbors."""
    queries = np.random.default_rng(1).integers(0, len(X), QUERIES)
    squared = (X**2).sum(axis=1) - 2 * X[queries] @ X.T
    squared[np.arange(QUERIES), queries] = np.inf
    nearest = np.argpartition(squared, N_NEIGHBORS, axis=1)[:, :N_NEIGHBORS]
    found = [len(np.intersect1d(a, b)) for a, b in zip(nearest, neighbors[queries], strict=True)]
    return np.mean(found) / N_NEIGHBORS


def by_pynndescent(X):
    import pynndescent

    # A point is the first of its own neighbors.
    found = pynndescent.NNDescent(X, n_neighbors=N_NEIGHBORS + 1, random_state=0).neighbor_graph
    return found[0][:, 1:]


def by_faiss(X):
    import faiss

    if len(X) ** 2 > MOST_PAIRS:
        raise ImportError
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    return index.search(X, N_NEIGHBORS + 1)[1][:, 1:]


def graph(X, sigma="local"):
    return kdegraph.similarity_graph(X, sigma=sigma, n_rounds=30, sampler="mixture", seed=0)


def measure(n, d):
    """One row of the table."""
    (X, labels), row = points(n, d), {"n": n, "d": d, "GiB of X": n * d / 2**28}
    few = X[:FEW].copy()

    def timed(name, function, *arguments):
        value, row[name], row[f"{name} cpu"] = clock(function, *arguments)
        return value

    kdegraph.spectral_clustering(graph(few), CLUSTERS, seed=0)
    local = timed("graph", graph, X)
    found = timed("clusters", lambda: kdegraph.spectral_clustering(local, CLUSTERS, seed=0))
    row["ARI"] = adjusted_rand_score(labels, found.labels)
    row["GiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    timed("graph, one sigma", graph, X, "auto")
    row["recall"] = recall(X, near_neighbors(X).indices[:, :N_NEIGHBORS])
    for name, function in (("PyNNDescent", by_pynndescent), ("FAISS", by_faiss)):
        with contextlib.suppress(ImportError):
            function(few)
            row[f"{name} recall"] = recall(X, timed(name, function, X))
    return row


@click.command()
@click.option("--cases", default=len(CASES), show_default=True, help="How many, from the smallest.")
@csv_option
def main(cases, path):
    """Print the table."""
    table = [measure(n, d) for n, d in CASES[:cases]]
    show(table)
    write(path, table)


if __name__ == "__main__":
    main()
