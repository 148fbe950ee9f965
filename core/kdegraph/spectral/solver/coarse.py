"""Approximate eigenvectors from coarse graphs of coarse graphs: the start of the eigensolver, and
all that it takes to separate clusters.

Eigenvectors of a coarse graph are carried over to all rows and smoothed: a few products damp what
varies within the groups. The coarse graph has a coarse graph in turn, down to a few thousand nodes.
"""

from typing import NamedTuple

import numpy as np

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.progress import partial_progress
from kdegraph.spectral.products import aligned_zeros
from kdegraph.spectral.solver.aggregation import CoarseGraph, coarsen
from kdegraph.spectral.solver.blocks import fill_random
from kdegraph.spectral.solver.chebyshev_filter import ChebyshevFilter, FilteredBlock
from kdegraph.spectral.solver.eigenpairs import Eigenpairs
from kdegraph.spectral.solver.rayleigh_ritz import ritz_rotation, ritz_vectors
from kdegraph.spectral.solver.solve import solve
from kdegraph.spectral.solver.start import Start, block_width

MIN_VERTICES = 5_000  # a random start is as fast below
MIN_NODES_PER_VECTOR = 3  # of the block, in a coarse graph that is of use
# The coarse graph is of no use if the last wanted value is smaller, as the Rayleigh quotient of a
# random vector is about 0.
MIN_COARSE_VALUE = 0.25
# The tolerance (see `target_residual`) of the coarsest graph, whose errors no smoothing mends: at
# 3e-3 labels of photographs with rows of length 1 agree less well (adjusted Rand index 0.84) with
# those of all eigenvectors than at 3e-4 (0.94).
COARSEST_TOL = 3e-4
# A round of smoothing has so many products ...
SMOOTHING_DEGREE = 4
# ... and damps eigenvalues of the Laplacian from here on, at least from so many times the last one
# of the block.
MIN_SMOOTHED = 0.2
SMOOTHED_SHARE = 1.5
# Smoothing ends when no wanted eigenvalue can be wrong by more than this share, or a round makes it
# smaller by no more than that ...
SETTLED = 0.1
# ... or its eigenvector is known up to an angle of this sine, as those of tiny eigenvalues are
# soon; at the latest after so many rounds.
MAX_SINE = 0.02
MAX_ROUNDS = 6
# Changes of eigenvalues below this are rounding errors: the blocks are in single precision.
ROUNDING = 2.0**-24


class CoarseVectors(NamedTuple):
    """Approximate eigenvectors that are constant on the nodes of a coarse graph, but for the
    degrees.

    Attributes
    ----------
    coarse : CoarseGraph
    pairs : Eigenpairs
        Of the coarse graph, as many as there are vectors in a block.
    """

    coarse: CoarseGraph
    pairs: Eigenpairs

    def start(self, null, n_given, rng, n_probes=0, progress=None):
        """The `Start` with these vectors, carried over to all rows.

        Parameters
        ----------
        null : NullSpace
            Of the graph that was coarsened.
        n_given : int
            How many of them.
        rng : numpy.random.Generator
        n_probes : int, default=0
            How many random vectors to add.
        progress : callable, optional
            Called with the fraction done.

        Returns
        -------
        Start
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
    """Approximate eigenvectors from a coarse graph.

    Parameters
    ----------
    operator : NormalizedAdjacency
    null : NullSpace
    k : int
        Wanted pairs.
    rng : numpy.random.Generator
    find_runs : callable, optional
        Called without arguments if there is to be a coarse graph. It returns runs of rows that are
        near each other in space, see `coarsen`.
    progress : callable, optional
        Called with the fraction done.

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
    # The blocks of all coarse graphs have the same width: were each to have guard vectors for those
    # of the last one, the coarsest graphs would have far more to do than all others together.
    coarser = coarse_vectors(coarse.operator, coarse.null, k, rng, progress=progress)
    of_coarse = coarse.operator, coarse.null, width
    if coarser is None:
        pairs = solve(*of_coarse, COARSEST_TOL, rng=rng, report=progress)
    else:
        start = coarser.start(coarse.null, width, rng, progress=progress)
        pairs = refine(*of_coarse, start, progress)
    if len(pairs.values) < width or pairs.values[k - 1] < MIN_COARSE_VALUE:
        return None
    return CoarseVectors(coarse, pairs)


def refine(operator, null, k, start, progress=None):
    """The `k` largest eigenpairs beyond the null space, as far as a start shows them.

    Parameters
    ----------
    operator : NormalizedAdjacency
    null : NullSpace
    k : int
    start : Start
        Without random vectors. Its block is overwritten.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    Eigenpairs
        Converged if the eigenvalues have settled to about `SETTLED`.
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
    """The `ChebyshevFilter` of a round of smoothing for a block whose largest eigenvalue of the
    Laplacian is `last`.
    """
    damped_from = min(1.5, max(SMOOTHED_SHARE * last, MIN_SMOOTHED))
    return ChebyshevFilter(1.0 - damped_from, SMOOTHING_DEGREE, np.float32)


def has_settled(values, ritz, k):
    """Whether the first `k` Ritz values are good enough, given the values of the round before.

    The error of a Ritz value is at most the square of its residual over its distance from the
    eigenvalues beyond the block (Kato and Temple), which is about what the block covers. The sine
    of the angle between vector and eigenvectors is at most the residual over that distance (Davis
    and Kahan).
    """
    before, now = 1.0 - values[:k], 1.0 - ritz.values[:k]
    covered = 1.0 - ritz.values[-1]
    tolerable = np.sqrt(SETTLED * covered * np.maximum(now, 0.0))
    accurate = ritz.residuals[:k] <= np.maximum(tolerable, MAX_SINE * covered)
    unchanged = before - now <= np.maximum(SETTLED * before, ROUNDING)
    return bool((accurate | unchanged).all())


@jit
def _prolong_rows(start, stop, node, vector, values, block):
    """Set the first columns of each row to the values of its node times its entry of the vector."""
    for i in range(start, stop):
        for c in range(values.shape[1]):
            block[i, c] = values[node[i], c] * vector[i]
