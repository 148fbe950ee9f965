"""The largest eigenvalues of M = D^-1/2 A D^-1/2 with multiplicity: Chebyshev-filtered subspace iteration on a block of vectors.

A block holds the wanted vectors and some guards. A Chebyshev polynomial of M damps the unwanted part of the spectrum, and the Rayleigh-Ritz
method reads off the eigenpairs: in single precision where that suffices for the residual that is asked for. Unlike a Krylov method from a
single vector, a block finds every copy of a repeated eigenvalue. The eigenvectors of eigenvalue 1 are known exactly, one per connected
component, and are kept out of the iteration.

Reference: Y. Zhou, Y. Saad, M. L. Tiago, J. R. Chelikowsky, "Self-consistent-field calculations using Chebyshev-filtered subspace
iteration", J. Comput. Phys. 219 (2006), 172-184.
"""

import contextlib
import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from . import parallel
from ._filter import Chebyshev
from ._jit import jit
from ._nullspace import CHUNK
from ._products import add_rows, zeros_in_lines

FIRST_DEGREE, FIRST_CUT = 12, 0.5  # the first filter, when nothing is known of the spectrum
MAX_PRODUCTS, MAX_WORK = 3000, 5e9  # give up after so many products, or multiplications if these are more products
SINGLE_FLOOR = 1e-5  # residual down to which single precision is good enough
RESIDUAL_FLOOR = 1e-9  # small enough whatever the spectrum
SPREAD = 20.0  # see `_target`
SAFETY = 10.0  # see `solve_block`
MARGIN = 0.1  # for the wanted values, which are only estimated then
RESOLUTION = 0.1  # see `solve_block`
NOISE = 0.25  # of a random vector the Rayleigh quotient is near 0
PROBES = 8  # random vectors beside a given start, where there is room for so many
CHANGE = 0.25  # relative change of the eigenvalues beyond which those of the start are of no use
PANEL = 64  # rows whose inner products are added together
SOME = 0.25  # of all eigenpairs: LAPACK finds so many in less time than all
DEPENDENT = 1e-11  # squared length, relative to the longest, below which a direction of a block counts as absent


@dataclass
class Pairs:
    """What an eigensolver found.

    `values` (k,) of M in descending order, `vectors` (n, k) float64, `residuals` (k,), and further, less accurate vectors, `guards` (n, g),
    with their Ritz values `guard_values` (g,).
    """

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    guards: np.ndarray
    guard_values: np.ndarray
    converged: bool
    n_products: int


@dataclass
class Start:
    """Where to start: approximate eigenvectors (n, s), and if known estimates of the largest eigenvalues, in descending order.

    Also the largest residual of the wanted vectors, if that is not known to be small.
    """

    vectors: np.ndarray
    values: np.ndarray | None = None
    residual: float = 0.0

    def checked(self, operator, m, progress=None):
        """The start with its residual and values in proportion; without values that are not those of this matrix, for they would mislead.

        A graph whose edges were drawn anew has the eigenvectors v of its predecessor but for noise, which is nearly orthogonal to all
        eigenvectors of eigenvalues far from 0: it makes the residual r and lowers the Rayleigh quotient by about r^2. What is missing
        beyond that in the first `m` vectors is the change of the eigenvalues.
        """
        if self.values is None:
            return self
        block = np.ascontiguousarray(self.vectors[:, :m], np.float32)
        image = operator.step(block, zeros_in_lines(*block.shape, block.dtype), progress=progress)
        squares = np.maximum(_dots(block, block, progress), 1e-300)
        quotients = _dots(block, image, progress) / squares
        residuals = _dots(image, image, progress) / squares - quotients**2
        old, new = (1 - self.values[: block.shape[1]]).sum(), (1 - quotients - residuals).sum()
        if abs(new - old) <= CHANGE * old:
            values = 1 - (1 - self.values) * (new / old if old > 0 else 1.0)
            return Start(self.vectors, values, math.sqrt(max(residuals.max(), 0.0)))
        return Start(self.vectors)


def solve_dense(operator, null, k):
    """The `k` largest eigenpairs beyond the null space by LAPACK; n x n memory, n^3 time."""
    n, values = operator.n, ()
    with parallel.blas_threads(n):
        if k < SOME * n:
            with contextlib.suppress(np.linalg.LinAlgError):
                wanted, matrix = [n - k, n - 1], _without_null(operator, null)
                values, vectors = scipy.linalg.eigh(matrix, subset_by_index=wanted, overwrite_a=True, check_finite=False)
        if len(values) < k:  # the quick method may fail where many eigenvalues are equal, or lose some; divide and conquer does not
            values, vectors = scipy.linalg.eigh(_without_null(operator, null), driver="evd", overwrite_a=True, check_finite=False)
            values, vectors = values[-k:], vectors[:, -k:]
        vectors = null.remove(np.ascontiguousarray(vectors[:, ::-1]))
        if k < SOME * n:
            vectors, _ = np.linalg.qr(vectors)
    values = values[::-1]
    residuals = operator.step(vectors, np.zeros_like(vectors)) - vectors * values
    return Pairs(values, vectors, np.linalg.norm(residuals, axis=0), np.empty((n, 0), np.float32), np.empty(0), True, 0)


def _without_null(operator, null):
    """The dense matrix with the eigenvalues of the null space moved from 1 to -2, below all others."""
    matrix = operator.toarray()
    for start, stop in zip(null.bounds[:-1], null.bounds[1:], strict=True):
        part = null.vector[start:stop]
        matrix[start:stop, start:stop] -= 3 * np.outer(part, part)
    matrix += matrix.T
    matrix *= 0.5
    return matrix


def block_width(k):
    """Vectors in the block for `k` wanted ones: guards speed convergence up, multiples of 8 fill vector registers.

    At least 16: that many numbers in single precision are a cache line, and a narrower product takes hardly less time.
    """
    return max(16, 8 * math.ceil((k + max(6, k // 2)) / 8))


def solve_block(operator, null, k, *, tol, rng, start=None, max_products=None, report=None):
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
    report : callable, optional
        Called with the estimated fraction done, at least every few hundredths of a second.

    Returns
    -------
    Pairs
        The `k` wanted ones, in double precision, and as guards the rest of the block.

    Notes
    -----
    In a block of random vectors, whatever has a larger eigenvalue than the wanted ones has grown by more when these have converged. Not so
    in a given start: it may be good but incomplete, and small residuals then do not prove that no vector is missing. Random probes
    are added to it. A stray eigenvector is only about ``1 / sqrt(n)`` of a random vector, and is seen once the filters have made it a
    factor s larger than what else there is in the probes beside the given vectors: see `_standing_out`. (In a block that ends inside a
    cluster of equal eigenvalues: what belongs to eigenvalues smaller by `RESOLUTION`.) Mixed with 1 / s of the rest, the stray one has a
    Ritz value smaller by ``1 / s^2``, and must still come before the guards: s is `SAFETY`, and at least
    ``2 / sqrt(1 - value of the first guard)``.

    Most of a random vector belongs to eigenvalues near 0, so the first filter may cut far below the end of the block: it raises the stray
    vectors above that mass in fewer products, and the few vectors between the cut and the block are too small a part to hide them.
    """
    width = block_width(k)
    progress = None if report is None else lambda _: report(state["done"])
    state = {"done": 0.0}
    block, n_random, expected = _starting_block(null, k, width, start, rng)
    limit = max_products or max(MAX_PRODUCTS, int(MAX_WORK / (width * (operator.indptr[-1] + operator.n))))
    history, n_products, first, overlaps, enough = [], 0, None, None, None
    seen = 0.5 * math.log(n_random / operator.n)  # of a stray vector in the probes, as a logarithm
    if expected is not None:
        stray, proof = _stray(expected, k), math.log(_share(expected, k)) + MARGIN
        chebyshev = Chebyshev.revealing(expected, width - n_random, stray, proof, operator.n)
        reduction = math.log(max(2 * start.residual / _target(tol, expected), 1.0))
        needs = [(expected[k - 1], reduction), (stray, chebyshev.growth(stray) - 1e-6)]
        most = min(chebyshev.set_degree(expected, needs), limit - 1)

        def enough(block):
            """Degrees by which the first filter has to rise, so that a stray vector would be seen."""
            nonlocal seen, overlaps
            overlaps = _overlaps(null, block, progress)
            seen = _standing_out(overlaps[1], n_random)
            growth = chebyshev.growth(stray)
            lacking = chebyshev.degree * (proof - seen - growth) / max(growth, 1e-9)
            return max(0, min(math.ceil(lacking), most - chebyshev.degree))

    elif start is None:
        chebyshev = Chebyshev(FIRST_CUT, FIRST_DEGREE, np.float32)
    else:
        chebyshev = None
    while True:
        if chebyshev is not None:
            chebyshev.degree = max(1, min(chebyshev.degree, limit - n_products - 1))
            block = chebyshev.filter(operator, block, enough, progress)
            history.append(chebyshev)
            n_products += chebyshev.degree
        block, values, residuals = _rayleigh_ritz(operator, null, block, overlaps, rng, progress)
        n_products, enough, overlaps = n_products + 1, None, None
        if not history:  # of a given start only the vectors that are no noise say how the spectrum goes on
            known = int(np.sum(values > NOISE))
            if known <= k:
                chebyshev = Chebyshev(FIRST_CUT, FIRST_DEGREE, np.float32)
                continue
            values, residuals = values[:known], residuals[:known]
        if expected is not None:  # better than Ritz values from the few random vectors, which may be all noise
            values[k:] = np.maximum(values[k:], np.minimum(expected[k:], values[k - 1]))
        worst, target = residuals[:k].max(), _target(tol, values)
        first = first or max(worst, 2 * target)
        state["done"] = max(state["done"], min(1.0, math.log(first / max(worst, target)) / math.log(first / target)))
        stray = _stray(values, k)
        lacking = -math.inf
        if start is not None:
            growths = [step.growth(stray) - step.growth(values[-1]) for step in history]
            if expected is not None:  # what the first one left of the rest has been measured
                growths[0] = history[0].growth(stray)
            lacking = math.log(_share(values, k)) - seen - sum(growths)
        converged = bool(worst <= target and lacking <= 0)
        if converged or n_products >= limit:
            break
        dtype = np.float32 if target >= SINGLE_FLOOR or worst > 1e-4 else np.float64
        chebyshev = Chebyshev.choose(values, residuals[-1], k, dtype)
        chebyshev.set_degree(values, [(values[k - 1], math.log(max(worst / target, 1.0)) + 0.5), (stray, lacking)])
    vectors = np.ascontiguousarray(block[:, :k], np.float64)
    if block.dtype == np.float32:
        vectors = _orthonormal(null, vectors, _overlaps(null, vectors, progress), progress, nearest=True)
    return Pairs(values[:k], vectors, residuals[:k], block[:, k:], values[k:], converged, n_products)


def _stray(values, k):
    """The eigenvalue of a vector that may be missing."""
    return max(values[k - 1], values[-1] + RESOLUTION * (1.0 - values[-1]))


def _share(values, k):
    """How many times as large as the rest a stray vector must be to be seen: see `solve_block`."""
    return max(SAFETY, 2 / math.sqrt(max(1.0 - values[min(k, len(values) - 1)], 1e-8)))


def _standing_out(gram, n_random):
    """Logarithm of how large an eigenvector is in the filtered probes, had it not grown, beside all else that is in them.

    `gram` is the Gram matrix of the block, and the probes are its last `n_random` vectors, with entries of variance 1 / 12. What remains of
    them orthogonally to the other vectors has a Gram matrix S. An eigenvector has random coefficients c in the probes, also of variance
    1 / 12, and is ``s = sqrt(c^T S^-1 c)`` times as large as the rest in the combination where it stands out most. How likely a far smaller
    s is than expected depends on the determinant of S alone: as likely as if all its eigenvalues were equal to their geometric mean.
    """
    n_given = len(gram) - n_random
    given, mixed, probes = gram[:n_given, :n_given], gram[:n_given, n_given:], gram[n_given:, n_given:]
    rest = np.linalg.eigvalsh(probes - mixed.T @ np.linalg.pinv(given, hermitian=True) @ mixed)
    return 0.5 * (math.log(n_random / 12) - np.log(np.maximum(rest, 1e-12 * np.diag(probes).max())).mean())


def _target(tol, values):
    """The residual to reach: `tol`, but small against the part of the spectrum that the block covers.

    On a path of many vertices all wanted eigenvalues of the Laplacian are tiny, and a residual of `tol` would say nothing of them.
    """
    return max(min(RESIDUAL_FLOOR, tol), tol * min(1.0, SPREAD * max(1.0 - values[-1], 0.0)))


def _starting_block(null, k, width, start, rng):
    """Block of `width` vectors, the random ones last, the number of these, and the values of the others if known.

    A given start is joined by random vectors, to find what it lacks.
    """
    n = len(null.vector)
    columns, values = np.empty((n, 0)), None
    if start is not None:
        columns = np.ascontiguousarray(start.vectors)
        squares, dots = _dots(columns, columns), null.dots(columns)
        n_zero = 0 if start.values is None else int(np.sum(start.values == 1.0))
        if n_zero > 1:  # of components that have joined: what is null again, and what is not, in columns of their own
            _, turn = _eigh(dots[:, :n_zero].T @ dots[:, :n_zero])
            columns[:, :n_zero], dots[:, :n_zero] = columns[:, :n_zero] @ turn.astype(np.float32), dots[:, :n_zero] @ turn
        lost = squares - (dots**2).sum(axis=0) < 0.09 * squares  # in the null space
        columns = columns[:, ~lost][:, : max(k, width - PROBES)]
        if start.values is not None and columns.shape[1] >= k:
            values = np.delete(start.values, np.flatnonzero(lost))[:width]
            values = values if len(values) == width else None  # where the block ends is not known
    n_given = columns.shape[1]
    block = zeros_in_lines(n, width, np.float32)
    block[:, :n_given] = columns
    np.subtract(rng.random((n, width - n_given), np.float32), np.float32(0.5), out=block[:, n_given:])
    return block, width - n_given, values


def _rayleigh_ritz(operator, null, block, overlaps, rng, progress=None):
    """Orthonormal Ritz vectors of the block's span, orthogonal to the null space, their values in descending order and their residuals.

    All in the precision of the block, which is overwritten; sums are in double precision. `overlaps` may be known or None.
    """
    width = block.shape[1]
    block = _orthonormal(null, block, overlaps or _overlaps(null, block, progress), progress)
    if (dropped := width - block.shape[1]) > 0:
        random = null.remove((rng.random((operator.n, dropped)) - 0.5).astype(block.dtype))
        block = np.hstack([block, random])
        block = _orthonormal(null, block, _overlaps(null, block, progress), progress)
    image = operator.step(block, zeros_in_lines(*block.shape, block.dtype), progress=progress)
    values, rotation = _eigh(_gram(block, image, progress), _gram(block, block, progress))
    values, rotation = values[::-1].copy(), np.ascontiguousarray(rotation[:, ::-1])
    squares = np.zeros((-(-operator.n // CHUNK), width))
    parallel.run(_rotate_to_ritz, operator.n, image, rotation, values, block, squares, chunk=CHUNK, progress=progress)
    return block, values, np.sqrt(squares.sum(axis=0))


def _overlaps(null, block, progress):
    """Inner products of the null space with the block, and the Gram matrix of the rest of the block."""
    dots = null.dots(block, progress)
    return dots, _gram(block, block, progress) - dots.T @ dots


def _orthonormal(null, block, overlaps, progress, nearest=False):
    """Orthonormal basis of the block's span without its part in the null space; dependent directions are dropped.

    Orthonormal as far as the precision of the block allows; the Ritz problem takes care of the rest. With `nearest`, of all bases the one
    that is nearest to the block, whose columns must be independent.
    """
    dots, gram = overlaps
    scale = 1 / np.sqrt(np.maximum(np.diag(gram), 1e-300))
    lengths, rotation = _eigh(gram * scale[:, None] * scale)
    keep = lengths > DEPENDENT * lengths[-1]
    rotation = rotation[:, keep] / np.sqrt(lengths[keep]) @ (rotation.T if nearest else np.eye(keep.sum()))
    return null.rotate(block, dots, scale[:, None] * rotation, progress)


def _eigh(*matrices):
    """Eigenvalues, ascending, and eigenvectors of a problem the size of the block."""
    with parallel.blas_threads(len(matrices[0])):
        return scipy.linalg.eigh(*matrices, check_finite=False)


def _gram(left, right, progress=None):
    """left.T @ right, symmetrised; the order of summation does not depend on the number of threads."""
    n, m = left.shape
    partial = np.zeros((-(-n // CHUNK), m, m))
    parallel.run(_gram_chunk, n, left, right, partial, chunk=CHUNK, progress=progress)
    gram = partial.sum(axis=0)
    return (gram + gram.T) / 2


@jit(reassociate=True)
def _gram_chunk(start, stop, left, right, partial):
    """Some rows at a time, in double precision, the left ones transposed."""
    total = partial[start // CHUNK]
    columns, rows, sums = np.empty((left.shape[1], PANEL)), np.empty((PANEL, right.shape[1])), np.empty(right.shape[1])
    every = np.arange(PANEL)
    for first in range(start, stop, PANEL):
        size = min(PANEL, stop - first)
        for i in range(size):
            for a in range(left.shape[1]):
                columns[a, i] = left[first + i, a]
            for b in range(right.shape[1]):
                rows[i, b] = right[first + i, b]
        for a in range(left.shape[1]):
            add_rows(every, columns[a], rows, 0, size, sums)
            for b in range(right.shape[1]):
                total[a, b] += sums[b]


def _dots(left, right, progress=None):
    """Inner products of each column with the one in its place, in double precision."""
    n, m = left.shape
    partial = np.zeros((-(-n // CHUNK), m))
    parallel.run(_dots_chunk, n, left, right, partial, chunk=CHUNK, progress=progress)
    return partial.sum(axis=0)


@jit(reassociate=True)
def _dots_chunk(start, stop, left, right, partial):
    total = partial[start // CHUNK]
    for i in range(start, stop):
        for c in range(left.shape[1]):
            total[c] += np.float64(left[i, c]) * right[i, c]


@jit(reassociate=True)
def _rotate_to_ritz(start, stop, image, rotation, values, block, squares):
    """``block @= rotation``, and add up the squares of ``image @ rotation - block * values``, column by column."""
    m = len(values)
    total, every = squares[start // CHUNK], np.arange(m)
    row, vector, residual = np.empty(m), np.empty(m), np.empty(m)
    for i in range(start, stop):
        for a in range(m):
            row[a] = block[i, a]
        add_rows(every, row, rotation, 0, m, vector)
        for a in range(m):
            row[a] = image[i, a]
        add_rows(every, row, rotation, 0, m, residual)
        for b in range(m):
            block[i, b] = vector[b]
            residual[b] -= vector[b] * values[b]
            total[b] += residual[b] * residual[b]
