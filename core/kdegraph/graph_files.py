"""Read and write sampled graphs as .npz archives of plain arrays, without pickled objects."""

import json
import math
import zipfile
from contextlib import contextmanager

import numpy as np
import scipy.sparse

from kdegraph.graph_parameters import PLAIN_PARAMETERS
from kdegraph.npy_files import read_header
from kdegraph.runtime.memory import available_memory, format_bytes
from kdegraph.runtime.replacing import writing
from kdegraph.validation import check_sparse

# Arrays that not all graphs have: those with a number for each vertex, and the points.
VALUES_OF_VERTICES = ("sigma", "densities", "order")
OPTIONAL_ARRAYS = (*VALUES_OF_VERTICES, "points")
INTEGER_ARRAYS = ("indices", "indptr", "neighbors", "order")
# The arrays of the adjacency matrix, in the order in which SciPy takes them.
MATRIX_ARRAYS = ("data", "indices", "indptr")
ARRAYS = (*MATRIX_ARRAYS, "kernel_degrees", "neighbors", *OPTIONAL_ARRAYS)


def write_graph(path, graph):
    """Write a `SimilarityGraph` to `path`."""
    parameters = parameters_of(graph)
    optional = {name: getattr(graph, name) for name in OPTIONAL_ARRAYS if name not in parameters}
    arrays = {
        **{name: getattr(graph.adjacency, name) for name in MATRIX_ARRAYS},
        "kernel_degrees": graph.kernel_degrees,
        "neighbors": graph.neighbors,
        "parameters": np.array(json.dumps(parameters)),
    }
    arrays |= {name: array for name, array in optional.items() if array is not None}
    with writing(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, **arrays)


def parameters_of(graph):
    """Return the parameters that are stored as JSON, with one sigma for all points."""
    parameters = {name: getattr(graph, name) for name in PLAIN_PARAMETERS}
    if not isinstance(graph.sigma, np.ndarray):
        parameters["sigma"] = graph.sigma
    return parameters


def read_graph(path, make):
    """Read a graph that `write_graph` has written.

    Parameters
    ----------
    path : path-like
    make : callable
        Called with the fields of the graph as keywords.

    Returns
    -------
    object
        The result of `make`.

    Raises
    ------
    ValueError
        If the file is not such a graph, or damaged.
    FileNotFoundError
        If the file does not exist.
    MemoryError
        If the graph needs more memory than is available, before it is read.
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

        if header("parameters").dtype.itemsize > 2**20:  # bytes; they take about 1,000
            raise ValueError("its parameters are too long")
        names = [name for name in ARRAYS if f"{name}.npy" in members]
        headers = {name: header(name) for name in names}
        return make(**read_fields(json.loads(str(read("parameters"))), headers, read))


@contextmanager
def refusing_others(path, writer):
    """Turn any error in the context but a `MemoryError` into a `ValueError` that says that `path`
    was not written by the method `writer`: a damaged file may cause any error.
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
    """Read the fields of a graph, once the shapes of all arrays have been checked.

    Parameters
    ----------
    parameters : dict
    headers : dict of str to object
        Objects with a shape and a dtype, for those of `ARRAYS` that exist.
    read : callable
        ``read(name)`` returns an array.

    Returns
    -------
    dict
        The keywords of `SimilarityGraph`.

    Raises
    ------
    MemoryError
        If the arrays take more memory than is available.
    Exception
        Of any kind, if the arrays do not fit together.
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
    check_memory(headers)
    arrays = {name: _native(read(name)) for name in headers}
    adjacency = scipy.sparse.csr_array(
        tuple(arrays.pop(name) for name in MATRIX_ARRAYS), shape=(n, n)
    )
    check_sparse(adjacency, "adjacency")
    check_values_of_vertices(arrays, n)
    check_neighbors(arrays["neighbors"], n)
    return {"adjacency": adjacency, **arrays, **parameters}


def _native(array):
    """Return an array in the byte order of this machine."""
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def check_memory(headers):
    """Refuse arrays that take more memory than is available.

    Raises
    ------
    MemoryError
    """
    needed = sum(math.prod(one.shape) * one.dtype.itemsize for one in headers.values())
    if needed > (available := available_memory()):
        raise MemoryError(
            f"the graph needs {format_bytes(needed)}, and {format_bytes(available)} are available"
        )


def check_neighbors(neighbors, n):
    """Raise an exception of any kind if sampled neighbors are not vertices, or -1 for none."""
    if neighbors.size and not -1 <= neighbors.min() <= neighbors.max() < n:
        raise ValueError("neighbors are not numbers of vertices")


def check_vertex_arrays(headers, parameters, n):
    """Raise an exception of any kind if the arrays with a number for each of the n vertices, of
    which only kernel_degrees must exist, do not have the shapes of a graph with these parameters.
    """
    there = [name for name in VALUES_OF_VERTICES if name in headers]
    _check_shapes(headers, dict.fromkeys(("kernel_degrees", *there), (n,)))
    if ("densities" in headers) != (parameters.get("alpha", 0.0) > 0):
        raise ValueError("densities belong to an alpha above 0")


def check_values_of_vertices(arrays, n):
    """Raise an exception of any kind if values of the n vertices cannot be those of a graph."""
    order = arrays.get("order")
    if order is not None and not np.array_equal(np.sort(order), np.arange(n)):
        raise ValueError("order is not a permutation of the points")
    for name in ("sigma", "densities"):
        if name in arrays and not (np.isfinite(arrays[name]) & (arrays[name] > 0)).all():
            raise ValueError(f"{name} is not positive")


def _check_shapes(arrays, shapes):
    for name, shape in shapes.items():
        array, kind = arrays[name], "i" if name in INTEGER_ARRAYS else "f"
        if array.shape != shape or array.dtype.kind != kind:
            raise ValueError(f"{name} has shape {array.shape} and dtype {array.dtype}")
