"""Exact samples for narrow kernels and for a bandwidth per point.

The points of a leaf of the tree are the targets that share one list of sources. The kernel values
of the near sources are computed one by one, and a draw among them inverts their running sum. A far
node is represented by an upper bound of its kernel values: a draw that falls on it proposes one of
its points, accepts it with the probability ``k(x_i, x_j) / bound``, and starts again otherwise.
Draws follow exactly ``k(x_i, .) / deg(i)``, whichever nodes are far. If none is, the sampler
computes full rows of the kernel matrix.

`near_lists` decides which nodes are far, such that the degrees have the requested precision.
Degrees and samples come from one traversal of the tree.
"""

import numpy as np

from kdegraph.geometry.boxes import leaf_exponents
from kdegraph.geometry.kernel_functions import UNDERFLOW, exp_neg
from kdegraph.geometry.kernels import scaled_distance
from kdegraph.geometry.local_scale import rescaled
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.random import draw_stream, uniform, vertex_stream
from kdegraph.sampling.near_lists import STRICTER, NearTask, allocate, list_sources

# Initial capacity for near sources and for far nodes of a leaf; doubled for a leaf with more.
FIRST_CAPACITY = 512
# Leaves to whose points `has_few_sources` computes kernel values.
EXACT_LEAVES = 64
# Values in a block: running sums are stored at the ends of blocks, so that they are computed by
# vectorized loops. A draw finds its block, then its place in the block.
BLOCK_SIZE = 16
# Sums of blocks that a draw counts through; among more of them it starts by bisection.
MAX_COUNTED_SUMS = 32


def draw_neighbors(kernel, tree, n_rounds, seed, eps, *, leaves=None, progress=None):
    """Draw `n_rounds` neighbors, or none, of the points of some consecutive `leaves`, by default of
    all, and compute their kernel degrees with the relative error `eps`, in (0, 1).

    Return the neighbors, (m, n_rounds) int32, as positions in the tree's order, -1 for isolated
    vertices, and the degrees ``sum_{j != i} k(x_i, x_j)``, 0 exactly where all values underflow.
    """
    leaves = np.arange(tree.first_leaf, tree.start.size) if leaves is None else leaves
    first, m = tree.start[leaves[0]], tree.stop[leaves[-1]] - tree.start[leaves[0]]
    degrees, neighbors = np.zeros(m), np.full((m, n_rounds), -1, np.int32)
    kernel_parts = kernel.code, kernel.inverse_sigma, kernel.local
    task = NearTask(*kernel_parts, eps, np.uint64(seed), first, degrees, neighbors)
    parallel.run(_draw_range, leaves.size, leaves, task, tree, progress=progress)
    return neighbors, degrees


def has_few_sources(kernel, tree, eps, most):
    """Estimate from eight leaves whether points have few near sources and small kernel degrees: at
    most `most` of them in the mean, with one bandwidth for all points and degrees of the relative
    error `eps`.

    It takes O(n d), most of it NumPy's work, so that the kernels of this sampler are compiled only
    where they are used. The estimate ends as soon as a sum over the leaves exceeds the limit.
    """
    n_leaves = tree.start.size - tree.first_leaf
    n_picked = min(8, n_leaves)
    n_near = degree = 0.0
    # From the middle of equal parts, because the first and the last leaf lie at the border.
    for leaf in ((np.arange(n_picked) + 0.5) * n_leaves / n_picked).astype(np.int64):
        sources, degree_there = estimate_at(tree.first_leaf + leaf, kernel, tree, eps)
        n_near += sources
        degree += degree_there
        if max(n_near, degree) > n_picked * most:
            return False
    return True


def estimate_at(leaf, kernel, tree, eps):
    """Return estimates of the number of near sources of a leaf, and of the degree of its points."""
    n_leaves = tree.start.size - tree.first_leaf
    size = tree.order.size / n_leaves  # the sizes of leaves differ by at most one
    least, most = np.empty(n_leaves), np.empty(n_leaves)
    leaf_exponents(kernel.code, kernel.inverse_sigma, tree, leaf, least, most)
    least[leaf - tree.first_leaf] = -1.0  # the nearest, even among leaves at distance zero
    nodes = np.flatnonzero(least < UNDERFLOW)
    by_distance = np.argpartition(least[nodes], min(EXACT_LEAVES, nodes.size) - 1)
    nodes = nodes[by_distance]
    largest, smallest = np.exp(-least[nodes]), np.exp(-most[nodes])
    # Exact values for the nearest points, and the middle of the bounds for all others.
    nearest = tree.first_leaf + nodes[:EXACT_LEAVES]
    exact = np.concatenate([tree.points[tree.start[k] : tree.stop[k]] for k in nearest])
    target = tree.points[(tree.start[leaf] + tree.stop[leaf]) // 2][None]
    degree = kernel.pairwise(target, exact).sum() - 1.0
    degree += 0.5 * size * (largest + smallest)[EXACT_LEAVES:].sum()
    # The leaves with the smallest errors are far, as far as the degree permits errors; a fourth of
    # that, because the sampler lowers the permitted error of a node in steps of `STRICTER`.
    errors = np.cumsum(np.sort(0.5 * size * (largest - smallest)))
    n_far = np.searchsorted(errors, STRICTER * eps * degree, side="right")
    return size * max(nodes.size - n_far, 1), degree


@jit
def _draw_range(begin, end, leaves, task, tree):
    """Draw for the points of leaves[begin:end]."""
    k, capacity = begin, FIRST_CAPACITY
    while k < end:
        k = _draw_with_capacity(k, end, capacity, leaves, task, tree)
        capacity *= 2


@jit
def _draw_with_capacity(begin, end, capacity, leaves, task, tree):
    """Draw for the points of leaves[begin:end] up to the first leaf with more than `capacity` near
    sources or far nodes; return the number of this leaf in `leaves`, or `end`.
    """
    near, far = allocate(capacity, tree)
    for k in range(begin, end):
        if not _draw_leaf(leaves[k], task, tree, near, far):
            return k
    return end


@jit(borrow=True)
def _draw_leaf(leaf, task, tree, near, far):
    """Draw for the points of one leaf; return False if its lists exceed the capacity."""
    first, last = tree.start[leaf], tree.stop[leaf]
    if last - first > near.position.size:
        return False
    n_near, n_far, mean = list_sources(leaf, task, tree, near, far)
    if n_near < 0:
        return False
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
    """Propose a point of a far node; return -1 if it is rejected.

    The number u, uniform up to the sum of all bounds, chooses the node. The number v, uniform up to
    1, chooses the point and decides.
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
    u = scaled_distance(task.code, task.inverse_sigma, tree.points, i, tree.points, j)
    t = rescaled(task.code, task.local, i, task.local, j, u)
    accepted = t < UNDERFLOW and v - k < exp_neg(max(t - far.nearest[low], 0.0))
    return j if accepted else -1


@jit
def n_blocks(n):
    """Return the number of blocks of n values."""
    return -(-n // BLOCK_SIZE)


@jit(reassociate=True)
def running_sums(values, sums):
    """Write the sum of the values up to the end of each block to `sums`; return the total."""
    total = 0.0
    for block in range(n_blocks(values.size)):
        subtotal = 0.0
        for j in range(block * BLOCK_SIZE, min((block + 1) * BLOCK_SIZE, values.size)):
            subtotal += values[j]
        total += subtotal
        sums[block] = total
    return total


@jit(borrow=True)
def search(values, sums, u):
    """Return the first position at which the running sum of `values` exceeds `u`.

    If rounding leaves no such position, return that of the last positive value, or -1 if no value
    is positive. Short ranges are counted through without a branch that depends on `u`, which a
    processor could not predict.
    """
    block, last = 0, n_blocks(values.size) - 1
    while last - block > MAX_COUNTED_SUMS:
        middle = (block + last) // 2
        if sums[middle] > u:
            last = middle
        else:
            block = middle + 1
    first = block
    for b in range(first, last):
        block += sums[b] <= u
    u -= sums[block - 1] if block else 0.0
    begin, end = block * BLOCK_SIZE, min((block + 1) * BLOCK_SIZE, values.size)
    found = begin
    for j in range(begin, end):
        u -= values[j]
        found += u >= 0.0
    if found < end:
        return found
    for j in range(end - 1, -1, -1):
        if values[j] > 0.0:
            return j
    return -1
