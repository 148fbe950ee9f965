"""Kernel sums by the method that is estimated to cost least: all pairs, a grid, or a tree."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from kdegraph.costs import DIRECT_COSTS, GRID_COSTS, TREE_COSTS
from kdegraph.geometry.kernels import GAUSSIAN, Kernel
from kdegraph.geometry.tree import Tree, build_tree
from kdegraph.kde.direct import direct_sums
from kdegraph.kde.grid.plan import Grid, choose_grid
from kdegraph.kde.grid.sorting import extent
from kdegraph.kde.grid.transform import grid_sums
from kdegraph.kde.tree.plan import Plan, choose_plan
from kdegraph.kde.tree.sums import tree_degrees, tree_sums


@dataclass(frozen=True)
class Direct:
    """All pairs, and their estimated cost in ns of one core."""

    cost: float


@dataclass(frozen=True, eq=False)
class KernelSum:
    """A kernel sum for which a method is to be chosen.

    Attributes
    ----------
    kernel : Kernel
    sources : (n, d) float64
    n_targets : int
    eps : float
        Relative error.
    bounds : pair of (d,) float64, optional
        Smallest and largest coordinates of sources and targets; None forbids a grid.
    onto_sources : bool
        Whether the targets are the sources; a grid may then lie along their principal axes.
    known_tree : Tree, optional
        The tree of the sources, if there is one already.
    """

    kernel: Kernel
    sources: NDArray[np.float64]
    n_targets: int
    eps: float
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    onto_sources: bool = False
    known_tree: Tree | None = None

    @cached_property
    def tree(self) -> Tree:
        """The tree of the sources, built when it is first needed."""
        return build_tree(self.sources) if self.known_tree is None else self.known_tree


def choose_method(problem: KernelSum, method: str = "auto") -> Direct | Grid | Plan:
    """What costs least: a `Grid`, a `Plan` for the tree, or `Direct`; each tells its estimated
    `cost`.

    `method` is "auto", "tree" or "fgt", as in `kernel_sum`.
    """
    n, d = problem.sources.shape
    n_targets = problem.n_targets
    per_pair = DIRECT_COSTS.pair + DIRECT_COSTS.pair_per_dimension * d
    best: Direct | Grid | Plan = Direct(per_pair * n * n_targets)
    cost = best.cost
    set_up = GRID_COSTS.set_up if problem.onto_sources else GRID_COSTS.set_up_targets
    bounds = problem.bounds
    may_expand = method != "tree" and problem.kernel.code == GAUSSIAN
    if bounds is not None and may_expand and cost > 2 * set_up:
        grid = choose_grid(
            problem.kernel,
            problem.sources,
            bounds,
            n_targets,
            problem.eps,
            turn=problem.onto_sources,
        )
        if grid is not None and grid.cost + set_up < cost:
            best, cost = grid, grid.cost
    if isinstance(best, Direct) and method != "auto":
        cost = math.inf
    per_point = TREE_COSTS.least_alternative_per_point_dimension * d
    if cost > max(TREE_COSTS.least_alternative, per_point * (n + n_targets)):
        plan = choose_plan(
            problem.kernel, problem.tree, problem.eps, n_targets, expand=method != "tree"
        )
        if plan.cost < cost:
            best = plan
    return best


def fast_sums(
    kernel: Kernel,
    sources: NDArray[np.float64],
    targets: NDArray[np.float64] | None,
    weights: NDArray[np.float64],
    eps: float,
    *,
    floor: float,
    method: str = "auto",
    on_grid: bool = True,
    progress=None,
) -> NDArray[np.float64]:
    """Kernel sums of relative error eps, plus `floor` times the sum of absolute weights.

    The arguments are checked already. `targets` None means the sources; `method` is "auto", "tree"
    or "fgt", as in `kernel_sum`; `on_grid` False forbids grids.
    """
    points = sources if targets is None else targets
    problem = KernelSum(
        kernel,
        sources,
        len(points),
        eps,
        bounds=_bounds(sources, points) if on_grid else None,
        onto_sources=targets is None,
    )
    chosen = choose_method(problem, method)
    if isinstance(chosen, Direct):
        return direct_sums(kernel, sources, points, weights, progress=progress)
    if isinstance(chosen, Plan):
        return tree_sums(
            kernel,
            problem.tree,
            targets,
            weights,
            eps,
            floor=floor,
            plan=chosen,
            progress=progress,
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


def _bounds(sources, targets):
    """The smallest and the largest coordinates of both sets of points."""
    low, high = np.full(sources.shape[1], np.inf), np.full(sources.shape[1], -np.inf)
    extent(0, len(sources), sources, low, high)
    if targets is not sources:
        extent(0, len(targets), targets, low, high)
    return low, high


def choose_for_degrees(kernel: Kernel, tree: Tree, eps: float) -> Direct | Grid | Plan:
    """`choose_method` for `kernel_degrees`."""
    return choose_method(
        KernelSum(
            kernel,
            tree.points,
            len(tree.points),
            eps,
            bounds=(tree.low[0], tree.high[0]),
            onto_sources=True,
            known_tree=tree,
        )
    )


def kernel_degrees(
    kernel: Kernel,
    tree: Tree,
    eps: float,
    *,
    method: Direct | Grid | Plan | None = None,
    progress=None,
) -> NDArray[np.float64]:
    """``sum_{j != i} k(x_i, x_j)`` in the tree's order, each with relative error eps; 0 exactly
    where all values underflow.

    `method` is what `choose_for_degrees` has chosen, if it is known.
    """
    n = len(tree.points)
    method = choose_for_degrees(kernel, tree, eps) if method is None else method
    if isinstance(method, Direct):
        return _direct_degrees(kernel, tree, np.arange(n), progress)
    if isinstance(method, Plan):
        return tree_degrees(kernel, tree, eps, plan=method, progress=progress)
    ones = np.ones(n)
    degrees, left = grid_sums(method, tree.points, None, ones, eps, own=1.0, progress=progress)
    if left.size:
        degrees[left] = degrees_at(kernel, tree, left, eps, progress=progress)
    return degrees


def degrees_at(
    kernel: Kernel, tree: Tree, positions: NDArray[np.int64], eps: float, *, progress=None
) -> NDArray[np.float64]:
    """`kernel_degrees` at some positions of the tree's order, each at most once."""
    problem = KernelSum(kernel, tree.points, positions.size, eps, known_tree=tree)
    method = choose_method(problem)
    if isinstance(method, Direct):
        return _direct_degrees(kernel, tree, positions, progress)
    plan = cast(Plan, method)  # a problem without bounds has no grid
    if positions.size == len(tree.points):
        return tree_degrees(kernel, tree, eps, plan=plan, progress=progress)[positions]
    return tree_degrees(kernel, tree, eps, plan=plan, at=positions, progress=progress)


def _direct_degrees(kernel, tree, positions, progress):
    """`degrees_at` by all pairs."""
    return direct_sums(
        kernel,
        tree.points,
        tree.points[positions],
        np.ones(len(tree.points)),
        columns=tree.columns,
        skip=positions,
        progress=progress,
    )
