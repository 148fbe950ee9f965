"""The plan of a graph that is sampled tile by tile, kept in the folder.

A tile is a run of points in the tree's order. Every task maps the tree, the points and other arrays
of their length into memory, so that a process holds only the pages that it uses: those of its own
points, of points near them, and of the upper levels of the tree. Once the graph is complete, the
tree is not needed any more, and only the order of the points is kept.
"""

from typing import NamedTuple

import numpy as np

from kdegraph.geometry.kernels import Kernel
from kdegraph.geometry.local_scale import ONE_BANDWIDTH, LocalScale
from kdegraph.geometry.tree import Tree
from kdegraph.kde.dispatch import kernel_degrees
from kdegraph.local_bandwidth import Bandwidth
from kdegraph.sampled_graph.sample import set_up
from kdegraph.sampling.choice import choose_sampler
from kdegraph.sampling.rejection import TargetGroups, group_targets

# The step with the order of the points, which is kept, and the one with everything else.
ORDER, PLAN = "order", "plan"


class Order(NamedTuple):
    """The order of the points, which are the vertices of the graph, and its division into tiles.

    Attributes
    ----------
    order : (n,) int64
        The vertices in the tree's order.
    place : (n,) int64
        The place of each vertex in it.
    bounds : (n_tiles + 1,) int64
        Tile t has the places bounds[t] ... bounds[t + 1] - 1.
    bandwidth : float or (n,) float64
        By vertex.
    densities : (n,) float64 or None
        Divided out of the kernel, by vertex.
    """

    order: np.ndarray
    place: np.ndarray
    bounds: np.ndarray
    bandwidth: Bandwidth
    densities: np.ndarray | None

    @classmethod
    def of(cls, order, bounds, bandwidth, densities):
        """Return an order with the place of each vertex."""
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return cls(order, place, bounds, bandwidth, densities)

    @property
    def n_tiles(self):
        """The number of tiles."""
        return len(self.bounds) - 1

    def tiles_of(self, places):
        """Return the tiles of places; -1 for the place -1."""
        tiles = np.searchsorted(self.bounds, places, side="right") - 1
        return tiles.astype(np.int32)


class Plan(NamedTuple):
    """The kernel, the tree and the parameters with which neighbors are drawn.

    Attributes
    ----------
    kernel : Kernel
        Between the points of the tree.
    tree : Tree
    groups : TargetGroups
        For the sampler "rejection".
    degrees : (n,) float64
        The kernel degrees in the tree's order, for the sampler "rejection"; others find them.
    units : (n_tiles + 1,) int64
        Tile t draws for the leaves, or groups, units[t] ... units[t + 1] - 1.
    sampler : {"near", "rejection"}
        In folders of earlier versions also "rows", whose only tile is drawn by "near".
    n_rounds, seed, eps : int, int, float
        As in `SimilarityGraph`.
    independent : bool
        See `kdegraph.adjacency.weighted_adjacency`.
    """

    kernel: Kernel
    tree: Tree
    groups: TargetGroups
    degrees: np.ndarray
    units: np.ndarray
    sampler: str
    n_rounds: int
    seed: int
    eps: float
    independent: bool


# The fields of a plan that are written unchanged, in their order.
FIELDS = Plan._fields[3:]


def make_plan(X, options, stages, folder):
    """Build the tree and choose a sampler, as `similarity_graph` does in memory, and write the
    `Order` and the `Plan` to the folder.
    """
    problem = set_up(X, options, stages)
    kernel, tree, n_rounds = problem.kernel, problem.tree, problem.n_rounds
    sampler, method = choose_sampler(kernel, tree, options.eps, options.sampler)
    none, no_rows = np.empty(0, np.int64), np.empty((0, 1))
    degrees, groups = np.empty(0), TargetGroups(none, none, no_rows, no_rows)
    if sampler == "rejection":
        groups = group_targets(kernel, tree, n_rounds)
        stages.enter("kernel degrees")
        degrees = kernel_degrees(kernel, tree, options.eps, method=method, progress=stages.progress)
    units, bounds = _divide(sampler, tree, groups, n_rounds)
    plan = Plan(
        kernel, tree, groups, degrees, units, sampler, n_rounds,
        options.seed, options.eps, options.weighting == "inclusion",
    )  # fmt: skip
    order = Order.of(tree.order, bounds, problem.bandwidth, problem.densities)
    folder.write(ORDER, order._asdict())
    _write(folder, plan)


def _divide(sampler, tree, groups, n_rounds):
    """Return the `units` of a `Plan` and the `bounds` of an `Order`."""
    n = len(tree.order)
    starts = groups.start if sampler == "rejection" else tree.start[tree.first_leaf :]
    wanted = np.linspace(0, n, number_of_tiles(n, n_rounds), endpoint=False)
    first = np.unique(np.searchsorted(starts, wanted, side="right") - 1)
    return np.append(first, len(starts)), np.append(starts[first], n)


def number_of_tiles(n, n_rounds):
    """Return the number of tiles for `n` points with `n_rounds` draws each.

    There are at most 2^22 draws in a tile, each of which takes about 64 bytes while its rows are
    made, and at least 16 tiles, so that workers end at about the same time. But with fewer than
    2,048 points, the overhead of a tile would exceed its work.
    """
    size = max(2048, min(2**22 // n_rounds, n // 16))
    return max(1, round(n / size))


def _write(folder, plan):
    fields = {name: getattr(plan, name) for name in FIELDS}
    fields |= {"kernel": plan.kernel.name, "sigma": plan.kernel.sigma}
    for part, values in (
        ("tree", plan.tree),
        ("groups", plan.groups),
        ("local", plan.kernel.local),
    ):
        fields |= {f"{part}-{field}": value for field, value in values._asdict().items()}
    folder.write(PLAN, fields)


def read_order(folder):
    """Return the `Order` of a folder, whose arrays are mapped into memory."""
    return Order(*folder.read(ORDER, *Order._fields))


def n_tiles(folder):
    """Return the number of tiles."""
    return len(folder.read(ORDER, "bounds")) - 1


def span(folder, tile):
    """Return the places of a tile, a slice."""
    return slice(*folder.read(ORDER, "bounds")[tile : tile + 2].tolist())


def read_plan(folder):
    """Return the `Plan` of a folder, whose arrays are mapped into memory."""

    def part(name, kind):
        return kind(*folder.read(PLAN, *(f"{name}-{field}" for field in kind._fields)))

    name, sigma, *fields = folder.read(PLAN, "kernel", "sigma", *FIELDS)
    local = part("local", LocalScale)
    kernel = Kernel(name, sigma, local if local.is_local else ONE_BANDWIDTH)
    return Plan(kernel, part("tree", Tree), part("groups", TargetGroups), *fields)
