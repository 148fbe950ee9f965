"""All eigenpairs at once by LAPACK, for small graphs and large parts of the spectrum."""

import contextlib

import numpy as np
import scipy.linalg

from kdegraph.runtime.threads import blas_threads
from kdegraph.spectral.solver.eigenpairs import Eigenpairs

# Share of all eigenpairs up to which LAPACK finds the wanted ones in less time than all.
SUBSET_SHARE = 0.25


def dense_bytes(n):
    """Memory that `solve_dense` takes, in bytes."""
    return 24 * n**2


def solve_dense(operator, null, k):
    """The `k` largest eigenpairs beyond the null space by LAPACK, in O(n^3) time.

    Parameters
    ----------
    operator : NormalizedAdjacency
    null : NullSpace
    k : int

    Returns
    -------
    Eigenpairs
    """
    n, values = operator.n, ()
    few = k < SUBSET_SHARE * n
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
    """The dense matrix with the eigenvalues 1 of the null space moved to -2, below all others."""
    matrix = operator.toarray()
    for start, stop in zip(null.bounds[:-1], null.bounds[1:], strict=True):
        part = null.vector[start:stop]
        matrix[start:stop, start:stop] -= 3 * np.outer(part, part)
    matrix += matrix.T
    matrix *= 0.5
    return matrix
