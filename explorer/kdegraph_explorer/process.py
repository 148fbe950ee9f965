"""Prepare and tidy the process that sessions run in.

Kernels that have never been compiled are compiled in the background, so that the first result waits
for them no longer than necessary. Memory of ended sessions is returned to the system: glibc serves
threads from arenas of their own and keeps what a session has freed there until it is asked for it.
"""

import contextlib
import ctypes
import gc
import importlib
import sys
import threading

import numpy as np
from kdegraph import knn_graph, warm_up

from .drawing.painter import MAX_GLYPHS, Painter, Scene

# Imported when they are first needed, which takes about a second in all.
LIBRARIES = ("scipy.optimize", "sklearn.cluster", "sklearn.metrics")
# Seconds, as the server releases a session some time after it has ended, and many at once.
DELAY = 3.0
TURN = 1e-4  # seconds that a thread may use the interpreter while another one waits for it

_lock = threading.Lock()
_compiler = None
_computable = threading.Event()
_timer = None


def start():
    """Begin to compile the kernels that the explorer needs, unless that has begun already."""
    global _compiler
    with _lock:
        if _compiler is None:
            _compiler = threading.Thread(
                target=_use_everything, name="kdegraph-warm-up", daemon=True
            )
            _compiler.start()


def wait(progress):
    """Wait until the kernels are ready; `progress` is called ten times a second meanwhile."""
    start()
    while not _computable.wait(0.1) and _compiler.is_alive():
        progress("compiling kernels, once", 0.0)


def _use_everything():
    warm_up(("graphs", "clusters", "other graphs"), load=False)
    _computable.set()  # computations do not wait for kernels that only draw
    points = np.random.default_rng(0).random((600, 2))
    graph = knn_graph(points, 5)
    viewport = (0, 1, 0, 1, 8, 8)
    for copies in (1, MAX_GLYPHS // len(points) + 1):  # drawn by the browser, and drawn here
        many = np.repeat(points, copies, axis=0)
        labels = np.zeros(len(many), dtype=np.int64)
        Painter().image(Scene(many, viewport, graph if copies == 1 else None, labels))


def import_libraries():
    """Import in the background what the first result needs; call it when the page has been sent."""
    threading.Thread(
        target=lambda: list(map(importlib.import_module, LIBRARIES)),
        name="kdegraph-libraries",
        daemon=True,
    ).start()


def alternate_often():
    """Let threads wait for the interpreter no longer than `TURN`; for a process that only serves.

    Clusters of few points take some thousand short calls of compiled code, after each of which a
    worker waits until the thread that draws the pages has had its turn: with Python's 5 ms the
    clusters of 62 points took 9.1 s in place of 0.2 s beside a busy thread, with 0.1 ms 0.6 s (the
    experiment `turns`). Threads that are all busy with Python take up to a fifth more processor
    time.
    """
    sys.setswitchinterval(TURN)


@contextlib.contextmanager
def only_serving():
    """Let the process do nothing but serve pages, within this context.

    Threads alternate often, and the objects that exist now are excluded from searches for garbage.
    The libraries have some 400,000 objects, which exist to the end: with them a full search stops
    all pages for 0.15 to 0.3 s, without them for 0.02 to 0.05 s.
    """
    turn = sys.getswitchinterval()
    alternate_often()
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        sys.setswitchinterval(turn)


def give_back_soon():
    """Call `give_back` in a thread, a little later, once for all calls until then."""
    global _timer
    with _lock:
        if _timer is None:
            _timer = threading.Timer(DELAY, give_back)
            _timer.daemon = True
            _timer.start()


def give_back():
    """Collect garbage, and return free pages to the system."""
    global _timer
    with _lock:
        _timer = None
    gc.collect()
    malloc_trim()(0)


def malloc_trim():
    """Return this function of the C library, or one that does nothing: only glibc has it."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return lambda pad: 0
