"""The Gauss transform on a regular grid of boxes.

Moments of the boxes become local expansions by one translation for every pair of boxes in a line, dimension after dimension. A second
transform of order 2, of the absolute weights, goes the same way with bounds K of the values and e of the errors of one dimension, linear in
either point: it gives every target a bound of its error, the sum of ``|w| (prod (K + e) - prod K)``. Targets that are not certainly within
what is allowed are handed back.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from .. import parallel
from . import boxes as loops
from . import chebyshev

MAX_TERMS = 20_000  # of an expansion
MAX_COEFFICIENTS = 2**25  # of all boxes, and so many more as points can pay for
MAX_CORNERS = 2**20  # of the boxes of a grid, and as many as points
GIVE_UP = 2.0  # times the least cost: from there on narrower boxes cost more and more
SAMPLE = 1024  # points on which the number of boxes is estimated
CHUNK = 50_000  # points that one thread sorts
MACS = 200_000  # products of translations in one call
SLOWEST = 1e5  # ns: what a target costs that is handed back, at most
SAFE = 0.75  # where the mean bound in a box is within this part of what is allowed, next to no target is handed back

# Costs in nanoseconds of one core: a point, and what a dimension and a term of an expansion add; a product of a translation, a run of such
# products without a gap, a pair of boxes; a box, also an empty one.
POINT, POINT_DIM, TERM = 20.0, 5.0, 0.09
PRODUCT, RUN, PAIR, BOX = 0.08, 2.5, 25.0, 20.0
BOUNDS = 5  # translations of bounds for each of those of expansions
TURN, TURNABLE = 5e6, 1e-9  # ns: what has to be at stake before principal axes are thought of, and the least eps: they are rounded


@dataclass(frozen=True)
class Boxes:
    """The boxes of a grid that hold points: ``order[start[k]:stop[k]]`` are the points of the box `numbers[k]`."""

    points: np.ndarray
    order: np.ndarray
    numbers: np.ndarray
    start: np.ndarray
    stop: np.ndarray

    def subset(self, rows):
        """Some of the boxes."""
        return replace(self, numbers=self.numbers[rows], start=self.start[rows], stop=self.stop[rows])

    def moments(self, grid, weights, order, out=None, progress=None):
        """Moments of all boxes, (n_boxes, order^d)."""
        out = np.empty((self.numbers.size, order**grid.shape.size)) if out is None else out[: self.numbers.size]
        self.loop_over(loops.add_moments, grid, weights, order, out, progress=progress)
        return out

    def loop_over(self, kernel, grid, *args, progress=None):
        """Run `kernel` over the boxes."""
        parallel.run(
            kernel, self.numbers.size, self.points, self.order, self.start, self.stop, self.numbers, grid.origin, grid.scale, grid.shape,
            *args, chunk=max(1, self.numbers.size // (64 if self.order.size > CHUNK else 16)), progress=progress,
        )  # fmt: skip


@dataclass(frozen=True)
class Grid:
    """A regular grid of boxes, along the axes of the points or along the columns of `axes` with the origin `center`.

    `drift` bounds what rounded coordinates add to an error in one dimension, `order` is the lowest to be tried, `cost` is estimated, in ns
    of one core.
    """

    origin: np.ndarray
    scale: float
    shape: np.ndarray
    tables: chebyshev.Tables
    drift: float
    order: int
    cost: float
    axes: np.ndarray | None = None
    center: np.ndarray | None = None

    def sort(self, points):
        """Sort `points` into the boxes."""
        points = points if self.axes is None else _turned(points, self.center, self.axes)
        n = len(points)
        n_boxes = math.prod(self.shape.tolist())
        chunk = max(CHUNK, -(-n // max(1, min(32, 4 * n // n_boxes))))
        box, order = np.empty(n, np.int32), np.empty(n, np.int32)
        count = np.zeros((-(-n // chunk), n_boxes), np.int32)
        parallel.run(loops.locate, n, points, chunk, self.origin, self.scale, self.shape, box, count, chunk=chunk)
        place = np.cumsum(count.T, dtype=np.int64).reshape(count.shape[::-1]).T - count
        size = count.sum(axis=0)
        parallel.run(loops.list_points, n, box, chunk, place, order, chunk=chunk)
        numbers = np.flatnonzero(size)
        stop = np.cumsum(size[numbers])
        return Boxes(points, order, numbers, stop - size[numbers], stop)

    def stride(self, axis):
        """By how much the number of a box grows along an axis."""
        return math.prod(self.shape[axis + 1 :].tolist())

    def near(self, numbers, axis):
        """Which boxes are within reach of the boxes `numbers` along an axis, (n_boxes,) bool."""
        mark = np.zeros(math.prod(self.shape.tolist()), bool)
        loops.mark_neighbors(numbers, self.shape[axis], self.stride(axis), self.tables.reach, mark)
        return mark


def choose_grid(kernel, sources, low, high, n_targets, eps, *, turn=False):
    """The `Grid` of least estimated cost for points between `low` and `high`; None where the points are too sparse for any.

    `turn`: whether it may lie along the principal axes of the sources, which are the targets then. Clusters that are not round meet fewer
    of its boxes.
    """
    n, d = sources.shape
    if 2**d > MAX_TERMS:  # of the bounds alone
        return None
    sample = sources if n <= SAMPLE else sources[np.random.default_rng(0).integers(0, n, SAMPLE)]
    grid = _choose_width(kernel, sample, low, high, n, n_targets, eps)
    possible = turn and 2 < d < n and eps >= TURNABLE
    if not possible or (grid is not None and grid.cost < TURN):
        return grid
    center = sample.mean(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        covariance = np.cov(sample, rowvar=False)
    if not np.isfinite(covariance).all():
        return grid
    _, axes = np.linalg.eigh(covariance)
    points = _turned(sources, center, axes)
    sample = _turned(sample, center, axes)
    low, high = points.min(axis=0), points.max(axis=0)
    other = _choose_width(kernel, sample, low, high, n, n_targets, eps)
    if other is None or (grid is not None and other.cost >= grid.cost):
        return grid
    return replace(other, axes=axes, center=center, drift=4 * d * other.drift)


def _turned(points, center, axes):
    out = np.empty_like(points)
    parallel.run(loops.turn, len(points), points, center, axes, out, chunk=CHUNK)
    return out


def _choose_width(kernel, sample, low, high, n, n_targets, eps):
    """The `Grid` of least estimated cost along the axes of a `sample` of `n` points."""
    d = sample.shape[1]
    best = None
    for width in chebyshev.WIDTHS:
        with np.errstate(over="ignore", invalid="ignore"):
            scale = kernel.inverse_sigma / width
            shape = np.maximum(np.ceil((high - low) * scale), 1.0)
            n_boxes = shape.prod()
        good = np.flatnonzero(chebyshev.relative_errors(width, d) <= SAFE * eps)
        if not n_boxes * 2**d <= MAX_CORNERS + n or good.size == 0 or good[0] ** d > MAX_TERMS:
            continue
        order, reach = int(good[0]), math.ceil(math.sqrt(math.log(20 * n / eps)) / width)
        cost = (n + n_targets) * (POINT + POINT_DIM * d + TERM * (order**d + 2**d)) + BOX * n_boxes
        if best is not None and cost >= best.cost:
            continue
        taps = np.minimum(2 * reach + 1, shape).sum()
        rows = min(n_boxes, 1.8 * _count_boxes(sample, low, scale, shape.astype(np.int64), n))
        if rows * order**d > MAX_COEFFICIENTS + 64 * n:
            continue
        products = order ** (d + 1) * PRODUCT + order**2 * RUN + BOUNDS * 2 ** (d + 1) * PRODUCT + (1 + BOUNDS) * PAIR
        cost += rows * taps * products
        if best is not None and cost > GIVE_UP * best.cost:
            break
        if best is None or cost < best.cost:
            extent = float(shape.max()) * width
            best = Grid(low, scale, shape.astype(np.int64), chebyshev.tables(width, reach), 1e-15 * extent, order, cost)
    return best


def _count_boxes(sample, low, scale, shape, n):
    """Estimate how many boxes `n` points are in, from where a `sample` of them is, and half of the sample."""
    whole, half = loops.count_boxes(sample, low, scale, shape)
    return whole * (n / len(sample)) ** math.log2(whole / half) if n > len(sample) else whole


def grid_sums(grid, sources, targets, weights, eps, *, floor=0.0, own=0.0, progress=None):
    """Kernel sums less `own` and the targets at which they may be off by more than ``eps`` times the mass plus `floor`; (m,), (k,).

    `targets` None means the sources. The mass at a target is the sum of ``|w| k`` less `own`; `floor` is for a unit of absolute weight.
    """
    m = len(sources) if targets is None else len(targets)
    into = grid.sort(sources)
    onto = into if targets is None else grid.sort(targets)
    stages = _stages(grid, into.numbers, onto.numbers)
    into = into.subset(np.searchsorted(into.numbers, stages[0]))
    signed = bool((weights < 0).any())
    size = np.abs(weights) if signed else weights
    total = float(size.sum())
    order, bounds, n_left = _choose_order(grid, stages, into, onto, size, eps, floor, own)
    if n_left > m / 2:
        return np.empty(m), np.arange(m)
    bounds[:, 0] += total * grid.tables.beyond
    sums, uncertain = np.empty(m), np.empty(m, bool)
    passing = (grid, stages, order, into, onto, bounds, eps, floor * total, own, sums, uncertain)
    _transform(size, *passing, progress=parallel.part(progress, 0.0, 0.5 if signed else 1.0))
    left = np.flatnonzero(uncertain)
    if signed:
        _transform(weights, *passing, progress=parallel.part(progress, 0.5, 1.0))
    return sums, left


def _stages(grid, sources, targets):
    """The boxes that take part before the first dimension, after it, ..., after the last: reached by sources and needed for targets."""
    d = grid.shape.size
    needed = [targets]
    for c in range(d - 1, -1, -1):
        needed.append(np.flatnonzero(grid.near(needed[-1], c)))
    needed.reverse()
    stages = [np.intersect1d(sources, needed[0], assume_unique=True)]
    for c in range(d - 1):
        reached = grid.near(stages[-1], c)
        stages.append(needed[c + 1][reached[needed[c + 1]]])
    return [*stages, targets]


def _translate(grid, stages, axis, matrices, source, out=None):
    """The coefficients after a dimension, from those before it."""
    before, boxes = stages[axis], stages[axis + 1]
    row = np.full(math.prod(grid.shape.tolist()), -1, np.int32)
    row[before] = np.arange(before.size, dtype=np.int32)
    out = np.empty((boxes.size, source.shape[1])) if out is None else out[: boxes.size]
    parallel.run(
        loops.translate, boxes.size, boxes, row, grid.shape[axis], grid.stride(axis), np.ascontiguousarray(matrices), source, out,
        chunk=max(1, MACS // (matrices.shape[0] * matrices.shape[1] * source.shape[1])),
    )  # fmt: skip
    return out


def _choose_order(grid, stages, into, onto, size, eps, floor, own):
    """The order of least cost, bounds of the errors as expansions of order 2, and how many targets will about be handed back."""
    d, tables = grid.shape.size, grid.tables
    masses = [into.moments(grid, size, 2)]
    typical = masses[0]
    for c in range(d):
        masses.append(_translate(grid, stages, c, tables.majorants, masses[-1]))
        typical = _translate(grid, stages, c, tables.matrices[:, :2, :2], typical)
    # The first coefficient is the mean over a box.
    total, n_targets = size.sum(), onto.stop - onto.start
    allowed = eps * (typical[:, 0] - own) + (floor - tables.beyond) * total
    remaining = min(1.5 * size.size, SLOWEST)
    best = None
    for order in range(grid.order, chebyshev.MAX_ORDER + 1):
        if best is not None and order**d > MAX_TERMS:
            break
        small = np.zeros_like(tables.majorants)
        small[:, 0, 0] = tables.errors(order) + grid.drift
        error = np.zeros_like(masses[0])
        for c in range(d):
            error = _translate(grid, stages, c, tables.majorants + small, error) + _translate(grid, stages, c, small, masses[c])
        left = int(n_targets[error[:, 0] > SAFE * allowed].sum())
        products = sum(s.size for s in stages[1:]) * len(small) * order ** (d + 1) * PRODUCT
        cost = (into.order.size + onto.order.size) * TERM * order**d + products + left * remaining
        if best is not None and cost >= best[0]:
            break
        best = cost, order, error, left
        if left == 0:
            break
    return best[1:]


def _transform(weights, grid, stages, order, into, onto, bounds, eps, slack, own, sums, uncertain, *, progress):
    """Write the sums for `weights` less `own` at all targets, and which are `uncertain`."""
    # Two rooms for all stages: fresh memory costs as much as what is done with it.
    rooms = [np.empty((max(s.size for s in stages[i::2]), order**grid.shape.size)) for i in range(2)]
    coefficients = into.moments(grid, weights, order, rooms[0], parallel.part(progress, 0.0, 0.4))
    matrices = grid.tables.matrices[:, :order, :order]
    for axis in range(grid.shape.size):
        coefficients = _translate(grid, stages, axis, matrices, coefficients, rooms[(axis + 1) % 2])
    onto.loop_over(
        loops.evaluate, grid, order, coefficients, bounds, eps, slack, own, sums, uncertain, progress=parallel.part(progress, 0.6, 1.0)
    )
