"""The largest eigenvalues of M = D^-1/2 A D^-1/2, with multiplicity, by Chebyshev-filtered subspace
iteration on a block of vectors.

A block holds the wanted vectors and some guard vectors. A Chebyshev polynomial of M damps the
unwanted part of the spectrum, and the Rayleigh-Ritz method reads off the eigenpairs, in single
precision where that suffices for the residual. Unlike a Krylov method from a single vector, a block
finds every copy of a repeated eigenvalue. The eigenvectors of eigenvalue 1 are known exactly, one
per connected component, and are kept out of the iteration.

References
----------
Y. Zhou, Y. Saad, M. L. Tiago, J. R. Chelikowsky, "Self-consistent-field calculations using
Chebyshev-filtered subspace iteration", J. Comput. Phys. 219 (2006), 172-184.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from kdegraph.spectral.blocks import fill_random
from kdegraph.spectral.products import aligned_zeros
from kdegraph.spectral.solver.chebyshev import (
    MIN_DEGREE,
    ChebyshevFilter,
    FilteredBlock,
    choose_cut,
)
from kdegraph.spectral.solver.missed import filter_and_measure, missed_value
from kdegraph.spectral.solver.rayleigh_ritz import RitzRotation, rayleigh_ritz, ritz_vectors

FIRST_FILTER = ChebyshevFilter(cut=0.5, degree=12, dtype=np.float32)  # of a random block
# By default the iteration gives up after this number of products with the block, or after this
# number of multiplications (about ten seconds) if these allow more products.
MAX_PRODUCTS = 3000
MAX_MULTIPLICATIONS = 5e9


def block_width(k):
    """Return the number of vectors in the block for `k` wanted ones.

    The others are guard vectors, which speed up convergence. Multiples of 8 fill vector registers.
    There are at least 16, a cache line in single precision, because the product with a narrower
    block is hardly faster.
    """
    return max(16, 8 * math.ceil((k + max(6, k // 2)) / 8))


class Eigenpairs(NamedTuple):
    """The largest eigenpairs of M beyond its null space.

    Attributes
    ----------
    values : (k,) array
        In descending order.
    vectors : (n, k) float64 array
    residuals : (k,) array
    converged : bool
    n_products : int
        Products of M with a block of vectors.
    """

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    converged: bool
    n_products: int


@dataclass
class Start:
    """The block of vectors that the iteration starts from.

    Attributes
    ----------
    block : (n, width) float32 array
        Approximate eigenvectors, if there are any, and then random vectors.
    n_probes : int
        Number of random vectors, the probes.
    values : (width,) array or None
        Estimates of the largest eigenvalues, in descending order, if there are approximate
        eigenvectors.
    """

    block: np.ndarray
    n_probes: int
    values: np.ndarray | None = None

    @classmethod
    def random(cls, n, k, seed):
        """Return a block of random vectors."""
        block = aligned_zeros(n, block_width(k), np.float32)
        fill_random(block, 0, seed)
        return cls(block, block.shape[1])


def solve_block(operator, null, k, *, tol, rng, limit, start=None, report=None):
    """Find the `k` largest eigenpairs beyond the null space.

    Parameters
    ----------
    operator : NormalizedAdjacency
    null : NullSpace
    k : int
        Wanted pairs; `block_width(k)` must be at most ``n - len(null)``.
    tol : float
        See `target_residual`.
    rng : numpy.random.Generator
    limit : int
        Give up after this number of products of M with the block.
    start : Start, optional
        By default random vectors.
    report : callable, optional
        Called with the estimated fraction done, at least every few hundredths of a second.

    Returns
    -------
    Eigenpairs
    """
    if start is None:
        start = Start.random(operator.n, k, rng.integers(2**63))
    estimate = _FractionDone(report)
    progress = None if report is None else estimate
    missed = overlaps = None
    if start.values is None:
        filtered = FilteredBlock(FIRST_FILTER, operator, start.block, progress=progress)
        filtered.raise_to(min(FIRST_FILTER.degree, limit - 1))
    else:
        filtered, overlaps, missed = filter_and_measure(
            operator, null, start, k, limit - 1, progress
        )
    n_products = 0
    while True:
        ritz = rayleigh_ritz(
            operator, null, filtered.vectors, filtered.previous, rng, overlaps, progress
        )
        n_products += filtered.n_products + 1
        if missed:  # the Ritz values of the few probes may be meaningless
            estimates = np.minimum(start.values[k:], ritz.values[k - 1])
            ritz.values[k:] = np.maximum(ritz.values[k:], estimates)
        lacking_growth = missed.lacking_growth(ritz.values) if missed else -math.inf
        residual, target = ritz.residuals[:k].max(), target_residual(tol, ritz.values)
        estimate.update(residual, target)
        converged = bool(residual <= target and lacking_growth <= 0)
        if converged or n_products >= limit:
            break
        chebyshev = next_filter(ritz, k, target, lacking_growth, limit - n_products - 1)
        filtered = FilteredBlock(chebyshev, operator, ritz.vectors, ritz.image, progress)
        filtered.raise_to(chebyshev.degree)
        overlaps = None
        if missed:
            missed.filters.append(chebyshev)
    found = RitzRotation(ritz.values, ritz.residuals, np.eye(len(ritz.values))).first(k)
    vectors = ritz_vectors(null, ritz.vectors, None, found, np.float64, progress=progress)
    return Eigenpairs(found.values, vectors, found.residuals, converged, n_products)


def default_limit(operator, width):
    """Return the number of products with a block after which the iteration gives up by default."""
    per_product = width * (len(operator.indices) + operator.n)
    return max(MAX_PRODUCTS, int(MAX_MULTIPLICATIONS / per_product))


def target_residual(tol, values):
    """Return the residual to reach: `tol`, but at most 20 times that share of the part of the
    spectrum that the block covers, and not below 1e-9, which suffices for any spectrum.

    On a path of many vertices all wanted eigenvalues of the Laplacian are tiny, and a residual of
    `tol` would mean nothing for them.
    """
    covered = max(1.0 - values[-1], 0.0)
    return max(min(1e-9, tol), tol * min(1.0, 20.0 * covered))


def next_filter(ritz, k, target, lacking_growth, max_degree):
    """Choose the filter after a Rayleigh-Ritz step.

    Its degree lets the residuals reach the target, and missed eigenvectors be detected, as far as
    rounding errors and `max_degree` allow it. Single precision suffices for residuals down to 1e-5,
    and on the way to smaller ones as long as they are above 1e-4.
    """
    residual, values = ritz.residuals[:k].max(), ritz.values
    single = target >= 1e-5 or residual > 1e-4
    cut = choose_cut(values, ritz.residuals[-1], k)
    chebyshev = ChebyshevFilter(cut, 1, np.float32 if single else np.float64)
    reduction = math.log(max(residual / target, 1.0)) + 0.5  # a margin, so that one filter suffices
    wanted = max(
        chebyshev.degree_for(values[k - 1], reduction),
        chebyshev.degree_for(missed_value(values, k), lacking_growth),
        MIN_DEGREE,
    )
    degree = min(math.ceil(wanted), chebyshev.max_degree(values), max_degree)
    return replace(chebyshev, degree=max(degree, 1))


class _FractionDone:
    """Estimates how much of the iteration is done, from the logarithm of the residual.

    Parameters
    ----------
    report : callable or None
        Called with that fraction whenever the object itself is called, which the steps of the
        iteration do to report their own progress.
    """

    def __init__(self, report):
        self._report = report
        self._done = 0.0
        self._first = None

    def __call__(self, fraction):
        self._report(self._done)

    def update(self, residual, target):
        """Take account of the largest residual after a Rayleigh-Ritz step."""
        self._first = self._first or max(residual, 2 * target)
        done = math.log(self._first / max(residual, target)) / math.log(self._first / target)
        self._done = max(self._done, min(1.0, done))
