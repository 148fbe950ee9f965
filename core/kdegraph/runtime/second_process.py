"""A second process that compiles kernels, too, as numba compiles one at a time in each process.

It is started when the first kernel has to be compiled, and begins with what the usual graph needs
last: `kdegraph.warmup.compile_beside`. Both processes keep machine code in the same folder and tell
each other through pipes which kernels they are at, so that none is compiled twice. The second one
ends with its work or with the first process, whichever comes first.
"""

import atexit
import contextlib
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

from kdegraph.runtime.threads import get_num_threads

SWITCH = "KDEGRAPH_SECOND_PROCESS"  # 0 does without
PATIENCE = 60.0  # seconds for a kernel of the other process; then it is compiled here as well
_COMMAND = "from kdegraph.warmup import compile_beside; compile_beside()"


class _Other:
    """What this process knows of the other one, and tells it."""

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes], at_end: Callable[[], object]):
        self._incoming, self._outgoing, self._at_end = incoming, outgoing, at_end
        self._busy: set[bytes] = set()
        self._changed = threading.Condition()
        self.listener = threading.Thread(target=self._listen, name="kdegraph-beside", daemon=True)
        self.listener.start()

    def _listen(self):
        for line in self._incoming:
            with self._changed:
                (self._busy.add if line[:1] == b"+" else self._busy.discard)(line[1:])
                self._changed.notify_all()
        with self._changed:
            self._busy.clear()
            self._changed.notify_all()
        self._at_end()

    def tell(self, sign: str, name: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # it has ended
            self._outgoing.write(f"{sign}{name}\n".encode())
            self._outgoing.flush()

    def wait_for(self, name: str) -> bool:
        line = f"{name}\n".encode()
        with self._changed:
            waited = line in self._busy
            self._changed.wait_for(lambda: line not in self._busy, PATIENCE)
        return waited


_other: _Other | None = None
_may_start = True


def begin(name: str, folder: Path) -> bool:
    """Say that this process compiles the kernel `name`, unless the other one is at it: then wait
    until it is ready, and return True.
    """
    if _may_start:
        _start(folder)
    if _other is None:
        return False
    if _other.wait_for(name):
        return True
    _other.tell("+", name)
    return False


def end(name: str) -> None:
    """Say that the kernel `name` is kept in the folder."""
    if _other is not None:
        _other.tell("-", name)


def work_beside(work: Callable[[], object]) -> None:
    """In the second process: work, in touch with the first one through the standard streams."""
    global _other
    _forget()
    _other = _Other(sys.stdin.buffer, sys.stdout.buffer, lambda: os._exit(0))
    work()
    os._exit(0)  # the listener is still reading


def _start(folder):
    global _other
    _forget()
    if not _is_wanted(folder):
        return
    modules = os.pathsep.join(filter(None, sys.path))
    environment = {SWITCH: "0", "PYTHONPATH": modules, "KDEGRAPH_CACHE_DIR": str(folder.parent)}
    with contextlib.suppress(OSError):
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | environment,
            start_new_session=True,  # Ctrl+C in a terminal is for the first one
        )
        _other = _Other(process.stdout, process.stdin, lambda: _close(process))
        atexit.register(_stop, process)


def _close(process):
    """Close the pipes of a process that has ended."""
    with contextlib.suppress(OSError), process:
        pass


def _stop(process):
    if _other is not None:  # in a fork, it is not ours
        process.kill()
        _other.listener.join()


def _is_wanted(folder):
    """Whether a second process can help: not in a program of one file, nor among processes that
    share the cores already.
    """
    if os.environ.get(SWITCH) == "0" or getattr(sys, "frozen", False) or not sys.executable:
        return False
    if multiprocessing.current_process().name != "MainProcess" or get_num_threads() < 2:
        return False
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        return os.access(folder, os.W_OK)
    return False


def _forget():
    """Start no process, and have none; also after a fork, as it belongs to the parent."""
    global _other, _may_start
    _other, _may_start = None, False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
