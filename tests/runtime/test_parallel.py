"""Threads, progress and cancelling: every item once, errors and exceptions out, several callers at
once, after a fork.
"""

import os
import subprocess
import sys
import threading
import time

import kdegraph
import numpy as np
import pytest
from kdegraph.runtime import parallel
from threadpoolctl import threadpool_info, threadpool_limits


@pytest.fixture(params=[1, 2, 4], autouse=True)
def threads(request):
    before = parallel._n_threads
    kdegraph.set_num_threads(request.param)
    yield request.param
    kdegraph.set_num_threads(before)


def add_one(start, stop, counts):
    counts[start:stop] += 1


@pytest.mark.nojit
@pytest.mark.parametrize("progress", [None, lambda fraction: None], ids=["silent", "progress"])
@pytest.mark.parametrize("chunk", [None, 1, 3, 100, 10**6])
@pytest.mark.parametrize("n_items", [0, 1, 2, 7, 100, 1001])
def test_every_item_once(n_items, chunk, progress):
    counts = np.zeros(n_items + 5, int)
    parallel.run(add_one, n_items, counts, chunk=chunk, progress=progress)
    assert (counts[:n_items] == 1).all()
    assert (counts[n_items:] == 0).all()


def test_work_is_spread(threads):
    seen, together = set(), threading.Barrier(threads)

    def kernel(start, stop):
        seen.add(threading.get_ident())
        if start == 0:
            time.sleep(0.01)  # so that it is worth waking them
        elif start <= threads:
            together.wait(timeout=20)  # passes only when all threads are at work at once

    parallel.run(kernel, 50, chunk=1, progress=lambda fraction: None)
    assert len(seen) == threads


def test_exceptions_of_kernels_reach_the_caller():
    calls = []

    def kernel(start, stop):
        calls.append(start)
        if start == 3:
            raise RuntimeError("number three")

    for progress in (None, lambda fraction: None):
        with pytest.raises(RuntimeError, match="number three"):
            parallel.run(kernel, 100_000, chunk=1, progress=progress)
    assert len(calls) < 100_000  # the rest was given up
    counts = np.zeros(10, int)
    parallel.run(add_one, 10, counts)
    assert (counts == 1).all()


def test_exceptions_of_progress_stop_the_work():
    running, finished = [], []

    def kernel(start, stop):
        running.append(start)
        time.sleep(0.005)
        finished.append(start)

    def progress(fraction):
        raise kdegraph.Cancelled

    with pytest.raises(kdegraph.Cancelled):
        parallel.run(kernel, 2000, chunk=1, progress=progress)
    assert len(running) == len(finished) < 1000  # nothing still runs
    time.sleep(0.05)
    assert len(running) == len(finished)


def test_progress_increases_to_one():
    fractions = []
    parallel.run(lambda start, stop: time.sleep(1e-4), 3000, chunk=7, progress=fractions.append)
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def test_progress_is_called_in_the_calling_thread():
    callers = set()
    parallel.run(
        lambda start, stop: None,
        64,
        chunk=1,
        progress=lambda fraction: callers.add(threading.get_ident()),
    )
    assert callers == {threading.get_ident()}


@pytest.mark.nojit
@pytest.mark.parametrize(
    "costs", [[1e-9] * 4, [1e-6] * 4, [1e-3] * 4, [1.0] * 4, [1e-7, 1e-5, 1e-3, 1e-6]]
)
def test_ranges_take_as_long_as_they_should(costs, threads):
    """Items of known cost: few calls where they are cheap, short ones where they are dear, none
    left out.
    """
    ranges = parallel._Ranges(20_000, None, threads)
    ranges.share()
    expected, calls = 0, []
    while found := ranges.take():
        start, stop = found
        assert start == expected < stop
        expected = stop
        seconds = sum(costs[item * 4 // 20_000] for item in range(start, stop))
        calls.append((stop - start, seconds, costs[start * 4 // 20_000]))
        ranges.finish(start, stop, seconds)
    assert expected == ranges.done == 20_000
    assert sum(seconds > max(1.5 * parallel.GRAIN, cost) for _, seconds, cost in calls) <= 2 * len(
        set(costs)
    )
    assert (
        len(calls) <= 60 + 2 * sum(costs) * 5000 / parallel.GRAIN or min(costs) > parallel.GRAIN / 2
    )


@pytest.mark.parametrize("progress", [None, lambda fraction: None], ids=["silent", "progress"])
def test_what_is_soon_done_wakes_no_thread(progress, monkeypatch):
    monkeypatch.setattr(parallel, "SOON", 1000.0)
    monkeypatch.setattr(
        parallel, "SOON_AWAKE", 1000.0
    )  # so that 200 short calls are soon done, however busy the machine is
    callers = set()
    parallel.run(lambda start, stop: callers.add(threading.get_ident()), 200, progress=progress)
    assert callers == {threading.get_ident()}


@parallel.responsive
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


def test_responsive_functions_report_everything_in_the_calling_thread():
    calls = []
    answer("what", progress=lambda *call: calls.append((threading.get_ident(), *call)))
    me = threading.get_ident()
    assert calls == [
        (me, "thinking", 0.0),
        (me, "thinking", 1.0),
        (me, "writing", 0.0),
        (me, "writing", 1.0),
    ]


def test_cancelling_waits_for_nothing():
    """However long a piece of work takes that cannot be interrupted: here, until the cancelled
    caller has left.
    """
    left, ended = threading.Event(), threading.Event()
    asked, reported = [], []

    @parallel.responsive
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


def test_many_callers_at_once():
    results, errors = {}, []

    def caller(k):
        try:
            counts = np.zeros(500, int)
            for _ in range(20):
                parallel.run(
                    add_one,
                    500,
                    counts,
                    chunk=13,
                    progress=(lambda fraction: None) if k % 2 else None,
                )
            results[k] = counts
        except BaseException as error:
            errors.append(error)

    callers = [threading.Thread(target=caller, args=(k,)) for k in range(8)]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join(60)
    assert not errors
    assert all((results[k] == 20).all() for k in range(8))


def test_number_of_threads_may_change_during_work():
    stop = threading.Event()

    def change():
        k = 0
        while not stop.is_set():
            kdegraph.set_num_threads(1 + k % 4)
            k += 1

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(40):
            counts = np.zeros(200, int)
            parallel.run(add_one, 200, counts, chunk=3, progress=lambda fraction: None)
            assert (counts == 1).all()
    finally:
        stop.set()
        thread.join()


def test_progress_may_compute():
    """A callback that uses the library itself (the explorer draws while it waits)."""
    results = []

    def progress(fraction):
        counts = np.zeros(50, int)
        parallel.run(add_one, 50, counts, chunk=1)
        results.append((counts == 1).all())

    parallel.run(lambda start, stop: time.sleep(0.01), 8, chunk=1, progress=progress)
    assert results
    assert all(results)


def test_one_blas_thread_for_small_matrices_and_then_as_before():
    def blas():
        return [
            library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
        ]

    with threadpool_limits(3, user_api="blas"):
        before = blas()
        with parallel.blas_threads(500), parallel.blas_threads(10):
            assert set(blas()) == {1}
        with parallel.blas_threads(5000):
            assert blas() == before
        assert blas() == before


def test_stages():
    calls = []
    stages = parallel.Stages(lambda stage, fraction: calls.append((stage, fraction)))
    stages.enter("a")
    stages.report(0.5)
    stages.enter("b")
    stages.enter("a")
    stages.leave()
    stages.leave()
    assert calls == [("a", 0.0), ("a", 0.5), ("b", 0.0), ("a", 0.0)]
    assert set(stages.timings) == {"a", "b"}
    assert stages.fraction is not None
    stages.enter("c")
    stages.report(0.7)
    stages.report(0.2)
    assert calls[-2:] == [("c", 0.7), ("c", 0.7)]
    assert parallel.Stages().fraction is None


@pytest.mark.parametrize(
    ("value", "kind"),
    [(0, ValueError), (-1, ValueError), (1.5, ValueError), ("2", TypeError), (True, TypeError)],
)
def test_bad_numbers_of_threads(value, kind, threads):
    with pytest.raises(kind, match="n must be a whole number >= 1"):
        kdegraph.set_num_threads(value)
    assert kdegraph.get_num_threads() == threads


def test_default_number_of_threads(monkeypatch):
    kdegraph.set_num_threads(None)
    monkeypatch.delenv("KDEGRAPH_NUM_THREADS", raising=False)
    assert kdegraph.get_num_threads() == (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    )
    monkeypatch.setenv("KDEGRAPH_NUM_THREADS", "3")
    assert kdegraph.get_num_threads() == 3
    for bad in ("0", "many", "1.5"):
        monkeypatch.setenv("KDEGRAPH_NUM_THREADS", bad)
        with pytest.raises(
            (ValueError, TypeError), match=r"KDEGRAPH_NUM_THREADS must be a whole number >= 1, got"
        ):
            kdegraph.get_num_threads()


FORK = """
import multiprocessing, sys, threading, warnings
import numpy as np
import kdegraph

X = np.random.default_rng(0).normal(size=(3000, 2))

def work(seed):
    return kdegraph.similarity_graph(X, sigma=0.3, n_rounds=10, seed=seed, progress=lambda stage, fraction: None).neighbors

if __name__ == "__main__":
    kdegraph.set_num_threads(int(sys.argv[1]))
    expected = [work(seed) for seed in range(4)]  # starts the threads and compiles
    stop = threading.Event()
    def busy():
        while not stop.is_set():
            work(9)
    thread = threading.Thread(target=busy)  # the fork finds the pool at work
    thread.start()
    # Python 3.12 warns of forks beside threads: that is the point.
    warnings.simplefilter("ignore", DeprecationWarning)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        got = pool.map_async(work, range(4)).get(timeout=100)
    stop.set()
    thread.join()
    assert all(np.array_equal(a, b) for a, b in zip(got, expected))
    assert np.array_equal(work(3), expected[3])
    print("right")
"""


def test_after_a_fork(threads, tmp_path):
    if not hasattr(os, "fork") or threads == 4:
        pytest.skip("no fork here, or enough said")
    script = tmp_path / "fork.py"
    script.write_text(FORK)
    run = subprocess.run(
        [sys.executable, "-W", "error", str(script), str(threads)],
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "right"
