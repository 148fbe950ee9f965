"""Exact samples of neighbours by rejection, for any kernel that decreases with distance.

For a group of targets A a list of tree nodes B covers all sources within reach. A proposal takes a node with probability proportional to
``|B| max k(A, B)`` (an alias table) and one of its points uniformly; point j is accepted for target i with probability ``k(x_i, x_j) /
max k(A, B)``. What is accepted follows exactly ``k(x_i, .) / deg(i)``, whatever the list; the list only decides how many proposals are
needed.
"""

import numpy as np

from .. import parallel
from .._jit import jit
from ..kernels import exp_neg, exponent
from ..tree import box_distances
from .streams import stream, uniform

RADIUS, LARGE_RADIUS = 0.2, 0.45  # of a group of targets, in units of sigma: with many draws, with few
DRAWS = 1000  # what counts as many
TINY = 1e-300  # below, rounding may decide whether a point counts as reachable, so that it is looked at again
REFINE = 8.0  # cost of dividing a node, in units of the proposals that a node's whole waste could save


def draw_neighbors(kernel, tree, degrees, n_rounds, seed, *, progress=None):
    """Draw `n_rounds` neighbours of every vertex.

    Parameters
    ----------
    kernel : Kernel
    tree : Tree
    degrees : (n,) float64
        Kernel degrees in the tree's order, used to balance the work, and to know the isolated vertices (0). A degree that is above 0 by
        rounding only, no point being within reach by the arithmetic of `exponent`, is set to 0.
    n_rounds : int
    seed : int

    Returns
    -------
    (n, n_rounds) int32
        Positions in the tree's order; -1 for isolated vertices.
    """
    n = tree.order.size
    neighbors = np.full((n, n_rounds), -1, np.int32)
    start, stop, low, high = _target_groups(kernel, tree, n_rounds)
    parallel.run(
        _draw_range, start.size, kernel.code, kernel.inverse_sigma, start, stop, low, high,
        tree.points, tree.order, tree.start, tree.stop, tree.low, tree.high, degrees, np.uint64(seed), neighbors,
        chunk=max(1, min(128, start.size // 32)), progress=progress,
    )  # fmt: skip
    return neighbors


def _target_groups(kernel, tree, n_rounds):
    """Ranges and boxes of the groups: nodes narrow enough, as large as possible, and single points where leaves are wide."""
    scaled = tree.radii(kernel.inverse_sigma)
    count = tree.stop - tree.start
    narrow = (scaled <= RADIUS) | ((scaled <= LARGE_RADIUS) & (count * n_rounds <= DRAWS))
    open_nodes = np.zeros(1, np.int64)
    groups = []
    while open_nodes.size:
        groups.append(open_nodes[narrow[open_nodes]])
        wide = open_nodes[~narrow[open_nodes]]
        leaves = wide[wide >= tree.first_leaf]
        points = np.concatenate(
            [np.arange(a, b) for a, b in zip(tree.start[leaves], tree.stop[leaves], strict=True)] or [np.zeros(0, np.int64)]
        )
        groups.append(-1 - points)
        inner = wide[wide < tree.first_leaf]
        open_nodes = np.concatenate([2 * inner + 1, 2 * inner + 2])
    groups = np.concatenate(groups)
    single, nodes = groups < 0, np.where(groups < 0, 0, groups)
    points = np.where(single, -1 - groups, 0)
    start = np.where(single, points, tree.start[nodes])
    order = np.argsort(start)
    start, stop = start[order], np.where(single, points + 1, tree.stop[nodes])[order]
    low = np.where(single[:, None], tree.points[points], tree.low[nodes])[order]
    high = np.where(single[:, None], tree.points[points], tree.high[nodes])[order]
    return start, stop, low, high


@jit
def _draw_range(
    begin, end, code, scale, g_start, g_stop, g_low, g_high, points, order, start, stop, low, high, degrees, seed, neighbors
):  # fmt: skip
    stack = np.empty(256, np.int64)
    capacity = 1024
    first, size = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    least, squeeze, weight = np.empty(capacity), np.empty(capacity), np.empty(capacity)
    threshold, alias = np.empty(capacity), np.empty(capacity, np.int64)
    n_rounds = neighbors.shape[1]
    for group in range(begin, end):
        alive, total = 0, 0.0
        for i in range(g_start[group], g_stop[group]):
            if degrees[i] > 0.0:
                alive += 1
                total += degrees[i]
        if alive == 0:
            continue
        limit = REFINE * (total / alive) / (alive * n_rounds)
        while True:
            count = _list_nodes(
                code, scale, g_start[group], g_stop[group], g_low, g_high, group, points, start, stop, low, high, limit,
                stack, first, size, least, squeeze, weight,
            )  # fmt: skip
            if count >= 0:
                break
            capacity *= 2
            first, size = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
            least, squeeze, weight = np.empty(capacity), np.empty(capacity), np.empty(capacity)
            threshold, alias = np.empty(capacity), np.empty(capacity, np.int64)
        if total < TINY and not _any_reachable(code, scale, points, g_start[group], count, first, size):  # such a group is a single point
            degrees[g_start[group]] = 0.0
            continue
        _alias_table(weight, count, threshold, alias)
        for i in range(g_start[group], g_stop[group]):
            if degrees[i] > 0.0:
                for draw in range(n_rounds):
                    neighbors[i, draw] = _draw(
                        code, scale, points, i, stream(seed, order[i], draw), count, first, size, least, squeeze, threshold, alias
                    )


@jit
def _any_reachable(code, scale, points, i, count, first, size):
    for entry in range(count):
        for j in range(first[entry], first[entry] + size[entry]):
            if j != i and exp_neg(exponent(code, scale, points, i, points, j)) > 0.0:
                return True
    return False


@jit
def _draw(code, scale, points, i, state, count, first, size, least, squeeze, threshold, alias):
    counter = 0
    while True:
        x = uniform(state, counter) * count
        entry = min(int(x), count - 1)
        if x - entry >= threshold[entry]:
            entry = alias[entry]
        x = uniform(state, counter + 1) * size[entry]
        offset = min(int(x), size[entry] - 1)
        j = first[entry] + offset
        counter += 2
        if j == i:
            continue
        v = x - offset
        if v < squeeze[entry]:
            return j
        t = exponent(code, scale, points, i, points, j)
        if v < exp_neg(max(t - least[entry], 0.0)) and exp_neg(t) > 0.0:
            return j


@jit
def _list_nodes(
    code, scale, g_first, g_last, g_low, g_high, group, points, start, stop, low, high, limit, stack, first, size, least, squeeze, weight
):  # fmt: skip
    """List the nodes for a group and return their number, -1 when the lists are too short.

    A node is divided while the proposals that it would waste, ``|B| (max k - min k)``, are more than `limit`; at a leaf it falls into its
    points.
    """
    count, top = 0, 0
    stack[0] = 0
    while top >= 0:
        node = stack[top]
        top -= 1
        nearest, farthest = box_distances(code, scale, g_low, g_high, group, low, high, node)
        largest, smallest = exp_neg(nearest), exp_neg(farthest)
        if largest == 0.0:
            continue
        a, b = start[node], stop[node]
        own = 1.0 if a <= g_first and g_last <= b else 0.0
        leaf = 2 * node + 2 >= start.size
        if (count + b - a > first.size and leaf) or count >= first.size:
            return -1
        if (b - a) * largest - (b - a - own) * smallest <= limit:
            first[count], size[count], least[count], weight[count] = a, b - a, nearest, (b - a) * largest
            squeeze[count] = smallest / largest if smallest > TINY else 0.0
            count += 1
        elif not leaf:
            stack[top + 1], stack[top + 2] = 2 * node + 1, 2 * node + 2
            top += 2
        else:
            for j in range(a, b):
                if g_last == g_first + 1 and j == g_first:
                    continue
                nearest, farthest = box_distances(code, scale, g_low, g_high, group, points, points, j)
                largest = exp_neg(nearest)
                if largest > 0.0:
                    first[count], size[count], least[count], weight[count] = j, 1, nearest, largest
                    smallest = exp_neg(farthest)
                    squeeze[count] = smallest / largest if smallest > TINY else 0.0
                    count += 1
    return count


@jit
def _alias_table(weight, count, threshold, alias):
    """Walker's alias table of weight[:count] (Vose's construction)."""
    total = 0.0
    for k in range(count):
        total += weight[k]
    # Both stacks share `alias`' memory from its two ends: small entries from below, large ones from above.
    room = np.empty(count, np.int64)
    small, large = 0, count
    for k in range(count):
        threshold[k] = weight[k] / total * count
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
