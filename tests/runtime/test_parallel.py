"""Kernels on all threads: every item once, exceptions, several callers, forks."""

import contextvars
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import kdegraph
import numpy as np
import programs
import pytest
from kdegraph.runtime import parallel
from kdegraph.runtime import threads as threads_module
from promises import check_fractions

on_threads = pytest.mark.usefixtures("threads")


def add_one(start, stop, counts):
    counts[start:stop] += 1


def check_items(n_items, chunk=1, progress=None):
    """Check that a kernel gets every item once."""
    counts = np.zeros(n_items + 5, int)
    parallel.run(add_one, n_items, counts, chunk=chunk, progress=progress)
    assert (counts[:n_items] == 1).all()
    assert (counts[n_items:] == 0).all()


def silent(fraction):
    """A report of progress that nobody reads."""


@on_threads
@pytest.mark.nojit
def test_every_item_once():
    for n_items in (0, 1, 2, 100, 1001):
        for chunk in (None, 1, 3, 100, 10**6):
            for progress in (None, silent):
                check_items(n_items, chunk, progress)


def test_work_is_spread(threads):
    seen, together = set(), threading.Barrier(threads)

    def kernel(start, stop):
        seen.add(threading.get_ident())
        if start == 0:
            time.sleep(0.01)  # so that it is worth waking them
        elif start <= threads:
            together.wait(timeout=20)  # passes only when all threads are at work at once

    parallel.run(kernel, 50, chunk=1, progress=silent)
    assert len(seen) == threads


@on_threads
def test_exceptions_of_kernels_reach_the_caller():
    calls = []

    def kernel(start, stop):
        calls.append(start)
        if start == 3:
            raise RuntimeError("number three")

    for progress in (None, silent):
        with pytest.raises(RuntimeError, match="number three"):
            parallel.run(kernel, 100_000, chunk=1, progress=progress)
    assert len(calls) < 100_000  # the rest was given up
    check_items(10, chunk=None)


@on_threads
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


@on_threads
def test_progress_increases_to_one_in_the_calling_thread():
    fractions, callers = [], set()

    def progress(fraction):
        fractions.append(fraction)
        callers.add(threading.get_ident())

    parallel.run(lambda start, stop: time.sleep(1e-4), 3000, chunk=7, progress=progress)
    check_fractions(fractions)
    assert fractions[-1] == 1.0
    assert callers == {threading.get_ident()}


@pytest.mark.parametrize("progress", [None, silent])
def test_what_is_soon_done_wakes_no_thread(progress, monkeypatch):
    # However busy the machine is, 200 short calls are finished in less than 1000 seconds.
    monkeypatch.setattr(parallel, "WORTH_WAKING", 1000.0)
    callers = set()
    parallel.run(lambda start, stop: callers.add(threading.get_ident()), 200, progress=progress)
    assert callers == {threading.get_ident()}


@on_threads
def test_many_callers_at_once():
    together = threading.Barrier(8)

    def caller(k):
        together.wait(timeout=60)
        for _ in range(20):
            check_items(500, chunk=13, progress=silent if k % 2 else None)

    with ThreadPoolExecutor(8) as callers:
        list(callers.map(caller, range(8)))


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
            check_items(200, chunk=3, progress=silent)
    finally:
        stop.set()
        thread.join()


@on_threads
def test_progress_may_compute():
    """A callback may use the library itself: the explorer draws while it waits."""
    calls = []

    def progress(fraction):
        check_items(50)
        calls.append(fraction)

    parallel.run(lambda start, stop: time.sleep(0.01), 8, chunk=1, progress=progress)
    assert calls


FORK = """
import multiprocessing, sys, threading, warnings
import numpy as np
import kdegraph

X = np.random.default_rng(0).normal(size=(3000, 2))

def work(seed):
    options = dict(sigma=0.3, n_rounds=10, seed=seed, progress=lambda stage, fraction: None)
    return kdegraph.similarity_graph(X, **options).neighbors

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


def check_program(*program):
    """A program that prints "right" at its end, and nothing else."""
    run = programs.run(*program)
    assert run.stdout == "right\n"
    assert "Traceback" not in run.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.parametrize("n_threads", ["1", "2"])
def test_after_a_fork(n_threads, tmp_path):
    script = tmp_path / "fork.py"
    script.write_text(FORK)
    check_program(script, n_threads)


EXIT = """
import threading
import numpy as np
import kdegraph

X = np.random.default_rng(0).normal(size=(500, 2))

def work():
    return kdegraph.similarity_graph(X, sigma=0.3, n_rounds=10, seed=0)

def forever():
    while True:
        work()

kdegraph.set_num_threads(3)
work()
for _ in range(2):
    threading.Thread(target=forever, daemon=True).start()
work()
print("right")
"""


def test_a_process_ends_while_threads_are_at_work():
    check_program(EXIT)


def test_helpers_work_in_the_context_of_the_caller():
    """So that NumPy's error state, which is part of it, holds in all threads."""
    variable = contextvars.ContextVar("variable", default="none")
    seen, together = set(), threading.Barrier(2)

    def kernel(start, stop):
        if start < 2:
            together.wait(timeout=20)
        seen.add(variable.get())

    token = variable.set("the caller's")
    kdegraph.set_num_threads(2)
    try:
        parallel.run(kernel, 8, chunk=1)
    finally:
        variable.reset(token)
        kdegraph.set_num_threads(None)
    assert seen == {"the caller's"}


def test_helpers_that_are_busy_elsewhere_are_not_waited_for(monkeypatch):
    pool, leave = ThreadPoolExecutor(1), threading.Event()
    monkeypatch.setattr(threads_module, "_pool", pool)
    pool.submit(leave.wait, 60)
    try:
        check_items(100)  # ends though no helper has come
        assert not leave.is_set()
    finally:
        leave.set()
        pool.shutdown()
