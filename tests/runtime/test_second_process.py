"""Kernels that are compiled side by side, by a second process that ends with the first one."""

import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from kdegraph.runtime import second_process
from kdegraph.runtime.second_process import SWITCH

PATIENCE = 200
SUM = "import kdegraph; kdegraph.kernel_sum([[0.0], [1.0]], [[0.0]], sigma=1.0, method='direct')"


@pytest.fixture
def other():
    """What knows of another process, and the ends of the pipes that such a one has."""
    (read, say), (hear, write) = os.pipe(), os.pipe()
    ended = threading.Event()
    with os.fdopen(read, "rb") as incoming, os.fdopen(write, "wb", 0) as outgoing:
        with os.fdopen(say, "wb", 0) as say, os.fdopen(hear, "rb") as hear:
            known = second_process._Other(incoming, outgoing, ended.set)
            yield SimpleNamespace(known=known, say=say, hear=hear, ended=ended)
        known.listener.join()


def _wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_kernel_of_the_other_process_is_waited_for(other):
    assert not other.known.wait_for("one")
    other.say.write(b"+one\n+two\n")
    _wait_until(lambda: len(other.known._busy) == 2)
    assert not other.known.wait_for("three")
    waited = []
    waiting = threading.Thread(target=lambda: waited.append(other.known.wait_for("one")))
    waiting.start()
    other.say.write(b"-two\n")
    _wait_until(lambda: len(other.known._busy) == 1)
    assert waiting.is_alive()
    other.say.write(b"-one\n")
    waiting.join()
    assert waited == [True]


def test_nobody_waits_for_a_process_that_has_ended(other):
    other.say.write(b"+one\n")
    _wait_until(lambda: other.known._busy)
    other.say.close()
    assert other.known.wait_for("one") or not other.known._busy
    assert other.ended.wait(PATIENCE)
    other.hear.close()
    other.known.tell("+", "two")  # to nobody


def test_the_other_process_is_told(other, monkeypatch, tmp_path):
    monkeypatch.setattr(second_process, "_may_start", False)
    monkeypatch.setattr(second_process, "_other", other.known)
    assert not second_process.begin("one", tmp_path)
    second_process.end("one")
    assert [other.hear.readline() for _ in range(2)] == [b"+one\n", b"-one\n"]
    other.say.write(b"+two\n-two\n+three\n")
    _wait_until(lambda: b"three\n" in other.known._busy)
    other.say.close()
    assert not second_process.begin("two", tmp_path)  # which was kept, but for something else


@pytest.fixture
def usual(monkeypatch):
    """What a second process is started in: two cores, and no environment variable."""
    monkeypatch.delenv(SWITCH)  # which the other tests have
    monkeypatch.setattr(second_process, "get_num_threads", lambda: 2)


def test_a_second_process_is_wanted(usual, tmp_path):
    assert second_process._is_wanted(tmp_path / "new" / "folder")


@pytest.mark.parametrize("reason", ["switch", "one core", "frozen", "no Python", "worker", "file"])
def test_where_no_second_process_is_wanted(reason, usual, tmp_path, monkeypatch):
    folder = tmp_path / "folder"
    if reason == "switch":
        monkeypatch.setenv(SWITCH, "0")
    elif reason == "one core":
        monkeypatch.setattr(second_process, "get_num_threads", lambda: 1)
    elif reason == "frozen":
        monkeypatch.setattr(sys, "frozen", True, raising=False)
    elif reason == "no Python":
        monkeypatch.setattr(sys, "executable", None)
    elif reason == "worker":
        worker = SimpleNamespace(name="SpawnProcess-1")
        monkeypatch.setattr(second_process.multiprocessing, "current_process", lambda: worker)
    else:
        folder.touch()
    assert not second_process._is_wanted(folder)


def _start(code, tmp_path):
    """Start Python with a cache folder that is empty."""
    environment = os.environ | {
        SWITCH: "1",
        "KDEGRAPH_NUM_THREADS": "2",
        "KDEGRAPH_CACHE_DIR": str(tmp_path / "cache"),
    }
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


COMPILED_BESIDE = f"""
import numba.core.event
from kdegraph.runtime import cache, second_process
compiled = []
class Listener(numba.core.event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event):
        pass
numba.core.event.register("numba:compile", Listener())
second_process._COMMAND = '''
from kdegraph.runtime.second_process import work_beside
def work():
    {SUM}
work_beside(work)
'''
assert not second_process.begin("a kernel", cache.CACHE_DIR)
second_process._other.listener.join()
{SUM}
assert not compiled, compiled
assert not second_process.begin("another kernel", cache.CACHE_DIR)
"""


def test_what_the_second_process_has_compiled_is_taken_from_the_folder(tmp_path):
    with _start(COMPILED_BESIDE, tmp_path) as process:
        assert process.communicate(timeout=PATIENCE) == ("", "")
    assert process.returncode == 0


FOR_EVER = """
import sys, time
from pathlib import Path
from kdegraph.runtime import cache, second_process
second_process._COMMAND = f'''
import os, time
from pathlib import Path
from kdegraph.runtime.second_process import work_beside
Path({str(cache.CACHE_DIR)!r}, "pid").write_text(str(os.getpid()))
work_beside(lambda: time.sleep(10_000))
'''
second_process.begin("a kernel", cache.CACHE_DIR)
"""


def _is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(sys.platform == "win32", reason="a signal of 0 would end the process")
@pytest.mark.parametrize("ending", ["its end", "killed"])
def test_the_second_process_ends_with_the_first_one(ending, tmp_path):
    wait = """
while not list(cache.CACHE_DIR.glob("pid")) or not list(cache.CACHE_DIR.glob("pid"))[0].read_text():
    time.sleep(0.01)
"""
    code = FOR_EVER + wait + ("time.sleep(10_000)" if ending == "killed" else "")
    with _start(code, tmp_path) as process:
        _wait_until(lambda: [path for path in tmp_path.rglob("pid") if path.read_text()])
        (path,) = tmp_path.rglob("pid")
        if ending == "killed":
            process.send_signal(signal.SIGKILL)
        else:
            assert process.communicate(timeout=PATIENCE) == ("", "")
    _wait_until(lambda: not _is_running(int(path.read_text())))
