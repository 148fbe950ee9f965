"""Groups of targets that share a list of nodes to draw from, see `rejection`."""

from dataclasses import dataclass

import numpy as np

from kdegraph.runtime.jit import jit

RADIUS, LARGE_RADIUS = (
    0.2,
    0.8,
)  # of a group of targets, in units of sigma: with many draws, with few
DRAWS = 2000  # what counts as many
MANY = 4096  # targets of a group at most, so that threads share the work


@dataclass(frozen=True)
class Groups:
    """Groups of targets: ranges of points in the tree's order, and their boxes."""

    start: np.ndarray
    stop: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, kernel, tree, n_rounds):
        """Nodes of `tree` that are narrow enough, as large as possible, and single points where
        leaves are wide.
        """
        n, d = tree.points.shape
        start, stop, low, high = (
            np.empty(n, np.int64),
            np.empty(n, np.int64),
            np.empty((n, d)),
            np.empty((n, d)),
        )
        radii = tree.radii(kernel.inverse_sigma)
        count = _cut(
            radii,
            n_rounds,
            tree.points,
            tree.start,
            tree.stop,
            tree.low,
            tree.high,
            start,
            stop,
            low,
            high,
        )
        return cls(start[:count], stop[:count], low[:count], high[:count])


@jit
def _cut(radii, n_rounds, points, start, stop, low, high, g_start, g_stop, g_low, g_high):
    """Write the groups and return their number."""
    stack = np.empty(256, np.int64)
    count, top = 0, 0
    stack[0] = 0
    while top >= 0:
        node = stack[top]
        top -= 1
        a, b = start[node], stop[node]
        if (radii[node] <= RADIUS and b - a <= MANY) or (
            radii[node] <= LARGE_RADIUS and (b - a) * n_rounds <= DRAWS
        ):
            g_start[count], g_stop[count], g_low[count], g_high[count] = a, b, low[node], high[node]
            count += 1
        elif 2 * node + 2 < start.size:
            stack[top + 1], stack[top + 2] = 2 * node + 2, 2 * node + 1
            top += 2
        else:
            for i in range(a, b):
                g_start[count], g_stop[count], g_low[count], g_high[count] = (
                    i,
                    i + 1,
                    points[i],
                    points[i],
                )
                count += 1
    return count
