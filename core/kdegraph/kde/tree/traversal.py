"""The compiled traversal of the source tree for one group of targets after another; see
`kdegraph.kde.tree.sums` for the error.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.geometry.boxes import box_exponents
from kdegraph.geometry.kernel_functions import exp_neg, to_exponents
from kdegraph.geometry.kernels import exponent, scaled_distances
from kdegraph.geometry.tree import Tree
from kdegraph.kde.direct import SOURCE_BLOCK
from kdegraph.kde.tree.plan import SMALL_GROUP
from kdegraph.runtime.jit import jit

# In the lower bound of a sum: nodes whose exponents differ by at most this are not divided further,
# as their kernel values differ by a factor of at most 2.
CLOSE_EXPONENTS = 0.7


class Sources(NamedTuple):
    """The tree of the sources, with all that the sums need of it."""

    tree: Tree
    weights: NDArray[np.float64]  # (n,): in the order of the tree's points
    # (n_nodes,): sums of the weights and of the absolute weights of each node
    node_sum: NDArray[np.float64]
    node_mass: NDArray[np.float64]
    is_group: NDArray[np.bool_]  # (n_nodes,): whether the node is a group of the plan


class Targets(NamedTuple):
    """Target points in the order of their tree, cut into units that are treated together."""

    points: NDArray[np.float64]  # (m, d)
    columns: NDArray[np.float64]  # (d, m): the same, transposed
    # (n_units,): range of the points of each unit
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    # (n_units, d): bounding box of each unit
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class Accuracy(NamedTuple):
    """The errors that sums may have, and whether points are sources of their own sums."""

    # Error allowed for a node, relative to its least contribution (`a` of the module `sums`).
    of_least: float
    # Error allowed for all nodes together, relative to the lower bound of the sum (`b`).
    of_bound: float
    cut: float  # kernel values of this exponent or a larger one are left out
    # Whether the sum at a point leaves out the point; the sources are the targets then.
    exclude_self: bool


@jit
def sums_range(begin, end, code, scale, targets, sources, accuracy, sums):
    """Add the sums at the targets of the units begin, ..., end - 1 to `sums`."""
    # Nodes still to be visited; exponents, then kernel values, of a direct sum.
    stack, values = np.empty(256, np.int64), np.empty(SOURCE_BLOCK)
    mass = sources.node_mass[0]
    for unit in range(begin, end):
        bound = _lower_bound(code, scale, targets, unit, sources, accuracy, stack)
        share = accuracy.of_bound * bound / mass if mass > 0.0 else 0.0
        _add_unit(code, scale, targets, unit, sources, accuracy, share, stack, values, sums)


@jit(borrow=True)
def _add_unit(code, scale, targets, unit, sources, accuracy, share, stack, values, sums):
    """Add the sums at the targets of one unit; every node may have an error of `share` for each
    unit of its weight, beside the one relative to its least contribution.
    """
    tree = sources.tree
    first, last = targets.start[unit], targets.stop[unit]
    constant = 0.0
    top = 0
    stack[0] = 0
    while top >= 0:
        node = stack[top]
        top -= 1
        least, most = box_exponents(code, scale, targets, unit, tree, node)
        largest = exp_neg(least)
        if least >= accuracy.cut or largest <= share:
            continue
        start, stop = tree.start[node], tree.stop[node]
        # Every target is one of the node's sources, and leaves itself out.
        own = 1.0 if accuracy.exclude_self and start <= first and last <= stop else 0.0
        if own > 0.0 and stop - start == 1:
            continue
        # Some of the targets are the node's sources, and others are not: no single value holds for
        # all of them.
        mixed = accuracy.exclude_self and own == 0.0 and start >= first and stop <= last
        smallest = exp_neg(most)
        allowed = accuracy.of_least * smallest + share
        if 0.5 * (largest - smallest) <= allowed and not mixed:
            constant += (sources.node_sum[node] - own) * 0.5 * (largest + smallest)
            continue
        if stop - start <= SMALL_GROUP or 2 * node + 2 >= tree.start.size:
            _add_direct(code, scale, targets, unit, sources, node, accuracy, values, sums)
        else:
            stack[top + 1], stack[top + 2] = 2 * node + 1, 2 * node + 2
            top += 2
    for i in range(first, last):
        sums[i] += constant


@jit(reassociate=True, inline=True, borrow=True)
def _add_direct(code, scale, targets, unit, sources, node, accuracy, values, sums):
    """Add the sum over all points of a node to every target of a unit.

    The exponents of several targets are written behind each other, so that the loop over exp is
    long.
    """
    first, last = targets.start[unit], targets.stop[unit]
    begin, end = sources.tree.start[node], sources.tree.stop[node]
    columns, weights = sources.tree.columns, sources.weights[begin:end]
    size = end - begin
    n_rows = max(1, min(last - first, SOURCE_BLOCK // size))
    for i0 in range(first, last, n_rows):
        count = min(n_rows, last - i0)
        for k in range(count):
            row = values[k * size : (k + 1) * size]
            scaled_distances(code, scale, targets.points[i0 + k], columns, begin, end, row)
        to_exponents(code, values[: count * size])
        for j in range(count * size):
            values[j] = exp_neg(values[j])
        for k in range(count):
            row = values[k * size : (k + 1) * size]
            if accuracy.exclude_self and begin <= i0 + k < end:
                row[i0 + k - begin] = 0.0
            total = 0.0
            for j in range(size):
                total += weights[j] * row[j]
            sums[i0 + k] += total


@jit(borrow=True)
def _lower_bound(code, scale, targets, unit, sources, accuracy, stack):
    """Return a lower bound of the sum of absolute contributions at every target of the unit.

    Near nodes come first, so that far ones turn out to be negligible.
    """
    tree = sources.tree
    first, last = targets.start[unit], targets.stop[unit]
    bound = 0.0
    top = 0
    stack[0] = 0
    while top >= 0:
        node = stack[top]
        top -= 1
        least, most = box_exponents(code, scale, targets, unit, tree, node)
        most_left = exp_neg(least) * sources.node_mass[0]
        # Nodes that cannot add more than a tenth of what is known already are left out.
        if least >= accuracy.cut or most_left <= 0.1 * bound:
            continue
        begin, end = tree.start[node], tree.stop[node]
        leaf = 2 * node + 2 >= tree.start.size
        if most - least > CLOSE_EXPONENTS and not (sources.is_group[node] or leaf):
            _push_children(code, scale, targets, unit, tree, node, stack, top)
            top += 2
        elif most - least > CLOSE_EXPONENTS and last - first == 1 and end - begin <= SMALL_GROUP:
            bound = _add_values(bound, code, scale, targets, first, sources, node, accuracy)
        else:
            own = 1.0 if accuracy.exclude_self and begin < last and first < end else 0.0
            bound += (sources.node_mass[node] - own) * exp_neg(most)
    return 0.999 * bound  # by more than its rounding errors


@jit(inline=True, borrow=True)
def _push_children(code, scale, targets, unit, tree, node, stack, top):
    """Put the children of a node on the stack, the nearer one on top."""
    near, far = 2 * node + 1, 2 * node + 2
    to_near, _ = box_exponents(code, scale, targets, unit, tree, near)
    to_far, _ = box_exponents(code, scale, targets, unit, tree, far)
    if to_near > to_far:
        near, far = far, near
    stack[top + 1], stack[top + 2] = far, near


@jit(inline=True, borrow=True)
def _add_values(bound, code, scale, targets, i, sources, node, accuracy):
    """Return `bound` plus the absolute contributions of the points of a node at the target i."""
    tree = sources.tree
    for j in range(tree.start[node], tree.stop[node]):
        if not (accuracy.exclude_self and j == i):
            t = exponent(code, scale, targets.points, i, tree.points, j)
            bound += abs(sources.weights[j]) * exp_neg(t)
    return bound
