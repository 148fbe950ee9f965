"""Responsive functions report in the calling thread, and leave at once when cancelled."""

import threading

import kdegraph
import numpy as np
import pytest
from kdegraph.runtime.progress import responsive


@responsive
def answer(question, *, fail=False, progress=None):
    """Reports two stages, may fail."""
    for stage in ("thinking", "writing"):
        if progress:
            progress(stage, 0.0)
            progress(stage, 1.0)
    if fail:
        raise ValueError(question)
    return question, np.geterr()["over"]


@pytest.mark.parametrize(
    "progress", [None, lambda stage, fraction: None], ids=["silent", "progress"]
)
def test_responsive_functions_return_and_raise(progress):
    with np.errstate(over="raise"):
        assert answer("what", progress=progress) == ("what", "raise")
    with pytest.raises(ValueError, match="why"):
        answer("why", fail=True, progress=progress)
    assert answer.__doc__ == "Reports two stages, may fail."


def test_cancelling_waits_for_nothing():
    """The work cannot be interrupted until the cancelled caller has left."""
    left, ended = threading.Event(), threading.Event()
    asked, reported = [], []

    @responsive
    def work(*, progress):
        progress("first", 0.5)
        assert left.wait(60)
        try:
            progress("second", 0.0)
            reported.append("second")
        finally:
            ended.set()

    def progress(stage, fraction):
        asked.append((stage, fraction))
        if len(asked) == 5:  # the last report is repeated while nothing new comes
            raise kdegraph.Cancelled("enough")

    with pytest.raises(kdegraph.Cancelled, match="enough"):
        work(progress=progress)
    assert asked[-3:] == [("first", 0.5)] * 3
    left.set()
    assert ended.wait(60)
    assert not reported  # the work has ended at its next report
    assert len(asked) == 5


def test_a_nested_function_runs_in_the_thread_of_the_outer_one():
    """The caller of the outermost function can leave already, so one thread is enough."""
    workers, callers = [], []

    @responsive
    def inner(*, progress):
        workers.append(threading.get_ident())
        progress("inner", 0.5)
        return "inner"

    @responsive
    def outer(*, progress):
        workers.append(threading.get_ident())
        return inner(progress=progress)

    assert outer(progress=lambda *call: callers.append((threading.get_ident(), *call))) == "inner"
    assert len(workers) == 2
    assert len(set(workers)) == 1
    assert threading.get_ident() not in workers
    assert callers[0] == (threading.get_ident(), "inner", 0.5)


def test_a_callback_may_call_a_responsive_function():
    """It gets a thread of its own, as the calling thread does no work."""
    workers = set()

    @responsive
    def work(*, progress):
        workers.add(threading.get_ident())
        progress("work", 1.0)

    answer("what", progress=lambda stage, fraction: work(progress=lambda *call: None))
    assert threading.get_ident() not in workers
    assert workers
