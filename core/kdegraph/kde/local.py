"""Kernel sums where every point has a bandwidth of its own, on the tree of the points.

Such kernels do not factorize, so that there are no expansions. For the targets of a leaf, each node
of the sources counts as if all its points had the mean of the smallest and the largest kernel
value, where this is precise enough; it is divided otherwise, and the points of a leaf are summed
one by one.

How precise that has to be is known only when the sum is: the error that a single node may have is
guessed, the errors are added up, and the targets are summed again with a smaller one if the total
is not within the relative error that was asked for at every target.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.costs import TREE_COSTS
from kdegraph.geometry.boxes import box_distances
from kdegraph.geometry.kernels import UNDERFLOW, Kernel, exp_neg, exponents
from kdegraph.geometry.local_scale import (
    factor_and_shift,
    rescale_row,
    rescaled_bounds,
)
from kdegraph.geometry.tree import Tree
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit

# Nodes that are expected to take a part in the error of a sum. More of them make a guess that is
# too strict, and nodes are divided in vain; fewer make guesses that fail.
EXPECTED_NODES = 32.0

# Factor by which the allowed error of a node shrinks after a guess that has failed. After each
# further one it is squared, so that few are needed down to the smallest doubles.
STRICTER = 0.25

# Leaves whose work is counted for the estimate of the cost.
SAMPLED_LEAVES = 16


class LocalSums(NamedTuple):
    """The choice of this method, and its estimated cost in ns of one core."""

    cost: float


class Workspace(NamedTuple):
    """Arrays that one thread uses again for every leaf.

    Attributes
    ----------
    stack : (128,) int64
        Nodes still to be visited.
    exponents : (leaf size,) float64
    sums : (leaf size,) float64
        The sums at the targets of the leaf.
    """

    stack: NDArray[np.int64]
    exponents: NDArray[np.float64]
    sums: NDArray[np.float64]


def local_degrees(kernel: Kernel, tree: Tree, eps: float, *, progress=None) -> NDArray[np.float64]:
    """``sum_{j != i} k(x_i, x_j)`` in the order of the tree, each with relative error eps; 0
    exactly where all values underflow.
    """
    sums = np.zeros(len(tree.points))
    leaves = np.arange(tree.first_leaf, tree.start.size)
    work = np.zeros((leaves.size, 2), np.int64)
    parallel.run(
        _sum_leaves, leaves.size, leaves, kernel.code, kernel.inverse_sigma, kernel.local, tree,
        eps, sums, work, progress=progress,
    )  # fmt: skip
    return sums


def estimate_cost(kernel: Kernel, tree: Tree, eps: float) -> LocalSums:
    """Sum for some of the leaves, and estimate the cost of all."""
    n_leaves = tree.start.size - tree.first_leaf
    picked = np.linspace(0, n_leaves - 1, min(SAMPLED_LEAVES, n_leaves)).astype(np.int64)
    sums, work = np.zeros(len(tree.points)), np.zeros((picked.size, 2), np.int64)
    _sum_leaves(
        0, picked.size, tree.first_leaf + picked, kernel.code, kernel.inverse_sigma, kernel.local,
        tree, eps, sums, work,
    )  # fmt: skip
    visits, pairs = work.sum(axis=0)
    d = tree.points.shape[1]
    cost = visits * (TREE_COSTS.local_visit + TREE_COSTS.local_visit_per_dimension * d)
    cost += pairs * (TREE_COSTS.pair + TREE_COSTS.pair_per_dimension * d)
    return LocalSums(float(cost) * n_leaves / picked.size)


@jit
def _sum_leaves(begin, end, leaves, code, scale, local, tree, eps, sums, work):
    """Write the sums at the points of leaves[begin:end], and note the work of each leaf: nodes
    visited and pairs of points.
    """
    most = 0
    for k in range(begin, end):
        most = max(most, tree.stop[leaves[k]] - tree.start[leaves[k]])
    workspace = Workspace(np.empty(128, np.int64), np.empty(most), np.empty(most))
    typical = 1.0
    for k in range(begin, end):
        leaf = leaves[k]
        first, last = tree.start[leaf], tree.stop[leaf]
        limit, stricter = eps * typical / EXPECTED_NODES, STRICTER
        while True:
            error, smallest = _sum_leaf(code, scale, local, tree, leaf, limit, workspace, work[k])
            if error <= eps * (smallest - error) or limit == 0.0:
                break
            # In the end it is zero, and all points within reach are summed one by one.
            limit, stricter = limit * stricter, stricter * stricter
            if smallest > error:
                limit = min(limit, eps * smallest / EXPECTED_NODES)
        typical = max(smallest, 1e-300)
        for i in range(first, last):
            sums[i] = workspace.sums[i - first]


@jit(borrow=True)
def _sum_leaf(code, scale, local, tree, leaf, limit, workspace, work):
    """Sum at the points of one leaf, where each node may have an error of `limit`.

    Returns
    -------
    error : float
        A bound of the error at every point.
    smallest : float
        The smallest sum.
    """
    stack, sums = workspace.stack, workspace.sums
    start, stop = tree.start, tree.stop
    first, last = start[leaf], stop[leaf]
    for i in range(last - first):
        sums[i] = 0.0
    constant = error = 0.0
    top = 0
    stack[0] = 0
    while top >= 0:
        node = stack[top]
        top -= 1
        work[0] += 1
        least, most = box_distances(code, scale, tree, leaf, tree, node)
        least, most = rescaled_bounds(local, leaf, local, node, least, most)
        if least >= UNDERFLOW:
            continue
        size = stop[node] - start[node]
        largest, smallest = exp_neg(least), exp_neg(most)
        half = 0.5 * size * (largest - smallest)
        apart = stop[node] <= first or last <= start[node]
        if apart and half <= limit:
            constant += 0.5 * size * (largest + smallest)
            error += half
        elif 2 * node + 2 < start.size:
            stack[top + 1], stack[top + 2] = 2 * node + 1, 2 * node + 2
            top += 2
        else:
            work[1] += (last - first) * size
            _add_pairs(code, scale, local, tree, first, last, start[node], stop[node], workspace)
    smallest = np.inf
    for i in range(last - first):
        sums[i] += constant
        smallest = min(smallest, sums[i])
    return error, smallest


@jit(borrow=True)
def _add_pairs(code, scale, local, tree, first, last, begin, end, workspace):
    """Add the kernel values of the sources begin ... end - 1 to the sums at the targets first ...
    last - 1.
    """
    points, columns, sums = tree.points, tree.columns, workspace.sums
    values = workspace.exponents[: end - begin]
    for i in range(first, last):
        exponents(code, scale, points[i], columns, begin, end, values)
        factor, shift = factor_and_shift(local, i)
        rescale_row(factor, shift, local, begin, values)
        if begin <= i < end:
            values[i - begin] = np.inf
        total = 0.0
        for j in range(values.size):
            total += exp_neg(values[j])
        sums[i - first] += total
