"""Cost models for choosing between methods with the same result.

Times are in nanoseconds of one core unless a field says otherwise. They decide between methods
only, never about results. The experiment ``costs`` measures the slopes again. The constants of
kernel sums are right relative to each other. They also decide between the samplers, see
`kdegraph.sampling.choice`, and ``tests/sampling/test_choice.py`` holds these choices.
"""

from typing import NamedTuple

# ---------------------------------------------------------------- kernel sums


class DirectCosts(NamedTuple):
    """The direct sum over all pairs, `kdegraph.kde.direct`."""

    # A kernel value in a long, vectorized loop, and what each dimension adds to it.
    pair: float = 1.0
    pair_per_dimension: float = 0.155
    # Pairs: one thread evaluates at most as many, about 0.15 ms of work, as waking a second one
    # takes about as long.
    serial_pairs: int = 100_000


class TreeCosts(NamedTuple):
    """The sum on a tree over the sources, `kdegraph.kde.tree`."""

    # The tree is considered only where every other method is estimated to cost at least this:
    # building the tree and planning take up to a tenth of it.
    least_alternative: float = 2e7
    # The same for each point and dimension, sources and targets added up: a tree does not cost
    # less.
    least_alternative_per_point_dimension: float = 800.0
    # A pair of nodes that is looked at, for the bound and for the sum.
    visit: float = 120.0
    visit_per_dimension: float = 24.0
    # A kernel value between two nodes; loops over few points cost more than in the direct sum.
    pair: float = 1.2
    pair_per_dimension: float = 0.35


class GridCosts(NamedTuple):
    """The Gauss transform on a grid of boxes, `kdegraph.kde.grid`."""

    # Planning a grid, where the targets are the sources and where they are other points. A grid is
    # considered only where all pairs cost twice as much.
    set_up: float = 5e5
    set_up_targets: float = 1e6
    # Sorting a point into its box, and evaluating its polynomials.
    point: float = 20.0
    point_per_dimension: float = 5.0
    term: float = 0.09  # a term of an expansion at a point
    box: float = 20.0  # a box, also an empty one
    box_pair: float = 25.0  # a pair of boxes along an axis
    product: float = 0.08  # one product of a translation along an axis
    # A run of products over consecutive numbers; there are order^2 for a pair of boxes.
    product_run: float = 2.5
    # Number of translations of error bounds (of order 2) for each translation of coefficients.
    bound_translations: int = 5
    # Factor by which the number of boxes that take part grows with each dimension beyond three:
    # boxes without points pass on what they get.
    passing_boxes: float = 1.5
    # Factor: the search ends at a width that costs as many times the least cost found, as narrower
    # boxes cost more and more.
    give_up: float = 2.0
    # What a target costs at most that the grid hands back to another method.
    handed_back: float = 1e5
    # Principal axes are considered only where the grid along the given axes costs at least this:
    # turning the points takes a good part of it.
    least_for_axes: float = 5e6


DIRECT_COSTS = DirectCosts()
TREE_COSTS = TreeCosts()
GRID_COSTS = GridCosts()

# ---------------------------------------------------------------- nearest neighbors


class NeighborCosts(NamedTuple):
    """Searching for nearest neighbors, `kdegraph.geometry.neighbors`."""

    # Largest dimension in which the neighbors of all points are found on the package's own tree;
    # above it all distances are computed by matrix products. At n = 15,000 and 60,000 with k = 10
    # both take equally long in 12 (normal) to 14 (uniform) dimensions on unstructured points, and
    # the tree is 20 to 50 times faster on points near a surface of 4 dimensions.
    max_tree_dimension: int = 12
    # The same for SciPy's k-d tree, which finds the neighbors of some of the points. Both methods
    # take equally long in 8 to 10 dimensions; in 20 dimensions matrix products are 7 times faster.
    max_query_dimension: int = 9
    # Share of the points: if at least this share are queries, the neighbors of all points are found
    # together on the package's own tree. For 300 to 1,000,000 points in 1 to 9 dimensions and k = 4
    # to 31 this is 1.9 to 3.6 times faster than SciPy's k-d tree.
    least_share_of_queries: float = 0.5
    # Number of neighbors above which SciPy's tree is used, which keeps them in heaps. The package's
    # own tree is 1.8 to 2.1 times faster for 300 neighbors and 1.7 times slower for 1,000.
    max_list: int = 300
    # Smallest dimension in which near neighbors, `kdegraph.geometry.neighbor_forest`, may replace
    # the nearest.
    min_near_dimension: int = 20
    # A point whose near neighbors are listed, and whose sample is drawn from the list.
    near_point: float = 1e5
    near_point_per_dimension: float = 200.0
    # A pair of points where the nearest neighbors, and then the sample, come from all pairs.
    all_pair: float = 3.0
    all_pair_per_dimension: float = 0.13


NEIGHBOR_COSTS = NeighborCosts()

# ---------------------------------------------------------------- eigenvalues


class LapackCosts(NamedTuple):
    """LAPACK instead of the block iteration, `kdegraph.spectral.solver.iteration.solve`."""

    max_small: int = 400  # number of vertices up to which LAPACK is always faster
    # Time of one of the n^3 multiplications of LAPACK, relative to one in a product of the sparse
    # matrix with a block; measured at 800 to 4,000 vertices on two cores.
    multiplication: float = 0.6
    # Products of a typical iteration: LAPACK is chosen if it takes no longer than these.
    typical_products: int = 50
    # Number of vertices up to which LAPACK replaces an iteration that does not converge; it takes
    # some seconds at this size.
    max_instead: int = 4_000


LAPACK_COSTS = LapackCosts()
