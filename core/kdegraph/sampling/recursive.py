"""Sample neighbors by recursive halving, Algorithm 1 of Macgregor and Sun (2023).

The KDE solver is a black box. The paper carries one sample at a time through the halving. Here each
vertex descends once with all its uniform numbers, sorted, so that the L rounds share one descent. A
vertex is not its own neighbor: the sum over its own half is added up from the siblings along its
path, which do not contain the vertex. Nothing is subtracted, so that small sums keep their relative
error.
"""

import numpy as np

from kdegraph.geometry.kernel_functions import UNDERFLOW, exp_neg
from kdegraph.geometry.kernels import exponent
from kdegraph.kde.api import checked_sums
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.random import stream, uniform

# Points of a half at most from which neighbors are sampled by exact kernel values.
LEAF = 16


def draw_neighbors(kernel, tree, solver, n_rounds, seed, draws, *, progress=None):
    """Draw `n_rounds` neighbors of every vertex. The leaves of the tree have at most `LEAF` points,
    and the `solver` has ``fit(sources, kernel) -> self`` and ``sums(targets) -> (m,)``. Stratified
    `draws` are one uniform number per vertex, shifted by multiples of 1/L; "independent" ones are L
    numbers.

    Return the neighbors, (n, n_rounds) int32, as positions in the tree's order, -1 where the
    solver's sums over all other points are zero, and the solver's estimates of the degrees,
    ``sum_{j != i} k(x_i, x_j)``.
    """
    n = tree.order.size
    siblings = _sibling_sums(kernel, tree, solver, progress)
    remaining = np.cumsum(siblings[::-1], axis=0)[::-1]
    degrees = remaining[0]
    uniforms = np.empty((n, n_rounds))
    parallel.run(_fill_uniforms, n, np.uint64(seed), tree.order, draws == "stratified", uniforms)
    neighbors = np.full((n, n_rounds), -1, np.int32)
    alive = np.flatnonzero(degrees > 0)
    state = _State(alive, np.zeros(alive.size, np.int64), np.full(alive.size, n_rounds, np.int64))
    _descend(kernel, tree, solver, (siblings, remaining), uniforms, neighbors, state, progress)
    return neighbors, degrees


@jit
def _fill_uniforms(begin, end, seed, order, stratified, uniforms):
    n_rounds = uniforms.shape[1]
    for i in range(begin, end):
        if stratified:
            u = uniform(stream(seed, order[i], 0), 0)
            for k in range(n_rounds):
                uniforms[i, k] = (u + k) / n_rounds
        else:
            for k in range(n_rounds):
                uniforms[i, k] = uniform(stream(seed, order[i], k), 0)
            uniforms[i].sort()


def _sibling_sums(kernel, tree, solver, progress):
    """Return the sums at each point over the parts of a division of the other points, (n_levels,
    n).

    Row l is the sum over the half of the point's node on level l that does not contain the point;
    the last row is the sum over the other points of its leaf. The rows from l on add up to the sum
    over the other points of its node on level l.
    """
    n, levels = tree.order.size, tree.n_levels
    sums = np.zeros((levels, n))
    for level in range(1, levels):
        for node in range(2**level - 1, 2 ** (level + 1) - 1):
            sibling = node + 1 if node % 2 else node - 1
            own, other = (
                slice(tree.start[node], tree.stop[node]),
                slice(tree.start[sibling], tree.stop[sibling]),
            )
            sums[level - 1, own] = checked_sums(
                solver, tree.points[other], kernel, tree.points[own]
            )
        if progress:
            progress(0.5 * level / levels)
    leaves = slice(tree.first_leaf, None)
    _own_leaf_sums(
        kernel.code,
        kernel.inverse_sigma,
        tree.points,
        tree.start[leaves],
        tree.stop[leaves],
        sums[-1],
    )
    return sums


@jit
def _own_leaf_sums(code, scale, points, start, stop, sums):
    for leaf in range(start.size):
        for i in range(start[leaf], stop[leaf]):
            for j in range(start[leaf], stop[leaf]):
                if i != j:
                    t = exponent(code, scale, points, i, points, j)
                    sums[i] += exp_neg(t)


class _State:
    """The vertices that have reached a node, each with the range of its uniforms in this node."""

    def __init__(self, vertices, first, last):
        self.vertices, self.first, self.last = vertices, first, last

    def part(self, first, last):
        keep = last > first
        return _State(self.vertices[keep], first[keep], last[keep])


def _descend(kernel, tree, solver, known, uniforms, neighbors, state, progress):
    """Move the vertices down the halving, and rescale their uniforms to [0, 1) in each node."""
    stack = [(0, 0, state)]
    done = 0
    while stack:
        node, level, state = stack.pop()
        if state.vertices.size == 0:
            continue
        if node >= tree.first_leaf:
            _sample_leaf(
                kernel.code, kernel.inverse_sigma, tree.points, tree.start[node], tree.stop[node],
                state.vertices, state.first, state.last, uniforms, neighbors,
            )  # fmt: skip
            done += tree.stop[node] - tree.start[node]
            if progress:
                progress(0.5 + 0.5 * done / tree.order.size)
            continue
        left, right = 2 * node + 1, 2 * node + 2
        halves = [
            _half_sums(kernel, tree, solver, known, level, child, state.vertices)
            for child in (left, right)
        ]
        total = halves[0] + halves[1]
        # An estimator may return zero for both halves of a reached node. Then they are chosen in
        # proportion to their sizes.
        blind = total == 0.0
        size = tree.stop[left] - tree.start[left], tree.stop[right] - tree.start[right]
        share = np.where(
            blind, size[0] / (size[0] + size[1]), halves[0] / np.where(blind, 1.0, total)
        )
        middle = np.empty_like(state.first)
        _split_uniforms(state.vertices, state.first, state.last, share, uniforms, middle)
        stack.append((right, level + 1, state.part(middle, state.last)))
        stack.append((left, level + 1, state.part(state.first, middle)))


def _half_sums(kernel, tree, solver, known, level, child, vertices):
    """Compute the sums at vertices over the points of `child` without the vertex itself.

    For the vertices in `child` and in its sibling they are known already.
    """
    siblings, remaining = known
    sums = np.empty(vertices.size)
    sibling = child + 1 if child % 2 else child - 1
    inside = (vertices >= tree.start[child]) & (vertices < tree.stop[child])
    beside = (vertices >= tree.start[sibling]) & (vertices < tree.stop[sibling])
    sums[inside] = remaining[level + 1, vertices[inside]]
    sums[beside] = siblings[level, vertices[beside]]
    foreign = ~(inside | beside)
    if foreign.any():
        sums[foreign] = checked_sums(
            solver,
            tree.points[tree.start[child] : tree.stop[child]],
            kernel,
            tree.points[vertices[foreign]],
        )
    return sums


@jit
def _split_uniforms(vertices, first, last, share, uniforms, middle):
    """Find the first uniform >= share of each vertex, and rescale both parts to [0, 1)."""
    top = np.nextafter(1.0, 0.0)
    for k in range(vertices.size):
        row, p = uniforms[vertices[k]], share[k]
        m = first[k]
        while m < last[k] and row[m] < p:
            row[m] = min(row[m] / p, top)
            m += 1
        middle[k] = m
        for i in range(m, last[k]):
            row[i] = min(max((row[i] - p) / (1.0 - p), 0.0), top)


@jit
def _sample_leaf(code, scale, points, start, stop, vertices, first, last, uniforms, neighbors):
    """Sample from the exact kernel values of the leaf.

    Exponents are shifted by the smallest one, so that not all values underflow.
    """
    weights = np.empty(stop - start)
    for k in range(vertices.size):
        i = vertices[k]
        least = np.inf
        for j in range(start, stop):
            t = exponent(code, scale, points, i, points, j)
            weights[j - start] = t
            if j != i and t < least:
                least = t
        total, final = 0.0, start
        for j in range(start, stop):
            reachable = j != i and weights[j - start] < UNDERFLOW
            weights[j - start] = np.exp(least - weights[j - start]) if reachable else 0.0
            total += weights[j - start]
            if reachable:
                final = j
        if total == 0.0:
            continue
        j, reached = start, weights[0]
        for m in range(first[k], last[k]):
            while reached <= uniforms[i, m] * total and j < final:
                j += 1
                reached += weights[j - start]
            neighbors[i, m] = j
