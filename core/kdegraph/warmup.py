"""Compile the kernels of the public functions by calling these on a few points.

The command `kdegraph warmup` and the start of the explorer do so.
"""

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding
import numpy as np
import scipy.sparse

from kdegraph.bandwidth import estimate_sigma
from kdegraph.baselines import full_graph, knn_graph
from kdegraph.dispatch import spectral_clustering, spectrum
from kdegraph.graph import similarity_graph
from kdegraph.kde import kernel_sum
from kdegraph.layout import graph_layout
from kdegraph.local_bandwidth import local_bandwidths
from kdegraph.runtime.cache import CACHE_DIR
from kdegraph.validation import check_choice


def _sampled_graphs(X):
    for kernel in ("gaussian", "laplacian"):
        similarity_graph(X, sigma=0.3, kernel=kernel, n_rounds=10, sampler="rejection", seed=0)
    similarity_graph(X, sigma="auto", n_rounds=70, sampler="near", seed=0)
    similarity_graph(X, sigma="local", alpha=0.5, sampler="near", seed=0)


def _in_many_dimensions(X):
    many = np.random.default_rng(1).random((len(X), 40))
    for points in (many, many.astype(np.float32)):
        for fixed in (points, _fixed(points)):
            similarity_graph(fixed, sigma="local", sampler="mixture", seed=0)
    _of_sparse_points(scipy.sparse.csr_array(np.where(many < 0.7, 0.0, many)))


def _of_sparse_points(X):
    from kdegraph.transformer import SimilarityGraphTransformer  # slow to import

    for sigma in (1.0, "local"):
        full_graph(X, sigma=sigma)
        knn_graph(X, 5, mode="kernel", sigma=sigma)
    SimilarityGraphTransformer(mode="distance", sigma="local", random_state=0).fit_transform(X)


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
    local_bandwidths(X)
    for points in (X, _fixed(X)):
        full_graph(points, sigma=1.0)
        knn_graph(points, 5, mode="kernel", sigma=0.3)


def _fixed(X):
    """Return a read-only copy.

    For the compiler, read-only arrays have another type. Memory maps and tables of pandas are
    read-only, too.
    """
    fixed = X.copy()
    fixed.flags.writeable = False
    return fixed


def _clusters(X):
    few = X[:100]  # eigenvalues by LAPACK
    many = np.tile(X, (5, 1))  # the spectrum of many vertices starts from a coarse graph
    for points, sigma in ((few, 0.3), (X, 0.3), (many, 0.3), (many, "local")):
        graph = similarity_graph(points, sigma=sigma, n_rounds=10, seed=0)
        spectral_clustering(graph, 3, seed=0)
        spectrum(graph, 3)
    graph_layout(graph)

    neighbors = knn_graph(X, 5)
    spectrum(neighbors, 3, tol=1e-8)  # a tolerance that needs double precision
    apart = np.concatenate([X + 2 * shift for shift in range(5)])
    neighbors = knn_graph(apart, 5)  # many vertices in several components
    spectral_clustering(neighbors, 3, seed=0)
    neighbors.data[::2] *= 1 + 1e-12  # not quite symmetric, as after rounding
    spectrum(neighbors, 3)


STEPS: dict[str, Callable[[Any], None]] = {
    "graphs": _sampled_graphs,
    "kernel sums": _kernel_sums,
    "clusters": _clusters,
    "other graphs": _other_graphs,
    "many dimensions": _in_many_dimensions,
    "recursive graphs": _recursive_graphs,
}


def warm_up(
    steps: Sequence[str] = tuple(STEPS),
    *,
    load: bool = True,
    progress: Callable[[str, float], Any] | None = None,
) -> float:
    """Compile the kernels of all public functions, or load them from the cache.

    Kernels are compiled for C-contiguous points of float64 and float32, writeable or not, and for
    sparse points. Other arrays are converted before they reach a kernel.

    Parameters
    ----------
    steps : sequence of str, optional
        Some of `STEPS`; by default all of them.
    load : bool, optional
        If False, steps that an earlier call has completed on this kind of processor are skipped:
        kernels in the cache are loaded when they are first needed.
    progress : callable, optional
        Called as ``progress("compiling: <step>", fraction)`` before each part. If it raises an
        exception, the work ends.

    Returns
    -------
    float
        Elapsed seconds.

    Raises
    ------
    ValueError, TypeError
        If `steps` contains anything else.

    Examples
    --------
    >>> import kdegraph
    >>> seconds = kdegraph.warm_up(["kernel sums"])
    """
    for step in steps:
        check_choice(step, "steps", tuple(STEPS))
    begin = time.perf_counter()
    rng = np.random.default_rng(0)
    wanted = [step for step in steps if load or not _note_of(step).exists()]
    for i, step in enumerate(wanted):
        for j, d in enumerate((2, 5)):  # the choice of methods depends on the dimension
            if progress is not None:
                progress(f"compiling: {step}", (i + j / 2) / len(wanted))
            # Enough points for trees with inner nodes and for eigenvalues by iteration.
            STEPS[step](rng.random((1200, d)))
        with contextlib.suppress(OSError):  # a folder that cannot be written to
            _note_of(step).touch()
    return time.perf_counter() - begin


def _note_of(step):
    """Return the path of the empty file in the cache folder that marks a step as completed.

    The machine code of its kernels for this kind of processor is in the folder then.
    """
    return CACHE_DIR / f"{step}, {llvmlite.binding.get_host_cpu_name()}"
