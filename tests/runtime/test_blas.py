"""The threads of BLAS."""

from kdegraph.runtime.blas import blas_threads
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
