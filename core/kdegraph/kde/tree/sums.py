"""Compute kernel sums with a tree over the sources: distant nodes are skipped, narrow ones count as
if all their points had the mean kernel value, and the others are summed directly.

For a group of targets T every node of sources S is treated with an error of at most

    |W_S| (a min k(T, S) + b G / |W|),

where ``|W_S|`` is the node's sum of absolute weights, ``G`` a lower bound of
``sum_j |w_j| k(y, x_j)`` over the targets y in T, and ``|W|`` the sum of all absolute weights.
Summed over S this is at most ``(a + b)`` times the sum of absolute contributions: the guarantee is
relative at every target. Pruning at a fixed exponent adds `floor` times ``|W|``.
"""

import math

import numpy as np
from numpy.typing import NDArray

from kdegraph.geometry.kernel_functions import UNDERFLOW
from kdegraph.geometry.kernels import Kernel
from kdegraph.geometry.tree import Tree, build_tree
from kdegraph.kde.tree.plan import WIDE_RADIUS, Partition, Plan
from kdegraph.kde.tree.traversal import Accuracy, Sources, Targets, sums_range
from kdegraph.runtime import parallel


def prepare(kernel: Kernel, tree: Tree, weights: NDArray[np.float64], plan: Plan) -> Sources:
    """Form the groups of `plan`; `weights` are in the order of the tree's points."""
    is_group = np.zeros(tree.start.size, bool)
    is_group[Partition.of(tree, kernel.inverse_sigma, plan.radius).nodes] = True
    totals = tree.reduced(np.add, weights)
    mass = tree.reduced(np.add, np.abs(weights)) if (weights < 0).any() else totals
    return Sources(tree, weights, node_sum=totals, node_mass=mass, is_group=is_group)


def target_units(tree: Tree, inverse_sigma: float, radius: float) -> Targets:
    """Cut the points of a tree into groups of at most `radius`, and points of too wide ones."""
    groups = Partition.of(tree, inverse_sigma, radius)
    tight = groups.nodes[groups.radii <= WIDE_RADIUS]
    return Targets(tree.points, tree.columns, *tree.units(tight))


def sums_at(
    kernel: Kernel,
    sources: Sources,
    targets: Targets,
    eps: float,
    *,
    floor: float = 0.0,
    exclude_self: bool = False,
    progress=None,
) -> NDArray[np.float64]:
    """Sums at all `targets` (in their tree's order), relative error eps.

    Contributions of less than `floor` for a unit of weight may be left out. With `exclude_self`
    sources and targets are the same points in the same order, all weights are 1, and the sum at a
    point leaves out the point.
    """
    sums = np.zeros(len(targets.points))
    cut = min(UNDERFLOW, -math.log(floor)) if floor > 0 else UNDERFLOW
    accuracy = Accuracy(0.5 * eps, 0.5 * eps, cut, exclude_self)
    parallel.run(
        sums_range,
        targets.start.size,
        kernel.code,
        kernel.inverse_sigma,
        targets,
        sources,
        accuracy,
        sums,
        progress=progress,
    )
    return sums


def tree_sums(
    kernel: Kernel,
    tree: Tree,
    targets: NDArray[np.float64] | None,
    weights: NDArray[np.float64],
    eps: float,
    *,
    floor: float,
    plan: Plan,
    progress=None,
) -> NDArray[np.float64]:
    """Kernel sums with the points of `tree` as sources, see `sums_at`; weights and results are in
    the original order.

    `targets` None means the sources.
    """
    sources = prepare(kernel, tree, weights[tree.order], plan)
    target_tree = tree if targets is None else build_tree(targets)
    units = target_units(target_tree, kernel.inverse_sigma, plan.radius)
    sums = np.empty(target_tree.order.size)
    sums[target_tree.order] = sums_at(kernel, sources, units, eps, floor=floor, progress=progress)
    return sums


def tree_degrees(
    kernel: Kernel,
    tree: Tree,
    eps: float,
    *,
    plan: Plan,
    at: NDArray[np.int64] | None = None,
    progress=None,
) -> NDArray[np.float64]:
    """Return ``sum_{j != i} k(x_i, x_j)`` for all points i of the tree, in its order, or for those
    at the positions `at`, each at most once.
    """
    sources = prepare(kernel, tree, np.ones(len(tree.points)), plan)
    if at is None:
        units = target_units(tree, kernel.inverse_sigma, plan.radius)
    else:
        units = Targets(tree.points, tree.columns, at, at + 1, tree.points[at], tree.points[at])
    sums = sums_at(kernel, sources, units, eps, exclude_self=True, progress=progress)
    sums = np.maximum(sums, 0.0)
    return sums if at is None else sums[at]
