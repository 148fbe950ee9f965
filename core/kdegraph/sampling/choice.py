"""The choice between the exact samplers, by their estimated costs."""

from kdegraph.costs import SAMPLER_CHOICE
from kdegraph.geometry.boxes import box_distances
from kdegraph.kde.dispatch import Direct, choose_for_degrees
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
    sampler : {"auto", "rejection", "rows"}
        The one that was asked for, or "auto" for the one that is estimated to cost less.

    Returns
    -------
    sampler : {"rejection", "rows"}
    method : object or None
        For "rejection": the method for the kernel degrees, as `choose_for_degrees` returns it.
    groups : TargetGroups or None
        For "rejection": the groups of targets.
    """
    if sampler == "near":
        return "near", None, None
    rows_cost = rows.estimate_cost(kernel, tree, n_rounds, eps)
    if sampler == "auto" and kernel.local.is_local:
        faster = near.estimate_cost(kernel, tree, n_rounds, eps) < rows_cost
        return "near" if faster else "rows", None, None
    if sampler == "auto" and rows_cost < SAMPLER_CHOICE.estimation:
        sampler = _choose_for_few_points(kernel, tree, rows_cost)
    if sampler == "rows":
        return "rows", None, None
    method = choose_for_degrees(kernel, tree, eps)
    groups = group_targets(kernel, tree, n_rounds)
    if sampler == "auto":
        many_dimensions = tree.points.shape[1] > SAMPLER_CHOICE.max_certain_dimension
        limit = rows_cost
        if rows_cost <= SAMPLER_CHOICE.certain or (isinstance(method, Direct) and many_dimensions):
            limit *= SAMPLER_CHOICE.uncertain_share
        left = limit - method.cost
        # The second estimate is not needed where the degrees alone cost too much.
        if left < 0 or rejection.estimate_cost(kernel, tree, groups, n_rounds) > left:
            return "rows", None, None
    return "rejection", method, groups


def _choose_for_few_points(kernel, tree, rows_cost):
    """Choose by the extent of the points alone, where the estimates would take as long as rows.

    Rejection is faster for points that are all near each other at the scale of sigma.
    """
    if rows_cost <= SAMPLER_CHOICE.small_rows:
        return "rows"
    _, widest = box_distances(kernel.code, kernel.inverse_sigma, tree, 0, tree, 0)
    near = widest <= SAMPLER_CHOICE.extent ** (1 / (tree.points.shape[1] + 0.5))
    return "rejection" if near else "rows"
