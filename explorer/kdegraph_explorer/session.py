"""One session: the state, the data sources and the jobs that connect them. No widgets here either."""

from . import warmup
from .jobs import Latest, Mailbox
from .pipeline import Pipeline
from .sources import SOURCES
from .sources.given import Given
from .state import State


class Session:
    """Recomputes when a choice changes, and puts results and errors into the state.

    Parameters
    ----------
    document : callable
        Returns the Bokeh document that shows the session, or None.
    push : callable
        Sends changes to a notebook; see `Mailbox`.
    given : Dataset, optional
        Data to begin with; otherwise those of the first of `SOURCES`.

    Attributes
    ----------
    state : State
    sources : dict
        One object of every class in `SOURCES`, by its `key`.
    mailbox : Mailbox
    """

    def __init__(self, document=lambda: None, push=lambda: None, given=None):
        warmup.start()
        self.state = State()
        sources = ([] if given is None else [Given(given)]) + [source() for source in SOURCES]
        self.sources = {source.key: source for source in sources}
        self.state.param.source.objects = list(self.sources)
        self.state.source = sources[0].key
        self.mailbox = Mailbox(document, push)
        self._pipeline = Pipeline()
        self._jobs = []
        self._compute = self.latest(self._run, deliver=self._accept, fail=self._fail, report=self._report)
        self._load = self.latest(self._make, deliver=self._use, fail=self._refuse, report=self._report)
        self._requested = None
        self._settling = False
        self.state.param.watch(lambda *events: self._request(), list(State.CHOICES))
        self.state.param.watch(lambda event: self.start(), "source")
        for source in sources:
            if source.controls:
                source.param.watch(lambda *events, key=source.key: self._changed(key), list(source.controls))

    def latest(self, work, **callbacks):
        """A `Latest` job that ends with the session."""
        job = Latest(work, mailbox=self.mailbox, **callbacks)
        self._jobs.append(job)
        return job

    def start(self):
        """Load the data of the chosen source, in a thread. When that fails, the earlier data stay and the error is shown."""
        source = self.sources[self.state.source]
        loader = source.loader()
        if loader is not None:
            self._load.request((source, loader))

    def _changed(self, key):
        if key == self.state.source and not self._settling:
            self.start()

    def retry(self):
        """Compute again what the choices ask for."""
        self._requested = None
        self._request()

    def cancel(self):
        """Stop what is under way; the last results stay."""
        for job in (self._load, self._compute):
            job.cancel()
        self._requested = None
        if self.state.stage is not None:
            self.state.stage = "stopping"

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
        _, loader = request
        progress("loading data", 0.0)
        return loader()

    def _use(self, request, dataset):
        self._settle(request)
        self.state.dataset = dataset

    def _refuse(self, request, error):
        self._settle(request)
        self._fail(request, error)

    def _settle(self, request):
        source, _ = request
        self._settling = True  # what the source now changes about itself is no wish to load again
        try:
            source.settle()
        finally:
            self._settling = False

    def _run(self, request, progress, publish):
        warmup.wait(progress)
        return self._pipeline.run(request, progress, publish)

    def _accept(self, request, result):
        if request.dataset is self.state.dataset:
            self.state.accept(result)

    def _fail(self, request, error):
        if self.state.dataset is not None:
            self.state.show()
        self.state.error = explain(error)

    def _report(self, stage, fraction):
        if stage is None and (self._load.busy or self._compute.busy):
            return  # one of the two has nothing more to do, but the other has
        if stage is not None and self.state.dataset is not None:
            self.state.show()  # this takes a while: the points need not wait for their clusters
        self.state.param.update(stage=stage, fraction=fraction)


def explain(error):
    """The sentence that the user reads for an exception: its own, when it is one about what was passed in."""
    if isinstance(error, (ValueError, TypeError, MemoryError)) and str(error):
        return str(error)
    return f"{type(error).__name__}: {error}"
