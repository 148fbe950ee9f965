"""A graph in a Zarr store, unpacked into a folder without reading it into memory.

The rows of the store are in the order of the vertices, those of the folder in the tree's order.
Files lead from one to the other: each block of the store is written sorted by tiles, and each tile
reads its part from all blocks.
"""

from pathlib import Path

import dask.array as da
import numpy as np
import scipy.sparse

from kdegraph.graph_files import (
    VALUES_OF_VERTICES,
    bytes_of,
    check_neighbors,
    check_values_of_vertices,
    check_vertex_arrays,
    open_zarr,
    refusing_others,
)
from kdegraph.graph_parameters import PLAIN_PARAMETERS
from kdegraph.runtime.memory import check_memory
from kdegraph.runtime.progress import StageTimer
from kdegraph.sparse_checks import check_sparse
from kdegraph.tiles import scheduler
from kdegraph.tiles.build import fields_of_rows, write_result
from kdegraph.tiles.folder import (
    DEGREES,
    ORDER,
    RESULT,
    Order,
    n_tiles,
    number_of_tiles,
    read_order,
    span,
)
from kdegraph.tiles.points import gather_points


def unpack_zarr(path, folder, progress=None):
    """Unpack a graph that `to_zarr` has written into a `Folder`, or go on with one that was
    interrupted; see `TiledGraph.from_zarr`. Every process that takes part can read the store under
    the name `path`.
    """
    path = Path(path).absolute()
    parameters, arrays = open_zarr(path)
    stages = StageTimer(progress)
    with folder.claimed():
        with refusing_others(path, "to_zarr"):
            n, nnz = arrays["indptr"].size - 1, arrays["data"].size
            check_vertex_arrays(arrays, parameters, n)
            description = {name: parameters[name] for name in ("kernel", "n_rounds", "seed")}
        if "points" not in arrays:
            raise ValueError(
                f"path: the graph {str(path)!r} has no points, by which tiles are divided; "
                "SimilarityGraph.from_zarr reads it into memory"
            )
        if "sample_weight" in arrays:
            raise ValueError(
                f"path: the points of the graph {str(path)!r} have weights, which a TiledGraph "
                "does not keep; SimilarityGraph.from_zarr reads it into memory"
            )
        folder.begin({"unpacked": True, "n_vertices": n, "nnz": nnz} | description)
        stages.enter("points")
        gather_points(da.from_zarr(arrays["points"]), folder, stages.progress)
        if not folder.has(RESULT):
            folder.check_all()
            if not folder.has(ORDER):
                _write_order(path, arrays, parameters, folder)
            stages.enter("blocks")
            tiles = n_tiles(folder)  # and as many blocks
            report = stages.progress
            scheduler.write_tiles(folder, "sent", tiles, _send_block, path, progress=report)
            stages.enter("graph")
            scheduler.write_tiles(folder, "rows", tiles, _join_tile, progress=report)
            stages.leave()
            for block in range(tiles):
                folder.remove(f"sent-{block}")
            kept = {name: parameters[name] for name in PLAIN_PARAMETERS if name in parameters}
            write_result(folder, kept)


def _write_order(path, arrays, parameters, folder):
    """Write the order of the vertices and their values, given the arrays of the store."""
    names = ("kernel_degrees", *VALUES_OF_VERTICES)
    arrays = {name: arrays[name] for name in names if name in arrays}
    with refusing_others(path, "to_zarr"):
        check_memory(bytes_of(arrays), "the values of the vertices need")
        arrays = {name: array[...] for name, array in arrays.items()}
        degrees = arrays["kernel_degrees"]
        n = len(degrees)
        check_values_of_vertices(arrays, n)
    order = arrays.get("order", np.arange(n)).astype(np.int64)
    bounds = np.linspace(0, n, 1 + number_of_tiles(n, parameters["n_rounds"])).astype(np.int64)
    folder.write(DEGREES, {"degrees": degrees[order]})
    bandwidth = parameters["sigma"] if "sigma" in parameters else arrays["sigma"]
    folder.write(ORDER, Order.of(order, bounds, bandwidth, arrays.get("densities"))._asdict())


def _send_block(folder, block, path):
    """Return the step "sent": a block of the store sorted by tiles."""
    order = read_order(folder)
    begin, end = order.bounds[block : block + 2].tolist()
    _, arrays = open_zarr(path)
    with refusing_others(path, "to_zarr"):
        matrix, neighbors = _read_block(arrays, begin, end, len(order.place))
    places = order.place[begin:end]
    by_place = np.argsort(places)
    matrix, neighbors = matrix[by_place], neighbors[by_place]
    return {
        "start": np.searchsorted(places[by_place], order.bounds),
        "places": places[by_place],
        "neighbors": np.where(neighbors >= 0, order.place[neighbors], -1).astype(np.int32),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
    }


def _read_block(arrays, begin, end, n):
    """Return the rows begin ... end - 1 of the matrix, and the neighbors of these vertices.

    An exception of any kind is raised if they are damaged.
    """
    ends = arrays["indptr"][begin : end + 1]
    mine, indptr = slice(ends[0], ends[-1]), (ends - ends[0]).astype(np.int32)
    entries = arrays["data"][mine], arrays["indices"][mine]
    matrix = scipy.sparse.csr_array((*entries, indptr), shape=(end - begin, n))
    check_sparse(matrix, "adjacency")
    neighbors = arrays["neighbors"][begin:end]
    if neighbors.shape[0] != end - begin:
        raise ValueError("there are too few neighbors")
    check_neighbors(neighbors, n)
    return matrix, neighbors


def _join_tile(folder, tile):
    """Return the step "rows" of a tile, from all blocks, and write its step "draws"."""
    order = read_order(folder)
    n, names = len(order.place), ("start", "places", "neighbors", "data", "indices", "indptr")
    places, neighbors, rows = [], [], []
    for block in range(order.n_tiles):
        start, places_there, neighbors_there, *entries = folder.read(f"sent-{block}", *names)
        mine = slice(start[tile], start[tile + 1])
        places.append(places_there[mine])
        neighbors.append(neighbors_there[mine])
        rows.append(scipy.sparse.csr_array(tuple(entries), shape=(len(places_there), n))[mine])
    back = np.argsort(np.concatenate(places))
    matrix = scipy.sparse.vstack(rows, format="csr")[back]
    degrees = folder.read(DEGREES, "degrees")[span(folder, tile)]
    folder.write(
        f"draws-{tile}", {"neighbors": np.concatenate(neighbors)[back], "degrees": degrees}
    )
    return fields_of_rows(matrix)
