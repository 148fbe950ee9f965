"""The Gauss transform on a regular grid of boxes.

Moments of the boxes become local expansions by one translation for every pair of boxes in a line,
dimension after dimension. A second transform of order 2, of the absolute weights, goes the same way
with bounds K of the values and e of the errors of one dimension, linear in either point: it gives
every target a bound of its error, the sum of ``|w| (prod (K + e) - prod K)``. Targets whose error
is not certain to be allowed are handed back.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.costs import GRID_COSTS
from kdegraph.kde.grid import expansions
from kdegraph.kde.grid.chebyshev import MAX_CHEBYSHEV_ORDER
from kdegraph.kde.grid.plan import MAX_GRID_TERMS, SAFE_PART, Grid
from kdegraph.kde.grid.sorting import Boxes
from kdegraph.runtime import parallel
from kdegraph.runtime.progress import partial_progress


def grid_sums(
    grid: Grid,
    sources: NDArray[np.float64],
    targets: NDArray[np.float64] | None,
    weights: NDArray[np.float64],
    eps: float,
    *,
    floor: float = 0.0,
    own: float = 0.0,
    progress=None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Compute kernel sums less `own`, the contribution of the target itself. Return them, (m,), and
    the targets whose sums may be off by more than is allowed, which are handed back.

    The error allowed is `eps` relative to the mass, the sum of ``|w| k`` at the target less `own`,
    and on top `floor` for each unit of absolute weight. The targets are the sources if they are
    None.
    """
    m = len(sources) if targets is None else len(targets)
    into = grid.sort(sources)
    onto = into if targets is None else grid.sort(targets)
    active = ActiveBoxes.between(grid, into.numbers, onto.numbers)
    if active.numbers[0].size < into.numbers.size:
        into = into.subset(np.searchsorted(into.numbers, active.numbers[0]))
    signed = bool((weights < 0).any())
    absolute = np.abs(weights) if signed else weights
    transform = Transform(grid, active, into, onto, float(absolute.sum()))
    order, workspaces = grid.order, active.workspaces(grid.order)
    part = partial_progress(progress, 0.0, 0.2)
    moments = transform.moments(absolute, order, workspaces[0], part)
    chosen, bounds, n_left = _choose_order(transform, moments, eps, floor, own)
    if n_left > m / 2:
        return np.empty(m), np.arange(m)
    if chosen > order:
        order, workspaces = chosen, active.workspaces(chosen)
        part = partial_progress(progress, 0.2, 0.4)
        moments = transform.moments(absolute, order, workspaces[0], part)
    # What the sources beyond the reach of translations contribute.
    bounds[:, 0] += transform.mass * grid.translations.beyond
    tolerance = expansions.Tolerance(eps, floor * transform.mass, own)
    sums, uncertain = np.empty(m), np.empty(m, bool)
    outputs = bounds, tolerance, sums, uncertain
    part = partial_progress(progress, 0.4, 0.7 if signed else 1.0)
    transform.evaluate(moments, order, workspaces, outputs, part)
    left = np.flatnonzero(uncertain)
    if signed:
        moments = transform.moments(weights, order, workspaces[0])
        part = partial_progress(progress, 0.8, 1.0)
        transform.evaluate(moments, order, workspaces, outputs, part)
    return sums, left


class ActiveBoxes(NamedTuple):
    """The boxes that take part before the first dimension, after it, ..., after the last one:
    reached by sources and needed for targets.
    """

    numbers: list[NDArray[np.int64]]
    # (d, n_boxes): ``rows[k, b]`` is the row of box b in the coefficients of the boxes
    # ``numbers[k]``; -1 where there is none
    rows: NDArray[np.int32]

    @classmethod
    def between(
        cls, grid: Grid, sources: NDArray[np.int64], targets: NDArray[np.int64]
    ) -> "ActiveBoxes":
        """Return the boxes between the boxes `sources` and the boxes `targets`."""
        d = grid.lattice.shape.size
        needed = [targets]
        for c in range(d - 1, 0, -1):
            needed.append(np.flatnonzero(grid.near(needed[-1], c)))
        numbers = [sources[grid.near(needed[-1], 0)[sources]]]
        for c in range(d - 1):
            at = needed[-1 - c]
            numbers.append(at[grid.near(numbers[-1], c)[at]])
        rows = np.full((d, grid.n_boxes), -1, np.int32)
        for row, before in zip(rows, numbers, strict=True):
            row[before] = np.arange(before.size, dtype=np.int32)
        return cls([*numbers, targets], rows)

    def workspaces(self, order: int) -> list[NDArray[np.float64]]:
        """Return two arrays that take the coefficients of all stages in turn; fresh memory for each
        stage would cost as much as what is done with it.
        """
        d = len(self.rows)
        return [np.empty((max(b.size for b in self.numbers[i::2]), order**d)) for i in range(2)]


class Transform(NamedTuple):
    """The transform between the boxes of sources `into` and the boxes of targets `onto`; `mass` is
    the sum of absolute weights.
    """

    grid: Grid
    active: ActiveBoxes
    into: Boxes
    onto: Boxes
    mass: float

    def moments(self, weights, order, workspace, progress=None):
        """Moments of the boxes of sources, (n_boxes, order^d), written to `workspace`."""
        n_boxes = self.into.numbers.size
        out = workspace[:n_boxes]
        lattice = self.grid.lattice
        args = self.into, lattice, weights, order, out
        parallel.run(expansions.add_moments, n_boxes, *args, progress=progress)
        return out

    def translate(self, axis, matrices, source, workspace=None):
        """Return the coefficients after a dimension, from those before it."""
        grid, numbers = self.grid, self.active.numbers[axis + 1]
        shape = numbers.size, source.shape[1]
        out = np.empty(shape) if workspace is None else workspace[: numbers.size]
        matrices = matrices.transpose(0, 2, 1).copy()
        n_products = matrices.shape[0] * matrices.shape[1] * source.shape[1]
        parallel.run(
            expansions.translate,
            numbers.size,
            numbers,
            self.active.rows[axis],
            grid.lattice.shape[axis],
            grid.stride(axis),
            matrices,
            source,
            out,
            chunk=max(1, 500_000 // n_products),  # products that take about 40 microseconds
        )
        return out

    def evaluate(self, moments, order, workspaces, outputs, progress):
        """Translate the `moments` along all axes and evaluate the local expansions; `outputs` are
        the arguments of `expansions.evaluate` from `errors` on.
        """
        coefficients = moments
        matrices = self.grid.translations.matrices[:, :order, :order]
        for axis in range(self.grid.lattice.shape.size):
            workspace = workspaces[(axis + 1) % 2]
            coefficients = self.translate(axis, matrices, coefficients, workspace)
        args = self.onto, self.grid.lattice, order, coefficients, *outputs
        parallel.run(expansions.evaluate, self.onto.numbers.size, *args, progress=progress)


def _choose_order(transform, moments, eps, floor, own):
    """Return the order of expansions that costs least, the (n_boxes, 2^d) bounds of their errors as
    expansions of order 2, and about how many targets will be handed back. The `moments` are those
    of the absolute weights.
    """
    grid, active, into, onto, mass = transform
    d, tables = grid.lattice.shape.size, grid.translations
    lowest = (slice(None), *(slice(2),) * d)
    first = moments.reshape(-1, *(grid.order,) * d)[lowest].reshape(-1, 2**d)
    masses, typical = [first], first
    for c in range(d):
        masses.append(transform.translate(c, tables.majorants, masses[-1]))
        typical = transform.translate(c, tables.matrices[:, :2, :2], typical)
    # The first coefficient is the mean over a box.
    allowed = eps * (typical[:, 0] - own) + (floor - tables.beyond) * mass
    n_targets = onto.stop - onto.start
    handed_back = min(1.5 * into.order.size, GRID_COSTS.handed_back)
    n_pairs = sum(b.size for b in active.numbers[1:]) * len(tables.matrices)
    n_points = into.order.size + onto.order.size
    best, least_cost = None, np.inf
    for order in range(grid.order, MAX_CHEBYSHEV_ORDER + 1):
        n_terms = order**d
        cost = n_points * GRID_COSTS.term * n_terms
        cost += n_pairs * order ** (d + 1) * GRID_COSTS.product
        if best is not None and (n_terms > MAX_GRID_TERMS or cost >= least_cost):
            break
        bounds = _error_bounds(transform, masses, order)
        n_left = int(n_targets[bounds[:, 0] > SAFE_PART * allowed].sum())
        cost += n_left * handed_back
        if cost >= least_cost:
            break
        best, least_cost = (order, bounds, n_left), cost
        if n_left == 0:
            break
    return best


def _error_bounds(transform, masses, order):
    """Bounds of the errors of expansions of this order, as expansions of order 2, (n_boxes, 2^d).

    With bounds K of the values and e of the errors of one dimension, the error after a dimension is
    at most e times the mass before it, and K + e times the error before it. `masses` are bounds of
    the mass before each dimension.
    """
    grid = transform.grid
    majorants = grid.translations.majorants
    small = np.zeros_like(majorants)
    small[:, 0, 0] = grid.translations.errors(order) + grid.drift
    bounds = None
    for c in range(grid.lattice.shape.size):
        new = transform.translate(c, small, masses[c])
        if bounds is not None:
            new += transform.translate(c, majorants + small, bounds)
        bounds = new
    return bounds
