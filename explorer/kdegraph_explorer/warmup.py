"""The first call of a compiled kernel takes seconds: it is made in the background, with a message."""

import threading

import kdegraph
import numpy as np

from .drawing.palette import cluster_colours
from .drawing.raster import draw, edge_list

_warm_up_lock = threading.Lock()
_warm = False


def warm_up(progress=lambda stage, fraction: None):
    """Compile (or load from the cache) the kernels that the explorer needs, once per process; safe to call from several threads.

    Parameters
    ----------
    progress : callable
        Called as ``progress(stage, fraction)`` before the work starts, when there is any to do.
    """
    global _warm
    if _warm:
        return
    progress("compiling kernels, once", 0.0)
    with _warm_up_lock:
        if not _warm:
            points = np.random.default_rng(0).random((200, 2))
            graph = kdegraph.similarity_graph(points, sigma=0.2, n_rounds=5, seed=0)
            kdegraph.spectral_clustering(graph, 2, seed=0)
            kdegraph.spectral_clustering(kdegraph.knn_graph(points, 5), 2, seed=0)
            colours = np.zeros(len(points), dtype=np.int64)
            draw((0, 1, 0, 1, 8, 8), points, colours, cluster_colours(1), edges=edge_list(graph.adjacency), radius=1.0)
            _warm = True
