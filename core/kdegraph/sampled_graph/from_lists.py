"""The sampled graph in many dimensions: from lists of near neighbors, without a tree."""

import math

import numpy as np

from kdegraph.bandwidth import sigma_of_lists
from kdegraph.geometry.neighbor_forest import has_duplicates, has_many_dimensions, near_neighbors
from kdegraph.local_bandwidth import bandwidths_of_lists, neighbors_needed
from kdegraph.sampled_graph.options import SampledGraph
from kdegraph.sampling import mixture
from kdegraph.sampling.rounds import LOCAL_ROUNDS
from kdegraph.scaled_kernel import pair_kernel, resolve_bandwidth
from kdegraph.validation import LOCAL_WORDS


def sample_from_lists(X, options, stages):
    """Sample the graph with `kdegraph.sampling.mixture`.

    Parameters
    ----------
    X : (n, d) float32 or float64 array
    options : GraphOptions
    stages : StageTimer

    Returns
    -------
    SampledGraph
    """
    sigma, perplexity, seed = options.sigma, options.perplexity, options.seed
    stages.enter("neighbors")
    lists = near_neighbors(X, neighbors_needed(len(X), sigma, perplexity), stages.progress)
    bandwidth = _bandwidth(X, lists, sigma, perplexity)
    n_rounds = LOCAL_ROUNDS if isinstance(options.n_rounds, str) else options.n_rounds

    stages.enter("samples")
    kernel = pair_kernel(options.kernel, bandwidth, len(X))
    law, degrees = mixture.mixture_law(kernel, X, lists, n_rounds, seed, progress=stages.progress)
    neighbors = mixture.draw_neighbors(law, n_rounds, seed, progress=stages.progress)

    stages.enter("graph")
    return SampledGraph(
        adjacency=mixture.weighted_adjacency(law, neighbors, progress=stages.progress),
        kernel_degrees=degrees,
        neighbors=neighbors,
        points=X,
        order=lists.order.astype(np.int32),
        sigma=bandwidth,
        n_rounds=n_rounds,
        sampler="mixture",
        draws="independent",
        eps=math.nan,
    )


def _bandwidth(X, lists, sigma, perplexity):
    """What `resolve_bandwidth` returns, from the lists where it would make the same ones."""
    if isinstance(sigma, str) and has_many_dimensions(X):
        if sigma in LOCAL_WORDS and not has_duplicates(lists):  # many dimensions: the same
            return bandwidths_of_lists(lists, perplexity)
        if sigma == "auto" and (found := sigma_of_lists(lists)) > 0:
            return found
    return resolve_bandwidth(X, sigma, perplexity)
