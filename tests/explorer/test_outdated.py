"""Results are dimmed while they are older than what was asked for."""

import threading

import kdegraph_explorer.pipeline as pipeline
import pytest
from explorer_actions import PATIENCE, choose, put, until
from kdegraph import datasets

MOONS, BLOBS = (datasets.make(name, n=300, seed=0) for name in ("moons", "blobs"))


@pytest.fixture
def gate(hold):
    """An event; graphs are built while it is set."""
    gate = hold()
    gate.set()
    return gate


@pytest.fixture
def session(sessions):
    session = sessions(given=MOONS)
    choose(session, sigma=0.2)
    return session


def test_from_a_choice_to_its_result(session, gate):
    state = session.state
    assert not state.outdated
    for value in (0.3, 0.4):
        gate.clear()
        state.choose(sigma=value)
        assert state.outdated  # at once
        until(session, lambda: state.stage is not None)
        assert state.outdated
        gate.set()
        session.wait(PATIENCE)
        assert state.result.request.sigma == value
        assert not state.outdated


def test_what_is_shown_again_is_not_outdated(session, gate):
    gate.clear()
    session.state.choose(sigma=0.3)
    assert session.state.outdated
    session.state.choose(sigma=0.2)
    assert not session.state.outdated


def test_until_the_work_is_cancelled_or_fails(session, gate, monkeypatch):
    gate.clear()
    session.state.choose(sigma=0.3)
    session.cancel()
    session.wait(PATIENCE)
    assert not session.state.outdated
    monkeypatch.setattr(pipeline, "similarity_graph", lambda *_, **__: gate.wait(PATIENCE) / 0)
    session.state.choose(sigma=0.4)
    assert session.state.outdated
    gate.set()
    session.wait(PATIENCE)
    assert session.state.error
    assert not session.state.outdated


def test_of_other_data_only_the_old_picture_is_outdated(session, gate, monkeypatch):
    source, go_on = session.sources["contrast"], threading.Event()
    monkeypatch.setattr(source, "loader", lambda: lambda: go_on.wait(PATIENCE) and BLOBS)
    gate.clear()
    session.state.source = "contrast"
    assert session.state.outdated
    go_on.set()
    until(session, lambda: session.state.shown is BLOBS)
    assert not session.state.outdated  # the points are new, and nothing else is shown
    gate.set()
    session.wait(PATIENCE)
    assert not session.state.outdated


def test_neither_a_first_look_nor_further_methods_make_results_outdated(session, gate, monkeypatch):
    state = session.state
    put(session, extra_methods=("full",))
    state.extra_methods = ()
    assert not state.outdated
    state.choose(n_clusters=4)
    assert state.outdated
    session.wait(PATIENCE)
    monkeypatch.setattr(pipeline, "MANY_DRAWS", 1000)
    seen = []
    state.param.watch(lambda event: seen.append((event.new.coarse, state.outdated)), "result")
    choose(session, sigma=0.3, n_rounds=30)
    assert seen[0] == (True, False)
    assert not state.outdated
