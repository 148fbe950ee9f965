"""The sampled graph in many dimensions: from lists of near neighbors, without a tree."""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from kdegraph.bandwidth import sigma_of_lists
from kdegraph.geometry.neighbor_forest import has_duplicates, has_many_dimensions, near_neighbors
from kdegraph.local_bandwidth import bandwidths_of_lists, neighbors_needed
from kdegraph.sampling import mixture
from kdegraph.sampling.rounds import LOCAL_ROUNDS
from kdegraph.scaled_kernel import Bandwidth, pair_kernel, resolve_bandwidth


class SampledLists(NamedTuple):
    """What `sample_from_lists` returns; see the attributes of `SimilarityGraph`."""

    adjacency: scipy.sparse.csr_array
    kernel_degrees: np.ndarray
    neighbors: np.ndarray
    sigma: Bandwidth
    n_rounds: int
    order: np.ndarray


def sample_from_lists(X, sigma, perplexity, kernel, n_rounds, seed, stages):
    """Sample the graph with `kdegraph.sampling.mixture`.

    Parameters
    ----------
    X : (n, d) float32 or float64 array
    sigma : float, "auto", "local" or (n,) float64 array
    perplexity : float or None
    kernel : str
    n_rounds : int or "auto"
        "auto" is 30.
    seed : int
    stages : StageTimer

    Returns
    -------
    SampledLists
    """
    stages.enter("neighbors")
    lists = near_neighbors(X, neighbors_needed(len(X), sigma, perplexity), stages.progress)
    bandwidth = _bandwidth(X, lists, sigma, perplexity)
    n_rounds = LOCAL_ROUNDS if isinstance(n_rounds, str) else n_rounds

    stages.enter("samples")
    law, degrees = mixture.mixture_law(
        pair_kernel(kernel, bandwidth, len(X)), X, lists, n_rounds, seed, progress=stages.progress
    )
    neighbors = mixture.draw_neighbors(law, n_rounds, seed, progress=stages.progress)

    stages.enter("graph")
    adjacency = mixture.weighted_adjacency(law, neighbors, progress=stages.progress)
    order = lists.order.astype(np.int32)
    return SampledLists(adjacency, degrees, neighbors, bandwidth, n_rounds, order)


def _bandwidth(X, lists, sigma, perplexity):
    """What `resolve_bandwidth` returns, from the lists where it would make the same ones."""
    if isinstance(sigma, str) and has_many_dimensions(X):
        if sigma == "local" and not has_duplicates(lists):
            return bandwidths_of_lists(lists, perplexity)
        if sigma == "auto" and (found := sigma_of_lists(lists)) > 0:
            return found
    return resolve_bandwidth(X, sigma, perplexity)
