"""The constants of kdegraph/costs.py."""

import time

import numpy as np
import scipy.optimize
import threadpoolctl
from kdegraph.costs import (
    DIRECT_COSTS,
    GRID_COSTS,
    NEIGHBOR_COSTS,
)
from kdegraph.geometry.kernels import Kernel
from kdegraph.geometry.neighbors import nearest, nearest_in_tree, query_tree
from kdegraph.geometry.tree import build_tree
from kdegraph.graph import similarity_graph
from kdegraph.kde.direct import direct_sums
from kdegraph.kde.grid import expansions
from kdegraph.kde.grid.plan import choose_grid
from kdegraph.kde.tree.plan import choose_plan
from kdegraph.kde.tree.sums import prepare, sums_at, target_units
from kdegraph.local_bandwidth import local_bandwidths
from kdegraph.runtime.threads import set_num_threads
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from benchmarks.experiment import experiment, grid

RUNS = 5


def cpu_time(function, *arguments, **options):
    """Nanoseconds of processor time, the least of some runs; a run before them compiles."""
    function(*arguments, **options)
    best = np.inf
    for _ in range(RUNS):
        start = time.process_time_ns()
        function(*arguments, **options)
        best = min(best, time.process_time_ns() - start)
    return best


def many_dimension_constants():
    """Constants of near neighbors and of all pairs in many dimensions, with local bandwidths."""
    cases, near_times, all_times = ((4000, 20), (8000, 20), (8000, 100), (4000, 784)), [], []
    for n, d in cases:
        rng = np.random.default_rng(d)
        X = np.tanh(rng.normal(size=(n, 12)) @ rng.normal(size=(12, d)) / 3)
        sigmas, options = local_bandwidths(X), {"n_rounds": 30, "seed": 0}
        near_times.append(cpu_time(similarity_graph, X, sampler="mixture", sigma=sigmas, **options))
        sample = cpu_time(similarity_graph, X, sampler="near", sigma=sigmas, **options)
        all_times.append(sample + cpu_time(nearest, X, np.arange(n), 16))
    names = NEIGHBOR_COSTS._fields[-4:]
    found = fit([[n, n * d] for n, d in cases], near_times)
    found = [*found, *fit([[n**2, n**2 * d] for n, d in cases], all_times)]
    return dict(zip(names, found, strict=True))


def search_all(X, queries):
    nearest_in_tree(build_tree(X), 10)


def search_tree(X, queries):
    query_tree(cKDTree(X, balanced_tree=False), X[queries], 10)


def search_by_products(X, queries):
    NearestNeighbors(algorithm="brute").fit(X).kneighbors(X[queries], 10)


def neighbor_constants():
    """The dimensions from which matrix products are faster than k-d trees."""
    found = {}
    for name, search, step in (
        ("max_tree_dimension", search_all, 1),
        ("max_query_dimension", search_tree, 10),
    ):
        largest = 0
        for d in range(7, 15):
            X = np.random.default_rng(d).random((15_000, d))
            queries = np.arange(0, len(X), step)
            by_tree = cpu_time(search, X, queries)
            if by_tree <= cpu_time(search_by_products, X, queries):
                largest = d
        found[name] = largest
    return found


def fit(rows, times):
    """The factors of the columns of `rows`, none of them negative, that reproduce the `times` with
    the least relative errors.
    """
    rows, times = np.asarray(rows, float), np.asarray(times, float)
    return scipy.optimize.nnls(rows / times[:, None], np.ones(len(times)))[0]


def direct_constants():
    """A pair of points and what a dimension adds."""
    rows, times = [], []
    for d in (1, 2, 3, 5, 8):
        X = np.random.default_rng(d).normal(size=(3000, d))
        ones, kernel = np.ones(len(X)), Kernel("gaussian", 1.0)
        rows.append([1, d])
        times.append(cpu_time(lambda: direct_sums(kernel, X, X, ones)) / len(X) ** 2)  # noqa: B023
    pair, per_dimension = fit(rows, times)
    return {"pair": pair, "pair_per_dimension": per_dimension}


def point_constants():
    """A point of a grid, a dimension and a term: sorting, moments and evaluation."""
    rows, times = [], []
    n = 100_000
    for d in (1, 2, 3):
        X = np.random.default_rng(d).uniform(0, 4, size=(n, d))
        bounds = X.min(axis=0), X.max(axis=0)
        grid = choose_grid(Kernel("gaussian", 1.0), X, bounds, n, 1e-2)
        boxes, lattice, weights = grid.sort(X), grid.lattice, np.ones(n)
        n_boxes = boxes.numbers.size
        sums, uncertain = np.empty(n), np.empty(n, bool)
        tolerance = expansions.Tolerance(1e-2, 0.0, 0.0)
        for p in (3, 6, 9, 12):
            moments, errors = np.zeros((n_boxes, p**d)), np.zeros((n_boxes, 2**d))

            outputs = errors, tolerance, sums, uncertain

            def run():
                grid.sort(X)  # noqa: B023
                args = 0, n_boxes, boxes, lattice  # noqa: B023
                expansions.add_moments(*args, weights, p, moments)  # noqa: B023
                expansions.evaluate(*args, p, moments, *outputs)  # noqa: B023

            rows.append([2, 2 * d, 2 * (p**d + 2**d)])
            times.append(cpu_time(run) / n)
    point, per_dimension, term = fit(rows, times)
    return {"point": point, "point_per_dimension": per_dimension, "term": term}


def translation_constants():
    """A pair of boxes of a grid along an axis, its products and their runs."""
    rows, times = [], []
    n_boxes, reach = 64, 3
    numbers, row = np.arange(n_boxes), np.arange(n_boxes, dtype=np.int32)
    n_pairs = sum(min(n_boxes, i + reach + 1) - max(0, i - reach) for i in range(n_boxes))
    for d in (1, 2, 3):
        for p in (3, 5, 8, 12):
            matrices = np.ones((2 * reach + 1, p, p))
            source, target = np.ones((n_boxes, p**d)), np.empty((n_boxes, p**d))
            args = 0, n_boxes, numbers, row, n_boxes, 1, matrices, source, target

            def run():
                for _ in range(20):
                    expansions.translate(*args)  # noqa: B023

            rows.append([p ** (d + 1), p**2, 1])
            times.append(cpu_time(run) / 20 / n_pairs)
    product, product_run, box_pair = fit(rows, times)
    return {"product": product, "product_run": product_run, "box_pair": box_pair}


def tree_ratios():
    """How the estimated cost of a plan, which visits and pairs decide, compares with the time."""
    for d in (1, 2, 3, 5):
        X = np.random.default_rng(d).normal(size=(10_000, d))
        tree = build_tree(X)
        for name in ("gaussian", "laplacian"):
            kernel = Kernel(name, 0.3)
            plan = choose_plan(kernel, tree, 1e-2, len(X))

            def run():
                sources = prepare(kernel, tree, np.ones(len(tree.points)), plan)  # noqa: B023
                units = target_units(tree, kernel.inverse_sigma, plan.radius)  # noqa: B023
                sums_at(kernel, sources, units, 1e-2)  # noqa: B023

            yield d, name, plan.cost / cpu_time(run)


# The constants in use, and what measures them again.
GROUPS = {
    "nearest neighbors": (NEIGHBOR_COSTS, neighbor_constants),
    "many dimensions": (NEIGHBOR_COSTS, many_dimension_constants),
    "direct sums": (DIRECT_COSTS, direct_constants),
    "grids": (GRID_COSTS, lambda: point_constants() | translation_constants()),
}


def summary(rows):
    """A row for each constant."""
    for row in rows:
        for name, used in row.items():
            if name.endswith(" in use") and used != "":
                constant = name.removesuffix(" in use")
                about = {"group": row["group"], "constant": constant, "in use": used}
                yield about | {"measured": row[constant], "ratio": row[constant] / used}


@experiment(
    lambda: grid(group=[*GROUPS, "whole sums on the tree"]),
    source="`kdegraph/costs.py`: constants that decide between methods, in nanoseconds.",
    why="Most constants in use are within a factor of four of these slopes; where costs that go "
    "together are fitted at once, one of them may get all and another nothing. Those of kernel "
    "sums are right relative to each other only, and decide between the samplers, too: "
    "`tests/sampling/test_choice.py` holds these choices.",
    summary=summary,
)
def costs(group):
    """The constants by which methods are chosen, measured again: CPU nanoseconds of one thread.

    The best of several runs. Each cost is a slope between runs that differ in one number; where
    several costs add up, they are fitted together so that the relative errors are least.
    """
    set_num_threads(1)
    with threadpoolctl.threadpool_limits(1):
        if group not in GROUPS:
            return {f"{name}, {d} dimensions": ratio for d, name, ratio in tree_ratios()}
        used, measure = GROUPS[group]
        found = measure()
        return found | {f"{name} in use": getattr(used, name) for name in found}
