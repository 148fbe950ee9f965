"""Parts of the arrays of a graph, for consecutive vertices in their original order."""

import numpy as np
import scipy.sparse

from kdegraph.runtime.replacing import writing
from kdegraph.tiles import points
from kdegraph.tiles.folder import Folder
from kdegraph.tiles.plan import ORDER, read_order
from kdegraph.tiles.steps import DEGREES


def matrix_rows(path, begin, end):
    """Return the rows begin ... end - 1 of the adjacency matrix, (end - begin, n) CSR array."""
    folder = Folder(path)
    order = read_order(folder)
    n = len(order.place)
    parts, by_tile = [], []
    for tile, mine, local in _tiles(order, begin, end):
        arrays = folder.read(f"rows-{tile}", "data", "indices", "indptr")
        of_tile = scipy.sparse.csr_array(tuple(arrays), shape=(len(arrays[-1]) - 1, n))
        parts.append(of_tile[local])
        by_tile.append(mine)
    back = np.argsort(np.concatenate(by_tile))
    found = scipy.sparse.vstack(parts, format="csr")[back]
    found.has_sorted_indices = found.has_canonical_format = True
    return found


def write_edges(path, begin, end, file):
    """Write the edges from the vertices begin ... end - 1 to those of larger numbers to a Parquet
    file, which gets its name when it is complete.
    """
    import pyarrow as pa
    from pyarrow import parquet

    found = matrix_rows(path, begin, end)
    source = np.repeat(np.arange(begin, end), np.diff(found.indptr))
    upper = found.indices > source
    columns = {"source": source, "target": found.indices.astype(np.int64), "weight": found.data}
    with writing(file) as temporary:
        parquet.write_table(pa.table({name: c[upper] for name, c in columns.items()}), temporary)


def neighbors_of(path, begin, end):
    """Return the neighbors of the vertices begin ... end - 1, (end - begin, L) int32."""
    folder = Folder(path)
    order = read_order(folder)
    parts, by_tile = [], []
    for tile, mine, local in _tiles(order, begin, end):
        drawn = folder.read(f"draws-{tile}", "neighbors")[local]
        parts.append(np.where(drawn >= 0, order.order[drawn], -1).astype(np.int32))
        by_tile.append(mine)
    return np.concatenate(parts)[np.argsort(np.concatenate(by_tile))]


def degrees_of(path, begin, end):
    """Return the kernel degrees of the vertices begin ... end - 1."""
    folder = Folder(path)
    return folder.read(DEGREES, "degrees")[folder.read(ORDER, "place")[begin:end]]


def order_of(path, begin, end):
    """Return the vertices at the places begin ... end - 1 of the tree's order."""
    return Folder(path).read(ORDER, "order")[begin:end].astype(np.int32)


def densities_of(path, begin, end):
    """Return the densities of the vertices begin ... end - 1."""
    return np.array(Folder(path).read(ORDER, "densities")[begin:end])


def points_of(path, begin, end):
    """Return the points begin ... end - 1."""
    return np.array(Folder(path).read(points.STEP, points.NAME)[begin:end])


def _tiles(order, begin, end):
    """Yield for each tile with some of the vertices its number, these vertices counted from
    `begin`, and their points counted from the first of the tile.
    """
    places = np.array(order.place[begin:end])
    tiles = order.tiles_of(places)
    for tile in np.unique(tiles):
        mine = np.flatnonzero(tiles == tile)
        yield tile, mine, places[mine] - order.bounds[tile]


def dimension(path):
    """Return the number of coordinates of a point."""
    return Folder(path).read(points.STEP, points.NAME).shape[1]
