"""The closest pair of points of two trees.

Pairs of nodes are visited, near ones first, and those that are farther from each other than the
closest points so far are left out.
"""

import numpy as np

from kdegraph.geometry.boxes import box_distances
from kdegraph.geometry.kernels import scaled_distance
from kdegraph.runtime.jit import jit


@jit
def closest_pair(code, tree, other):
    """Find two points, one of each tree, with the smallest distance of a kernel between them.

    Parameters
    ----------
    code : int
        Of the kernel function.
    tree, other : Tree

    Returns
    -------
    i, j : int
        Their numbers, in the original order of each tree.
    """
    most = tree.n_levels + other.n_levels + 1
    nodes, other_nodes = np.zeros(most, np.int64), np.zeros(most, np.int64)
    bounds = np.zeros(most)
    closest, i, j, top = np.inf, 0, 0, 0
    while top >= 0:
        a, b, bound = nodes[top], other_nodes[top], bounds[top]
        top -= 1
        if bound >= closest:
            continue
        is_leaf, other_is_leaf = 2 * a + 2 >= tree.start.size, 2 * b + 2 >= other.start.size
        if is_leaf and other_is_leaf:
            for k in range(tree.start[a], tree.stop[a]):
                for m in range(other.start[b], other.stop[b]):
                    u = scaled_distance(code, 1.0, tree.points, k, other.points, m)
                    if u < closest:
                        closest, i, j = u, k, m
            continue
        larger = tree.stop[a] - tree.start[a] >= other.stop[b] - other.start[b]
        if other_is_leaf or (larger and not is_leaf):
            left, other_left, right, other_right = 2 * a + 1, b, 2 * a + 2, b
        else:
            left, other_left, right, other_right = a, 2 * b + 1, a, 2 * b + 2
        left_bound, _ = box_distances(code, 1.0, tree, left, other, other_left)
        right_bound, _ = box_distances(code, 1.0, tree, right, other, other_right)
        if left_bound < right_bound:  # the nearer one comes last, and is visited first
            left, other_left, left_bound, right, other_right, right_bound = (
                right, other_right, right_bound, left, other_left, left_bound,
            )  # fmt: skip
        nodes[top + 1], other_nodes[top + 1], bounds[top + 1] = left, other_left, left_bound
        nodes[top + 2], other_nodes[top + 2], bounds[top + 2] = right, other_right, right_bound
        top += 2
    return tree.order[i], other.order[j]
