"""Progress reports, cancellation, and one-time notices to the user.

A public function reports through ``progress(stage, fraction)``, and what that raises ends the
computation (`responsive`). A step within the function does not know the stage and reports through
``progress(fraction)``. None stands for a caller who wants no reports.
"""

import contextvars
import functools
import queue
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any, TypeVar, cast

# Seconds between two reports of a computation.
REPORT_INTERVAL = 0.02

_Function = TypeVar("_Function", bound=Callable[..., Any])


def stage_progress(progress, name):
    """Return the ``progress(fraction)`` of the stage `name`, or None if nobody listens."""
    return None if progress is None else lambda fraction: progress(name, fraction)


def partial_progress(progress, start, stop):
    """Return the ``progress(fraction)`` of a step that leads from the fraction `start` of a stage
    to the fraction `stop`, or None if nobody listens.
    """
    if progress is None:
        return None
    return lambda fraction: progress(start + (stop - start) * fraction)


def held_progress(report, fraction):
    """Return a ``progress(stage, fraction)`` for a step, each report of which calls ``report``
    with this fraction of a stage; or None if nobody listens.
    """
    return report and (lambda stage, _: report(fraction))


class StageTimer:
    """Measure the stages of one computation, and report them to ``progress(stage, fraction)``.

    `timings` has the seconds of each stage that has ended, by its name.
    """

    def __init__(self, progress=None):
        self._progress = progress
        self.timings = {}
        self._stage = None
        self._start = self._fraction = 0.0

    def enter(self, stage):
        """End the previous stage and begin `stage`. A stage may be entered several times."""
        self.leave()
        self._stage, self._start, self._fraction = stage, time.perf_counter(), 0.0
        self.report(0.0)

    def leave(self):
        """End the current stage, if there is one, and record its seconds."""
        if self._stage is not None:
            seconds = time.perf_counter() - self._start
            self.timings[self._stage] = self.timings.get(self._stage, 0.0) + seconds
            self._stage = None

    @property
    def progress(self):
        """The ``progress(fraction)`` of the current stage, or None if nobody listens."""
        return None if self._progress is None else self.report

    def report(self, fraction):
        """Report a fraction. Within a stage it never falls, even if a step of it starts again."""
        if self._progress is not None:
            self._fraction = max(self._fraction, float(fraction))
            self._progress(self._stage, self._fraction)


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
    kdegraph.runtime.progress.Cancelled: enough
    """


# True in a thread that `responsive` has started.
_is_worker = contextvars.ContextVar("is_worker", default=False)


def responsive(function: _Function) -> _Function:
    """Let a function with the keyword `progress` return at once when it is cancelled.

    With a `progress`, the function runs in a thread of its own. Meanwhile the calling thread calls
    ``progress(stage, fraction)`` at least every `REPORT_INTERVAL` seconds, from the first report
    on, and returns as soon as that raises. The function itself ends at its next report, and its
    result is dropped. Within such a thread, other responsive functions are called directly, because
    the outermost caller can already return.
    """

    @functools.wraps(function)
    def call(*args, progress=None, **options):
        if progress is None or _is_worker.get():
            return function(*args, progress=progress, **options)
        reports, cancelled, result = queue.SimpleQueue(), threading.Event(), Future()

        def report(stage, fraction):
            if cancelled.is_set():
                raise Cancelled
            reports.put((stage, fraction))

        def work():
            _is_worker.set(True)
            try:
                result.set_result(function(*args, progress=report, **options))
            except BaseException as error:
                result.set_exception(error)
            reports.put(None)

        within, name = contextvars.copy_context().run, f"kdegraph {function.__name__}"
        thread = threading.Thread(target=within, args=(work,), name=name, daemon=True)
        try:
            thread.start()
            _pass_on(reports, progress)
        except BaseException:
            cancelled.set()
            raise
        return result.result()

    return cast(_Function, call)


def _pass_on(reports, progress):
    """Pass the reports in a queue on to `progress` until None arrives. The last one is repeated
    while no other arrives.
    """
    report = ()
    while report is not None:
        with suppress(queue.Empty):
            report = reports.get(timeout=REPORT_INTERVAL)
        if report:
            progress(*report)


def all_or_nothing(fit: _Function) -> _Function:
    """Let a method of an estimator leave it as it was if it ends with an error."""

    @functools.wraps(fit)
    def call(self, *args, **options):
        before = vars(self).copy()
        try:
            return fit(self, *args, **options)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast(_Function, call)


class StageLines:
    """Write a line on standard error when a stage begins, and pass all reports on."""

    def __init__(self, progress=None):
        self._progress, self._stage, self._start = progress, None, time.perf_counter()

    def __call__(self, stage, fraction):
        if stage != self._stage:
            self._stage = stage
            _write(f"kdegraph: {stage}, after {time.perf_counter() - self._start:.1f} s")
        if self._progress is not None:
            self._progress(stage, fraction)


def _write(text):
    if sys.stderr is not None:  # None in programs without a console
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


_show = _write
_shown: set[str] = set()


def notify(text):
    """Show a line on standard error, once per process."""
    if text not in _shown:
        _shown.add(text)
        _show(text)


@contextmanager
def notices_shown_by(show):
    """Return a context in which notices go to ``show(text)`` instead of standard error.

    A program that draws on the terminal shows them in its own way.
    """
    global _show
    before, _show = _show, show
    try:
        yield
    finally:
        _show = before
