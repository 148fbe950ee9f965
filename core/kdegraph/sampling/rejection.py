"""Exact samples of neighbors by rejection, for any kernel that decreases with distance.

Targets are divided into groups. For a group A, a list of tree nodes B covers all sources within
reach. A proposal picks a node with probability proportional to ``|B| max k(A, B)``, by an alias
table, and one of its points uniformly. Point j is accepted for target i with probability ``k(x_i,
x_j) / max k(A, B)``. Accepted points follow exactly ``k(x_i, .) / deg(i)``, whatever the list is;
the list only decides how many proposals are needed.
"""

from typing import NamedTuple

import numpy as np

from kdegraph.geometry.kernel_functions import exp_neg
from kdegraph.geometry.kernels import exponent
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.sampling.rejection_lists import (
    allocate_lists,
    allocate_workspace,
    build_alias_table,
    list_nodes,
)
from kdegraph.sampling.rejection_proposals import (
    DrawTask,
    allocate_pending,
    draw_group,
    finish_draws,
)

# Initial capacity of a list, in entries; doubled for a longer list.
FIRST_CAPACITY = 1024
# Lists of maximal length that are kept while draws from them are pending.
LISTS_TOGETHER = 8


class TargetGroups(NamedTuple):
    """Groups of targets, each of which shares one list of nodes."""

    # (m,) int64: the targets of a group are the points start ... stop - 1 in the tree's order
    start: np.ndarray
    stop: np.ndarray
    # (m, d) float64: the bounding box of each group
    low: np.ndarray
    high: np.ndarray


def group_targets(kernel, tree, n_rounds):
    """Divide all points into `TargetGroups` for `n_rounds` draws each: the largest nodes of `tree`
    that are narrow enough, and single points of leaves that are too wide.
    """
    radii, sizes = tree.radii(kernel.inverse_sigma), tree.stop - tree.start
    # A wide group wastes proposals on bounds far above the kernel values of its targets; a narrow
    # one has few draws to share its list. With larger groups, some threads would have no work at
    # the end.
    narrow = (radii <= 0.2) & (sizes <= 4096)
    few_draws = (radii <= 0.8) & (sizes * n_rounds <= 2000)
    return TargetGroups(*tree.units(tree.largest_nodes(narrow | few_draws)))


def draw_neighbors(kernel, tree, degrees, n_rounds, seed, *, groups=None, progress=None):
    """Draw `n_rounds` neighbors of the targets of some consecutive `groups`, by default of all.
    Return them, (m, n_rounds) int32, as positions in the tree's order; -1 for isolated vertices.

    The kernel `degrees`, in the tree's order, balance the work and identify the isolated vertices
    (0), but do not change the law. A degree that is positive only by rounding, since `exponent`
    finds no point within reach, is set to 0.
    """
    groups = group_targets(kernel, tree, n_rounds) if groups is None else groups
    first, last = groups.start[0], groups.stop[-1]
    neighbors = np.full((last - first, n_rounds), -1, np.int32)
    task = DrawTask(
        kernel.code,
        kernel.inverse_sigma,
        tree.points,
        tree.order,
        degrees,
        np.uint64(seed),
        first,
        neighbors,
    )
    n_groups = groups.start.size
    chunk = max(1, min(128, n_groups // 16))
    parallel.run(_draw_range, n_groups, tree, groups, task, chunk=chunk, progress=progress)
    return neighbors


@jit
def _draw_range(begin, end, tree, groups, task):
    """Draw for the groups begin ... end - 1."""
    group, capacity = begin, FIRST_CAPACITY
    while group < end:
        group = _draw_with_capacity(group, end, capacity, tree, groups, task)
        capacity *= 2


@jit
def _draw_with_capacity(begin, end, capacity, tree, groups, task):
    """Draw for the groups begin ... end - 1 up to the first one whose list may have more than
    `capacity` entries; return that one, or `end`.
    """
    workspace, lists = allocate_workspace(capacity), allocate_lists(capacity * LISTS_TOGETHER)
    pending = allocate_pending()
    used, n_pending = 0, 0
    for group in range(begin, end):
        first, last = groups.start[group], groups.stop[group]
        total, n_linked = _sum_degrees(task.degrees, first, last)
        if n_linked == 0:
            continue
        # A node may waste 32 proposals per draw of the group, in units of kernel values; with a
        # larger number, lists are shorter and proposals more numerous.
        limit = 32.0 * (total / n_linked) / (n_linked * task.neighbors.shape[1])
        if used + capacity > capacity * LISTS_TOGETHER:
            finish_draws(task, lists, pending, n_pending)
            used, n_pending = 0, 0
        count = list_nodes(
            task.code, task.inverse_sigma, groups, group, tree, limit, workspace, lists, used
        )
        if count < 0:
            finish_draws(task, lists, pending, n_pending)
            return group
        # Rounding may decide whether a point with so small a degree, which is a group of its own,
        # counts as reachable. Without a reachable source it would draw forever.
        if total < 1e-300 and not _any_reachable(task, first, lists, used, count):
            task.degrees[first] = 0.0
            continue
        build_alias_table(
            lists.threshold[used : used + count], lists.alias[used : used + count], workspace.node
        )
        n_pending = draw_group(task, first, last, lists, used, count, pending, n_pending)
        used += count
    finish_draws(task, lists, pending, n_pending)
    return end


@jit
def _sum_degrees(degrees, begin, end):
    """Return the sum of the degrees of the points begin ... end - 1, and how many are positive."""
    total, n_linked = 0.0, 0
    for i in range(begin, end):
        if degrees[i] > 0.0:
            n_linked += 1
            total += degrees[i]
    return total, n_linked


@jit
def _any_reachable(task, i, lists, base, count):
    """Return whether the point i reaches any other point of the list."""
    for k in range(base, base + count):
        for j in range(lists.first[k], lists.first[k] + lists.size[k]):
            t = exponent(task.code, task.inverse_sigma, task.points, i, task.points, j)
            if j != i and exp_neg(t) > 0.0:
                return True
    return False
