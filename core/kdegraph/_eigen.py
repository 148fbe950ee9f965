"""The largest eigenvalues of M = D^-1/2 A D^-1/2 with multiplicity: Chebyshev-filtered subspace iteration on a block of vectors.

A block holds the wanted vectors and some guards. A Chebyshev polynomial of M damps the unwanted part of the spectrum (in single precision
while that suffices), and the Rayleigh-Ritz method (always in double precision) reads off the eigenpairs. Unlike a Krylov method from a
single vector, a block finds every copy of a repeated eigenvalue. The eigenvectors of eigenvalue 1 are known exactly, one per connected
component, and are kept out of the iteration.

Reference: Y. Zhou, Y. Saad, M. L. Tiago, J. R. Chelikowsky, "Self-consistent-field calculations using Chebyshev-filtered subspace
iteration", J. Comput. Phys. 219 (2006), 172-184.
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from . import parallel
from ._jit import jit

FIRST_DEGREE, FIRST_CUT = 12, 0.5  # the first filter, when nothing is known of the spectrum
MAX_DEGREE = 200
MAX_PRODUCTS, MAX_WORK = 3000, 5e9  # give up after so many products, or multiplications if these are more products
SINGLE_FLOOR = 3e-6  # residual that a filter in single precision surely reaches
RESIDUAL_FLOOR = 1e-9  # small enough whatever the spectrum
SPREAD = 20.0  # see `_target`
SAFETY = 10.0  # see `solve_block`
RESOLUTION = 0.1  # see `solve_block`
NOISE = 0.25  # of a random vector the Rayleigh quotient is near 0
PROBES = 8  # random vectors beside a given start
CHUNK = 2048  # rows that are summed together, whatever the number of threads


@dataclass
class NullSpace:
    """The eigenvectors of eigenvalue 1: sqrt(degree) on one connected component each, zero elsewhere.

    Parameters
    ----------
    bounds : (c + 1,) int64 array
        Component ``i`` has the rows ``bounds[i]:bounds[i + 1]``.
    vector : (n,) float64 array
        All eigenvectors at once: their supports are disjoint. Each part has norm 1.
    """

    bounds: np.ndarray
    vector: np.ndarray

    def __len__(self):
        return len(self.bounds) - 1

    def remove(self, block, dtype):
        """Return the part of the block that is orthogonal to the null space, in this precision."""
        out = np.empty(block.shape, dtype)
        parallel.run(_remove, len(self), self.bounds, self.vector, block, out)
        return out


@dataclass
class Pairs:
    """What an eigensolver found: `values` (m,) of M in descending order, `vectors` (n, m), `residuals` (m,)."""

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    converged: bool
    n_products: int


def solve_dense(operator, null, k):
    """The `k` largest eigenpairs beyond the null space by LAPACK; n x n memory, n^3 time."""
    matrix = operator.toarray()
    for start, stop in zip(null.bounds[:-1], null.bounds[1:], strict=True):
        part = null.vector[start:stop]
        matrix[start:stop, start:stop] -= 3 * np.outer(part, part)  # from 1 to -2, below all others
    matrix += matrix.T
    matrix *= 0.5
    n = operator.n
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=[n - k, n - 1], overwrite_a=True, check_finite=False)
    vectors = null.remove(np.ascontiguousarray(vectors[:, ::-1]), np.float64)
    vectors, _ = np.linalg.qr(vectors)
    values = values[::-1]
    residuals = operator.step(vectors, np.zeros_like(vectors)) - vectors * values
    return Pairs(values, vectors, np.linalg.norm(residuals, axis=0), True, 0)


def block_width(k):
    """Vectors in the block for `k` wanted ones: guards speed convergence up, multiples of 8 fill vector registers.

    At least 16: that many numbers in single precision are a cache line, and a narrower product takes hardly less time.
    """
    return max(16, 8 * math.ceil((k + max(6, k // 2)) / 8))


def solve_block(operator, null, k, *, tol, rng, start=None, report=None):
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
    start : (n, s) array, optional
        Approximate eigenvectors.
    report : callable, optional
        Called with the estimated fraction done before every product with M.

    Returns
    -------
    Pairs
        All of the block, `block_width(k)` pairs; the first `k` are the wanted ones, and `converged` speaks of them.

    Notes
    -----
    In a block of random vectors, whatever has a larger eigenvalue than the wanted ones has grown by more when these have converged. Not so
    in a given start: it may be good but incomplete, and small residuals then do not prove that no vector is missing. Random probes
    are added to it, and since a stray eigenvector is only about ``1 / sqrt(n)`` of a random vector, the work ends when the filters
    have magnified what belongs to the last wanted value, relative to the end of the block, by `SAFETY` times sqrt(n). (In a
    block that ends inside a cluster of equal eigenvalues: what belongs to eigenvalues smaller by `RESOLUTION`.)
    """
    width = block_width(k)
    report = report or (lambda fraction: None)
    block, n_random = _starting_block(null, operator.n, width, start, rng)
    proof = 0.0 if start is None else math.log(SAFETY * math.sqrt(operator.n / n_random))
    limit = max(MAX_PRODUCTS, MAX_WORK / (width * (len(operator.indices) + operator.n)))
    history, n_products, done, first = [], 0, 0.0, None
    chebyshev = Chebyshev(FIRST_CUT, FIRST_DEGREE, np.float32) if start is None else None
    while True:
        if chebyshev is not None:
            block = chebyshev.filter(operator, block, lambda: report(done))  # noqa: B023
            history.append(chebyshev)
            n_products += chebyshev.degree
        report(done)
        block, values, residuals = _rayleigh_ritz(operator, null, block, rng, lambda: report(done))  # noqa: B023
        n_products += 1
        if history:
            block, values, residuals = np.ascontiguousarray(block[:, :width]), values[:width], residuals[:width]
        else:  # all vectors of the given start are kept, only those that are no noise say how the spectrum goes on
            known = min(block.shape[1] - n_random, int(np.sum(values > NOISE)))
            if known <= k:
                chebyshev = Chebyshev(FIRST_CUT, FIRST_DEGREE, np.float32)
                continue
            values, residuals = values[:known], residuals[:known]
        worst, target = residuals[:k].max(), _target(tol, values)
        first = first or max(worst, 2 * target)
        done = max(done, min(1.0, math.log(first / max(worst, target)) / math.log(first / target)))
        stray = max(values[k - 1], values[-1] + RESOLUTION * (1.0 - values[-1]))
        lacking = proof - sum(step.growth(stray) - step.growth(values[-1]) for step in history)
        if (worst <= target and lacking <= 0) or n_products >= limit:
            return Pairs(values, block, residuals, bool(worst <= target), n_products)
        dtype = np.float32 if worst > 1e-4 or target >= SINGLE_FLOOR else np.float64
        chebyshev = Chebyshev.choose(values, residuals[-1], k, dtype)
        chebyshev.set_degree(values, [(values[k - 1], math.log(max(worst / target, 1.0)) + 0.5), (stray, lacking)])


def _target(tol, values):
    """The residual to reach: `tol`, but small against the part of the spectrum that the block covers.

    On a path of many vertices all wanted eigenvalues of the Laplacian are tiny, and a residual of `tol` would say nothing of them.
    """
    return max(min(RESIDUAL_FLOOR, tol), tol * min(1.0, SPREAD * max(1.0 - values[-1], 0.0)))


def _starting_block(null, n, width, start, rng):
    """Block of at least `width` vectors orthogonal to the null space, the random ones last, and the number of these.

    A given start is joined by at least `PROBES` random vectors, to find what it lacks.
    """
    if start is None:
        return null.remove(rng.standard_normal((n, width), dtype=np.float32), np.float64), width
    columns = null.remove(np.ascontiguousarray(start, dtype=np.float64), np.float64)
    kept = np.linalg.norm(columns, axis=0) > 0.3 * np.linalg.norm(start, axis=0)  # the rest was null space
    columns = columns[:, kept][:, :width]
    n_random = max(PROBES, width - columns.shape[1])
    random = null.remove(rng.standard_normal((n, n_random), dtype=np.float32), np.float64)
    return np.hstack([columns, random]), n_random


class Chebyshev:
    """The Chebyshev polynomial of M that is at most 1 on [-1, cut] and grows as fast as polynomials of its degree can above.

    Parameters
    ----------
    cut : float
        Upper end of the interval to damp.
    degree : int
    dtype : type
        Precision in which to apply it.
    """

    def __init__(self, cut, degree, dtype):
        self.centre, self.half = (cut - 1) / 2, (cut + 1) / 2
        self.degree, self.dtype = degree, dtype

    @classmethod
    def choose(cls, values, residual, k, dtype):
        """The next polynomial, from the Ritz values in descending order and the residual of the last one.

        The last value of the block is the best cut when the spectrum is dense. When the block ends inside a cluster of equal
        eigenvalues, that cut would leave the pollution by vectors further below as it is. So the cut keeps a distance from the wanted
        values: at least a small part of what the block covers, and the mean distance of the pollution, for which a vector v + e w with
        residual r and Rayleigh quotient 1 - t gives the estimate r^2 / t.
        """
        last, wanted = 1.0 - values[-1], values[k - 1]
        distance = max(wanted - values[-1], 0.02 * last, 0.5 * residual**2 / max(last, 1e-300), 1e-15)
        return cls(max(wanted - distance, -0.9), 1, dtype)

    def set_degree(self, values, needs):
        """Choose the degree for a list of needs (eigenvalue, logarithm of the factor by which its part is to grow).

        It is limited to what keeps the vectors of the block, with these Ritz values, independent in the working precision.
        """
        self.degree = 1
        contrast = math.log(1e4 if self.dtype == np.float32 else 1e8)
        limit = contrast / max(self.growth(values[0]) - self.growth(values[-1]), 1e-9)
        wanted = max(need / max(self.growth(value), 1e-9) for value, need in needs)
        self.degree = int(max(4, min(MAX_DEGREE, limit, math.ceil(wanted))))

    def growth(self, value):
        """Logarithm of the factor by which the part with this eigenvalue grows."""
        return self.degree * math.acosh(max(1.0, (value - self.centre) / self.half))

    def filter(self, operator, block, before_product):
        """The filtered block, in a new array; `before_product` is called before every product with M."""
        before_product()
        block = block.astype(self.dtype)
        current = operator.step(block, np.zeros_like(block), 1 / self.half, self.centre)
        for _ in range(self.degree - 1):
            before_product()
            block, current = current, operator.step(current, block, 2 / self.half, self.centre, 1.0)
        return current


def _rayleigh_ritz(operator, null, block, rng, between):
    """Orthonormal Ritz vectors of the block's span, their values in descending order and their residuals.

    `between` is called between the passes over the block.
    """
    width = block.shape[1]
    block = null.remove(block, np.float64)
    between()
    block = _orthonormal(block)
    if (dropped := width - block.shape[1]) > 0:
        block = _orthonormal(np.hstack([block, null.remove(rng.standard_normal((operator.n, dropped)), np.float64)]))
    between()
    image = operator.step(block, np.zeros_like(block))
    between()
    values, rotation = scipy.linalg.eigh(_gram(block, image), _gram(block, block))
    values, rotation = values[::-1].copy(), np.ascontiguousarray(rotation[:, ::-1])
    between()
    block = _rotate(block, rotation)
    between()
    squares = np.zeros((-(-operator.n // CHUNK), width))
    parallel.run(_residual_chunk, operator.n, image, rotation, block, values, squares, chunk=CHUNK)
    return block, values, np.sqrt(squares.sum(axis=0))


def _orthonormal(block):
    """Orthonormal basis of the block's span (to about 1e-8; the Ritz problem takes care of the rest); dependent directions are dropped."""
    gram = _gram(block, block)
    scale = 1 / np.sqrt(np.maximum(np.diag(gram), 1e-300))
    lengths, rotation = np.linalg.eigh(gram * scale[:, None] * scale)
    keep = lengths > 1e-11 * lengths[-1]
    return _rotate(block, scale[:, None] * rotation[:, keep] / np.sqrt(lengths[keep]))


def _gram(left, right):
    """left.T @ right; the order of summation does not depend on the number of threads."""
    n, m = left.shape
    partial = np.zeros((-(-n // CHUNK), m, right.shape[1]))
    parallel.run(_gram_chunk, n, left, right, partial, chunk=CHUNK)
    gram = partial.sum(axis=0)
    return (gram + gram.T) / 2


def _rotate(block, rotation):
    """block @ rotation, in the memory of `block` if that has the right size (fresh memory costs more than the product)."""
    n, m = len(block), rotation.shape[1]
    out = block if block.shape[1] == m else np.empty((n, m))
    parallel.run(_rotate_rows, n, block, np.ascontiguousarray(rotation), out)
    return out


@jit(reassociate=True)
def _remove(start, stop, bounds, vector, block, out):
    m = block.shape[1]
    part = np.empty(m)
    for component in range(start, stop):
        part[:] = 0
        for i in range(bounds[component], bounds[component + 1]):
            for c in range(m):
                part[c] += vector[i] * block[i, c]
        for i in range(bounds[component], bounds[component + 1]):
            for c in range(m):
                out[i, c] = block[i, c] - vector[i] * part[c]


@jit(reassociate=True)
def _gram_chunk(start, stop, left, right, partial):
    total = partial[start // CHUNK]
    for i in range(start, stop):
        for a in range(left.shape[1]):
            factor = left[i, a]
            for b in range(right.shape[1]):
                total[a, b] += factor * right[i, b]


@jit(reassociate=True)
def _rotate_rows(start, stop, block, rotation, out):
    m = rotation.shape[1]
    total = np.empty(m)
    for i in range(start, stop):
        total[:] = 0
        for a in range(rotation.shape[0]):
            factor = block[i, a]
            for b in range(m):
                total[b] += factor * rotation[a, b]
        out[i] = total


@jit(reassociate=True)
def _residual_chunk(start, stop, image, rotation, block, values, squares):
    """Add the squares of ``image @ rotation - block * values`` up, column by column."""
    m = len(values)
    total, row = squares[start // CHUNK], np.empty(m)
    for i in range(start, stop):
        for b in range(m):
            row[b] = -block[i, b] * values[b]
        for a in range(m):
            factor = image[i, a]
            for b in range(m):
                row[b] += factor * rotation[a, b]
        for b in range(m):
            total[b] += row[b] * row[b]
