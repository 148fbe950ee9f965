"""Nearest neighbors of all points of a tree: the points of a leaf share one traversal.

A traversal goes to near nodes first and leaves out each node that is, for all points of the leaf,
farther than the k-th nearest point found so far.
"""

from typing import NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from kdegraph.runtime.jit import jit

# Places in a list of neighbors are rounded up to a multiple of this, so that the vectorized loop
# leaves no remainder.
LIST_VECTOR = 8
# Points that are looked at together: a register of AVX-512 holds as many coordinates. Processors
# with shorter registers use several.
LANES = 8

if numba.config.DISABLE_JIT:

    def squared_gaps(points, low, high, bounds, out):
        """Write the squared distances of eight points, (d, 8) and C-contiguous, from a box into
        `out`, and return an integer whose bit i is set where ``out[i] < bounds[i]``. The box of a
        point has equal `low` and `high`, (d,).
        """
        gaps = np.maximum(np.maximum(low[:, None] - points, points - high[:, None]), 0.0)
        out[:] = (gaps * gaps).sum(axis=0)
        return int(((out < bounds) << np.arange(LANES)).sum())

else:
    _INDEX = ir.IntType(64)
    _VECTOR = ir.VectorType(ir.DoubleType(), LANES)
    _ZERO = ir.Constant(_VECTOR, [0.0] * LANES)
    _FIRST = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)

    @intrinsic
    def squared_gaps(typing_context, points, low, high, bounds, out):
        """Write the squared distances of eight points from a box into `out`; return in which bits
        they are below `bounds`.
        """

        def codegen(context, builder, signature, args):
            points, low, high, bounds, out = (
                context.make_array(kind)(context, builder, value)
                for kind, value in zip(signature.args, args, strict=True)
            )

            def vector_at(array, offset):
                place = builder.gep(array.data, [offset])
                return builder.bitcast(place, _VECTOR.as_pointer())

            def load(array, offset):
                return builder.load(vector_at(array, offset), align=8)

            def in_all_lanes(array, c):
                number = builder.load(builder.gep(array.data, [c]))
                one = builder.insert_element(_ZERO, number, _INDEX(0))
                return builder.shuffle_vector(one, _ZERO, _FIRST)

            def larger(a, b):
                return builder.select(builder.fcmp_ordered(">", a, b), a, b)

            total = cgutils.alloca_once_value(builder, _ZERO)
            (d,) = cgutils.unpack_tuple(builder, low.shape)
            with cgutils.for_range(builder, d) as loop:
                x = load(points, builder.mul(loop.index, _INDEX(LANES)))
                below = builder.fsub(in_all_lanes(low, loop.index), x)
                above = builder.fsub(x, in_all_lanes(high, loop.index))
                gap = larger(larger(below, above), _ZERO)
                square = builder.fmul(gap, gap, flags=["contract"])
                builder.store(builder.fadd(builder.load(total), square, flags=["contract"]), total)
            squared = builder.load(total)
            builder.store(squared, vector_at(out, _INDEX(0)), align=8)
            within = builder.fcmp_ordered("<", squared, load(bounds, _INDEX(0)))
            return builder.zext(builder.bitcast(within, ir.IntType(LANES)), _INDEX)

        return types.int64(points, low, high, bounds, out), codegen


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
