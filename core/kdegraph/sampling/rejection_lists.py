"""Lists of tree nodes for the sampler `rejection`, with their alias tables.

The nodes of a list cover all sources within reach of a group of targets.
"""

from typing import NamedTuple

import numpy as np

from kdegraph.geometry.boxes import interval_distances
from kdegraph.geometry.kernel_functions import exp_neg, scaled_term, to_exponents
from kdegraph.runtime.jit import jit


class NodeLists(NamedTuple):
    """Consecutive lists of nodes; an entry is a node of the tree or a single point."""

    # (capacity,) int32: the sources of an entry are the points first ... first + size - 1 in the
    # tree's order
    first: np.ndarray
    size: np.ndarray
    # (capacity,) float64: the smallest exponent between the boxes of the group and of the entry, so
    # that ``exp(-nearest)`` is an upper bound of their kernel values
    nearest: np.ndarray
    # (capacity,) float64: the weight ``size exp(-nearest)`` of the entry; `build_alias_table`
    # replaces it by the share of the entry's cell of the alias table that belongs to the entry
    # itself
    threshold: np.ndarray
    # (capacity,) int32: the entry, relative to the start of the list, to which the rest of the cell
    # belongs
    alias: np.ndarray


class ListWorkspace(NamedTuple):
    """Arrays for building one list of at most `capacity` entries."""

    # (capacity,) int32: the nodes of the current level (in the end: points), and those that are
    # divided further
    node: np.ndarray
    divided: np.ndarray
    # (capacity,) float64: the smallest exponent between the boxes of the group and of the node
    nearest: np.ndarray
    # (capacity,) float64: bounds of the kernel values between the two boxes
    largest: np.ndarray
    smallest: np.ndarray


@jit
def allocate_lists(capacity):
    """Allocate lists of `capacity` entries in total."""
    return NodeLists(
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity, np.int32),
    )


@jit
def allocate_workspace(capacity):
    """Allocate a workspace for one list of at most `capacity` entries."""
    return ListWorkspace(
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity),
    )


@jit(inline=True)
def list_nodes(code, inverse_sigma, groups, group, tree, limit, workspace, lists, base):
    """Write the list of one group to `lists`, from the entry `base` on. Return the number of
    entries, or -1 if they may exceed the capacity of the workspace.

    Level by level, a node is divided if it would waste more proposals than `limit`: ``size (max k -
    min k)`` over the pairs of the group and the node. A leaf is divided into its points.
    """
    capacity = workspace.node.size
    low, high = groups.low[group], groups.high[group]
    count, n_divided, at_leaves = 0, 0, False
    # Levels with fewer nodes take as long, as loops over nodes process a vector of them at a time.
    width = min(8, (tree.start.size + 1) // 2)
    for p in range(width):
        workspace.node[p] = width - 1 + p
    while width and not at_leaves:
        if count + width > capacity:
            return -1
        _bound_values(code, inverse_sigma, low, high, tree.low, tree.high, width, workspace)
        at_leaves = 2 * workspace.node[0] + 2 >= tree.start.size
        kept, n_divided = _keep_or_divide(
            groups, group, tree, limit, width, workspace, lists, base + count
        )
        count += kept
        width = 2 * n_divided
        if not at_leaves and width <= capacity:
            _list_children(n_divided, workspace.divided, workspace.node)
        elif not at_leaves:
            return -1
    width = _count_points(n_divided, workspace.divided, tree.start, tree.stop)
    if count + width > capacity:
        return -1
    _list_points(n_divided, workspace.divided, tree.start, tree.stop, workspace.node)
    _bound_values(code, inverse_sigma, low, high, tree.points, tree.points, width, workspace)
    return count + _keep_points(groups, group, width, workspace, lists, base + count)


@jit(distinct=True)
def _bound_values(code, inverse_sigma, low, high, node_low, node_high, width, workspace):
    """Bound the kernel values between the box of a group and those of many nodes at a time."""
    # Fields are read before the loops: in a loop, each access would count references.
    nodes, nearest = workspace.node, workspace.nearest
    largest, farthest = workspace.largest, workspace.smallest
    for p in range(width):
        nearest[p] = farthest[p] = 0.0
    for c in range(low.size):
        for p in range(width):
            node = nodes[p]
            gap, span = interval_distances(low[c], high[c], node_low[node, c], node_high[node, c])
            nearest[p] += scaled_term(code, gap * inverse_sigma)
            farthest[p] += scaled_term(code, span * inverse_sigma)
    to_exponents(code, nearest[:width])
    to_exponents(code, farthest[:width])
    for p in range(width):
        largest[p] = exp_neg(nearest[p])
        farthest[p] = exp_neg(farthest[p])  # now the smallest kernel value


@jit(inline=True)
def _keep_or_divide(groups, group, tree, limit, width, workspace, lists, place):
    """Append the nodes that waste few proposals to the list, from `place` on, and write the others
    to `workspace.divided`; nodes out of reach are dropped. Return how many were appended, and how
    many are to be divided.
    """
    nodes, divided, nearest = workspace.node, workspace.divided, workspace.nearest
    largest, smallest = workspace.largest, workspace.smallest
    starts, stops = tree.start, tree.stop
    firsts, sizes, exponents, weights = lists.first, lists.size, lists.nearest, lists.threshold
    first_target, last_target = groups.start[group], groups.stop[group]
    kept, n_divided = 0, 0
    for p in range(width):
        node = nodes[p]
        start, stop = starts[node], stops[node]
        size = stop - start
        # A target is not its own neighbor: a node that contains the group has one source less.
        own = (start <= first_target) & (last_target <= stop)
        keep = size * largest[p] - (size - own) * smallest[p] <= limit
        reachable = largest[p] > 0.0
        # A node that is not kept is overwritten by the next one: this avoids a branch.
        k = place + kept
        firsts[k], sizes[k], exponents[k], weights[k] = start, size, nearest[p], size * largest[p]
        divided[n_divided] = node
        kept += keep & reachable
        n_divided += (not keep) & reachable
    return kept, n_divided


@jit(inline=True)
def _keep_points(groups, group, width, workspace, lists, place):
    """Append the points within reach to the list, from `place` on, and return their number."""
    points, nearest, largest = workspace.node, workspace.nearest, workspace.largest
    firsts, sizes, exponents, weights = lists.first, lists.size, lists.nearest, lists.threshold
    first_target = groups.start[group]
    alone = groups.stop[group] - first_target == 1
    kept = 0
    for p in range(width):
        k = place + kept
        firsts[k], sizes[k], exponents[k], weights[k] = points[p], 1, nearest[p], largest[p]
        kept += (largest[p] > 0.0) & ((points[p] != first_target) | (not alone))
    return kept


@jit(inline=True)
def _list_children(n_divided, divided, nodes):
    for p in range(n_divided):
        child = 2 * divided[p] + 1
        nodes[2 * p], nodes[2 * p + 1] = child, child + 1


@jit(inline=True)
def _count_points(n_divided, divided, start, stop):
    count = 0
    for p in range(n_divided):
        count += stop[divided[p]] - start[divided[p]]
    return count


@jit(inline=True)
def _list_points(n_divided, divided, start, stop, points):
    k = 0
    for p in range(n_divided):
        for i in range(start[divided[p]], stop[divided[p]]):
            points[k] = i
            k += 1


@jit(inline=True)
def build_alias_table(threshold, alias, workspace):
    """Build Walker's alias table by the method of M. D. Vose (IEEE Transactions on Software
    Engineering 17, 1991). The weights in `threshold` are replaced by the thresholds; `workspace`
    holds as many integers.
    """
    count, total = threshold.size, 0.0
    for k in range(count):
        total += threshold[k]
    # Two stacks share the workspace: small weights from its start, large ones from its end.
    small, large = 0, count
    for k in range(count):
        threshold[k] = threshold[k] / total * count
        if threshold[k] < 1.0:
            workspace[small] = k
            small += 1
        else:
            large -= 1
            workspace[large] = k
    while small > 0 and large < count:
        small -= 1
        k, j = workspace[small], workspace[large]
        alias[k] = j
        threshold[j] -= 1.0 - threshold[k]
        if threshold[j] < 1.0:
            large += 1
            workspace[small] = j
            small += 1
    # The remaining thresholds differ from 1 only by rounding errors.
    for s in range(small):
        threshold[workspace[s]] = 1.0
    for s in range(large, count):
        threshold[workspace[s]] = 1.0
