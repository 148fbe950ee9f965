"""Samples in many dimensions: from lists of near neighbors, and uniformly from all other points.

Vertex i draws a listed neighbor with a probability in proportion to its kernel value, and now and
then one of the other points, each of which is as likely as the others. This is not the law of
Algorithm 2, but it is known exactly: edges weighted by its inclusion probabilities make the
adjacency matrix an unbiased estimate of the kernel matrix, whichever neighbors are listed. The
lists, and how often other points are drawn, decide only how much it varies.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from kdegraph.geometry.kernels import EXPONENTIAL, LAPLACIAN, UNDERFLOW, exp_neg
from kdegraph.geometry.local_scale import LocalScale, rescaled
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.progress import partial_progress
from kdegraph.runtime.random import stream, uniform

# Other points by which their part in the degree of a vertex is estimated.
PILOT_DRAWS = 16
# Share of the draws that go to other points, at least.
MIN_FAR_SHARE = 0.001
# The same, as far as it is needed because other points may be nearly as near as the last one of the
# list: so often that an edge to one of them weighs at most this share of the degree, but no more
# often than the other share.
MAX_FAR_WEIGHT = 1 / 3
MAX_PRECAUTION = 0.5


class MixtureLaw(NamedTuple):
    """How vertices draw. Kernel values are relative to the largest one of the vertex's list.

    Attributes
    ----------
    code, inverse_sigma, local : int, float, LocalScale
        The kernel.
    points : (n, d) float32 or float64
    neighbors : (n, m) int32
        The listed neighbors, by ascending numbers.
    sums : (n, m) float64
        Running sums of their kernel values.
    least : (n,) float64
        The exponent of the largest one.
    far_share : (n,) float64
        The probability of a draw from the other points; -1 where nothing can be drawn.
    """

    code: int
    inverse_sigma: float
    local: LocalScale
    points: np.ndarray
    neighbors: np.ndarray
    sums: np.ndarray
    least: np.ndarray
    far_share: np.ndarray


def mixture_law(kernel, points, lists, n_rounds, seed, *, progress=None):
    """The law by which vertices draw, and estimates of the kernel degrees.

    Parameters
    ----------
    kernel : Kernel
        With local bandwidths in the order of the points, see `pair_kernel`.
    points : (n, d) float32 or float64 array
    lists : NeighborLists
    n_rounds, seed : int
        As for `draw_neighbors`.

    Returns
    -------
    law : MixtureLaw
    degrees : (n,) float64
        ``sum_{j != i} k(x_i, x_j)``: exact for the listed neighbors, and unbiased for the others.
    """
    n, m = lists.indices.shape
    law = MixtureLaw(
        kernel.code, kernel.inverse_sigma, kernel.local, points, np.sort(lists.indices, axis=1),
        np.empty((n, m)), np.empty(n), np.empty(n),
    )  # fmt: skip
    degrees = np.empty(n)
    parallel.run(_set_laws, n, law, n_rounds, np.uint64(seed), degrees, progress=progress)
    return law, degrees


@jit
def _set_laws(begin, end, law, n_rounds, seed, degrees):
    """Fill in the laws of some vertices."""
    n, m = law.neighbors.shape
    gaps = np.empty(law.points.shape[1])
    for i in range(begin, end):
        row = law.sums[i]
        for q in range(m):
            row[q] = _exponent(law, i, law.neighbors[i, q], gaps)
        law.least[i] = row.min() if m else np.inf
        smallest = total = 0.0
        if law.least[i] < UNDERFLOW:
            smallest = exp_neg(row.max() - law.least[i])
            for q in range(m):
                total += _relative(row[q], law.least[i])
                row[q] = total
        else:
            law.least[i], row[:] = 0.0, 0.0
        far = 0.0
        for draw in range(PILOT_DRAWS if n - 1 > m else 0):
            j = _far_point(law, i, stream(seed, i, n_rounds + draw))
            far += _relative(_exponent(law, i, j, gaps), law.least[i])
        far *= (n - 1 - m) / PILOT_DRAWS
        law.far_share[i] = _far_share(total, far, smallest, n - 1 - m, n_rounds)
        degrees[i] = (total + far) * exp_neg(law.least[i])


@jit
def _far_share(near, far, smallest, n_far, n_rounds):
    """How often to draw one of the `n_far` points that are not listed.

    The kernel values of the listed neighbors add up to `near`, and are at least `smallest`; those
    of the others add up to about `far`.
    """
    if near + far == 0.0:
        return -1.0
    if n_far == 0:
        return 0.0
    possible = n_far * smallest / (MAX_FAR_WEIGHT * n_rounds)
    precaution = min(possible / (near + possible), MAX_PRECAUTION)
    return max(far / (near + far), precaution, MIN_FAR_SHARE)


@jit(borrow=True)
def _exponent(law, i, j, gaps):
    """The exponent of the kernel between the points i and j; `gaps` is a workspace."""
    points = law.points
    for c in range(gaps.size):
        gaps[c] = (np.float64(points[i, c]) - np.float64(points[j, c])) * law.inverse_sigma
    if law.code == LAPLACIAN:
        t = 0.0
        for c in range(gaps.size):
            t += abs(gaps[c])
    else:
        t = np.dot(gaps, gaps)
    if law.code == EXPONENTIAL:
        t = np.sqrt(t)
    return rescaled(law.local, i, law.local, j, t)


@jit(borrow=True)
def _relative(t, least):
    """The kernel value of an exponent, relative to that of `least`; 0 where it counts as zero."""
    return exp_neg(max(t - least, -UNDERFLOW)) if t < UNDERFLOW else 0.0


@jit(borrow=True)
def _place(listed, j):
    """The place of j among ascending numbers, or -1."""
    low, high = 0, listed.size
    while low < high:
        middle = (low + high) // 2
        if listed[middle] < j:
            low = middle + 1
        else:
            high = middle
    return low if low < listed.size and listed[low] == j else -1


@jit(borrow=True)
def _far_point(law, i, start):
    """One of the points that are not listed for vertex i, each with the same probability."""
    n, counter = law.least.size, 1
    while True:
        j = min(int(uniform(start, counter) * n), n - 1)
        if j != i and _place(law.neighbors[i], j) < 0:
            return j
        counter += 1


def draw_neighbors(law, n_rounds, seed, *, progress=None):
    """Draw `n_rounds` neighbors of every vertex.

    Returns
    -------
    (n, n_rounds) int32 array
        -1 where the kernel value of what was drawn counts as zero.
    """
    neighbors = np.full((law.least.size, n_rounds), -1, np.int32)
    parallel.run(_draw_range, len(neighbors), law, np.uint64(seed), neighbors, progress=progress)
    return neighbors


@jit
def _draw_range(begin, end, law, seed, neighbors):
    """Draw for the vertices begin ... end - 1."""
    gaps = np.empty(law.points.shape[1])
    for i in range(begin, end):
        if law.far_share[i] < 0.0:
            continue
        sums = law.sums[i]
        for draw in range(neighbors.shape[1]):
            start = stream(seed, i, draw)
            if uniform(start, 0) < law.far_share[i]:
                j = _far_point(law, i, start)
                neighbors[i, draw] = j if _exponent(law, i, j, gaps) < UNDERFLOW else -1
            else:
                q = np.searchsorted(sums, uniform(start, 1) * sums[-1], side="right")
                # Rounding may reach the sum itself, and what comes last may have no part in it.
                q = min(q, np.searchsorted(sums, sums[-1]))
                neighbors[i, draw] = law.neighbors[i, q]


def weighted_adjacency(law, neighbors, *, progress=None):
    """The symmetric adjacency matrix with Horvitz-Thompson weights: ``k(x_i, x_j)`` over the
    probability that i has drawn j, or j has drawn i.

    Returns
    -------
    csr_array
        (n, n), sorted, without duplicates.
    """
    n, n_rounds = neighbors.shape
    drawn = neighbors.ravel()
    by = np.repeat(np.arange(n, dtype=np.int64), n_rounds)[drawn >= 0]
    drawn = drawn[drawn >= 0].astype(np.int64)
    first, second = np.divmod(np.unique(np.minimum(by, drawn) * n + np.maximum(by, drawn)), n)
    weights = np.empty(len(first))
    part = partial_progress(progress, 0.3, 0.8)
    parallel.run(_weigh, len(first), law, n_rounds, first, second, weights, progress=part)
    kind = np.int32 if 2 * len(first) < 2**31 else np.int64
    ends = (
        np.concatenate([first, second]).astype(kind),
        np.concatenate([second, first]).astype(kind),
    )
    matrix = scipy.sparse.csr_array((np.tile(weights, 2), ends), shape=(n, n))
    matrix.sort_indices()
    return matrix


@jit
def _weigh(begin, end, law, n_rounds, first, second, weights):
    """Write the weights of some edges."""
    gaps = np.empty(law.points.shape[1])
    for e in range(begin, end):
        i, j = first[e], second[e]
        t = _exponent(law, i, j, gaps)
        missed = _miss(law, i, j, n_rounds) * _miss(law, j, i, n_rounds)
        weights[e] = exp_neg(t) / (1.0 - missed)


@jit(borrow=True)
def _miss(law, i, j, n_rounds):
    """The probability that vertex i does not draw j."""
    far_share, sums = law.far_share[i], law.sums[i]
    if far_share < 0.0:
        return 1.0
    place = _place(law.neighbors[i], j)
    if place < 0:
        return (1.0 - far_share / (law.least.size - 1 - sums.size)) ** n_rounds
    value = sums[place] - (sums[place - 1] if place else 0.0)
    return (1.0 - (1.0 - far_share) * value / sums[-1]) ** n_rounds
