"""One session: the state, the data sources and the jobs that connect them. No widgets here either."""

import copy

from .jobs import Latest, Mailbox
from .pipeline import Pipeline
from .sources import SOURCES
from .state import State
from .warmup import warm_up


class Session:
    """Recomputes when a choice changes, and puts results and errors into the state.

    Parameters
    ----------
    document : callable
        Returns the Bokeh document that shows the session, or None.

    Attributes
    ----------
    state : State
    sources : dict
        One object of every class in `SOURCES`, by its `key`.
    mailbox : Mailbox
        For the jobs of views.
    """

    def __init__(self, document=lambda: None):
        self.state = State()
        self.mailbox = Mailbox(document)
        self.sources = {source.key: source() for source in SOURCES}
        self._pipeline = Pipeline()
        self._jobs = []
        self._compute = self.latest(self._run, deliver=self._accept, fail=self._fail, report=self._report)
        self._load = self.latest(self._make, deliver=self._use, fail=self._fail, report=self._report)
        self._loading = False
        self._requested = None
        self.state.param.watch(lambda *events: self._request(), list(State.CHOICES))

    def latest(self, work, **callbacks):
        """A `Latest` job that ends with the session."""
        job = Latest(work, mailbox=self.mailbox, **callbacks)
        self._jobs.append(job)
        return job

    def load_from(self, source):
        """Replace the data by those of a source, made in a thread; when that fails, the data stay and the error is shown."""
        if self._loading or not source.ready:
            return
        self._load.request((source, copy.copy(source)))

    def retry(self):
        """Compute again what the choices ask for."""
        self._requested = None
        self._request()

    def cancel(self):
        """Stop what is under way; the last results stay."""
        for job in (self._load, self._compute):
            job.cancel()
        self._requested = None

    def close(self):
        """Stop all jobs for good."""
        for job in self._jobs:
            job.close()

    def wait(self, timeout=None):
        """Block until the state's result is that of its choices; call it on the session's thread."""
        self._load.wait(timeout)
        self._compute.wait(timeout)

    def _request(self):
        request = self.state.request()
        if request is None or request == self._requested:
            return
        other_data = self._requested is None or request.dataset is not self._requested.dataset
        self._requested = request
        self._compute.request(request, replace=other_data)

    def _make(self, request, progress, publish):
        _, snapshot = request
        progress("loading data", 0.0)
        return snapshot.load()

    def _use(self, request, dataset):
        source, snapshot = request
        self._loading = True  # what the source now changes about itself is no wish to load again
        try:
            source.loaded(snapshot)
        finally:
            self._loading = False
        self.state.use(dataset)

    def _run(self, request, progress, publish):
        warm_up(progress)
        return self._pipeline.run(request, progress, publish)

    def _accept(self, request, result):
        if request.dataset is self.state.dataset:
            self.state.accept(result)

    def _fail(self, request, error):
        self.state.error = explain(error)

    def _report(self, stage, fraction):
        self.state.param.update(stage=stage, fraction=fraction)


def explain(error):
    """The sentence that the user reads for an exception: its own, when it is one about what was passed in."""
    if isinstance(error, (ValueError, TypeError, MemoryError)) and str(error):
        return str(error)
    return f"{type(error).__name__}: {error}"
