"""Groups of targets that share one list of nodes to draw from, see `rejection.sampler`."""

from typing import NamedTuple

import numpy as np

from kdegraph.runtime.jit import jit

# The nodes of a list are bounded for the whole box of a group. A wide group wastes proposals on
# bounds that are far from the kernel values of its targets; a narrow one has few draws among which
# the work for its list is divided. Radii are half diagonals in units of sigma.
GROUP_RADIUS = 0.2
GROUP_RADIUS_OF_FEW_DRAWS = 0.8  # for groups with at most this number of draws in all:
FEW_DRAWS = 2000
MAX_GROUP_SIZE = 4096  # targets; larger groups would leave threads without work at the end


class TargetGroups(NamedTuple):
    """Groups of targets.

    Attributes
    ----------
    start, stop : (m,) int64
        The targets of each group are the points start ... stop - 1 in the tree's order.
    low, high : (m, d) float64
        Their bounding boxes.
    """

    start: np.ndarray
    stop: np.ndarray
    low: np.ndarray
    high: np.ndarray


def group_targets(kernel, tree, n_rounds):
    """Divide all points into groups: the largest nodes of `tree` that are narrow enough, and single
    points where leaves are too wide.
    """
    n, d = tree.points.shape
    groups = TargetGroups(
        np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, d)), np.empty((n, d))
    )
    radii = tree.radii(kernel.inverse_sigma)
    count = _fill_groups(radii, n_rounds, tree, groups)
    return TargetGroups(*(array[:count] for array in groups))


@jit
def _fill_groups(radii, n_rounds, tree, groups):
    """Write the groups, from left to right in the tree, and return their number."""
    stack = np.empty(256, np.int64)
    count, top = 0, 0
    stack[0] = 0
    while top >= 0:
        node = stack[top]
        top -= 1
        start, stop = tree.start[node], tree.stop[node]
        narrow = radii[node] <= GROUP_RADIUS and stop - start <= MAX_GROUP_SIZE
        few_draws = (stop - start) * n_rounds <= FEW_DRAWS
        if narrow or (radii[node] <= GROUP_RADIUS_OF_FEW_DRAWS and few_draws):
            _set_group(groups, count, start, stop, tree.low[node], tree.high[node])
            count += 1
        elif 2 * node + 2 < tree.start.size:
            stack[top + 1], stack[top + 2] = 2 * node + 2, 2 * node + 1
            top += 2
        else:
            for i in range(start, stop):
                _set_group(groups, count, i, i + 1, tree.points[i], tree.points[i])
                count += 1
    return count


@jit(borrow=True)
def _set_group(groups, k, start, stop, low, high):
    """Write one group. An assignment of rows would compare their lengths, which takes long to
    compile.
    """
    groups.start[k], groups.stop[k] = start, stop
    for c in range(low.size):
        groups.low[k, c], groups.high[k, c] = low[c], high[c]
