"""The largest eigenvalues of M = D^-1/2 A D^-1/2, with multiplicity, by Chebyshev-filtered subspace
iteration on a block of vectors.

Small graphs and large parts of the spectrum are left to LAPACK. A block holds the wanted vectors
and some guard vectors. A Chebyshev polynomial of M damps the unwanted part of the spectrum, and the
Rayleigh-Ritz method reads off the eigenpairs, in single precision where that suffices for the
residual. Unlike a Krylov method from a single vector, a block finds every copy of a repeated
eigenvalue. The eigenvectors of eigenvalue 1 are known exactly, one per connected component, and are
kept out of the iteration.

References
----------
Y. Zhou, Y. Saad, M. L. Tiago, J. R. Chelikowsky, "Self-consistent-field calculations using
Chebyshev-filtered subspace iteration", J. Comput. Phys. 219 (2006), 172-184.
"""

import contextlib
import math
import sys
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.linalg

from kdegraph.costs import LAPACK_COSTS
from kdegraph.runtime.memory import check_memory, fits
from kdegraph.runtime.threads import blas_threads
from kdegraph.spectral.products import aligned_zeros
from kdegraph.spectral.solver.chebyshev import (
    MIN_DEGREE,
    ChebyshevFilter,
    FilteredBlock,
    choose_cut,
)
from kdegraph.spectral.solver.missed import filter_and_measure, missed_value
from kdegraph.spectral.solver.rayleigh_ritz import RitzRotation, rayleigh_ritz, ritz_vectors

SINGLE_RESIDUAL = 1e-5  # down to which single precision suffices
FIRST_FILTER = ChebyshevFilter(cut=0.5, degree=12, dtype=np.float32)  # of a random block


def block_width(k):
    """Return the number of vectors in the block for `k` wanted ones.

    The others are guard vectors, which speed up convergence. Multiples of 8 fill vector registers.
    There are at least 16, a cache line in single precision, because the product with a narrower
    block is hardly faster.
    """
    return max(16, 8 * math.ceil((k + max(6, k // 2)) / 8))


class Eigenpairs(NamedTuple):
    """The largest eigenpairs of M beyond its null space."""

    values: np.ndarray  # (k,): in descending order
    vectors: np.ndarray  # (n, k) float64
    residuals: np.ndarray  # (k,)
    converged: bool
    n_products: int  # products of M with a block of vectors


@dataclass
class Start:
    """The block of vectors that the iteration starts from."""

    # (n, width) float32: approximate eigenvectors, if there are any, and then random vectors
    block: np.ndarray
    n_probes: int  # number of random vectors, the probes
    # (width,): estimates of the largest eigenvalues, in descending order, if there are approximate
    # eigenvectors
    values: np.ndarray | None = None


def solve(operator, null, k, tol=1e-4, *, rng, start=None, max_products=None, report=None):
    """Find the `k` largest `Eigenpairs` beyond the null space to the tolerance `tol`, see
    `target_residual`.

    Small graphs and large parts of the spectrum are solved by LAPACK, all others by iteration,
    which gives up in favor of LAPACK once it has taken as long as that would take, and otherwise
    after `max_products` with the block, by default 3,000, or more if these take less than about ten
    seconds. It begins with a `Start` or with random vectors, and calls ``report(fraction)``.
    """
    n_products = 0
    if not is_small(operator, null, k):
        lapack_products = _products_in_time_of_lapack(operator, k)
        per_product = block_width(k) * (len(operator.indices) + operator.n)
        limit = min(lapack_products, max_products or max(3000, int(5e9 / per_product)))
        pairs = solve_block(
            operator, null, k, tol=tol, rng=rng, limit=limit, start=start, report=report
        )
        n_products = pairs.n_products
        if pairs.converged or (
            operator.n > LAPACK_COSTS.max_instead and n_products < lapack_products
        ):
            return pairs
    check_memory(
        _lapack_bytes(operator.n),
        f"{k} eigenvectors of a graph of {operator.n} vertices need",
        "use fewer n_components",
    )
    return _solve_by_lapack(operator, null, k, tol, rng)._replace(n_products=n_products)


def is_small(operator, null, k):
    """Return whether LAPACK is faster than an iteration from the beginning, or the block of the
    iteration would be too wide beside the null space.
    """
    return (
        operator.n <= LAPACK_COSTS.max_small
        or 4 * block_width(k) > operator.n - len(null)
        or _products_in_time_of_lapack(operator, k) < LAPACK_COSTS.typical_products
    )


def _products_in_time_of_lapack(operator, k):
    """Return the number of products with a block, with Rayleigh-Ritz steps between them, that take
    as long as LAPACK; the largest integer if there is not enough memory for LAPACK.
    """
    n, width = operator.n, block_width(k)
    if not fits(_lapack_bytes(n)):
        return sys.maxsize
    multiplications = width * (len(operator.indices) + width // 2 * n)  # of one product
    n_products = LAPACK_COSTS.multiplication * n**3 / multiplications
    return int(min(n_products, sys.maxsize))


def _lapack_bytes(n):
    return 24 * n**2


def _solve_by_lapack(operator, null, k, tol, rng):
    """Find the `k` largest eigenpairs beyond the null space in O(n^3) time.

    Single precision takes half the time, unless there are few vertices. The Rayleigh-Ritz method in
    double precision follows, so the errors of the eigenvalues are about the squares of the
    residuals.
    """
    n = operator.n
    single = tol >= SINGLE_RESIDUAL and n > LAPACK_COSTS.max_small
    if k <= 0.25 * n:  # up to about this share, finding some is faster than finding all
        for dtype in (np.float32, np.float64) if single else (np.float64,):
            with contextlib.suppress(np.linalg.LinAlgError):
                vectors = _dense_eigenvectors(operator, null, dtype, subset_by_index=[n - k, n - 1])
                if vectors.shape[1] == k:
                    pairs = _refined(operator, null, vectors, rng)
                    if pairs.residuals.max() <= target_residual(tol, pairs.values):
                        return pairs
    # The method for a subset may fail, or lose some, if many eigenvalues are equal; divide and
    # conquer does not.
    vectors = _dense_eigenvectors(operator, null, np.float64, driver="evd")
    return _refined(operator, null, vectors[:, -k:], rng)


def _dense_eigenvectors(operator, null, dtype, **method):
    """Return eigenvectors of the dense matrix, those of the smallest eigenvalues first."""
    matrix = _without_null(operator, null).astype(dtype, copy=False)
    with blas_threads(operator.n):
        return scipy.linalg.eigh(matrix, overwrite_a=True, check_finite=False, **method)[1]


def _refined(operator, null, vectors, rng):
    """Return the `Eigenpairs` within the span of vectors, in double precision."""
    block = np.ascontiguousarray(vectors, dtype=np.float64)
    ritz = rayleigh_ritz(operator, null, block, np.zeros_like(block), rng)
    return Eigenpairs(ritz.values, ritz.vectors, ritz.residuals, True, 0)


def _without_null(operator, null):
    """Return the dense matrix with the eigenvalues 1 of the null space below all others, at -2."""
    matrix = operator.toarray()
    for start, stop in zip(null.bounds[:-1], null.bounds[1:], strict=True):
        part = null.vector[start:stop]
        matrix[start:stop, start:stop] -= 3 * np.outer(part, part)
    matrix += matrix.T
    matrix *= 0.5
    return matrix


def solve_block(operator, null, k, *, tol, rng, limit, start=None, report=None):
    """Find the `k` largest `Eigenpairs` beyond the null space by iteration; `block_width(k)` is at
    most ``n - len(null)``. It gives up after `limit` products of M with the block, and calls
    ``report(fraction)`` at least every few hundredths of a second. See `solve` for the rest.
    """
    if start is None:
        block = aligned_zeros(operator.n, block_width(k), np.float32)
        block += rng.random(block.shape, np.float32) - 0.5
        start = Start(block, block.shape[1])
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
    rounding errors and `max_degree` allow it. Single precision suffices for residuals down to
    `SINGLE_RESIDUAL`, and on the way to smaller ones as long as they are above 1e-4.
    """
    residual, values = ritz.residuals[:k].max(), ritz.values
    single = target >= SINGLE_RESIDUAL or residual > 1e-4
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
    """Estimate how much of the iteration is done, from the logarithm of the residual.
    ``report(fraction)`` is called whenever the object itself is called, which the steps of the
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
