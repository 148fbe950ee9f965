"""Lists of tree nodes that cover all sources within reach of a group of targets, and their alias
tables, see `rejection`.
"""

import numpy as np

from kdegraph.geometry.kernels import EXPONENTIAL, LAPLACIAN, exp_neg
from kdegraph.runtime.jit import jit

FIRST, SIZE, ALIAS = range(
    3
)  # rows of `entries`: the first point of a node, their number, the alias
LEVEL, WEIGHT = range(
    2
)  # rows of `shape`: the node's smallest exponent, its weight (then its threshold)
# Nodes on the level on which lists begin: levels of fewer cost as much, and the loops are as long
# as a vector.
START = 8
NEAREST, SMALLEST, LARGEST = range(
    3
    # Rows of `bounds`: the smallest exponent, the largest and then its kernel value, the largest value.
)


@jit
def room_for(capacity, n_lists):
    """Room for lists: `nodes` of a level and the next, their `bounds`, `entries` and `shape` of the
    lists.
    """
    total = capacity * n_lists
    return (
        np.empty((2, capacity), np.int32),
        np.empty((3, capacity)),
        np.empty((3, total), np.int32),
        np.empty((2, total)),
    )


@jit
def list_nodes(
    code, scale, g_first, g_last, g_low, g_high, points, start, stop, low, high, limit, nodes, bounds, entries, shape, base
):  # fmt: skip
    """List the nodes for a group in `entries` and `shape`, from the column `base` on; return how
    many there are, -1 if there is too little room, and how many were seen.

    Level after level, from the one of `START` nodes on, a node is divided while the proposals that
    it would waste, ``|B| (max k - min k)``, are more than `limit`; a leaf falls into its points.
    """
    count, visits = 0, 0
    width = min(START, (start.size + 1) // 2)
    for p in range(width):
        nodes[0, p] = width - 1 + p
    inner = True
    while width:
        if count + width > nodes.shape[1]:
            return -1, visits
        visits += width
        now, following = nodes[0], nodes[1]
        if inner:
            _bound(code, scale, g_low, g_high, low, high, width, now, bounds)
        else:
            _bound(code, scale, g_low, g_high, points, points, width, now, bounds)
        for p in range(width):
            bounds[LARGEST, p], bounds[SMALLEST, p] = (
                exp_neg(bounds[NEAREST, p]),
                exp_neg(bounds[SMALLEST, p]),
            )
        if not inner:
            for p in range(width):
                largest = bounds[LARGEST, p]
                _enter(now[p], 1, bounds[NEAREST, p], largest, entries, shape, base + count)
                count += (largest > 0.0) & ((now[p] != g_first) | (g_last - g_first > 1))
            return count, visits
        leaves = 2 * now[0] + 2 >= start.size
        divided = 0
        for p in range(width):
            node = now[p]
            largest, smallest = bounds[LARGEST, p], bounds[SMALLEST, p]
            size = stop[node] - start[node]
            own = (start[node] <= g_first) & (g_last <= stop[node])
            kept = size * largest - (size - own) * smallest <= limit
            _enter(
                start[node], size, bounds[NEAREST, p], size * largest, entries, shape, base + count
            )
            count += kept & (largest > 0.0)
            following[divided] = node
            divided += (not kept) & (largest > 0.0)
        # The next level, from behind, in place.
        if leaves:
            width = 0
            for p in range(divided):
                width += stop[following[p]] - start[following[p]]
            if width > nodes.shape[1]:
                return -1, visits
            k = 0
            for p in range(divided):
                for j in range(start[following[p]], stop[following[p]]):
                    now[k] = j
                    k += 1
            inner = False
        else:
            width = 2 * divided
            if width > nodes.shape[1]:
                return -1, visits
            for p in range(divided):
                now[2 * p], now[2 * p + 1] = 2 * following[p] + 1, 2 * following[p] + 2
    return count, visits


@jit
def _enter(first, size, level, weight, entries, shape, k):
    entries[FIRST, k], entries[SIZE, k] = first, size
    shape[LEVEL, k], shape[WEIGHT, k] = level, weight


@jit(distinct=True)
def _bound(code, scale, g_low, g_high, low, high, width, nodes, bounds):
    """Smallest and largest exponents between the group's box and those of `nodes`, as
    `tree.box_distances` has them.
    """
    for p in range(width):
        bounds[NEAREST, p] = bounds[SMALLEST, p] = 0.0
    for c in range(g_low.size):
        for p in range(width):
            node = nodes[p]
            gap = max(max(g_low[c] - high[node, c], low[node, c] - g_high[c]), 0.0) * scale
            span = max(g_high[c] - low[node, c], high[node, c] - g_low[c]) * scale
            bounds[NEAREST, p] += gap if code == LAPLACIAN else gap * gap
            bounds[SMALLEST, p] += span if code == LAPLACIAN else span * span
    if code == EXPONENTIAL:
        for p in range(width):
            bounds[NEAREST, p], bounds[SMALLEST, p] = (
                np.sqrt(bounds[NEAREST, p]),
                np.sqrt(bounds[SMALLEST, p]),
            )


@jit
def alias_table(threshold, alias, room):
    """Walker's alias table (Vose's construction): the weights in `threshold` become thresholds."""
    count, total = threshold.size, 0.0
    for k in range(count):
        total += threshold[k]
    # Both stacks share `room` from its two ends: small entries from below, large ones from above.
    small, large = 0, count
    for k in range(count):
        threshold[k] = threshold[k] / total * count
        if threshold[k] < 1.0:
            room[small] = k
            small += 1
        else:
            large -= 1
            room[large] = k
    while small > 0 and large < count:
        small -= 1
        k, j = room[small], room[large]
        alias[k] = j
        threshold[j] -= 1.0 - threshold[k]
        if threshold[j] < 1.0:
            large += 1
            room[small] = j
            small += 1
    # What is left differs from 1 by rounding only.
    for s in range(small):
        threshold[room[s]] = 1.0
    for s in range(large, count):
        threshold[room[s]] = 1.0
