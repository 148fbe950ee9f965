"""The one account of costs: what decides between methods that give the same result.

Times are in nanoseconds of one core unless a field says otherwise. They are calibrated by
``benchmarks/costs.py`` on two cores and decide between methods only, never about results.
"""

from typing import NamedTuple

# ---------------------------------------------------------------- kernel sums

# ---------------------------------------------------------------- samplers


class RowCosts(NamedTuple):
    """Sampling from full rows of the kernel matrix, `kdegraph.sampling.rows`.

    Attributes
    ----------
    pair : float
        A kernel value and its part in the running sum.
    pair_per_dimension, pair_per_dimension_by_products : float
        What each dimension adds to a pair, where distances are computed coordinate by coordinate
        and where they come from inner products.
    pair_beyond_caches : float
        What a pair costs more where the rows that are computed together leave the caches.
    cached_values : int
        Number of kernel values that stay in the caches.
    draw : float
        A draw from a finished row.
    """

    pair: float = 1.5
    pair_per_dimension: float = 0.16
    pair_per_dimension_by_products: float = 0.08
    pair_beyond_caches: float = 2.0
    cached_values: int = 2_000_000
    draw: float = 35.0


class RejectionCosts(NamedTuple):
    """Sampling by rejection without the kernel degrees, `kdegraph.sampling.rejection`.

    Attributes
    ----------
    set_up : float
        Every call.
    group : float
        A group of targets.
    visit, visit_per_dimension : float
        A node that is looked at for a list.
    entry : float
        An entry of a list and of its alias table.
    draw : float
        A draw, without its proposals.
    proposal, proposal_per_dimension : float
        A proposal.
    overhead : float
        Factor for what is not counted: memory beyond the caches, proposals for few draws.
    """

    set_up: float = 3e5
    group: float = 1000.0
    visit: float = 4.0
    visit_per_dimension: float = 1.0
    entry: float = 10.0
    draw: float = 5.0
    proposal: float = 6.0
    proposal_per_dimension: float = 0.8
    overhead: float = 1.3


class SamplerChoice(NamedTuple):
    """What decides between rows and rejection, `kdegraph.sampling.choice`.

    Attributes
    ----------
    small_rows : float
        Rows of at most this cost are taken at once.
    estimation : float
        Rows that cost less are compared by the extent of the points alone, as the estimates would
        take as long.
    extent : float
        Number: rejection is taken there if the largest exponent between two points, to the power d
        + 1/2, is at most this.
    certain : float
        The estimate for rejection is uncertain where rows cost at most this.
    max_certain_dimension : int
        It is uncertain, too, in more dimensions if the degrees are computed from all pairs.
    uncertain_share : float
        Factor: an uncertain estimate for rejection must be at most this share of the cost of rows.
    """

    small_rows: float = 1.5e6
    estimation: float = 4.2e6
    extent: float = 5e9
    certain: float = 3e7
    max_certain_dimension: int = 14
    uncertain_share: float = 0.8


ROW_COSTS = RowCosts()
REJECTION_COSTS = RejectionCosts()
SAMPLER_CHOICE = SamplerChoice()

# ---------------------------------------------------------------- nearest neighbors


class NeighborCosts(NamedTuple):
    """Searching for nearest neighbors, `kdegraph.geometry.neighbors`.

    Attributes
    ----------
    max_tree_dimension : int
        Largest dimension in which a k-d tree is taken; above it all distances are computed by
        matrix products. At n = 15,000 and 60,000 with k = 10 the tree is 10 to 100 times faster in
        2 and 5 dimensions, both take as long in 8 to 10 dimensions, and in 20 dimensions matrix
        products are 7 times faster on unstructured points.
    """

    max_tree_dimension: int = 9


NEIGHBOR_COSTS = NeighborCosts()
