"""Reports of stages and of parts of stages; notices."""

import pytest
from kdegraph.runtime.progress import (
    StageTimer,
    notices_shown_by,
    notify,
)


def test_a_timer_reports_its_stages():
    calls = []
    stages = StageTimer(lambda *call: calls.append(call))
    stages.enter("a")
    stages.progress(0.7)
    stages.progress(0.2)  # never falls within a stage
    stages.enter("b")
    stages.progress(0.1)
    stages.enter("a")
    stages.leave()
    stages.leave()
    reports = [("a", 0.0), ("a", 0.7), ("a", 0.7), ("b", 0.0), ("b", 0.1), ("a", 0.0)]
    assert calls == reports


def test_seconds_of_a_stage_add_up(monkeypatch):
    clock = iter([0.0, 1.0, 1.0, 3.0, 3.0, 7.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    stages = StageTimer()
    for stage in ("a", "b", "a"):
        stages.enter(stage)
    stages.leave()
    assert stages.timings == {"a": pytest.approx(5.0), "b": pytest.approx(2.0)}


def test_notices_are_shown_once_and_can_be_shown_elsewhere(capsys, monkeypatch):
    notify("one")
    notify("one")
    shown = []
    with notices_shown_by(shown.append):
        notify("one")
        notify("two")
    notify("three")
    assert shown == ["two"]
    assert capsys.readouterr() == ("", "one\nthree\n")
    monkeypatch.setattr("sys.stderr", None)
    notify("four")
