"""The near sources and the far nodes of a leaf of the tree, from which its points draw.

A node is far if its kernel values differ so little that their mean suffices for the degree. How
much they may differ depends on the degree, which is not known in advance. So the permitted error of
a node is guessed, and far nodes are divided further until the total error is within the relative
error of the task at every target.
"""

from typing import NamedTuple

import numpy as np

from kdegraph.geometry.boxes import box_distances
from kdegraph.geometry.kernel_functions import UNDERFLOW, exp_neg, rough_exp_neg, to_exponents
from kdegraph.geometry.kernels import scaled_distances
from kdegraph.geometry.local_scale import LocalScale, rescale, rescaled_bounds
from kdegraph.runtime.jit import jit

# Factor by which the permitted error of a node shrinks, at least, after a failed guess. It is
# squared after each further failure, so that few guesses suffice down to the smallest doubles.
STRICTER = 0.25


class NearTask(NamedTuple):
    """The kernel and the results of a call of `near.draw_neighbors`.

    A draw ``neighbors[i - first, m]`` is j with probability ``k(x_i, x_j) / degrees[i - first]``.
    """

    # The kernel.
    code: int
    inverse_sigma: float
    local: LocalScale
    eps: float  # relative error of the degrees
    seed: np.uint64
    first: int  # the first target
    degrees: np.ndarray  # (m,) float64
    # (m, L) int32: the results for the targets from `first` on, in the order of the tree. L may be
    # 0.
    neighbors: np.ndarray


class NearSources(NamedTuple):
    """The near sources of a leaf, starting with its own points."""

    position: np.ndarray  # (capacity,) int32: in the order of the tree
    columns: np.ndarray  # (d, capacity) float64: their coordinates
    # (capacity,) float64: see `LocalScale`
    factor: np.ndarray
    shift: np.ndarray
    # (leaf size, capacity) float64: kernel values between the targets and the sources, multiplied
    # by ``exp(offset)``
    values: np.ndarray
    # (leaf size,) float64: for each target approximately the least exponent, so that small values
    # keep their precision, and the sum of its row of `values`
    offset: np.ndarray
    total: np.ndarray
    sums: np.ndarray  # (capacity,) float64: running sums of the row of one target


class FarNodes(NamedTuple):
    """The far nodes of a leaf."""

    node: np.ndarray  # (capacity,) int64
    # (capacity,) float64: the smallest and the largest exponent between the boxes of the leaf and
    # the node
    nearest: np.ndarray
    farthest: np.ndarray
    # (capacity,) float64: running sums of the upper bounds of the contributions of the nodes to a
    # degree
    bounds: np.ndarray
    stack: np.ndarray  # (capacity,) int64: nodes to be visited


@jit
def allocate(capacity, tree):
    """Allocate memory for `capacity` near sources and as many far nodes of a leaf."""
    leaf_size = tree.stop[tree.start.size // 2] - tree.start[tree.start.size // 2] + 1
    near = NearSources(
        np.empty(capacity, np.int32),
        np.empty((tree.points.shape[1], capacity)),
        np.empty(capacity),
        np.empty(capacity),
        np.empty((leaf_size, capacity)),
        np.empty(leaf_size),
        np.empty(leaf_size),
        np.empty(capacity),
    )
    far = FarNodes(
        np.empty(capacity, np.int64),
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity, np.int64),
    )
    return near, far


@jit(borrow=True)
def list_sources(leaf, task, tree, near, far):
    """List the near sources and the far nodes of a leaf, such that the degrees of its points have
    the relative error of `task`. Return the lengths of both lists, the first -1 if they exceed the
    capacity, and the contribution of the far nodes to every degree.
    """
    first, last = tree.start[leaf], tree.stop[leaf]
    n_near = _append(first, last, near, 0)
    guess = _begin_rows(first, last, task, tree, near)
    # Eight nodes are expected to contribute to the error: with more, the guess is too strict, and
    # nodes are divided in vain; with fewer, it fails too often.
    limit, stricter = task.eps * guess / 8.0, STRICTER
    far.stack[0] = 0
    n_far, top = 0, 1
    while True:
        known = n_near
        n_near, n_far = _divide(leaf, limit, n_near, n_far, top, task, tree, near, far)
        if n_near < 0:
            return -1, 0, 0.0
        _extend_rows(first, last, known, n_near, task, tree, near)
        mean, error = _far_sum(n_far, tree, far)
        smallest = np.inf
        for t in range(last - first):
            smallest = min(smallest, near.total[t] * exp_neg(near.offset[t]) + mean)
        allowed = task.eps * (smallest - error)
        if error <= allowed or limit == 0.0:
            return n_near, n_far, mean
        if allowed > 0.0:
            # The total error is about proportional to the permitted error of a node.
            limit *= min(0.7 * allowed / error, STRICTER)
        else:
            # In the end it is zero, and all reachable sources are near.
            limit, stricter = limit * stricter, stricter * stricter
        n_far, top = _push_wide(limit, n_far, tree, far)


@jit(borrow=True)
def _divide(leaf, limit, n_near, n_far, n_nodes, task, tree, near, far):
    """Divide the `n_nodes` nodes on the stack into far nodes, with an error of at most `limit`
    each, and leaves, whose points are near. Return the new lengths of the lists, the first -1 if
    they exceed the capacity.
    """
    starts, stops, stack = tree.start, tree.stop, far.stack
    first, last = starts[leaf], stops[leaf]
    capacity = near.position.size
    top = n_nodes - 1
    while top >= 0:
        node = stack[top]
        top -= 1
        start, stop = starts[node], stops[node]
        least, most = box_distances(task.code, task.inverse_sigma, tree, leaf, tree, node)
        least, most = rescaled_bounds(task.code, task.local, leaf, task.local, node, least, most)
        if least >= UNDERFLOW or node == leaf:
            continue
        half = 0.5 * (stop - start) * _rough_difference(least, most)
        apart = stop <= first or last <= start
        is_leaf = 2 * node + 2 >= starts.size
        if max(n_far + 1, top + 3, n_near + stop - start if is_leaf else 0) > capacity:
            return -1, 0
        if half <= limit and apart:
            far.node[n_far], far.nearest[n_far], far.farthest[n_far] = node, least, most
            n_far += 1
        elif not is_leaf:
            stack[top + 1], stack[top + 2] = 2 * node + 2, 2 * node + 1
            top += 2
        else:
            n_near = _append(start, stop, near, n_near)
    return n_near, n_far


@jit(inline=True, borrow=True)
def _rough_difference(least, most):
    """Return ``exp(-least) - exp(-most)`` or up to 23 % more.

    This suffices to decide which nodes are far; their contributions to the errors of the degrees
    are computed exactly.
    """
    spread = most - least
    return rough_exp_neg(least) * (spread / (1.0 + 0.5 * spread) if spread < 2.0 else 1.0)


@jit(inline=True, borrow=True)
def _append(start, stop, near, place):
    """Append the points start ... stop - 1 to the near sources; return how many there are then."""
    position = near.position
    for k in range(stop - start):
        position[place + k] = start + k
    return place + stop - start


@jit(borrow=True)
def _gather(begin, end, local, tree, near):
    """Copy the coordinates and bandwidths of the near sources begin ... end - 1.

    One coordinate is copied at a time: in many dimensions the coordinates of a point lie on as many
    pages of memory.
    """
    position, columns = near.position, near.columns
    for c in range(columns.shape[0]):
        for k in range(begin, end):
            columns[c, k] = tree.columns[c, np.uint32(position[k])]
    if local.factor.size:
        for k in range(begin, end):
            near.factor[k] = local.factor[np.uint32(position[k])]
            near.shift[k] = local.shift[np.uint32(position[k])]


@jit(borrow=True)
def _begin_rows(first, last, task, tree, near):
    """Compute the kernel values between the points of the leaf. Return a guess of the degrees: the
    mean of these sums over the points, or 1 if it is 0.
    """
    size = last - first
    _gather(0, size, task.local, tree, near)
    total = 0.0
    for t in range(size):
        row = near.values[t, :size]
        _row_exponents(first + t, 0, size, task, tree, near, row)
        row[t] = np.inf
        least = 600.0  # nearer sources must not overflow
        for j in range(size):
            least = min(least, row[j])
        near.offset[t] = least
        near.total[t] = _exponentiate(near.offset[t], row)
        total += near.total[t] * exp_neg(near.offset[t])
    return total / size if total > 0.0 else 1.0


@jit(borrow=True)
def _extend_rows(first, last, begin, end, task, tree, near):
    """Compute the kernel values between the leaf and the near sources begin ... end - 1."""
    _gather(begin, end, task.local, tree, near)
    for t in range(last - first):
        row = near.values[t, begin:end]
        _row_exponents(first + t, begin, end, task, tree, near, row)
        near.total[t] += _exponentiate(near.offset[t], row)


@jit(borrow=True)
def _row_exponents(i, begin, end, task, tree, near, out):
    """Write the exponents between the target i and the near sources begin ... end - 1."""
    code, local = task.code, task.local
    scaled_distances(code, task.inverse_sigma, tree.points[i], near.columns, begin, end, out)
    if local.factor.size:
        factor, shift = near.factor[begin:end], near.shift[begin:end]
        rescale(code, local.factor[i], local.shift[i], factor, shift, out)
    else:
        to_exponents(code, out)


@jit(borrow=True)
def _exponentiate(offset, row):
    """Replace exponents by kernel values times ``exp(offset)``, and return their sum."""
    for j in range(row.size):
        row[j] = exp_neg(row[j] - offset) if row[j] < UNDERFLOW else 0.0
    return total_of(row)


@jit(borrow=True)
def _far_sum(n_far, tree, far):
    """Return the far nodes' part of a degree and its error; store running sums of the bounds."""
    mean = error = bound = 0.0
    for k in range(n_far):
        size = tree.stop[far.node[k]] - tree.start[far.node[k]]
        largest, smallest = exp_neg(far.nearest[k]), exp_neg(far.farthest[k])
        mean += 0.5 * size * (largest + smallest)
        error += 0.5 * size * (largest - smallest)
        bound += size * largest
        far.bounds[k] = bound
    return mean, error


@jit(borrow=True)
def _push_wide(limit, n_far, tree, far):
    """Move far nodes of an error above `limit` back to the stack; return the lengths of both."""
    left = top = 0
    for k in range(n_far):
        node, nearest, farthest = far.node[k], far.nearest[k], far.farthest[k]
        size = tree.stop[node] - tree.start[node]
        if 0.5 * size * (exp_neg(nearest) - exp_neg(farthest)) > limit:
            far.stack[top] = node
            top += 1
        else:
            far.node[left], far.nearest[left], far.farthest[left] = node, nearest, farthest
            left += 1
    return left, top


@jit(borrow=True)
def total_of(values):
    """Return the sum of the values, by four independent running sums.

    The order of the additions is fixed here. If the compiler chose it, the order could depend on
    what else is compiled at the same time, and a seed would not always give the same bits.
    """
    a = b = c = d = 0.0
    n = values.size - values.size % 4
    for j in range(0, n, 4):
        a += values[j]
        b += values[j + 1]
        c += values[j + 2]
        d += values[j + 3]
    for j in range(n, values.size):
        a += values[j]
    return (a + b) + (c + d)
