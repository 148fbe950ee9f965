"""The matrix P = D^-1 A of the random walk on a graph in a folder, tile by tile.

It has the eigenvalues of M = D^-1/2 A D^-1/2, and its eigenvectors are D^-1/2 U. Vertices have the
numbers of their places in the tree's order, in which neighbors are near each other: most of what a
tile reads of a vector is near its own part.
"""

import numpy as np

from kdegraph.spectral.checked_graph import CheckedGraph
from kdegraph.spectral.components import components_of_blocks
from kdegraph.spectral.products import SparseRows, divide_rows, multiply_rows
from kdegraph.tiles import points, scheduler
from kdegraph.tiles.folder import Folder
from kdegraph.tiles.plan import ORDER
from kdegraph.tiles.steps import rows_step

# The step with the degrees, and the one with the connected components.
DEGREES, COMPONENTS = "row-sums", "components"


def columns_step(tile):
    """The name of the step with the columns of the entries of a tile's rows."""
    return f"columns-{tile}"


def make_matrix(folder, progress=None):
    """Write the columns in the tree's order, the degrees and the connected components to the
    folder, unless they are there.

    Returns
    -------
    CheckedGraph
        Of the vertices in the tree's order, without the matrix.
    """
    tiles = range(n_tiles(folder))
    if not folder.has(DEGREES):
        sums = [folder.read(rows_step(tile), "sums") for tile in tiles]
        degrees = np.concatenate(sums)
        folder.write(DEGREES, {"degrees": degrees, "mean": float(degrees.mean())})
    scheduler.run(_write_columns, [(folder.path, tile) for tile in tiles], progress)
    if not folder.has(COMPONENTS):
        n = len(folder.read(DEGREES, "degrees"))
        component, sizes = components_of_blocks(n, lambda: _columns_by_tile(folder))
        folder.write(COMPONENTS, {"component": component, "sizes": sizes})
    none = SparseRows(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0))
    return CheckedGraph(
        none,
        folder.read(DEGREES, "degrees"),
        *folder.read(COMPONENTS, "component", "sizes"),
        order=folder.read(ORDER, "order"),
        points=folder.read(points.STEP, points.NAME),
    )


def n_tiles(folder):
    """Number of tiles."""
    return len(folder.read(ORDER, "bounds")) - 1


def span(folder, tile):
    """The first vertex of a tile, and the one after its last."""
    return folder.read(ORDER, "bounds")[tile : tile + 2].tolist()


def rows_of(folder, tile):
    """The rows of A of a tile: `indptr`, the columns and the weights."""
    indptr, weights = folder.read(rows_step(tile), "indptr", "data")
    return indptr, folder.read(columns_step(tile), "columns"), weights


def _write_columns(path, tile):
    """Write the columns of the rows of a tile, unless that has been done."""
    folder = Folder(path)
    if not folder.has(columns_step(tile)):
        columns = folder.read(ORDER, "place")[folder.read(rows_step(tile), "indices")]
        folder.write(columns_step(tile), {"columns": columns.astype(np.int32)})


def _columns_by_tile(folder):
    """For each tile its first vertex, and `indptr` and `indices` of its rows."""
    for tile in range(n_tiles(folder)):
        yield span(folder, tile)[0], *rows_of(folder, tile)[:2]


def lengths_of(folder, tile):
    """The square roots of the degrees of a tile, in units of their mean, (m, 1)."""
    degrees, mean = folder.read(DEGREES, "degrees", "mean")
    return np.sqrt(degrees[slice(*span(folder, tile))] / mean)[:, None]


def multiply(folder, tile, block):
    """The rows of ``P @ block`` of a tile, (m, width) float32; those without entries are zero."""
    indptr, columns, weights = rows_of(folder, tile)
    degrees = folder.read(DEGREES, "degrees")[slice(*span(folder, tile))]
    shares = np.empty(len(weights), np.float32)
    divide_rows(indptr, weights, degrees, shares)
    image = np.empty((len(degrees), block.shape[1]), np.float32)
    multiply_rows(SparseRows(indptr, columns, shares), block, image)
    return image
