"""Compiled kernels on all threads: work on a range of items is cut up and shared.

Kernels release the GIL and take `(start, stop, *args)`. Each item is computed by one thread alone,
and its result does not depend on the other items of its range. So results are the same for any
number of threads. Unlike numba's own threading layers, these threads can be used from many Python
threads at once and after a fork.
"""

import math
import time
from collections.abc import Callable
from concurrent.futures import wait
from typing import Any

from kdegraph.runtime.progress import REPORT_INTERVAL
from kdegraph.runtime.ranges import SCHEDULE, WorkRanges
from kdegraph.runtime.threads import call_helpers, get_num_threads

# With at most so many ranges for each thread, none is tried alone: it could be a long one.
_FEW_RANGES = 4


def run(
    kernel: Callable[..., Any],
    n_items: int,
    *args: Any,
    chunk: int | None = None,
    progress: Callable[[float], Any] | None = None,
) -> None:
    """Call ``kernel(start, stop, *args)`` on ranges that cover ``range(n_items)``.

    Parameters
    ----------
    kernel : callable
        A function that releases the GIL and writes its results into arrays among `args`.
    n_items : int
        Number of items.
    *args
        Further arguments of the kernel.
    chunk : int, optional
        Items in each range, for kernels whose results or speed depend on it. By default a range
        takes a few milliseconds; see `Schedule`.
    progress : callable, optional
        Called in the calling thread with the fraction that is done, about every `REPORT_INTERVAL`
        seconds unless a range takes longer. What it raises stops the work after the ranges that
        threads are working on.
    """
    if n_items == 0:
        return
    if chunk and n_items <= chunk:
        kernel(0, n_items, *args)
    else:
        work = _Work(kernel, args, WorkRanges(n_items, chunk, get_num_threads()))
        few = n_items <= _FEW_RANGES * work.ranges.n_threads * (chunk or 1)
        seconds_left = math.inf if few else work.begin_alone()
        if work.ranges.left:
            work.share(seconds_left, progress)
    if progress:
        progress(1.0)


class _Work:
    """A kernel, its arguments and the ranges that it has still to work on."""

    def __init__(self, kernel, args, ranges):
        self._kernel, self._args, self.ranges = kernel, args, ranges

    def _call(self, start, stop):
        """Call the kernel on a range; return how many seconds it took."""
        begin = time.perf_counter()
        try:
            self._kernel(start, stop, *self._args)
        except BaseException:
            self.ranges.stop()
            raise
        seconds = time.perf_counter() - begin
        self.ranges.finish(start, stop, seconds)
        return seconds

    def begin_alone(self):
        """Do in this thread what is done sooner than other threads can be called.

        Returns
        -------
        float
            About how many seconds the work that is left would take one thread.
        """
        passed = seconds_left = 0.0
        while seconds_left < SCHEDULE.worth_waking and (found := self.ranges.take()):
            start, stop = found
            seconds = self._call(start, stop)
            passed += seconds
            if seconds > SCHEDULE.trial / 2 or passed > SCHEDULE.trial:
                seconds_left = seconds * (self.ranges.n_items - stop) / (stop - start)
                self.ranges.take_all_next()
        return seconds_left

    def take_part(self, seconds=math.inf):
        """Work on ranges until none is left or `seconds` have passed."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end and (found := self.ranges.take()):
            self._call(*found)

    def share(self, seconds_left, progress):
        """Work together with as many threads of the pool as are worth calling."""
        ranges = self.ranges
        n_ranges = -(-ranges.n_items // (ranges.chunk or 1))
        n_worth_calling = 1 + int(min(seconds_left / SCHEDULE.worth_waking, 1e9))
        n_helpers = min(ranges.n_threads - 1, n_ranges - 1, n_worth_calling)
        ranges.share()
        helpers = call_helpers(self.take_part, n_helpers)
        try:
            self._take_part_until_the_end(progress)
            working = _dismiss_idle(helpers)
            while wait(working, REPORT_INTERVAL if progress else None).not_done:
                progress(ranges.fraction_done)
        except BaseException:
            ranges.stop()
            wait(_dismiss_idle(helpers))
            raise
        for helper in working:
            helper.result()

    def _take_part_until_the_end(self, progress):
        """Work until no range is left, and report in between."""
        while self.ranges.left:
            self.take_part(REPORT_INTERVAL if progress else math.inf)
            if progress:
                progress(self.ranges.fraction_done)


def _dismiss_idle(helpers):
    """Cancel the helpers whose threads are still busy with other work; return the others."""
    return [helper for helper in helpers if not helper.cancel()]
