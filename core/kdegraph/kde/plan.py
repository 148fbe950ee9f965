"""How a kernel sum will be computed: the groups of points, the order of expansions, the cost.

Costs are rough, in nanoseconds of one core: they decide between methods, never about results.
"""

import math
from dataclasses import dataclass

import numpy as np

from .._jit import jit
from ..kernels import GAUSSIAN, exp_neg
from ..tree import Tree, box_distances
from . import expansions, simplex, tensor

SMALL = 64  # points of a group that need not be divided further, however wide
WIDE = 1.0  # targets in wider groups (in units of sigma) are treated one by one: bounds for the group would be too loose
SAMPLE = 32  # groups on which the cost of a plan is estimated
RADII = (0.0, 0.12, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0)  # candidates for the radius of a group, in units of sigma

PAIR, PAIR_DIM = 1.2, 0.35  # a kernel value, and what each dimension adds
VISIT = 100.0  # a pair of nodes looked at
PRODUCT, TRANSLATION = {True: 0.3, False: 0.8}, 150.0  # a product of a translation (tensor or not), and what comes on top
TERM = 0.7  # a term of an expansion at a point


def pair_cost(d):
    """Cost of one kernel value."""
    return PAIR + PAIR_DIM * d


@dataclass(frozen=True)
class Groups:
    """A partition of a tree's points into nodes: those of at most `radius`, as large as possible, or small ones."""

    nodes: np.ndarray
    tight: np.ndarray

    @classmethod
    def of(cls, tree: Tree, radii, radius):
        """The groups of `tree`, whose nodes have half diagonals `radii`."""
        n_nodes = radii.size
        tight = radii <= radius
        small = tree.stop - tree.start <= SMALL
        ends = tight | small
        ends[tree.first_leaf :] = True
        inside = np.zeros(n_nodes, bool)  # below a group
        for level in range(1, tree.n_levels):
            nodes = np.arange(2**level - 1, 2 ** (level + 1) - 1)
            parents = (nodes - 1) // 2
            inside[nodes] = inside[parents] | ends[parents]
        nodes = np.flatnonzero(ends & ~inside)
        nodes = nodes[np.argsort(tree.start[nodes])]
        return cls(nodes, tight[nodes])


@dataclass(frozen=True)
class Plan:
    """Radius of groups in units of sigma (0: small groups only), order of expansions (1: none), estimated cost in ns of one core."""

    radius: float
    order: int
    cost: float


def translation_costs(d):
    """Cost of a translation for every order from 0 to `expansions.max_order`."""
    products = [expansions.count_products(d, order) for order in range(1, expansions.max_order(d) + 1)]
    return TRANSLATION + PRODUCT[expansions.is_tensor(d)] * np.array([0, *products], dtype=float)


def choose_plan(kernel, tree, eps, n_targets, *, expand=True):
    """The plan of least estimated cost for `n_targets` targets that are spread like the sources.

    For a few groups taken as targets, the work that the traversal would do with every other group is added up.
    """
    n, d = tree.points.shape
    radii = tree.radii(kernel.inverse_sigma)
    expand = expand and kernel.code == GAUSSIAN
    costs = translation_costs(d)
    best = Plan(0.0, 1, math.inf)
    for radius in RADII:
        groups = Groups.of(tree, radii, radius)
        if radius and not groups.tight.any():
            continue
        picked = np.linspace(0, groups.nodes.size - 1, min(SAMPLE, groups.nodes.size)).astype(int)
        cost, order = _estimate(
            kernel.code, kernel.inverse_sigma, picked, groups.nodes, groups.tight, tree.low, tree.high, tree.start, tree.stop,
            eps, expand and radius > 0, expansions.is_tensor(d), costs, expansions.SQRT,
        )  # fmt: skip
        order = int(min(order + 2, expansions.max_order(d))) if order > 1 else 1
        cost *= n_targets / picked.size
        if order > 1:
            cost += TERM * expansions.count_terms(d, order) * (n + n_targets)
        if cost < best.cost:
            best = Plan(radius, order, cost)
    return best


@jit
def _estimate(code, scale, picked, nodes, tight, low, high, start, stop, eps, expand, tensor_terms, costs, sqrt):
    """Cost per target, summed over the `picked` groups, and the highest order taken.

    The cost is infinite where large groups would be left to direct sums.
    """
    d = low.shape[1]
    z, r = np.empty(d), np.empty(d)
    total, highest = 0.0, 1
    n = stop[0]
    for t in picked:
        target = nodes[t]
        size = stop[target] - start[target]
        mass = 0.0
        for node in nodes:
            least, most = box_distances(code, scale, low, high, target, low, high, node)
            mass += (stop[node] - start[node]) * exp_neg(0.5 * (least + most))
        share = 0.5 * eps * mass / n
        work = 0.0
        for k in range(nodes.size):
            node = nodes[k]
            least, most = box_distances(code, scale, low, high, target, low, high, node)
            if exp_neg(least) <= share:
                continue
            count = stop[node] - start[node]
            cost = (PAIR + PAIR_DIM * d) * size * count
            if expand and tight[t] and tight[k]:
                for c in range(d):
                    z[c] = ((low[node, c] - low[target, c]) + (high[node, c] - high[target, c])) * 0.5 * scale
                    r[c] = ((high[node, c] - low[node, c]) + (high[target, c] - low[target, c])) * 0.5 * scale
                allowed = 0.5 * eps * exp_neg(most) + share
                top = costs.size - 1
                order = tensor.needed_order(allowed, z, r, top, sqrt) if tensor_terms else simplex.needed_order(allowed, z, r, top, sqrt)
                if order == 0 and count > SMALL and size > SMALL:
                    return np.inf, 1
                if order > 1 and costs[order] < cost:
                    cost = costs[order]
                    highest = max(highest, order)
            work += cost + VISIT
        total += work / size
    return total, highest
