"""The two tasks of a tile: to draw neighbors of its points, and to make its rows of the matrix.

Tiles exchange their draws by files: a tile writes its draws sorted by the tiles of the neighbors
drawn, and each tile reads its part from all others.
"""

import numpy as np
import scipy.sparse

from kdegraph.adjacency import weighted_rows
from kdegraph.drawn import Drawn, transposed
from kdegraph.edge_weights import EdgeLaw
from kdegraph.sampling import near, rejection
from kdegraph.tiles.plan import ORDER, n_tiles, read_order, read_plan

# The step with the kernel degrees, and the last one, with the values of the graph.
DEGREES, RESULT = "degrees", "result"


def draw_tile(folder, tile):
    """Draw neighbors of the points of a tile, and write them sorted by their tiles, too.

    Returns
    -------
    dict
        The step "draws".
    """
    order, plan = read_order(folder), read_plan(folder)
    neighbors, degrees = _draw(plan, order, tile)
    drawn = neighbors.ravel()
    start, draws = transposed(order.tiles_of(drawn)[:, None], order.n_tiles)
    folder.write(
        f"sent-{tile}",
        {
            "start": start,
            "drawn": drawn[draws],
            "by": (order.bounds[tile] + draws // plan.n_rounds).astype(np.int32),
        },
    )
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


def join_degrees(folder):
    """Write the kernel degrees of all tiles, in the tree's order, unless that has been done."""
    if not folder.has(DEGREES):
        tiles = range(n_tiles(folder))
        degrees = np.concatenate([folder.read(f"draws-{tile}", "degrees") for tile in tiles])
        with np.errstate(divide="ignore"):
            folder.write(DEGREES, {"degrees": degrees, "inverse": 1.0 / degrees})


def join_tile(folder, tile):
    """Make the rows of the matrix for the points of a tile.

    Returns
    -------
    dict
        The step "rows".
    """
    order, plan = read_order(folder), read_plan(folder)
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


def fields_of_rows(matrix):
    """Return the fields of a step with rows of the matrix."""
    return {
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "sums": matrix.sum(axis=1),
    }


def write_result(folder, parameters):
    """Write the last step of a graph with these parameters, once the rows of all tiles exist."""
    tiles = n_tiles(folder)
    nnz = sum(folder.read(f"rows-{tile}", "data").size for tile in range(tiles))
    n = len(folder.read(ORDER, "place"))
    sizes = {"n_vertices": n, "n_edges": nnz // 2, "n_blocks": tiles}
    folder.write(RESULT, sizes | parameters)


def _received(folder, n_tiles, tile):
    """Return the points of a tile that were drawn, and the points that drew them, sorted by the
    latter.
    """
    drawn, by = [], []
    for other in range(n_tiles):
        start, drawn_there, by_there = folder.read(f"sent-{other}", "start", "drawn", "by")
        mine = slice(start[tile], start[tile + 1])
        drawn.append(drawn_there[mine])
        by.append(by_there[mine])
    return np.concatenate(drawn), np.concatenate(by)
