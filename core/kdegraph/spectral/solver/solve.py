"""The largest eigenpairs of M beyond its null space: by LAPACK or by iteration, whichever is
faster.
"""

import contextlib
import sys

import numpy as np
import scipy.linalg

from kdegraph.costs import LAPACK_COSTS
from kdegraph.runtime.memory import available_memory, format_bytes
from kdegraph.runtime.threads import blas_threads
from kdegraph.spectral.solver.iteration import Eigenpairs, block_width, default_limit, solve_block

ALWAYS_AVAILABLE = 2**26  # bytes that are used without asking the system for its available memory


def solve(operator, null, k, tol, *, rng, start=None, max_products=None, report=None):
    """Find the `k` largest eigenpairs beyond the null space.

    Small graphs and large parts of the spectrum are solved by LAPACK, all others by iteration,
    which gives up in favor of LAPACK once it has taken as long as that would take.

    Parameters
    ----------
    operator : NormalizedAdjacency
    null : NullSpace
    k : int
    tol : float
        See `iteration.target_residual`.
    rng : numpy.random.Generator
        For random starting vectors.
    start : Start, optional
        Where the iteration starts.
    max_products : int, optional
        The iteration gives up after this number of products; by default after some thousands.
    report : callable, optional
        Called with the estimated fraction done.

    Returns
    -------
    Eigenpairs
    """
    n_products = 0
    if not is_small(operator, null, k):
        lapack_products = _products_in_time_of_lapack(operator, k)
        limit = min(lapack_products, max_products or default_limit(operator, block_width(k)))
        pairs = solve_block(
            operator, null, k, tol=tol, rng=rng, limit=limit, start=start, report=report
        )
        n_products = pairs.n_products
        if pairs.converged or (
            operator.n > LAPACK_COSTS.max_instead and n_products < lapack_products
        ):
            return pairs
    check_memory(_lapack_bytes(operator.n), k, operator.n)
    return _solve_by_lapack(operator, null, k)._replace(n_products=n_products)


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


def _solve_by_lapack(operator, null, k):
    """Find the `k` largest eigenpairs beyond the null space in O(n^3) time."""
    n, values = operator.n, ()
    few = k < 0.25 * n  # up to about this share, finding some is faster than finding all
    with blas_threads(n):
        if few:
            with contextlib.suppress(np.linalg.LinAlgError):
                values, vectors = scipy.linalg.eigh(
                    _without_null(operator, null),
                    subset_by_index=[n - k, n - 1],
                    overwrite_a=True,
                    check_finite=False,
                )
        # The method for a subset may fail, or lose some, if many eigenvalues are equal; divide and
        # conquer does not.
        if len(values) < k:
            values, vectors = scipy.linalg.eigh(
                _without_null(operator, null), driver="evd", overwrite_a=True, check_finite=False
            )
            values, vectors = values[-k:], vectors[:, -k:]
        vectors = null.remove(np.ascontiguousarray(vectors[:, ::-1]))
        if few:
            vectors, _ = np.linalg.qr(vectors)
    values = values[::-1]
    errors = operator.step(vectors, np.zeros_like(vectors)) - vectors * values
    return Eigenpairs(values, vectors, np.linalg.norm(errors, axis=0), True, 0)


def _without_null(operator, null):
    """Return the dense matrix with the eigenvalues 1 of the null space moved to -2, below all
    others.
    """
    matrix = operator.toarray()
    for start, stop in zip(null.bounds[:-1], null.bounds[1:], strict=True):
        part = null.vector[start:stop]
        matrix[start:stop, start:stop] -= 3 * np.outer(part, part)
    matrix += matrix.T
    matrix *= 0.5
    return matrix


def fits(n_bytes):
    """Return whether this much memory is available."""
    return n_bytes <= ALWAYS_AVAILABLE or n_bytes <= available_memory()


def check_memory(n_bytes, k, n):
    """Raise a `MemoryError` if `n_bytes`, for `k` eigenvectors of `n` vertices, do not fit."""
    if not fits(n_bytes):
        raise MemoryError(
            f"{k} eigenvectors of a graph of {n} vertices need about {format_bytes(n_bytes)}, and "
            f"{format_bytes(available_memory())} are available; use fewer n_components"
        )
