"""Threads: their number, the pool that all computations share, and the threads of BLAS."""

import contextlib
import contextvars
import functools
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar, cast

from threadpoolctl import OpenBLASController, ThreadpoolController

from kdegraph.validation import check_count

_Method = TypeVar("_Method", bound=Callable[..., Any])

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
_n_threads: int | None = None
# The largest number of threads within `limited_threads`.
_limit: contextvars.ContextVar[int | None] = contextvars.ContextVar("limit", default=None)


def get_num_threads() -> int:
    """Return the number of threads that computations use.

    Returns
    -------
    int
        The number given to `set_num_threads`; else the environment variable
        ``KDEGRAPH_NUM_THREADS``; else the number of cores that this process may use.

    Raises
    ------
    ValueError, TypeError
        If ``KDEGRAPH_NUM_THREADS`` is not a whole number of at least 1.

    Examples
    --------
    >>> import kdegraph
    >>> kdegraph.set_num_threads(3)
    >>> kdegraph.get_num_threads()
    3
    >>> kdegraph.set_num_threads(None)
    """
    limit, allowed = _limit.get(), _allowed_threads()
    return allowed if limit is None else min(limit, allowed)


def _allowed_threads():
    """Return the number of threads of the pool."""
    if _n_threads is not None:
        return _n_threads
    if value := os.environ.get("KDEGRAPH_NUM_THREADS"):
        number = int(value) if value.strip().isdecimal() else value
        return check_count(number, "KDEGRAPH_NUM_THREADS")
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def set_num_threads(n: int | None) -> None:
    """Set the number of threads that computations use.

    The results of a computation do not depend on the number of threads.

    Parameters
    ----------
    n : int or None
        Number of threads, at least 1. None restores the default, which `get_num_threads` describes.

    Raises
    ------
    ValueError, TypeError
        If `n` is not a whole number of at least 1.

    Examples
    --------
    >>> import kdegraph
    >>> kdegraph.set_num_threads(1)  # use the calling thread alone
    >>> kdegraph.set_num_threads(None)  # use all cores again
    """
    global _n_threads, _pool
    count = None if n is None else check_count(n, "n")
    with _lock:
        before, _n_threads, _pool = _pool, count, None
    if before:
        before.shutdown(wait=False)


def within_n_jobs(method: _Method) -> _Method:
    """Let a method of an estimator use `n_jobs` threads at most: -1 stands for all, -2 for all but
    one, and None for no limit. Other threads of the program are not limited.
    """

    @functools.wraps(method)
    def call(self, *args, **options):
        if self.n_jobs is None:
            return method(self, *args, **options)
        n_jobs = check_count(self.n_jobs, "n_jobs", minimum=-sys.maxsize)
        if n_jobs == 0:
            raise ValueError("n_jobs must be a number of threads, or -1 for all, got 0")
        before = _limit.set(n_jobs if n_jobs > 0 else max(1, _allowed_threads() + 1 + n_jobs))
        try:
            return method(self, *args, **options)
        finally:
            _limit.reset(before)

    return cast(_Method, call)


def call_helpers(function: Callable[[], Any], n_helpers: int) -> list[Future]:
    """Let `n_helpers` threads of the pool call `function` in copies of the caller's context, which
    holds NumPy's error state, for example. There are fewer if the pool or the interpreter is
    shutting down.
    """
    global _pool
    helpers: list[Future] = []
    with contextlib.suppress(RuntimeError):
        with _lock:
            if _pool is None:
                _pool = ThreadPoolExecutor(_allowed_threads(), thread_name_prefix="kdegraph")
            pool = _pool
        for _ in range(n_helpers):
            helpers.append(pool.submit(contextvars.copy_context().run, function))
    return helpers


def _forget_pool():
    """Drop the pool after a fork: the child has none of the threads of its parent."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def blas_threads(n: int) -> contextlib.AbstractContextManager:
    """Return a context for linear algebra with n x n matrices.

    Within it, BLAS uses one thread if the matrices are small, and otherwise all that it is set to.
    In small matrices its threads wait for each other longer than they work: 40 times the processor
    time for 300 rows on a busy machine.
    """
    return contextlib.nullcontext() if n > 1024 else _one_blas_thread


@functools.cache
def _blas():
    """Return the controller of the BLAS of NumPy, and of SciPy, which compiled code calls, too."""
    import scipy.linalg  # noqa: F401  the controller finds only libraries that are loaded

    return ThreadpoolController()


@functools.cache
def openmp() -> ThreadpoolController:
    """Return the controller of the OpenMP of scikit-learn. Looking for it takes 3 ms."""
    import sklearn.cluster  # noqa: F401  see `_blas`

    return ThreadpoolController().select(user_api="openmp")


def _take_control():
    """Let the calling thread limit OpenBLAS.

    From version 3.8, threadpoolctl leaves that to the first thread that did so, while it lives.
    """
    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


class _OneBlasThread(contextlib.AbstractContextManager):
    """Let BLAS use one thread while at least one thread of the program is within this context."""

    def __init__(self):
        self._lock = threading.Lock()
        self._n_within = 0

    def __enter__(self):
        with self._lock:
            if self._n_within == 0:
                _take_control()
                self._limit = _blas().limit(limits=1, user_api="blas")
            self._n_within += 1

    def __exit__(self, *exception):
        with self._lock:
            self._n_within -= 1
            if self._n_within == 0:
                _take_control()
                self._limit.restore_original_limits()


_one_blas_thread = _OneBlasThread()
