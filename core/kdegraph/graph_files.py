"""Sampled graphs in files: .npz archives of plain arrays, without pickled objects, and Zarr stores.

In a Zarr store, the group `adjacency` has the layout of AnnData for sparse matrices, which other
programs read, too: the arrays data, indices and indptr of the CSR form, and attributes that say so.
"""

import json
import math
import zipfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import scipy.sparse

from kdegraph.graph_parameters import PLAIN_PARAMETERS
from kdegraph.npy_files import read_header
from kdegraph.runtime.memory import check_memory
from kdegraph.runtime.replacing import new_folder, writing
from kdegraph.sparse_checks import check_sparse

# Arrays that not all graphs have: those with a number for each vertex, and the points.
VALUES_OF_VERTICES = ("sigma", "densities", "order", "sample_weight")
OPTIONAL_ARRAYS = (*VALUES_OF_VERTICES, "points")
# Those of the adjacency matrix, in the order in which SciPy takes them.
MATRIX_ARRAYS = ("data", "indices", "indptr")
ARRAYS = (*MATRIX_ARRAYS, "kernel_degrees", "neighbors", *OPTIONAL_ARRAYS)
ADJACENCY = "adjacency"  # the group of a Zarr store
CHUNK = 2**20  # numbers in a chunk of a Zarr store, the unit that is compressed and read


def write_graph(path, graph):
    """Write a `SimilarityGraph` to `path`."""
    parameters, names = _stored(graph)
    arrays = {name: getattr(graph.adjacency, name) for name in MATRIX_ARRAYS}
    arrays |= {name: getattr(graph, name) for name in names}
    arrays["parameters"] = np.array(json.dumps(parameters))
    with writing(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, **arrays)


def _stored(graph):
    """Return the parameters of a graph that are stored as JSON, and the names of its arrays
    besides those of the matrix.
    """
    parameters = {name: getattr(graph, name) for name in PLAIN_PARAMETERS}
    if not isinstance(graph.sigma, np.ndarray):
        parameters["sigma"] = graph.sigma
    optional = [name for name in OPTIONAL_ARRAYS if getattr(graph, name) is not None]
    optional = [name for name in optional if name not in parameters]
    if scipy.sparse.issparse(graph.points):
        optional.remove("points")
    return parameters, ["kernel_degrees", "neighbors", *optional]


def read_graph(path, make):
    """Read a file of `write_graph`, and return the result of `make` for the fields of the graph as
    keywords.

    A ValueError is raised if the file is not such a graph or is damaged, and a MemoryError, before
    the arrays are read, if the graph needs more memory than is available.
    """
    with (
        open(path, "rb") as file,
        refusing_others(path, "SimilarityGraph.save"),
        zipfile.ZipFile(file) as archive,
    ):
        members = {info.filename: info for info in archive.infolist()}

        def header(name):
            with archive.open(f"{name}.npy") as stream:
                return read_header(stream, members[f"{name}.npy"].file_size, name)

        def read(name):
            with archive.open(f"{name}.npy") as stream:
                return np.lib.format.read_array(stream, allow_pickle=False)

        if header("parameters").dtype.itemsize > 2**20:  # they take about 1,000 bytes
            raise ValueError("its parameters are too long")
        names = [name for name in ARRAYS if f"{name}.npy" in members]
        headers = {name: header(name) for name in names}
        return make(**read_fields(json.loads(str(read("parameters"))), headers, read))


def write_zarr(path, graph, nnz, blocks):
    """Write a `SimilarityGraph` or a `TiledGraph` to a new folder, which appears once complete.

    The matrix has `nnz` entries. ``blocks(name)`` returns an iterable of the blocks of rows of an
    array of the graph. A FileExistsError is raised if `path` exists.
    """
    import zarr

    parameters, names = _stored(graph)
    with new_folder(Path(path)) as folder:
        root = zarr.open_group(folder, mode="w", zarr_format=2)  # all versions of AnnData read it
        root.attrs["kdegraph"] = parameters
        _write_matrix(root, nnz, blocks(ADJACENCY))
        for name in names:
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
    """Read a store of `write_zarr`; see `read_graph`."""
    parameters, arrays = open_zarr(path)
    with refusing_others(path, "to_zarr"):
        return make(**read_fields(parameters, arrays, lambda name: arrays[name][...]))


def open_zarr(path):
    """Return the parameters of a graph that `write_zarr` has written, and its arrays by name,
    without reading them; errors as of `read_zarr`.
    """
    import zarr

    if not Path(path).exists():
        raise FileNotFoundError(f"path: there is no {str(path)!r}")
    with refusing_others(path, "to_zarr"):
        root = zarr.open_group(path, mode="r")
        arrays = {name: root[ADJACENCY][name] for name in MATRIX_ARRAYS}
        arrays |= {name: root[name] for name in ARRAYS if name in root}
        for name, array in arrays.items():  # a chunk is read as a whole
            if math.prod(array.chunks) > max(array.size, CHUNK):
                raise ValueError(f"{name} has chunks of {array.chunks}, larger than itself")
        return dict(root.attrs["kdegraph"]), arrays


@contextmanager
def refusing_others(path, writer):
    """Turn any error but that of memory into one that says that `path` was not written by the
    method `writer`: a damaged file surfaces as almost any error.
    """
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(
            f"path: {str(path)!r} is not a graph written by {writer} ({error})"
        ) from None


def read_fields(parameters, headers, read):
    """Read the fields of a graph, the keywords of `SimilarityGraph`, after the shapes of all arrays
    have been checked.

    `headers` are objects with a shape and a dtype for the existing arrays of `ARRAYS`, by name, and
    ``read(name)`` returns an array. A MemoryError is raised if the arrays take more memory than is
    available, and an exception of any kind if they do not fit together.
    """
    n, nnz = math.prod(headers["indptr"].shape) - 1, math.prod(headers["data"].shape)
    shapes = {
        "data": (nnz,),
        "indices": (nnz,),
        "indptr": (n + 1,),
        "neighbors": (n, parameters["n_rounds"]),
    }
    if "points" in headers:
        shapes["points"] = (n, headers["points"].shape[-1])
    _check_shapes(headers, shapes)
    check_vertex_arrays(headers, parameters, n)
    check_memory(bytes_of(headers), "the graph needs")
    arrays = {}
    for name, header in headers.items():  # in the byte order of this machine
        arrays[name] = read(name).astype(header.dtype.newbyteorder("="), copy=False)
    adjacency = scipy.sparse.csr_array(
        tuple(arrays.pop(name) for name in MATRIX_ARRAYS), shape=(n, n)
    )
    check_sparse(adjacency, "adjacency")
    check_values_of_vertices(arrays, n)
    check_neighbors(arrays["neighbors"], n)
    return {"adjacency": adjacency, **arrays, **parameters}


def bytes_of(headers):
    """Return the number of bytes of some arrays."""
    return sum(math.prod(one.shape) * one.dtype.itemsize for one in headers.values())


def check_neighbors(neighbors, n):
    """Refuse sampled neighbors that are neither vertices nor -1, which stands for none."""
    if neighbors.size and not -1 <= neighbors.min() <= neighbors.max() < n:
        raise ValueError("neighbors are not numbers of vertices")


def check_vertex_arrays(headers, parameters, n):
    """Refuse arrays with a number for each of the n vertices whose shapes do not belong to a graph
    with these parameters; any exception does it. Only kernel_degrees is required.
    """
    there = [name for name in VALUES_OF_VERTICES if name in headers]
    _check_shapes(headers, dict.fromkeys(("kernel_degrees", *there), (n,)))
    if ("densities" in headers) != (parameters.get("alpha", 0.0) > 0):
        raise ValueError("densities belong to an alpha above 0")


def check_values_of_vertices(arrays, n):
    """Refuse values of the n vertices that no graph can have."""
    order = arrays.get("order")
    if order is not None and not np.array_equal(np.sort(order), np.arange(n)):
        raise ValueError("order is not a permutation of the points")
    for name in ("sigma", "densities", "sample_weight"):
        if name in arrays and not (np.isfinite(arrays[name]) & (arrays[name] > 0)).all():
            raise ValueError(f"{name} is not positive")


def _check_shapes(arrays, shapes):
    for name, shape in shapes.items():
        array = arrays[name]
        kind = "i" if name in ("indices", "indptr", "neighbors", "order") else "f"
        if array.shape != shape or array.dtype.kind != kind:
            raise ValueError(f"{name} has shape {array.shape} and dtype {array.dtype}")
