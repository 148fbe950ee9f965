"""A coarse graph that fits into memory: its nodes are groups of vertices that hang together, as in
`kdegraph.spectral.solver.aggregation`.
"""

from functools import partial

import numpy as np
import scipy.sparse

from kdegraph.spectral.by_tiles.matrix import COMPONENTS, DEGREES, n_tiles, rows_of, span
from kdegraph.spectral.products import SparseRows
from kdegraph.spectral.solver.aggregation import (
    SAMPLED_ROWS,
    are_scattered,
    group_rows,
)
from kdegraph.spectral.solver.runs import MAX_RUNS, runs_in_space
from kdegraph.tiles import scheduler
from kdegraph.tiles.folder import Folder

# The step with the node of every vertex.
NODES = "nodes"
# Runs are no shorter on the average: below, groups along the edges make a smaller graph.
MIN_RUN_VERTICES = 64


def coarse_adjacency(folder, vertices, progress=None):
    """The adjacency matrix of the coarse graph.

    Parameters
    ----------
    folder : Folder
    vertices : CheckedGraph
        As `make_matrix` returns it.
    progress : callable, optional

    Returns
    -------
    csr_array
        The weights of all edges between two nodes, and within one on the diagonal, are summed.
    """
    tiles = [(folder.path, tile) for tile in range(n_tiles(folder))]
    if not folder.has(NODES):
        bounds = _choose_runs(folder, vertices)
        if bounds is None:
            scheduler.run(_group_tile, tiles)
        node = _number_nodes(folder, bounds)
        folder.write(NODES, {"node": node, "n_nodes": int(node.max()) + 1})
    scheduler.run(_sum_tile, tiles, progress)
    return _add_tiles(folder)


def _choose_runs(folder, vertices):
    """The bounds of runs of vertices near each other in space that are to be the nodes; None if
    groups along the edges are better.

    If the neighbors of a vertex are scattered over far more vertices than there are in a run, all
    vertices of the run have much the same neighbors.
    """
    rows = _sampled_rows(folder)
    max_runs = MAX_RUNS
    while max_runs == MAX_RUNS or vertices.n >= MIN_RUN_VERTICES * max_runs:
        bounds = runs_in_space(vertices.order, vertices.points, max_runs)
        if are_scattered(rows, partial(np.searchsorted, bounds, side="right")):
            return bounds
        max_runs *= 2
    return None


def _sampled_rows(folder):
    """Some rows of the matrix: pairs of a vertex and its neighbors."""
    tiles = range(n_tiles(folder))
    rows = []
    for tile in tiles:
        begin, end = span(folder, tile)
        indptr, columns, _ = rows_of(folder, tile)
        for i in np.linspace(0, end - begin - 1, -(-SAMPLED_ROWS // len(tiles))).astype(int):
            rows.append((begin + i, columns[indptr[i] : indptr[i + 1]]))
    return rows


def _number_nodes(folder, bounds):
    """The node of every vertex. No node has vertices of two components."""
    if bounds is None:
        groups = [folder.read(groups_step(tile), "group") for tile in range(n_tiles(folder))]
        before = np.cumsum([0] + [group.max() + 1 for group in groups])
        return np.concatenate([group + n for group, n in zip(groups, before, strict=False)])
    component = folder.read(COMPONENTS, "component")
    run = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    pairs = run * np.int64(component.max() + 1) + component
    return np.unique(pairs, return_inverse=True)[1].astype(np.int32)


def groups_step(tile):
    """The name of the step with the groups of the vertices of a tile."""
    return f"groups-{tile}"


def _group_tile(path, tile):
    """Find groups within a tile along its edges, unless that has been done."""
    folder = Folder(path)
    if not folder.has(groups_step(tile)):
        (begin, end), (indptr, columns, weights) = span(folder, tile), rows_of(folder, tile)
        degrees = folder.read(DEGREES, "degrees")
        lengths = np.repeat(np.sqrt(degrees[begin:end]), np.diff(indptr))
        scaled = weights / (lengths * np.sqrt(degrees[columns]))
        of_tile = columns - np.int32(begin)  # others are outside of the tile
        group, _ = group_rows(SparseRows(indptr, of_tile, scaled.astype(np.float32)))
        folder.write(groups_step(tile), {"group": group})


def coarse_step(tile):
    """The name of the step with what the vertices of a tile add to the coarse graph."""
    return f"coarse-{tile}"


def _sum_tile(path, tile):
    """Sum the weights of the edges of a tile by nodes, unless that has been done."""
    folder = Folder(path)
    if folder.has(coarse_step(tile)):
        return
    node, n_nodes = folder.read(NODES, "node", "n_nodes")
    begin, end = span(folder, tile)
    indptr, columns, weights = rows_of(folder, tile)
    nodes, row = np.unique(node[begin:end], return_inverse=True)
    to_nodes = (weights, node[columns], indptr)
    to_nodes = scipy.sparse.csr_array(to_nodes, shape=(end - begin, n_nodes))
    members = scipy.sparse.csr_array((np.ones(len(row)), (row, np.arange(len(row)))))
    sums = members @ to_nodes
    arrays = {"data": sums.data, "indices": sums.indices, "indptr": sums.indptr}
    folder.write(coarse_step(tile), arrays | {"nodes": nodes})


def _add_tiles(folder):
    """The matrix that the tiles add up to."""
    n = folder.read(NODES, "n_nodes")
    parts = [
        folder.read(coarse_step(tile), "data", "indices", "indptr", "nodes")
        for tile in range(n_tiles(folder))
    ]
    row = np.concatenate([np.repeat(nodes, np.diff(indptr)) for _, _, indptr, nodes in parts])
    data, columns = (np.concatenate([part[i] for part in parts]) for i in range(2))
    place = row.astype(np.int32), columns.astype(np.int32)
    return scipy.sparse.coo_array((data, place), shape=(n, n)).tocsr()
