"""The choice of the grid: its boxes, its axes, the order from which expansions are tried."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kdegraph.costs import GRID_COSTS
from kdegraph.geometry.kernels import Kernel
from kdegraph.kde.grid import chebyshev
from kdegraph.kde.grid.sorting import (
    Boxes,
    Lattice,
    count_boxes,
    mark_neighbors,
    sort_points,
    turn_points,
)
from kdegraph.runtime import parallel

# Terms of an expansion, at most: 160 kB for a box.
MAX_GRID_TERMS = 20_000

# Points on which the number of boxes that hold points is estimated.
GRID_SAMPLE = 1024

# See `range_of_most`.
TAIL = 1 / 64

# Next to no target is handed back in a box whose mean error bound is at most this part of what is
# allowed.
SAFE_PART = 0.75


@dataclass(frozen=True, eq=False)
class Grid:
    """A regular grid of boxes, with what the Gauss transform on it needs."""

    lattice: Lattice  # the boxes
    translations: chebyshev.Translations  # between boxes along an axis
    drift: float  # a bound of what rounded coordinates add to an error in one dimension
    order: int  # the lowest order of expansions that is tried
    cost: float  # estimated cost in ns of one core
    # (d, d): the boxes lie along the columns; along the axes of the points by default
    axes: NDArray[np.float64] | None = None
    center: NDArray[np.float64] | None = None  # (d,): the origin of coordinates along `axes`

    def sort(self, points: NDArray[np.float64]) -> Boxes:
        """Sort `points` into the boxes."""
        if self.axes is not None:
            points = _turned(points, self.center, self.axes)
        return sort_points(points, self.lattice)

    @property
    def n_boxes(self) -> int:
        """Number of all boxes, with points or without."""
        return math.prod(self.lattice.shape.tolist())

    def stride(self, axis: int) -> int:
        """Return the difference between the numbers of two neighboring boxes along an axis."""
        return math.prod(self.lattice.shape[axis + 1 :].tolist())

    def near(self, numbers: NDArray[np.int64], axis: int) -> NDArray[np.bool_]:
        """Return a mask, (n_boxes,), of the boxes within reach of some boxes along an axis."""
        mark = np.zeros(self.n_boxes, bool)
        n_along, stride = self.lattice.shape[axis], self.stride(axis)
        mark_neighbors(numbers, n_along, stride, self.translations.reach, mark)
        return mark


def choose_grid(
    kernel: Kernel,
    sources: NDArray[np.float64],
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]],
    n_targets: int,
    eps: float,
    *,
    turn: bool = False,
) -> Grid | None:
    """Return the `Grid` of least estimated cost; None where the points are too sparse for any.

    `bounds` are the smallest and the largest coordinates of sources and targets. With `turn` the
    targets are the sources, and the grid may lie along their principal axes: clusters that are not
    round meet fewer of its boxes then.
    """
    n, d = sources.shape
    if 2**d > MAX_GRID_TERMS:  # of the error bounds alone
        return None
    sample = _sample(sources)
    grid = _choose_width(kernel, sample, bounds, n, n_targets, eps)
    if not (turn and 2 < d < n and eps >= 1e-9):  # turned coordinates are rounded
        return grid
    if grid is not None and grid.cost < GRID_COSTS.least_for_axes:
        return grid
    return _turn_grid(grid, kernel, sources, sample, eps)


def _turn_grid(grid, kernel, sources, sample, eps):
    """Return the grid along the principal axes of the sources, unless `grid` costs less."""
    n, d = sources.shape
    with np.errstate(over="ignore", invalid="ignore"):
        center, covariance = sample.mean(axis=0), np.cov(sample, rowvar=False)
    if not np.isfinite(covariance).all():
        return grid
    _, axes = np.linalg.eigh(covariance)
    points = _turned(sources, center, axes)
    bounds = points.min(axis=0), points.max(axis=0)
    turned = _choose_width(kernel, _turned(sample, center, axes), bounds, n, n, eps)
    if turned is None or (grid is not None and turned.cost >= grid.cost):
        return grid
    # Each turned coordinate is a sum of d products, all of them rounded.
    return replace(turned, axes=axes, center=center, drift=4 * d * turned.drift)


def range_of_most(
    points: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower and the upper corner, each (d,), of a box with all points but outliers.

    Along each axis, it is three times as wide as the range without the lowest and the highest
    `TAIL` of the points: wider than that of a million normally distributed points.
    """
    low, high = np.quantile(_sample(points), [TAIL, 1 - TAIL], axis=0)
    with np.errstate(over="ignore"):
        return low - (high - low), high + (high - low)


def _sample(points):
    """Return at most `GRID_SAMPLE` of the points, taken at random."""
    return points if len(points) <= GRID_SAMPLE else points[_sampled(len(points))]


@lru_cache(maxsize=8)
def _sampled(n):
    """Return the indices of a random sample of n points."""
    return np.random.default_rng(0).integers(0, n, GRID_SAMPLE)


def _turned(points, center, axes):
    """Return the coordinates of `points` along the columns of `axes`, from the origin `center`."""
    out = np.empty_like(points)
    parallel.run(turn_points, len(points), points, center, axes, out, chunk=50_000)
    return out


def _choose_width(kernel, sample, bounds, n, n_targets, eps):
    """Return the `Grid` of least estimated cost along the axes of a `sample` of `n` points."""
    d, inverse_sigma = sample.shape[1], kernel.inverse_sigma
    low, high = bounds
    # Python numbers: NumPy would take longer than all else where there are few points.
    sides = [above - below for below, above in zip(low.tolist(), high.tolist(), strict=True)]
    best = None
    for width in chebyshev.BOX_WIDTHS:
        scale = inverse_sigma / width
        shape = [max(-(-side * scale // 1.0), 1.0) for side in sides]
        n_boxes = math.prod(shape)
        order = chebyshev.least_order(width, d, SAFE_PART * eps)
        # The arrays over the corners of all boxes stay small beside those of the points.
        if not n_boxes * 2**d <= 2**20 + n or order is None or order**d > MAX_GRID_TERMS:
            continue
        drift = 1e-15 * max(shape) * width
        if drift > 0.1 * eps:  # most of the targets would be handed back
            continue
        # Of moments and evaluation at all points.
        per_point = GRID_COSTS.point + GRID_COSTS.point_per_dimension * d
        cost = (n + n_targets) * (per_point + GRID_COSTS.term * (order**d + 2**d))
        cost += GRID_COSTS.box * n_boxes
        if best is not None and cost >= best.cost:
            continue
        lattice = Lattice(low, scale, np.array(shape, np.int64))
        n_active = min(n_boxes, _active_boxes(sample, lattice, n))
        if n_active * order**d > 2**25 + 64 * n:  # 256 MiB, and 512 bytes more for each point
            continue
        reach = math.ceil(math.sqrt(math.log(20 * n / eps)) / width)
        n_pairs = sum(min(2 * reach + 1, n_along) for n_along in shape)
        cost += n_active * n_pairs * _cost_of_pair(order, d)
        if best is not None and cost > GRID_COSTS.give_up * best.cost:
            break
        if best is None or cost < best.cost:
            best = Grid(lattice, chebyshev.translations(width, reach), drift, order, cost)
    return best


def _cost_of_pair(order: int, d: int) -> float:
    """Estimated cost of the translations of a pair of boxes along an axis, in ns: that of the
    coefficients, and those of the error bounds.
    """
    n_bounds = GRID_COSTS.bound_translations
    return (
        order ** (d + 1) * GRID_COSTS.product
        + order**2 * GRID_COSTS.product_run
        + n_bounds * 2 ** (d + 1) * GRID_COSTS.product
        + (1 + n_bounds) * GRID_COSTS.box_pair
    )


def _active_boxes(sample, lattice, n):
    """Estimate how many boxes of sources and targets take part, on average over the dimensions.

    The number of boxes that hold points is a power of the number of points; the exponent comes from
    the boxes of a sample, and of half of the sample.
    """
    d = lattice.shape.size
    whole, half = count_boxes(sample, *lattice)
    if n > len(sample):
        whole = whole * (n / len(sample)) ** math.log2(whole / half)
    # Sources reach targets in boxes of their own.
    return 1.8 * GRID_COSTS.passing_boxes ** max(d - 3, 0) * whole
