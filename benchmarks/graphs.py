"""Similarity graphs by several libraries, and clusters of any, behind one interface."""

import math
import subprocess
import tempfile
from pathlib import Path

import kdegraph
import numpy as np
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

from benchmarks.measuring import RUNS, Timing, peak_gib, timed

N_NEIGHBORS = 10  # of every k-NN graph, as in the paper
FEW = 2_000  # points on which code is compiled
# Reads points, writes the adjacency matrix, prints seconds and processor seconds of building it.
STAG_PROGRAM = """
import sys, time
import numpy, scipy.sparse, stag.cluster, stag.utility
data = stag.utility.DenseMat(numpy.load(sys.argv[1]))
start = time.perf_counter(), time.process_time()
graph = stag.cluster.approximate_similarity_graph(data, float(sys.argv[2]))
print(time.perf_counter() - start[0], time.process_time() - start[1])
scipy.sparse.save_npz(sys.argv[3], graph.adjacency().to_scipy())
"""


def by_kdegraph(X, sigma):
    return kdegraph.similarity_graph(X, sigma=sigma, seed=0)


def by_kdegraph_knn(X, sigma):
    return kdegraph.knn_graph(X, N_NEIGHBORS)


def by_full_kernel(X, sigma):
    from sklearn.metrics.pairwise import rbf_kernel

    kernel = rbf_kernel(X, gamma=sigma**-2)
    np.fill_diagonal(kernel, 0)
    return kernel


def by_scikit_learn(X, sigma):
    from sklearn.neighbors import kneighbors_graph

    return _symmetric(kneighbors_graph(X, N_NEIGHBORS, n_jobs=-1))


def by_pynndescent(X, sigma):
    from pynndescent import NNDescent

    found = NNDescent(X, n_neighbors=N_NEIGHBORS + 1, random_state=0, n_jobs=-1).neighbor_graph
    return _of_neighbors(found[0])


def by_faiss_exact(X, sigma):
    import faiss

    return _search(faiss.IndexFlatL2(X.shape[1]), X)


def by_faiss_hnsw(X, sigma):
    import faiss

    return _search(faiss.IndexHNSWFlat(X.shape[1], 32), X)


def by_faiss_ivf(X, sigma):
    import faiss

    n, d = X.shape
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, int(4 * math.sqrt(n)))
    index.nprobe = 4
    return _search(index, X)


def _search(index, X):
    """The graph of the nearest neighbors that an index of FAISS finds."""
    X = X.astype(np.float32)
    if not index.is_trained:
        index.train(X)
    index.add(X)
    return _of_neighbors(index.search(X, N_NEIGHBORS + 1)[1])


def _of_neighbors(neighbors):
    """From (n, k) neighbors, -1 for none and a point itself among them, to a symmetric graph."""
    n, k = neighbors.shape
    rows, columns = np.repeat(np.arange(n), k), neighbors.ravel()
    kept = (columns >= 0) & (columns != rows)
    ones = np.ones(kept.sum())
    return _symmetric(scipy.sparse.csr_array((ones, (rows[kept], columns[kept])), shape=(n, n)))


def _symmetric(graph):
    """An edge wherever one of two points is among the neighbors of the other."""
    return graph.maximum(graph.T)


KDEGRAPH = "kdegraph"
FULL = "full kernel, scikit-learn"
# The algorithms that the paper compares.
PAPER = {
    KDEGRAPH: by_kdegraph,
    FULL: by_full_kernel,
    "k-NN, scikit-learn": by_scikit_learn,
    "k-NN, FAISS exact": by_faiss_exact,
    "k-NN, FAISS HNSW": by_faiss_hnsw,
    "k-NN, FAISS IVF": by_faiss_ivf,
}
METHODS = PAPER | {"kdegraph.knn_graph": by_kdegraph_knn, "k-NN, PyNNDescent": by_pynndescent}
STAG = "STAG"


def by_stag(python, X, sigma):
    """The graph of STAG's `approximate_similarity_graph`, by another Python.

    Returns
    -------
    (csr_array, float, float)
        The graph, and the seconds and the processor seconds that it took.

    Raises
    ------
    ModuleNotFoundError
        Without a Python.
    """
    if python is None:
        raise ModuleNotFoundError(name="STAG (option --stag)")
    with tempfile.TemporaryDirectory() as folder:
        points, graph = Path(folder, "points.npy"), Path(folder, "graph.npz")
        np.save(points, X)
        command = [python, "-c", STAG_PROGRAM, points, str(sigma**-2), graph]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"STAG failed: {done.stderr.strip().splitlines()[-1:]}")
        seconds, cpu = map(float, done.stdout.split())
        return scipy.sparse.csr_array(scipy.sparse.load_npz(graph)), seconds, cpu


def cluster(data, method, stag=None, runs=RUNS):
    """Build a graph and cluster it: the same eigensolver and rounding for every graph, those of
    `spectral_clustering` by default.

    Parameters
    ----------
    data : Dataset
    method : str
        One of `METHODS` or `STAG`.
    stag : str, optional
        A Python that can import STAG.
    runs : int, default=5
        How often each step is run.

    Returns
    -------
    (labels, dict)
        And the measured values.
    """
    X, sigma, k = data.X, data.sigma, data.n_clusters
    if method == STAG:
        built = Timing(*by_stag(stag, X, sigma))
    else:
        build, few = METHODS[method], X[:: max(1, len(X) // FEW)]
        built = timed(lambda: build(X, sigma), lambda: build(few, sigma), runs)
    graph = built.value

    def partition():
        return kdegraph.spectral_clustering(graph, k, seed=0, points=X)

    # Where this takes long, loading its code does not count.
    takes_long = len(X) > 100_000 or method == FULL
    clustered = timed(partition, (lambda: None) if takes_long else None, runs)
    labels = clustered.value.labels
    edges = graph.n_edges if hasattr(graph, "n_edges") else (graph != 0).sum() // 2
    values = {
        "edges": int(edges),
        "graph seconds": built.seconds,
        "graph cpu": built.cpu,
        "clustering seconds": clustered.seconds,
        "seconds": built.seconds + clustered.seconds,
        "GiB": peak_gib(),
    }
    if data.y is not None:
        values["ARI"] = adjusted_rand_score(data.y, labels)
    return labels, values
