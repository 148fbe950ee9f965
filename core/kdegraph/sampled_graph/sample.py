"""Algorithm 2: sample the neighbors and weigh the edges."""

import math
from typing import NamedTuple

import numpy as np

from kdegraph.adjacency import weighted_adjacency, with_copies
from kdegraph.geometry.kernels import Kernel
from kdegraph.geometry.neighbor_forest import keeping_lists, near_neighbors
from kdegraph.geometry.tree import LEAF_SIZE, Tree, build_tree
from kdegraph.kde.dispatch import kernel_degrees
from kdegraph.local_bandwidth import neighbors_needed
from kdegraph.runtime.memory import check_memory
from kdegraph.sampling import mixture, near, recursive, rejection
from kdegraph.sampling.choice import choose_sampler, draws_from_lists
from kdegraph.sampling.rounds import LOCAL_ROUNDS, suggest_n_rounds
from kdegraph.scaled_kernel import (
    Bandwidth,
    exponent_shifts,
    pair_kernel,
    resolve_bandwidth,
    tree_kernel,
)


def sample_graph(X, options, stages, sample_weight=None):
    """Sample a graph with the requested sampler, or with the one that `sampling.choice` chooses.
    Return the attributes of a `SimilarityGraph` that are not parameters, and those that have been
    chosen automatically.
    """
    from_lists = draws_from_lists(X, options.sampler, options.allows_estimates)
    sample = _sample_from_lists if from_lists else _sample_on_tree
    found = sample(X, options, stages, sample_weight)
    if sample_weight is not None:
        density = found.get("densities")
        adjacency = with_copies(found["adjacency"], sample_weight, density, options.alpha)
        found |= {"adjacency": adjacency, "sample_weight": sample_weight}
    return found


def _sample_from_lists(X, options, stages, sample_weight):
    """Sample a graph, as `sample_graph` does, from lists of near neighbors, without a tree."""
    sigma, perplexity, seed = options.sigma, options.perplexity, options.seed
    stages.enter("neighbors")
    with keeping_lists(X):
        lists = near_neighbors(X, neighbors_needed(len(X), sigma, perplexity), stages.progress)
        bandwidth = resolve_bandwidth(X, sigma, perplexity)
    n_rounds = LOCAL_ROUNDS if isinstance(options.n_rounds, str) else options.n_rounds
    _check_memory(len(X), n_rounds, "mixture")

    stages.enter("samples")
    shift = exponent_shifts(None, 0.0, sample_weight)
    kernel = pair_kernel(options.kernel, bandwidth, len(X), shift)
    law, degrees = mixture.mixture_law(kernel, X, lists, n_rounds, seed, progress=stages.progress)
    neighbors = mixture.draw_neighbors(law, n_rounds, seed, progress=stages.progress)

    stages.enter("graph")
    return {
        "adjacency": mixture.weighted_adjacency(law, neighbors, progress=stages.progress),
        "kernel_degrees": degrees,
        "neighbors": neighbors,
        "points": X,
        "order": None if lists.order is None else lists.order.astype(np.int32),
        "sigma": bandwidth,
        "n_rounds": n_rounds,
        "sampler": "mixture",
        "draws": "independent",
        "eps": math.nan,
    }


def _check_memory(n, n_rounds, sampler):
    """Raise a MemoryError before neighbors are drawn if their graph does not fit."""
    need = f"a graph of {n:,} points with {n_rounds:,} rounds needs"
    advice = "use fewer n_rounds, or a store, which keeps the graph on disk"
    check_memory(graph_bytes(n, n_rounds, sampler), need, advice)


def graph_bytes(n, n_rounds, sampler):
    """Return the memory for all neighbors, from drawing them to their edges in the graph."""
    return n * n_rounds * {"mixture": 120, "recursive": 100}.get(sampler, 40)


class TreeProblem(NamedTuple):
    """A sampling problem on a tree over the points."""

    points: np.ndarray  # (n, d) float64
    tree: Tree
    kernel: Kernel  # between the points of the tree
    bandwidth: Bandwidth  # float or (n,) float64: in the order of the points
    # (n,) float64 or None: the densities that divide the kernel, in the order of the points
    densities: np.ndarray | None
    n_rounds: int  # the paper's L


def _sample_on_tree(X, options, stages, sample_weight):
    """Sample a graph, as `sample_graph` does, by Algorithm 1 or from the exact law."""
    problem = set_up(X, options, stages, sample_weight)
    kernel, tree = problem.kernel, problem.tree
    _check_memory(len(X), problem.n_rounds, options.sampler)
    sampler, neighbors, degrees = _draw(kernel, tree, problem.n_rounds, options, stages)
    draws = options.draws if sampler == "recursive" else "independent"

    stages.enter("graph")
    independent = options.weighting == "inclusion" and draws == "independent"
    adjacency = weighted_adjacency(
        kernel, tree, degrees, neighbors, independent, progress=stages.progress
    )
    return {
        "adjacency": adjacency,
        "kernel_degrees": _by_vertex(degrees, tree),
        "neighbors": tree.original(neighbors),
        "points": problem.points,
        "order": tree.order.astype(np.int32),
        "sigma": problem.bandwidth,
        "n_rounds": problem.n_rounds,
        "sampler": sampler,
        "draws": draws,
        "eps": options.eps,
        "densities": problem.densities,
    }


def set_up(X, options, stages, sample_weight=None):
    """Convert the points to float64, build the tree, and find the bandwidths, the kernel and the
    number of rounds. Return the `TreeProblem`.
    """
    X = np.asarray(X, dtype=np.float64)
    if isinstance(options.sigma, str):
        stages.enter("bandwidth")
    bandwidth = resolve_bandwidth(X, options.sigma, options.perplexity)

    stages.enter("tree")
    leaf_size = recursive.LEAF if options.sampler == "recursive" else LEAF_SIZE
    tree = build_tree(X, leaf_size, progress=stages.progress)
    shift, densities = exponent_shifts(None, 0.0, sample_weight), None
    kernel = tree_kernel(options.kernel, bandwidth, tree, shift)
    if options.alpha > 0:
        stages.enter("densities")
        if kernel.local.is_local:
            _, degrees = near.draw_neighbors(
                kernel, tree, 0, 0, options.eps, progress=stages.progress
            )
        else:
            degrees = kernel_degrees(kernel, tree, options.eps, progress=stages.progress)
        degrees = _by_vertex(degrees, tree)
        own = 1.0 if sample_weight is None else sample_weight
        densities = own + degrees / own
        shift = exponent_shifts(densities, options.alpha, sample_weight)
        kernel = tree_kernel(options.kernel, bandwidth, tree, shift)
    automatic = isinstance(options.n_rounds, str)
    n_rounds = suggest_n_rounds(kernel, tree) if automatic else options.n_rounds
    return TreeProblem(X, tree, kernel, bandwidth, densities, n_rounds)


def _draw(kernel, tree, n_rounds, options, stages):
    """Draw neighbors by Algorithm 1, or independently from the exact law. Return the sampler that
    was used, the neighbors, (n, n_rounds) int32, and the kernel degrees, (n,), both in the tree's
    order.
    """
    eps, seed = options.eps, options.seed
    if options.sampler == "recursive":
        stages.enter("samples")
        neighbors, degrees = recursive.draw_neighbors(
            kernel, tree, options.kde, n_rounds, seed, options.draws, progress=stages.progress
        )
        return "recursive", neighbors, degrees
    sampler, method = choose_sampler(kernel, tree, eps, options.sampler)
    if sampler == "near":
        stages.enter("samples")
        neighbors, degrees = near.draw_neighbors(
            kernel, tree, n_rounds, seed, eps, progress=stages.progress
        )
        return "near", neighbors, degrees
    stages.enter("kernel degrees")
    degrees = kernel_degrees(kernel, tree, eps, method=method, progress=stages.progress)
    stages.enter("samples")
    neighbors = rejection.draw_neighbors(
        kernel, tree, degrees, n_rounds, seed, progress=stages.progress
    )
    return "rejection", neighbors, degrees


def _by_vertex(values, tree):
    """Return values in the order of the original points, given in the order of the tree."""
    out = np.empty(values.size)
    out[tree.order] = values
    return out
