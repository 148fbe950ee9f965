"""Nearest neighbors of all points of a tree: the points of a leaf share one traversal.

A traversal goes to near nodes first and leaves out each node that is, for all points of the leaf,
farther than the k-th nearest point found so far.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.geometry.lanes import LANES, squared_gaps
from kdegraph.runtime.jit import jit

# Places in a list of neighbors are rounded up to a multiple of this, so that the vectorized loop
# leaves no remainder.
LIST_VECTOR = 8


class _Workspace(NamedTuple):
    """Arrays for one group of queries at a time."""

    queries: NDArray[np.float64]  # (d, LANES): their coordinates
    # (LANES,): squared distances of the queries from a point, or from the two halves of a node
    squared: NDArray[np.float64]
    other_squared: NDArray[np.float64]
    # (LANES,): squared distances that a neighbor must not reach: that of the k-th nearest point so
    # far, or -1 where there are fewer queries
    bounds: NDArray[np.float64]
    # (LANES, m + 1): squared distances of the k nearest points so far, in descending order; -inf
    # behind them
    nearest: NDArray[np.float64]
    numbers: NDArray[np.int64]  # (LANES, m + 1): the same points, by their positions in the tree
    stack: NDArray[np.int64]  # (n_levels + 1,): nodes to visit; the next one comes last


@jit
def search_leaves(begin, end, tree, distances, indices):
    """Write the k nearest points of each point of some leaves into two (n, k) arrays.

    Distances ascend along each row; rows and indices are those of the original points. Leaves are
    counted from 0.
    """
    d, k = tree.points.shape[1], distances.shape[1]
    size = -(-k // LIST_VECTOR) * LIST_VECTOR + 1
    work = _Workspace(
        np.empty((d, LANES)),
        np.empty(LANES),
        np.empty(LANES),
        np.empty(LANES),
        np.full((LANES, size), -np.inf),
        np.zeros((LANES, size), np.int64),
        np.empty(tree.n_levels + 1, np.int64),
    )
    first_leaf = 2 ** (tree.n_levels - 1) - 1
    for leaf in range(first_leaf + begin, first_leaf + end):
        for start in range(tree.start[leaf], tree.stop[leaf], LANES):
            n_queries = min(tree.stop[leaf] - start, LANES)
            _set_queries(tree, start, n_queries, k, work)
            _search(tree, first_leaf, work)
            for lane in range(n_queries):
                row = tree.order[start + lane]
                for m in range(k):
                    distances[row, m] = np.sqrt(work.nearest[lane, k - 1 - m])
                    indices[row, m] = tree.order[work.numbers[lane, k - 1 - m]]


@jit(borrow=True)
def _set_queries(tree, start, n_queries, k, work):
    for lane in range(LANES):
        query = start + min(lane, n_queries - 1)
        for c in range(tree.points.shape[1]):
            work.queries[c, lane] = tree.points[query, c]
        for m in range(k):
            work.nearest[lane, m] = np.inf
        work.bounds[lane] = np.inf if lane < n_queries else -1.0


@jit(inline=True, borrow=True)
def _search(tree, first_leaf, work):
    """Visit all nodes that may hold a neighbor of a query, near ones first."""
    queries, bounds, stack = work.queries, work.bounds, work.stack
    squared, other_squared = work.squared, work.other_squared
    stack[0], height = 0, 1
    while height > 0:
        height -= 1
        node = stack[height]
        if node >= first_leaf:
            _compare(tree, node, work)
            continue
        left, right = 2 * node + 1, 2 * node + 2
        left_near = squared_gaps(queries, tree.low[left], tree.high[left], bounds, squared)
        right_near = squared_gaps(queries, tree.low[right], tree.high[right], bounds, other_squared)
        # One query decides for all which half comes first.
        right_first = other_squared[0] < squared[0]
        if left_near and right_first:
            stack[height] = left
            height += 1
        if right_near:
            stack[height] = right
            height += 1
        if left_near and not right_first:
            stack[height] = left
            height += 1


@jit(borrow=True)
def _compare(tree, leaf, work):
    """Put the points of a leaf into the lists of the queries that they are near enough to."""
    queries, bounds, squared = work.queries, work.bounds, work.squared
    nearest, numbers = work.nearest, work.numbers
    for j in range(tree.start[leaf], tree.stop[leaf]):
        point = tree.points[j]
        near = squared_gaps(queries, point, point, bounds, squared)
        lane = 0
        while near:
            if near & 1:
                insert(squared[lane], j, nearest[lane], numbers[lane])
                bounds[lane] = nearest[lane, 0]
            near >>= 1
            lane += 1


@jit(distinct=True, borrow=True)
def insert(value, number, nearest, numbers):
    """Put a value and its number into a descending list, whose first entry falls out.

    There is no branch in the loop, which is vectorized.
    """
    for m in range(nearest.size - 1):
        here, next_value = nearest[m], nearest[m + 1]
        next_number = numbers[m + 1] if next_value > value else number
        numbers[m] = next_number if here > value else numbers[m]
        nearest[m] = min(here, max(next_value, value))
