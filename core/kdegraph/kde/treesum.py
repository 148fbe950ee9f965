"""Kernel sums by a tree over the sources: distant nodes are left out, narrow ones lumped, Gaussian groups expanded, the rest summed directly.

For a target group T every source node S is treated with an error of at most ``|W_S| (a min k(T, S) + b G / |W|)``, where ``|W_S|`` is the node's sum of absolute
weights, ``G`` a lower bound of ``sum_j |w_j| k(y, x_j)`` over the targets y in T, and ``|W|`` the sum of all absolute weights. Summed over S this is at most ``(a + b)`` times
the sum of absolute contributions: the guarantee is relative at every target. Pruning at a fixed exponent adds `floor` times ``|W|``.
"""

import math
from dataclasses import dataclass

import numpy as np

from .. import parallel
from .._jit import jit
from ..kernels import GAUSSIAN, UNDERFLOW, exp_neg, exponents
from ..tree import Tree, box_distances, build_tree
from . import expansions
from .direct import BLOCK, direct_sums

SMALL = 64  # a source node of at most so many points is summed directly rather than divided
WIDE = 1.0  # targets in wider groups (in units of sigma) are treated one by one: bounds for the group would be too loose
SAMPLE = 32  # groups on which the cost of a radius is estimated
RADII = (0.0, 0.12, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0)  # candidates for the radius of a group, in units of sigma

# Rough costs on one core, in nanoseconds; they decide between methods, never about results.
PAIR, PAIR_DIM, VISIT, PRODUCT, TERM = 1.2, 0.35, 25.0, 0.8, 0.7


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
class Sources:
    """Source tree with what the sums need of it: weights in its order, masses of nodes, groups, moments."""

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
    """Sums of `weights` over the points of every node, added up from the leaves (a running sum would lose the small ones)."""
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
    order = plan.order
    groups = Groups.of(tree, tree.radii() * kernel.inverse_sigma, plan.radius)
    table = expansions.tables(d) if order > 1 else expansions.tables(1)
    is_group = np.zeros(tree.start.size, bool)
    is_group[groups.nodes] = True
    moment_row = np.full(tree.start.size, -1, np.int64)
    expanded = groups.nodes[groups.tight & (tree.stop[groups.nodes] - tree.start[groups.nodes] > 4)] if order > 1 else groups.nodes[:0]
    moment_row[expanded] = np.arange(expanded.size)
    moments = np.zeros((expanded.size, table.n_terms[min(order, table.order)] if expanded.size else 1))
    parallel.run(
        _moments_range, expanded.size, expanded, tree.columns, weights, tree.start, tree.stop, tree.low, tree.high, kernel.inverse_sigma,
        table.parent, table.axis, table.inverse_factorial, moments,
    )  # fmt: skip
    totals = _node_totals(tree, weights)
    mass = _node_totals(tree, np.abs(weights)) if (weights < 0).any() else totals
    return Sources(kernel, tree, weights, totals, mass, is_group, moment_row, moments, table)


@jit
def _moments_range(begin, end, nodes, columns, weights, start, stop, low, high, scale, parent, axis, inverse_factorial, moments):
    room = np.empty((moments.shape[1], expansions.BLOCK))
    for k in range(begin, end):
        node = nodes[k]
        center = low[node] + (high[node] - low[node]) / 2
        expansions.add_moments(columns, weights, start[node], stop[node], center, scale, parent, axis, inverse_factorial, room, moments[k])


@dataclass(frozen=True)
class Plan:
    """Radius of the groups in units of sigma (0: small groups only), order of their expansions (1: none), estimated cost in ns of one core."""

    radius: float
    order: int
    cost: float


def choose_plan(kernel, tree, eps, n_targets, *, expand=True):
    """The plan of least estimated cost for `n_targets` targets that are spread like the sources.

    For a few groups taken as targets, the work that `_sums_range` would do with every other group is added up.
    """
    n, d = tree.points.shape
    scaled = tree.radii() * kernel.inverse_sigma
    expand = expand and kernel.code == GAUSSIAN
    pair = PAIR + PAIR_DIM * d
    best = Plan(0.0, 1, math.inf)
    for radius in RADII:
        groups = Groups.of(tree, scaled, radius)
        if radius and not groups.tight.any():
            continue
        nodes = groups.nodes
        count = (tree.stop - tree.start)[nodes].astype(float)
        low, high, r = tree.low[nodes], tree.high[nodes], scaled[nodes]
        center = low + (high - low) / 2
        cost, highest = 0.0, 1
        picked = np.linspace(0, nodes.size - 1, min(SAMPLE, nodes.size)).astype(int)
        for k in picked:
            gap = np.maximum(np.maximum(low - high[k], low[k] - high), 0.0) * kernel.inverse_sigma
            offset = np.abs(center - center[k]) * kernel.inverse_sigma
            if kernel.name == "laplacian":
                least, middle = gap.sum(axis=1), offset.sum(axis=1)
            else:
                least, middle = (gap * gap).sum(axis=1), (offset * offset).sum(axis=1)
                if kernel.name == "exponential":
                    least, middle = np.sqrt(least), np.sqrt(middle)
            share = 0.5 * eps * (count @ np.exp(-middle)) / n
            near = np.exp(-least) > share
            work = pair * count[k] * count[near]
            if radius and expand and groups.tight[k]:
                distance = np.sqrt(middle[near])
                allowed = 0.5 * eps * np.exp(-((distance + r[k] + r[near]) ** 2)) + share
                order = _orders(allowed, middle[near], r[k] + r[near], expansions.max_order(d))
                order[~groups.tight[near]] = 0
                if (order[groups.tight[near] & (count[near] > SMALL)] == 0).any():
                    cost = math.inf  # large groups must never be left to direct sums
                    break
                products = np.array([math.comb(q - 1 + 2 * d, 2 * d) if q else 1e12 for q in range(order.max() + 1)])
                terms = np.array([expansions.n_terms(d, q) for q in range(order.max() + 1)])
                expanded = PRODUCT * products[order] + 10 * terms[order]
                highest = max(highest, order[expanded < work].max(initial=1))
                work = np.minimum(work, expanded)
            cost += (work.sum() + 4 * VISIT * near.sum()) / count[k]
        cost *= n_targets / picked.size
        if highest > 1:
            cost += TERM * expansions.n_terms(d, highest) * (n + n_targets)
        if cost < best.cost:
            best = Plan(radius, min(highest + 2, expansions.max_order(d)) if highest > 1 else 1, cost)
    return best


def _orders(allowed, z2, r, order):
    """`expansions.needed_order` for arrays (without its term for rounding)."""
    q = np.arange(1, order + 1)
    x = math.sqrt(2.0) * r[:, None]
    ratio = x / expansions.SQRT[q + 1]
    term = expansions.CRAMER * np.exp(-0.5 * z2)[:, None] * np.cumprod(x / expansions.SQRT[q], axis=1)
    enough = (ratio < 1) & (term <= allowed[:, None] * (1 - ratio))
    return np.where(enough.any(axis=1), enough.argmax(axis=1) + 1, 0)


@dataclass(frozen=True)
class Targets:
    """Target points in the order of their tree, cut into units: groups, and the single points of wide ones."""

    points: np.ndarray
    columns: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, tree, scaled, radius):
        """Units of `tree` for groups of at most `radius`."""
        groups = Groups.of(tree, scaled, radius)
        narrow = scaled[groups.nodes] <= WIDE
        wide, tight = groups.nodes[~narrow], groups.nodes[narrow]
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
    """Sums at all `targets` (in their tree's order), relative error eps; contributions below `floor` may be left out.

    `exclude_self`: sources and targets are the same points in the same order, all weights are 1, and the sum at a point leaves out the point.
    """
    tree, table = sources.tree, sources.tables
    sums = np.zeros(targets.columns.shape[1])
    cut = min(UNDERFLOW, -math.log(floor)) if floor > 0 else UNDERFLOW
    parallel.run(
        _sums_range, targets.start.size, sources.kernel.code, sources.kernel.inverse_sigma,
        targets.points, targets.columns, targets.start, targets.stop, targets.low, targets.high,
        tree.columns, sources.weights, tree.start, tree.stop, tree.low, tree.high,
        sources.node_sum, sources.node_mass, sources.is_group, sources.moment_row, sources.moments,
        table.exponents, table.degree, table.parent, table.axis, table.inverse_factorial, table.n_terms, table.row, table.sums, expansions.SQRT,
        0.5 * eps, 0.5 * eps, cut, exclude_self, sums,
        chunk=max(1, min(256, targets.start.size // 32)), progress=progress,
    )  # fmt: skip
    return sums


@jit
def _sums_range(
    begin, end, code, scale, t_points, t_columns, t_start, t_stop, t_low, t_high, columns, weights, start, stop, low, high,
    node_sum, node_mass, is_group, moment_row, moments,
    multi, degree, parent, axis, inverse_factorial, n_terms, row, index_sums, sqrt, a, b, cut, exclude_self, sums,
):  # fmt: skip
    d = low.shape[1]
    order = n_terms.size - 1
    while order > 1 and n_terms[order] > moments.shape[1]:
        order -= 1
    buffer = np.empty(BLOCK)
    stack = np.empty(256, np.int64)
    local = np.zeros(moments.shape[1])
    derivatives = np.empty(moments.shape[1])
    line = np.empty((d, max(order, 1)))
    room = np.empty((moments.shape[1], expansions.BLOCK))
    z = np.empty(d)
    for unit in range(begin, end):
        first, last = t_start[unit], t_stop[unit]
        count = last - first
        bound = _lower_bound(
            code, scale, t_points, t_low, t_high, unit, first, count, columns, weights, start, stop, low, high, node_mass, is_group,
            b, cut, exclude_self, stack, buffer,
        )  # fmt: skip
        share = b * bound / node_mass[0] if node_mass[0] > 0.0 else 0.0
        center = t_low[unit] + (t_high[unit] - t_low[unit]) / 2
        radius = 0.0
        for c in range(d):
            radius += ((t_high[unit, c] - t_low[unit, c]) * scale * 0.5) ** 2
        radius = math.sqrt(radius)
        used = 0  # terms of the local expansion
        constant = 0.0
        top = 0
        stack[0] = 0
        while top >= 0:
            node = stack[top]
            top -= 1
            least, most = box_distances(code, scale, t_low, t_high, unit, low, high, node)
            largest = exp_neg(least)
            if least >= cut or largest <= share:
                continue
            inside = exclude_self and start[node] <= first and last <= stop[node]
            size = stop[node] - start[node]
            if inside and size == 1:
                continue
            own = 1.0 if inside else 0.0
            smallest = exp_neg(most)
            allowed = a * smallest + share
            if 0.5 * (largest - smallest) <= allowed:
                constant += (node_sum[node] - own) * 0.5 * (largest + smallest)
                continue
            leaf = 2 * node + 2 >= start.size
            if not is_group[node] and not leaf and size > SMALL:
                stack[top + 1], stack[top + 2] = 2 * node + 1, 2 * node + 2
                top += 2
                continue
            if moment_row[node] >= 0 and count > 1:
                z2, r = 0.0, 0.0
                for c in range(d):
                    z[c] = (center[c] - (low[node, c] + (high[node, c] - low[node, c]) / 2)) * scale
                    z2 += z[c] * z[c]
                    r += ((high[node, c] - low[node, c]) * scale * 0.5) ** 2
                mass = node_mass[node]
                q = expansions.needed_order(
                    allowed * (mass - own) / mass if mass > 0.0 else allowed, z2, radius + math.sqrt(r), order, sqrt
                )
                if q > 1 and _cheaper(q, d, n_terms, count, size):
                    expansions.hermite(z, q, multi, n_terms, line, derivatives)
                    if n_terms[q] > used:
                        local[used : n_terms[q]] = 0.0
                        used = n_terms[q]
                    expansions.translate(moments[moment_row[node]], derivatives, q, degree, n_terms, row, index_sums, local)
                    constant -= own
                    continue
            if leaf or size <= SMALL:
                _add_direct(code, scale, t_points, first, last, columns, weights, start[node], stop[node], exclude_self, buffer, sums)
            else:
                stack[top + 1], stack[top + 2] = 2 * node + 1, 2 * node + 2
                top += 2
        if used:
            expansions.evaluate(t_columns, first, last, center, scale, local, used, parent, axis, inverse_factorial, room, sums)
        for i in range(first, last):
            sums[i] += constant


@jit
def _cheaper(q, d, n_terms, count, size):
    """Whether translating an expansion of order q is cheaper than `count` times `size` kernel values."""
    products = n_terms[q] * n_terms[(q + 1) // 2]  # about the number of pairs |a| + |b| < q
    return PRODUCT * products + 10.0 * n_terms[q] < (PAIR + PAIR_DIM * d) * count * size


@jit(reassociate=True)
def _add_direct(code, scale, t_points, first, last, columns, weights, begin, end, exclude_self, buffer, sums):
    """Add the sum over the sources begin..end-1 to every target; several rows of exponents share one long, vectorised run of exp."""
    size = end - begin
    rows = max(1, min(last - first, BLOCK // size))
    w = weights[begin:end]
    for i0 in range(first, last, rows):
        count = min(rows, last - i0)
        for k in range(count):
            exponents(code, scale, t_points[i0 + k], columns, begin, end, buffer[k * size : (k + 1) * size])
        for j in range(count * size):
            buffer[j] = exp_neg(buffer[j])
        for k in range(count):
            values = buffer[k * size : (k + 1) * size]
            if exclude_self and begin <= i0 + k < end:
                values[i0 + k - begin] = 0.0
            total = 0.0
            for j in range(size):
                total += w[j] * values[j]
            sums[i0 + k] += total


@jit
def _lower_bound(
    code, scale, t_points, t_low, t_high, unit, first, count, columns, weights, start, stop, low, high, node_mass, is_group,
    b, cut, exclude_self, stack, buffer,
):  # fmt: skip
    """A lower bound of the sum of absolute contributions at every target of the unit; nearer nodes first, so that the far ones are left out early."""
    bound = 0.0
    total = node_mass[0]
    top = 0
    stack[0] = 0
    while top >= 0:
        node = stack[top]
        top -= 1
        least, most = box_distances(code, scale, t_low, t_high, unit, low, high, node)
        if least >= cut or exp_neg(least) * total <= 0.1 * bound:
            continue
        begin, end = start[node], stop[node]
        inside = exclude_self and begin <= first and first + count <= end
        if most - least <= 0.7:
            bound += (node_mass[node] - (1.0 if inside else 0.0)) * exp_neg(most)
            continue
        if is_group[node] or 2 * node + 2 >= start.size:
            if count == 1 and end - begin <= SMALL:
                y = t_points[first]
                for j in range(begin, end):
                    if not (exclude_self and j == first):
                        t = 0.0
                        for c in range(y.size):
                            delta = (y[c] - columns[c, j]) * scale
                            t += abs(delta) if code == 1 else delta * delta
                        bound += abs(weights[j]) * exp_neg(math.sqrt(t) if code == 2 else t)
            else:
                bound += (node_mass[node] - (1.0 if inside else 0.0)) * exp_neg(most)
            continue
        left, right = 2 * node + 1, 2 * node + 2
        near_left, _ = box_distances(code, scale, t_low, t_high, unit, low, high, left)
        near_right, _ = box_distances(code, scale, t_low, t_high, unit, low, high, right)
        if near_left > near_right:
            left, right = right, left
        stack[top + 1], stack[top + 2] = right, left
        top += 2
    return 0.999 * bound


def tree_sums(kernel, sources, targets, weights, eps, *, floor, method="auto", progress=None):
    """Kernel sums for checked arrays, see `sums_at`; `targets` None means the sources. "auto" sums directly where a tree would not pay."""
    m = len(sources) if targets is None else len(targets)
    tree = build_tree(sources)
    plan = choose_plan(kernel, tree, eps, m, expand=method != "tree")
    if method == "auto" and plan.cost > (PAIR + PAIR_DIM * sources.shape[1]) * m * len(sources):
        return direct_sums(kernel, sources, sources if targets is None else targets, weights, progress=progress)
    prepared = prepare(kernel, tree, weights[tree.order], plan)
    target_tree = tree if targets is None else build_tree(targets)
    units = Targets.of(target_tree, target_tree.radii() * kernel.inverse_sigma, plan.radius)
    sums = np.empty(m)
    sums[target_tree.order] = sums_at(prepared, units, eps, floor=floor, progress=progress)
    return sums


def kernel_degrees(kernel, tree, eps, *, progress=None):
    """``sum_{j != i} k(x_i, x_j)`` in the tree's order, each with relative error eps; 0 exactly where all values underflow."""
    plan = choose_plan(kernel, tree, eps, tree.order.size)
    prepared = prepare(kernel, tree, np.ones(tree.order.size), plan)
    units = Targets.of(tree, tree.radii() * kernel.inverse_sigma, plan.radius)
    return np.maximum(sums_at(prepared, units, eps, exclude_self=True, progress=progress), 0.0)
