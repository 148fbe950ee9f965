"""The normalized adjacency matrix M = D^-1/2 A D^-1/2 of a graph in a folder, tile by tile.

Vertices have the numbers of their places in the tree's order, in which neighbors are near each
other: most of what a tile reads of a vector is near its own part.
"""

import numpy as np
import scipy.sparse

from kdegraph.spectral.checked_graph import CheckedGraph
from kdegraph.spectral.components import components_of_blocks
from kdegraph.spectral.products import SparseRows
from kdegraph.tiles import points, scheduler
from kdegraph.tiles.folder import Folder
from kdegraph.tiles.plan import STEP as PLAN
from kdegraph.tiles.steps import rows_step

# The step with the degrees, and the one with the connected components.
DEGREES, COMPONENTS = "row-sums", "components"


def scaled_step(tile):
    """The name of the step with the rows of M of a tile."""
    return f"scaled-{tile}"


def make_matrix(folder, progress=None):
    """Write M to the folder, with the degrees and the connected components of the graph, unless
    they are there.

    Returns
    -------
    CheckedGraph
        Of the vertices in the tree's order, without the matrix.
    """
    tiles = range(n_tiles(folder))
    if not folder.has(DEGREES):
        sums = [folder.read(rows_step(tile), "sums") for tile in tiles]
        folder.write(DEGREES, {"degrees": np.concatenate(sums)})
    scheduler.run(_scale_tile, [(folder.path, tile) for tile in tiles], progress)
    if not folder.has(COMPONENTS):
        n = len(folder.read(DEGREES, "degrees"))
        component, sizes = components_of_blocks(n, lambda: _columns_by_tile(folder))
        folder.write(COMPONENTS, {"component": component, "sizes": sizes})
    none = SparseRows(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0))
    return CheckedGraph(
        none,
        folder.read(DEGREES, "degrees"),
        *folder.read(COMPONENTS, "component", "sizes"),
        order=folder.read(PLAN, "tree-order"),
        points=folder.read(points.STEP, points.NAME),
    )


def n_tiles(folder):
    """Number of tiles."""
    return len(folder.read(PLAN, "bounds")) - 1


def span(folder, tile):
    """The first vertex of a tile, and the one after its last."""
    return folder.read(PLAN, "bounds")[tile : tile + 2].tolist()


def rows_of(folder, tile):
    """The rows of M of a tile, (m, n) csr_array in single precision."""
    arrays = folder.read(scaled_step(tile), "weights", "columns", "indptr")
    n = len(folder.read(DEGREES, "degrees"))
    return scipy.sparse.csr_array(tuple(arrays), shape=(len(arrays[-1]) - 1, n))


def _scale_tile(path, tile):
    """Write the rows of M of a tile, unless that has been done."""
    folder = Folder(path)
    if folder.has(scaled_step(tile)):
        return
    data, indices, indptr = folder.read(rows_step(tile), "data", "indices", "indptr")
    columns = folder.read(PLAN, "place")[indices].astype(np.int32)
    begin, end = span(folder, tile)
    degrees = folder.read(DEGREES, "degrees")
    lengths = np.repeat(np.sqrt(degrees[begin:end]), np.diff(indptr))
    weights = data / (lengths * np.sqrt(degrees[columns]))
    fields = {"weights": weights.astype(np.float32), "columns": columns, "indptr": indptr}
    folder.write(scaled_step(tile), fields)


def _columns_by_tile(folder):
    """For each tile its first vertex, and `indptr` and `indices` of its rows."""
    for tile in range(n_tiles(folder)):
        yield span(folder, tile)[0], *folder.read(scaled_step(tile), "indptr", "columns")
