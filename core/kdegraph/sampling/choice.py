"""The choice between the exact samplers, by their estimated costs."""

from kdegraph.costs import NEAR_COSTS, REJECTION_COSTS, SAMPLER_CHOICE
from kdegraph.geometry.kernels import GAUSSIAN
from kdegraph.kde.dispatch import choose_for_degrees
from kdegraph.sampling import near, rows
from kdegraph.sampling.rejection import sampler as rejection
from kdegraph.sampling.rejection.target_groups import group_targets


def choose_sampler(kernel, tree, eps, n_rounds, sampler):
    """Choose an exact sampler.

    Parameters
    ----------
    kernel : Kernel
    tree : Tree
    eps : float
        Relative error of the kernel degrees.
    n_rounds : int
    sampler : {"auto", "near", "rejection", "rows"}
        The one that was asked for, or "auto" for the one that is estimated to cost least. A kernel
        with local bandwidths has no "rejection".

    Returns
    -------
    sampler : {"near", "rejection", "rows"}
    method : object or None
        For "rejection": the method for the kernel degrees, as `choose_for_degrees` returns it.
    groups : TargetGroups or None
        For "rejection": the groups of targets.
    """
    if sampler == "rejection":
        return sampler, choose_for_degrees(kernel, tree, eps), group_targets(kernel, tree, n_rounds)
    if sampler != "auto":
        return sampler, None, None
    rows_cost = rows.estimate_cost(kernel, tree, n_rounds, eps)
    if rows_cost <= NEAR_COSTS.set_up:
        return "rows", None, None
    may_reject = not kernel.local.is_local and rows_cost > SAMPLER_CHOICE.small_rows
    if may_reject and _is_wide(kernel, tree):
        return choose_sampler(kernel, tree, eps, n_rounds, "rejection")
    near_cost, degree = near.estimate_cost(kernel, tree, n_rounds, eps)
    sampler, cost = ("near", near_cost) if near_cost < rows_cost else ("rows", rows_cost)
    is_small = not may_reject or rows_cost <= SAMPLER_CHOICE.estimation
    if is_small or degree <= SAMPLER_CHOICE.few_neighbors:
        return sampler, None, None
    return _compare_with_rejection(kernel, tree, eps, n_rounds, sampler, cost)


def _is_wide(kernel, tree):
    """Whether all points are so near each other at the scale of sigma that rejection is certainly
    fastest; by their extent alone, as estimates of the costs would take long.
    """
    n, d = tree.points.shape
    if kernel.code != GAUSSIAN or d > SAMPLER_CHOICE.max_dimension_of_extent:
        return False
    widest = 4 * tree.radii(kernel.inverse_sigma)[0] ** 2
    return widest <= SAMPLER_CHOICE.extent * (SAMPLER_CHOICE.share_of_axis * n) ** (2 / d)


def _compare_with_rejection(kernel, tree, eps, n_rounds, sampler, cost):
    """`choose_sampler` between rejection and another sampler of this cost."""
    method = choose_for_degrees(kernel, tree, eps)
    left = cost - REJECTION_COSTS.degrees * method.cost
    # The groups, which take memory, are not needed where the degrees alone cost too much.
    if left >= 0:
        groups = group_targets(kernel, tree, n_rounds)
        if rejection.estimate_cost(kernel, tree, groups, n_rounds) <= left:
            return "rejection", method, groups
    return sampler, None, None
