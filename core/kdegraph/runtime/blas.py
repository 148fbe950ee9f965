"""The threads of BLAS, which does the linear algebra of NumPy and SciPy."""

import contextlib
import functools

from threadpoolctl import ThreadpoolController

# Rows of the largest matrix for which BLAS uses one thread. Below, its threads wait for each other
# longer than they work: 40 times the processor time for 300 rows on a busy machine.
_SMALL_MATRIX = 1024

_controller = functools.cache(ThreadpoolController)


def blas_threads(n: int) -> contextlib.AbstractContextManager:
    """Return a context for linear algebra with n x n matrices.

    Within it, BLAS uses one thread if the matrices are small, and else as many as it is set to.
    """
    if n > _SMALL_MATRIX:
        return contextlib.nullcontext()
    return _controller().limit(limits=1, user_api="blas")
