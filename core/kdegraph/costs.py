"""The one account of costs: what decides between methods that give the same result.

Times are in nanoseconds of one core unless a field says otherwise. They are calibrated by
``benchmarks/costs.py`` on two cores and decide between methods only, never about results.
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
    tensor_product, simplex_product : float
        One product of a translation, for the two kinds of expansions.
    translation : float
        What a translation costs on top of its products and derivatives.
    derivatives_per_dimension : float
        The derivatives of the Gaussian along one axis.
    term : float
        A term of an expansion at a point.
    """

    least_alternative: float = 2e7
    least_alternative_per_point_dimension: float = 800.0
    visit: float = 120.0
    visit_per_dimension: float = 24.0
    pair: float = 1.2
    pair_per_dimension: float = 0.35
    tensor_product: float = 0.3
    simplex_product: float = 0.8
    translation: float = 100.0
    derivatives_per_dimension: float = 25.0
    term: float = 0.7


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

# ---------------------------------------------------------------- nearest neighbors
