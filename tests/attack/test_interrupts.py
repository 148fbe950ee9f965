"""Interrupt computations at each of their reports; `tests/runtime/interrupts.py` does it by
signals.
"""

import kdegraph
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

FEWER = settings(max_examples=max(1, settings.default.max_examples // 10))
X = np.random.default_rng(0).normal(size=(300, 2))
WIDE = np.random.default_rng(0).normal(size=(300, 20))
GRAPH = kdegraph.similarity_graph(X, sigma=0.3, n_rounds=5, seed=0)
MODEL = kdegraph.KDESpectralClustering(3, sigma=0.3, n_rounds=5, random_state=0)
CALLS = {
    "near": lambda p: kdegraph.similarity_graph(X, sampler="near", seed=0, progress=p).adjacency,
    "rejection": lambda p: (
        kdegraph.similarity_graph(X, sigma=0.3, sampler="rejection", seed=0, progress=p).adjacency
    ),
    "recursive": lambda p: (
        kdegraph.similarity_graph(
            X, sigma=0.3, n_rounds=5, sampler="recursive", seed=0, progress=p
        ).adjacency
    ),
    "mixture": lambda p: (
        kdegraph.similarity_graph(WIDE, sampler="mixture", seed=0, progress=p).adjacency
    ),
    "full_graph": lambda p: kdegraph.full_graph(X, sigma=0.05, progress=p),
    "knn_graph": lambda p: kdegraph.knn_graph(X, 5, progress=p),
    "spectrum": lambda p: kdegraph.spectrum(GRAPH, 5, progress=p).eigenvectors,
    "spectral_clustering": lambda p: kdegraph.spectral_clustering(GRAPH, 3, progress=p).labels,
    "graph_layout": lambda p: kdegraph.graph_layout(GRAPH, progress=p),
    "fit": lambda p: MODEL.fit(X, progress=p).labels_,
}


class Unique(Exception):
    """An error that no library raises."""


@pytest.mark.parametrize("name", CALLS)
def test_an_error_of_a_report_arrives_and_later_calls_are_right(name):
    call = CALLS[name]
    expected = oracle.dense(call(None))

    @FEWER
    @given(last=st.integers(1, 60), kind=st.sampled_from([kdegraph.Cancelled, Unique, SystemExit]))
    def check(last, kind):
        reports = []

        def progress(stage, fraction):
            reports.append((stage, fraction))
            if len(reports) == last:
                raise kind("enough")

        try:
            call(progress)
        except kind:
            assert len(reports) == last
        else:
            assert len(reports) < last
        np.testing.assert_array_equal(oracle.dense(call(None)), expected)

    check()
