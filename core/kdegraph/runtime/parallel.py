"""Threads, progress and cancelling: kernels that work on a range of items are spread over a pool.

Compiled kernels release the GIL and take `(start, stop, *args)`. Each item is computed by one
thread alone and its result does not depend on the other items of its range, so results are the same
for any number of threads. Unlike numba's own threading layers, plain threads may be used from many
Python threads at once and after a fork.
"""

import atexit
import collections
import contextlib
import contextvars
import functools
import math
import os
import threading
import time
from concurrent.futures import Future, wait

from threadpoolctl import ThreadpoolController

from kdegraph.runtime.pool import Job, Pool
from kdegraph.validation import check_count


class Cancelled(Exception):
    """Raise this from a `progress` callback to stop a computation; it propagates to the caller
    unchanged.
    """


_lock = threading.Lock()
_pool = None
_n_threads = None
TICK = 0.02  # seconds between two calls of `progress` while nothing finishes
SOON, SOON_AWAKE = (
    0.00015,
    0.00004,
)  # seconds of work that are not worth waking a thread, or calling one that is awake
TRIAL = 0.00003  # seconds of a range from which the rest is judged, about
START, GROWTH = (
    1024,
    64,
    # The first range is a small part of all; the others are at most so many times longer than the one
    # before.
)
FEW = 4  # ranges for a thread
LEAST = 0.00006  # seconds that a range takes at least, where threads share many
# Seconds that a kernel should work on one range: long beside the call, short beside what a person
# notices.
GRAIN = 0.005
SMALL_MATRIX = 1024  # see `blas_threads`


def get_num_threads():
    """Number of threads that computations use.

    Returns
    -------
    int
        What `set_num_threads` was given, else the environment variable KDEGRAPH_NUM_THREADS, else
        the number of usable cores.
    """
    if _n_threads is not None:
        return _n_threads
    if value := os.environ.get("KDEGRAPH_NUM_THREADS"):
        return check_count(
            int(value) if value.strip().isdecimal() else value, "KDEGRAPH_NUM_THREADS"
        )
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
        before, _n_threads, _pool = _pool, count, None
    if before:
        before.close()


def _forget_pool():
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def _get_pool():
    global _pool
    with _lock:
        if _pool is None:
            _pool = Pool(get_num_threads())
        return _pool


def _is_awake():
    return _pool is not None and _pool.awake


@atexit.register
def _end_pool():
    if _pool:
        _pool.close(
            timeout=1.0
        )  # a thread that comes back from compiled code when Python is gone could not end well


class _Ranges:
    """Cuts ``range(n_items)`` into ranges for the threads that ask, sized by how long the last ones
    took unless `chunk` is given.
    """

    def __init__(self, n_items, chunk, n_threads):
        self.n_items, self.chunk, self.n_threads = n_items, chunk, n_threads
        self.done = 0
        self._next, self._size = 0, chunk or 1 + min(n_items // START, GROWTH)
        self._largest, self._least = -(-n_items // (4 * n_threads)), 1
        self._shared = False
        self._lock = threading.Lock()
        self._stopped = False

    def take(self):
        """The next (start, stop), or None."""
        with self._lock:
            if not self.left:
                return None
            start, size = self._next, self._size
            if (
                self._shared and not self.chunk
            ):  # smaller ranges toward the end, so that no thread waits long for another
                last = max(-((start - self.n_items) // (2 * self.n_threads)), self._largest // 16)
                size = min(size, max(min(self._largest, last), self._least))
            self._next = min(start + size, self.n_items)
            return start, self._next

    def finish(self, start, stop, seconds):
        """Note that a range took `seconds`."""
        with self._lock:
            self.done += stop - start
            if not self.chunk:
                seconds = max(seconds, 1e-9)
                growth = min(GROWTH, max(0.25, (GRAIN if self._shared else TRIAL) / seconds))
                self._size = max(1, int((stop - start) * growth))
                self._least = int((stop - start) * LEAST / seconds)

    def take_all(self):
        """Let the next range be all the rest, unless `chunk` is given."""
        self._size = self.chunk or self.n_items

    def share(self):
        """Expect several threads from now on."""
        self._shared = True

    @property
    def left(self):
        """Whether there is a range to take."""
        return self._next < self.n_items and not self._stopped

    def stop(self):
        """Hand out no more."""
        self._stopped = True


def run(kernel, n_items, *args, chunk=None, progress=None):
    """Call ``kernel(start, stop, *args)`` on ranges that cover ``range(n_items)``.

    Parameters
    ----------
    kernel : callable
        Compiled without the GIL; writes its results into arrays among `args`.
    n_items : int
    chunk : int, optional
        Items per call, for kernels to which it matters; by default as many as take about `GRAIN`
        seconds.
    progress : callable, optional
        Called in the calling thread with the fraction done, about every `TICK` seconds unless a
        range takes longer; what it raises stops the work after the ranges under way.
    """
    if chunk and n_items <= chunk:
        if n_items:
            kernel(0, n_items, *args)
            if progress:
                progress(1.0)
        return
    ranges = _Ranges(n_items, chunk, get_num_threads())

    def work_on(start, stop):
        """Call the kernel; return how many seconds it took."""
        begin = time.perf_counter()
        try:
            kernel(start, stop, *args)
        except BaseException:
            ranges.stop()
            raise
        seconds = time.perf_counter() - begin
        ranges.finish(start, stop, seconds)
        return seconds

    # Of few ranges none is tried alone, it may be a long one.
    rest = (
        math.inf
        if n_items <= FEW * ranges.n_threads * (chunk or 1)
        else _begin_alone(work_on, ranges)
    )
    if ranges.left:
        _share(work_on, ranges, rest, progress)
    if progress and n_items > 0:
        progress(1.0)


def _begin_alone(work_on, ranges):
    """Do what is soon done, as calling other threads takes time too; return how many seconds of
    work are left, about.
    """
    passed = rest = 0.0
    while rest < SOON and (found := ranges.take()):
        seconds = work_on(*found)
        passed += seconds
        if seconds > TRIAL / 2 or passed > TRIAL:
            start, stop = found
            rest = seconds * (ranges.n_items - stop) / (stop - start)
            if rest > SOON_AWAKE and _is_awake():
                break
            ranges.take_all()
    return rest


def _share(work_on, ranges, rest, progress):
    """Have all threads work that it is worth calling: the calling one, and those of the pool."""
    n_helpers = min(
        ranges.n_threads - 1,
        -(-ranges.n_items // (ranges.chunk or 1)) - 1,
        1 + int(min(rest / SOON, 1e9)),
    )

    def work(seconds=math.inf):
        """Take ranges until none are left, or `seconds` have passed."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end and (found := ranges.take()):
            work_on(*found)

    job = Job(work)
    ranges.share()
    if n_helpers > 0:
        _get_pool().post(job, n_helpers)
    try:
        while ranges.left:
            work(TICK if progress else math.inf)
            if progress:
                progress(ranges.done / ranges.n_items)
        over = job.close()
        while not over:
            over = job.wait(TICK if progress else -1)
            if progress:
                progress(ranges.done / ranges.n_items)
    except BaseException:
        ranges.stop()
        if not job.close():
            job.wait()
        raise
    if job.error:
        raise job.error


def responsive(function):
    """Make a function that reports through its keyword `progress` answer at once when it is
    cancelled, whatever it is doing.

    With a `progress` the function runs in a thread of its own, while the calling thread calls
    ``progress(stage, fraction)`` at least every `TICK` seconds, from the first report on, and
    leaves as soon as that raises. The function itself ends at its next report; what it would have
    returned is dropped.
    """

    @functools.wraps(function)
    def call(*args, progress=None, **options):
        if progress is None:
            return function(*args, **options)
        reports, stopped, result = collections.deque(), threading.Event(), Future()

        def report(stage, fraction):
            if stopped.is_set():
                raise Cancelled
            reports.append((stage, fraction))

        def work():
            try:
                result.set_result(function(*args, progress=report, **options))
            except BaseException as error:
                result.set_exception(error)

        context = contextvars.copy_context()
        last, finished = None, False
        try:
            threading.Thread(
                target=context.run, args=(work,), name=f"kdegraph {function.__name__}", daemon=True
            ).start()
            while not finished:
                finished = bool(wait([result], timeout=TICK).done)
                if last and not reports and not finished:
                    progress(*last)
                while reports:
                    last = reports.popleft()
                    progress(*last)
        except BaseException:
            stopped.set()
            raise
        return result.result()

    return call


_blas = functools.cache(ThreadpoolController)


def blas_threads(n):
    """A context for linear algebra with n x n matrices, in which BLAS keeps to one thread where
    these are small.

    Its threads wait for each other longer there than they work: 40 times the processor time for n =
    300 on a busy machine.
    """
    return (
        _blas().limit(limits=1, user_api="blas") if n <= SMALL_MATRIX else contextlib.nullcontext()
    )


def part(progress, start, stop):
    """`progress` for a part of a stage, from the fraction `start` to `stop`; None when nobody
    listens.
    """
    return (
        None if progress is None else lambda fraction: progress(start + (stop - start) * fraction)
    )


def stage(progress, name):
    """`progress` of one stage, called with the fraction alone; None when nobody listens."""
    return None if progress is None else lambda fraction: progress(name, fraction)


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
        self._stage, self._start, self._fraction = stage, time.perf_counter(), 0.0
        self.report(0.0)

    def leave(self):
        """End the stage under way and note its seconds."""
        if self._stage is not None:
            self.timings[self._stage] = (
                self.timings.get(self._stage, 0.0) + time.perf_counter() - self._start
            )
            self._stage = None

    def report(self, fraction):
        """Report that `fraction` of the current stage is done; within a stage it never falls,
        though its parts begin anew.
        """
        if self.progress is not None:
            self._fraction = max(self._fraction, float(fraction))
            self.progress(self._stage, self._fraction)

    @property
    def fraction(self):
        """`report`, or None when nobody listens (so that `run` need not wake up)."""
        return self.report if self.progress is not None else None
