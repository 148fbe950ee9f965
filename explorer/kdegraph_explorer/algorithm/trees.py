"""The tree over the points, which several views need."""

import threading

from kdegraph.geometry.tree import build_tree
from kdegraph.sampling.recursive import LEAF


class TreeKeeper:
    """Builds the tree of Algorithm 1 over the points, and keeps the last one. May be used by
    several threads.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._points = self._tree = None

    def __call__(self, points):
        """The tree of the (n, d) array `points`."""
        with self._lock:
            if self._points is not points:
                self._points, self._tree = points, build_tree(points, LEAF)
            return self._tree
