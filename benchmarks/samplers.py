"""The choice of the sampler: CPU seconds of "auto", of "rejection", "rows", "near" and "recursive"
over d, n and sigma.

    python benchmarks/samplers.py [--csv benchmarks/results/samplers.csv]

Beside them stand rows drawn with BLAS and NumPy. The points are five normal clusters in d
dimensions, and sigma is in units of `estimate_sigma`. Times are CPU times of one thread, the best
of several alternating runs, without what all have in common (tree and adjacency matrix); what takes
long is measured on a part of the targets and extrapolated. "estimate" is the estimated over the
measured time of "rejection". "near" is left out where it would take long.
"""

import math
import time

import click
import kdegraph
import numpy as np
import threadpoolctl
from _common import csv_option, write
from kdegraph.costs import REJECTION_COSTS
from kdegraph.geometry.kernels import Kernel
from kdegraph.geometry.tree import build_tree
from kdegraph.kde import make_solver
from kdegraph.kde.direct import direct_sums
from kdegraph.kde.dispatch import Direct, kernel_degrees
from kdegraph.kde.tree.plan import Plan
from kdegraph.kde.tree.sums import prepare, sums_at, target_units
from kdegraph.runtime.threads import set_num_threads
from kdegraph.sampling import near, recursive, rows
from kdegraph.sampling.choice import choose_sampler
from kdegraph.sampling.rejection import sampler as rejection

PAIRS = 5e7  # rows are measured on at most this number of pairs
# Seconds from which "rejection" is measured on a part of the targets, at least one in 50.
LONG = 2.0
MOST_PARTS = 50
RECURSIVE = 10_000  # points up to which the recursive sampler is measured
EPS = 0.01  # relative error of the kernel degrees
DIMENSIONS = (1, 2, 3, 5, 8, 20, 50)
SIZES = (1_000, 10_000, 100_000)
SIGMAS = (0.03, 0.3, 1.0, 3.0, 30.0, 300.0)


def clusters(n, d):
    rng = np.random.default_rng(d)
    return rng.normal(size=(5, d))[rng.integers(0, 5, n)] * 4 + rng.normal(size=(n, d))


def by_blas(X, sigma, n_rounds):
    """Neighbors from exact rows with matrix products, as one would write it with NumPy;
    extrapolated.
    """
    n, m = len(X), min(len(X), int(PAIRS / len(X)))
    rng = np.random.default_rng(0)
    start = time.process_time()
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
            np.searchsorted(row, rng.random(n_rounds) * row[-1], side="right")
    return (time.process_time() - start) * n / m


def by_rows(kernel, tree, n_rounds):
    n, m = tree.order.size, min(tree.order.size, int(PAIRS / tree.order.size))
    start = time.process_time()
    rows.draw_neighbors(kernel, tree, n_rounds, 0, EPS, stop=m)
    return (time.process_time() - start) * n / m


def by_near(kernel, tree, n_rounds):
    start = time.process_time()
    near.draw_neighbors(kernel, tree, n_rounds, 0, EPS)
    return time.process_time() - start


def by_rejection(kernel, tree, n_rounds, part=1):
    """With `part` > 1 measured on one of `part` groups of targets, and extrapolated."""
    start = time.process_time()
    _, method, groups = choose_sampler(kernel, tree, EPS, n_rounds, "rejection")
    if part == 1:
        degrees = kernel_degrees(kernel, tree, EPS, method=method)
        rejection.draw_neighbors(kernel, tree, degrees, n_rounds, 0, groups=groups)
        return time.process_time() - start
    seconds, n = time.process_time() - start, tree.order.size
    # Compiled code takes contiguous arrays only.
    some = type(groups)(*(np.ascontiguousarray(array[::part]) for array in groups))
    picked = np.concatenate([np.arange(*ends) for ends in zip(some.start, some.stop, strict=True)])
    ones, degrees = np.ones(n), np.zeros(n)
    start = time.process_time()
    degrees[picked] = direct_sums(kernel, tree.points, tree.points[picked], ones, skip=picked)
    direct, share = time.process_time() - start, n / picked.size
    start = time.process_time()
    if isinstance(method, Direct):
        seconds += direct * share
    elif isinstance(method, Plan):
        prepared = prepare(kernel, tree, ones, method)
        units = target_units(tree, kernel.inverse_sigma, method.radius)
        # Compiled code takes contiguous arrays only.
        units = units._replace(
            **{
                name: np.ascontiguousarray(getattr(units, name)[::part])
                for name in ("start", "stop", "low", "high")
            }
        )
        seconds += time.process_time() - start
        start = time.process_time()
        sums_at(kernel, prepared, units, EPS, exclude_self=True)
        seconds += (time.process_time() - start) * n / (units.stop - units.start).sum()
    else:
        kernel_degrees(kernel, tree, EPS, method=method)
        seconds += time.process_time() - start
    start = time.process_time()
    rejection.draw_neighbors(kernel, tree, degrees, n_rounds, 0, groups=some)
    return seconds + (time.process_time() - start) * share


def by_recursive(X, kernel, n_rounds):
    """Algorithm 1; it has kernel degrees of its own, and the tree is counted, which the others have
    in common.
    """
    solver = make_solver("auto", EPS)
    start = time.process_time()
    recursive.draw_neighbors(
        kernel, build_tree(X, recursive.LEAF), solver, n_rounds, 0, "stratified"
    )
    return time.process_time() - start


def measure(n, d, relative, n_rounds):
    """One row of the table."""
    X = clusters(n, d)
    sigma = relative * kdegraph.estimate_sigma(X, seed=0)
    kernel, tree = Kernel("gaussian", sigma), build_tree(X)
    _, method, groups = choose_sampler(kernel, tree, EPS, n_rounds, "rejection")
    sampling = rejection.estimate_cost(kernel, tree, groups, n_rounds)
    estimate = 1e-9 * (REJECTION_COSTS.degrees * method.cost + sampling)
    part = min(MOST_PARTS, math.ceil(estimate / LONG))
    by_rejection(kernel, tree, n_rounds, part)  # compiles or loads what it needs
    # The runs alternate, so that what else the machine does meets all alike; the best of each
    # counts.
    runs = {
        "rows": lambda: by_rows(kernel, tree, n_rounds),
        "rejection": lambda: by_rejection(kernel, tree, n_rounds, part),
    }
    if near.estimate_cost(kernel, tree, n_rounds, EPS) < 1e9 * LONG:
        by_near(kernel, tree, n_rounds)
        runs["near"] = lambda: by_near(kernel, tree, n_rounds)
    runs["BLAS"] = lambda: by_blas(X, sigma, n_rounds)
    seconds = dict.fromkeys(runs, math.inf)
    for _ in range(3 if n <= RECURSIVE else 2):
        seconds = {name: min(seconds[name], run()) for name, run in runs.items()}
    blas = seconds.pop("BLAS")
    seconds.setdefault("near", np.nan)
    # It never wins, and where it takes long nothing is learned from waiting.
    seconds["recursive"] = by_recursive(X, kernel, n_rounds) if n <= RECURSIVE else np.nan
    choices = []
    for _ in range(3):
        start = time.process_time()
        sampler, _, _ = choose_sampler(kernel, tree, EPS, n_rounds, "auto")
        choices.append(time.process_time() - start)
    # What "rejection" prepares is part of the choice already.
    start = time.process_time()
    choose_sampler(kernel, tree, EPS, n_rounds, "rejection")
    prepared = time.process_time() - start
    auto = seconds[sampler] + max(min(choices) - (prepared if sampler == "rejection" else 0.0), 0.0)
    best = np.nanmin(list(seconds.values()))
    row = {
        "d": d,
        "n": n,
        "sigma": relative,
        "L": n_rounds,
        "auto": sampler,
        "seconds": auto,
        **seconds,
        "BLAS": blas,
    }
    return row | {
        "auto / best": auto / best,
        "auto / BLAS": auto / blas,
        "estimate": estimate / seconds["rejection"],
    }


@click.command()
@click.option("--d", "dimensions", type=int, multiple=True, default=DIMENSIONS, show_default=True)
@click.option("--n", "sizes", type=int, multiple=True, default=SIZES, show_default=True)
@click.option("--rounds", default=30, show_default=True)
@csv_option
def main(dimensions, sizes, rounds, path):
    """Print the table, one row a case."""
    set_num_threads(1)
    table = []
    with threadpoolctl.threadpool_limits(1):
        measure(1_000, 2, 1.0, rounds)  # compiles or loads the kernels
        for d in dimensions:
            for n in sizes:
                for relative in SIGMAS:
                    table.append(measure(n, d, relative, rounds))
                    click.echo(
                        "  ".join(
                            f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}"
                            for k, v in table[-1].items()
                        )
                    )
    for name in ("auto / best", "auto / BLAS"):
        worst = max(table, key=lambda row: row[name])
        click.echo(
            f"largest {name}: {worst[name]:.2f} "
            f"at d = {worst['d']}, n = {worst['n']}, sigma = {worst['sigma']}"
        )
    write(path, table)


if __name__ == "__main__":
    main()
