"""The Gauss transform on a regular grid of boxes.

Moments of the boxes become local expansions by one translation for every pair of boxes in a line,
dimension after dimension. A second transform of order 2, of the absolute weights, goes the same way
with bounds K of the values and e of the errors of one dimension, linear in either point: it gives
every target a bound of its error, the sum of ``|w| (prod (K + e) - prod K)``. Targets that are not
certainly within what is allowed are handed back.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kdegraph.kde.grid import boxes as loops
from kdegraph.kde.grid import chebyshev
from kdegraph.runtime import parallel
from kdegraph.runtime.progress import partial_progress

MAX_TERMS = 20_000  # of an expansion
MAX_COEFFICIENTS = 2**25  # of all boxes, and so many more as points can pay for
MAX_CORNERS = 2**20  # of the boxes of a grid, and as many as points
# Times the boxes that take part, with each dimension beyond three: those between that only pass on
# what they get.
MORE = 1.5
GIVE_UP = 2.0  # times the least cost: from there on narrower boxes cost more and more
SAMPLE = 1024  # points on which the number of boxes is estimated
CHUNK = 50_000  # points that one thread sorts
MACS = 500_000  # products of translations in one call
SLOWEST = 1e5  # ns: what a target costs that is handed back, at most
# Where the mean bound in a box is within this part of what is allowed, next to no target is handed
# back.
SAFE = 0.75

# Costs in nanoseconds of one core: a point, and what a dimension and a term of an expansion add; a
# product of a translation, a run of such products without a gap, a pair of boxes; a box, also an
# empty one.
POINT, POINT_DIM, TERM = 20.0, 5.0, 0.09
PRODUCT, RUN, PAIR, BOX = 0.08, 2.5, 25.0, 20.0
BOUNDS = 5  # translations of bounds for each of those of expansions
TURN, TURNABLE = (
    5e6,
    1e-9,
    # Ns: what has to be at stake before principal axes are thought of, and the least eps: they are
    # rounded.
)


@dataclass(frozen=True)
class Boxes:
    """The boxes of a grid that hold points: ``order[start[k]:stop[k]]`` are the points of the box
    `numbers[k]`.
    """

    points: np.ndarray
    order: np.ndarray
    numbers: np.ndarray
    start: np.ndarray
    stop: np.ndarray

    def subset(self, rows):
        """Some of the boxes."""
        return replace(
            self, numbers=self.numbers[rows], start=self.start[rows], stop=self.stop[rows]
        )

    def moments(self, grid, weights, order, out=None, progress=None):
        """Moments of all boxes, (n_boxes, order^d)."""
        out = (
            np.empty((self.numbers.size, order**grid.shape.size))
            if out is None
            else out[: self.numbers.size]
        )
        self.loop_over(loops.add_moments, grid, weights, order, out, progress=progress)
        return out

    def loop_over(self, kernel, grid, *args, progress=None):
        """Run `kernel` over the boxes."""
        parallel.run(
            kernel, self.numbers.size, self.points, self.order, self.start, self.stop, self.numbers, grid.origin, grid.scale, grid.shape,
            *args, progress=progress,
        )  # fmt: skip


@dataclass(frozen=True)
class Grid:
    """A regular grid of boxes, along the axes of the points or along the columns of `axes` with the
    origin `center`.

    `drift` bounds what rounded coordinates add to an error in one dimension, `order` is the lowest
    to be tried, `cost` is estimated, in ns of one core.
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
        n_boxes = self.n_boxes
        chunk = max(CHUNK, -(-n // max(1, min(32, 4 * n // n_boxes))))
        box, order = np.empty(n, np.int32), np.empty(n, np.int32)
        count = np.zeros((-(-n // chunk), n_boxes), np.int32)
        parallel.run(
            loops.locate,
            n,
            points,
            chunk,
            self.origin,
            self.scale,
            self.shape,
            box,
            count,
            chunk=chunk,
        )
        numbers, start, stop = np.empty((3, min(n, n_boxes)), np.int64)
        found = loops.arrange(count, numbers, start, stop)
        parallel.run(loops.list_points, n, box, chunk, count, order, chunk=chunk)
        return Boxes(points, order, numbers[:found], start[:found], stop[:found])

    @property
    def n_boxes(self):
        """Number of all boxes, with points or without."""
        return math.prod(self.shape.tolist())

    def stride(self, axis):
        """By how much the number of a box grows along an axis."""
        return math.prod(self.shape[axis + 1 :].tolist())

    def near(self, numbers, axis):
        """Which boxes are within reach of the boxes `numbers` along an axis, (n_boxes,) bool."""
        mark = np.zeros(self.n_boxes, bool)
        loops.mark_neighbors(numbers, self.shape[axis], self.stride(axis), self.tables.reach, mark)
        return mark


def choose_grid(kernel, sources, low, high, n_targets, eps, *, turn=False):
    """The `Grid` of least estimated cost for points between `low` and `high`; None where the points
    are too sparse for any.

    `turn`: whether it may lie along the principal axes of the sources, which are the targets then.
    Clusters that are not round meet fewer of its boxes.
    """
    n, d = sources.shape
    if 2**d > MAX_TERMS:  # of the bounds alone
        return None
    sample = sources if n <= SAMPLE else sources[_sampled(n)]
    grid = _choose_width(kernel, sample, low, high, n, n_targets, eps)
    possible = turn and 2 < d < n and eps >= TURNABLE
    if not possible or (grid is not None and grid.cost < TURN):
        return grid
    with np.errstate(over="ignore", invalid="ignore"):
        center, covariance = sample.mean(axis=0), np.cov(sample, rowvar=False)
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


@lru_cache(maxsize=8)
def _sampled(n):
    return np.random.default_rng(0).integers(0, n, SAMPLE)


def _turned(points, center, axes):
    out = np.empty_like(points)
    parallel.run(loops.turn, len(points), points, center, axes, out, chunk=CHUNK)
    return out


def _choose_width(kernel, sample, low, high, n, n_targets, eps):
    """The `Grid` of least estimated cost along the axes of a `sample` of `n` points."""
    d = sample.shape[1]
    sides = [
        above - below for below, above in zip(low.tolist(), high.tolist(), strict=True)
    ]  # plain numbers: few points are soon done
    best = None
    for width in chebyshev.WIDTHS:
        scale = kernel.inverse_sigma / width
        shape = [max(-(-side * scale // 1.0), 1.0) for side in sides]
        n_boxes = math.prod(shape)
        order = chebyshev.least_order(width, d, SAFE * eps)
        if not n_boxes * 2**d <= MAX_CORNERS + n or order is None or order**d > MAX_TERMS:
            continue
        reach = math.ceil(math.sqrt(math.log(20 * n / eps)) / width)
        cost = (n + n_targets) * (POINT + POINT_DIM * d + TERM * (order**d + 2**d)) + BOX * n_boxes
        if best is not None and cost >= best.cost:
            continue
        taps = sum(min(2 * reach + 1, boxes) for boxes in shape)
        counts = np.array(shape, np.int64)
        rows = min(
            n_boxes, 1.8 * MORE ** max(d - 3, 0) * _count_boxes(sample, low, scale, counts, n)
        )
        if rows * order**d > MAX_COEFFICIENTS + 64 * n:
            continue
        products = (
            order ** (d + 1) * PRODUCT
            + order**2 * RUN
            + BOUNDS * 2 ** (d + 1) * PRODUCT
            + (1 + BOUNDS) * PAIR
        )
        cost += rows * taps * products
        if best is not None and cost > GIVE_UP * best.cost:
            break
        if best is None or cost < best.cost:
            best = Grid(
                low,
                scale,
                counts,
                chebyshev.tables(width, reach),
                1e-15 * max(shape) * width,
                order,
                cost,
            )
    return best


def _count_boxes(sample, low, scale, shape, n):
    """Estimate how many boxes `n` points are in, from where a `sample` of them is, and half of the
    sample.
    """
    whole, half = loops.count_boxes(sample, low, scale, shape)
    return whole * (n / len(sample)) ** math.log2(whole / half) if n > len(sample) else whole


def grid_sums(grid, sources, targets, weights, eps, *, floor=0.0, own=0.0, progress=None):
    """Kernel sums less `own` and the targets at which they may be off by more than ``eps`` times
    the mass plus `floor`; (m,), (k,).

    `targets` None means the sources. The mass at a target is the sum of ``|w| k`` less `own`;
    `floor` is for a unit of absolute weight.
    """
    m = len(sources) if targets is None else len(targets)
    into = grid.sort(sources)
    onto = into if targets is None else grid.sort(targets)
    stages = Stages.of(grid, into.numbers, onto.numbers)
    if stages.boxes[0].size < into.numbers.size:
        into = into.subset(np.searchsorted(into.numbers, stages.boxes[0]))
    signed = bool((weights < 0).any())
    size = np.abs(weights) if signed else weights
    total = float(size.sum())
    order, rooms = grid.order, stages.rooms(grid.order)
    moments = into.moments(grid, size, order, rooms[0], partial_progress(progress, 0.0, 0.2))
    chosen, bounds, n_left = _choose_order(
        grid, stages, into, onto, moments, total, eps, floor, own
    )
    if n_left > m / 2:
        return np.empty(m), np.arange(m)
    if chosen > order:
        order, rooms = chosen, stages.rooms(chosen)
        moments = into.moments(grid, size, order, rooms[0], partial_progress(progress, 0.2, 0.4))
    bounds[:, 0] += total * grid.tables.beyond
    sums, uncertain = np.empty(m), np.empty(m, bool)

    def transform(moments, progress):
        coefficients = moments
        for axis in range(grid.shape.size):
            matrices = grid.tables.matrices[:, :order, :order]
            coefficients = _translate(
                grid, stages, axis, matrices, coefficients, rooms[(axis + 1) % 2]
            )
        onto.loop_over(
            loops.evaluate,
            grid,
            order,
            coefficients,
            bounds,
            eps,
            floor * total,
            own,
            sums,
            uncertain,
            progress=progress,
        )

    transform(moments, partial_progress(progress, 0.4, 0.7 if signed else 1.0))
    left = np.flatnonzero(uncertain)
    if signed:
        transform(
            into.moments(grid, weights, order, rooms[0]), partial_progress(progress, 0.8, 1.0)
        )
    return sums, left


class Stages(NamedTuple):
    """The boxes that take part before the first dimension, after it, ..., after the last: reached
    by sources and needed for targets.

    ``rows[k, b]`` is the row of box b in the coefficients of the boxes ``boxes[k]``, -1 where there
    is none.
    """

    boxes: list
    rows: np.ndarray

    @classmethod
    def of(cls, grid, sources, targets):
        """Those between the boxes `sources` and the boxes `targets`."""
        d = grid.shape.size
        needed = [targets]
        for c in range(d - 1, 0, -1):
            needed.append(np.flatnonzero(grid.near(needed[-1], c)))
        boxes = [sources[grid.near(needed[-1], 0)[sources]]]
        for c in range(d - 1):
            at = needed[-1 - c]
            boxes.append(at[grid.near(boxes[-1], c)[at]])
        rows = np.full((d, grid.n_boxes), -1, np.int32)
        for row, before in zip(rows, boxes, strict=True):
            row[before] = np.arange(before.size, dtype=np.int32)
        return cls([*boxes, targets], rows)

    def rooms(self, order):
        """Two rooms for the coefficients of all stages in turn: fresh memory costs as much as what
        is done with it.
        """
        return [
            np.empty((max(b.size for b in self.boxes[i::2]), order ** len(self.rows)))
            for i in range(2)
        ]


def _translate(grid, stages, axis, matrices, source, out=None):
    """The coefficients after a dimension, from those before it."""
    boxes = stages.boxes[axis + 1]
    out = np.empty((boxes.size, source.shape[1])) if out is None else out[: boxes.size]
    matrices = matrices.transpose(0, 2, 1).copy()
    parallel.run(
        loops.translate, boxes.size, boxes, stages.rows[axis], grid.shape[axis], grid.stride(axis), matrices, source, out,
        chunk=max(1, MACS // (matrices.shape[0] * matrices.shape[1] * source.shape[1])),
    )  # fmt: skip
    return out


def _choose_order(grid, stages, into, onto, moments, total, eps, floor, own):
    """The order of least cost, bounds of the errors as expansions of order 2, and how many targets
    will about be handed back.

    `moments` are those of the absolute weights, `total` is their sum.
    """
    d, tables = grid.shape.size, grid.tables
    first = moments.reshape(-1, *(grid.order,) * d)[(slice(None), *(slice(2),) * d)].reshape(
        -1, 2**d
    )
    masses, typical = [first], first
    for c in range(d):
        masses.append(_translate(grid, stages, c, tables.majorants, masses[-1]))
        typical = _translate(grid, stages, c, tables.matrices[:, :2, :2], typical)
    # The first coefficient is the mean over a box.
    n_targets = onto.stop - onto.start
    allowed = eps * (typical[:, 0] - own) + (floor - tables.beyond) * total
    remaining = min(1.5 * into.order.size, SLOWEST)
    best = None
    for order in range(grid.order, chebyshev.MAX_ORDER + 1):
        products = (
            sum(b.size for b in stages.boxes[1:])
            * len(tables.matrices)
            * order ** (d + 1)
            * PRODUCT
        )
        cost = (into.order.size + onto.order.size) * TERM * order**d + products
        if best is not None and (order**d > MAX_TERMS or cost >= best[0]):
            break
        small = np.zeros_like(tables.majorants)
        small[:, 0, 0] = tables.errors(order) + grid.drift
        error = None
        for c in range(d):
            new = _translate(grid, stages, c, small, masses[c])
            error = (
                new
                if error is None
                else new + _translate(grid, stages, c, tables.majorants + small, error)
            )
        left = int(n_targets[error[:, 0] > SAFE * allowed].sum())
        cost += left * remaining
        if best is not None and cost >= best[0]:
            break
        best = cost, order, error, left
        if left == 0:
            break
    return best[1:]
