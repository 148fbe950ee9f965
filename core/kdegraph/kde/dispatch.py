"""Kernel sums by the method of least estimated cost: all pairs, a grid, or a tree."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kdegraph.costs import DIRECT_COSTS, GRID_COSTS, TREE_COSTS
from kdegraph.geometry.kernel_functions import GAUSSIAN
from kdegraph.geometry.kernels import Kernel
from kdegraph.geometry.tree import Tree, bounding_box, build_tree
from kdegraph.kde.direct import direct_sums
from kdegraph.kde.grid.plan import Grid, choose_grid, range_of_most
from kdegraph.kde.grid.transform import grid_sums
from kdegraph.kde.tree.plan import Plan, choose_plan
from kdegraph.kde.tree.sums import tree_degrees, tree_sums


@dataclass(frozen=True)
class Direct:
    """All pairs, and their estimated cost in ns of one core."""

    cost: float


@dataclass(frozen=True, eq=False)
class InnerGrid:
    """A grid over most of the points. Sums with the other points take another method.

    A few points far from all others, or a distribution with heavy tails, make the grid over all
    points large, and most of its boxes empty.
    """

    grid: Grid
    cost: float  # estimated cost in ns of one core, with the sums that do not go through the grid
    # (n,) and (m,): the points on the grid
    sources: NDArray[np.bool_]
    targets: NDArray[np.bool_]


Method = Direct | Grid | InnerGrid | Plan


@dataclass(frozen=True, eq=False)
class KernelSum:
    """A kernel sum for which a method is to be chosen."""

    kernel: Kernel
    sources: NDArray[np.float64]  # (n, d)
    # (m, d): the sources by default; a grid may then lie along their principal axes
    targets: NDArray[np.float64] | None
    eps: float  # relative error
    on_grid: bool = True  # whether a grid may be chosen
    known_tree: Tree | None = None  # the tree of the sources, if it has been built already

    @cached_property
    def tree(self) -> Tree:
        """The tree of the sources, built when it is first needed."""
        return build_tree(self.sources) if self.known_tree is None else self.known_tree

    @property
    def points(self) -> NDArray[np.float64]:
        """The points at which the sums are computed."""
        return self.sources if self.targets is None else self.targets

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The smallest and the largest coordinates of sources and targets."""
        if self.known_tree is not None and self.targets is None:
            return self.known_tree.low[0], self.known_tree.high[0]
        both = [self.sources] if self.targets is None else [self.sources, self.targets]
        low, high = np.empty((2, len(both), self.sources.shape[1]))
        for points, least, most in zip(both, low, high, strict=True):
            bounding_box(points, 0, len(points), least, most)
        return low.min(axis=0), high.max(axis=0)

    def direct_cost(self, n_sources: int, n_targets: int) -> float:
        """Return the estimated cost of all pairs of some of the points, in ns."""
        per_pair = DIRECT_COSTS.pair + DIRECT_COSTS.pair_per_dimension * self.sources.shape[1]
        return per_pair * n_sources * n_targets


def choose_method(problem: KernelSum, method: str = "auto") -> Method:
    """Choose the method of least cost; `method` is "auto", "tree" or "fgt", as in `kernel_sum`."""
    (n, d), n_targets = problem.sources.shape, len(problem.points)
    best: Method = Direct(problem.direct_cost(n, n_targets))
    cost = best.cost if method == "auto" else math.inf
    set_up = GRID_COSTS.set_up if problem.targets is None else GRID_COSTS.set_up_targets
    expandable = problem.on_grid and problem.kernel.code == GAUSSIAN
    if expandable and method != "tree" and best.cost > 2 * set_up:
        grid = _choose_grid(problem, cost - set_up)
        if grid is not None:
            best, cost = grid, grid.cost
    per_point = TREE_COSTS.least_alternative_per_point_dimension * d
    if cost > max(TREE_COSTS.least_alternative, per_point * (n + n_targets)):
        plan = choose_plan(problem.kernel, problem.tree, problem.eps, n_targets)
        if plan.cost < cost:
            best = plan
    return best


def _choose_grid(problem, cost):
    """Choose the `Grid` or the `InnerGrid` that costs least, and less than `cost`; or None."""
    kernel, sources, onto_sources = problem.kernel, problem.sources, problem.targets is None
    bounds, n_targets = problem.bounds, len(problem.points)
    grid = choose_grid(kernel, sources, bounds, n_targets, problem.eps, turn=onto_sources)
    if grid is not None and grid.cost < cost:
        cost = grid.cost
    else:
        grid = None
    low, high = range_of_most(sources)
    if (low <= bounds[0]).all() and (high >= bounds[1]).all():
        return grid
    inside = ((sources >= low) & (sources <= high)).all(axis=1)
    onto = inside
    if not onto_sources:
        onto = ((problem.targets >= low) & (problem.targets <= high)).all(axis=1)
    n_inside, n_onto = np.count_nonzero(inside), np.count_nonzero(onto)
    others = problem.direct_cost(len(sources) - n_inside, n_onto)
    others += problem.direct_cost(len(sources), n_targets - n_onto)
    if others >= cost:
        return grid
    inner = choose_grid(
        kernel, sources[inside], (low, high), n_onto, problem.eps, turn=onto_sources
    )
    if inner is None or inner.cost + others >= cost:
        return grid
    return InnerGrid(inner, inner.cost + others, inside, onto)


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
    """Compute kernel sums of relative error eps, plus `floor` times the sum of absolute weights.

    The arguments are checked already. `targets` None means the sources; `method` is "auto", "tree"
    or "fgt", as in `kernel_sum`; `on_grid` False forbids grids.
    """
    problem = KernelSum(kernel, sources, targets, eps, on_grid=on_grid)
    chosen = choose_method(problem, method)
    if isinstance(chosen, Direct):
        return direct_sums(kernel, sources, problem.points, weights, progress=progress)
    errors = {"eps": eps, "floor": floor, "progress": progress}
    if isinstance(chosen, Plan):
        return tree_sums(kernel, problem.tree, targets, weights, plan=chosen, **errors)

    def sums_at(left):
        return fast_sums(kernel, sources, problem.points[left], weights, on_grid=False, **errors)

    return _sums_on_grid(chosen, problem, weights, sums_at, **errors)


def _sums_on_grid(method, problem, weights, sums_at, **options):
    """Compute sums on a grid with the options of `grid_sums`; `sums_at` computes those at targets
    that the grid has handed back, and at targets that are not on it.
    """
    if isinstance(method, Grid):
        sums, left = grid_sums(method, problem.sources, problem.targets, weights, **options)
    else:
        sums, left = _inner_sums(method, problem, weights, **options)
    if left.size:
        sums[left] = sums_at(left)
    return sums


def _inner_sums(method, problem, weights, eps, floor, **options):
    """Return the sums at the targets on an `InnerGrid`, and the other targets and those that the
    grid has handed back.

    The sum over the sources on the grid and that over the others have the relative error `eps`
    each, and so has the sum of both.
    """
    on, sums = np.flatnonzero(method.targets), np.empty(method.targets.size)
    sources, targets = problem.sources[method.sources], problem.points[on]
    onto = None if problem.targets is None else targets
    of_sources = weights[method.sources]
    inner, left = grid_sums(method.grid, sources, onto, of_sources, eps, floor=floor, **options)
    if not method.sources.all():
        outside = problem.sources[~method.sources], targets, weights[~method.sources]
        inner += fast_sums(problem.kernel, *outside, eps, floor=floor, on_grid=False)
    sums[on] = inner
    return sums, np.sort(np.concatenate([on[left], np.flatnonzero(~method.targets)]))


def choose_for_degrees(kernel: Kernel, tree: Tree, eps: float) -> Method:
    """Choose the method for `kernel_degrees`."""
    return choose_method(KernelSum(kernel, tree.points, None, eps, known_tree=tree))


def kernel_degrees(
    kernel: Kernel,
    tree: Tree,
    eps: float,
    *,
    method: Method | None = None,
    progress=None,
) -> NDArray[np.float64]:
    """Compute ``sum_{j != i} k(x_i, x_j)`` in the tree's order, each with relative error eps; 0
    exactly where all values underflow.

    `method` is the result of `choose_for_degrees`, if it is known.
    """
    n = len(tree.points)
    method = choose_for_degrees(kernel, tree, eps) if method is None else method
    if isinstance(method, (Direct, Plan)):
        return _degrees_without_grid(kernel, tree, np.arange(n), eps, method, progress)

    def sums_at(left):
        return degrees_at(kernel, tree, left, eps, progress=progress)

    problem = KernelSum(kernel, tree.points, None, eps, known_tree=tree)
    errors = {"eps": eps, "floor": 0.0, "progress": progress}
    return _sums_on_grid(method, problem, np.ones(n), sums_at, own=1.0, **errors)


def degrees_at(
    kernel: Kernel, tree: Tree, positions: NDArray[np.int64], eps: float, *, progress=None
) -> NDArray[np.float64]:
    """Compute `kernel_degrees` at some positions of the tree's order, each at most once."""
    targets = tree.points[positions]
    method = choose_method(
        KernelSum(kernel, tree.points, targets, eps, on_grid=False, known_tree=tree)
    )
    return _degrees_without_grid(kernel, tree, positions, eps, method, progress)


def _degrees_without_grid(kernel, tree, positions, eps, method, progress):
    """Compute `degrees_at` by all pairs, or on the tree by a plan."""
    points, n = tree.points, len(tree.points)
    if isinstance(method, Direct):
        known = {"columns": tree.columns, "skip": positions, "progress": progress}
        return direct_sums(kernel, points, points[positions], np.ones(n), **known)
    if positions.size == n:
        return tree_degrees(kernel, tree, eps, plan=method, progress=progress)[positions]
    return tree_degrees(kernel, tree, eps, plan=method, at=positions, progress=progress)
