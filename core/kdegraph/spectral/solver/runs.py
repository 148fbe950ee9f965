"""Runs of rows that are near each other in space."""

import numpy as np

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit

MAX_RUNS = 1024
MIN_ROWS = 16  # of a run
# Runs that are wider than this many times the median width are halved, at most so many times.
MAX_RELATIVE_WIDTH = 2.0
MAX_HALVINGS = 8


def runs_in_space(order, points=None, max_runs=MAX_RUNS):
    """Bounds of runs of consecutive vertices in an order: at most `max_runs`, and up to twice as
    many if the points say so.

    If that is the order of a tree, the runs are its nodes. A run that is much wider than
    others may lie across a gap between clusters, which its vertices would bridge in the coarse
    graph: such runs are halved until they are as small as the others.

    Parameters
    ----------
    order : (n,) int array
        All vertices.
    points : (n, d) array, optional
        Where they are.
    max_runs : int
        A power of two.

    Returns
    -------
    (r + 1,) int array
    """
    n = len(order)
    n_runs = min(max_runs, 2 ** (max(n // MIN_ROWS, 1).bit_length() - 1))
    bounds = np.arange(n_runs + 1) * n // n_runs
    if points is None:
        return bounds
    max_width = None
    for _ in range(MAX_HALVINGS):
        width = np.empty(len(bounds) - 1)
        parallel.run(_find_widths, len(width), bounds, order, points, width)
        max_width = max_width or MAX_RELATIVE_WIDTH * np.median(width)
        wide = (width > max_width) & (np.diff(bounds) > 1)
        if not wide.any() or len(bounds) + wide.sum() > 2 * n_runs:
            break
        bounds = np.sort(np.r_[bounds, ((bounds[:-1] + bounds[1:]) // 2)[wide]])
    return bounds


@jit
def _find_widths(start, stop, bounds, order, points, width):
    """The longest side of the bounding box of each run."""
    for a in range(start, stop):
        width[a] = 0.0
        for c in range(points.shape[1]):
            low = high = points[order[bounds[a]], c]
            for i in range(bounds[a] + 1, bounds[a + 1]):
                low, high = min(low, points[order[i], c]), max(high, points[order[i], c])
            width[a] = max(width[a], high - low)
