"""The choice between the exact samplers, by the estimated costs."""

from kdegraph.geometry.boxes import box_distances
from kdegraph.kde.dispatch import Direct, choose_for_degrees
from kdegraph.sampling import rows
from kdegraph.sampling.rejection import sampler as rejection
from kdegraph.sampling.rejection.target_groups import Groups

# Costs in ns. Rows up to TRIFLE are taken at once; up to AT_ONCE, as estimating the alternative
# would take as long, the extent of points decides: the alternative is taken if the exponent between
# the farthest ones, to the power d + 1/2, is at most NEAR, and d at most FEW.
TRIFLE, AT_ONCE, NEAR, FEW = 1.5e6, 4.2e6, 5e9, 14


# Part of the cost of rows that the alternative may take where these cost less ns, or its degrees
# all pairs in more dimensions: its own cost is not certain then.
CLEARLY, CERTAIN = 0.8, 3e7


def choose_sampler(kernel, tree, eps, n_rounds, sampler):
    """The exact sampler to take, "rejection" or "rows", and what the first needs: the method for
    kernel degrees, groups of targets.

    `sampler` is the one asked for, or "auto" for the one that is estimated to cost less.
    """
    rows_cost = rows.estimate_cost(kernel, tree, n_rounds, eps)
    if sampler == "auto" and rows_cost < AT_ONCE:
        _, widest = box_distances(kernel.code, kernel.inverse_sigma, tree, 0, tree, 0)
        d = tree.points.shape[1]
        sampler = (
            "rejection"
            if rows_cost > TRIFLE and widest <= NEAR ** (1 / (d + 0.5)) and d <= FEW
            else "rows"
        )
    if sampler == "rows":
        return "rows", None, None
    method, groups = choose_for_degrees(kernel, tree, eps), Groups.of(kernel, tree, n_rounds)
    certain = rows_cost > CERTAIN and not (
        isinstance(method, Direct) and tree.points.shape[1] > FEW
    )
    limit = rows_cost if certain else CLEARLY * rows_cost
    left = limit - method.cost
    if (
        sampler == "auto"
        and rejection.estimate_cost(kernel, tree, groups, n_rounds, limit=left) > left
    ):
        return "rows", None, None
    return "rejection", method, groups
