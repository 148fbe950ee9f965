"""Exact samples of neighbors by rejection, for any kernel that decreases with distance.

For a group of targets A a list of tree nodes B covers all sources within reach. A proposal takes a
node with probability proportional to ``|B| max k(A, B)`` (an alias table) and one of its points
uniformly; point j is accepted for target i with probability ``k(x_i, x_j) / max k(A, B)``. What is
accepted follows exactly ``k(x_i, .) / deg(i)``, whatever the list; the list only decides how many
proposals are needed.
"""

import numpy as np

from kdegraph.geometry.kernels import exp_neg, exponent
from kdegraph.kde.direct import direct_sums
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.sampling.rejection.node_lists import (
    ALIAS,
    FIRST,
    SIZE,
    WEIGHT,
    alias_table,
    list_nodes,
    room_for,
)
from kdegraph.sampling.rejection.proposals import draw_group, finish, room_for_draws
from kdegraph.sampling.rejection.target_groups import Groups

# Below, rounding may decide whether a point counts as reachable, so that it is looked at again.
TINY = 1e-300
SAMPLED_PAIRS = 100_000  # kernel values from which the cost is estimated,
FEWEST, MOST, FAR = (
    4,
    16,
    3.0,
)  # for so many groups; the fewest are enough if the cost is so many times below what matters
# Costs in nanoseconds of one core: the set-up, a group, a node looked at, an entry of a list, a
# draw, a proposal, and what a dimension adds.
SET_UP, GROUP, VISIT, VISIT_DIM, ENTRY, DRAW, PROPOSAL, PROPOSAL_DIM = (
    3e5,
    1000.0,
    4.0,
    1.0,
    10.0,
    5.0,
    6.0,
    0.8,
)
HIDDEN = 1.3  # times what is counted: memory that is not in the caches, batches that run empty
TOGETHER = 8  # longest lists that there is room for at a time
REFINE = (
    32.0  # cost of dividing a node, in units of the proposals that a node's whole waste could save
)


def estimate_cost(kernel, tree, groups, n_rounds, *, limit=0.0):
    """Estimated cost of `draw_neighbors` in ns of one core, from a few of the groups; from very few
    if it is far below `limit` then.
    """
    n = len(tree.points)
    most = max(FEWEST, min(MOST, SAMPLED_PAIRS // n))
    cost = _cost_from(FEWEST, kernel, tree, groups, n_rounds)
    return (
        cost
        if most == FEWEST or FAR * cost < limit
        else _cost_from(most, kernel, tree, groups, n_rounds)
    )


def _cost_from(n_groups, kernel, tree, groups, n_rounds):
    """The estimate from `n_groups` of the groups and the exact degree of a target of each."""
    n = len(tree.points)
    picked = np.linspace(0, groups.start.size - 1, min(n_groups, groups.start.size)).astype(
        np.int64
    )
    first = groups.start[picked]
    degrees = direct_sums(
        kernel, tree.points, tree.points[first], np.ones(n), columns=tree.columns, skip=first
    )
    cost, targets = _estimate(
        picked, degrees, kernel.code, kernel.inverse_sigma, groups.start, groups.stop, groups.low, groups.high,
        tree.points, tree.start, tree.stop, tree.low, tree.high, n_rounds,
    )  # fmt: skip
    return SET_UP + HIDDEN * cost / targets * n


def draw_neighbors(kernel, tree, degrees, n_rounds, seed, *, groups=None, progress=None):
    """Draw `n_rounds` neighbors of every vertex.

    Parameters
    ----------
    kernel : Kernel
    tree : Tree
    degrees : (n,) float64
        Kernel degrees in the tree's order, used to balance the work, and to know the isolated
        vertices (0). A degree that is above 0 by rounding only, no point being within reach by the
        arithmetic of `exponent`, is set to 0.
    n_rounds : int
    seed : int
    groups : Groups, optional
        If they are known already.

    Returns
    -------
    (n, n_rounds) int32
        Positions in the tree's order; -1 for isolated vertices.
    """
    neighbors = np.full((tree.order.size, n_rounds), -1, np.int32)
    groups = Groups.of(kernel, tree, n_rounds) if groups is None else groups
    parallel.run(
        _draw_range, groups.start.size, kernel.code, kernel.inverse_sigma, groups.start, groups.stop, groups.low, groups.high,
        tree.points, tree.order, tree.start, tree.stop, tree.low, tree.high, degrees, np.uint64(seed), neighbors,
        chunk=max(1, min(128, groups.start.size // 16)), progress=progress,
    )  # fmt: skip
    return neighbors


@jit
def _estimate(
    picked,
    degrees,
    code,
    scale,
    g_start,
    g_stop,
    g_low,
    g_high,
    points,
    start,
    stop,
    low,
    high,
    n_rounds,
):
    """Cost of the groups `picked`, whose targets have about the `degrees`, and how many targets
    they have.
    """
    capacity = 1024
    nodes, bounds, entries, shape = room_for(capacity, 1)
    total, targets, d = 0.0, 0, points.shape[1]
    for k in range(picked.size):
        group, size = picked[k], g_stop[picked[k]] - g_start[picked[k]]
        targets += size
        if degrees[k] == 0.0:
            continue
        while True:
            count, visits = list_nodes(
                code, scale, g_start[group], g_stop[group], g_low[group], g_high[group], points, start, stop, low, high,
                REFINE * degrees[k] / (size * n_rounds), nodes, bounds, entries, shape, 0,
            )  # fmt: skip
            if count >= 0:
                break
            capacity *= 2
            nodes, bounds, entries, shape = room_for(capacity, 1)
        proposals = shape[WEIGHT, :count].sum() / degrees[k]
        draws = size * n_rounds * (DRAW + (PROPOSAL + PROPOSAL_DIM * d) * proposals)
        total += GROUP + visits * (VISIT + VISIT_DIM * d) + ENTRY * count + draws
    return total, targets


@jit
def _draw_range(
    begin, end, code, scale, g_start, g_stop, g_low, g_high, points, order, start, stop, low, high, degrees, seed, neighbors
):  # fmt: skip
    capacity, used, pending = 1024, 0, 0
    nodes, bounds, entries, shape = room_for(capacity, TOGETHER)
    draws = room_for_draws()
    n_rounds = neighbors.shape[1]
    for group in range(begin, end):
        g_first, g_last = g_start[group], g_stop[group]
        alive, total = 0, 0.0
        for i in range(g_first, g_last):
            if degrees[i] > 0.0:
                alive += 1
                total += degrees[i]
        if alive == 0:
            continue
        limit = REFINE * (total / alive) / (alive * n_rounds)
        if used + capacity > entries.shape[1]:
            pending, used = (
                finish(code, scale, points, entries, shape, pending, draws, neighbors),
                0,
            )
        while True:
            count, _ = list_nodes(
                code, scale, g_first, g_last, g_low[group], g_high[group], points, start, stop, low, high, limit,
                nodes, bounds, entries, shape, used,
            )  # fmt: skip
            if count >= 0:
                break
            pending, used = (
                finish(code, scale, points, entries, shape, pending, draws, neighbors),
                0,
            )
            capacity *= 2
            nodes, bounds, entries, shape = room_for(capacity, TOGETHER)
        listed = entries[:, used : used + count]
        if total < TINY and not _any_reachable(
            code, scale, points, g_first, listed
        ):  # such a group is a single point
            degrees[g_first] = 0.0
            continue
        alias_table(
            shape[WEIGHT, used : used + count], entries[ALIAS, used : used + count], nodes[0]
        )
        pending = draw_group(
            code,
            scale,
            points,
            order,
            degrees,
            seed,
            g_first,
            g_last,
            used,
            count,
            entries,
            shape,
            pending,
            draws,
            neighbors,
        )
        used += count
    finish(code, scale, points, entries, shape, pending, draws, neighbors)


@jit
def _any_reachable(code, scale, points, i, entries):
    for k in range(entries.shape[1]):
        for j in range(entries[FIRST, k], entries[FIRST, k] + entries[SIZE, k]):
            if j != i and exp_neg(exponent(code, scale, points, i, points, j)) > 0.0:
                return True
    return False
