"""The largest eigenvalues of M = D^-1/2 A D^-1/2 with multiplicity: Chebyshev-filtered subspace
iteration on a block of vectors.

A block holds the wanted vectors and some guards. A Chebyshev polynomial of M damps the unwanted
part of the spectrum, and the Rayleigh-Ritz method reads off the eigenpairs: in single precision
where that suffices for the residual that is asked for. Unlike a Krylov method from a single vector,
a block finds every copy of a repeated eigenvalue. The eigenvectors of eigenvalue 1 are known
exactly, one per connected component, and are kept out of the iteration.

Reference: Y. Zhou, Y. Saad, M. L. Tiago, J. R. Chelikowsky, "Self-consistent-field calculations
using Chebyshev-filtered subspace iteration", J. Comput. Phys. 219 (2006), 172-184.
"""

import contextlib
import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from kdegraph.runtime.blas import blas_threads
from kdegraph.spectral.products import zeros_in_lines
from kdegraph.spectral.solver.blocks import gram_matrices, rotate_to_ritz
from kdegraph.spectral.solver.chebyshev_filter import Chebyshev
from kdegraph.spectral.solver.start import Start

FIRST_DEGREE, FIRST_CUT = 12, 0.5  # the first filter, when nothing is known of the spectrum
MAX_PRODUCTS, MAX_WORK = (
    3000,
    5e9,
)  # give up after so many products, or multiplications if these are more products
SINGLE_FLOOR = 1e-5  # residual down to which single precision is good enough
RESIDUAL_FLOOR = 1e-9  # small enough whatever the spectrum
SPREAD = 20.0  # see `_target`
SAFETY = 10.0  # see `solve_block`
SURPRISE = (
    1.5  # logarithm of a factor by which the first filter may miss what it was made for, and go on
)
MARGIN = 0.1  # for the wanted values, which are only estimated then
RESOLUTION = 0.1  # see `solve_block`
NOISE = 0.25  # of a random vector the Rayleigh quotient is near 0
SOME = 0.25  # of all eigenpairs: LAPACK finds so many in less time than all
# Squared length, relative to the longest, below which a direction of a block counts as absent.
DEPENDENT = 1e-11


@dataclass
class Pairs:
    """What an eigensolver found.

    `values` (k,) of M in descending order, `vectors` (n, k) float64, `residuals` (k,), and further,
    less accurate vectors, `guards` (n, g), with their Ritz values `guard_values` (g,).
    """

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    guards: np.ndarray
    guard_values: np.ndarray
    converged: bool
    n_products: int


def solve_dense(operator, null, k):
    """The `k` largest eigenpairs beyond the null space by LAPACK; n x n memory, n^3 time."""
    n, values = operator.n, ()
    with blas_threads(n):
        if k < SOME * n:
            with contextlib.suppress(np.linalg.LinAlgError):
                wanted, matrix = [n - k, n - 1], _without_null(operator, null)
                values, vectors = scipy.linalg.eigh(
                    matrix, subset_by_index=wanted, overwrite_a=True, check_finite=False
                )
        if (
            len(values) < k
            # The quick method may fail where many eigenvalues are equal, or lose some; divide and
            # conquer does not.
        ):
            values, vectors = scipy.linalg.eigh(
                _without_null(operator, null), driver="evd", overwrite_a=True, check_finite=False
            )
            values, vectors = values[-k:], vectors[:, -k:]
        vectors = null.remove(np.ascontiguousarray(vectors[:, ::-1]))
        if k < SOME * n:
            vectors, _ = np.linalg.qr(vectors)
    values = values[::-1]
    residuals = operator.step(vectors, np.zeros_like(vectors)) - vectors * values
    return Pairs(
        values,
        vectors,
        np.linalg.norm(residuals, axis=0),
        np.empty((n, 0), np.float32),
        np.empty(0),
        True,
        0,
    )


def _without_null(operator, null):
    """The dense matrix with the eigenvalues of the null space moved from 1 to -2, below all others."""
    matrix = operator.toarray()
    for start, stop in zip(null.bounds[:-1], null.bounds[1:], strict=True):
        part = null.vector[start:stop]
        matrix[start:stop, start:stop] -= 3 * np.outer(part, part)
    matrix += matrix.T
    matrix *= 0.5
    return matrix


def solve_block(
    operator, null, k, *, tol, rng, start=None, max_products=None, most=math.inf, report=None
):
    """The `k` largest eigenpairs beyond the null space by Chebyshev-filtered subspace iteration.

    Parameters
    ----------
    operator : NormalizedAdjacency
    null : NullSpace
    k : int
        Wanted pairs; `block_width(k)` must be at most ``n - len(null)``.
    tol : float
        See `_target`.
    rng : numpy.random.Generator
    start : Start, optional
    max_products : int, optional
        Give up after so many; by default after `MAX_PRODUCTS` or `MAX_WORK`.
    most : int, optional
        Give up after so many in any case.
    report : callable, optional
        Called with the estimated fraction done, at least every few hundredths of a second.

    Returns
    -------
    Pairs
        The `k` wanted ones, in double precision, and as guards the rest of the block.

    Notes
    ----- In a block of random vectors, whatever has a larger eigenvalue than the wanted ones has
    grown by more when these have converged. Not so in a given start: it may be good but incomplete,
    and small residuals then do not prove that no vector is missing. Random probes are added to it.
    A stray eigenvector is only about ``1 / sqrt(n)`` of a random vector, and is seen once the
    filters have made it a factor s larger than what else there is in the probes beside the given
    vectors: see `_standing_out`. (In a block that ends inside a cluster of equal eigenvalues: what
    belongs to eigenvalues smaller by `RESOLUTION`.) Mixed with 1 / s of the rest, the stray one has
    a Ritz value smaller by ``1 / s^2``, and must still come before the guards: s is `SAFETY`, and
    at least ``2 / sqrt(1 - value of the first guard)``.

    Most of a random vector belongs to eigenvalues near 0, so the first filter may cut far below the
    end of the block: it raises the stray vectors above that mass in fewer products, and the few
    vectors between the cut and the block are too small a part to hide them.
    """
    start = Start.random(operator.n, k, rng.integers(2**63)) if start is None else start
    block, image, n_random, expected = start.block, start.image, start.n_random, start.values
    width = block.shape[1]
    progress = None if report is None else lambda _: report(state["done"])
    state = {"done": 0.0}
    limit = min(
        most,
        max_products
        or max(MAX_PRODUCTS, int(MAX_WORK / (width * (operator.indptr[-1] + operator.n)))),
    )
    history, n_products, first, overlaps, enough = [], int(image is not None), None, None, None
    seen = 0.5 * math.log(n_random / operator.n)  # of a stray vector in the probes, as a logarithm
    if expected is not None:
        stray, proof = _stray(expected, k), math.log(_share(expected, k)) + MARGIN
        chebyshev = Chebyshev.revealing(
            expected, width - n_random, stray, proof, operator.n, operator.radius()
        )
        reduction = math.log(max(2 * start.residual / _target(tol, expected), 1.0))
        needs = [(expected[k - 1], reduction), (stray, chebyshev.growth(stray) - 1e-6)]
        most = min(chebyshev.set_degree(expected, needs), limit - 1)

        def enough(block):
            """Degrees by which the first filter has to rise, so that a stray vector would be seen."""
            nonlocal seen, overlaps
            overlaps = null.overlaps(block, progress)
            seen = _standing_out(overlaps[1], n_random)
            growth = chebyshev.growth(stray)
            if (
                proof - seen - growth > SURPRISE and chebyshev.low > -1
            ):  # too much lies below: the next filter damps it
                return 0
            lacking = chebyshev.degree * (proof - seen - growth) / max(growth, 1e-9)
            return max(0, min(math.ceil(lacking), most - chebyshev.degree))

    elif n_random == width:
        chebyshev = Chebyshev(FIRST_CUT, FIRST_DEGREE, np.float32)
    else:
        chebyshev = None
    while True:
        if chebyshev is not None:
            chebyshev.degree = max(1, min(chebyshev.degree, limit - n_products - 1))
            n_products -= chebyshev.reuses(block, image)
            block, image = chebyshev.filter(operator, block, image, enough, progress)
            history.append(chebyshev)
            n_products += chebyshev.degree
        block, image, values, residuals = _rayleigh_ritz(
            operator, null, block, image, overlaps, rng, progress
        )
        n_products, enough, overlaps = n_products + 1, None, None
        if (
            not history
        ):  # of a given start only the vectors that are no noise say how the spectrum goes on
            known = int(np.sum(values > NOISE))
            if known <= k:
                chebyshev = Chebyshev(FIRST_CUT, FIRST_DEGREE, np.float32)
                continue
            values, residuals = values[:known], residuals[:known]
        if (
            expected is not None
        ):  # better than Ritz values from the few random vectors, which may be all noise
            values[k:] = np.maximum(values[k:], np.minimum(expected[k:], values[k - 1]))
        worst, target = residuals[:k].max(), _target(tol, values)
        first = first or max(worst, 2 * target)
        state["done"] = max(
            state["done"], min(1.0, math.log(first / max(worst, target)) / math.log(first / target))
        )
        stray = _stray(values, k)
        lacking = -math.inf
        if n_random < width:
            growths = [step.growth(stray) - step.growth(values[-1]) for step in history]
            if expected is not None:  # what the first one left of the rest has been measured
                growths[0] = history[0].growth(stray)
            lacking = math.log(_share(values, k)) - seen - sum(growths)
        converged = bool(worst <= target and lacking <= 0)
        if converged or n_products >= limit:
            break
        dtype = np.float32 if target >= SINGLE_FLOOR or worst > 1e-4 else np.float64
        chebyshev = Chebyshev.choose(values, residuals[-1], k, dtype)
        chebyshev.set_degree(
            values, [(values[k - 1], math.log(max(worst / target, 1.0)) + 0.5), (stray, lacking)]
        )
    vectors = block[:, :k]
    if block.dtype == np.float32:
        vectors = _orthonormal(
            null,
            vectors,
            null.overlaps(vectors, progress),
            np.empty(vectors.shape),
            progress,
            nearest=True,
        )
    return Pairs(
        values[:k], vectors, residuals[:k], block[:, k:], values[k:], converged, n_products
    )


def _stray(values, k):
    """The eigenvalue of a vector that may be missing."""
    return max(values[k - 1], values[-1] + RESOLUTION * (1.0 - values[-1]))


def _share(values, k):
    """How many times as large as the rest a stray vector must be to be seen: see `solve_block`."""
    return max(SAFETY, 2 / math.sqrt(max(1.0 - values[min(k, len(values) - 1)], 1e-8)))


def _standing_out(gram, n_random):
    """Logarithm of how large an eigenvector is in the filtered probes, had it not grown, beside all
    else that is in them.

    `gram` is the Gram matrix of the block, and the probes are its last `n_random` vectors, with
    entries of variance 1 / 12. What remains of them orthogonally to the other vectors has a Gram
    matrix S. An eigenvector has random coefficients c in the probes, also of variance 1 / 12, and
    is ``s = sqrt(c^T S^-1 c)`` times as large as the rest in the combination where it stands out
    most. How likely a far smaller s is than expected depends on the determinant of S alone: as
    likely as if all its eigenvalues were equal to their geometric mean.
    """
    n_given = len(gram) - n_random
    given, mixed, probes = (
        gram[:n_given, :n_given],
        gram[:n_given, n_given:],
        gram[n_given:, n_given:],
    )
    rest = np.linalg.eigvalsh(probes - mixed.T @ np.linalg.pinv(given, hermitian=True) @ mixed)
    return 0.5 * (
        math.log(n_random / 12) - np.log(np.maximum(rest, 1e-12 * np.diag(probes).max())).mean()
    )


def _target(tol, values):
    """The residual to reach: `tol`, but small against the part of the spectrum that the block
    covers.

    On a path of many vertices all wanted eigenvalues of the Laplacian are tiny, and a residual of
    `tol` would say nothing of them.
    """
    return max(min(RESIDUAL_FLOOR, tol), tol * min(1.0, SPREAD * max(1.0 - values[-1], 0.0)))


def _rayleigh_ritz(operator, null, block, image, overlaps, rng, progress=None):
    """Ritz vectors of the block: orthonormal and orthogonal to the null space; M times these, their
    values, descending, and residuals.

    All in the precision of the block, which is overwritten, as `image` is if it is of the same
    kind; sums are in double precision. `overlaps` may be known or None.
    """
    width = block.shape[1]
    block = _orthonormal(null, block, overlaps or null.overlaps(block, progress), block, progress)
    if (dropped := width - block.shape[1]) > 0:
        random = null.remove((rng.random((operator.n, dropped)) - 0.5).astype(block.dtype))
        block = np.hstack([block, random])
        block = _orthonormal(null, block, null.overlaps(block, progress), block, progress)
    if image is None or image.shape != block.shape or image.dtype != block.dtype:
        image = zeros_in_lines(*block.shape, block.dtype)
    image = operator.step(block, image, progress=progress)
    values, rotation = _eigh(*gram_matrices(block, image, progress))
    values, rotation = values[::-1].copy(), np.ascontiguousarray(rotation[:, ::-1])
    return block, image, values, rotate_to_ritz(block, image, rotation, values, progress)


def _orthonormal(null, block, overlaps, out, progress, nearest=False):
    """Orthonormal basis of the block's span without its part in the null space, in `out` unless
    dependent directions are dropped.

    Orthonormal as far as the precision of the block allows; the Ritz problem takes care of the
    rest. With `nearest`, of all bases the one that is nearest to the block, whose columns must be
    independent.
    """
    dots, gram = overlaps
    scale = 1 / np.sqrt(np.maximum(np.diag(gram), 1e-300))
    lengths, rotation = _eigh(gram * scale[:, None] * scale)
    keep = lengths > DEPENDENT * lengths[-1]
    if not keep.all():
        out = np.empty((len(block), keep.sum()), block.dtype)
    rotation = (
        rotation[:, keep] / np.sqrt(lengths[keep]) @ (rotation.T if nearest else np.eye(keep.sum()))
    )
    return null.rotate(block, dots, scale[:, None] * rotation, out, progress)


def _eigh(*matrices):
    """Eigenvalues, ascending, and eigenvectors of a problem the size of the block."""
    with blas_threads(len(matrices[0])):
        return scipy.linalg.eigh(*matrices, check_finite=False)
