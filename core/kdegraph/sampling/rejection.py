"""Exact samples of neighbours by rejection, for any kernel that decreases with distance.

For a group of targets A a list of tree nodes B covers all sources within reach. A proposal takes a node with probability proportional to
``|B| max k(A, B)`` (an alias table) and one of its points uniformly; point j is accepted for target i with probability ``k(x_i, x_j) /
max k(A, B)``. What is accepted follows exactly ``k(x_i, .) / deg(i)``, whatever the list; the list only decides how many proposals are
needed.
"""

from dataclasses import dataclass

import numpy as np

from .. import parallel
from .._jit import jit
from ..kde.direct import direct_sums
from ..kernels import EXPONENTIAL, LAPLACIAN, UNDERFLOW, exp_neg, exponent, paired_exponents
from .streams import advance, streams, uniform

RADIUS, LARGE_RADIUS = 0.2, 0.8  # of a group of targets, in units of sigma: with many draws, with few
DRAWS = 2000  # what counts as many
TINY = 1e-300  # below, rounding may decide whether a point counts as reachable, so that it is looked at again
MANY = 4096  # targets of a group at most, so that threads share the work
BATCH = 1024  # draws that are pending at a time
FIRST, SIZE, ALIAS = range(3)  # rows of `entries`: the first point of a node, their number, the alias
LEVEL, WEIGHT = range(2)  # rows of `shape`: the node's smallest exponent, its weight (then its threshold)
SAMPLED_PAIRS = 100_000  # kernel values from which the cost is estimated
# Costs in nanoseconds of one core: the set-up, a group, a node looked at, an entry of a list, a draw, a proposal, and what a
# dimension adds.
SET_UP, GROUP, VISIT, VISIT_DIM, ENTRY, DRAW, PROPOSAL, PROPOSAL_DIM = 1e6, 1000.0, 4.0, 1.0, 15.0, 8.0, 11.0, 1.0
HIDDEN = 1.5  # times what is counted: memory that is not in the caches, batches that run empty
REFINE = 16.0  # cost of dividing a node, in units of the proposals that a node's whole waste could save


@dataclass(frozen=True)
class Groups:
    """Groups of targets: ranges of points in the tree's order, and their boxes."""

    start: np.ndarray
    stop: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, kernel, tree, n_rounds):
        """Nodes of `tree` that are narrow enough, as large as possible, and single points where leaves are wide."""
        n, d = tree.points.shape
        start, stop, low, high = np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, d)), np.empty((n, d))
        radii = tree.radii(kernel.inverse_sigma)
        count = _cut(radii, n_rounds, tree.points, tree.start, tree.stop, tree.low, tree.high, start, stop, low, high)
        return cls(start[:count], stop[:count], low[:count], high[:count])


@jit
def _cut(radii, n_rounds, points, start, stop, low, high, g_start, g_stop, g_low, g_high):
    """Write the groups and return their number."""
    stack = np.empty(256, np.int64)
    count, top = 0, 0
    stack[0] = 0
    while top >= 0:
        node = stack[top]
        top -= 1
        a, b = start[node], stop[node]
        if (radii[node] <= RADIUS and b - a <= MANY) or (radii[node] <= LARGE_RADIUS and (b - a) * n_rounds <= DRAWS):
            g_start[count], g_stop[count], g_low[count], g_high[count] = a, b, low[node], high[node]
            count += 1
        elif 2 * node + 2 < start.size:
            stack[top + 1], stack[top + 2] = 2 * node + 2, 2 * node + 1
            top += 2
        else:
            for i in range(a, b):
                g_start[count], g_stop[count], g_low[count], g_high[count] = i, i + 1, points[i], points[i]
                count += 1
    return count


def estimate_cost(kernel, tree, groups, n_rounds):
    """Estimated cost of `draw_neighbors` in ns of one core, from a few of the groups and the exact degree of a target of each."""
    n = len(tree.points)
    picked = np.linspace(0, groups.start.size - 1, min(max(4, min(16, SAMPLED_PAIRS // n)), groups.start.size)).astype(np.int64)
    first = groups.start[picked]
    degrees = direct_sums(kernel, tree.points, tree.points[first], np.ones(n), skip=first)
    cost, targets = _estimate(
        picked, degrees, kernel.code, kernel.inverse_sigma, groups.start, groups.stop, groups.low, groups.high,
        tree.points, tree.start, tree.stop, tree.low, tree.high, n_rounds,
    )  # fmt: skip
    return SET_UP + HIDDEN * cost / targets * n


def draw_neighbors(kernel, tree, degrees, n_rounds, seed, *, groups=None, progress=None):
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
        chunk=max(1, min(128, groups.start.size // 32)), progress=progress,
    )  # fmt: skip
    return neighbors


@jit
def _estimate(picked, degrees, code, scale, g_start, g_stop, g_low, g_high, points, start, stop, low, high, n_rounds):
    """Cost of the groups `picked`, whose targets have about the `degrees`, and how many targets they have."""
    capacity = 1024
    nodes, bounds, entries, shape = _room(capacity)
    total, targets, d = 0.0, 0, points.shape[1]
    for k in range(picked.size):
        group, size = picked[k], g_stop[picked[k]] - g_start[picked[k]]
        targets += size
        if degrees[k] == 0.0:
            continue
        while True:
            count, visits = _list_nodes(
                code, scale, g_start[group], g_stop[group], g_low[group], g_high[group], points, start, stop, low, high,
                REFINE * degrees[k] / (size * n_rounds), nodes, bounds, entries, shape,
            )  # fmt: skip
            if count >= 0:
                break
            capacity *= 2
            nodes, bounds, entries, shape = _room(capacity)
        proposals = shape[WEIGHT, :count].sum() / degrees[k]
        draws = size * n_rounds * (DRAW + (PROPOSAL + PROPOSAL_DIM * d) * proposals)
        total += GROUP + visits * (VISIT + VISIT_DIM * d) + ENTRY * count + draws
    return total, targets


@jit
def _draw_range(
    begin, end, code, scale, g_start, g_stop, g_low, g_high, points, order, start, stop, low, high, degrees, seed, neighbors
):  # fmt: skip
    capacity = 1024
    nodes, bounds, entries, shape = _room(capacity)
    state, place = np.empty(BATCH, np.uint64), np.empty(BATCH, np.int64)
    choice, value = np.empty((3, BATCH), np.int32), np.empty((2, BATCH))
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
        while True:
            count, _ = _list_nodes(
                code, scale, g_first, g_last, g_low[group], g_high[group], points, start, stop, low, high, limit,
                nodes, bounds, entries, shape,
            )  # fmt: skip
            if count >= 0:
                break
            capacity *= 2
            nodes, bounds, entries, shape = _room(capacity)
        if total < TINY and not _any_reachable(code, scale, points, g_first, count, entries):  # such a group is a single point
            degrees[g_first] = 0.0
            continue
        _alias_table(shape, count, entries[2], nodes[0])
        _draw_group(
            code, scale, points, order, degrees, seed, g_first, g_last, count, entries, shape, state, place, choice, value, neighbors
        )


@jit
def _room(capacity):
    return np.empty((2, capacity), np.int32), np.empty((2, capacity)), np.empty((3, capacity), np.int32), np.empty((2, capacity))


@jit
def _any_reachable(code, scale, points, i, count, entries):
    for k in range(count):
        for j in range(entries[FIRST, k], entries[FIRST, k] + entries[SIZE, k]):
            if j != i and exp_neg(exponent(code, scale, points, i, points, j)) > 0.0:
                return True
    return False


@jit
def _draw_group(
    code, scale, points, order, degrees, seed, begin, end, count, entries, shape, state, place, choice, value, neighbors
):  # fmt: skip
    """Draw for the targets begin..end-1, many draws at a time: loop after loop over all that are pending, so that none waits for another.

    A pending draw has the `state` of its stream, its `place` in the flat `neighbors` and its `target`.
    """
    first, size, alias = entries
    level, threshold = shape
    target, source, node = choice
    pick, decision = value
    n_rounds = neighbors.shape[1]
    flat = neighbors.reshape(neighbors.size)
    pending, i, draw = 0, begin, 0
    while True:
        while pending < BATCH and i < end:
            taken = min(n_rounds - draw, BATCH - pending) if degrees[i] > 0.0 else 0
            if taken:
                streams(seed, order[i], draw, state[pending : pending + taken])
            for k in range(taken):
                place[pending + k] = i * n_rounds + draw + k
                target[pending + k] = i
            pending += taken
            draw += taken
            if draw == n_rounds or taken == 0:
                i, draw = i + 1, 0
        if pending == 0:
            return
        # Loops over few arrays, one after the other: each is vectorised.
        _uniforms(pending, state, pick, decision)
        _pick_nodes(pending, pick, count, alias, threshold, node)
        _pick_sources(pending, node, decision, size, first, source)
        paired_exponents(code, scale, points, target[:pending], source[:pending], pick)
        _decide(pending, pick, node, level, source, target, decision)
        for p in range(pending):
            flat[place[p]] = source[p]
        pending = _keep_rejected(pending, decision, state, place, target)


@jit
def _uniforms(pending, state, first, second):
    for p in range(pending):
        first[p] = uniform(state[p], 0)
        second[p] = uniform(state[p], 1)
        state[p] = advance(state[p], 2)


@jit
def _pick_nodes(pending, uniforms, count, alias, threshold, node):
    for p in range(pending):
        x = uniforms[p] * count
        k = np.int32(x)
        other = alias[np.uint32(k)]  # unsigned: no check for negative indices
        node[p] = other if x - k >= threshold[np.uint32(k)] else k


@jit
def _pick_sources(pending, node, uniforms, size, first, source):
    """Take one of the node's points; what is left of the uniform is one again."""
    for p in range(pending):
        k = np.uint32(node[p])
        x = uniforms[p] * size[k]
        offset = np.int32(x)
        source[p] = first[k] + offset
        uniforms[p] = x - offset


@jit
def _decide(pending, exponent, node, level, source, target, decision):
    """Make `decision` positive where the proposal is accepted."""
    for p in range(pending):
        exponent[p] = exponent[p] if (source[p] != target[p]) & (exponent[p] < UNDERFLOW) else np.inf
    for p in range(pending):
        exponent[p] = max(exponent[p] - level[np.uint32(node[p])], 0.0)
    for p in range(pending):
        decision[p] = exp_neg(exponent[p]) - decision[p]


@jit
def _keep_rejected(pending, decision, state, place, target):
    """Move what is still pending to the front, without a branch that a processor could guess wrong, and return its number."""
    left = 0
    for p in range(pending):
        state[left], place[left], target[left] = state[p], place[p], target[p]
        left += decision[p] <= 0.0
    return left


@jit
def _list_nodes(
    code, scale, g_first, g_last, g_low, g_high, points, start, stop, low, high, limit, nodes, bounds, entries, shape
):  # fmt: skip
    """List the nodes for a group in `entries` and `shape`; return their number, -1 if there is too little room, and how many were seen.

    Level after level, a node is divided while the proposals that it would waste, ``|B| (max k - min k)``, are more than `limit`; a leaf
    falls into its points.
    """
    count, width, visits = 0, 1, 0
    nodes[0, 0] = 0
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
        if not inner:
            for p in range(width):
                largest = exp_neg(bounds[0, p])
                _enter(now[p], 1, bounds[0, p], largest, entries, shape, count)
                count += (largest > 0.0) & ((now[p] != g_first) | (g_last - g_first > 1))
            return count, visits
        leaves = 2 * now[0] + 2 >= start.size
        divided = 0
        for p in range(width):
            node = now[p]
            largest, smallest = exp_neg(bounds[0, p]), exp_neg(bounds[1, p])
            size = stop[node] - start[node]
            own = (start[node] <= g_first) & (g_last <= stop[node])
            kept = size * largest - (size - own) * smallest <= limit
            _enter(start[node], size, bounds[0, p], size * largest, entries, shape, count)
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


@jit
def _bound(code, scale, g_low, g_high, low, high, width, nodes, bounds):
    """Smallest and largest exponents between the group's box and those of `nodes`, as `tree.box_distances` has them."""
    for p in range(width):
        bounds[0, p] = bounds[1, p] = 0.0
    for c in range(g_low.size):
        for p in range(width):
            node = nodes[p]
            gap = max(max(g_low[c] - high[node, c], low[node, c] - g_high[c]), 0.0) * scale
            span = max(g_high[c] - low[node, c], high[node, c] - g_low[c]) * scale
            bounds[0, p] += gap if code == LAPLACIAN else gap * gap
            bounds[1, p] += span if code == LAPLACIAN else span * span
    if code == EXPONENTIAL:
        for p in range(width):
            bounds[0, p], bounds[1, p] = np.sqrt(bounds[0, p]), np.sqrt(bounds[1, p])


@jit
def _alias_table(shape, count, alias, room):
    """Walker's alias table (Vose's construction): the weights in `shape` become thresholds."""
    threshold = shape[WEIGHT]
    total = 0.0
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
