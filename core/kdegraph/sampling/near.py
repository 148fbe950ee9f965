"""Exact samples for narrow kernels: near sources one by one, far ones by rejection.

The points of a leaf of the tree are the targets that share one list of sources. The near sources
are evaluated one by one for each target, and a draw among them is made by inversion. A far node
counts with an upper bound of its kernel values: if a draw falls on it, one of its points is
accepted with the probability ``k(x_i, x_j) / bound``, and all starts again if it is not. Draws
follow exactly ``k(x_i, .) / deg(i)``, whatever counts as near.

What counts as far is decided in `near_lists`, such that the degrees are as precise as was asked
for. So the degrees and the samples come from one visit of the tree, for bandwidths that differ from
point to point as well.
"""

import math

import numpy as np

from kdegraph.costs import NEAR_COSTS
from kdegraph.geometry.kernels import UNDERFLOW, exp_neg, exponent
from kdegraph.geometry.local_scale import rescaled
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.random import draw_stream, uniform, vertex_stream
from kdegraph.sampling.inversion import running_sums, search
from kdegraph.sampling.near_lists import NearTask, allocate, list_sources

# Near sources and far nodes for which there is memory at first; doubled where they are more.
FIRST_CAPACITY = 512
# The cost is estimated from this share of the leaves, and from these numbers of them at least and
# at most, so that the estimate takes a small part of the time of a graph.
SAMPLED_SHARE = 1 / 256
MIN_SAMPLED_LEAVES = 4
MAX_SAMPLED_LEAVES = 16
# Near sources of a leaf with which the estimate ends, unless there is no other way to sample than
# this one and rows: other samplers are faster.
MANY_SOURCES = 8192


def draw_neighbors(kernel, tree, n_rounds, seed, eps, *, leaves=None, progress=None):
    """Draw `n_rounds` neighbors of every vertex, which may be 0.

    Parameters
    ----------
    kernel : Kernel
    tree : Tree
    n_rounds : int
    seed : int
    eps : float
        Relative error of the degrees, in (0, 1).
    leaves : (k,) int64 array, optional
        Leaves that follow each other, whose points draw; by default all of them.

    Returns
    -------
    neighbors : (m, n_rounds) int32
        A row for each point of the leaves, with positions in the tree's order; -1 for isolated
        vertices.
    degrees : (m,) float64
        ``sum_{j != i} k(x_i, x_j)``; 0 exactly where all values underflow.
    """
    n = tree.order.size
    leaves = np.arange(tree.first_leaf, tree.start.size) if leaves is None else leaves
    task = _task(kernel, tree.start[leaves[0]], tree.stop[leaves[-1]], n_rounds, seed, eps)
    work = np.zeros((leaves.size, 2), np.int64)
    parallel.run(_draw_range, leaves.size, n, leaves, task, tree, work, progress=progress)
    return task.neighbors, task.degrees


def estimate_cost(kernel, tree, n_rounds, eps):
    """Estimate the cost of `draw_neighbors` from some of the leaves.

    Returns
    -------
    cost : float
        In ns of one core; infinite where other samplers are certainly faster.
    degree : float
        The mean kernel degree of the points of these leaves; infinite where the cost is.
    """
    n, d = tree.points.shape
    n_leaves = tree.start.size - tree.first_leaf
    n_wanted = max(MIN_SAMPLED_LEAVES, min(MAX_SAMPLED_LEAVES, int(SAMPLED_SHARE * n_leaves)))
    visits, pairs, degree = estimate_work(kernel, tree, eps, min(n_wanted, n_leaves))
    if math.isinf(pairs):
        return math.inf, math.inf
    cost = visits * (NEAR_COSTS.visit + NEAR_COSTS.visit_per_dimension * d)
    cost += pairs * (NEAR_COSTS.pair + NEAR_COSTS.pair_per_dimension * d)
    cost += NEAR_COSTS.set_up + n * NEAR_COSTS.point
    return cost + n * n_rounds * NEAR_COSTS.draw * math.log2(1 + pairs / n), degree


def estimate_work(kernel, tree, eps, n_picked):
    """How many nodes are visited, and how many pairs of points are computed, in `draw_neighbors`,
    and the mean kernel degree, all estimated from `n_picked` leaves; infinite if one of those has
    too many sources.
    """
    n, n_leaves = tree.order.size, tree.start.size - tree.first_leaf
    # From the middle of equal parts, as the first and the last leaf lie at the border.
    picked = ((np.arange(n_picked) + 0.5) * n_leaves / n_picked).astype(np.int64)
    work = np.zeros((n_picked, 2), np.int64)
    most = n if kernel.local.is_local else MANY_SOURCES
    leaves, task = tree.first_leaf + picked, _task(kernel, 0, n, 0, 0, eps)
    if _draw_range(0, n_picked, most, leaves, task, tree, work) < n_picked:
        return math.inf, math.inf, math.inf
    visits, pairs = work.sum(axis=0) * n_leaves / n_picked
    n_points = (tree.stop[leaves] - tree.start[leaves]).sum()
    return visits, pairs, task.degrees.sum() / n_points


def _task(kernel, first, last, n_rounds, seed, eps):
    return NearTask(
        kernel.code,
        kernel.inverse_sigma,
        kernel.local,
        eps,
        np.uint64(seed),
        first,
        np.zeros(last - first),
        np.full((last - first, n_rounds), -1, np.int32),
    )


@jit
def _draw_range(begin, end, most, leaves, task, tree, work):
    """Draw for the points of leaves[begin:end], up to the first one with clearly more than `most`
    sources; return that one.

    The work of each leaf is noted: nodes visited and pairs of points.
    """
    k, capacity = begin, FIRST_CAPACITY
    while k < end and capacity <= 2 * most + FIRST_CAPACITY:
        k = _draw_with_capacity(k, end, capacity, leaves, task, tree, work)
        capacity *= 2
    return k


@jit
def _draw_with_capacity(begin, end, capacity, leaves, task, tree, work):
    """Draw for the points of the leaves from leaves[begin] on, up to `end` or to the first leaf
    with more than `capacity` near sources or far nodes; return that one.
    """
    near, far = allocate(capacity, tree)
    for k in range(begin, end):
        if not _draw_leaf(leaves[k], task, tree, near, far, work[k]):
            return k
    return end


@jit(borrow=True)
def _draw_leaf(leaf, task, tree, near, far, work):
    """Draw for the points of one leaf; return False if there is not enough memory for its lists."""
    first, last = tree.start[leaf], tree.stop[leaf]
    if last - first > near.position.size:
        return False
    n_near, n_far, mean = list_sources(leaf, task, tree, near, far, work)
    if n_near < 0:
        return False
    work[1] += (last - first) * n_near
    for i in range(first, last):
        t = i - first
        degree = near.total[t] * exp_neg(near.offset[t]) + mean
        task.degrees[i - task.first] = degree
        if degree > 0.0:
            _draw_point(i, t, n_near, n_far, task, tree, near, far)
    return True


@jit(borrow=True)
def _draw_point(i, t, n_near, n_far, task, tree, near, far):
    """Draw the neighbors of target i, whose kernel values are row `t`."""
    row, scale = near.values[t, :n_near], exp_neg(near.offset[t])
    if task.neighbors.shape[1]:
        running_sums(row, near.sums)
    far_bound = far.bounds[n_far - 1] if n_far else 0.0
    total = near.total[t] * scale + far_bound
    own = vertex_stream(task.seed, tree.order[i])
    for draw in range(task.neighbors.shape[1]):
        start = draw_stream(own, draw)
        counter, j = 0, -1
        while j < 0:
            u = uniform(start, counter) * total - far_bound
            if u >= 0.0 and near.total[t] > 0.0:
                k = search(row, near.sums, u / scale)
                j = near.position[k] if k >= 0 else -1
            else:
                v = uniform(start, counter + 1)
                j = _propose(i, min(u, 0.0) + far_bound, v, n_far, task, tree, far)
            counter += 2
        task.neighbors[i - task.first, draw] = j


@jit(borrow=True)
def _propose(i, u, v, n_far, task, tree, far):
    """Propose a point of a far node by the uniform numbers u, up to the sum of all bounds, and v;
    return -1 if it is not accepted.
    """
    low, high = 0, n_far - 1
    while low < high:
        middle = (low + high) // 2
        if far.bounds[middle] > u:
            high = middle
        else:
            low = middle + 1
    start, stop = tree.start[far.node[low]], tree.stop[far.node[low]]
    v *= stop - start
    k = min(int(v), stop - start - 1)
    j = start + k
    t = exponent(task.code, task.inverse_sigma, tree.points, i, tree.points, j)
    t = rescaled(task.local, i, task.local, j, t)
    accepted = t < UNDERFLOW and v - k < exp_neg(max(t - far.nearest[low], 0.0))
    return j if accepted else -1
