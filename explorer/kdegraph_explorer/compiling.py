"""Kernels that have never been compiled are compiled in the background, so that the first result
does not wait for it longer than necessary. Computations do not wait for those that only draw.

Libraries that a page does without until its first result are imported in the background, too.
"""

import importlib
import threading

import numpy as np
from kdegraph import knn_graph, warm_up

from .drawing.painter import MAX_GLYPHS, Painter, Scene

# What computations and scores import when they first need it, which takes about a second in all.
LIBRARIES = ("scipy.optimize", "sklearn.cluster", "sklearn.metrics")

_lock = threading.Lock()
_thread = None
_computable = threading.Event()


def start():
    """Begin to compile the kernels that the explorer needs, unless that has begun already."""
    global _thread
    with _lock:
        if _thread is None:
            _thread = threading.Thread(target=_use_everything, name="kdegraph-warm-up", daemon=True)
            _thread.start()


def import_libraries():
    """Import in the background what the first result needs; call it when the page has been sent."""
    threading.Thread(
        target=lambda: list(map(importlib.import_module, LIBRARIES)),
        name="kdegraph-libraries",
        daemon=True,
    ).start()


def wait(progress):
    """Wait until the kernels are ready.

    Parameters
    ----------
    progress : callable
        Called as ``progress(stage, fraction)`` ten times a second meanwhile; may raise
        `kdegraph.Cancelled` to give up waiting.
    """
    start()
    while not _computable.wait(0.1) and _thread.is_alive():
        progress("compiling kernels, once", 0.0)


def _use_everything():
    warm_up(("graphs", "clusters", "other graphs"), load=False)
    _computable.set()
    points = np.random.default_rng(0).random((600, 2))
    graph = knn_graph(points, 5)
    viewport = (0, 1, 0, 1, 8, 8)
    for copies in (1, MAX_GLYPHS // len(points) + 1):  # drawn by the browser, and drawn here
        many = np.repeat(points, copies, axis=0)
        labels = np.zeros(len(many), dtype=np.int64)
        Painter().image(Scene(many, viewport, graph if copies == 1 else None, labels))
