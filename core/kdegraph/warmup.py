"""Compile every kernel that the public functions use, or load it from the cache: `kdegraph warmup`,
and the explorer when it starts.
"""

import time

import numpy as np

from kdegraph.bandwidth import estimate_sigma
from kdegraph.baselines import full_graph, knn_graph
from kdegraph.clustering.partition import spectral_clustering
from kdegraph.graph import similarity_graph
from kdegraph.kde import kernel_sum
from kdegraph.spectral.spectrum import spectrum

N_POINTS = (
    1200  # enough for eigenvalues by iteration, for leaves and inner nodes, and for expansions
)
DIMENSIONS = (2, 5)  # expansions of either kind


def _sampled_graphs(X):
    for kernel in ("gaussian", "laplacian"):
        similarity_graph(X, sigma=0.3, kernel=kernel, n_rounds=10, sampler="rejection", seed=0)
    similarity_graph(X, sigma="auto", n_rounds=70, sampler="rows", seed=0)


def _recursive_graphs(X):
    for draws in ("stratified", "independent"):
        similarity_graph(X, sigma=0.3, n_rounds=10, sampler="recursive", draws=draws, seed=0)


def _kernel_sums(X):
    for method in ("direct", "tree", "fgt"):
        kernel_sum(X, sigma=0.3, eps=1e-3, method=method)
        kernel_sum(
            X, X[::2], weights=np.linspace(-1, 1, len(X)), sigma=0.3, eps=1e-3, method=method
        )
    kernel_sum(_fixed(X), sigma=0.3, method="direct")


def _other_graphs(X):
    estimate_sigma(X, seed=0)
    for points in (X, _fixed(X)):
        full_graph(points, sigma=1.0)
        knn_graph(points, 5, mode="kernel", sigma=0.3)


def _fixed(X):
    """A read-only copy, as memory maps and tables of pandas are: a type of its own for the
    compiler.
    """
    fixed = X.copy()
    fixed.flags.writeable = False
    return fixed


def _clusters(X):
    for points in (X, np.tile(X, (5, 1))):  # many vertices start from a coarse graph
        spectral_clustering(similarity_graph(points, sigma=0.3, n_rounds=10, seed=0), 3, seed=0)
    neighbors = knn_graph(X, 5)
    spectrum(neighbors, 3, tol=1e-8)  # in double precision throughout
    apart = np.concatenate([X + 2 * shift for shift in range(5)])
    neighbors = knn_graph(apart, 5)  # many vertices without an order, in several components
    spectral_clustering(neighbors, 3, seed=0)
    neighbors.data[::2] *= 1 + 1e-12  # rounded, so that it is not quite symmetric
    spectrum(1e292 * neighbors, 3)  # weights that are scaled, as their sums could overflow


STEPS = {
    "graphs": _sampled_graphs,
    "kernel sums": _kernel_sums,
    "clusters": _clusters,
    "other graphs": _other_graphs,
    "recursive graphs": _recursive_graphs,
}


def warm_up(steps=tuple(STEPS), *, progress=None):
    """Use everything once on a few points.

    Parameters
    ----------
    steps : sequence of str, optional
        Some of `STEPS`; all by default.
    progress : callable, optional
        Called as ``progress("compiling: <step>", fraction)`` before each part; what it raises ends
        the work.

    Returns
    -------
    float
        Seconds that it took.
    """
    begin = time.perf_counter()
    rng = np.random.default_rng(0)
    parts = [(step, rng.random((N_POINTS, d))) for step in steps for d in DIMENSIONS]
    for i, (step, X) in enumerate(parts):
        if progress is not None:
            progress(f"compiling: {step}", i / len(parts))
        STEPS[step](X)
    return time.perf_counter() - begin
