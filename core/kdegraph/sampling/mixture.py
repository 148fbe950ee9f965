"""Samples in many dimensions, from lists of near neighbors and by rejection from all other points.

Vertex i draws a listed neighbor with probability proportional to its kernel value. With a
probability equal to the unlisted points' share of its degree, it draws one of these instead:
proposals are uniform, and are accepted with the kernel value relative to the smallest listed one,
clipped to ``[1 / RANGE, 1]``. So a draw takes at most about `RANGE` proposals.

This is the law of Algorithm 2 except for the clipping and for estimated sums over the unlisted
points. Edges are weighted by the inclusion probabilities of the actual law. So the adjacency matrix
is an unbiased estimate of the kernel matrix, up to the error of these sums (a few percent of them,
or none where most values are clipped), whichever neighbors are listed. The lists affect only the
variance.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from kdegraph.geometry.kernel_functions import LAPLACIAN, UNDERFLOW, exp_neg
from kdegraph.geometry.local_scale import LocalScale, rescaled
from kdegraph.geometry.sparse_points import SparseRows, scaled_distance, sparse_rows
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.progress import partial_progress
from kdegraph.runtime.random import stream, uniform
from kdegraph.validation import SparsePoints

# Ratio of the largest to the smallest probability with which a proposal is accepted.
RANGE = 20.0


class MixtureLaw(NamedTuple):
    """The law by which vertices draw.

    Kernel values are relative to the largest value of the vertex's list.
    """

    # The kernel.
    code: int
    inverse_sigma: float
    local: LocalScale
    points: np.ndarray | SparseRows  # (n, d) float32 or float64
    neighbors: np.ndarray  # (n, m) int32: the listed neighbors, in ascending order of their numbers
    sums: np.ndarray  # (n, m) float64: running sums of their kernel values
    least: np.ndarray  # (n,) float64: the exponent of the largest kernel value
    smallest: np.ndarray  # (n,) float64: the smallest kernel value
    # (n,) float64: the estimated sum of the probabilities of acceptance over all unlisted points
    far_total: np.ndarray
    # (n,) float64: the probability of a draw from the unlisted points; -1 for a vertex without
    # neighbors
    far_share: np.ndarray


def mixture_law(kernel, points, lists, n_rounds, seed, *, progress=None):
    """Return the law by which vertices draw, and the kernel degrees ``sum_{j != i} k(x_i, x_j)``,
    which are exact for the listed points and unbiased estimates for the others.

    The kernel has local bandwidths in the order of the points, see `pair_kernel`. Only the
    distances of the lists are used for the Gaussian and the exponential kernel.
    """
    n, m = lists.indices.shape
    points = sparse_rows(points) if isinstance(points, SparsePoints) else points
    law = MixtureLaw(
        kernel.code, kernel.inverse_sigma, kernel.local, points, np.empty_like(lists.indices),
        np.empty((n, m)), np.empty(n), np.empty(n), np.empty(n), np.empty(n),
    )  # fmt: skip
    degrees = np.empty(n)
    args = law, lists, n_rounds, np.uint64(seed), degrees
    parallel.run(_set_laws, n, *args, progress=progress)
    return law, degrees


@jit
def _set_laws(begin, end, law, lists, n_rounds, seed, degrees):
    """Compute the laws of some vertices."""
    for i in range(begin, end):
        places = np.argsort(lists.indices[i])
        law.neighbors[i] = lists.indices[i][places]
        near = _set_near(law, i, lists.distances[i][places])
        far, law.far_total[i] = _estimate_far(law, i, near, n_rounds, seed)
        law.far_share[i] = _far_share(law, i, near, far, n_rounds)
        degrees[i] = (near + far) * exp_neg(law.least[i])


@jit(borrow=True)
def _set_near(law, i, distances):
    """Compute the kernel values of the listed neighbors from their distances; return their sum."""
    row, total = law.sums[i], 0.0
    least, most = UNDERFLOW, 0.0
    for q in range(row.size):
        row[q] = _listed_exponent(law, i, law.neighbors[i, q], distances[q])
        least, most = min(least, row[q]), max(most, row[q])
    law.least[i] = least if least < UNDERFLOW else 0.0
    law.smallest[i] = _relative(most, law.least[i])
    for q in range(row.size):
        total += _relative(row[q], law.least[i])
        row[q] = total
    return total


@jit(borrow=True)
def _estimate_far(law, i, near, n_rounds, seed):
    """Estimate the sum of the kernel values of the unlisted points and the sum of their
    probabilities of acceptance, from 256 of them, or 16 if these seem to have a small share.
    """
    n_far = law.least.size - 1 - law.sums.shape[1]
    if n_far == 0:
        return 0.0, 0.0
    far = accepted = 0.0
    for pilot in range(256):
        j = _other_point(law, i, stream(seed, i, n_rounds + pilot), 0)[0]
        value = _relative(_exponent(law, i, j), law.least[i])
        far += value
        accepted += _acceptance(law, i, value)
        n_pilots = pilot + 1
        if n_pilots == 16 and far * n_far <= 0.05 * n_pilots * near:
            break
    return far * n_far / n_pilots, accepted * n_far / n_pilots


@jit(borrow=True)
def _far_share(law, i, near, far, n_rounds):
    """Return the probability of a draw from the unlisted points, at least 0.001.

    They may be nearly as near as the last listed one. They are drawn so often that an edge to one
    of them weighs at most a third of the degree, but for this reason at most every second time.
    """
    if near + far == 0.0:
        return -1.0
    if law.far_total[i] == 0.0:
        return 0.0
    possible = law.smallest[i] * law.far_total[i] / (1 / 3 * n_rounds)
    precaution = min(possible / (near + possible), 0.5)
    return max(far / (near + far), precaution, 0.001)


@jit(borrow=True)
def _acceptance(law, i, value):
    """Return the probability that a proposal with this relative kernel value is accepted."""
    if law.smallest[i] == 0.0:
        return 1.0
    return min(max(value / law.smallest[i], 1.0 / RANGE), 1.0)


@jit(borrow=True)
def _exponent(law, i, j):
    """Return the exponent of the kernel between the points i and j."""
    u = scaled_distance(law.code, law.inverse_sigma, law.points, i, j)
    return rescaled(law.code, law.local, i, law.local, j, u)


@jit(borrow=True)
def _listed_exponent(law, i, j, distance):
    """Return the exponent between two points with a known Euclidean distance."""
    if law.code == LAPLACIAN:
        return _exponent(law, i, j)
    scaled = distance * law.inverse_sigma
    return rescaled(law.code, law.local, i, law.local, j, scaled * scaled)


@jit(borrow=True)
def _relative(t, least):
    """Return the kernel value of an exponent relative to that of `least`; 0 if it underflows."""
    return exp_neg(max(t - least, -UNDERFLOW)) if t < UNDERFLOW else 0.0


@jit(borrow=True)
def _place(listed, j):
    """Return the place of j among ascending numbers, or -1."""
    place = np.searchsorted(listed, j)
    return place if place < listed.size and listed[place] == j else -1


@jit(borrow=True)
def _other_point(law, i, start, counter):
    """Draw an unlisted point of vertex i uniformly; return it and the next counter."""
    n = law.least.size
    while True:
        j = min(int(uniform(start, counter) * n), n - 1)
        counter += 1
        if j != i and _place(law.neighbors[i], j) < 0:
            return j, counter


@jit(borrow=True)
def _far_point(law, i, start, counter):
    """Draw an unlisted point by rejection; return -1 if its kernel value underflows."""
    while True:
        j, counter = _other_point(law, i, start, counter)
        t = _exponent(law, i, j)
        if uniform(start, counter) < _acceptance(law, i, _relative(t, law.least[i])):
            return j if t < UNDERFLOW else -1
        counter += 1


def draw_neighbors(law, n_rounds, seed, *, progress=None):
    """Draw `n_rounds` neighbors of every vertex, (n, n_rounds) int32; -1 for an isolated vertex,
    and for a draw whose kernel value underflows.
    """
    neighbors = np.full((law.least.size, n_rounds), -1, np.int32)
    parallel.run(_draw_range, len(neighbors), law, np.uint64(seed), neighbors, progress=progress)
    return neighbors


@jit
def _draw_range(begin, end, law, seed, neighbors):
    """Draw for the vertices begin ... end - 1."""
    for i in range(begin, end):
        if law.far_share[i] < 0.0:
            continue
        sums = law.sums[i]
        for draw in range(neighbors.shape[1]):
            start = stream(seed, i, draw)
            if uniform(start, 0) < law.far_share[i]:
                neighbors[i, draw] = _far_point(law, i, start, 1)
            else:
                q = np.searchsorted(sums, uniform(start, 1) * sums[-1], side="right")
                # Rounding may reach the total, and the last neighbors may contribute nothing to it.
                q = min(q, np.searchsorted(sums, sums[-1]))
                neighbors[i, draw] = law.neighbors[i, q]


def weighted_adjacency(law, neighbors, *, progress=None):
    """Return the symmetric adjacency matrix with Horvitz-Thompson weights, an (n, n) CSR array,
    sorted, without duplicates.

    The weight of an edge is ``k(x_i, x_j)`` over the probability that i has drawn j or j has drawn
    i.
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
    """Compute the weights of some edges."""
    for e in range(begin, end):
        i, j = first[e], second[e]
        t = _exponent(law, i, j)
        missed = _miss(law, i, j, t, n_rounds) * _miss(law, j, i, t, n_rounds)
        weights[e] = exp_neg(t) / (1.0 - missed)


@jit(borrow=True)
def _miss(law, i, j, t, n_rounds):
    """Return the probability that vertex i does not draw j; t is the exponent between them."""
    far_share, sums = law.far_share[i], law.sums[i]
    if far_share < 0.0:
        return 1.0
    place = _place(law.neighbors[i], j)
    if place < 0:
        accepted = _acceptance(law, i, _relative(t, law.least[i]))
        return (1.0 - far_share * accepted / law.far_total[i]) ** n_rounds
    value = sums[place] - (sums[place - 1] if place else 0.0)
    return (1.0 - (1.0 - far_share) * value / sums[-1]) ** n_rounds
