"""Ctrl+C, and the stop button of a notebook, at any moment: the process lives on, and works."""

from pathlib import Path

import programs
import pytest

PROGRAM = Path(__file__).with_name("interrupts.py")


@pytest.mark.slow
def test_interrupts_at_random_moments():
    run = programs.run(PROGRAM, "62", "300")
    assert int(run.stdout.split("survived ")[1].split()[0]) > 20, run.stdout


COMPILING = """
import os, signal
import numba.core.event
import kdegraph

X = [[0.0], [1.0]]

class Interrupt(numba.core.event.Listener):
    n_compiled = 0
    def on_start(self, event):
        self.n_compiled += 1
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        os.kill(os.getpid(), signal.SIGINT)
    def on_end(self, event):
        os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
kdegraph.kernel_sum  # imports
listener = Interrupt()
interrupts = 0
with numba.core.event.install_listener("numba:run_pass", listener):
    while True:
        try:
            sums = kdegraph.kernel_sum(X, [[0.0]], sigma=1.0, method="direct")
            break
        except KeyboardInterrupt:
            interrupts += 1
print(interrupts > 0, listener.n_compiled > 10, sums[0])
"""


def test_interrupts_while_kernels_are_compiled(tmp_path):
    """Each interrupt takes effect, and none leaves half-done work or changes the handler."""
    run = programs.run(COMPILING, KDEGRAPH_CACHE_DIR=str(tmp_path))
    assert run.stdout == "True True 1.3678794411714423\n"
    assert run.stderr.count("\n") == 1, run.stderr  # that it compiles, and no traceback
    assert list(tmp_path.rglob("*.nbc"))
