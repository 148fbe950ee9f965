"""The matrix P = D^-1 A of the random walk on a graph in a folder, tile by tile.

It has the eigenvalues of M = D^-1/2 A D^-1/2, and its eigenvectors are D^-1/2 U. Vertices have the
numbers of their places in the tree's order, in which neighbors are near each other: most of what a
tile reads of a vector is near its own part.
"""

import numpy as np

from kdegraph.spectral.checked_graph import CheckedGraph
from kdegraph.spectral.components import components_of_blocks
from kdegraph.spectral.products import SparseRows, divide_rows, step_rows
from kdegraph.tiles import points, scheduler
from kdegraph.tiles.plan import ORDER, n_tiles, span

# The step with the degrees, and the one with the connected components.
DEGREES, COMPONENTS = "row-sums", "components"


def make_matrix(folder, progress=None):
    """Write the columns in the tree's order, the degrees and the connected components to the
    folder, unless they are there.

    Returns
    -------
    CheckedGraph
        Of the vertices in the tree's order, without the matrix.
    """
    tiles = n_tiles(folder)
    if not folder.has(DEGREES):
        degrees = np.concatenate([folder.read(f"rows-{tile}", "sums") for tile in range(tiles)])
        folder.write(DEGREES, {"degrees": degrees, "mean": float(degrees.mean())})
    scheduler.write_tiles(folder, "columns", tiles, _find_columns, progress=progress)
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


def _find_columns(folder, tile):
    """Return the step "columns": the columns, in the tree's order, of the rows of a tile."""
    columns = folder.read(ORDER, "place")[folder.read(f"rows-{tile}", "indices")]
    return {"columns": columns.astype(np.int32)}


def rows_of(folder, tile):
    """Return the rows of A of a tile: `indptr`, the columns and the weights."""
    indptr, weights = folder.read(f"rows-{tile}", "indptr", "data")
    return indptr, folder.read(f"columns-{tile}", "columns"), weights


def _columns_by_tile(folder):
    """Yield for each tile its first vertex, and `indptr` and `indices` of its rows."""
    for tile in range(n_tiles(folder)):
        yield span(folder, tile).start, *rows_of(folder, tile)[:2]


def lengths_of(folder, tile):
    """Return the square roots of the degrees of a tile, in units of their mean, (m, 1)."""
    degrees, mean = folder.read(DEGREES, "degrees", "mean")
    return np.sqrt(degrees[span(folder, tile)] / mean)[:, None]


def multiply(folder, tile, block):
    """Return the rows of ``P @ block`` of a tile, (m, width) float32; empty rows give zeros."""
    indptr, columns, weights = rows_of(folder, tile)
    degrees = folder.read(DEGREES, "degrees")[span(folder, tile)]
    shares = np.empty(len(weights), np.float32)
    divide_rows(indptr, weights, degrees, shares)
    image = np.zeros((len(degrees), block.shape[1]), np.float32)
    one, zero = np.float32(1), np.float32(0)
    rows = SparseRows(indptr, columns, shares)
    step_rows(0, len(degrees), rows, block, image, one, zero, zero)
    return image
