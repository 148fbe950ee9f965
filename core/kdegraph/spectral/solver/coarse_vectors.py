"""Approximate eigenvectors from coarse graphs of coarse graphs: a start for the eigensolver, and
accurate enough to separate clusters.

Eigenvectors of a coarse graph are prolonged to all rows and smoothed: a few products damp what
varies within the groups. The coarse graph has a coarse graph in turn, down to a few thousand nodes.
"""

from typing import NamedTuple

import numpy as np

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.progress import partial_progress
from kdegraph.spectral.blocks import fill_random
from kdegraph.spectral.products import aligned_zeros
from kdegraph.spectral.solver.chebyshev import ChebyshevFilter, FilteredBlock
from kdegraph.spectral.solver.coarse_graph import CoarseGraph, coarsen
from kdegraph.spectral.solver.iteration import Eigenpairs, Start, block_width
from kdegraph.spectral.solver.rayleigh_ritz import ritz_rotation, ritz_vectors
from kdegraph.spectral.solver.solve import solve

MIN_VERTICES = 5_000  # of a graph for which a coarse one is made; below, a random start is as fast
MIN_NODES_PER_VECTOR = 3  # nodes of a useful coarse graph for each vector of the block
# The coarse graph is not used if the last wanted value is smaller. That of a random vector is about
# 0.
MIN_COARSE_VALUE = 0.25
SMOOTHING_DEGREE = 4  # products in a round of smoothing
MAX_ROUNDS = 6
# Relative error of the wanted eigenvalues at which smoothing ends: see `has_settled`.
SETTLED = 0.1


class CoarseVectors(NamedTuple):
    """Approximate eigenvectors, proportional to sqrt(degree) on each node of a coarse graph.

    Attributes
    ----------
    coarse : CoarseGraph
    pairs : Eigenpairs
        Of the coarse graph, one for each vector of a block.
    """

    coarse: CoarseGraph
    pairs: Eigenpairs

    def start(self, null, n_given, rng, n_probes=0, progress=None):
        """Return the `Start` with the first `n_given` of these vectors, prolonged to all rows, and
        `n_probes` random vectors; `null` is the null space of the graph that was coarsened.
        """
        coarse, pairs = self
        n, width = len(coarse.node), n_given + n_probes
        values = pairs.vectors[:, :n_given] / coarse.null.vector[:, None]
        block = aligned_zeros(n, width, np.float32)
        args = coarse.node, null.vector.astype(np.float32), values, block
        parallel.run(_prolong_rows, n, *args, progress=progress)
        fill_random(block, n_given, rng.integers(2**63))
        return Start(block, n_probes, pairs.values[:width])


def coarse_vectors(operator, null, k, rng, *, find_runs=None, progress=None):
    """Compute approximate eigenvectors from a coarse graph.

    Parameters
    ----------
    operator : NormalizedAdjacency
    null : NullSpace
    k : int
        Wanted pairs.
    rng : numpy.random.Generator
    find_runs : callable, optional
        Called without arguments if a coarse graph is made, it returns runs of rows that are near
        each other in space, see `coarsen`.
    progress : callable, optional

    Returns
    -------
    CoarseVectors or None
        None for few vertices or too many components, and if the coarse graph does not show the
        wanted eigenvectors.
    """
    width = block_width(k)
    if operator.n < MIN_VERTICES:
        return None
    coarse = coarsen(operator, null, find_runs and find_runs(), progress)
    if MIN_NODES_PER_VECTOR * width + len(null) > coarse.operator.n:
        return None
    # The blocks of all coarse graphs have the same width. If each had guard vectors for those of
    # the one before, the coarsest graphs would take far more time than all others together.
    coarser = coarse_vectors(coarse.operator, coarse.null, k, rng, progress=progress)
    of_coarse = coarse.operator, coarse.null, width
    if coarser is None:
        # Smoothing does not remove errors of the coarsest graph. With a tolerance of 3e-3, labels
        # of photographs with rows of length 1 agree less (adjusted Rand index 0.84) with those of
        # the exact eigenvectors than with 3e-4 (0.94).
        pairs = solve(*of_coarse, 3e-4, rng=rng, report=progress)
    else:
        start = coarser.start(coarse.null, width, rng, progress=progress)
        pairs = refine(*of_coarse, start, progress)
    if len(pairs.values) < width or pairs.values[k - 1] < MIN_COARSE_VALUE:
        return None
    return CoarseVectors(coarse, pairs)


def refine(operator, null, k, start, progress=None):
    """Smooth the vectors of a start until the `k` largest eigenvalues beyond the null space settle.

    The block of the `Start`, which has no random vectors, is overwritten. The `Eigenpairs` have
    converged if the eigenvalues have settled to about `SETTLED`.
    """
    block, values = start.block, start.values
    for n_rounds in range(1, MAX_ROUNDS + 1):
        done = 1 - 0.5 ** (n_rounds - 1)
        at_present = partial_progress(progress, done, done)
        smoothing = smoothing_filter(1.0 - values[-1])
        filtered = FilteredBlock(smoothing, operator, block, progress=at_present)
        block = filtered.raise_to(SMOOTHING_DEGREE).vectors
        image = operator.step(block, filtered.previous, progress=at_present)
        overlaps = null.overlaps(block, image, at_present)
        ritz = ritz_rotation(overlaps.gram)
        dependent = len(ritz.values) < len(values)
        settled = not dependent and has_settled(values, ritz, k)
        values = ritz.values
        if settled or dependent or n_rounds == MAX_ROUNDS:
            break
        block = ritz_vectors(null, block, image, ritz, np.float32, overlaps, at_present)
    pairs = ritz.first(k)
    vectors = ritz_vectors(null, block, image, pairs, np.float64, overlaps, at_present)
    n_products = n_rounds * (SMOOTHING_DEGREE + 1)
    return Eigenpairs(pairs.values, vectors, pairs.residuals, settled, n_products)


def smoothing_filter(last):
    """Return the `ChebyshevFilter` of a round of smoothing for a block whose largest eigenvalue of
    the Laplacian is `last`. It damps eigenvalues above 0.2 that are clearly larger than this.
    """
    damped_from = min(1.5, max(1.5 * last, 0.2))
    return ChebyshevFilter(1.0 - damped_from, SMOOTHING_DEGREE, np.float32)


def has_settled(values, ritz, k):
    """Return whether the first `k` Ritz values are accurate, given those of the round before.

    The error of a Ritz value is at most the square of its residual over its distance from the
    eigenvalues beyond the block (Kato and Temple), which is about the part of the spectrum that the
    block covers. The sine of the angle between its vector and the eigenvectors is at most the
    residual over that distance (Davis and Kahan); for tiny eigenvalues 0.02 is accurate enough. A
    value has also settled if the round hardly changed it, up to rounding in single precision.
    """
    before, now = 1.0 - values[:k], 1.0 - ritz.values[:k]
    covered = 1.0 - ritz.values[-1]
    tolerable = np.sqrt(SETTLED * covered * np.maximum(now, 0.0))
    accurate = ritz.residuals[:k] <= np.maximum(tolerable, 0.02 * covered)
    unchanged = before - now <= np.maximum(SETTLED * before, 2.0**-24)
    return bool((accurate | unchanged).all())


@jit
def _prolong_rows(start, stop, node, vector, values, block):
    """Set the first columns of each row to the values of its node times its entry of the vector."""
    for i in range(start, stop):
        for c in range(values.shape[1]):
            block[i, c] = values[node[i], c] * vector[i]
