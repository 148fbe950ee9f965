"""The one account of costs: what decides between methods that give the same result.

Times are in nanoseconds of one core unless a field says otherwise. They decide between methods
only, never about results. The experiment ``costs`` measures the slopes again. The constants of
kernel sums are right relative to each other. Those of near sources are such slopes; those of the
other samplers were set so that the choices are right on the grid of the experiment ``samplers``,
and ``tests/sampling/test_choice.py`` holds them there.
"""

from typing import NamedTuple

# ---------------------------------------------------------------- kernel sums


class DirectCosts(NamedTuple):
    """The direct sum over all pairs, `kdegraph.kde.direct`.

    Attributes
    ----------
    pair, pair_per_dimension : float
        A kernel value in a long, vectorized loop, and what each dimension adds to it.
    serial_pairs : int
        Pairs: one thread evaluates at most as many, about 0.15 ms of work, as waking a second one
        takes about as long.
    """

    pair: float = 1.0
    pair_per_dimension: float = 0.155
    serial_pairs: int = 100_000


class TreeCosts(NamedTuple):
    """The sum on a tree over the sources, `kdegraph.kde.tree`.

    Attributes
    ----------
    least_alternative : float
        The tree is considered only where every other method is estimated to cost at least this:
        building the tree and planning take up to a tenth of it.
    least_alternative_per_point_dimension : float
        The same for each point and dimension, sources and targets added up: a tree does not cost
        less.
    visit, visit_per_dimension : float
        A pair of nodes that is looked at, for the bound and for the sum.
    pair, pair_per_dimension : float
        A kernel value between two nodes; loops over few points cost more than in the direct sum.
    """

    least_alternative: float = 2e7
    least_alternative_per_point_dimension: float = 800.0
    visit: float = 120.0
    visit_per_dimension: float = 24.0
    pair: float = 1.2
    pair_per_dimension: float = 0.35


class GridCosts(NamedTuple):
    """The Gauss transform on a grid of boxes, `kdegraph.kde.grid`.

    Attributes
    ----------
    set_up, set_up_targets : float
        Planning a grid, where the targets are the sources and where they are other points. A grid
        is considered only where all pairs cost twice as much.
    point, point_per_dimension : float
        Sorting a point into its box, and evaluating its polynomials.
    term : float
        A term of an expansion at a point.
    box : float
        A box, also an empty one.
    box_pair : float
        A pair of boxes along an axis.
    product : float
        One product of a translation along an axis.
    product_run : float
        A run of products over consecutive numbers; there are order^2 for a pair of boxes.
    bound_translations : int
        Number of translations of error bounds (of order 2) for each translation of coefficients.
    passing_boxes : float
        Factor by which the number of boxes that take part grows with each dimension beyond three:
        boxes without points pass on what they get.
    give_up : float
        Factor: the search ends at a width that costs as many times the least cost found, as
        narrower boxes cost more and more.
    handed_back : float
        What a target costs at most that the grid hands back to another method.
    least_for_axes : float
        Principal axes are considered only where the grid along the given axes costs at least this:
        turning the points takes a good part of it.
    """

    set_up: float = 5e5
    set_up_targets: float = 1e6
    point: float = 20.0
    point_per_dimension: float = 5.0
    term: float = 0.09
    box: float = 20.0
    box_pair: float = 25.0
    product: float = 0.08
    product_run: float = 2.5
    bound_translations: int = 5
    passing_boxes: float = 1.5
    give_up: float = 2.0
    handed_back: float = 1e5
    least_for_axes: float = 5e6


DIRECT_COSTS = DirectCosts()
TREE_COSTS = TreeCosts()
GRID_COSTS = GridCosts()

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

    pair: float = 1.2
    pair_per_dimension: float = 0.08
    pair_per_dimension_by_products: float = 0.07
    pair_beyond_caches: float = 2.0
    cached_values: int = 2_000_000
    draw: float = 50.0


class NearCosts(NamedTuple):
    """Sampling from the near sources of each leaf, `kdegraph.sampling.near`.

    Attributes
    ----------
    set_up : float
        Every call; measured with 10 to 30 points.
    point : float
        A target, with its kernel values in its own leaf.
    visit, visit_per_dimension : float
        A node that is looked at for the lists of a leaf.
    pair, pair_per_dimension : float
        A kernel value and its part in the running sum.
    draw : float
        A draw from a finished row, for each doubling of the number of near sources, as measured on
        two moons of 500 to 3,000 points, where it decides; on normal points it is 4 to 5.
    """

    set_up: float = 5e4
    point: float = 310.0
    visit: float = 31.0
    visit_per_dimension: float = 3.0
    pair: float = 0.7
    pair_per_dimension: float = 0.12
    draw: float = 6.5


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
    degrees : float
        Factor for the estimated cost of the kernel degrees. The constants of kernel sums are right
        relative to each other; the sums take less.
    """

    set_up: float = 3e5
    group: float = 1000.0
    visit: float = 4.0
    visit_per_dimension: float = 1.0
    entry: float = 10.0
    draw: float = 5.0
    proposal: float = 6.0
    proposal_per_dimension: float = 0.8
    overhead: float = 1.0
    degrees: float = 0.6


class SamplerChoice(NamedTuple):
    """What decides between rows, near sources and rejection, `kdegraph.sampling.choice`.

    Attributes
    ----------
    small_rows : float
        Rejection is not considered if rows cost at most this.
    estimation : float
        If rows cost at most this, the extent alone decides about rejection, as the estimate for it
        would take a good part of that.
    extent, share_of_axis : float
        Numbers: rejection is taken at once if the largest exponent of a Gaussian between two points
        is at most ``extent * (share_of_axis * n) ** (2 / d)``. A point then has at least about as
        many others within reach for any n and d. With 1,000 points of five clusters the samplers
        are about equally fast there, and with more points rejection is faster.
    max_dimension_of_extent : int
        In more dimensions, where the degrees cost more, the extent does not decide.
    few_neighbors : float
        Kernel degree: where the mean is at most this, the cheaper one of rows and near sources is
        taken at once, as rejection, whose lists are then made for few draws, hardly costs less. On
        moons, uniform points and normal clusters of 5,000 to 100,000 points in 1 to 4 dimensions
        near sources take 0.4 to 1.2 times as long as rejection there, with 10 rounds as with 30.
    """

    small_rows: float = 1.5e6
    estimation: float = 2.5e6
    extent: float = 25.0
    share_of_axis: float = 0.022
    max_dimension_of_extent: int = 3
    few_neighbors: float = 10.0


ROW_COSTS = RowCosts()
NEAR_COSTS = NearCosts()
REJECTION_COSTS = RejectionCosts()
SAMPLER_CHOICE = SamplerChoice()

# ---------------------------------------------------------------- nearest neighbors


class NeighborCosts(NamedTuple):
    """Searching for nearest neighbors, `kdegraph.geometry.neighbors`.

    Attributes
    ----------
    max_tree_dimension : int
        Largest dimension in which the neighbors of all points are found on our tree; above it all
        distances are computed by matrix products. At n = 15,000 and 60,000 with k = 10 both take as
        long in 12 (normal) to 14 (uniform) dimensions on unstructured points, and the tree is 20 to
        50 times faster on points near a surface of 4 dimensions.
    max_query_dimension : int
        The same for SciPy's k-d tree, which finds the neighbors of a part of the points. Both take
        as long in 8 to 10 dimensions, and in 20 dimensions matrix products are 7 times faster.
    least_share_of_queries : float
        Share of the points: where at least as many are queries, the neighbors of all points are
        found at the same time on our tree. For 300 to 1,000,000 points in 1 to 9 dimensions and
        k = 4 to 31 that is 1.9 to 3.6 times faster than SciPy's k-d tree.
    max_list : int
        Number of neighbors: SciPy's tree is taken for more, as it keeps them in heaps. Ours is 1.8
        to 2.1 times faster for 300 neighbors and 1.7 times slower for 1,000.
    min_near_dimension : int
        Smallest dimension in which near neighbors, `kdegraph.geometry.neighbor_forest`, may stand
        for the nearest.
    near_point, near_point_per_dimension : float
        A point whose near neighbors are listed, and whose sample is drawn from the list.
    all_pair, all_pair_per_dimension : float
        A pair of points where the nearest neighbors, and then the sample, come from all pairs.
    """

    max_tree_dimension: int = 12
    max_query_dimension: int = 9
    least_share_of_queries: float = 0.5
    max_list: int = 300
    min_near_dimension: int = 20
    near_point: float = 1e5
    near_point_per_dimension: float = 200.0
    all_pair: float = 3.0
    all_pair_per_dimension: float = 0.13


NEIGHBOR_COSTS = NeighborCosts()

# ---------------------------------------------------------------- eigenvalues


class LapackCosts(NamedTuple):
    """LAPACK beside the block iteration, `kdegraph.spectral.solver.solve`.

    Attributes
    ----------
    max_small : int
        Vertices: LAPACK is faster for graphs of at most so many.
    multiplication : float
        Time of one of the n^3 multiplications of LAPACK, relative to one in a product of the sparse
        matrix with a block; measured at 800 to 4,000 vertices on two cores.
    typical_products : int
        Products of an iteration: LAPACK is taken where it needs no longer than these.
    max_instead : int
        Vertices: LAPACK, which takes some seconds for so many, steps in if the iteration does not
        converge.
    """

    max_small: int = 400
    multiplication: float = 0.6
    typical_products: int = 50
    max_instead: int = 4_000


LAPACK_COSTS = LapackCosts()
