"""Reports of stages and of parts of stages."""

import pytest
from kdegraph.runtime.progress import StageTimer, partial_progress, stage_progress


def test_parts_of_a_stage_are_scaled():
    calls = []
    report = stage_progress(lambda *call: calls.append(call), "samples")
    part = partial_progress(report, 0.5, 0.75)
    for fraction in (0.0, 0.5, 1.0):
        part(fraction)
    assert calls == [("samples", 0.5), ("samples", 0.625), ("samples", 0.75)]


def test_nobody_listens():
    assert stage_progress(None, "samples") is None
    assert partial_progress(None, 0.0, 1.0) is None
    assert StageTimer().progress is None


def test_a_timer_reports_its_stages():
    calls = []
    stages = StageTimer(lambda *call: calls.append(call))
    stages.enter("a")
    stages.progress(0.5)
    stages.enter("b")
    stages.enter("a")
    stages.leave()
    stages.leave()
    assert calls == [("a", 0.0), ("a", 0.5), ("b", 0.0), ("a", 0.0)]


def test_a_fraction_never_falls_within_a_stage():
    calls = []
    stages = StageTimer(lambda *call: calls.append(call))
    stages.enter("a")
    stages.progress(0.7)
    stages.progress(0.2)
    stages.enter("b")
    stages.progress(0.1)
    assert calls == [("a", 0.0), ("a", 0.7), ("a", 0.7), ("b", 0.0), ("b", 0.1)]


def test_seconds_of_a_stage_add_up(monkeypatch):
    clock = iter([0.0, 1.0, 1.0, 3.0, 3.0, 7.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    stages = StageTimer()
    for stage in ("a", "b", "a"):
        stages.enter(stage)
    stages.leave()
    assert stages.timings == {"a": pytest.approx(5.0), "b": pytest.approx(2.0)}
