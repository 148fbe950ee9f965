"""The sampled graph from a tree over the points: Algorithm 2 with one of the exact samplers, or
with Algorithm 1.
"""

from typing import NamedTuple

import numpy as np

from kdegraph.adjacency import weighted_adjacency
from kdegraph.geometry.kernels import Kernel
from kdegraph.geometry.tree import LEAF_SIZE, Tree, build_tree
from kdegraph.kde.dispatch import kernel_degrees
from kdegraph.sampled_graph.options import SampledGraph
from kdegraph.sampling import near, recursive, rows
from kdegraph.sampling.choice import choose_sampler
from kdegraph.sampling.rejection import sampler as rejection
from kdegraph.sampling.rounds import suggest_n_rounds
from kdegraph.scaled_kernel import Bandwidth, resolve_bandwidth, tree_kernel


class TreeProblem(NamedTuple):
    """What is to be sampled on a tree.

    Attributes
    ----------
    points : (n, d) float64
    tree : Tree
    kernel : Kernel
        Between the points of the tree.
    bandwidth : float or (n,) float64
        In the order of the points.
    densities : (n,) float64 or None
        What is divided out of the kernel, in the order of the points.
    n_rounds : int
        The paper's L.
    """

    points: np.ndarray
    tree: Tree
    kernel: Kernel
    bandwidth: Bandwidth
    densities: np.ndarray | None
    n_rounds: int


def sample_on_tree(X, options, stages):
    """Sample the graph on a tree.

    Parameters
    ----------
    X : (n, d) array
        Taken as float64.
    options : GraphOptions
    stages : StageTimer

    Returns
    -------
    SampledGraph
    """
    problem = set_up(X, options, stages)
    kernel, tree, n_rounds = problem.kernel, problem.tree, problem.n_rounds
    draw = _draw_recursively if options.sampler == "recursive" else _draw_exactly
    sampler, draws, neighbors, degrees = draw(kernel, tree, n_rounds, options, stages)

    stages.enter("graph")
    independent = options.weighting == "inclusion" and draws == "independent"
    adjacency = weighted_adjacency(
        kernel, tree, degrees, neighbors, independent, progress=stages.progress
    )
    return SampledGraph(
        adjacency=adjacency,
        kernel_degrees=by_vertex(degrees, tree),
        neighbors=tree.original(neighbors),
        points=problem.points,
        order=tree.order.astype(np.int32),
        sigma=problem.bandwidth,
        n_rounds=n_rounds,
        sampler=sampler,
        draws=draws,
        eps=options.eps,
        densities=problem.densities,
    )


def set_up(X, options, stages):
    """Build the tree, and find the bandwidths, the kernel and the number of rounds.

    Parameters
    ----------
    X : (n, d) array
        Taken as float64.
    options : GraphOptions
    stages : StageTimer

    Returns
    -------
    TreeProblem
    """
    X = np.asarray(X, dtype=np.float64)
    if isinstance(options.sigma, str):
        stages.enter("bandwidth")
    bandwidth = resolve_bandwidth(X, options.sigma, options.perplexity)

    stages.enter("tree")
    leaf_size = recursive.LEAF if options.sampler == "recursive" else LEAF_SIZE
    tree = build_tree(X, leaf_size, progress=stages.progress)
    kernel, densities = _kernel(bandwidth, tree, options, stages)
    automatic = isinstance(options.n_rounds, str)
    n_rounds = suggest_n_rounds(kernel, tree) if automatic else options.n_rounds
    return TreeProblem(X, tree, kernel, bandwidth, densities, n_rounds)


def _kernel(bandwidth, tree, options, stages):
    """The kernel between the points of the tree, and the densities that are divided out of it, of
    each vertex, or None.
    """
    kernel = tree_kernel(options.kernel, bandwidth, tree)
    if options.alpha == 0:
        return kernel, None
    stages.enter("densities")
    densities = by_vertex(_densities(kernel, tree, options.eps, stages.progress), tree)
    scaled = tree_kernel(options.kernel, bandwidth, tree, density=densities, alpha=options.alpha)
    return scaled, densities


def _densities(kernel, tree, eps, progress):
    """The kernel sums at all points of the tree, themselves included."""
    if not kernel.local.is_local:
        return 1.0 + kernel_degrees(kernel, tree, eps, progress=progress)
    sampler, _, _ = choose_sampler(kernel, tree, eps, 0, "auto")
    draw = rows.draw_neighbors if sampler == "rows" else near.draw_neighbors
    return 1.0 + draw(kernel, tree, 0, 0, eps, progress=progress)[1]


def _draw_recursively(kernel, tree, n_rounds, options, stages):
    """Draw neighbors by Algorithm 1.

    Returns
    -------
    sampler, draws : str
        As in `SampledGraph`.
    neighbors : (n, n_rounds) int32 array
        In the tree's order.
    degrees : (n,) float64 array
        Kernel degrees in the tree's order.
    """
    stages.enter("samples")
    neighbors, degrees = recursive.draw_neighbors(
        kernel, tree, options.kde, n_rounds, options.seed, options.draws, progress=stages.progress
    )
    return "recursive", options.draws, neighbors, degrees


def _draw_exactly(kernel, tree, n_rounds, options, stages):
    """Draw independent neighbors from the exact law; returns what `_draw_recursively` does."""
    eps, seed = options.eps, options.seed
    sampler, method, groups = choose_sampler(kernel, tree, eps, n_rounds, options.sampler)
    if sampler != "rejection":
        stages.enter("samples")
        draw = rows.draw_neighbors if sampler == "rows" else near.draw_neighbors
        neighbors, degrees = draw(kernel, tree, n_rounds, seed, eps, progress=stages.progress)
    else:
        stages.enter("kernel degrees")
        degrees = kernel_degrees(kernel, tree, eps, method=method, progress=stages.progress)
        stages.enter("samples")
        neighbors = rejection.draw_neighbors(
            kernel, tree, degrees, n_rounds, seed, groups=groups, progress=stages.progress
        )
    return sampler, "independent", neighbors, degrees


def by_vertex(values, tree):
    """Values in the order of the tree, in that of the original points."""
    out = np.empty(values.size)
    out[tree.order] = values
    return out
