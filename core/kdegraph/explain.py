"""How a sampled graph came about, step by step: for teaching, for plots, and for the explorer.

The functions take a `SimilarityGraph` that holds its points, and repeat a part of the work that
`similarity_graph` did for it.

Functions
---------
sampling_tree
    The order in which Algorithm 1 halves the points.
halvings
    The halvings by which one neighbor of one point is drawn.
sample_of
    The neighbor at which they end.
kernel_values
    The kernel between one point and all points.
adjacency_after
    The graph as it was after its first rounds.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from kdegraph.adjacency import weighted_adjacency
from kdegraph.geometry.tree import Tree, build_tree
from kdegraph.runtime.random import stream, uniform
from kdegraph.sampled_graph.result import SimilarityGraph
from kdegraph.sampling.recursive import LEAF
from kdegraph.scaled_kernel import kernel_row, tree_kernel
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
    """One halving of an interval of points in Algorithm 1.

    Attributes
    ----------
    start, middle, stop : int
        The interval [start, stop) of positions in the order of the tree, and where it is halved.
    left, right : float
        The kernel sums over the two halves, without the point itself.
    uniform : float
        The random number in [0, 1), rescaled to this interval. The sample lies in the left half if
        the number is smaller than `share`.
    """

    start: int
    middle: int
    stop: int
    left: float
    right: float
    uniform: float

    @property
    def share(self) -> float:
        """Probability of the left half."""
        return self.left / (self.left + self.right)

    @property
    def goes_left(self) -> bool:
        """Whether the sample lies in the left half."""
        return self.uniform < self.share

    @property
    def chosen(self) -> tuple[int, int]:
        """The interval (start, stop) of the half that contains the sample."""
        return (self.start, self.middle) if self.goes_left else (self.middle, self.stop)


def sampling_tree(points: ArrayLike) -> Tree:
    """Build the tree whose order Algorithm 1 halves.

    Parameters
    ----------
    points : (n, d) array_like
        The points of the graph.

    Returns
    -------
    Tree
        Its attribute `order`, an (n,) int array, lists the points in the order of the tree.

    Raises
    ------
    ValueError, TypeError
        If `points` is not a table of finite numbers.

    Notes
    -----
    Cost: O(n log n).

    Examples
    --------
    >>> from kdegraph import explain
    >>> sorted(explain.sampling_tree([[3.0], [1.0], [2.0]]).order.tolist())
    [0, 1, 2]
    """
    return build_tree(check_points(points, "points"), LEAF)


def halvings(graph: SimilarityGraph, tree: Tree, point: int, draw: int) -> list[Halving]:
    """Draw one neighbor of one point as Algorithm 1 does, and list the halvings.

    The kernel sums are exact, where Algorithm 1 takes estimates of them. With stratified draws and
    exact kernel sums (``sampler="recursive", kde="direct"``), the sample is the neighbor that the
    graph has.

    Parameters
    ----------
    graph : SimilarityGraph
        A graph with its points. Its seed and its number of rounds decide the random number.
    tree : Tree
        The `sampling_tree` of these points.
    point : int
        The point whose neighbor is drawn.
    draw : int
        Which of the L draws of the point, counted from 0.

    Returns
    -------
    list of Halving
        Empty for an isolated point. The half that is chosen last is a single point, the sample.

    Raises
    ------
    ValueError
        If the graph has no such point or no such draw.

    Notes
    -----
    Cost: O(n d).

    References
    ----------
    Macgregor and Sun, "Fast approximation of similarity graphs with kernel density estimation",
    NeurIPS 2023, Algorithm 1.

    Examples
    --------
    >>> import kdegraph
    >>> from kdegraph import explain
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> graph = kdegraph.similarity_graph(X, sigma=1.0, n_rounds=2, seed=0)
    >>> steps = explain.halvings(graph, explain.sampling_tree(X), point=0, draw=1)
    >>> [step.stop - step.start for step in steps]
    [4, 2]
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
        u = _rescaled(u, step)
        start, stop = step.chosen
    return steps


def sample_of(steps: list[Halving], tree: Tree) -> int:
    """Return the point at which halvings end.

    Parameters
    ----------
    steps : list of Halving
        What `halvings` has returned, not empty.
    tree : Tree
        The `sampling_tree` that was halved.

    Returns
    -------
    int

    Examples
    --------
    >>> import kdegraph
    >>> from kdegraph import explain
    >>> X = [[0.0], [1.0], [100.0], [101.0]]
    >>> tree = explain.sampling_tree(X)
    >>> graph = kdegraph.similarity_graph(X, sigma=1.0, n_rounds=2, seed=0)
    >>> explain.sample_of(explain.halvings(graph, tree, point=0, draw=1), tree)
    1
    """
    return int(tree.order[steps[-1].chosen[0]])


def _rescaled(u, step):
    """Rescale the random number of a halving to [0, 1) within the half that was chosen."""
    below_one = float(np.nextafter(1.0, 0.0))
    if step.goes_left:
        return min(u / step.share, below_one)
    return min(max((u - step.share) / (1.0 - step.share), 0.0), below_one)


def kernel_values(graph: SimilarityGraph, point: int) -> NDArray[np.float64]:
    """Compute the kernel between a point of a graph and all its points.

    Parameters
    ----------
    graph : SimilarityGraph
        A graph with its points.
    point : int

    Returns
    -------
    (n,) float64 array
        0 for the point itself, as the graph has no self-loops.

    Raises
    ------
    ValueError
        If the graph has no such point.

    Notes
    -----
    Cost: O(n d).

    Examples
    --------
    >>> import kdegraph
    >>> from kdegraph import explain
    >>> graph = kdegraph.similarity_graph([[0.0], [1.0], [2.0]], sigma=1.0, seed=0)
    >>> explain.kernel_values(graph, 0).round(4).tolist()
    [0.0, 0.3679, 0.0183]
    """
    X = _points_of(graph)
    point = check_count(point, "point", minimum=0, maximum=len(X) - 1)
    row = kernel_row(
        graph.kernel, graph.sigma, X, point, density=graph.densities, alpha=graph.alpha
    )
    row[point] = 0.0
    return row


def adjacency_after(graph: SimilarityGraph, tree: Tree, n_rounds: int) -> scipy.sparse.csr_array:
    """Compute the adjacency matrix that the first rounds alone would have given.

    Parameters
    ----------
    graph : SimilarityGraph
        A graph with its points.
    tree : Tree
        The `sampling_tree` of these points.
    n_rounds : int
        Number of rounds, at most that of the graph.

    Returns
    -------
    (n, n) csr_array
        Symmetric, with the weights of `similarity_graph` for this number of rounds. Where the
        sampler was "mixture", with those that the exact law would have; the two differ little.

    Raises
    ------
    ValueError
        If the graph has fewer rounds.

    Notes
    -----
    Cost: that of the last step of `similarity_graph`, O(n L) for small L.

    Examples
    --------
    >>> import kdegraph
    >>> from kdegraph import explain
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> graph = kdegraph.similarity_graph(X, sigma=1.0, n_rounds=5, seed=0)
    >>> explain.adjacency_after(graph, explain.sampling_tree(X), 1).nnz <= graph.adjacency.nnz
    True
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
    independent = graph.weighting == "inclusion" and graph.draws == "independent"
    return weighted_adjacency(
        tree_kernel(graph.kernel, graph.sigma, tree, density=graph.densities, alpha=graph.alpha),
        tree,
        graph.kernel_degrees[tree.order],
        drawn,
        independent,
    )


def _points_of(graph):
    """The points of a graph, or an error for a graph that does not hold them."""
    if graph.points is None:
        raise ValueError("graph must hold its points, got one whose `points` is None")
    return graph.points
