"""Deadlines, and memory that is refused before it is taken."""

import time

import kdegraph
import numpy as np
import programs
import pytest
from kdegraph import datasets
from peak_memory import MEASURE, skip_unless_reported

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


def test_a_deadline_ends_the_reading_of_a_file_that_takes_too_long():
    class Slow:
        def read(self, size):
            time.sleep(20)
            return b"x,y\n0,1\n"

    for function in (datasets.read, datasets.load):
        start = time.monotonic()
        with pytest.raises(TimeoutError, match=r"the deadline of 0\.2 s passed in the stage 'read"):
            function(Slow(), filename="t.csv", progress=kdegraph.Deadline(0.2))
        assert time.monotonic() - start < 10
    found = datasets.load(b"x,y\n0,1\n", filename="t.csv", progress=kdegraph.Deadline(600))
    np.testing.assert_array_equal(found.X, [[0, 1]])


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
        lambda: kdegraph.KDESpectralClustering(2, n_rounds=2**20).fit(np.tile(X, (3, 1))),
    ],
)
def test_what_does_not_fit_into_memory_is_refused_with_the_figure(call, monkeypatch):
    monkeypatch.setattr("kdegraph.runtime.memory.available_memory", lambda: 2**33)
    with pytest.raises(
        MemoryError, match=r"needs? about .* [GT]iB, and 8\.0 GiB are available; use"
    ):
        call()


# The points or the graph of each function whose memory is measured, and a call of it.
MEASURED = {
    "graph": ("X", "similarity_graph(X, sigma=0.1, n_rounds=30, seed=0)"),
    "spectrum": ("GRAPH", "spectrum(X, 20)"),
    "full graph": ("X[:5000]", "full_graph(X, sigma=1.0, max_bytes=int(limit))"),
    "sparse full graph": ("X", "full_graph(X, sigma=2e-3, max_bytes=int(limit))"),
    "consensus": ("X[:20_000]", "KDESpectralClustering(3, random_state=0).fit(X)"),
    "layouts": (
        "X.reshape(10_000, 10)[:5000]",
        "KDESpectralClustering(3, perplexity=20, random_state=0).fit(X)",
    ),
    "image": ("IMAGE", "datasets.image_points(X, max_pixels=None)"),
}
REFUSE = """
import os
import sys
import warnings
import numpy as np
from kdegraph import *
from kdegraph.runtime import memory as of_system

# Python 3.12 warns of forks beside threads: none of them is at work.
warnings.simplefilter("ignore", DeprecationWarning)
rng = np.random.default_rng(0)
X = rng.normal(size=(50_000, 2))
GRAPH = IMAGE = None
for points, code in zip(sys.argv[1::2], sys.argv[2::2]):
    if child := os.fork():
        assert os.waitpid(child, 0)[1] == 0, code
        continue
    limit = 2**40
    if "GRAPH" in points:
        few, GRAPH = (
            similarity_graph(Z, sigma=0.1, n_rounds=10, seed=0).adjacency for Z in (X[:2000], X)
        )
    elif "IMAGE" in points:
        IMAGE = (rng.random((700, 700, 3)) * 255).astype(np.uint8)
        few = IMAGE[:50, :50]
    else:
        few = eval(points)[:1000]
    call, X = eval("lambda X: " + code), eval(points)
    call(few)
    before = begin()
    call(X)
    needed, of_system.ALWAYS_AVAILABLE = taken(before), 0
    for limit in (needed / 2, 2 * needed):
        of_system.available_memory = lambda: limit
        try:
            call(X)
            print("done")
        except MemoryError as error:
            print("refused")
            assert "GiB" in str(error) or "MiB" in str(error), error
    sys.exit()
"""


@pytest.mark.slow
def test_memory_is_refused_within_a_factor_of_two_of_what_is_needed():
    skip_unless_reported()
    arguments = [text for pair in MEASURED.values() for text in pair]
    said = programs.run(MEASURE + REFUSE, *arguments).stdout
    assert said == len(MEASURED) * "refused\ndone\n"
