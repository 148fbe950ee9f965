"""Kernel sums by the method that is estimated to cost least: all pairs, a grid, or a tree."""

import math
from dataclasses import dataclass

import numpy as np

from kdegraph.geometry.kernels import GAUSSIAN
from kdegraph.geometry.tree import build_tree
from kdegraph.kde.direct import direct_sums
from kdegraph.kde.grid.boxes import extent
from kdegraph.kde.grid.transform import choose_grid, grid_sums
from kdegraph.kde.tree.plan import Plan, choose_plan
from kdegraph.kde.tree.sums import tree_degrees, tree_sums

GRID = {
    True: 5e5,
    False: 1e6,
}  # ns: what setting up a grid costs where the targets are the sources, and where they are others
TREE = 2e7  # ns: what has to be at stake before a tree is thought of
PAIR, PAIR_DIM = 1.0, 0.155  # ns: a kernel value of many, and what each dimension adds
CHEAP = 800.0  # ns: a grid that costs no more per point and dimension is taken at once


@dataclass(frozen=True)
class Direct:
    """All pairs, and their estimated cost in ns of one core."""

    cost: float


def choose_method(
    kernel, sources, low, high, n_targets, eps, get_tree, *, method="auto", on_grid=True, turn=False
):
    """What costs least: a `Grid`, a `Plan` for a tree, or `Direct`; each tells its estimated
    `cost`.

    Parameters
    ----------
    low, high : (d,) float64
        Bounds of sources and targets.
    get_tree : callable
        Returns the tree of the sources; called if a tree is considered.
    method : {"auto", "tree", "fgt"}
        As in `kernel_sum`.
    on_grid : bool
        Whether a grid may do.
    turn : bool
        Whether the targets are the sources, so that it may lie along their principal axes.
    """
    n, d = sources.shape
    best = Direct((PAIR + PAIR_DIM * d) * n * n_targets)
    cost = best.cost
    if on_grid and method != "tree" and kernel.code == GAUSSIAN and cost > 2 * GRID[turn]:
        grid = choose_grid(kernel, sources, low, high, n_targets, eps, turn=turn)
        if grid is not None and grid.cost + GRID[turn] < cost:
            best, cost = grid, grid.cost
    if isinstance(best, Direct) and method != "auto":
        cost = math.inf
    if cost > max(TREE, CHEAP * d * (n + n_targets)):
        plan = choose_plan(kernel, get_tree(), eps, n_targets, expand=method != "tree")
        if plan.cost < cost:
            best = plan
    return best


def fast_sums(
    kernel, sources, targets, weights, eps, *, floor, method="auto", on_grid=True, progress=None
):
    """Kernel sums of relative error eps for checked arrays, plus `floor` times the sum of absolute
    weights.

    `targets` None means the sources; methods as in `kernel_sum`; `on_grid` False forbids grids.
    """
    points = sources if targets is None else targets
    low, high = np.full(sources.shape[1], np.inf), np.full(sources.shape[1], -np.inf)
    extent(0, len(sources), sources, low, high)
    extent(0, len(points), points, low, high)
    trees = []

    def get_tree():
        trees.append(build_tree(sources))
        return trees[0]

    turn = targets is None
    chosen = choose_method(
        kernel,
        sources,
        low,
        high,
        len(points),
        eps,
        get_tree,
        method=method,
        on_grid=on_grid,
        turn=turn,
    )
    if isinstance(chosen, Direct):
        return direct_sums(kernel, sources, points, weights, progress=progress)
    if isinstance(chosen, Plan):
        return tree_sums(
            kernel, trees[0], targets, weights, eps, floor=floor, plan=chosen, progress=progress
        )
    sums, left = grid_sums(chosen, sources, targets, weights, eps, floor=floor, progress=progress)
    if left.size:
        sums[left] = fast_sums(
            kernel,
            sources,
            points[left],
            weights,
            eps,
            floor=floor,
            on_grid=False,
            progress=progress,
        )
    return sums


def choose_for_degrees(kernel, tree, eps):
    """`choose_method` for `kernel_degrees`."""
    return choose_method(
        kernel,
        tree.points,
        tree.low[0],
        tree.high[0],
        len(tree.points),
        eps,
        lambda: tree,
        turn=True,
    )


def kernel_degrees(kernel, tree, eps, *, method=None, progress=None):
    """``sum_{j != i} k(x_i, x_j)`` in the tree's order, each with relative error eps; 0 exactly
    where all values underflow.

    `method` is what `choose_for_degrees` has chosen, if it is known.
    """
    n = len(tree.points)
    ones = np.ones(n)
    method = choose_for_degrees(kernel, tree, eps) if method is None else method
    if isinstance(method, Direct):
        return direct_sums(
            kernel,
            tree.points,
            tree.points,
            ones,
            columns=tree.columns,
            skip=np.arange(n),
            progress=progress,
        )
    if isinstance(method, Plan):
        return tree_degrees(kernel, tree, eps, plan=method, progress=progress)
    degrees, left = grid_sums(method, tree.points, None, ones, eps, own=1.0, progress=progress)
    if left.size:
        degrees[left] = degrees_at(kernel, tree, left, eps, progress=progress)
    return degrees


def degrees_at(kernel, tree, positions, eps, *, progress=None):
    """`kernel_degrees` at some positions of the tree's order, each at most once."""
    n = len(tree.points)
    method = choose_method(
        kernel, tree.points, None, None, positions.size, eps, lambda: tree, on_grid=False
    )
    if isinstance(method, Plan):
        if positions.size == n:
            return tree_degrees(kernel, tree, eps, plan=method, progress=progress)[positions]
        return tree_degrees(kernel, tree, eps, plan=method, at=positions, progress=progress)
    at = tree.points[positions]
    return direct_sums(
        kernel, tree.points, at, np.ones(n), columns=tree.columns, skip=positions, progress=progress
    )
