"""A coarse graph that fits into memory: its nodes are groups of connected vertices, or runs, as in
`kdegraph.spectral.solver.coarse_graph`.
"""

from functools import partial

import numpy as np
import scipy.sparse

from kdegraph.spectral.products import SparseRows
from kdegraph.spectral.solver.coarse_graph import (
    MAX_RUNS,
    SAMPLED_ROWS,
    are_scattered,
    group_rows,
    runs_in_space,
)
from kdegraph.tiles import scheduler
from kdegraph.tiles.matrix import COMPONENTS, DEGREES, rows_of
from kdegraph.tiles.plan import n_tiles, span

# The step with the node of every vertex.
NODES = "nodes"


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
    scheduler.write_tiles(folder, "coarse", tiles, _sum_tile)
    return _add_tiles(folder)


def _choose_runs(folder, vertices):
    """Return the bounds of the runs of vertices near each other in space that become the nodes, or
    None if groups along the edges are better.

    If the neighbors of a vertex are scattered over far more vertices than a run, all vertices of
    the run have nearly the same neighbors. With fewer than 64 vertices in a run, groups along the
    edges make a smaller graph.
    """
    rows = _sampled_rows(folder)
    max_runs = MAX_RUNS
    while max_runs == MAX_RUNS or vertices.n >= 64 * max_runs:
        bounds = runs_in_space(vertices.order, vertices.points, max_runs)
        if are_scattered(rows, partial(np.searchsorted, bounds, side="right")):
            return bounds
        max_runs *= 2
    return None


def _sampled_rows(folder):
    """Return some rows of the matrix: pairs of a vertex and its neighbors."""
    tiles, rows = n_tiles(folder), []
    for tile in range(tiles):
        begin = span(folder, tile).start
        indptr, columns, _ = rows_of(folder, tile)
        for i in np.linspace(0, len(indptr) - 2, -(-SAMPLED_ROWS // tiles)).astype(int):
            rows.append((begin + i, columns[indptr[i] : indptr[i + 1]]))
    return rows


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
    """Return the step "coarse": the weights of the edges of a tile, summed by nodes."""
    node, n_nodes = folder.read(NODES, "node", "n_nodes")
    indptr, columns, weights = rows_of(folder, tile)
    nodes, row = np.unique(node[span(folder, tile)], return_inverse=True)
    to_nodes = (weights, node[columns], indptr)
    to_nodes = scipy.sparse.csr_array(to_nodes, shape=(len(row), n_nodes))
    members = scipy.sparse.csr_array((np.ones(len(row)), (row, np.arange(len(row)))))
    sums = members @ to_nodes
    return {"data": sums.data, "indices": sums.indices, "indptr": sums.indptr, "nodes": nodes}


def _add_tiles(folder):
    """Return the sum of the matrices of the tiles."""
    n = folder.read(NODES, "n_nodes")
    parts = [
        folder.read(f"coarse-{tile}", "data", "indices", "indptr", "nodes")
        for tile in range(n_tiles(folder))
    ]
    row = np.concatenate([np.repeat(nodes, np.diff(indptr)) for _, _, indptr, nodes in parts])
    data, columns = (np.concatenate([part[i] for part in parts]) for i in range(2))
    place = row.astype(np.int32), columns.astype(np.int32)
    return scipy.sparse.coo_array((data, place), shape=(n, n)).tocsr()
