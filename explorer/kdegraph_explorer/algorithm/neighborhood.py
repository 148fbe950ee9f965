"""Look at one point: its sampled neighbors and its nearest ones."""

import threading
from dataclasses import dataclass

import numpy as np
from kdegraph.explain import kernel_values, sampling_tree


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """A point of a sampled graph with its neighbors."""

    point: int
    sigma: float  # the bandwidth of the kernel at the point
    degree: float  # the kernel degree: the sum of the kernel to all other points
    kernel: np.ndarray  # (n,): the kernel to every other point; 0 for the point itself
    distances: np.ndarray  # (n,)
    sampled: np.ndarray  # (m,) int: the points that were drawn, the most probable first
    times: np.ndarray  # (m,) int: how often each was drawn in the L rounds
    weight: np.ndarray  # (m,): of the edge to it
    nearest: np.ndarray  # (k,) int: the k nearest other points, the nearest first

    def chance(self, other):
        """Return the probability that `other` is drawn in one round: kernel over degree."""
        return float(self.kernel[other] / self.degree) if self.degree > 0 else 0.0

    def times_drawn(self, other):
        """Return how often the point `other` was drawn."""
        return int(self.times[self.sampled == other].sum())


def neighborhood(graph, point, n_neighbors):
    """Look at one vertex of a graph that has its points, in O(n d) time.

    `n_neighbors` is the number of nearest points to list, at most n - 1.
    """
    X = graph.points
    kernel = kernel_values(graph, point)
    scale = max(float(np.abs(X).max()), 1e-300)  # squares of huge or tiny coordinates stay finite
    distances = np.linalg.norm(X / scale - X[point] / scale, axis=1) * scale
    neighbors = graph.neighbors[point]
    drawn, times = np.unique(neighbors[neighbors >= 0], return_counts=True)
    order = np.argsort(-kernel[drawn], kind="stable")
    drawn, times = drawn[order], times[order]
    row = np.zeros(len(X))
    span = slice(graph.adjacency.indptr[point], graph.adjacency.indptr[point + 1])
    row[graph.adjacency.indices[span]] = graph.adjacency.data[span]
    others = distances.copy()
    others[point] = np.inf
    candidates = np.argpartition(others, min(n_neighbors, len(X) - 1))[:n_neighbors]
    nearest = candidates[np.argsort(others[candidates], kind="stable")]
    return Neighborhood(
        point,
        sigma=float(np.broadcast_to(graph.sigma, len(X))[point]),
        degree=float(graph.kernel_degrees[point]),
        kernel=kernel,
        distances=distances,
        sampled=drawn,
        times=times,
        weight=row[drawn],
        nearest=nearest[nearest != point],
    )


class TreeKeeper:
    """Build the tree of Algorithm 1 over points, and keep the last one, for several threads."""

    def __init__(self):
        self._lock = threading.Lock()
        self._points = self._tree = None

    def __call__(self, points):
        """Return the tree of the (n, d) array `points`."""
        with self._lock:
            if self._points is not points:
                self._points, self._tree = points, sampling_tree(points)
            return self._tree
