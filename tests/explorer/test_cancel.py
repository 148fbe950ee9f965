"""Stale work of the explorer stops wherever it is, and what was stopped leaves no trace in the next
result.
"""

from collections import Counter

import kdegraph_explorer.pipeline as pipeline
import numpy as np
import pytest
from kdegraph import Cancelled, datasets
from kdegraph_explorer.pipeline import Pipeline
from kdegraph_explorer.results import ROWS, Request


def ignore(*args, **options):
    pass


def stop_at(number):
    """A progress callback that raises `Cancelled` at the check of that number, counted from 0."""
    count = 0

    def progress(stage, fraction):
        nonlocal count
        count += 1
        if count > number:
            raise Cancelled

    return progress


@pytest.fixture
def few_are_many(monkeypatch):
    monkeypatch.setattr(pipeline, "MANY_DRAWS", 1000)


@pytest.mark.parametrize("number", [0, 1, 2, 3, 5, 8, 11, 14, 18, 22])
def test_stopped_anywhere_the_next_result_is_that_of_a_fresh_start(few_are_many, number):
    dataset = datasets.make("moons", n=1500, seed=0)
    first, second = (Request(dataset, sigma=sigma, n_rounds=20) for sigma in (0.1, 0.12))
    pipe, published = Pipeline(), []
    with pytest.raises(Cancelled):
        pipe.run(first, stop_at(number), lambda result, enough=False: published.append(result))
    assert all(result.request is first for result in published)
    found, fresh = (run(second, ignore, ignore) for run in (pipe.run, Pipeline().run))
    assert found.request is second
    for method, outcome in fresh.outcomes.items():
        other = found.outcomes[method]
        assert (other.adjacency != outcome.adjacency).nnz == 0
        np.testing.assert_array_equal(other.spectrum.eigenvalues, outcome.spectrum.eigenvalues)
        np.testing.assert_array_equal(other.labels, outcome.labels)


@pytest.mark.slow
def test_all_stages_of_many_points_ask_whether_they_are_wanted():
    request, checks = (
        Request(datasets.make("moons", n=100_000, seed=0), sigma=0.1, n_rounds=30),
        Counter(),
    )
    Pipeline().run(request, lambda stage, fraction: checks.update([stage]), ignore)
    rows = {
        name: stages
        for name, stages in ROWS.items()
        if name in ("First look", "KDE graph", "k-NN graph")
    }
    bars = {(row, bar) for row, stages in rows.items() for bar in stages.values()}
    asked = {(row, ROWS[row][name]) for row, name in (stage.split(": ") for stage in checks)}
    assert asked == bars
    # Those that go over all points ask while they work, too.
    long = (
        "tree",
        "kernel degrees",
        "samples",
        "graph",
        "components",
        "eigenvectors",
        "nearest neighbors",
    )
    assert all(checks[stage] > 2 for stage in checks if stage.endswith(long))
