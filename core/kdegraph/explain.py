"""Replay parts of the sampling of a graph, step by step, as the explorer shows them.

The functions take a `SimilarityGraph` that holds its points. Some also take the `sampling_tree` of
these points, whose order Algorithm 1 of the paper halves (Macgregor and Sun, "Fast approximation of
similarity graphs with kernel density estimation", NeurIPS 2023).
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from kdegraph.adjacency import weighted_adjacency, with_copies
from kdegraph.geometry.tree import Tree, build_tree
from kdegraph.runtime.random import stream, uniform
from kdegraph.sampled_graph.result import SimilarityGraph
from kdegraph.sampling.recursive import LEAF
from kdegraph.scaled_kernel import exponent_shifts, kernel_row, tree_kernel
from kdegraph.validation import check_count, check_points

__all__ = [
    "Halving",
    "adjacency_after",
    "halvings",
    "kernel_values",
    "sample_of",
    "sampling_tree",
]


@dataclass(frozen=True)
class Halving:
    """One halving of an interval of points in Algorithm 1."""

    # The interval [start, stop) of positions in the order of the tree, and where it is halved.
    start: int
    middle: int
    stop: int
    # The kernel sums over the two halves, without the point itself.
    left: float
    right: float
    # The random number in [0, 1), rescaled to this interval. The sample lies in the left half if
    # the number is smaller than `share`.
    uniform: float

    @property
    def share(self) -> float:
        """Probability of the left half."""
        return self.left / (self.left + self.right)

    @property
    def goes_left(self) -> bool:
        """True if the sample lies in the left half."""
        return self.uniform < self.share

    @property
    def chosen(self) -> tuple[int, int]:
        """The interval (start, stop) of the half that contains the sample."""
        return (self.start, self.middle) if self.goes_left else (self.middle, self.stop)


def sampling_tree(points: ArrayLike) -> Tree:
    """Build the tree whose `order`, an (n,) int array of points, Algorithm 1 halves."""
    return build_tree(check_points(points, "points"), LEAF)


def halvings(graph: SimilarityGraph, tree: Tree, point: int, draw: int) -> list[Halving]:
    """Draw one neighbor of one point as Algorithm 1 does, and list the halvings.

    The kernel sums are exact, whereas Algorithm 1 estimates them. With stratified draws and exact
    kernel sums (``sampler="recursive", kde="direct"``), the sample is the neighbor in the graph.

    The seed of the graph, its number of rounds L, and which of the L draws of the point it is,
    counted from 0, determine the random number. The list is empty for an isolated point. The last
    chosen half is a single point, the sample. A ValueError is raised if the graph has no such point
    or no such draw.
    """
    point = check_count(point, "point", minimum=0, maximum=len(graph.kernel_degrees) - 1)
    draw = check_count(draw, "draw", minimum=0, maximum=graph.n_rounds - 1)
    row = kernel_values(graph, point)[tree.order]
    if not row.any():
        return []
    state = np.uint64(stream(np.uint64(graph.seed), point, 0))
    u = float((uniform(state, 0) + draw) / graph.n_rounds)
    start, stop, steps = 0, len(row), []
    while stop - start > 1:
        middle = (start + stop) // 2
        left, right = float(row[start:middle].sum()), float(row[middle:stop].sum())
        step = Halving(start, middle, stop, left, right, u)
        steps.append(step)
        # Rescale the random number to [0, 1) within the chosen half.
        u = u / step.share if step.goes_left else (u - step.share) / (1.0 - step.share)
        u = min(max(u, 0.0), float(np.nextafter(1.0, 0.0)))
        start, stop = step.chosen
    return steps


def sample_of(steps: list[Halving], tree: Tree) -> int:
    """Return the point at which halvings, of which there is at least one, end."""
    return int(tree.order[steps[-1].chosen[0]])


def kernel_values(graph: SimilarityGraph, point: int) -> NDArray[np.float64]:
    """Compute the (n,) kernel values between a point of a graph and all its points.

    The value of the point itself is 0, as the graph has no self-loops. A ValueError is raised if
    the graph has no such point.
    """
    X = _points_of(graph)
    point = check_count(point, "point", minimum=0, maximum=len(X) - 1)
    row = kernel_row(graph.kernel, graph.sigma, X, point, _shift_of(graph))
    row[point] = 0.0
    return row


def adjacency_after(graph: SimilarityGraph, tree: Tree, n_rounds: int) -> scipy.sparse.csr_array:
    """Compute the adjacency matrix that the first rounds of a graph alone would have given.

    The weights are those of `similarity_graph` for this number of rounds. For the sampler
    "mixture", they are those of the exact law, which differ little. A ValueError is raised if the
    graph has fewer rounds. The cost is that of the last step of `similarity_graph`, O(n L) for
    small L.
    """
    n_rounds = check_count(
        n_rounds, "n_rounds", maximum=graph.n_rounds, reason="(the rounds of the graph)"
    )
    if n_rounds == graph.n_rounds:
        return graph.adjacency
    _points_of(graph)
    position = np.empty(len(tree.order), dtype=np.int32)
    position[tree.order] = np.arange(len(tree.order), dtype=np.int32)
    drawn = graph.neighbors[tree.order][:, :n_rounds]
    drawn = np.where(drawn >= 0, position[drawn], -1).astype(np.int32)
    found = weighted_adjacency(
        tree_kernel(graph.kernel, graph.sigma, tree, _shift_of(graph)),
        tree,
        graph.kernel_degrees[tree.order],
        drawn,
        graph.weighting == "inclusion" and graph.draws == "independent",
    )
    if graph.sample_weight is None:
        return found
    return with_copies(found, graph.sample_weight, graph.densities, graph.alpha)


def _shift_of(graph):
    return exponent_shifts(graph.densities, graph.alpha, graph.sample_weight)


def _points_of(graph):
    """Return the points of a graph, or refuse a graph that does not hold them."""
    if graph.points is None:
        raise ValueError("graph must hold its points, got one whose `points` is None")
    return graph.points
