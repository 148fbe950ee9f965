"""Algorithm 2 tile by tile: from a Dask array to a graph in a folder.

The tree and the parameters are a step of the folder, the plan. Every task maps the tree, the points
and other arrays of their length into memory, so that a process holds only the pages that it uses:
those of its own points, of points near them, and of the upper levels of the tree. A tile has two
tasks: to draw neighbors of its points, and to make its rows of the matrix. In between, tiles
exchange their draws by files: a tile writes its draws sorted by the tiles of the neighbors drawn,
and each tile reads its part from all others.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from kdegraph.adjacency import Drawn, transposed, weighted_rows
from kdegraph.edge_weights import EdgeLaw
from kdegraph.geometry.kernels import Kernel
from kdegraph.geometry.local_scale import ONE_BANDWIDTH, LocalScale
from kdegraph.geometry.tree import Tree
from kdegraph.kde.dispatch import kernel_degrees
from kdegraph.runtime.progress import StageTimer
from kdegraph.sampled_graph.sample import set_up
from kdegraph.sampling import near, rejection
from kdegraph.sampling.choice import choose_sampler
from kdegraph.sampling.rejection import TargetGroups, group_targets
from kdegraph.tiles import scheduler
from kdegraph.tiles.folder import (
    DEGREES,
    DESCRIPTION,
    ORDER,
    RESULT,
    Folder,
    Order,
    checksum,
    n_tiles,
    number_of_tiles,
    read_order,
)
from kdegraph.tiles.points import gather_points

# The step with the plan, which is removed when the graph is complete.
PLAN = "plan"


def sample_by_tiles(X, options, store, progress=None, *, any_seed=False):
    """Sample a graph on Dask, or complete one that was interrupted, and return the path of its
    folder, for `TiledGraph.load`.

    `X` is a Dask array as `kdegraph.tiles.points.as_dask_points` returns it, and `options` are
    `GraphParameters`. The folder is `store`, or if that is None a temporary one. With `any_seed`,
    the seed of an interrupted graph takes the place of that of the options. A ValueError is raised
    if the store holds something else, or is damaged.
    """
    folder = Folder.temporary() if store is None else Folder(store)
    with folder.claimed():
        if any_seed and folder.has(DESCRIPTION):
            options = options._replace(seed=folder.values(DESCRIPTION)["seed"])
        folder.begin(_describe(X, options))
        stages = StageTimer(progress)
        stages.enter("points")
        points = gather_points(X, folder, stages.progress)
        if not folder.has(RESULT):
            _sample(points, options, folder, stages)
        folder.remove(PLAN)
    return folder.path


def _describe(X, options):
    """Return what the graph depends on, except for the coordinates of the points."""
    described = {"shape": list(X.shape)} | options._asdict()
    del described["draws"], described["kde"]  # only the recursive sampler depends on these
    if options.metric == "euclidean":
        del described["metric"]  # folders of earlier versions do not name it
    if isinstance(options.sigma, np.ndarray):
        described["sigma"] = f"an array with the checksum {checksum(options.sigma)}"
    return described


def _sample(points, options, folder, stages):
    """Write all steps of the graph that are not in the folder."""
    folder.check_all()
    if not folder.has(PLAN):
        _make_plan(points, options, stages, folder)
    tiles = n_tiles(folder)
    stages.enter("samples")
    scheduler.write_tiles(folder, "draws", tiles, draw_tile, progress=stages.progress)
    stages.enter("graph")
    if not folder.has(DEGREES):
        degrees = np.concatenate([folder.read(f"draws-{tile}", "degrees") for tile in range(tiles)])
        with np.errstate(divide="ignore"):
            folder.write(DEGREES, {"degrees": degrees, "inverse": 1.0 / degrees})
    scheduler.write_tiles(folder, "rows", tiles, join_tile, progress=stages.progress)
    stages.leave()
    for tile in range(tiles):
        folder.remove(f"sent-{tile}")
    n_rounds, sampler = folder.read(PLAN, "n_rounds", "sampler")
    names = ("kernel", "metric", "seed", "weighting", "eps", "alpha")
    parameters = {name: getattr(options, name) for name in names}
    parameters |= {"n_rounds": n_rounds, "sampler": sampler, "draws": "independent"}
    write_result(folder, parameters | {"timings": stages.timings})


def write_result(folder, parameters):
    """Write the last step of a graph with these parameters, once the rows of all tiles exist."""
    tiles = n_tiles(folder)
    nnz = sum(folder.read(f"rows-{tile}", "data").size for tile in range(tiles))
    n = len(folder.read(ORDER, "place"))
    sizes = {"n_vertices": n, "n_edges": nnz // 2, "n_blocks": tiles}
    folder.write(RESULT, sizes | parameters)


# ---------------------------------------------------------------- the plan


class Plan(NamedTuple):
    """The kernel, the tree and the parameters with which neighbors are drawn."""

    kernel: Kernel  # between the points of the tree
    tree: Tree
    groups: TargetGroups  # for the sampler "rejection"
    # (n,) float64: the kernel degrees in the tree's order, for the sampler "rejection"; others find
    # them
    degrees: np.ndarray
    # (n_tiles + 1,) int64: tile t draws for the leaves, or groups, units[t] ... units[t + 1] - 1
    units: np.ndarray
    # "near" or "rejection"; in folders of earlier versions also "rows", which "near" draws
    sampler: str
    # As in `SimilarityGraph`.
    n_rounds: int
    seed: int
    eps: float
    independent: bool  # see `kdegraph.adjacency.weighted_adjacency`


# The fields of a plan that are written unchanged, in their order.
FIELDS = Plan._fields[3:]


def _make_plan(X, options, stages, folder):
    """Write the `Order` and the `Plan`: the tree, and the sampler that is chosen as in memory."""
    problem = set_up(X, options, stages)
    kernel, tree, n_rounds = problem.kernel, problem.tree, problem.n_rounds
    sampler, method = choose_sampler(kernel, tree, options.eps, options.sampler)
    none, no_rows = np.empty(0, np.int64), np.empty((0, 1))
    degrees, groups = np.empty(0), TargetGroups(none, none, no_rows, no_rows)
    if sampler == "rejection":
        groups = group_targets(kernel, tree, n_rounds)
        stages.enter("kernel degrees")
        degrees = kernel_degrees(kernel, tree, options.eps, method=method, progress=stages.progress)
    n = len(tree.order)
    starts = groups.start if sampler == "rejection" else tree.start[tree.first_leaf :]
    wanted = np.linspace(0, n, number_of_tiles(n, n_rounds), endpoint=False)
    first = np.unique(np.searchsorted(starts, wanted, side="right") - 1)
    units, bounds = np.append(first, len(starts)), np.append(starts[first], n)
    order = Order.of(tree.order, bounds, problem.bandwidth, problem.densities)
    folder.write(ORDER, order._asdict())
    independent = options.weighting == "inclusion"
    values = degrees, units, sampler, n_rounds, options.seed, options.eps, independent
    fields = dict(zip(FIELDS, values, strict=True))
    fields |= {"kernel": kernel.name, "sigma": kernel.sigma}
    for part, of_part in {"tree": tree, "groups": groups, "local": kernel.local}.items():
        fields |= {f"{part}-{field}": value for field, value in of_part._asdict().items()}
    folder.write(PLAN, fields)


def _read_plan(folder):
    """Return the `Plan` of a folder, whose arrays are mapped into memory."""

    def part(name, kind):
        return kind(*folder.read(PLAN, *(f"{name}-{field}" for field in kind._fields)))

    name, sigma, *fields = folder.read(PLAN, "kernel", "sigma", *FIELDS)
    local = part("local", LocalScale)
    kernel = Kernel(name, sigma, local if local.is_local else ONE_BANDWIDTH)
    return Plan(kernel, part("tree", Tree), part("groups", TargetGroups), *fields)


# ---------------------------------------------------------------- tasks of a tile


def draw_tile(folder, tile):
    """Return the step "draws" of a tile, and write its draws sorted by the tiles of those drawn."""
    order, plan = read_order(folder), _read_plan(folder)
    neighbors, degrees = _draw(plan, order, tile)
    drawn = neighbors.ravel()
    start, draws = transposed(order.tiles_of(drawn)[:, None], order.n_tiles)
    by = (order.bounds[tile] + draws // plan.n_rounds).astype(np.int32)
    folder.write(f"sent-{tile}", {"start": start, "drawn": drawn[draws], "by": by})
    return {"neighbors": neighbors, "degrees": degrees}


def _draw(plan, order, tile):
    """Return the neighbors and the kernel degrees of a tile's points, in the tree's order."""
    kernel, tree, n_rounds, seed = plan.kernel, plan.tree, plan.n_rounds, plan.seed
    units = slice(plan.units[tile], plan.units[tile + 1])
    if plan.sampler != "rejection":
        leaves = np.arange(tree.first_leaf, tree.start.size)[units]
        return near.draw_neighbors(kernel, tree, n_rounds, seed, plan.eps, leaves=leaves)
    groups = plan.groups._make(array[units] for array in plan.groups)
    neighbors = rejection.draw_neighbors(kernel, tree, plan.degrees, n_rounds, seed, groups=groups)
    return neighbors, plan.degrees[slice(*order.bounds[tile : tile + 2])]


def join_tile(folder, tile):
    """Return the step "rows": the rows of the matrix for the points of a tile."""
    order, plan = read_order(folder), _read_plan(folder)
    first, last = order.bounds[tile : tile + 2]
    drawn, by = _received(folder, order.n_tiles, tile)
    start, draws = transposed((drawn - np.int32(first))[:, None], last - first)
    drawn_here = Drawn(
        first,
        folder.read(f"draws-{tile}", "neighbors"),
        start,
        by[draws],
        np.arange(last - first),
    )
    inverse = folder.read(DEGREES, "inverse")
    points, independent = plan.tree.points, plan.independent
    law = EdgeLaw.of_kernel(plan.kernel, points, inverse, plan.n_rounds, independent)
    data, indices, indptr = weighted_rows(drawn_here, law, order.order)
    matrix = scipy.sparse.csr_array((data, indices, indptr), shape=(last - first, len(inverse)))
    return fields_of_rows(matrix)


def _received(folder, n_tiles, tile):
    """Return which points of a tile were drawn, and by which points, sorted by the latter."""
    drawn, by = [], []
    for other in range(n_tiles):
        start, drawn_there, by_there = folder.read(f"sent-{other}", "start", "drawn", "by")
        mine = slice(start[tile], start[tile + 1])
        drawn.append(drawn_there[mine])
        by.append(by_there[mine])
    return np.concatenate(drawn), np.concatenate(by)


def fields_of_rows(matrix):
    """Return the fields of a step with rows of the matrix."""
    return {
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "sums": matrix.sum(axis=1),
    }
