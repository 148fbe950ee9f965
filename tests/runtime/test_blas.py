"""The threads of BLAS."""

import threading

import numpy as np
import scipy.linalg  # its BLAS is one of those that `limits` finds
from kdegraph.clustering.rounding import Rounding
from kdegraph.eigengap import alignment
from kdegraph.runtime.threads import blas_threads
from kdegraph.spectral.blocks import run_on_chunks
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info, threadpool_limits


def limits():
    """The number of threads of each BLAS library that is loaded."""
    return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]


def test_one_thread_for_small_matrices_and_then_as_before():
    with threadpool_limits(3, user_api="blas"):
        before = limits()
        assert before
        with blas_threads(500), blas_threads(10):
            assert set(limits()) == {1}
        with blas_threads(5000):
            assert limits() == before
        assert limits() == before


def test_threads_are_as_before_when_the_last_thread_has_left():
    # Two threads of the program: the one that entered first leaves first.
    with threadpool_limits(3, user_api="blas"):
        before = limits()
        first, second = blas_threads(10), blas_threads(10)
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(limits()) == {1}
        second.__exit__(None, None, None)
        assert limits() == before


def test_any_thread_can_limit_blas_after_another_one():
    seen = []

    def look():
        with blas_threads(10):
            seen.extend(limits())

    with threadpool_limits(3, user_api="blas"):
        before = limits()
        look()
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        assert limits() == before
    assert set(seen) == {1}


def test_the_threads_of_k_means_are_limited(monkeypatch):
    seen, fit = [], KMeans.fit

    def look(*args, **options):
        seen.extend(info["num_threads"] for info in threadpool_info())
        return fit(*args, **options)

    monkeypatch.setattr(KMeans, "fit", look)
    with threadpool_limits(3):
        before = threadpool_info()
        assert {info["user_api"] for info in before} == {"blas", "openmp"}
        Rounding("row", "kmeans", 1, 0).labels(np.eye(6), 2)
        assert threadpool_info() == before
    assert len(seen) == len(before)
    assert set(seen) == {1}


def test_eigenvectors_are_aligned_by_one_thread(monkeypatch):
    # With two, 100 eigenvectors of 1,000 vertices took seven times as long.
    seen, qr = [], scipy.linalg.qr

    def look(*args, **options):
        seen.extend(limits())
        return qr(*args, **options)

    monkeypatch.setattr(scipy.linalg, "qr", look)
    with threadpool_limits(3, user_api="blas"):
        alignment(np.random.default_rng(0).normal(size=(50, 3)))
    assert set(seen) == {1}


def test_blas_stays_in_the_threads_that_multiply_blocks():
    seen = []
    with threadpool_limits(3, user_api="blas"):
        run_on_chunks(lambda chunk, rows: seen.extend(limits()), np.zeros((10, 4)))
    assert set(seen) == {1}
