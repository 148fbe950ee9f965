"""The threads of BLAS, which does the linear algebra of NumPy and SciPy."""

import contextlib
import functools
import threading

from threadpoolctl import ThreadpoolController

# Rows of the largest matrix for which BLAS uses one thread. Below, its threads wait for each other
# longer than they work: 40 times the processor time for 300 rows on a busy machine.
_SMALL_MATRIX = 1024


@functools.cache
def _controller():
    """What sets the threads of NumPy's BLAS and of SciPy's, which compiled code calls, too."""
    import scipy.linalg  # noqa: F401  only libraries that are loaded are found

    return ThreadpoolController()


class _OneThread(contextlib.AbstractContextManager):
    """BLAS has one thread while at least one thread of the program is within this context."""

    def __init__(self):
        self._lock = threading.Lock()
        self._n_within = 0

    def __enter__(self):
        with self._lock:
            if self._n_within == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._n_within += 1

    def __exit__(self, *exception):
        with self._lock:
            self._n_within -= 1
            if self._n_within == 0:
                self._limit.restore_original_limits()


_one_thread = _OneThread()


def blas_threads(n: int) -> contextlib.AbstractContextManager:
    """Return a context for linear algebra with n x n matrices.

    Within it, BLAS uses one thread if the matrices are small, and else as many as it is set to.
    """
    return contextlib.nullcontext() if n > _SMALL_MATRIX else _one_thread
