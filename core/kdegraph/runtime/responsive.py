"""Cancelling: a computation that is cancelled returns to its caller at once."""

import collections
import contextvars
import functools
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar, cast

from kdegraph.runtime.progress import REPORT_INTERVAL

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Cancelled(Exception):
    """Raise this in a `progress` callback to stop a computation.

    The function that was called raises it again, unchanged. Any other exception does the same.

    Examples
    --------
    >>> import kdegraph
    >>> X = kdegraph.datasets.make("moons", n=500, seed=0).X
    >>> def progress(stage, fraction):
    ...     raise kdegraph.Cancelled("enough")
    >>> kdegraph.similarity_graph(X, sigma=0.1, seed=0, progress=progress)
    Traceback (most recent call last):
    ...
    kdegraph.runtime.responsive.Cancelled: enough
    """


class _ThisThread(threading.local):
    """Whether the current thread works for a caller who is reported to by another thread."""

    is_worker = False


_this_thread = _ThisThread()


def responsive(function: _Function) -> _Function:
    """Let a function with the keyword `progress` return at once when it is cancelled.

    With a `progress`, the function runs in a thread of its own. Meanwhile the calling thread calls
    ``progress(stage, fraction)`` at least every `REPORT_INTERVAL` seconds, from the first report
    on, and leaves as soon as that raises. The function itself ends when it reports next, and what
    it would have returned is dropped. Within such a thread, other responsive functions are called
    directly, because the outermost caller can leave already.
    """

    @functools.wraps(function)
    def call(*args, progress=None, **options):
        if progress is None or _this_thread.is_worker:
            return function(*args, progress=progress, **options)
        return _Watched(function, args, options).result(progress)

    return cast(_Function, call)


class _Watched:
    """A call in a thread of its own, whose reports the calling thread passes on."""

    def __init__(self, function, args, options):
        self._function, self._args, self._options = function, args, options
        self._reports = collections.deque()
        self._cancelled = threading.Event()
        self._result = Future()

    def result(self, progress):
        """Start the thread, report to `progress` and return what the function returns."""
        context = contextvars.copy_context()
        thread = threading.Thread(
            target=context.run,
            args=(self._work,),
            name=f"kdegraph {self._function.__name__}",
            daemon=True,
        )
        try:
            thread.start()
            self._pass_reports_to(progress)
        except BaseException:
            self._cancelled.set()
            raise
        return self._result.result()

    def _pass_reports_to(self, progress):
        last, finished = None, False
        while not finished:
            finished = bool(wait([self._result], timeout=REPORT_INTERVAL).done)
            if last and not self._reports and not finished:
                progress(*last)
            while self._reports:
                last = self._reports.popleft()
                progress(*last)

    def _work(self):
        _this_thread.is_worker = True
        try:
            self._result.set_result(
                self._function(*self._args, progress=self._report, **self._options)
            )
        except BaseException as error:
            self._result.set_exception(error)

    def _report(self, stage, fraction):
        if self._cancelled.is_set():
            raise Cancelled
        self._reports.append((stage, fraction))
