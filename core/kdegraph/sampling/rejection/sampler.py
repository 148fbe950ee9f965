"""Exact samples of neighbors by rejection, for any kernel that decreases with distance.

For a group of targets A, a list of tree nodes B covers all sources within reach. A proposal picks a
node with probability proportional to ``|B| max k(A, B)`` (from an alias table) and one of its
points uniformly; point j is accepted for target i with probability ``k(x_i, x_j) / max k(A, B)``.
Accepted points follow exactly ``k(x_i, .) / deg(i)``, whatever the list; the list only decides how
many proposals are needed.
"""

import numpy as np

from kdegraph.costs import REJECTION_COSTS
from kdegraph.geometry.kernels import exp_neg, exponent
from kdegraph.kde.direct import direct_sums
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.sampling.rejection.node_lists import (
    allocate_lists,
    allocate_workspace,
    build_alias_table,
    list_nodes,
)
from kdegraph.sampling.rejection.proposals import (
    DrawTask,
    allocate_pending,
    draw_group,
    finish_draws,
)
from kdegraph.sampling.rejection.target_groups import group_targets

# Below this degree rounding may decide whether a point counts as reachable, and the sources are
# looked at one by one. No target draws for ever from sources that are all out of its reach.
UNCERTAIN_DEGREE = 1e-300
# A list is refined by dividing a node if the node wastes more proposals than this number per draw
# of the group. Larger values make lists shorter and proposals more.
WASTE_PER_DIVISION = 32.0
FIRST_CAPACITY = 1024  # entries of a list; doubled where a list is longer
LISTS_TOGETHER = 8  # lists of the largest length that are kept while draws from them are pending
# The cost is estimated from at most this number of groups, and fewer of many points: then the exact
# degrees of one target each, which the estimate needs, would cost too much.
MAX_SAMPLED_GROUPS = 16
MIN_SAMPLED_GROUPS = 4
SAMPLED_PAIRS = 100_000


def estimate_cost(kernel, tree, groups, n_rounds):
    """Estimated cost of `draw_neighbors` in ns of one core, from some of the groups."""
    n, d = tree.points.shape
    n_sampled = max(MIN_SAMPLED_GROUPS, min(MAX_SAMPLED_GROUPS, SAMPLED_PAIRS // n))
    last = groups.start.size - 1
    sampled = np.linspace(0, last, min(n_sampled, last + 1)).astype(np.int64)
    first = groups.start[sampled]
    degrees = direct_sums(
        kernel, tree.points, tree.points[first], np.ones(n), columns=tree.columns, skip=first
    )
    n_groups, n_visits, n_entries, n_draws, n_proposals = _count_work(
        sampled, degrees, kernel.code, kernel.inverse_sigma, groups, tree, n_rounds
    )
    cost = (
        n_groups * REJECTION_COSTS.group
        + n_visits * (REJECTION_COSTS.visit + REJECTION_COSTS.visit_per_dimension * d)
        + n_entries * REJECTION_COSTS.entry
        + n_draws * REJECTION_COSTS.draw
        + n_proposals * (REJECTION_COSTS.proposal + REJECTION_COSTS.proposal_per_dimension * d)
    )
    share = (groups.stop[sampled] - first).sum() / n
    return REJECTION_COSTS.set_up + REJECTION_COSTS.overhead * cost / share


def draw_neighbors(kernel, tree, degrees, n_rounds, seed, *, groups=None, progress=None):
    """Draw `n_rounds` neighbors of every vertex.

    Parameters
    ----------
    kernel : Kernel
    tree : Tree
    degrees : (n,) float64
        Kernel degrees in the tree's order. They balance the work and tell the isolated vertices
        (0), but do not change the law. A degree that is positive by rounding only, no point being
        within reach by the arithmetic of `exponent`, is set to 0.
    n_rounds : int
    seed : int
    groups : TargetGroups, optional
        The groups of targets, if they are known already. They may be some that follow each other:
        then only their targets draw.

    Returns
    -------
    (m, n_rounds) int32
        A row for each target, in the tree's order, with positions in that order; -1 for isolated
        vertices.
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
def _waste_limit(degree, n_draws):
    """Proposals that a node may waste without being divided, in units of kernel values: divided by
    the `degree` it is a number of proposals per draw.
    """
    return WASTE_PER_DIVISION * degree / n_draws


@jit
def _count_work(sampled, degrees, code, inverse_sigma, groups, tree, n_rounds):
    """Count the work for the groups `sampled`, whose targets have about the `degrees`: groups with
    neighbors, nodes visited, entries of lists, draws and expected proposals.
    """
    workspace, lists = allocate_workspace(FIRST_CAPACITY), allocate_lists(FIRST_CAPACITY)
    n_groups, n_visits, n_entries, n_draws, n_proposals = 0, 0, 0, 0, 0.0
    for k in range(sampled.size):
        group = sampled[k]
        draws = (groups.stop[group] - groups.start[group]) * n_rounds
        if degrees[k] == 0.0:
            continue
        limit = _waste_limit(degrees[k], draws)
        count, visits = list_nodes(
            code, inverse_sigma, groups, group, tree, limit, workspace, lists, 0
        )
        while count < 0:
            capacity = 2 * workspace.node.size
            workspace, lists = allocate_workspace(capacity), allocate_lists(capacity)
            count, visits = list_nodes(
                code, inverse_sigma, groups, group, tree, limit, workspace, lists, 0
            )
        n_groups += 1
        n_visits += visits
        n_entries += count
        n_draws += draws
        n_proposals += draws * lists.threshold[:count].sum() / degrees[k]
    return n_groups, n_visits, n_entries, n_draws, n_proposals


@jit
def _draw_range(begin, end, tree, groups, task):
    """Draw for the groups begin ... end - 1."""
    group, capacity = begin, FIRST_CAPACITY
    while group < end:
        group = _draw_with_capacity(group, end, capacity, tree, groups, task)
        capacity *= 2


@jit
def _draw_with_capacity(begin, end, capacity, tree, groups, task):
    """Draw for the groups from `begin` on, up to `end` or to the first group whose list may have
    more than `capacity` entries; return that one.
    """
    workspace, lists = allocate_workspace(capacity), allocate_lists(capacity * LISTS_TOGETHER)
    pending = allocate_pending()
    used, n_pending = 0, 0
    for group in range(begin, end):
        first, last = groups.start[group], groups.stop[group]
        total, n_linked = _sum_degrees(task.degrees, first, last)
        if n_linked == 0:
            continue
        limit = _waste_limit(total / n_linked, n_linked * task.neighbors.shape[1])
        if used + capacity > capacity * LISTS_TOGETHER:
            finish_draws(task, lists, pending, n_pending)
            used, n_pending = 0, 0
        count, _ = list_nodes(
            task.code, task.inverse_sigma, groups, group, tree, limit, workspace, lists, used
        )
        if count < 0:
            finish_draws(task, lists, pending, n_pending)
            return group
        # Groups of so small degrees are single points.
        if total < UNCERTAIN_DEGREE and not _any_reachable(task, first, lists, used, count):
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
    """The sum of the degrees of the points begin ... end - 1, and how many are positive."""
    total, n_linked = 0.0, 0
    for i in range(begin, end):
        if degrees[i] > 0.0:
            n_linked += 1
            total += degrees[i]
    return total, n_linked


@jit
def _any_reachable(task, i, lists, base, count):
    """Whether the point i reaches any other point of the list."""
    for k in range(base, base + count):
        for j in range(lists.first[k], lists.first[k] + lists.size[k]):
            t = exponent(task.code, task.inverse_sigma, task.points, i, task.points, j)
            if j != i and exp_neg(t) > 0.0:
                return True
    return False
