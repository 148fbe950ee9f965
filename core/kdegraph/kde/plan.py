"""How a kernel sum will be computed: the groups of points, the order of expansions, the cost.

Costs are rough, in nanoseconds of one core: they decide between methods, never about results.
"""

import math
from dataclasses import dataclass

import numpy as np

from ..kernels import GAUSSIAN
from ..tree import Tree
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


def choose_plan(kernel, tree, eps, n_targets, *, expand=True):
    """The plan of least estimated cost for `n_targets` targets that are spread like the sources.

    For a few groups taken as targets, the work that the traversal would do with every other group is added up.
    """
    n, d = tree.points.shape
    radii = tree.radii(kernel.inverse_sigma)
    expand = expand and kernel.code == GAUSSIAN
    best = Plan(0.0, 1, math.inf)
    for radius in RADII:
        groups = Groups.of(tree, radii, radius)
        if radius and not groups.tight.any():
            continue
        picked = np.linspace(0, groups.nodes.size - 1, min(SAMPLE, groups.nodes.size)).astype(int)
        size = (tree.stop - tree.start)[groups.nodes]
        cost, order = 0.0, 1
        for k in picked:
            with np.errstate(over="ignore", invalid="ignore"):
                work, highest = _work(kernel, tree, groups, k, eps, expand and radius > 0)
            cost += work / size[k]
            order = max(order, highest)
        order = min(order + 2, expansions.max_order(d)) if order > 1 else 1
        cost *= n_targets / picked.size
        if order > 1:
            cost += TERM * expansions.count_terms(d, order) * (n + n_targets)
        if cost < best.cost:
            best = Plan(radius, order, cost)
    return best


def _work(kernel, tree, groups, k, eps, expand):
    """Cost of the sums at the k-th group, and the highest order taken; infinite where large groups would be left to direct sums."""
    n, d = tree.points.shape
    nodes = groups.nodes
    low, high = tree.low[nodes] * kernel.inverse_sigma, tree.high[nodes] * kernel.inverse_sigma
    count = (tree.stop - tree.start)[nodes].astype(float)
    half = (high - low) / 2
    offset, reach = (low + half) - (low[k] + half[k]), half + half[k]
    gap = np.maximum(np.abs(offset) - reach, 0.0)
    share = 0.5 * eps * (count @ np.exp(-_exponents(kernel, offset))) / n
    near = np.exp(-_exponents(kernel, gap)) > share
    work = pair_cost(d) * count[k] * count[near]
    highest = 1
    if expand and groups.tight[k]:
        bounds = tensor if expansions.is_tensor(d) else simplex
        allowed = 0.5 * eps * np.exp(-_exponents(kernel, np.abs(offset[near]) + reach[near])) + share
        order = bounds.needed_orders(allowed, offset[near], reach[near], expansions.max_order(d))
        tight = groups.tight[near]
        if (order[tight & (count[near] > SMALL)] == 0).any():
            return math.inf, 1
        cost = np.array([expansions.count_products(d, q) for q in range(order.max(initial=0) + 1)]) * PRODUCT[expansions.is_tensor(d)]
        translation = np.where(tight & (order > 0), TRANSLATION + cost[order], math.inf)
        highest = order[translation < work].max(initial=1)
        work = np.minimum(work, translation)
    return work.sum() + VISIT * near.sum(), highest


def _exponents(kernel, offset):
    """Exponents of the kernel for the rows of `offset`, in units of sigma."""
    if kernel.name == "laplacian":
        return np.abs(offset).sum(axis=1)
    squares = (offset * offset).sum(axis=1)
    return squares if kernel.name == "gaussian" else np.sqrt(squares)
