"""Work in threads, and return results to the session's own event loop.

`Mailbox` carries callbacks from worker threads to the thread that owns the session: Panel, Bokeh
and param objects are only touched there. `Latest` runs one piece of work at a time and always ends
with the newest request.
"""

import asyncio
import threading
import time
from collections import deque
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import panel as pn
from kdegraph import Cancelled


class Mailbox:
    """Run callbacks that any thread has posted, on the thread that owns the session.

    `document` returns the Bokeh document that shows the session, or None. After callbacks have run,
    unless on a server, each of `pushes` is called to send what they have changed to a place in a
    notebook.

    On a server the callbacks run as next-tick callbacks of the document (under its lock), in a
    notebook on the kernel's event loop, and in a plain script whenever `drain` is called, as
    `Latest.wait` does.

    Other threads leave that to the event loop on which this object was made: while one adds such a
    callback, Bokeh would take its document for that of the session that the loop works on.
    """

    def __init__(self, document=lambda: None):
        self._document, self.pushes = document, []
        self._created_in = pn.state.curdoc
        self._queue = deque()
        self._paused = False
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None

    def post(self, callback):
        """Have `callback()` run on the session's thread, soon and in order."""
        self._queue.append(callback)
        if self._loop is not None:
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._wake)
        elif self._served():  # by a server that the program has started after making this object
            self._wake()

    def _wake(self):
        if self._paused:
            return
        if document := self._served():
            document.add_next_tick_callback(self.drain)
        else:
            self.drain()

    def drain(self):
        """Run what was posted. Call it on the session's thread only."""
        if not self._queue:
            return
        with self.held():
            while self._queue:
                self._queue.popleft()()
        if self._served() is None:
            for push in self.pushes:
                push()

    def pause(self):
        """Keep what is posted from now on until `resume` or `drain`."""
        self._paused = True

    def resume(self):
        """End a pause, and have what was posted in it run soon."""
        if self._paused:
            self._paused = False
            self._wake()

    def held(self):
        """Collect changes within this context, and send them to the browser in one message.

        They are sent at its end, or soon after if the page belongs to a server of this program.
        """
        document = self._served()
        return pn.io.hold(document) if document else nullcontext()

    def _served(self):
        """Return the document, if it belongs to a session of a server."""
        document = self._document() or self._created_in
        return document if document is not None and document.session_context else None


@dataclass
class Run:
    """One piece of work of a `Latest`, for a `request` with the number `generation`.

    The work began at `start`, and its progress was last reported at `reported`, as `time.monotonic`
    counts. If there is a newer request, it may continue until `grace` seconds after its start.
    """

    generation: int
    request: object
    start: float
    reported: float
    grace: float


class Latest:
    """Run `work` on the newest request, in a thread of its own.

    At most one request waits: a newer one replaces it. When a request arrives, the work under way
    may continue until `grace` seconds after its start. Therefore quick work always finishes, and
    its results follow a slider that moves faster than the work, while slow work for an outdated
    request is stopped the next time it reports progress.

    The worker thread runs ``work(request, progress, publish)``, which returns the result. It must
    call ``progress(stage, fraction)`` often: that is where it gets stopped, by
    `kdegraph.Cancelled`. It may call ``publish(partial_result)``, and with ``enough=True`` for one
    that serves the request so well that the rest may be stopped for a newer request without
    `grace`.

    The session's thread runs the other functions, through the `Mailbox`: ``deliver(request,
    result)`` for every result that is still wanted, ``fail(request, error)`` when the work raised,
    and ``report(stage, fraction)`` at most ten times a second, for work that takes longer than a
    moment; ``report(None, 1.0)`` says that nothing is running any more. ``notify()`` is called in
    any thread, after every request and cancel, and when nothing is running any more.
    """

    REPORT_AFTER = 0.25  # seconds
    REPORT_EVERY = 0.1

    def __init__(
        self, work, *, mailbox, deliver, fail=None, report=None, grace=0.8, notify=lambda: None
    ):
        self._work, self._mailbox, self._notify = work, mailbox, notify
        self.grace, self._deliver, self._fail = grace, deliver, fail or _raise
        self._report = report or (lambda stage, fraction: None)
        self._lock = threading.Lock()
        self._pending = None
        self._thread = None
        self._generation = 0  # of the newest request
        # Work of an older generation is stopped at once, and its results are dropped.
        self._barrier = 0
        self._closed = False

    def request(self, request, *, replace=False):
        """Ask for `work` on `request`.

        With `replace`, the work under way is stopped at once and none of its results are delivered.
        """
        with self._lock:
            if self._closed:
                return
            self._generation += 1
            if replace:
                self._barrier = self._generation
            self._pending = (self._generation, request)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._loop, name="kdegraph-explorer", daemon=True
                )
                self._thread.start()
        self._notify()

    def cancel(self):
        """Stop the work under way and drop the request that waits, without results."""
        with self._lock:
            self._generation += 1
            self._barrier = self._generation
            self._pending = None
        self._notify()

    def close(self):
        """Cancel and accept no more requests."""
        with self._lock:
            self._closed = True
        self.cancel()

    @property
    def busy(self):
        """Return whether work is under way or waits."""
        with self._lock:
            return self._thread is not None

    @property
    def closed(self):
        """Return whether no more requests are accepted."""
        return self._closed

    def wait(self, timeout=None):
        """Block until nothing is under way and all results are delivered.

        Call it on the session's thread. After `timeout` seconds, it raises a TimeoutError.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while self.busy:
            time.sleep(0.001)
            self._mailbox.drain()
            if end is not None and time.monotonic() > end:
                raise TimeoutError(f"work still under way after {timeout} seconds")
        self._mailbox.drain()

    def _loop(self):
        while (taken := self._take()) is not None:
            self._run(*taken)
        self._notify()

    def _take(self):
        """Return the newest request with its generation; None ends the thread."""
        with self._lock:
            taken, self._pending = self._pending, None
            if taken is None:
                self._thread = None
                self._mailbox.post(self._report_idle)
            return taken

    def _report_idle(self):
        if self._thread is None and not self._closed:
            self._report(None, 1.0)

    def _run(self, generation, request):
        now = time.monotonic()
        run = Run(generation, request, now, now + self.REPORT_AFTER - self.REPORT_EVERY, self.grace)
        progress, publish = partial(self._progress, run), partial(self._publish, run)
        try:
            result = self._work(request, progress, publish)
        except Cancelled:
            return
        except Exception as error:  # the user sees the error, and the session continues
            self._post(generation, self._fail, request, error)
        else:
            self._post(generation, self._deliver, request, result)

    def _progress(self, run, stage, fraction):
        """Stop outdated work, and report the progress of other work now and then."""
        now = time.monotonic()
        outdated = run.generation < self._generation and now - run.start > run.grace
        if outdated or run.generation < self._barrier:
            raise Cancelled
        if now - run.reported > self.REPORT_EVERY:
            run.reported = now
            self._post(run.generation, self._report, stage, fraction)

    def _publish(self, run, result, enough=False):
        """Deliver a partial result."""
        if enough:
            run.grace = 0.0
        self._post(run.generation, self._deliver, run.request, result)

    def _post(self, generation, function, *args):
        def deliver():
            if generation >= self._barrier and not self._closed:
                function(*args)

        self._mailbox.post(deliver)


def _raise(request, error):
    raise error


def explain(error):
    """Return the message for the user: that of the exception, if it is about the input."""
    if isinstance(error, (ValueError, TypeError, MemoryError, TimeoutError)) and str(error):
        return str(error)
    return f"{type(error).__name__}: {error}"
