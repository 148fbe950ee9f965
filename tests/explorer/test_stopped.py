"""After Cancel, the last result is there, and a way on."""

import threading

import kdegraph_explorer.pipeline as pipeline
import pytest
from explorer_objects import PATIENCE, settle
from kdegraph import datasets
from kdegraph_explorer.views.markup import Text

MOONS, BLOBS = (datasets.make(name, n=300, seed=0) for name in ("moons", "blobs"))


@pytest.fixture
def held(monkeypatch):
    """An explorer whose graphs of other points are not built before the event is set."""
    go_on, build = threading.Event(), pipeline.similarity_graph

    def slow(X, *, progress, **options):
        while X is not MOONS.X and not go_on.is_set():
            progress("samples", 0.5)
        return build(X, progress=progress, **options)

    monkeypatch.setattr(pipeline, "similarity_graph", slow)
    return go_on


def alert(explorer):
    """The alert of a cancelled computation: whether it is there, and what it says."""
    (frame,) = explorer.sections()[2].select(
        lambda p: "kg-stopped" in getattr(p, "css_classes", ())
    )
    (text,) = frame.select(Text)
    return frame.visible, text.content


def test_after_cancel_the_last_result_is_shown_and_can_be_left_again(explore, held):
    explorer = explore(MOONS.X)
    session, state = explorer.session, explorer.session.state
    state.dataset = BLOBS
    while state.shown is not BLOBS:  # it takes so long that the points are shown already
        session.mailbox.drain()
    assert not alert(explorer)[0]
    session.cancel()
    settle(explorer)
    assert state.shown is not BLOBS
    assert state.outcome("kde") is not None
    assert alert(explorer) == (True, "Cancelled. What is shown is the last result.")
    held.set()
    session.retry()
    settle(explorer)
    assert state.shown is BLOBS
    assert state.outcome("kde") is not None
    assert not alert(explorer)[0]


def test_loading_that_was_cancelled_is_loaded_again(sessions, monkeypatch):
    session = sessions()
    source, go_on = session.sources["contrast"], threading.Event()
    load = source.loader

    def slow():
        wanted = load()
        return lambda: go_on.wait(PATIENCE) and wanted()

    monkeypatch.setattr(source, "loader", slow)
    before = session.state.dataset
    session.state.source = "contrast"
    session.cancel()
    assert session.state.stopped
    go_on.set()
    session.wait(PATIENCE)
    assert session.state.dataset is before
    session.retry()
    session.wait(PATIENCE)
    assert session.state.dataset is not before
    assert not session.state.stopped


def test_nothing_is_said_when_there_was_nothing_to_cancel(explore):
    explorer = explore(MOONS.X)
    explorer.session.cancel()
    assert not alert(explorer)[0]
