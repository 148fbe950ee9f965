"""The kd-tree that everything shares: a balanced halving of the points with tight boxes.

Node `k` has the children `2 k + 1` and `2 k + 2`; its points are `points[start[k]:stop[k]]`, in the
order of the leaves. The two halves of a node differ by at most one point, as Algorithm 1 wants
them, and all leaves lie on the last level.
"""

from dataclasses import dataclass

import numpy as np

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.progress import partial_progress

SMALL, LARGE = 4096, 100_000  # points: built by one thread, built by many
SAMPLE, MARGIN = (
    32,
    3,
    # Of a long row of points: how many are looked at for a pivot, and how far from the middle it is
    # taken.
)
RANKED, LANES = (
    96,
    8,
    # Points that are sorted by counting the smaller ones; numbers of points are rounded up to whole
    # vectors.
)


@dataclass(frozen=True)
class Tree:
    """A balanced kd-tree.

    Attributes
    ----------
    points : (n, d) float64
        The points in the order of the leaves.
    columns : (d, n) float64
        The same, transposed: compiled loops run along a coordinate.
    order : (n,) int64
        ``points[i]`` is ``X[order[i]]``.
    start, stop : (n_nodes,) int64
        Range of the points of each node.
    low, high : (n_nodes, d) float64
        Tight bounding box of each node.
    n_levels : int
    """

    points: np.ndarray
    columns: np.ndarray
    order: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_levels: int

    @property
    def first_leaf(self):
        """Number of inner nodes, which is the number of the first leaf."""
        return 2 ** (self.n_levels - 1) - 1

    def radii(self, unit_inverse):
        """Half the diagonal of every node's box times `unit_inverse`, (n_nodes,); infinite where it
        overflows.
        """
        out = np.empty(self.start.size)
        with np.errstate(over="ignore"):
            _radii(self.low, self.high, unit_inverse, out)
        return out

    def original(self, neighbors):
        """`neighbors`, (n, L) positions in the tree's order or -1, with rows and entries in the
        order and by the numbers of the points.
        """
        out = np.empty_like(neighbors)
        parallel.run(_renumber, len(neighbors), self.order, neighbors, out)
        return out


@jit
def _radii(low, high, unit_inverse, out):
    for k in range(out.size):
        total = 0.0
        for c in range(low.shape[1]):
            half = (high[k, c] / 2 - low[k, c] / 2) * unit_inverse
            total += half * half
        out[k] = np.sqrt(total)


@jit
def _renumber(begin, end, order, neighbors, out):
    for i in range(begin, end):
        row = order[i]
        for k in range(neighbors.shape[1]):
            j = neighbors[i, k]
            out[row, k] = order[j] if j >= 0 else -1


def build_tree(X, leaf_size=8, progress=None):
    """Build the tree of the (n, d) float64 array `X` by splitting the longest side of each box at
    the median; O(n d log n).
    """
    n, d = X.shape
    n_levels = 1
    while -(-n // 2 ** (n_levels - 1)) > leaf_size:
        n_levels += 1
    n_nodes = 2**n_levels - 1
    points, order = X.copy(), np.arange(n)
    start, stop = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    low, high = np.empty((n_nodes, d)), np.empty((n_nodes, d))
    stop[0] = n
    # The upper levels node by node, then whole subtrees, one chunk each: few of a small tree, as
    # threads take time to wake.
    top = min(n_levels - 1, 0 if n <= SMALL else 2 if n <= LARGE else 4)
    arrays = points, order, start, stop, low, high
    for level in range(top):
        chunk = 1 if n > LARGE else 2**level
        parallel.run(
            _split_nodes,
            2**level,
            2**level - 1,
            1,
            *arrays,
            chunk=chunk,
            progress=partial_progress(progress, 0.0, 0.0),
        )
    parallel.run(
        _split_nodes, 2**top, 2**top - 1, n_levels - top, *arrays, chunk=1, progress=progress
    )
    return Tree(points, np.ascontiguousarray(points.T), order, start, stop, low, high, n_levels)


@jit
def _split_nodes(begin, end, first, n_levels, points, order, start, stop, low, high):
    """Finish the subtrees of `n_levels` levels at the nodes first + begin ... first + end - 1, and
    start the level below them.
    """
    n_nodes = start.size
    rows, numbers = np.empty((RANKED, points.shape[1])), np.empty(RANKED, np.int64)
    keys, ranks, taken = np.empty(RANKED), np.empty(RANKED, np.int64), np.empty(RANKED, np.int64)
    for root in range(first + begin, first + end):
        left, width = root, 1
        for _ in range(n_levels):
            for node in range(left, left + width):
                a, b = start[node], stop[node]
                middle = (a + b) // 2
                _bounding_box(points, a, b, low[node], high[node])
                if 2 * node + 2 < n_nodes:
                    axis = _longest(low[node], high[node])
                    if high[node, axis] > low[node, axis]:
                        if b - a <= RANKED:
                            _sort(points, order, axis, a, b, keys, ranks, taken, rows, numbers)
                        else:
                            _select(points, order, axis, a, b, middle, keys)
                    start[2 * node + 1], stop[2 * node + 1] = a, middle
                    start[2 * node + 2], stop[2 * node + 2] = middle, b
            left, width = 2 * left + 1, 2 * width


@jit
def _bounding_box(points, begin, end, low, high):
    for c in range(points.shape[1]):
        # Four running extremes, so that none waits for the one before.
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


@jit
def _longest(low, high):
    axis = 0
    for c in range(1, low.size):
        if high[c] / 2 - low[c] / 2 > high[axis] / 2 - low[axis] / 2:
            axis = c
    return axis


@jit
def _sort(points, order, axis, begin, end, keys, ranks, taken, rows, numbers):
    """Sort the few rows begin..end-1 by `axis`: the place of a row is the number of smaller ones,
    counted in vectorized loops.
    """
    size = end - begin
    padded = -(-size // LANES) * LANES
    for k in range(size):
        keys[k] = points[begin + k, axis]
    for k in range(size, padded):
        keys[k] = np.inf
    for k in range(padded):
        ranks[k] = taken[k] = 0
    for m in range(0, size, 4):
        _count_smaller(keys, padded, keys[m], keys[m + 1], keys[m + 2], keys[m + 3], ranks)
    for k in range(size):
        numbers[k] = order[begin + k]
        for c in range(points.shape[1]):
            rows[k, c] = points[begin + k, c]
    for k in range(size):
        rank = ranks[k]
        to = begin + rank + taken[rank]
        taken[rank] += 1  # the next one of the same size comes after it
        order[to] = numbers[k]
        for c in range(points.shape[1]):
            points[to, c] = rows[k, c]


@jit(distinct=True)
def _count_smaller(keys, size, a, b, c, d, ranks):
    for k in range(size):
        x = keys[k]
        ranks[k] += int(x > a) + int(x > b) + int(x > c) + int(x > d)


@jit
def _select(points, order, axis, left, right, k, sample):
    """Reorder rows left..right-1 so that row k is in its place by `axis`, nothing greater before it
    (after Floyd and Rivest, 1975).
    """
    while right - left > 1:
        size = right - left
        count = 3 if size < 4 * SAMPLE else SAMPLE
        for m in range(count):
            value = points[left + m * (size - 1) // (count - 1), axis]
            j = m - 1
            while j >= 0 and sample[j] > value:
                sample[j + 1] = sample[j]
                j -= 1
            sample[j + 1] = value
        # A pivot just beyond k on the side of the larger part, which then falls away.
        place = (k - left) * count // size
        if count == SAMPLE:
            place += -MARGIN if 2 * (k - left) > size else MARGIN
        pivot = sample[min(max(place, 0), count - 1)]
        less = _partition(points, order, axis, left, right, pivot, False)
        if k < less:
            right = less
            continue
        equal = _partition(points, order, axis, less, right, pivot, True)
        if k < equal:
            return
        left = equal


@jit
def _partition(points, order, axis, left, right, pivot, equal):
    """Move rows below `pivot` (or at it, if `equal`) to the front and return where the others
    start; no branch depends on the values.
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


@jit
def box_distances(code, inverse_sigma, low, high, a, low_b, high_b, b):
    """Smallest and largest exponent of the kernel `code` between box `a` of (low, high) and box `b`
    of (low_b, high_b).
    """
    least, most = 0.0, 0.0
    for c in range(low.shape[1]):
        gap = max(max(low[a, c] - high_b[b, c], low_b[b, c] - high[a, c]), 0.0) * inverse_sigma
        span = max(high[a, c] - low_b[b, c], high_b[b, c] - low[a, c]) * inverse_sigma
        if code == 1:
            least += gap
            most += span
        else:
            least += gap * gap
            most += span * span
    if code == 2:
        return np.sqrt(least), np.sqrt(most)
    return least, most
