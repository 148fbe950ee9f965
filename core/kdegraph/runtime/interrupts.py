"""Ctrl+C while kernels are compiled: it takes effect as soon as the current kernel is ready.

Numba and LLVM call Python functions while they compile. An interrupt there would be lost, or would
leave incomplete code behind, and the call that the user wants to stop would fail in another way.
"""

import signal
import threading

import numba.core.event


class _InterruptsAfterCompiling(numba.core.event.Listener):
    """Hold interrupts of the main thread back while it has numba's compiler lock."""

    def __init__(self):
        self._depth, self._received, self._handler = 0, False, None

    def on_start(self, event):
        if threading.current_thread() is not threading.main_thread():
            return  # other threads get no interrupts
        if self._depth == 0:
            self._handler = signal.getsignal(signal.SIGINT)
            if self._handler is None:  # not set by Python, which cannot restore it
                return
            signal.signal(signal.SIGINT, self._remember)
        self._depth += 1

    def on_end(self, event):
        if self._depth == 0 or threading.current_thread() is not threading.main_thread():
            return
        self._depth -= 1
        if self._depth == 0:
            signal.signal(signal.SIGINT, self._handler)
            if self._received:
                self._received = False
                signal.raise_signal(signal.SIGINT)

    def _remember(self, number, frame):
        self._received = True


numba.core.event.register("numba:compiler_lock", _InterruptsAfterCompiling())
