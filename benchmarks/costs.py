"""Measure the constants of kdegraph/costs.py again, and print them beside those in use.

    python benchmarks/costs.py

CPU times of one thread, the best of several runs. Costs are slopes: each is found from runs that
differ in one number only, on uniform points or one normal cluster. The constants of the samplers
were set on the grid of benchmarks/samplers.py and differ from these slopes by up to a factor of
three. tests/sampling/test_choice.py holds the choices; change constants only along with that.
"""

import time

import click
import numpy as np
import threadpoolctl
from kdegraph.costs import NEIGHBOR_COSTS, REJECTION_COSTS, ROW_COSTS
from kdegraph.geometry.kernels import Kernel
from kdegraph.geometry.neighbors import query_tree
from kdegraph.geometry.tree import build_tree
from kdegraph.kde.direct import direct_sums
from kdegraph.runtime import parallel
from kdegraph.sampling import rows
from kdegraph.sampling.rejection import sampler as rejection
from kdegraph.sampling.rejection.target_groups import group_targets
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

RUNS = 3


def cpu_time(function, *arguments, **options):
    """Nanoseconds of processor time, the least of some runs."""
    best = np.inf
    for _ in range(RUNS):
        start = time.process_time_ns()
        function(*arguments, **options)
        best = min(best, time.process_time_ns() - start)
    return best


def report(name, measured, used):
    click.echo(f"{name:>45} {measured:12.3g} {used:12.3g}")


def time_of_rows(n, d, n_rounds, eps=0.01):
    tree = build_tree(np.random.default_rng(d).random((n, d)))
    return cpu_time(rows.draw_neighbors, Kernel("gaussian", 1.0), tree, n_rounds, 0, eps)


def samplers():
    """Constants of the samplers."""
    n = 4000
    for field, dimensions, eps in (
        ("pair_per_dimension", (2, 7), 0.01),
        ("pair_per_dimension_by_products", (10, 60), 0.01),
    ):
        few, many = (time_of_rows(n, d, 1, eps) for d in dimensions)
        slope = (many - few) / n**2 / (dimensions[1] - dimensions[0])
        report(f"rows: {field}", slope, getattr(ROW_COSTS, field))
        if field == "pair_per_dimension":
            report("rows: pair", few / n**2 - slope * dimensions[0], ROW_COSTS.pair)
    draws = (time_of_rows(n, 2, 31) - time_of_rows(n, 2, 1)) / (30 * n)
    report("rows: draw", draws, ROW_COSTS.draw)
    for d in (2, 5):
        X = np.random.default_rng(d).normal(size=(20_000, d))
        tree, kernel = build_tree(X), Kernel("gaussian", 1.0)
        degrees = direct_sums(
            kernel, tree.points, tree.points, np.ones(len(X)), skip=np.arange(len(X))
        )
        groups = group_targets(kernel, tree, 20)
        measured = cpu_time(rejection.draw_neighbors, kernel, tree, degrees, 20, 0, groups=groups)
        estimated = rejection.estimate_cost(kernel, tree, groups, 20)
        # The parts are not separable from outside; their sum is.
        ratio = measured / estimated * REJECTION_COSTS.overhead
        report(f"rejection: overhead, d = {d}", ratio, REJECTION_COSTS.overhead)


def search_tree(X, queries):
    query_tree(cKDTree(X, balanced_tree=False), X[queries], 10)


def search_by_products(X, queries):
    NearestNeighbors(algorithm="brute").fit(X).kneighbors(X[queries], 10)


def nearest_neighbors():
    """The dimension from which matrix products are faster than a k-d tree."""
    largest = 0
    for d in range(7, 12):
        X = np.random.default_rng(d).random((15_000, d))
        queries = np.arange(0, len(X), 10)
        by_tree = cpu_time(search_tree, X, queries)
        by_products = cpu_time(search_by_products, X, queries)
        if by_tree <= by_products:
            largest = d
    report("neighbors: max_tree_dimension", largest, NEIGHBOR_COSTS.max_tree_dimension)


@click.command()
def main():
    """Print each constant as it is measured now, and as it is used."""
    parallel.set_num_threads(1)
    click.echo(f"{'':>45} {'measured':>12} {'used':>12}")
    with threadpoolctl.threadpool_limits(1):
        samplers()
        nearest_neighbors()


if __name__ == "__main__":
    main()
