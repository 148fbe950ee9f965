"""Attack workers of joblib: threads, processes that are spawned, and forks."""

import contextlib

import kdegraph
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import Parallel, delayed

FEWER = settings(max_examples=max(1, settings.default.max_examples // 20))
X = np.random.default_rng(0).normal(size=(300, 2))
WORK = {
    "graph": lambda seed: kdegraph.similarity_graph(X, seed=seed).neighbors,
    "neighbors": lambda seed: kdegraph.knn_graph(X, 1 + seed % 9).indices,
    "labels": lambda seed: (
        kdegraph.spectral_clustering(
            kdegraph.similarity_graph(X, sigma=0.3, seed=seed), 3, seed=seed
        ).labels
    ),
    "cancelled": lambda seed: cancelled(seed),
}


def cancelled(seed):
    """A result after a computation that was cancelled in the same process."""

    def progress(stage, fraction):
        if fraction >= seed % 7 / 7:
            raise kdegraph.Cancelled

    with contextlib.suppress(kdegraph.Cancelled):
        kdegraph.similarity_graph(X, seed=seed, progress=progress)
    return kdegraph.similarity_graph(X, seed=seed).neighbors


def work(name, seed):
    return WORK[name](seed)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_of_joblib_have_the_results_of_one_process(backend):
    task = st.tuples(st.sampled_from(sorted(WORK)), st.integers(0, 99))

    @FEWER
    @given(st.lists(task, min_size=1, max_size=8))
    def check(tasks):
        found = Parallel(2, backend=backend)(delayed(work)(*task) for task in tasks)
        for one, task in zip(found, tasks, strict=True):
            np.testing.assert_array_equal(one, work(*task))

    check()
