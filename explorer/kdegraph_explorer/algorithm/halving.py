"""Algorithm 1 for one sample: an interval of the points is halved until one point is left."""

from dataclasses import dataclass

import numpy as np
from kdegraph.runtime.random import stream, uniform

from .neighborhood import kernel_row


@dataclass(frozen=True)
class Halving:
    """One step.

    Attributes
    ----------
    start, middle, stop : int
        The interval [start, stop) of the points in the tree's order, and where it is halved.
    left, right : float
        The kernel sums over both halves, without the point itself.
    uniform : float
        The uniform number, rescaled to this interval: below `share` the sample is in the left half.
    """

    start: int
    middle: int
    stop: int
    left: float
    right: float
    uniform: float

    @property
    def share(self):
        """Probability of the left half."""
        return self.left / (self.left + self.right)

    @property
    def goes_left(self):
        """Whether the sample is in the left half."""
        return self.uniform < self.share

    @property
    def chosen(self):
        """(start, stop) of the half with the sample."""
        return (self.start, self.middle) if self.goes_left else (self.middle, self.stop)


def halvings(graph, tree, point, draw):
    """All steps of one sample, with exact kernel sums in place of estimates.

    Parameters
    ----------
    graph : SimilarityGraph
        With its points; its seed and number of rounds give the uniform number, as for stratified
        draws.
    tree : Tree
        Of the points, with leaves of at most `kdegraph.sampling.recursive.LEAF`.
    point : int
    draw : int
        Which of the L draws of the point, from 0.

    Returns
    -------
    list of Halving
        Empty for an isolated point. The last step's chosen half is a single point, the sample.
    """
    row = kernel_row(graph, point)[tree.order]
    if not row.any():
        return []
    state = np.uint64(stream(np.uint64(graph.seed), point, 0))
    u = (uniform(state, 0) + draw) / graph.n_rounds
    start, stop, steps = 0, len(row), []
    while stop - start > 1:
        middle = (start + stop) // 2
        step = Halving(
            start,
            middle,
            stop,
            float(row[start:middle].sum()),
            float(row[middle:stop].sum()),
            float(u),
        )
        steps.append(step)
        share = step.share
        below_one = np.nextafter(1.0, 0.0)
        u = (
            min(u / share, below_one)
            if step.goes_left
            else min(max((u - share) / (1.0 - share), 0.0), below_one)
        )
        start, stop = step.chosen
    return steps


def sample_of(steps, tree):
    """The point that was drawn."""
    return int(tree.order[steps[-1].chosen[0]])
