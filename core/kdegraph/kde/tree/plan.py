"""How a kernel sum on the tree will be computed: the groups of points, the order of expansions.

The plan of least estimated cost is taken. Costs are rough, in nanoseconds of one core: they decide
between methods, never about results.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.costs import TREE_COSTS
from kdegraph.geometry.boxes import box_distances, squared_radius
from kdegraph.geometry.kernels import GAUSSIAN, Kernel, exp_neg
from kdegraph.geometry.tree import Tree
from kdegraph.kde.expansions import indices as expansions
from kdegraph.kde.expansions.taylor import needed_order
from kdegraph.runtime.jit import jit

# Points: a node of at most as many is a group, however wide it is.
SMALL_GROUP = 64

# In units of sigma. The targets in groups with a larger radius are treated one by one, as bounds
# for the whole group would be too loose.
WIDE_RADIUS = 1.0

# In units of sigma. Groups with a larger radius are not expanded; these are small groups, which are
# not divided further.
EXPANDABLE_RADIUS = 1.5

# Radii of groups that are considered, in units of sigma; 0 for small groups only.
GROUP_RADII = (0.0, 0.12, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0)

# Groups of targets on which the cost of a plan is estimated. With four of them it was up to 6 times
# too low where density is uneven, as the least of several estimates is taken. With these, all
# estimates take about a hundredth of the sum over 1,000,000 points in five dimensions.
PLAN_TARGETS = 32

# Ways to sum over a pair of groups, see `choose_way`.
DIRECT = 0
TRANSLATE = 1
FIELD = 2
ADD_SOURCES = 3


@dataclass(frozen=True)
class Plan:
    """How to compute a kernel sum on the tree.

    Attributes
    ----------
    radius : float
        Largest radius of a group in units of sigma; 0 for small groups only.
    order : int
        Order of expansions; 1 for none.
    cost : float
        Estimated cost in ns of one core.
    """

    radius: float
    order: int
    cost: float


class Partition(NamedTuple):
    """A partition of a tree's points into groups, which are nodes of the tree.

    Attributes
    ----------
    nodes : (n_groups,) int64
        From left to right.
    radii : (n_groups,) float64
        Half the diagonals of the nodes' boxes, in units of sigma.
    """

    nodes: NDArray[np.int64]
    radii: NDArray[np.float64]

    @classmethod
    def of(cls, tree: Tree, inverse_sigma: float, radius: float) -> "Partition":
        """The largest nodes of at most this radius, and small ones, see `SMALL_GROUP`."""
        n_leaves = 2 ** (tree.n_levels - 1)
        nodes, radii = np.empty(n_leaves, np.int64), np.empty(n_leaves)
        count = _collect_groups(tree, inverse_sigma, radius, nodes, radii)
        return cls(nodes[:count].copy(), radii[:count].copy())

    @property
    def expandable(self) -> NDArray[np.bool_]:
        """Which groups are narrow enough for expansions."""
        return self.radii <= EXPANDABLE_RADIUS

    @property
    def wide(self) -> NDArray[np.bool_]:
        """Which groups are so wide that their targets are treated one by one."""
        return self.radii > WIDE_RADIUS


@jit
def _collect_groups(tree, inverse_sigma, radius, nodes, radii):
    """Write the groups to `nodes` and `radii`; return how many there are."""
    count, top = 0, 0
    stack = np.zeros(64, np.int64)
    while top >= 0:
        node = stack[top]
        top -= 1
        squared = squared_radius(tree, node, inverse_sigma)
        leaf = 2 * node + 2 >= tree.start.size
        if squared <= radius * radius or tree.stop[node] - tree.start[node] <= SMALL_GROUP or leaf:
            nodes[count], radii[count] = node, math.sqrt(squared)
            count += 1
            continue
        stack[top + 1], stack[top + 2] = 2 * node + 2, 2 * node + 1
        top += 2
    return count


class ExpansionCosts(NamedTuple):
    """Costs of expansions in ns, by their order.

    Attributes
    ----------
    is_tensor : bool
        The kind of the expansions, see `MultiIndices`.
    translation, point : (max_order + 1,) float64
        A translation, and an expansion at a single point; infinite for order 0.
    """

    is_tensor: bool
    translation: NDArray[np.float64]
    point: NDArray[np.float64]


def expansion_costs(d: int) -> ExpansionCosts:
    """The costs of expansions in `d` dimensions of every order up to the largest one."""
    orders = range(1, expansions.max_order(d) + 1)
    is_tensor = expansions.is_tensor(d)
    product = TREE_COSTS.tensor_product if is_tensor else TREE_COSTS.simplex_product
    # A simplex forms its products over the dimensions term by term.
    per_term = 0.0 if is_tensor else TREE_COSTS.term * d
    translation, point = [math.inf], [math.inf]
    for order in orders:
        n_terms = expansions.count_terms(d, order)
        derivatives = TREE_COSTS.derivatives_per_dimension * d + per_term * n_terms
        n_products = expansions.count_products(d, order)
        translation.append(TREE_COSTS.translation + derivatives + product * n_products)
        point.append(derivatives + product * n_terms)
    return ExpansionCosts(is_tensor, np.array(translation), np.array(point))


class PairGeometry(NamedTuple):
    """Where a box of targets and a box of sources lie, in units of sigma; all are (d,) float64.

    Attributes
    ----------
    offset
        From the center of the sources to that of the targets.
    target_half, source_half
        Half the widths of the boxes.
    distance, reach
        Of the expansion that is considered: the distance between its centers, and how far points
        may be from these.
    """

    offset: NDArray[np.float64]
    target_half: NDArray[np.float64]
    source_half: NDArray[np.float64]
    distance: NDArray[np.float64]
    reach: NDArray[np.float64]


@jit
def pair_geometry(d):
    """A `PairGeometry` to be filled."""
    return PairGeometry(np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty(d))


@jit(borrow=True)
def choose_way(n_targets, n_sources, has_moments, allowed, pair, order, costs):
    """The way to sum over a pair of groups that costs least, with an error of at most `allowed` for
    each unit of weight.

    The ways are: `DIRECT`, all pairs of points; `TRANSLATE` the moments of the sources into the
    local expansion of the targets; evaluate the `FIELD` of the moments at every target; add the
    `ADD_SOURCES` one by one to the local expansion. `has_moments` tells whether the sources have
    moments, `order` is the largest one of expansions.

    Returns
    -------
    way : int
    order : int
        Of the expansion.
    cost : float
        In ns.
    """
    d = pair.offset.size
    per_pair = TREE_COSTS.pair + TREE_COSTS.pair_per_dimension * d
    way, least_order, cost = DIRECT, 0, per_pair * n_targets * n_sources
    for candidate in (TRANSLATE, FIELD, ADD_SOURCES):
        if (candidate != ADD_SOURCES and not has_moments) or (
            candidate != FIELD and n_targets == 1
        ):
            continue
        by_order = costs.translation if candidate == TRANSLATE else costs.point
        times = 1 if candidate == TRANSLATE else n_targets if candidate == FIELD else n_sources
        if times * by_order[2] >= cost:
            continue
        _set_reach(candidate, pair)
        q = needed_order(allowed, pair.distance, pair.reach, order, costs.is_tensor)
        price = times * by_order[q]
        if price < cost:
            way, least_order, cost = candidate, q, price
    return way, least_order, cost


@jit(inline=True, borrow=True)
def _set_reach(way, pair):
    """Set `distance` and `reach` for a way to expand.

    Points that meet an expansion one by one do so where they are: the place in their box that is
    nearest to the other center counts.
    """
    for c in range(pair.offset.size):
        reach, distance = 0.0, abs(pair.offset[c])
        if way == FIELD:
            distance = max(distance - pair.target_half[c], 0.0)
        else:
            reach += pair.target_half[c]
        if way == ADD_SOURCES:
            distance = max(distance - pair.source_half[c], 0.0)
        else:
            reach += pair.source_half[c]
        pair.reach[c], pair.distance[c] = reach, distance


def choose_plan(
    kernel: Kernel, tree: Tree, eps: float, n_targets: int, *, expand: bool = True
) -> Plan:
    """The plan of least estimated cost for `n_targets` targets that are spread like the sources.

    For a few groups taken as targets, the work that the traversal would do with every other group
    is added up. `expand` False excludes expansions.
    """
    n, d = tree.points.shape
    max_order = expansions.max_order(d)
    expand = expand and kernel.code == GAUSSIAN and max_order > 1
    costs = expansion_costs(d)
    best, previous = Plan(0.0, 1, math.inf), None
    for radius in GROUP_RADII:
        groups = Partition.of(tree, kernel.inverse_sigma, radius)
        known = previous is not None and np.array_equal(groups.nodes, previous)
        if radius > 0 and (known or not groups.expandable.any()):
            continue
        previous = groups.nodes if radius > 0 else None
        n_groups = groups.nodes.size
        n_picked = min(PLAN_TARGETS, n_groups)
        picked = np.linspace(0, n_groups - 1, n_picked).astype(int)
        order = max_order if expand and radius > 0 else 1
        per_target, order = _estimate(
            kernel.code, kernel.inverse_sigma, tree, groups, picked, eps, order, costs
        )
        # The estimate has seen a few groups only: others may need a little more.
        order = min(order + 2, max_order) if order > 1 else 1
        cost = per_target * (n_targets / n_picked)
        if order > 1:
            cost += TREE_COSTS.term * expansions.count_terms(d, order) * (n + n_targets)
        if cost < best.cost:
            best = Plan(radius, order, cost)
    return best


@jit
def _estimate(code, inverse_sigma, tree, groups, picked, eps, max_order, costs):
    """Cost per target, summed over the `picked` groups, and the highest order taken."""
    pair = pair_geometry(tree.low.shape[1])
    total, highest = 0.0, 1
    for k in picked:
        target = groups.nodes[k]
        mass = 0.0
        for node in groups.nodes:
            least, most = box_distances(code, inverse_sigma, tree, target, tree, node)
            mass += (tree.stop[node] - tree.start[node]) * exp_neg(0.5 * (least + most))
        share = 0.5 * eps * mass / tree.stop[0]
        work, order = _estimate_group(
            code, inverse_sigma, tree, groups, k, eps, share, max_order, costs, pair
        )
        total += work / (tree.stop[target] - tree.start[target])
        highest = max(highest, order)
    return total, highest


@jit(borrow=True)
def _estimate_group(code, inverse_sigma, tree, groups, k, eps, share, max_order, costs, pair):
    """Cost of group `k` as targets, and the highest order taken, where nodes may be left out whose
    largest kernel value is at most `share`.
    """
    d = tree.low.shape[1]
    target = groups.nodes[k]
    size = tree.stop[target] - tree.start[target]
    visits = size if groups.radii[k] > WIDE_RADIUS else 1
    work, highest = 0.0, 1
    for p in range(groups.nodes.size):
        node = groups.nodes[p]
        least, most = box_distances(code, inverse_sigma, tree, target, tree, node)
        if exp_neg(least) <= share:
            continue
        work += (TREE_COSTS.visit + TREE_COSTS.visit_per_dimension * d) * visits
        count = tree.stop[node] - tree.start[node]
        if max_order == 1:
            work += (TREE_COSTS.pair + TREE_COSTS.pair_per_dimension * d) * size * count
            continue
        for c in range(d):
            target_half = (tree.high[target, c] - tree.low[target, c]) * 0.5 * inverse_sigma
            source_half = (tree.high[node, c] - tree.low[node, c]) * 0.5 * inverse_sigma
            offset = (tree.low[target, c] - tree.low[node, c]) * inverse_sigma
            pair.offset[c] = offset + target_half - source_half
            pair.target_half[c], pair.source_half[c] = target_half, source_half
        allowed = 0.5 * eps * exp_neg(most) + share
        expandable = groups.radii[p] <= EXPANDABLE_RADIUS
        way, order, cost = choose_way(size, count, expandable, allowed, pair, max_order, costs)
        work += cost
        if way != DIRECT:
            highest = max(highest, order)
    return work, highest
