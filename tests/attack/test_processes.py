"""Attack workers of joblib: threads, processes that are spawned, and forks; and processes that
share a cache folder.
"""

import contextlib
import os
from concurrent.futures import ThreadPoolExecutor

import kdegraph
import numpy as np
import programs
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


NEIGHBORS = """
import numpy as np
from kdegraph import knn_graph
print(knn_graph(np.random.default_rng(0).normal(size=(300, 2)), 3).indices.tolist())
"""


@pytest.mark.skipif("KDEGRAPH_ATTACK" not in os.environ, reason="only in the long attack")
@pytest.mark.timeout(1800)
def test_eight_processes_that_start_at_once_fill_a_cache_folder(tmp_path):
    def run(_):
        done = programs.run(NEIGHBORS, timeout=1780, KDEGRAPH_CACHE_DIR=str(tmp_path))
        return done.stdout, done.stderr

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(run, range(8)))
    files = sorted(tmp_path.rglob("*"))
    assert {out for out, _ in found} == {run(0)[0]}
    assert run(0)[1] == ""  # nothing is compiled again
    assert sorted(tmp_path.rglob("*")) == files
