"""The choice of the sampler."""

import math
import time

import kdegraph
import numpy as np
import threadpoolctl
from kdegraph.geometry.kernels import Kernel
from kdegraph.geometry.tree import build_tree
from kdegraph.kde import make_solver
from kdegraph.kde.direct import direct_sums
from kdegraph.kde.dispatch import Direct, kernel_degrees
from kdegraph.kde.tree.plan import Plan
from kdegraph.kde.tree.sums import prepare, sums_at, target_units
from kdegraph.sampling import near, recursive, rejection
from kdegraph.sampling.choice import choose_sampler

from benchmarks.data import normal_clusters
from benchmarks.experiment import experiment, grid
from benchmarks.table import mean

PAIRS = 5e7  # rows of NumPy are measured on at most this number of pairs
MOST_PAIRS = 1e9  # "near" is measured up to about this number of pairs
# Seconds from which "rejection" is measured on a part of the targets, at least one in 50.
LONG, MOST_PARTS = 2.0, 50
RECURSIVE = 10_000  # points up to which the recursive sampler is measured
EPS = 0.01  # relative error of the kernel degrees


def cpu(function, *arguments, **options):
    """Processor seconds of one call."""
    start = time.process_time()
    function(*arguments, **options)
    return time.process_time() - start


def by_blas(X, sigma, L):
    """Neighbors from exact rows by matrix products, as one would write it with NumPy."""
    m, rng = min(len(X), int(PAIRS / len(X))), np.random.default_rng(0)
    squares = (X * X).sum(axis=1)
    for first in range(0, m, 64):
        block = X[first : min(first + 64, m)]
        K = block @ X.T
        K *= 2
        K -= squares
        K -= squares[first : first + len(block), None]
        K *= 1 / sigma**2
        np.exp(K, out=K)
        K[np.arange(len(block)), first + np.arange(len(block))] = 0
        np.cumsum(K, axis=1, out=K)
        for row in K:
            np.searchsorted(row, rng.random(L) * row[-1], side="right")


def rejection_on_a_part(kernel, tree, L, part):
    """Seconds of "rejection", measured on one of `part` groups of targets, and extrapolated."""
    start = time.process_time()
    _, method = choose_sampler(kernel, tree, EPS, "rejection")
    groups = rejection.group_targets(kernel, tree, L)
    if part == 1:
        degrees = kernel_degrees(kernel, tree, EPS, method=method)
        rejection.draw_neighbors(kernel, tree, degrees, L, 0, groups=groups)
        return time.process_time() - start
    seconds, n = time.process_time() - start, tree.order.size
    some = _every(groups, part, groups._fields)
    picked = np.concatenate([np.arange(*ends) for ends in zip(some.start, some.stop, strict=True)])
    ones, degrees, share = np.ones(n), np.zeros(n), n / picked.size
    start = time.process_time()
    degrees[picked] = direct_sums(kernel, tree.points, tree.points[picked], ones, skip=picked)
    direct = time.process_time() - start
    if isinstance(method, Direct):
        seconds += direct * share
    elif isinstance(method, Plan):
        start = time.process_time()
        prepared = prepare(kernel, tree, ones, method)
        units = target_units(tree, kernel.inverse_sigma, method.radius)
        units = _every(units, part, ("start", "stop", "low", "high"))
        seconds += time.process_time() - start
        on_part = cpu(sums_at, kernel, prepared, units, EPS, exclude_self=True)
        seconds += on_part * n / (units.stop - units.start).sum()
    else:
        seconds += cpu(kernel_degrees, kernel, tree, EPS, method=method)
    draws = cpu(rejection.draw_neighbors, kernel, tree, degrees, L, 0, groups=some)
    return seconds + draws * share


def _every(arrays, part, names):
    """Every `part`-th entry of some arrays; compiled code takes contiguous arrays only."""
    chosen = {name: np.ascontiguousarray(getattr(arrays, name)[::part]) for name in names}
    return arrays._replace(**chosen)


def by_recursive(X, kernel, L):
    """Algorithm 1, with kernel degrees and a tree of its own."""
    tree = build_tree(X, recursive.LEAF)
    recursive.draw_neighbors(kernel, tree, make_solver("auto", EPS), L, 0, "stratified")


def choice_seconds(kernel, tree):
    """The sampler of "auto", and what choosing it takes beyond what "rejection" prepares."""
    sampler, _ = choose_sampler(kernel, tree, EPS, "auto")
    seconds = min(cpu(choose_sampler, kernel, tree, EPS, "auto") for _ in range(3))
    if sampler == "rejection":
        seconds -= cpu(choose_sampler, kernel, tree, EPS, "rejection")
    return sampler, max(seconds, 0.0)


def summary(rows):
    """A row for each dimension and sampler that was chosen."""
    for d in sorted({row["d"] for row in rows}):
        for sampler in sorted({row["auto"] for row in rows if row["d"] == d}):
            some = [row for row in rows if (row["d"], row["auto"]) == (d, sampler)]
            yield {
                "d": d,
                "chosen": sampler,
                "cases": len(some),
                "mean auto / best": mean(some, "auto / best"),
                "largest auto / best": max(row["auto / best"] for row in some),
                "mean auto / BLAS": mean(some, "auto / BLAS"),
            }


@experiment(
    lambda: grid(
        d=(1, 2, 3, 5, 8, 20, 50),
        n=(1_000, 10_000, 100_000),
        sigma=(0.03, 0.3, 1.0, 3.0, 30.0, 300.0),
        L=[30],
    ),
    source='The method: `sampler="auto"` takes the one that suits the data. '
    "`tests/sampling/test_choice.py` holds the choices against this table.",
    summary=summary,
)
def samplers(d, n, sigma, L):
    """The choice of the sampler: CPU seconds of "auto" and of every sampler over d, n and sigma.

    The points are five normal clusters, and sigma is in units of `estimate_sigma`. Times are those
    of one thread, the best of several alternating runs, without what all have in common (tree and
    adjacency matrix); what takes long is extrapolated from a part of the targets. "BLAS" are draws
    from full rows of the kernel matrix with NumPy.
    """
    kdegraph.set_num_threads(1)
    X = normal_clusters(n, d)
    with threadpoolctl.threadpool_limits(1):
        return _times(X, sigma * kdegraph.estimate_sigma(X, seed=0), L)


def _times(X, sigma, L):
    n, kernel, tree = len(X), Kernel("gaussian", sigma), build_tree(X)
    rejection_on_a_part(kernel, tree, L, MOST_PARTS)  # compiles or loads what it needs
    estimate = rejection_on_a_part(kernel, tree, L, MOST_PARTS)
    part, m = max(1, min(MOST_PARTS, math.ceil(estimate / LONG))), min(n, int(PAIRS / n))
    # The runs alternate, so that what else the machine does meets all alike.
    runs = {"rejection": lambda: rejection_on_a_part(kernel, tree, L, part)}
    if near.has_few_sources(kernel, tree, EPS, MOST_PAIRS / n):
        near.draw_neighbors(kernel, tree, L, 0, EPS)
        runs["near"] = lambda: cpu(near.draw_neighbors, kernel, tree, L, 0, EPS)
    if n <= RECURSIVE:  # It never wins, and where it takes long nothing is learned from waiting.
        by_recursive(X[:500], kernel, L)
        runs["recursive"] = lambda: cpu(by_recursive, X, kernel, L)
    runs["BLAS"] = lambda: cpu(by_blas, X, sigma, L) * n / m
    seconds = dict.fromkeys(("rejection", "near", "recursive", "BLAS"), math.nan)
    for _ in range(3 if n <= RECURSIVE else 2):
        seconds |= {name: np.fmin(seconds[name], run()) for name, run in runs.items()}
    sampler, choosing = choice_seconds(kernel, tree)
    auto = seconds[sampler] + choosing
    best = np.nanmin([value for name, value in seconds.items() if name != "BLAS"])
    return {
        "auto": sampler,
        "seconds": auto,
        **seconds,
        "auto / best": auto / best,
        "auto / BLAS": auto / seconds["BLAS"],
    }
