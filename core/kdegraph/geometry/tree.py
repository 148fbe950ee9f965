"""The balanced kd-tree over the points, which kernel sums, samplers and bandwidths share.

Node `k` has the children `2 k + 1` and `2 k + 2`. Its points are `points[start[k]:stop[k]]`, in the
order of the leaves. The two halves of a node differ by at most one point, as Algorithm 1 of
Macgregor and Sun (2023) asks for, and all leaves lie on the last level.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.progress import partial_progress

# Points in a leaf at most; there are at least half as many. Samplers that compare leaves with nodes
# are fastest with 7 to 20, measured on pixels and on normal clusters in 1 to 8 dimensions; with 4
# or 5 they take up to twice as long.
LEAF_SIZE = 12

# Points: the upper levels of a larger tree are built one node at a time, on all threads.
WIDE_TREE = 100_000

# Points: a node of at most as many is sorted by counting, for each point, the smaller ones.
RANK_SORTED = 96

# The number of keys that are compared is rounded up to a multiple of this, so that the vectorized
# loop leaves no remainder.
RANK_VECTOR = 8

# Points that are looked at to choose the pivot of a larger node.
PIVOT_SAMPLE = 32

# Places in the sorted sample by which the pivot lies beyond the wanted rank, so that the larger
# part of the node is very likely to fall away.
PIVOT_MARGIN = 3


class Tree(NamedTuple):
    """A balanced kd-tree, which compiled code takes as it is."""

    points: NDArray[np.float64]  # (n, d): the points in the order of the leaves
    # (d, n): the same, transposed; compiled loops run along a coordinate
    columns: NDArray[np.float64]
    order: NDArray[np.int64]  # (n,): ``points[i]`` is ``X[order[i]]``
    # (n_nodes,): range of the points of each node
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    # (n_nodes, d): tight bounding box of each node
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    n_levels: int  # number of levels; there are ``2**n_levels - 1`` nodes

    @property
    def first_leaf(self) -> int:
        """Number of inner nodes, which is the number of the first leaf."""
        return 2 ** (self.n_levels - 1) - 1

    def radii(self, inverse_sigma: float) -> NDArray[np.float64]:
        """Half the diagonal of each node's box in units of sigma; infinite where it overflows."""
        with np.errstate(over="ignore"):
            # Each half by itself: the difference of the largest doubles would overflow.
            halves = (self.high / 2 - self.low / 2) * inverse_sigma
            return np.sqrt(np.einsum("kc,kc->k", halves, halves))

    def largest_nodes(self, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the nodes of a mask, (n_nodes,), that no other contains, from left to right."""
        inside = np.zeros(self.start.size, bool)
        for level in range(1, self.n_levels):
            first = 2**level - 1  # the first node of the level
            parents = slice(first // 2, first)
            inside[first : 2 * first + 1] = np.repeat(inside[parents] | mask[parents], 2)
        nodes = np.flatnonzero(mask & ~inside)
        return nodes[np.argsort(self.start[nodes], kind="stable")]

    def units(self, nodes: NDArray[np.int64]) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Return `start`, `stop`, `low` and `high` of some disjoint nodes and of all points outside
        of them, each of which is a unit of its own, from left to right.
        """
        covered = np.zeros(len(self.points) + 1, np.int64)
        covered[self.start[nodes]] += 1
        covered[self.stop[nodes]] -= 1
        single = np.flatnonzero(np.cumsum(covered[:-1]) == 0)
        start = np.concatenate([self.start[nodes], single])
        stop = np.concatenate([self.stop[nodes], single + 1])
        low = np.concatenate([self.low[nodes], self.points[single]])
        high = np.concatenate([self.high[nodes], self.points[single]])
        order = np.argsort(start, kind="stable")  # fast, as both parts are in order
        return start[order], stop[order], low[order], high[order]

    def reduced(self, function: np.ufunc, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Reduce the values of the points of each node by a ufunc, such as `np.add`, (n_nodes,).

        This goes upward from the leaves, as differences of running sums would lose small values.
        """
        out = np.empty(self.start.size)
        out[self.first_leaf :] = function.reduceat(values, self.start[self.first_leaf :])
        for level in range(self.n_levels - 1, 0, -1):
            first = 2**level - 1  # the first node of the level
            children = out[first : 2 * first + 1]
            out[first // 2 : first] = function(children[::2], children[1::2])
        return out

    def original(self, neighbors: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return neighbors by the numbers of the points: row i is that of ``X[i]``, with indices
        into ``X``. Row i of `neighbors` is that of ``points[i]``, with positions in the tree's
        order; -1 stands for none.
        """
        out = np.empty_like(neighbors)
        parallel.run(_renumber, len(neighbors), self.order, neighbors, out)
        return out


@jit(borrow=True)
def _renumber(begin, end, order, neighbors, out):
    for i in range(begin, end):
        row = order[i]
        for k in range(neighbors.shape[1]):
            j = neighbors[i, k]
            out[row, k] = order[j] if j >= 0 else -1


def build_tree(X: NDArray[np.float64], leaf_size: int = LEAF_SIZE, progress=None) -> Tree:
    """Build the tree of the (n, d) float64 array `X` in O(n d log n).

    The longest side of each box is split at the median. Leaves hold at most `leaf_size` points.
    `progress` is called with the fraction done.
    """
    n, d = X.shape
    n_levels = 1
    while -(-n // 2 ** (n_levels - 1)) > leaf_size:
        n_levels += 1
    n_nodes = 2**n_levels - 1
    tree = Tree(
        points=X.copy(),
        columns=np.empty((d, n)),
        order=np.arange(n),
        start=np.zeros(n_nodes, np.int64),
        stop=np.zeros(n_nodes, np.int64),
        low=np.empty((n_nodes, d)),
        high=np.empty((n_nodes, d)),
        n_levels=n_levels,
    )
    tree.stop[0] = n
    # The upper levels come first, level by level; then each subtree below them is one item of work.
    # For a small tree, waking a second thread takes longer than building it.
    n_upper = min(n_levels - 1, 0 if n <= 4096 else 2 if n <= WIDE_TREE else 4)
    silent = partial_progress(progress, 0.0, 0.0)
    for level in range(n_upper):
        width = 2**level
        chunk = 1 if n > WIDE_TREE else width
        parallel.run(_split_subtrees, width, width - 1, 1, tree, chunk=chunk, progress=silent)
    width = 2**n_upper
    parallel.run(
        _split_subtrees, width, width - 1, n_levels - n_upper, tree, chunk=1, progress=progress
    )
    tree.columns[:] = tree.points.T
    return tree


class _SortWorkspace(NamedTuple):
    """Arrays for `_sort`, of one entry for each of at most `RANK_SORTED` points."""

    rows: NDArray[np.float64]
    numbers: NDArray[np.int64]
    keys: NDArray[np.float64]
    ranks: NDArray[np.int64]
    taken: NDArray[np.int64]


@jit
def _split_subtrees(begin, end, first, n_levels, tree):
    """Complete the subtrees of `n_levels` levels at the nodes first + begin, ..., first + end - 1,
    and set the ranges of the nodes on the level below them.
    """
    workspace = _SortWorkspace(
        np.empty((RANK_SORTED, tree.points.shape[1])),
        np.empty(RANK_SORTED, np.int64),
        np.empty(RANK_SORTED),
        np.empty(RANK_SORTED, np.int64),
        np.empty(RANK_SORTED, np.int64),
    )
    for root in range(first + begin, first + end):
        left, width = root, 1
        for _ in range(n_levels):
            for node in range(left, left + width):
                _split_node(tree, node, workspace)
            left, width = 2 * left + 1, 2 * width


@jit(inline=True, borrow=True)
def _split_node(tree, node, workspace):
    """Set the box of a node; order the points of an inner node, and set its children's ranges."""
    begin, end = tree.start[node], tree.stop[node]
    middle = (begin + end) // 2
    low, high = tree.low[node], tree.high[node]
    bounding_box(tree.points, begin, end, low, high)
    left, right = 2 * node + 1, 2 * node + 2
    if right >= tree.start.size:
        return
    axis = _longest(low, high)
    if high[axis] > low[axis]:
        if end - begin <= RANK_SORTED:
            _sort(tree.points, tree.order, axis, begin, end, workspace)
        else:
            _select(tree.points, tree.order, axis, begin, end, middle, workspace.keys)
    tree.start[left], tree.stop[left] = begin, middle
    tree.start[right], tree.stop[right] = middle, end


@jit(borrow=True)
def bounding_box(points, begin, end, low, high):
    """Write the smallest and the largest coordinates of the points begin ... end - 1."""
    for c in range(points.shape[1]):
        # Four running minima and maxima are independent of each other: the processor computes them
        # at the same time.
        a = b = points[begin, c]
        a1 = b1 = a2 = b2 = a3 = b3 = a
        i = begin
        while i + 4 <= end:
            x0, x1, x2, x3 = points[i, c], points[i + 1, c], points[i + 2, c], points[i + 3, c]
            a, b = min(a, x0), max(b, x0)
            a1, b1 = min(a1, x1), max(b1, x1)
            a2, b2 = min(a2, x2), max(b2, x2)
            a3, b3 = min(a3, x3), max(b3, x3)
            i += 4
        while i < end:
            a, b = min(a, points[i, c]), max(b, points[i, c])
            i += 1
        low[c], high[c] = min(min(a, a1), min(a2, a3)), max(max(b, b1), max(b2, b3))


@jit(borrow=True)
def _longest(low, high):
    """Return the axis of the longest side of a box, by halves, as a whole side may overflow."""
    axis = 0
    for c in range(1, low.size):
        if high[c] / 2 - low[c] / 2 > high[axis] / 2 - low[axis] / 2:
            axis = c
    return axis


@jit(borrow=True)
def _sort(points, order, axis, begin, end, workspace):
    """Sort the few rows begin, ..., end - 1 by `axis`; rows with the same key keep their order.

    The rank of a row is the number of smaller keys, which vectorized loops count.
    """
    rows, numbers, keys = workspace.rows, workspace.numbers, workspace.keys
    ranks, taken = workspace.ranks, workspace.taken
    size = end - begin
    padded = -(-size // RANK_VECTOR) * RANK_VECTOR
    for k in range(size):
        keys[k] = points[begin + k, axis]
    for k in range(size, padded):
        keys[k] = np.inf
    for k in range(padded):
        ranks[k] = taken[k] = 0
    add_ranks(keys[:padded], size, ranks)
    for k in range(size):
        numbers[k] = order[begin + k]
        for c in range(points.shape[1]):
            rows[k, c] = points[begin + k, c]
    for k in range(size):
        rank = ranks[k]
        to = begin + rank + taken[rank]
        taken[rank] += 1  # the next row with the same key goes behind this one
        order[to] = numbers[k]
        for c in range(points.shape[1]):
            points[to, c] = rows[k, c]


@jit(borrow=True)
def _select(points, order, axis, left, right, k, sample):
    """Reorder the rows left, ..., right - 1 so that row k is the one that sorting by `axis` would
    put there, with no greater row before it and no smaller row behind it.

    After R. W. Floyd and R. L. Rivest, "Expected time bounds for selection", Communications of the
    ACM 18 (1975): the pivot is taken from a sorted sample. `sample` is an array to hold it.
    """
    while right - left > 1:
        size = right - left
        count = 3 if size < 4 * PIVOT_SAMPLE else PIVOT_SAMPLE
        _sorted_sample(points, axis, left, size, count, sample)
        place = (k - left) * count // size
        if count == PIVOT_SAMPLE:
            # A little beyond k, seen from the larger part, which then falls away.
            place += -PIVOT_MARGIN if 2 * (k - left) > size else PIVOT_MARGIN
        pivot = sample[min(max(place, 0), count - 1)]
        less = _partition(points, order, axis, left, right, pivot, False)
        if k < less:
            right = less
            continue
        equal = _partition(points, order, axis, less, right, pivot, True)
        if k < equal:
            return
        left = equal


@jit(borrow=True)
def _sorted_sample(points, axis, left, size, count, sample):
    """Write the coordinates of `count` evenly spaced rows into `sample`, in ascending order."""
    for m in range(count):
        value = points[left + m * (size - 1) // (count - 1), axis]
        j = m - 1
        while j >= 0 and sample[j] > value:
            sample[j + 1] = sample[j]
            j -= 1
        sample[j + 1] = value


@jit(borrow=True)
def _partition(points, order, axis, left, right, pivot, equal):
    """Move the rows below `pivot` (and those at it, if `equal`) to the front; return where the
    others start.

    No branch depends on the coordinates, as the processor could not predict it.
    """
    front = left
    for i in range(left, right):
        x = points[i, axis]
        before = (x <= pivot) if equal else (x < pivot)
        for c in range(points.shape[1]):
            points[i, c], points[front, c] = points[front, c], points[i, c]
        order[i], order[front] = order[front], order[i]
        front += before
    return front


@jit(distinct=True, borrow=True)
def add_ranks(keys, n_keys, ranks):
    """Add to the rank of each key how many of the first `n_keys` keys are smaller.

    They are counted four at a time: up to the next multiple of 4, further keys must be at least as
    large as all others.
    """
    for first in range(0, n_keys, 4):
        a, b, c, d = keys[first], keys[first + 1], keys[first + 2], keys[first + 3]
        for k in range(keys.size):
            key = keys[k]
            ranks[k] += int(key > a) + int(key > b) + int(key > c) + int(key > d)
