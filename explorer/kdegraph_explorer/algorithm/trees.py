"""The tree over the points, which several views need."""

import threading

from kdegraph.explain import sampling_tree


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
                self._points, self._tree = points, sampling_tree(points)
            return self._tree
