"""Memory of ended sessions is given back to the system."""

import ctypes
import sys
import threading

import pytest
from kdegraph_explorer import process


@pytest.fixture
def trims(monkeypatch):
    """The threads that have given memory back."""
    seen, done = [], threading.Event()

    def trim(pad):
        seen.append((threading.current_thread(), pad))
        done.set()

    monkeypatch.setattr(process, "malloc_trim", lambda: trim)
    monkeypatch.setattr(process, "DELAY", 0.05)
    return seen, done


def test_sessions_that_end_together_give_their_memory_back_once_and_in_a_thread(trims):
    seen, done = trims
    for _ in range(5):
        process.give_back_soon()
    assert done.wait(20)
    ((thread, pad),) = seen
    assert thread is not threading.current_thread()
    assert pad == 0
    done.clear()
    process.give_back_soon()  # and so do those that end later
    assert done.wait(20)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="an allocator of its own")
def test_freed_pages_are_given_back():
    if process.malloc_trim()(0) not in (0, 1):
        pytest.skip("no malloc_trim")
    blocks = [
        ctypes.create_string_buffer(b"x", 60_000) for _ in range(2000)
    ]  # each too small for a mapping of its own
    for block in blocks:
        ctypes.memset(block, 1, 60_000)
    keep = blocks[-1]  # what lies above them keeps the heap from shrinking by itself
    before = resident()
    del blocks, block
    process.give_back()
    assert resident() < before - 50e6
    assert len(keep) == 60_000


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.parametrize("error", [AttributeError, OSError, TypeError])
def test_without_glibc_nothing_happens(monkeypatch, error):
    class Other:
        def __init__(self, name):
            if error is not AttributeError:
                raise error("another system")

        def __getattr__(self, name):
            raise AttributeError(name)

    monkeypatch.setattr(process.ctypes, "CDLL", Other)
    process.give_back()
