"""Deadlines, and memory that is refused before it is taken."""

import time

import kdegraph
import numpy as np
import pytest

X = np.random.default_rng(0).normal(size=(2000, 2))


def test_a_deadline_ends_a_computation_and_passes_reports_on_before():
    reports = []
    deadline = kdegraph.Deadline(600, lambda *report: reports.append(report))
    expected = kdegraph.similarity_graph(X, seed=0)
    found = kdegraph.similarity_graph(X, seed=0, progress=deadline)
    np.testing.assert_array_equal(found.neighbors, expected.neighbors)
    assert reports[-1] == ("graph", 1.0)
    start = time.monotonic()
    many = np.random.default_rng(0).normal(size=(300_000, 2))
    with pytest.raises(TimeoutError, match=r"the deadline of 0\.2 s passed in the stage '\w"):
        kdegraph.similarity_graph(many, n_rounds=1000, seed=0, progress=kdegraph.Deadline(0.2))
    assert time.monotonic() - start < 20


@pytest.mark.parametrize(("seconds", "error"), [(0, ValueError), ("soon", TypeError)])
def test_a_deadline_is_a_positive_number(seconds, error):
    with pytest.raises(error, match="seconds must be"):
        kdegraph.Deadline(seconds)


@pytest.mark.parametrize(
    "call",
    [
        lambda: kdegraph.similarity_graph(X, n_rounds=2**20, seed=0),
        lambda: kdegraph.similarity_graph(X, n_rounds=2**20, sampler="mixture", seed=0),
        lambda: kdegraph.graph_layout(np.eye(12), 2**40),
    ],
)
def test_what_does_not_fit_into_memory_is_refused_with_the_figure(call, monkeypatch):
    monkeypatch.setattr("kdegraph.runtime.memory.available_memory", lambda: 2**33)
    with pytest.raises(
        MemoryError, match=r"needs? about .* [GT]iB, and 8\.0 GiB are available; use"
    ):
        call()
