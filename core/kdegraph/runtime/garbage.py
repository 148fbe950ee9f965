"""Fewer searches for garbage while kernels are compiled.

The compiler makes many objects and keeps most of them. Python searches them for garbage after every
few hundred, which takes a tenth of the time of compiling and finds little.
"""

import gc

import numba.core.event

_NEW_OBJECTS = 50_000


class _FewerSearches(numba.core.event.Listener):
    """Let more objects be made between two searches during the outermost compilation.

    The compiler's lock is held meanwhile, so there is one thread at a time, and no interrupt.
    """

    def __init__(self):
        self._depth, self._before = 0, ()

    def on_start(self, event):
        if self._depth == 0:
            self._before = often, *seldom = gc.get_threshold()
            if often:  # 0 turns searches off
                gc.set_threshold(max(often, _NEW_OBJECTS), *seldom)
        self._depth += 1

    def on_end(self, event):
        self._depth -= 1
        if self._depth == 0:
            gc.set_threshold(*self._before)


numba.core.event.register("numba:compile", _FewerSearches())
