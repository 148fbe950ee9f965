"""Choose the groups of points for a kernel sum on the tree.

The plan of least estimated cost is taken. Costs are rough, in nanoseconds of one core: they decide
between methods, and never change results.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.costs import TREE_COSTS
from kdegraph.geometry.boxes import box_exponents
from kdegraph.geometry.kernel_functions import exp_neg
from kdegraph.geometry.kernels import Kernel
from kdegraph.geometry.tree import Tree
from kdegraph.runtime.jit import jit

# Points: a node of at most as many is a group, however wide it is.
SMALL_GROUP = 64

# In units of sigma. The targets in groups with a larger radius are treated one by one, as bounds
# for the whole group would be too loose.
WIDE_RADIUS = 1.0

# Radii of groups that are considered, in units of sigma; 0 for small groups only.
GROUP_RADII = (0.0, 0.12, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0)


@dataclass(frozen=True)
class Plan:
    """The groups of a kernel sum on the tree."""

    radius: float  # largest radius of a group in units of sigma; 0 for small groups only
    cost: float  # estimated cost in ns of one core


class Partition(NamedTuple):
    """A partition of a tree's points into groups, which are nodes of the tree."""

    nodes: NDArray[np.int64]  # (n_groups,): from left to right
    # (n_groups,): half the diagonals of the nodes' boxes, in units of sigma
    radii: NDArray[np.float64]

    @classmethod
    def of(cls, tree: Tree, inverse_sigma: float, radius: float) -> "Partition":
        """Return the largest nodes of at most this radius, and small ones, see `SMALL_GROUP`."""
        radii = tree.radii(inverse_sigma)
        groups = (radii <= radius) | (tree.stop - tree.start <= SMALL_GROUP)
        groups[tree.first_leaf :] = True
        nodes = tree.largest_nodes(groups)
        return cls(nodes, radii[nodes])


def choose_plan(kernel: Kernel, tree: Tree, eps: float, n_targets: int) -> Plan:
    """Choose the plan of least estimated cost for `n_targets` targets that are spread like the
    sources.

    For a few groups taken as targets, the work that the traversal would do with every other group
    is added up.
    """
    best, previous = Plan(0.0, math.inf), None
    for radius in GROUP_RADII:
        groups = Partition.of(tree, kernel.inverse_sigma, radius)
        if previous is not None and np.array_equal(groups.nodes, previous):
            continue
        previous = groups.nodes
        # With four groups of targets the cost was up to 6 times too low where density is uneven, as
        # the least of several estimates is taken. With 32, all estimates take about a hundredth of
        # the sum over 1,000,000 points in five dimensions.
        picked = np.linspace(0, previous.size - 1, min(32, previous.size)).astype(int)
        per_target = _estimate(kernel.code, kernel.inverse_sigma, tree, groups, picked, eps)
        cost = per_target * (n_targets / picked.size)
        if cost < best.cost:
            best = Plan(radius, cost)
    return best


@jit
def _estimate(code, inverse_sigma, tree, groups, picked, eps):
    """Return the cost per target, summed over the `picked` groups."""
    total = 0.0
    for k in picked:
        target = groups.nodes[k]
        mass = 0.0
        for node in groups.nodes:
            least, most = box_exponents(code, inverse_sigma, tree, target, tree, node)
            mass += (tree.stop[node] - tree.start[node]) * exp_neg(0.5 * (least + most))
        share = 0.5 * eps * mass / tree.stop[0]
        work = _estimate_group(code, inverse_sigma, tree, groups, k, share)
        total += work / (tree.stop[target] - tree.start[target])
    return total


@jit(borrow=True)
def _estimate_group(code, inverse_sigma, tree, groups, k, share):
    """Return the cost of group `k` as targets if kernel values up to `share` may be skipped."""
    d = tree.low.shape[1]
    target = groups.nodes[k]
    size = tree.stop[target] - tree.start[target]
    visits = size if groups.radii[k] > WIDE_RADIUS else 1
    work = 0.0
    for node in groups.nodes:
        least, _ = box_exponents(code, inverse_sigma, tree, target, tree, node)
        if exp_neg(least) > share:
            count = tree.stop[node] - tree.start[node]
            work += (TREE_COSTS.visit + TREE_COSTS.visit_per_dimension * d) * visits
            work += (TREE_COSTS.pair + TREE_COSTS.pair_per_dimension * d) * size * count
    return work
