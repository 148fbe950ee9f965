"""Stale work of the explorer stops wherever it is, and what was stopped leaves no trace in the next
result.
"""

import threading
from collections import Counter

import kdegraph_explorer.pipeline as pipeline
import numpy as np
import pytest
from explorer_actions import (
    PATIENCE,
    TABLE,
    choose,
    computed,
    give_file,
    settle,
    silent,
    undo,
    until,
)
from explorer_objects import alert
from kdegraph import Cancelled, datasets
from kdegraph_explorer import address
from kdegraph_explorer.history import take
from kdegraph_explorer.pipeline import Pipeline
from kdegraph_explorer.results import Request
from kdegraph_explorer.sources import upload
from kdegraph_explorer.uploads import StoredFile


def stop_at(number):
    """A progress callback that raises `Cancelled` at the check of that number, counted from 0."""
    count = 0

    def progress(stage, fraction):
        nonlocal count
        count += 1
        if count > number:
            raise Cancelled

    return progress


def test_stopped_anywhere_the_next_result_is_that_of_a_fresh_start(monkeypatch):
    monkeypatch.setattr(pipeline, "MANY_DRAWS", 1000)
    dataset = datasets.make("moons", n=1500, seed=0)
    first, second = (Request(dataset, sigma=sigma, n_rounds=20) for sigma in (0.1, 0.12))
    fresh, published = computed(second), []
    for number in (0, 1, 2, 3, 5, 8, 11, 14, 18, 22):
        pipe = Pipeline()
        published.clear()
        with pytest.raises(Cancelled):
            pipe.run(first, stop_at(number), lambda result, **how: published.append(result))
        assert all(result.request is first for result in published)
        found = pipe.run(second, silent, silent)
        assert found.request is second
        for method, outcome in fresh.outcomes.items():
            other = found.outcomes[method]
            assert (other.adjacency != outcome.adjacency).nnz == 0
            np.testing.assert_array_equal(other.spectrum.eigenvalues, outcome.spectrum.eigenvalues)
            np.testing.assert_array_equal(other.labels, outcome.labels)


@pytest.mark.slow
def test_all_stages_of_many_points_ask_whether_they_are_wanted():
    """Those that go over all points ask while they work."""
    request = Request(datasets.make("moons", n=100_000, seed=0), sigma=0.1, n_rounds=30)
    checks = Counter()
    Pipeline().run(request, lambda stage, fraction: checks.update([stage]), silent)
    long = "tree|kernel degrees|samples|graph|components|eigenvectors|nearest neighbors"
    found = {stage: n for stage, n in checks.items() if stage.endswith(tuple(long.split("|")))}
    assert len(found) > 10
    assert min(found.values()) > 2


# ---- after Cancel, the last result is there, and a way on

MOONS, BLOBS = (datasets.make(name, n=300, seed=0) for name in ("moons", "blobs"))


def test_after_cancel_the_last_result_is_shown_and_can_be_left_again(explore, hold):
    go_on = hold(when=lambda X, **options: X is not MOONS.X)
    explorer = explore(MOONS.X)
    session, state = explorer.session, explorer.session.state
    session.cancel()  # There is nothing to cancel.
    assert not alert(explorer, "kg-stopped")
    state.dataset = BLOBS
    until(session, lambda: state.shown is BLOBS)  # before its graph, which takes long
    assert not alert(explorer, "kg-stopped")
    session.cancel()
    settle(explorer)
    assert state.shown is not BLOBS
    assert state.outcome("kde") is not None
    assert alert(explorer, "kg-stopped") == "Cancelled. What is shown is the last result."
    go_on.set()
    session.retry()
    settle(explorer)
    assert state.shown is BLOBS
    assert state.outcome("kde") is not None
    assert not alert(explorer, "kg-stopped")


# ---- Cancel returns wholly to the last state


def everything(session):
    """All that must speak of the same points."""
    state, table = session.state, session.sources["upload"]
    outcome, has_table = state.outcome("kde"), state.source == table.key
    return {
        "choices": take(session),
        "address": address.query(session, take(session)),
        "columns": [found.name for found in table.facts if has_table],
        "features": table.columns if has_table else [],
        "name": state.shown.name,
        "dataset": state.dataset.X.tolist(),
        "shown": state.shown is state.dataset,
        "clusters": outcome.labels.tolist(),
        "result": state.result.request == state.request(),
    }


OTHER = b"long,short\n" + b"".join(b"%d,%d\n" % (i % 9, i // 9) for i in range(60))


@pytest.mark.parametrize("stage", ["loading", "computing"])
@pytest.mark.parametrize("before", ["generated", "file"])
def test_cancel_returns_to_the_last_state(sessions, hold, monkeypatch, stage, before):
    go_on = threading.Event()
    is_other = {"loading": lambda X, **options: False, "computing": lambda X, **o: len(X) == 60}
    go_on_computing = hold(when=is_other[stage])
    read = upload.read

    def slow(file):
        found = read(file)
        assert stage != "loading" or file.name != "other.csv" or go_on.wait(PATIENCE)
        return found

    monkeypatch.setattr(upload, "read", slow)
    session = sessions(bandwidth="one")  # what the library would decide is not held
    if before == "file":
        table = give_file(session, TABLE, "zoo.csv")
        table.columns = ["width", "weight"]
        session.wait(PATIENCE)
    choose(session, selection=np.array([1, 3]))
    old = everything(session)
    session.state.source = "upload"
    session.history.end_step()
    session.sources["upload"].file = StoredFile.of("other.csv", OTHER)
    if stage == "computing":
        until(session, lambda: session.state.shown.n_points == 60)
    session.cancel()
    go_on.set()
    session.wait(PATIENCE)
    assert everything(session) == old
    assert session.state.stopped
    go_on_computing.set()
    session.retry()  # “Compute again”
    session.wait(PATIENCE)
    assert not session.state.stopped
    new = everything(session)
    assert (new["name"], new["columns"]) == ("other.csv", ["long", "short"])
    assert new["shown"]
    assert new["result"]
    undo(session)
    if before == "generated":
        undo(session)  # to the step before “File”
    assert everything(session) == old


def test_undo_that_is_cancelled_leaves_the_later_state(sessions, hold):
    go_on = hold(when=lambda X, **options: len(X) == 60)
    go_on.set()
    session = sessions(bandwidth="one")
    give_file(session, OTHER, "other.csv")
    session.history.end_step()
    give_file(session, TABLE, "zoo.csv")
    choose(session, n_rounds=12)
    undo(session)
    old = everything(session)
    go_on.clear()
    session.history.undo()
    until(session, lambda: session.state.shown.n_points == 60)
    session.cancel()
    session.wait(PATIENCE)
    assert everything(session) == old
    assert session.state.stopped
    go_on.set()
    session.retry()
    session.wait(PATIENCE)
    assert everything(session)["name"] == "other.csv"
    assert session.history.can_redo
