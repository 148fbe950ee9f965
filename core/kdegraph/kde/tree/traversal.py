"""The compiled traversal of the source tree for one group of targets after another; see
`kdegraph.kde.tree.sums` for the error.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.geometry.boxes import box_distances
from kdegraph.geometry.kernels import exp_neg, exponent, exponents
from kdegraph.geometry.tree import Tree
from kdegraph.kde.direct import SOURCE_BLOCK
from kdegraph.kde.expansions import taylor
from kdegraph.kde.expansions.indices import ExpansionWorkspace, MultiIndices, expansion_workspace
from kdegraph.kde.tree.plan import (
    DIRECT,
    FIELD,
    SMALL_GROUP,
    TRANSLATE,
    ExpansionCosts,
    PairGeometry,
    choose_way,
    pair_geometry,
)
from kdegraph.runtime.jit import jit

# In the lower bound of a sum: nodes whose exponents differ by at most this are not divided further,
# as their kernel values differ by a factor of at most 2.
CLOSE_EXPONENTS = 0.7

# In the lower bound of a sum: nodes that cannot add more than this part of what is known already
# are left out.
NEGLIGIBLE_PART = 0.1

# The lower bound is multiplied by this, which is more than its rounding errors.
BELOW_ROUNDING = 0.999


class Sources(NamedTuple):
    """The tree of the sources, with all that the sums need of it.

    Attributes
    ----------
    tree : Tree
    weights : (n,) float64
        In the order of the tree's points.
    node_sum, node_mass : (n_nodes,) float64
        Sums of the weights and of the absolute weights of each node.
    is_group : (n_nodes,) bool
        Whether the node is a group, which may be expanded.
    moment_row : (n_nodes,) int64
        Row of the node in `moments`; -1 where it has none.
    moments : (n_expanded, n_terms) float64
    indices : MultiIndices
        Those of the moments.
    costs : ExpansionCosts
    """

    tree: Tree
    weights: NDArray[np.float64]
    node_sum: NDArray[np.float64]
    node_mass: NDArray[np.float64]
    is_group: NDArray[np.bool_]
    moment_row: NDArray[np.int64]
    moments: NDArray[np.float64]
    indices: MultiIndices
    costs: ExpansionCosts


class Targets(NamedTuple):
    """Target points in the order of their tree, cut into units that are treated together.

    Attributes
    ----------
    points : (m, d) float64
    columns : (d, m) float64
        The same, transposed.
    start, stop : (n_units,) int64
        Range of the points of each unit.
    low, high : (n_units, d) float64
        Bounding box of each unit.
    """

    points: NDArray[np.float64]
    columns: NDArray[np.float64]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class Accuracy(NamedTuple):
    """What the sums may neglect, and whether points are sources of their own sums.

    Attributes
    ----------
    of_least : float
        Error allowed for a node, relative to its least contribution (`a` of the module `sums`).
    of_bound : float
        Error allowed for all nodes together, relative to the lower bound of the sum (`b`).
    cut : float
        Kernel values of this exponent or a larger one are left out.
    exclude_self : bool
        Whether the sum at a point leaves out the point; the sources are the targets then.
    """

    of_least: float
    of_bound: float
    cut: float
    exclude_self: bool


class Workspace(NamedTuple):
    """Arrays that one thread uses again for every unit.

    Attributes
    ----------
    stack : (256,) int64
        Nodes still to be visited.
    values : (SOURCE_BLOCK,) float64
        Exponents, then kernel values, of a direct sum.
    local : (n_terms,) float64
        The local expansion of the unit.
    pair : PairGeometry
    source_center, target_center : (d,) float64
    expansion : ExpansionWorkspace
    """

    stack: NDArray[np.int64]
    values: NDArray[np.float64]
    local: NDArray[np.float64]
    pair: PairGeometry
    source_center: NDArray[np.float64]
    target_center: NDArray[np.float64]
    expansion: ExpansionWorkspace


@jit
def _workspace(d, indices):
    """A `Workspace` for points in `d` dimensions and expansions with these multi-indices."""
    return Workspace(
        np.empty(256, np.int64),
        np.empty(SOURCE_BLOCK),
        np.empty(indices.parent.size),
        pair_geometry(d),
        np.empty(d),
        np.empty(d),
        expansion_workspace(indices),
    )


@jit
def sums_range(begin, end, code, scale, targets, sources, accuracy, sums):
    """Add the sums at the targets of the units begin, ..., end - 1 to `sums`."""
    workspace = _workspace(targets.low.shape[1], sources.indices)
    mass = sources.node_mass[0]
    for unit in range(begin, end):
        bound = _lower_bound(code, scale, targets, unit, sources, accuracy, workspace.stack)
        share = accuracy.of_bound * bound / mass if mass > 0.0 else 0.0
        _add_unit(code, scale, targets, unit, sources, accuracy, share, workspace, sums)


@jit(borrow=True)
def _add_unit(code, scale, targets, unit, sources, accuracy, share, workspace, sums):
    """Add the sums at the targets of one unit; every node may have an error of `share` for each
    unit of its weight, beside the one relative to its least contribution.
    """
    tree, stack = sources.tree, workspace.stack
    first, last = targets.start[unit], targets.stop[unit]
    center = workspace.target_center
    for c in range(center.size):
        center[c] = targets.low[unit, c] + (targets.high[unit, c] - targets.low[unit, c]) / 2
    expanded = False
    constant = 0.0
    top = 0
    stack[0] = 0
    while top >= 0:
        node = stack[top]
        top -= 1
        least, most = box_distances(code, scale, targets, unit, tree, node)
        largest = exp_neg(least)
        if least >= accuracy.cut or largest <= share:
            continue
        start, stop = tree.start[node], tree.stop[node]
        # Every target is one of the node's sources, and leaves itself out.
        own = 1.0 if accuracy.exclude_self and start <= first and last <= stop else 0.0
        if own > 0.0 and stop - start == 1:
            continue
        # Some of the targets are the node's sources, and others are not: neither one value nor one
        # expansion holds for all of them.
        mixed = accuracy.exclude_self and own == 0.0 and start >= first and stop <= last
        smallest = exp_neg(most)
        allowed = accuracy.of_least * smallest + share
        if 0.5 * (largest - smallest) <= allowed and not mixed:
            constant += (sources.node_sum[node] - own) * 0.5 * (largest + smallest)
            continue
        if sources.is_group[node] and sources.indices.order > 1 and not mixed:
            if own > 0.0:
                allowed *= (sources.node_mass[node] - own) / sources.node_mass[node]
            _set_pair(scale, targets, unit, tree, node, workspace)
            way, q, _ = choose_way(
                last - first,
                stop - start,
                sources.moment_row[node] >= 0,
                allowed,
                workspace.pair,
                sources.indices.order,
                sources.costs,
            )
            if way != DIRECT:
                if way != FIELD and not expanded:
                    workspace.local[:] = 0.0
                    expanded = True
                _add_expansion(way, q, scale, targets, unit, sources, node, workspace, sums)
                constant -= own
                continue
        if stop - start <= SMALL_GROUP or 2 * node + 2 >= tree.start.size:
            _add_direct(code, scale, targets, unit, sources, node, accuracy, workspace.values, sums)
        else:
            stack[top + 1], stack[top + 2] = 2 * node + 1, 2 * node + 2
            top += 2
    _finish_unit(scale, targets, unit, sources, expanded, constant, workspace, sums)


@jit(borrow=True)
def _finish_unit(scale, targets, unit, sources, expanded, constant, workspace, sums):
    """Add what nodes have contributed to a unit as a whole: a constant and, if there is one, the
    local expansion.
    """
    first, last = targets.start[unit], targets.stop[unit]
    if expanded:
        taylor.evaluate(
            targets.columns,
            first,
            last,
            workspace.target_center,
            scale,
            workspace.local,
            sources.indices,
            workspace.expansion,
            sums,
        )
    for i in range(first, last):
        sums[i] += constant


@jit(borrow=True)
def _set_pair(scale, targets, unit, tree, node, workspace):
    """Write down where the unit and the node lie.

    Far from the origin centers are rounded, so they may be off the middle of their boxes: half
    widths are measured from where they are, as the moments know them.
    """
    pair, center, middle = workspace.pair, workspace.target_center, workspace.source_center
    for c in range(center.size):
        low, high = tree.low[node, c], tree.high[node, c]
        middle[c] = low + (high - low) / 2
        pair.source_half[c] = max(high - middle[c], middle[c] - low) * scale
        low, high = targets.low[unit, c], targets.high[unit, c]
        pair.target_half[c] = max(high - center[c], center[c] - low) * scale
        pair.offset[c] = (center[c] - middle[c]) * scale


@jit(borrow=True)
def _add_expansion(way, q, scale, targets, unit, sources, node, workspace, sums):
    """Sum over a node by an expansion of order q in one of the ways of `choose_way`: into the local
    expansion, or (`FIELD`) into `sums`.
    """
    tree, indices, local = sources.tree, sources.indices, workspace.local
    offset = workspace.pair.offset
    if way == TRANSLATE:
        moments = sources.moments[sources.moment_row[node]]
        taylor.translate(moments, offset, q, indices, workspace.expansion, local)
    elif way == FIELD:
        moments = sources.moments[sources.moment_row[node]]
        for i in range(targets.start[unit], targets.stop[unit]):
            for c in range(offset.size):
                offset[c] = (targets.points[i, c] - workspace.source_center[c]) * scale
            sums[i] += taylor.field_at(moments, offset, q, indices, workspace.expansion)
    else:
        for j in range(tree.start[node], tree.stop[node]):
            for c in range(offset.size):
                offset[c] = (workspace.target_center[c] - tree.columns[c, j]) * scale
            weight = sources.weights[j]
            taylor.add_source(weight, offset, q, indices, workspace.expansion, local)


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
            exponents(code, scale, targets.points[i0 + k], columns, begin, end, row)
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
    """A lower bound of the sum of absolute contributions at every target of the unit.

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
        least, most = box_distances(code, scale, targets, unit, tree, node)
        most_left = exp_neg(least) * sources.node_mass[0]
        if least >= accuracy.cut or most_left <= NEGLIGIBLE_PART * bound:
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
    return BELOW_ROUNDING * bound


@jit(inline=True, borrow=True)
def _push_children(code, scale, targets, unit, tree, node, stack, top):
    """Put the children of a node on the stack, the nearer one on top."""
    near, far = 2 * node + 1, 2 * node + 2
    to_near, _ = box_distances(code, scale, targets, unit, tree, near)
    to_far, _ = box_distances(code, scale, targets, unit, tree, far)
    if to_near > to_far:
        near, far = far, near
    stack[top + 1], stack[top + 2] = far, near


@jit(inline=True, borrow=True)
def _add_values(bound, code, scale, targets, i, sources, node, accuracy):
    """`bound` and the absolute contributions of the points of a node at the target i."""
    tree = sources.tree
    for j in range(tree.start[node], tree.stop[node]):
        if not (accuracy.exclude_self and j == i):
            t = exponent(code, scale, targets.points, i, tree.points, j)
            bound += abs(sources.weights[j]) * exp_neg(t)
    return bound
