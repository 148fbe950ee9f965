"""Connect the state, the data sources and the jobs of one session, without widgets."""

import threading
from dataclasses import replace
from typing import NamedTuple

from kdegraph.automatic import count_clusters
from kdegraph.datasets import Dataset

from . import process
from .algorithm.judgement import Judge
from .algorithm.map import Cartographer
from .algorithm.neighborhood import TreeKeeper
from .algorithm.splitting import Splitter
from .during import During
from .edits import with_split
from .history import History, Snapshot, take
from .jobs import Latest, Mailbox, explain
from .limits import POINTS, check, in_time
from .pipeline import Pipeline
from .projection import axes, prepare
from .results import FIRST_LOOK, LOADING, ProgressRows, rows_of
from .sources import SOURCES
from .sources.given import Given
from .state import State
from .uploads import receive

DRAWING_PATIENCE = 0.5  # seconds that work waits at most until a first look is drawn
PAINTING_TIME = 0.1  # seconds that it then waits for the browser to paint it


class Shown(NamedTuple):
    """Hold data that have a result, and the choices that led to them, as `Snapshot.only_data`."""

    choices: tuple
    dataset: Dataset


class Session:
    """Recompute when a choice changes, and put results and errors into the state.

    ``document()`` returns the Bokeh document that shows the session, or None. A session begins with
    the `Dataset` `given`, or with the first of `SOURCES`.
    """

    def __init__(self, document=lambda: None, given=None):
        process.start()
        self.state = State()
        sources = ([] if given is None else [Given(given)]) + [source() for source in SOURCES]
        self.sources = {source.key: source for source in sources}
        self.state.param.source.objects = list(self.sources)
        # The source that the session begins with, and that an address without a source means.
        self.state.source = self.first = sources[0].key
        self.mailbox = Mailbox(document=document)
        self.tree_of = TreeKeeper()
        self._pipeline = Pipeline()
        self.jobs = []  # all `Latest` of the session and of its views
        self._own_thread = threading.get_ident()
        self._news = threading.Condition()  # notified when a job has begun or ended, or is to stop
        self._compute = self.latest(
            self._run, deliver=self._accept, fail=self._fail, report=self._report
        )
        self._load = self.latest(
            self._make, deliver=self._use, fail=self._refuse, report=self._report
        )
        self._upload = self.latest(
            receive,
            deliver=lambda incoming, act: act(),
            fail=lambda incoming, error: incoming.refuse(error),
            report=self._report,
            timed=False,  # a part that stands still ends it
        )
        self._main_jobs = (self._upload, self._load, self._compute)
        self._count = self.latest(_counted, deliver=self._use_count, fail=self._fail)
        self.origin = None  # the source of the present data, and what it recalled then
        self._requested = None
        self._settled = None  # the request of the last result that was complete
        self._stages = ProgressRows()
        self._waiting = []  # callbacks for the result of the present choices
        # The snapshot that is being restored, until its data are on the screen.
        self._restored = None
        self._undone = None  # the step of the history that was cancelled
        self._last = None  # the `Shown` of the last result, until the present data have one
        self._started = self._page_gone = False
        self.settling = During()  # the session or a source changes choices, which loads nothing
        self._follow(sources)
        self.judge = Judge(self)
        self.splitter = Splitter(self)
        self.cartographer = Cartographer(self)
        self.history = History(self)
        self.dark = None  # whether the page is dark, once the browser has said so

    def _follow(self, sources):
        """Follow the choices of the user, of the state and of the sources."""
        self.state.param.watch(lambda *events: self._request(), [*State.REQUESTED, "extra_methods"])
        self.state.param.watch(lambda event: self._changed(event.new), "source")
        for source in sources:
            source.param.watch(
                lambda *events, key=source.key: self._changed(key, events), list(source.kept)
            )
        self.state.param.watch(lambda *events: self._update_busy(), ["result", "shown"])
        # With this precedence, after the views.
        self.state.param.watch(lambda event: self._look(), "shown", precedence=1)

    def latest(self, work, timed=True, **callbacks):
        """Return a `Latest` job that ends with the session; if `timed`, limit its seconds."""
        callbacks = {"fail": self._end_late, **callbacks}
        work = in_time(work, process.wait) if timed else work  # compiling does not count
        job = Latest(work, mailbox=self.mailbox, notify=self._notify, **callbacks)
        self.jobs.append(job)
        return job

    def open(self, file):
        """Explore the data in a file; before the start, begin with it."""
        self.sources["upload"].file = file
        self.state.source = "upload"
        if not self._started:
            self.first = "upload"

    def start(self):
        """Load the data of the chosen source, in a thread, now and whenever the choice changes.

        If that fails, the earlier data stay and the error is shown.
        """
        self._started = True
        self._restored = None
        self._load_from(self.sources[self.state.source])

    def _load_from(self, source, snapshot=None):
        loader = source.part_loader()
        if loader is not None:
            self.state.stopped, self._undone = False, None
            self._stages = ProgressRows("Data")
            self._load.request((source, loader, snapshot))

    def _changed(self, key, events=()):
        if self._started and not self.settling and key == self.state.source:
            self.sources[key].after([event.name for event in events])
            self.start()

    @property
    def _loaded(self):
        """Return the choices that led to the present data, as `Snapshot.only_data`; or None."""
        return None if self.origin is None else (self.origin[0].key, self.origin[1])

    @property
    def obstacle(self):
        """Return why nothing is under way as long as there is no result: what the user is to do, or
        that the work has ended without one. It is empty if a result is to be expected.
        """
        state, source = self.state, self.sources[self.state.source]
        if state.stage is None and (state.error or state.stopped):
            return "There is no result yet."
        if state.stage is None and state.dataset is None and source.loader() is None:
            return source.missing
        return ""

    @property
    def restoring(self):
        """Return whether choices are being restored, so that no change is the user's."""
        return self._restored is not None

    def restore(self, snapshot):
        """Restore the choices of a `Snapshot`, after loading other data if necessary."""
        source = self.sources[snapshot.source]
        other_data = self._loaded != snapshot.only_data
        self._restored, self._started = snapshot, True
        with self.settling:
            self.state.source = snapshot.source
            source.restore(snapshot.data)
        if (other_data or self.state.dataset is None) and source.loader() is not None:
            self._load_from(source, snapshot)
        else:
            self._load.cancel()
            self.state.param.update(**self._without_axes(snapshot))
            self._look()

    @staticmethod
    def _without_axes(snapshot):
        """Return the choices that can be restored before their points are there."""
        later = ("horizontal", "vertical", "cluster_names", "edits")
        return {name: value for name, value in snapshot.choices.items() if name not in later}

    def _look(self):
        """Restore axes, selection and names, once their points are on the screen."""
        snapshot, state = self._restored, self.state
        if snapshot is None or state.shown is None or state.shown is not state.dataset:
            return
        names = axes(state.shown)
        values = {
            name: snapshot.choices[name]
            for name in ("horizontal", "vertical")
            if snapshot.choices.get(name) in names
        }
        for name in ("cluster_names", "edits"):
            values[name] = snapshot.choices.get(name, [])
        if not len(snapshot.selection) or snapshot.selection[-1] < state.shown.n_points:
            values["selection"] = snapshot.selection
        if snapshot.view in state.param.view.objects:
            values["view"] = snapshot.view
        state.param.update(**values)
        self._restored = None
        self.history.arrive()

    def retry(self):
        """Compute again what the choices ask for; load again what was cancelled."""
        self._requested = None
        if self._undone is not None:
            self.history.go_to(self._undone)
        elif self.state.dataset is None or self._loaded not in (None, take(self).only_data):
            self.start()
        else:
            self._request()

    def count(self):
        """Choose the number of clusters that graphs made for counting show."""
        if self.state.dataset is not None:
            self._count.request(self.state.dataset)

    def _use_count(self, dataset, found):
        if dataset is self.state.dataset:
            most = self.state.param.n_clusters.bounds[1]
            self.state.counted = found
            self.state.choose(n_clusters=min(int(found), most))

    def leave_part(self):
        """Explore all points again, with the choices that were made for them.

        The clusters of the part become parts of the cluster that it was taken from.
        """
        now, outcome = take(self), self.state.outcome("kde")
        data = {**now.data, "part": ""}
        before = self.history.choices_of((now.source, data)) or now.choices
        choices = {name: now.choices[name] for name in now.choices.keys() - State.REQUESTED}
        choices |= {name: before[name] for name in before.keys() & State.REQUESTED}
        if outcome is not None and outcome.n_shown > 1 and self.state.shown is self.state.dataset:
            with self.state.refusing():
                rows = rows_of(self.state.shown)
                choices["edits"] = with_split(self.state.edits, outcome.colors, rows)
        self.history.go_on(Snapshot(now.source, data, choices, view=now.view))

    def reproduce(self, callback):
        """Call ``callback()`` on the session's thread once the present choices have a result.

        When the work fails or is cancelled, the callback is forgotten.
        """
        request = self.state.request()
        if request is not None:
            self._waiting.append(callback)
            self._compute.request(request)

    def _reproduced(self):
        """Call those who wait for the present result, as nothing is under way any more."""
        if not self._waiting:
            return
        if self.state.error != self.state.refusal:
            self._waiting.clear()
        elif self.state.result.request != self.state.request():
            # The choices have changed in the meantime.
            self._compute.request(self.state.request())
        else:
            waiting, self._waiting = self._waiting, []
            for callback in waiting:
                callback()

    def receive(self, incoming):
        """Receive an `IncomingFile`, unless a `cancel` or another file comes before its end."""
        self._stages = ProgressRows("File", "Data")
        self._upload.request(incoming, replace=True)

    def cancel(self):
        """Stop what is under way; the last results stay, with the choices that led to them."""
        self._waiting.clear()
        undone = self._load.busy or self._last is not None
        self.state.stopped = self._load.busy or self._compute.busy
        for job in (*self._main_jobs, self._count, self.splitter.job):
            job.cancel()
        self._requested = self._restored = None
        if self.state.stage is not None:
            self.state.stage = "stopping"
        self.state.show_last()
        if undone:
            self._return()

    def _return(self):
        """Return to the choices that led to the data that are shown."""
        position = self.history.position
        if self.history.return_to(self._loaded if self._last is None else self._last.choices):
            self.state.stopped, self._undone = True, position

    def close(self, page_gone=False):
        """Stop all jobs permanently; if its page is gone, nothing more is put into it."""
        self._page_gone = page_gone
        POINTS.hold(self, 0)
        for job in self.jobs:
            job.close()

    def wait(self, timeout=None):
        """Block until the result is that of the choices. Call it on the session's thread."""
        for job in self._main_jobs:
            job.wait(timeout)

    def _request(self):
        request = self.state.request()
        if request is None or request == self._requested:
            return
        if self._last is not None and request.dataset is self._last.dataset:
            self._last = None
            self._compute.cancel()
            if self.state.has_all(request):
                self._requested = request
                self.state.show()
                self._look()
                return
        if self._requested is not None:
            self.state.notice = ""
        other_data = self._requested is None or request.dataset is not self._requested.dataset
        if not other_data:
            self._stages = ProgressRows()
        self._requested, self.state.stopped = request, False
        self._compute.request(request, replace=other_data)

    def _make(self, request, progress, publish):
        _, loader, snapshot = request
        progress(LOADING, 0.0)
        dataset, last = loader(), self._last  # the source needs its columns again, if it has any
        if last is not None and snapshot is not None and snapshot.only_data == last.choices:
            dataset = last.dataset  # whose result is there
        check("points", dataset.n_points, "there are", "choose fewer points")
        POINTS.hold(self, dataset.n_points)
        prepare(dataset)
        return dataset

    def _use(self, request, dataset):
        source, _, snapshot = request
        with self.settling:
            source.settle()
        if self.state.outcome("kde") is not None and self.state.shown is self.state.dataset:
            self._last = Shown(self._loaded, self.state.shown)
        self.origin = (source, source.recall())
        restoring = snapshot is not None and snapshot is self._restored
        choices = self._without_axes(snapshot) if restoring else {}
        if not restoring and self.state.counted == self.state.n_clusters:
            choices = {"clusters_auto": True}  # the number was that of other points
        with self.settling:  # a sigma that was set for other points is forgotten
            in_part = self.origin[1]["part"] != ""
            self.state.param.update(dataset=dataset, in_part=in_part, refusal="", **choices)

    def _refuse(self, request, error):
        source, *_ = request
        with self.settling:
            source.settle()
        self._restored = None
        self.state.refusal = explain(error)
        self._fail(request, error)

    def _run(self, request, progress, publish):
        process.wait(progress)

        def show(result, enough=False):
            publish(result, enough)
            if enough:
                self._let_draw(progress)

        return self._pipeline.run(request, progress, show)

    def _let_draw(self, progress):
        """Wait, in the worker, until a first look is on the screen.

        The next computation would compete with the threads that draw it.
        """
        drawing = [job for job in self.jobs if job not in self._main_jobs]
        taken = threading.Event()

        def stop_if_stale():
            progress(f"{FIRST_LOOK}: scores", 1.0)

        def drawn():
            stop_if_stale()
            return taken.is_set() and not any(job.busy for job in drawing)

        self.mailbox.post(taken.set)  # after the result itself
        self.mailbox.post(self._notify)
        with self._news:
            self._news.wait_for(drawn, DRAWING_PATIENCE)
            # The predicate is never true; only an outdated request ends the wait sooner.
            self._news.wait_for(stop_if_stale, PAINTING_TIME)

    def _notify(self):
        with self._news:
            self._news.notify_all()
        if self._page_gone:
            return
        if threading.get_ident() == self._own_thread:
            self._update_busy()
        else:
            self.mailbox.post(self._update_busy)

    def _update_busy(self):
        if self.state.result is not None and not self._compute.busy:
            self._settled = self.state.result.request
        busy = any(job.busy for job in self.jobs)
        self.state.param.update(busy=busy, outdated=self._is_outdated())

    def _is_outdated(self):
        """Return whether what is shown is older than what was asked for last.

        A first look is not, nor is what more methods are added to.
        """
        asked, shown, settled = self._requested, self.state.result, self._settled
        if self.state.outcome("kde") is None:
            return False
        if self._upload.busy or self._load.busy:
            return True
        if asked is None or not self._compute.busy or (shown.coarse and shown.request == asked):
            return False
        return settled is None or replace(asked, extra_methods=settled.extra_methods) != settled

    def _accept(self, request, result):
        if request.dataset is self.state.dataset:
            self.state.accept(result)
            if self.state.outcome("kde") is not None:
                self._last = None

    def _fail(self, request, error):
        if isinstance(error, TimeoutError):
            self.state.show_last()
        elif self.state.dataset is not None:
            self.state.show()
        self.state.error = explain(error)

    def _end_late(self, request, error):
        """Say that a computation for a view took too long; other errors are faults of it."""
        if not isinstance(error, TimeoutError):
            raise error
        self.state.error = explain(error)

    def _report(self, stage, fraction):
        if stage is None and (self._load.busy or self._compute.busy):
            return  # one of the two has nothing more to do, but the other has
        if stage is not None and self.state.dataset is not None:
            self.state.show()  # this takes a while: the points need not wait for their clusters
        if stage is not None:
            self._stages.note(stage, fraction)
        self.state.param.update(
            stage=stage, fraction=fraction, stages=self._stages.rows() if stage is not None else ()
        )
        if stage is None:
            self.state.early = None  # if the work was stopped or failed, the last result stands
            self._reproduced()


def _counted(dataset, progress, publish):
    """Count the clusters of points, whatever graph is chosen for them."""
    process.wait(progress)
    return count_clusters(dataset.embedded, seed=0, progress=progress)
