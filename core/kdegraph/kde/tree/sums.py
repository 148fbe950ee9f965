"""Kernel sums by a tree over the sources: distant nodes are left out, narrow ones lumped, Gaussian
groups expanded, the rest summed directly.

For a target group T every source node S is treated with an error of at most ``|W_S| (a min k(T, S)
+ b G / |W|)``, where ``|W_S|`` is the node's sum of absolute weights, ``G`` a lower bound of
``sum_j |w_j| k(y, x_j)`` over the targets y in T, and ``|W|`` the sum of all absolute weights.
Summed over S this is at most ``(a + b)`` times the sum of absolute contributions: the guarantee is
relative at every target. Pruning at a fixed exponent adds `floor` times ``|W|``.
"""

import math
from dataclasses import dataclass

import numpy as np

from kdegraph.geometry.kernels import UNDERFLOW
from kdegraph.geometry.tree import Tree, build_tree
from kdegraph.kde.expansions import taylor as expansions
from kdegraph.kde.tree.plan import Groups, choose_plan, order_costs
from kdegraph.kde.tree.traversal import sums_range
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit


@dataclass(frozen=True)
class Sources:
    """Source tree with what the sums need of it: weights in its order, masses of nodes, groups,
    moments.
    """

    kernel: object
    tree: Tree
    weights: np.ndarray
    node_sum: np.ndarray
    node_mass: np.ndarray
    is_group: np.ndarray
    moment_row: np.ndarray
    moments: np.ndarray
    tables: expansions.Tables


def _node_totals(tree, weights):
    """Sums of `weights` over the points of every node, added up from the leaves (a running sum
    would lose the small ones).
    """
    totals = np.zeros(tree.start.size)
    leaves = slice(tree.first_leaf, None)
    _leaf_totals(weights, tree.start[leaves], tree.stop[leaves], totals[leaves])
    for level in range(tree.n_levels - 2, -1, -1):
        nodes = np.arange(2**level - 1, 2 ** (level + 1) - 1)
        totals[nodes] = totals[2 * nodes + 1] + totals[2 * nodes + 2]
    return totals


@jit
def _leaf_totals(weights, start, stop, totals):
    for k in range(start.size):
        for i in range(start[k], stop[k]):
            totals[k] += weights[i]


def prepare(kernel, tree, weights, plan):
    """Form the groups of `plan` and their moments; `weights` are in the order of the tree's points."""
    d = tree.points.shape[1]
    groups = Groups.of(tree, kernel.inverse_sigma, plan.radius)
    table = expansions.tables(d if plan.order > 1 else 1, plan.order)
    is_group = np.zeros(tree.start.size, bool)
    is_group[groups.nodes] = True
    expanded = groups.nodes[
        groups.expandable & (tree.stop[groups.nodes] - tree.start[groups.nodes] > 4)
    ]
    if plan.order == 1:
        expanded = expanded[:0]
    moment_row = np.full(tree.start.size, -1, np.int64)
    moment_row[expanded] = np.arange(expanded.size)
    moments = np.zeros((expanded.size, table.parent.size))
    parallel.run(
        _moments_range, expanded.size, expanded, tree.columns, weights, tree.start, tree.stop, tree.low, tree.high, kernel.inverse_sigma,
        table.parent, table.axis, table.inverse_factorial, moments,
    )  # fmt: skip
    totals = _node_totals(tree, weights)
    mass = _node_totals(tree, np.abs(weights)) if (weights < 0).any() else totals
    return Sources(kernel, tree, weights, totals, mass, is_group, moment_row, moments, table)


@jit
def _moments_range(
    begin,
    end,
    nodes,
    columns,
    weights,
    start,
    stop,
    low,
    high,
    scale,
    parent,
    axis,
    inverse_factorial,
    moments,
):
    room = np.empty((moments.shape[1], expansions.BLOCK))
    for k in range(begin, end):
        node = nodes[k]
        center = low[node] + (high[node] - low[node]) / 2
        expansions.add_moments(
            columns,
            weights,
            start[node],
            stop[node],
            center,
            scale,
            parent,
            axis,
            inverse_factorial,
            room,
            moments[k],
        )


@dataclass(frozen=True)
class Targets:
    """Target points in the order of their tree, cut into units: groups, and the single points of
    wide ones.
    """

    points: np.ndarray
    columns: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, tree, inverse_sigma, radius):
        """Units of `tree` for groups of at most `radius`."""
        groups = Groups.of(tree, inverse_sigma, radius)
        wide, tight = groups.nodes[groups.wide], groups.nodes[~groups.wide]
        singles = _ranges(tree.start[wide], tree.stop[wide])
        start = np.concatenate([tree.start[tight], singles])
        order = np.argsort(start)
        stop = np.concatenate([tree.stop[tight], singles + 1])
        low = np.concatenate([tree.low[tight], tree.points[singles]])
        high = np.concatenate([tree.high[tight], tree.points[singles]])
        return cls(tree.points, tree.columns, start[order], stop[order], low[order], high[order])


def _ranges(start, stop):
    if start.size == 0:
        return np.zeros(0, np.int64)
    return np.concatenate([np.arange(a, b) for a, b in zip(start, stop, strict=True)])


def sums_at(sources, targets, eps, *, floor=0.0, exclude_self=False, progress=None):
    """Sums at all `targets` (in their tree's order), relative error eps; contributions below
    `floor` may be left out.

    `exclude_self`: sources and targets are the same points in the same order, all weights are 1,
    and the sum at a point leaves out the point.
    """
    tree, table, d = sources.tree, sources.tables, sources.tree.points.shape[1]
    sums = np.zeros(targets.columns.shape[1])
    cut = min(UNDERFLOW, -math.log(floor)) if floor > 0 else UNDERFLOW
    parallel.run(
        sums_range, targets.start.size, sources.kernel.code, sources.kernel.inverse_sigma,
        targets.points, targets.columns, targets.start, targets.stop, targets.low, targets.high,
        tree.columns, sources.weights, tree.start, tree.stop, tree.low, tree.high,
        sources.node_sum, sources.node_mass, sources.is_group, sources.moment_row, sources.moments, table.n_terms.size - 1,
        expansions.is_tensor(d), order_costs(d), table.exponents, table.degree, table.parent, table.axis,
        table.inverse_factorial, table.n_terms, table.row, table.sums, expansions.SQRT,
        0.5 * eps, 0.5 * eps, cut, exclude_self, sums,
        progress=progress,
    )  # fmt: skip
    return sums


def tree_sums(kernel, tree, targets, weights, eps, *, floor, plan=None, progress=None):
    """Kernel sums for the points of `tree` as sources, see `sums_at`; weights and results are in
    the original order.

    `targets` None means the sources.
    """
    m = tree.order.size if targets is None else len(targets)
    plan = choose_plan(kernel, tree, eps, m) if plan is None else plan
    prepared = prepare(kernel, tree, weights[tree.order], plan)
    target_tree = tree if targets is None else build_tree(targets)
    units = Targets.of(target_tree, kernel.inverse_sigma, plan.radius)
    sums = np.empty(m)
    sums[target_tree.order] = sums_at(prepared, units, eps, floor=floor, progress=progress)
    return sums


def tree_degrees(kernel, tree, eps, *, plan, at=None, progress=None):
    """``sum_{j != i} k(x_i, x_j)`` for all points i of the tree, in its order, or those `at` some
    positions.
    """
    prepared = prepare(kernel, tree, np.ones(len(tree.points)), plan)
    if at is None:
        units = Targets.of(tree, kernel.inverse_sigma, plan.radius)
    else:
        units = Targets(tree.points, tree.columns, at, at + 1, tree.points[at], tree.points[at])
    sums = np.maximum(sums_at(prepared, units, eps, exclude_self=True, progress=progress), 0.0)
    return sums if at is None else sums[at]
