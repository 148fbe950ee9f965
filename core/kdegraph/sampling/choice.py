"""The automatic choice of the sampler.

A KDE solver of the caller needs "recursive", which `kdegraph.graph_parameters` chooses.
Otherwise three conditions decide:

1. Many points in many dimensions, where estimated degrees suffice: "mixture". From 64 dimensions
   on, a thousand points are many.
2. A bandwidth per point: "near", as "rejection" needs kernel sums with one bandwidth.
3. A narrow kernel: "near", and "rejection" for a wide one. Narrow means that the kernel values of
   near sources cost less than `NEAR_SHARE` of the kernel sums that "rejection" needs.
"""

from kdegraph.costs import DIRECT_COSTS
from kdegraph.geometry.neighbor_forest import has_many_dimensions
from kdegraph.kde.dispatch import choose_for_degrees
from kdegraph.sampling import near

# A share of estimated times. Measured on 141 problems of 5,000 to 100,000 points in 1 to 20
# dimensions, with sigma from 0.1 to 10 times `estimate_sigma`: the chosen sampler takes 1.02 times
# as long as the faster one in the mean. The experiment `samplers` measures both samplers.
NEAR_SHARE = 0.45


def draws_from_lists(X, sampler, allows_estimates):
    """Return whether a graph is sampled by "mixture". The `sampler` may be "auto"; then it matters
    whether estimates of the kernel degrees suffice.
    """
    if sampler != "auto" or not allows_estimates:
        return sampler == "mixture"
    n, d = X.shape
    # There "mixture" was faster on a second graph of the same points: 1.0 times for 1,797 points in
    # 64 dimensions, 3 times for 4,000 in 100, 3 for 2,000 and 7 for 4,000 in 256, but 0.5 for 4,000
    # in 16.
    return has_many_dimensions(X) or (n >= 1_000 and d >= 64)


def choose_sampler(kernel, tree, eps, sampler):
    """Choose a sampler that draws from the exact law, unless `sampler` names one. Return "near" and
    None, or "rejection" and the method for the kernel degrees, as `choose_for_degrees` returns it.
    `eps` is the relative error of the degrees.
    """
    if sampler == "near" or kernel.local.is_local:
        return "near", None
    method = choose_for_degrees(kernel, tree, eps)
    if sampler == "auto":
        n, d = tree.points.shape
        cost_of_value = DIRECT_COSTS.pair + DIRECT_COSTS.pair_per_dimension * d
        # A very wide kernel has far nodes in place of near sources, but then the degrees are large.
        most = NEAR_SHARE * method.cost / (n * cost_of_value)
        if near.has_few_sources(kernel, tree, eps, most):
            return "near", None
    return "rejection", method
