"""Threads, progress and cancelling: kernels that work on a range of items are spread over a pool.

Compiled kernels release the GIL and take `(start, stop, *args)`. Each range of items is computed by one thread alone and a range's result
does not depend on the others, so results are the same for any number of threads. Unlike numba's own threading layers, plain threads
may be used from many Python threads at once and after a fork.
"""

import os
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from ._validation import check_count


class Cancelled(Exception):
    """Raise this from a `progress` callback to stop a computation; it propagates to the caller unchanged."""


_lock = threading.Lock()
_pool = None
_n_threads = None
TICK = 0.02  # seconds between two calls of `progress` while nothing finishes


def get_num_threads():
    """Number of threads that computations use.

    Returns
    -------
    int
        What `set_num_threads` was given, else the environment variable KDEGRAPH_NUM_THREADS, else the number of usable cores.
    """
    if _n_threads is not None:
        return _n_threads
    if value := os.environ.get("KDEGRAPH_NUM_THREADS"):
        return check_count(int(value) if value.strip().isdecimal() else value, "KDEGRAPH_NUM_THREADS")
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_num_threads(n):
    """Set the number of threads that computations use; results do not depend on it.

    Parameters
    ----------
    n : int or None
        At least 1; None restores the default.
    """
    global _n_threads, _pool
    count = None if n is None else check_count(n, "n")
    with _lock:
        _n_threads, _pool = count, None


def _forget_pool():
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def _get_pool():
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(get_num_threads(), thread_name_prefix="kdegraph")
        return _pool


def run(kernel, n_items, *args, chunk=None, progress=None):
    """Call ``kernel(start, stop, *args)`` on ranges that cover ``range(n_items)``.

    Parameters
    ----------
    kernel : callable
        Compiled without the GIL; writes its results into arrays among `args`.
    n_items : int
    chunk : int, optional
        Items per call; by default about eight calls per thread.
    progress : callable, optional
        Called with the fraction done at least every `TICK` seconds; what it raises stops the work after the chunks under way.
    """
    if n_items <= 0:
        return
    n_threads = get_num_threads()
    if chunk is None:
        chunk = max(1, -(-n_items // (8 * n_threads)))
    starts = iter(range(0, n_items, chunk))
    if (n_threads == 1 and progress is None) or n_items <= chunk:
        for start in starts:
            kernel(start, min(start + chunk, n_items), *args)
        return
    state = {"done": 0, "stop": False}
    taking = threading.Lock()

    def work():
        while not state["stop"]:
            with taking:
                start = next(starts, None)
            if start is None:
                return
            try:
                kernel(start, min(start + chunk, n_items), *args)
            except BaseException:
                state["stop"] = True
                raise
            with taking:
                state["done"] += chunk

    pool = _get_pool()
    futures = [pool.submit(work) for _ in range(min(n_threads, -(-n_items // chunk)))]
    try:
        pending = set(futures)
        while pending:
            _, pending = wait(pending, timeout=TICK if progress else None, return_when=FIRST_COMPLETED if progress else "ALL_COMPLETED")
            if progress:
                progress(min(1.0, state["done"] / n_items))
    except BaseException:
        state["stop"] = True
        wait(futures)
        raise
    for future in futures:
        future.result()


class Stages:
    """Times the stages of a computation and reports them: one object per computation.

    Parameters
    ----------
    progress : callable or None
        Called as ``progress(stage, fraction)``.
    """

    def __init__(self, progress=None):
        self.progress = progress
        self.timings = {}
        self._stage = None

    def enter(self, stage):
        """Start `stage`, ending the one before."""
        self.leave()
        self._stage, self._start = stage, time.perf_counter()
        self.report(0.0)

    def leave(self):
        """End the stage under way and note its seconds."""
        if self._stage is not None:
            self.timings[self._stage] = self.timings.get(self._stage, 0.0) + time.perf_counter() - self._start
            self._stage = None

    def report(self, fraction):
        """Report that `fraction` of the current stage is done."""
        if self.progress is not None:
            self.progress(self._stage, fraction)

    @property
    def fraction(self):
        """`report`, or None when nobody listens (so that `run` need not wake up)."""
        return self.report if self.progress is not None else None
