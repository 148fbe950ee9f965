"""The first call of a compiled kernel takes seconds: it is made in the background, once per process, with a message."""

import threading

import numpy as np
from kdegraph import knn_graph
from kdegraph.warmup import warm_up

from .drawing.painter import Painter, Scene

_lock = threading.Lock()
_thread = None


def start():
    """Begin to compile the kernels that the explorer needs, or to load them from the cache, unless that was begun before."""
    global _thread
    with _lock:
        if _thread is None:
            _thread = threading.Thread(target=_use_everything, name="kdegraph-warm-up", daemon=True)
            _thread.start()


def wait(progress):
    """Wait until the kernels are ready.

    Parameters
    ----------
    progress : callable
        Called as ``progress(stage, fraction)`` ten times a second meanwhile; may raise `kdegraph.Cancelled` to give up waiting.
    """
    start()
    while _thread.is_alive():
        progress("compiling kernels, once", 0.0)
        _thread.join(0.1)


def _use_everything():
    warm_up(("graphs", "clusters", "other graphs"))
    points = np.random.default_rng(0).random((600, 2))
    graph = knn_graph(points, 5)
    labels = np.zeros(len(points), dtype=np.int64)
    Painter().paint(Scene(np.repeat(points, 8, axis=0), (0, 1, 0, 1, 8, 8), None, np.repeat(labels, 8)))
    Painter().paint(Scene(points, (0, 1, 0, 1, 8, 8), graph, labels))
