"""The two tasks of a tile: drawing for its points, and making its rows of the matrix.

Who draws whom is handed from tile to tile by files: a tile writes what it has drawn sorted by the
tiles of those who were drawn, and each tile reads its part from all others.
"""

import numpy as np
import scipy.sparse

from kdegraph.adjacency import weighted_rows
from kdegraph.drawn import Drawn, transposed
from kdegraph.edge_weights import EdgeLaw
from kdegraph.sampling import near, rejection
from kdegraph.tiles.folder import Folder
from kdegraph.tiles.plan import read_order, read_plan

# The step with the kernel degrees, and the one that is written last, with the values of the graph.
DEGREES, RESULT = "degrees", "result"


def draws_step(tile):
    """The name of the step with what the points of a tile have drawn."""
    return f"draws-{tile}"


def sent_step(tile):
    """The name of the step with the same, sorted by the tiles of those who were drawn."""
    return f"sent-{tile}"


def rows_step(tile):
    """The name of the step with the rows of the matrix for the points of a tile."""
    return f"rows-{tile}"


def draw_tile(path, tile):
    """Draw for the points of a tile, unless that has been done.

    Parameters
    ----------
    path : Path
        Of the folder.
    tile : int
    """
    folder = Folder(path)
    if folder.has(draws_step(tile)):
        return
    order, plan = read_order(folder), read_plan(folder)
    neighbors, degrees = _draw(plan, order, tile)
    drawn = neighbors.ravel()
    start, draws = transposed(order.tiles_of(drawn)[:, None], order.n_tiles)
    folder.write(
        sent_step(tile),
        {
            "start": start,
            "drawn": drawn[draws],
            "by": (order.bounds[tile] + draws // plan.n_rounds).astype(np.int32),
        },
    )
    folder.write(draws_step(tile), {"neighbors": neighbors, "degrees": degrees})


def _draw(plan, order, tile):
    """The neighbors and the kernel degrees of the points of a tile, in the tree's order."""
    kernel, tree, n_rounds, seed = plan.kernel, plan.tree, plan.n_rounds, plan.seed
    units = slice(plan.units[tile], plan.units[tile + 1])
    if plan.sampler != "rejection":
        leaves = np.arange(tree.first_leaf, tree.start.size)[units]
        return near.draw_neighbors(kernel, tree, n_rounds, seed, plan.eps, leaves=leaves)
    groups = plan.groups._make(array[units] for array in plan.groups)
    neighbors = rejection.draw_neighbors(kernel, tree, plan.degrees, n_rounds, seed, groups=groups)
    return neighbors, plan.degrees[slice(*order.bounds[tile : tile + 2])]


def join_degrees(folder):
    """Put the kernel degrees of all tiles together, in the tree's order, unless that has been
    done.
    """
    if not folder.has(DEGREES):
        n_tiles = read_order(folder).n_tiles
        parts = [folder.read(draws_step(tile), "degrees") for tile in range(n_tiles)]
        degrees = np.concatenate(parts)
        with np.errstate(divide="ignore"):
            folder.write(DEGREES, {"degrees": degrees, "inverse": 1.0 / degrees})


def join_tile(path, tile):
    """Make the rows of the matrix for the points of a tile, unless that has been done."""
    folder = Folder(path)
    if folder.has(rows_step(tile)):
        return
    order, plan = read_order(folder), read_plan(folder)
    first, last = order.bounds[tile : tile + 2]
    drawn, by = _received(folder, order.n_tiles, tile)
    start, draws = transposed((drawn - np.int32(first))[:, None], last - first)
    drawn_here = Drawn(
        first,
        folder.read(draws_step(tile), "neighbors"),
        start,
        by[draws],
        np.arange(last - first),
    )
    inverse = folder.read(DEGREES, "inverse")
    points, independent = plan.tree.points, plan.independent
    law = EdgeLaw.of_kernel(plan.kernel, points, inverse, plan.n_rounds, independent)
    data, indices, indptr = weighted_rows(drawn_here, law, order.order)
    matrix = scipy.sparse.csr_array((data, indices, indptr), shape=(last - first, len(inverse)))
    write_rows(folder, tile, matrix)


def write_rows(folder, tile, matrix):
    """Write the rows of a tile, with their sums."""
    folder.write(
        rows_step(tile),
        {
            "data": matrix.data,
            "indices": matrix.indices,
            "indptr": matrix.indptr,
            "sums": matrix.sum(axis=1),
        },
    )


def write_result(folder, parameters):
    """Write what the rows of all tiles make complete: the graph with these parameters."""
    order = read_order(folder)
    nnz = sum(folder.read(rows_step(tile), "data").size for tile in range(order.n_tiles))
    sizes = {"n_vertices": len(order.place), "n_edges": nnz // 2, "n_blocks": order.n_tiles}
    folder.write(RESULT, sizes | parameters)


def _received(folder, n_tiles, tile):
    """Which points of a tile were drawn, and by whom, sorted by the latter."""
    drawn, by = [], []
    for other in range(n_tiles):
        start, drawn_there, by_there = folder.read(sent_step(other), "start", "drawn", "by")
        mine = slice(start[tile], start[tile + 1])
        drawn.append(drawn_there[mine])
        by.append(by_there[mine])
    return np.concatenate(drawn), np.concatenate(by)
