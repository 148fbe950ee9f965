"""Read and write sampled graphs as Zarr stores, whose matrix other programs can read.

The group `adjacency` has the layout of AnnData for sparse matrices: the arrays data, indices and
indptr of the CSR form, and attributes that say so.
"""

import math
from pathlib import Path

import numpy as np

from kdegraph.graph_files import (
    ARRAYS,
    MATRIX_ARRAYS,
    OPTIONAL_ARRAYS,
    parameters_of,
    read_fields,
    refusing_others,
)
from kdegraph.runtime.replacing import new_folder

ADJACENCY = "adjacency"
# Numbers of a chunk, the unit that is compressed and read.
CHUNK = 2**20
# Zarr's format 2 is the one that all versions of AnnData read.
FORMAT = 2


def write_zarr(path, graph, nnz, blocks):
    """Write a graph to a new folder, which gets its name when it is complete.

    Parameters
    ----------
    path : path-like
    graph : SimilarityGraph or TiledGraph
        Whose parameters are written.
    nnz : int
        Number of entries of the matrix.
    blocks : callable
        ``blocks(name)`` returns an iterable of the blocks of rows of an array of the graph.

    Raises
    ------
    FileExistsError
        If there is something at `path`.
    """
    import zarr

    parameters = parameters_of(graph)
    optional = [name for name in OPTIONAL_ARRAYS if getattr(graph, name) is not None]
    if "sigma" in parameters:
        optional.remove("sigma")
    with new_folder(Path(path)) as folder:
        root = zarr.open_group(folder, mode="w", zarr_format=FORMAT)
        root.attrs["kdegraph"] = parameters
        _write_matrix(root, nnz, blocks(ADJACENCY))
        for name in ("kernel_degrees", "neighbors", *optional):
            _write_rows(root, name, len(graph.kernel_degrees), blocks(name))


def _write_matrix(root, nnz, blocks):
    group = root.create_group(ADJACENCY)
    data = _create(group, "data", (nnz,), np.float64)
    indices = _create(group, "indices", (nnz,), np.int32)
    sizes, begin, n = [np.zeros(1, np.int64)], 0, 0
    for block in blocks:
        end = begin + block.nnz
        data[begin:end], indices[begin:end] = block.data, block.indices
        sizes.append(np.diff(block.indptr).astype(np.int64))
        begin, n = end, block.shape[1]
    # Of the type that SciPy chooses: other indices would be converted to that of indptr.
    kind = np.int32 if nnz <= np.iinfo(np.int32).max else np.int64
    _write_rows(group, "indptr", n + 1, [np.cumsum(np.concatenate(sizes)).astype(kind)])
    layout = {"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": [n, n]}
    group.attrs.update(layout)


def _write_rows(group, name, n, blocks):
    array, begin = None, 0
    for block in blocks:
        if array is None:
            array = _create(group, name, (n, *block.shape[1:]), block.dtype)
            array.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
        array[begin : begin + len(block)] = block
        begin += len(block)


def _create(group, name, shape, dtype):
    rows = max(1, CHUNK // int(np.prod(shape[1:], initial=1)))
    return group.create_array(name, shape=shape, chunks=(rows, *shape[1:]), dtype=dtype)


def read_zarr(path, make):
    """Read what `write_zarr` has written; see `kdegraph.graph_files.read_graph`."""
    root = open_zarr(path)
    with refusing_others(path, "to_zarr"):
        arrays = arrays_of(root)
        fields = read_fields(dict(root.attrs["kdegraph"]), arrays, lambda name: arrays[name][...])
        return make(**fields)


def open_zarr(path):
    """Open the group of a graph that `write_zarr` has written; errors as of `read_zarr`."""
    import zarr

    if not Path(path).exists():
        raise FileNotFoundError(f"path: there is no {str(path)!r}")
    with refusing_others(path, "to_zarr"):
        return zarr.open_group(path, mode="r")


def arrays_of(root):
    """Return the arrays of the group of a graph by name, none of which has been read.

    Raises
    ------
    ValueError
        If a chunk, which is read as a whole, is far larger than its array.
    """
    arrays = {name: root[ADJACENCY][name] for name in MATRIX_ARRAYS}
    arrays |= {name: root[name] for name in ARRAYS if name in root}
    for name, array in arrays.items():
        if math.prod(array.chunks) > max(array.size, CHUNK):
            raise ValueError(f"{name} has chunks of {array.chunks}, larger than itself")
    return arrays
