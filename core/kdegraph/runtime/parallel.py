"""Compiled kernels on all threads: work on a range of items is cut into smaller ranges and shared.

Kernels release the GIL and take `(start, stop, *args)`. Each item is computed by one thread alone,
and its result does not depend on the other items of its range. So results are the same for any
number of threads. Unlike numba's own threading layers, these threads can be used from many Python
threads at once and after a fork.
"""

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import wait
from typing import Any

from kdegraph.runtime.progress import REPORT_INTERVAL
from kdegraph.runtime.threads import call_helpers, get_num_threads

# The following times are in seconds. They affect speed only, and were chosen with the experiments
# `latency` and `stages` on two cores.
# Work shorter than this is finished by the calling thread, because waking a sleeping thread takes
# about 50 microseconds, and its first turn at the GIL as long again.
WORTH_WAKING = 150e-6
# The calling thread tries ranges of about this duration until it can judge the rest.
_TRIAL = 30e-6
# A range takes at most about this long where threads share the work: long compared to the cost of a
# call, too short for a person to notice when work is cancelled.
LONGEST = 5e-3


class WorkRanges:
    """Cut ``range(n_items)`` into ranges for the threads that ask for them, of which there may be
    `n_threads`. Each range has `chunk` items. None lets the size follow the time that ranges take.
    """

    def __init__(self, n_items, chunk, n_threads):
        self.n_items, self.chunk, self.n_threads = n_items, chunk, n_threads
        self.n_done = 0
        self._next = 0
        # The first range is small, because nothing is known of the cost of items yet.
        self._size = chunk or 1 + min(n_items // 1024, 64)
        self._largest, self._smallest = -(-n_items // (4 * n_threads)), 1
        self.shared = False  # set where several threads take ranges
        self.stopped = False  # set to hand out no more
        self._lock = threading.Lock()

    def take(self):
        """Return the next (start, stop), or None if nothing is left."""
        with self._lock:
            if not self.left:
                return None
            start, size = self._next, self._size
            if self.shared and not self.chunk:
                # Ranges become smaller toward the end, so that no thread waits long for another.
                half_of_share = -(-(self.n_items - start) // (2 * self.n_threads))
                toward_end = max(half_of_share, self._largest // 16)
                size = min(size, max(min(self._largest, toward_end), self._smallest))
            self._next = min(start + size, self.n_items)
            return start, self._next

    def finish(self, start, stop, seconds):
        """Record that the work on a range took `seconds`."""
        with self._lock:
            self.n_done += stop - start
            if not self.chunk:
                seconds = max(seconds, 1e-9)
                wanted = LONGEST if self.shared else _TRIAL
                growth = min(64, max(0.25, wanted / seconds))
                self._size = max(1, int((stop - start) * growth))
                # 60 microseconds: taking a range costs little compared to the work on it.
                self._smallest = int((stop - start) * 60e-6 / seconds)

    def take_all_next(self):
        """Let the next range contain all items that are left, unless `chunk` is given."""
        self._size = self.chunk or self.n_items

    @property
    def left(self):
        """True if there is a range to take."""
        return self._next < self.n_items and not self.stopped


def run(
    kernel: Callable[..., Any],
    n_items: int,
    *args: Any,
    chunk: int | None = None,
    progress: Callable[[float], Any] | None = None,
) -> None:
    """Call ``kernel(start, stop, *args)`` on ranges that cover ``range(n_items)``.

    The kernel releases the GIL and writes its results into arrays among `args`. Each range has
    `chunk` items, for kernels whose results or speed depend on it; by default it takes a few
    milliseconds. ``progress(fraction)`` is called in the calling thread about every
    `REPORT_INTERVAL` seconds unless a range takes longer. If it raises an exception, the work stops
    after the ranges that threads are working on.
    """
    if n_items == 0:
        return
    if chunk and n_items <= chunk:
        kernel(0, n_items, *args)
    else:
        work = _Work(kernel, args, WorkRanges(n_items, chunk, get_num_threads()))
        # The calling thread tries none of a few ranges alone, because it could be a long one.
        few = n_items <= 4 * work.ranges.n_threads * (chunk or 1)
        seconds_left = math.inf if few else work.begin_alone()
        if work.ranges.left:
            work.share(seconds_left, progress)
    if progress:
        progress(1.0)


class _Work:
    """A kernel, its arguments and the ranges that are left."""

    def __init__(self, kernel, args, ranges):
        self._kernel, self._args, self.ranges = kernel, args, ranges

    def _call(self, start, stop):
        """Call the kernel on a range; return how many seconds it took."""
        begin = time.perf_counter()
        try:
            self._kernel(start, stop, *self._args)
        except BaseException:
            self.ranges.stopped = True
            raise
        seconds = time.perf_counter() - begin
        self.ranges.finish(start, stop, seconds)
        return seconds

    def begin_alone(self):
        """Do in this thread the work that ends before other threads could start, and return the
        estimated seconds that the rest would take one thread.
        """
        passed = seconds_left = 0.0
        while seconds_left < WORTH_WAKING and (found := self.ranges.take()):
            start, stop = found
            seconds = self._call(start, stop)
            passed += seconds
            if seconds > _TRIAL / 2 or passed > _TRIAL:
                seconds_left = seconds * (self.ranges.n_items - stop) / (stop - start)
                self.ranges.take_all_next()
        return seconds_left

    def take_part(self, seconds=math.inf):
        """Work on ranges until none is left or `seconds` have passed."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end and (found := self.ranges.take()):
            self._call(*found)

    def share(self, seconds_left, progress):
        """Share the work with as many threads of the pool as are worth waking."""
        ranges = self.ranges
        n_ranges = -(-ranges.n_items // (ranges.chunk or 1))
        n_worth_calling = 1 + int(min(seconds_left / WORTH_WAKING, 1e9))
        n_helpers = min(ranges.n_threads - 1, n_ranges - 1, n_worth_calling)
        ranges.shared = True
        helpers = call_helpers(self.take_part, n_helpers)
        try:
            while ranges.left:
                self.take_part(REPORT_INTERVAL if progress else math.inf)
                if progress:
                    progress(ranges.n_done / ranges.n_items)
            working = _dismiss_idle(helpers)
            while wait(working, REPORT_INTERVAL if progress else None).not_done:
                progress(ranges.n_done / ranges.n_items)
        except BaseException:
            ranges.stopped = True
            wait(_dismiss_idle(helpers))
            raise
        for helper in working:
            helper.result()


def _dismiss_idle(helpers):
    """Cancel the helpers whose threads are busy with other work; return the others."""
    return [helper for helper in helpers if not helper.cancel()]
