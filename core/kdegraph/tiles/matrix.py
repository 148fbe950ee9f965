"""The matrix P = D^-1 A of the random walk on a graph in a folder, tile by tile, and a coarse graph
that fits into memory.

P has the eigenvalues of M = D^-1/2 A D^-1/2, and its eigenvectors are D^-1/2 U. Vertices have the
numbers of their places in the tree's order, in which neighbors are near each other: most of what a
tile reads of a vector is near its own part. The nodes of the coarse graph are groups of connected
vertices, or runs, as in `kdegraph.spectral.solver.coarse`.
"""

from functools import partial

import numpy as np
import scipy.sparse

from kdegraph.geometry.sparse_points import SparseRows
from kdegraph.spectral.checked_graph import CheckedGraph
from kdegraph.spectral.components import connected_components
from kdegraph.spectral.products import step_rows
from kdegraph.spectral.solver.coarse import (
    MAX_RUNS,
    SAMPLED_ROWS,
    are_scattered,
    group_rows,
    runs_in_space,
    sampled_rows,
)
from kdegraph.tiles import points, scheduler
from kdegraph.tiles.folder import ORDER, n_tiles, span

# The steps with the degrees, the connected components, and the node of every vertex.
DEGREES, COMPONENTS, NODES = "row-sums", "components", "nodes"


def make_matrix(folder, progress=None):
    """Write the matrix P, the degrees and the connected components to the folder, unless they are
    there. Return the `CheckedGraph` of the vertices in the tree's order, without the matrix.
    """
    tiles = n_tiles(folder)
    if not folder.has(DEGREES):
        degrees = np.concatenate([folder.read(f"rows-{tile}", "sums") for tile in range(tiles)])
        folder.write(DEGREES, {"degrees": degrees, "mean": float(degrees.mean())})
    scheduler.write_tiles(folder, "walk", tiles, _write_walk, progress=progress)
    if not folder.has(COMPONENTS):

        def blocks():
            for tile in range(tiles):
                yield span(folder, tile).start, *rows_of(folder, tile)[:2]

        component, sizes = connected_components(len(folder.read(DEGREES, "degrees")), blocks)
        folder.write(COMPONENTS, {"component": component, "sizes": sizes})
    none = SparseRows(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0))
    return CheckedGraph(
        none,
        folder.read(DEGREES, "degrees"),
        *folder.read(COMPONENTS, "component", "sizes"),
        order=folder.read(ORDER, "order"),
        points=folder.read(points.STEP, points.NAME),
    )


def _write_walk(folder, tile):
    """Return the step "walk" of a tile: its rows of P, with the columns in the tree's order."""
    names = ("indptr", "indices", "data", "sums")
    indptr, indices, weights, degrees = folder.read(f"rows-{tile}", *names)
    columns = folder.read(ORDER, "place")[indices]
    shares = weights / np.repeat(degrees, np.diff(indptr))
    return {"columns": columns.astype(np.int32), "shares": shares.astype(np.float32)}


def rows_of(folder, tile):
    """Return the rows of A of a tile: `indptr`, the columns and the weights."""
    indptr, weights = folder.read(f"rows-{tile}", "indptr", "data")
    return indptr, folder.read(f"walk-{tile}", "columns"), weights


def lengths_of(folder, tile):
    """Return the square roots of the degrees of a tile, in units of their mean, (m, 1)."""
    degrees, mean = folder.read(DEGREES, "degrees", "mean")
    return np.sqrt(degrees[span(folder, tile)] / mean)[:, None]


def multiply(folder, tile, block):
    """Return the rows of ``P @ block`` of a tile, (m, width) float32; empty rows give zeros."""
    entries = folder.read(f"walk-{tile}", "columns", "shares")
    rows = SparseRows(folder.read(f"rows-{tile}", "indptr"), *entries)
    image = np.zeros((len(rows.indptr) - 1, block.shape[1]), np.float32)
    one, zero = np.float32(1), np.float32(0)
    step_rows(0, len(image), rows, block, image, one, zero, zero)
    return image


# ---------------------------------------------------------------- the coarse graph


def coarse_adjacency(folder, vertices):
    """Return the adjacency matrix of the coarse graph, a csr_array, given the vertices as
    `make_matrix` returns them. The weights of all edges between two nodes, and within one on the
    diagonal, are summed.
    """
    tiles = n_tiles(folder)
    if not folder.has(NODES):
        bounds = _choose_runs(folder, vertices)
        if bounds is None:
            scheduler.write_tiles(folder, "groups", tiles, _group_tile)
        node = _number_nodes(folder, bounds)
        folder.write(NODES, {"node": node, "n_nodes": int(node.max()) + 1})
    scheduler.write_tiles(folder, "summed", tiles, _sum_tile)
    n = folder.read(NODES, "n_nodes")
    names = ("data", "row", "columns")
    parts = [folder.read(f"summed-{tile}", *names) for tile in range(tiles)]
    data, *places = (np.concatenate(part) for part in zip(*parts, strict=True))
    return scipy.sparse.coo_array((data, places), shape=(n, n)).tocsr()


def _choose_runs(folder, vertices):
    """Return the bounds of the runs of vertices near each other in space that become the nodes, or
    None if groups along the edges are better.

    If the neighbors of a vertex are scattered over far more vertices than a run, all vertices of
    the run have nearly the same neighbors. With fewer than 64 vertices in a run, groups along the
    edges make a smaller graph.
    """
    tiles, rows = n_tiles(folder), []
    for tile in range(tiles):
        of_tile = rows_of(folder, tile)[:2]
        rows += sampled_rows(*of_tile, -(-SAMPLED_ROWS // tiles), span(folder, tile).start)
    max_runs = MAX_RUNS
    while max_runs == MAX_RUNS or vertices.n >= 64 * max_runs:
        bounds = runs_in_space(vertices.order, vertices.points, max_runs)
        if are_scattered(rows, partial(np.searchsorted, bounds, side="right")):
            return bounds
        max_runs *= 2
    return None


def _number_nodes(folder, bounds):
    """Return the node of every vertex. No node has vertices of two components."""
    if bounds is None:
        groups = [folder.read(f"groups-{tile}", "group") for tile in range(n_tiles(folder))]
        before = np.cumsum([0] + [group.max() + 1 for group in groups])
        return np.concatenate([group + n for group, n in zip(groups, before, strict=False)])
    component = folder.read(COMPONENTS, "component")
    run = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    pairs = run * np.int64(component.max() + 1) + component
    return np.unique(pairs, return_inverse=True)[1].astype(np.int32)


def _group_tile(folder, tile):
    """Return the step "groups": groups within a tile along its edges."""
    mine, (indptr, columns, weights) = span(folder, tile), rows_of(folder, tile)
    degrees = folder.read(DEGREES, "degrees")
    lengths = np.repeat(np.sqrt(degrees[mine]), np.diff(indptr))
    scaled = weights / (lengths * np.sqrt(degrees[columns]))
    of_tile = columns - np.int32(mine.start)  # other vertices lie outside the tile
    group, _ = group_rows(SparseRows(indptr, of_tile, scaled.astype(np.float32)))
    return {"group": group}


def _sum_tile(folder, tile):
    """Return the step "summed": the weights of the edges of a tile, summed by nodes."""
    node, n_nodes = folder.read(NODES, "node", "n_nodes")
    indptr, columns, weights = rows_of(folder, tile)
    nodes, row = np.unique(node[span(folder, tile)], return_inverse=True)
    to_nodes = (weights, node[columns], indptr)
    to_nodes = scipy.sparse.csr_array(to_nodes, shape=(len(row), n_nodes))
    members = scipy.sparse.csr_array((np.ones(len(row)), (row, np.arange(len(row)))))
    sums = (members @ to_nodes).tocoo()
    return {"data": sums.data, "row": nodes[sums.row], "columns": sums.col.astype(np.int32)}
