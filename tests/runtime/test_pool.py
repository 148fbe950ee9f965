"""The threads that help: they join a job while it is open, end when they are told to, and nobody
waits for those that never came.
"""

import subprocess
import sys
import threading
import time
import types

import numba
import numpy as np
import pytest
from kdegraph.runtime import pool as _pool

pytestmark = pytest.mark.nojit


@pytest.fixture
def pool():
    pool = _pool.Pool(3)
    yield pool
    pool.close(timeout=20)


def test_threads_join_and_the_caller_waits_for_them(pool):
    together, done = threading.Barrier(4), []

    def work():
        together.wait(timeout=20)
        time.sleep(0.01)
        done.append(threading.get_ident())

    for _ in range(5):
        job = _pool.Job(work)
        pool.post(job, 3)
        together.wait(timeout=20)
        assert not job.close()
        assert job.wait()
        assert len(done) == len(set(done)) == 3
        assert job.error is None
        done.clear()


def test_a_closed_job_is_not_joined(pool):
    done = []
    job = _pool.Job(lambda: done.append(1))
    assert job.close()
    pool.post(job, 3)
    last = threading.Event()
    pool.post(_pool.Job(last.set), 1)  # comes after the other
    assert last.wait(20)
    assert not done


def test_waiting_takes_no_longer_than_allowed(pool):
    begun, leave = threading.Event(), threading.Event()

    def work():
        begun.set()
        leave.wait(20)

    job = _pool.Job(work)
    pool.post(job, 1)
    assert begun.wait(20)
    assert not job.close()
    assert not job.wait(0.001)
    leave.set()
    assert job.wait(20)


def test_errors_are_kept(pool):
    def work():
        raise KeyError("lost")

    job = _pool.Job(work)
    pool.post(job, 1)
    while job.error is None:
        time.sleep(0.001)
    assert isinstance(job.error, KeyError)
    done = threading.Event()
    pool.post(_pool.Job(done.set), 1)
    assert done.wait(20)  # the thread lives on


def test_more_is_asked_for_than_there_is(pool):
    seen, done = set(), threading.Semaphore(0)

    def work():
        seen.add(threading.get_ident())
        done.release()

    pool.post(_pool.Job(work), 10)
    for _ in range(10):
        assert done.acquire(timeout=20)
    assert 1 <= len(seen) <= 3


def test_closing_ends_the_threads():
    pool = _pool.Pool(2)
    done = threading.Barrier(3)
    pool.post(_pool.Job(lambda: done.wait(20)), 2)
    threads = list(pool._threads)
    done.wait(20)
    pool.close()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    job = _pool.Job(lambda: None)
    pool.post(job, 2)  # nobody comes
    assert job.close()


needs_compiler = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="watching needs the compiler")


@needs_compiler
def test_watching_ends_when_the_counter_changes(monkeypatch):
    """A thread that watched for its whole time would take minutes with as many reads as here."""
    patient = {"_READS_WHILE_WATCHING": 10**13, "_read": _pool._read, "_READS_BEFORE_GIL": 1}
    watch = numba.njit(nogil=True)(
        types.FunctionType(_pool.watch.py_func.__code__, patient | {"range": range})
    )
    counter = np.zeros(1, np.int64)
    watch(counter, 1)  # compiles, and returns at once
    ended = threading.Event()
    thread = threading.Thread(target=lambda: (watch(counter, 0), ended.set()), daemon=True)
    thread.start()
    assert not ended.wait(0.1)
    counter[0] = 1
    assert ended.wait(20)


@needs_compiler
def test_watching_ends_by_itself():
    _pool.watch(np.zeros(1, np.int64), 0)


@needs_compiler
def test_a_thread_that_has_finished_is_awake_for_a_while(pool):
    """A call that comes soon after another finds a thread awake; later, all of them sleep.

    On a busy machine the watching thread may have ended before this one looks, so one of many
    attempts has to succeed.
    """

    def awake_after_a_job():
        done = threading.Event()
        pool.post(_pool.Job(done.set), 1)
        assert done.wait(20)
        return any(pool.awake for _ in range(1000))

    assert any(awake_after_a_job() for _ in range(1000))
    end = time.monotonic() + 20
    while pool.awake and time.monotonic() < end:
        time.sleep(0.001)
    assert not pool.awake


def test_jobs_that_follow_each_other_are_all_done(pool):
    ran = []
    for k in range(50):
        done = threading.Event()
        pool.post(_pool.Job(lambda k=k, done=done: (ran.append(k), done.set())), 1)
        assert done.wait(20)
    assert ran == list(range(50))


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
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", EXIT], capture_output=True, text=True, timeout=200
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "right"
    assert "Traceback" not in run.stderr
