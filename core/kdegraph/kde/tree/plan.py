"""How a kernel sum will be computed: the groups of points, the order of expansions, the cost.

Costs are rough, in nanoseconds of one core: they decide between methods, never about results.
"""

import math
from dataclasses import dataclass

import numpy as np

from kdegraph.geometry.kernels import GAUSSIAN, exp_neg
from kdegraph.geometry.tree import Tree, box_distances
from kdegraph.kde.expansions import simplex, tensor
from kdegraph.kde.expansions import taylor as expansions
from kdegraph.runtime.jit import jit

SMALL = 64  # points of a group that need not be divided further, however wide
# Targets in wider groups (in units of sigma) are treated one by one: bounds for the group would be
# too loose.
WIDE = 1.0
# Groups up to this radius may be expanded (in units of sigma): small ones are not divided further.
LOOSE = 1.5
SAMPLE, VISITS = (
    32,
    60_000,
)  # groups on which the cost of a plan is estimated, and pairs of groups for that
RADII = (
    0.0,
    0.12,
    0.18,
    0.25,
    0.35,
    0.5,
    0.7,
    1.0,
)  # candidates for the radius of a group, in units of sigma

PAIR, PAIR_DIM = 1.2, 0.35  # a kernel value of a few, and what each dimension adds
VISIT, VISIT_DIM = (
    120.0,
    24.0,
)  # a pair of nodes looked at, for a bound and for the sum, and what each dimension adds
PRODUCT, TRANSLATION = (
    {True: 0.3, False: 0.8},
    100.0,
)  # a product of a translation (tensor or not), and what comes on top
POINT_DIM = 25.0  # derivatives in one dimension, on top of the products
DIRECT, TRANSLATE, FIELD, SOURCES = range(4)  # how a pair of groups is summed, see `choose`
TERM = 0.7  # a term of an expansion at a point


@dataclass(frozen=True)
class Groups:
    """A partition of a tree's points into nodes: those of at most `radius`, as large as possible,
    or small ones.

    `radii` are half the diagonals of the nodes' boxes, in units of sigma.
    """

    nodes: np.ndarray
    radii: np.ndarray

    @classmethod
    def of(cls, tree: Tree, inverse_sigma, radius):
        """The groups of `tree`, from left to right."""
        nodes, radii = (
            np.empty(2 ** (tree.n_levels - 1), np.int64),
            np.empty(2 ** (tree.n_levels - 1)),
        )
        count = _collect_groups(
            tree.low, tree.high, tree.start, tree.stop, inverse_sigma, radius, nodes, radii
        )
        return cls(nodes[:count].copy(), radii[:count].copy())

    @property
    def expandable(self):
        """Which groups are narrow enough for expansions."""
        return self.radii <= LOOSE

    @property
    def wide(self):
        """Which groups are so wide that their targets are treated one by one."""
        return self.radii > WIDE


@jit
def _collect_groups(low, high, start, stop, inverse_sigma, radius, nodes, radii):
    count, top = 0, 0
    stack = np.zeros(64, np.int64)
    while top >= 0:
        node = stack[top]
        top -= 1
        squares = 0.0
        for c in range(low.shape[1]):
            half = (high[node, c] / 2 - low[node, c] / 2) * inverse_sigma
            squares += half * half
        if (
            squares <= radius * radius
            or stop[node] - start[node] <= SMALL
            or 2 * node + 2 >= start.size
        ):
            nodes[count], radii[count] = node, math.sqrt(squares)
            count += 1
            continue
        stack[top + 1], stack[top + 2] = 2 * node + 2, 2 * node + 1
        top += 2
    return count


@dataclass(frozen=True)
class Plan:
    """Radius of groups in units of sigma (0: small groups only), order of expansions (1: none),
    estimated cost in ns of one core.
    """

    radius: float
    order: int
    cost: float


def order_costs(d):
    """Cost of a translation, and of an expansion at a single point, for every order from 0 to
    `expansions.max_order`; (2, order + 1).
    """
    orders = range(1, expansions.max_order(d) + 1)
    product = PRODUCT[expansions.is_tensor(d)]
    per_term = (
        0.0 if expansions.is_tensor(d) else TERM * d
    )  # a simplex forms its products over the dimensions term by term
    derivatives = [POINT_DIM * d + per_term * expansions.count_terms(d, order) for order in orders]
    translations = [
        TRANSLATION + x + product * expansions.count_products(d, q)
        for q, x in zip(orders, derivatives, strict=True)
    ]
    points = [
        x + product * expansions.count_terms(d, q) for q, x in zip(orders, derivatives, strict=True)
    ]
    return np.array([[math.inf, *translations], [math.inf, *points]])


@jit
def choose(
    count, size, moments, allowed, z, target_half, source_half, top, costs, tensor_terms, room, sqrt
):
    """How to sum `size` sources at `count` targets with an error of at most `allowed` per unit of
    weight.

    `z` is the vector between the centers, `target_half` and `source_half` are the half widths of
    the boxes, all in units of sigma; `moments` tells whether the sources have them. Ways: `DIRECT`;
    `TRANSLATE` the moments into the targets' local expansion; evaluate the `FIELD` of the moments
    at every target; add the `SOURCES` one by one to the local expansion.

    Returns
    -------
    way, order, cost
    """
    d = z.size
    way, order, cost = DIRECT, 0, (PAIR + PAIR_DIM * d) * count * size
    for candidate in (TRANSLATE, FIELD, SOURCES):
        if (candidate != SOURCES and not moments) or (candidate != FIELD and count == 1):
            continue
        factor = 1 if candidate == TRANSLATE else count if candidate == FIELD else size
        least = costs[0, 2] if candidate == TRANSLATE else factor * costs[1, 2]
        if least >= cost:
            continue
        reach, apart = room[0], room[1]
        for c in range(d):
            # Points that meet an expansion one by one are where they are: the nearest place in
            # their box counts.
            reach[c], apart[c] = 0.0, abs(z[c])
            if candidate == FIELD:
                apart[c] = max(apart[c] - target_half[c], 0.0)
            else:
                reach[c] += target_half[c]
            if candidate == SOURCES:
                apart[c] = max(apart[c] - source_half[c], 0.0)
            else:
                reach[c] += source_half[c]
        if tensor_terms:
            q = tensor.needed_order(allowed, apart, reach, top, sqrt)
        else:
            q = simplex.needed_order(allowed, apart, reach, top, sqrt)
        price = factor * costs[0 if candidate == TRANSLATE else 1, q]
        if price < cost:
            way, order, cost = candidate, q, price
    return way, order, cost


def choose_plan(kernel, tree, eps, n_targets, *, expand=True):
    """The plan of least estimated cost for `n_targets` targets that are spread like the sources.

    For a few groups taken as targets, the work that the traversal would do with every other group
    is added up.
    """
    n, d = tree.points.shape
    expand = expand and kernel.code == GAUSSIAN and expansions.max_order(d) > 1
    costs = order_costs(d)
    best, before = Plan(0.0, 1, math.inf), None
    for radius in RADII:
        groups = Groups.of(tree, kernel.inverse_sigma, radius)
        if radius > 0 and (
            not groups.expandable.any()
            or (before is not None and np.array_equal(groups.nodes, before))
        ):
            continue
        before = groups.nodes if radius > 0 else None
        picked = np.linspace(
            0,
            groups.nodes.size - 1,
            min(SAMPLE, max(4, VISITS // groups.nodes.size), groups.nodes.size),
        ).astype(int)
        cost, order = _estimate(
            kernel.code, kernel.inverse_sigma, picked, groups.nodes, groups.expandable, groups.wide,
            tree.low, tree.high, tree.start, tree.stop, eps, expand and radius > 0, expansions.is_tensor(d), costs, expansions.SQRT,
        )  # fmt: skip
        order = int(min(order + 2, expansions.max_order(d))) if order > 1 else 1
        cost *= n_targets / picked.size
        if order > 1:
            cost += TERM * expansions.count_terms(d, order) * (n + n_targets)
        if cost < best.cost:
            best = Plan(radius, order, cost)
    return best


@jit
def _estimate(
    code,
    scale,
    picked,
    nodes,
    expandable,
    wide,
    low,
    high,
    start,
    stop,
    eps,
    expand,
    tensor_terms,
    costs,
    sqrt,
):
    """Cost per target, summed over the `picked` groups, and the highest order taken."""
    d = low.shape[1]
    z, room, target_half, source_half = np.empty(d), np.empty((2, d)), np.empty(d), np.empty(d)
    total, highest = 0.0, 1
    top = costs.shape[1] - 1
    for t in picked:
        target = nodes[t]
        size = stop[target] - start[target]
        mass = 0.0
        for node in nodes:
            least, most = box_distances(code, scale, low, high, target, low, high, node)
            mass += (stop[node] - start[node]) * exp_neg(0.5 * (least + most))
        share = 0.5 * eps * mass / stop[0]
        work = 0.0
        for k in range(nodes.size):
            node = nodes[k]
            least, most = box_distances(code, scale, low, high, target, low, high, node)
            if exp_neg(least) <= share:
                continue
            work += (VISIT + VISIT_DIM * d) * (size if wide[t] else 1)
            count = stop[node] - start[node]
            if not expand:
                work += (PAIR + PAIR_DIM * d) * size * count
                continue
            for c in range(d):
                target_half[c] = (high[target, c] - low[target, c]) * 0.5 * scale
                source_half[c] = (high[node, c] - low[node, c]) * 0.5 * scale
                z[c] = (low[target, c] - low[node, c]) * scale + target_half[c] - source_half[c]
            allowed = 0.5 * eps * exp_neg(most) + share
            way, order, cost = choose(
                size,
                count,
                expandable[k],
                allowed,
                z,
                target_half,
                source_half,
                top,
                costs,
                tensor_terms,
                room,
                sqrt,
            )
            work += cost
            if way != DIRECT:
                highest = max(highest, order)
        total += work / size
    return total, highest
