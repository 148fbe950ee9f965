"""The number of threads."""

import os

import kdegraph
import pytest


@pytest.fixture
def default(monkeypatch):
    """No number is set, neither by a call nor by the environment."""
    monkeypatch.delenv("KDEGRAPH_NUM_THREADS", raising=False)
    kdegraph.set_num_threads(None)


def test_bad_numbers_are_refused_and_change_nothing(threads):
    for value, kind in ((0, ValueError), (1.5, ValueError), ("2", TypeError), (True, TypeError)):
        with pytest.raises(kind, match="n must be a whole number >= 1"):
            kdegraph.set_num_threads(value)
        assert kdegraph.get_num_threads() == threads


def test_the_default_is_the_usable_cores(default):
    if hasattr(os, "sched_getaffinity"):
        assert kdegraph.get_num_threads() == len(os.sched_getaffinity(0))
    else:
        assert kdegraph.get_num_threads() == os.cpu_count()


def test_the_environment_sets_the_default(default, monkeypatch):
    monkeypatch.setenv("KDEGRAPH_NUM_THREADS", "3")
    assert kdegraph.get_num_threads() == 3


def test_bad_values_in_the_environment_are_refused(default, monkeypatch):
    for value, kind in (("0", ValueError), ("many", TypeError), ("1.5", TypeError)):
        monkeypatch.setenv("KDEGRAPH_NUM_THREADS", value)
        with pytest.raises(kind, match="KDEGRAPH_NUM_THREADS must be a whole number >= 1, got"):
            kdegraph.get_num_threads()
