"""The file format of sampled graphs: an .npz archive of plain arrays, without pickled objects."""

import json
from contextlib import contextmanager

import numpy as np
import scipy.sparse

# Fields of a graph that are stored together as JSON, and so is one sigma for all points. Files of
# earlier versions have no alpha.
PARAMETERS = (
    "kernel",
    "n_rounds",
    "seed",
    "sampler",
    "draws",
    "weighting",
    "eps",
    "timings",
    "alpha",
)
# Arrays that not all graphs have: those with a number for each vertex, and the points.
VALUES_OF_VERTICES = ("sigma", "densities", "order")
OPTIONAL_ARRAYS = (*VALUES_OF_VERTICES, "points")
INTEGER_ARRAYS = ("neighbors", "order")


def write_graph(path, graph):
    """Write a `SimilarityGraph` to `path`."""
    parameters = parameters_of(graph)
    optional = {name: getattr(graph, name) for name in OPTIONAL_ARRAYS if name not in parameters}
    arrays = {
        "data": graph.adjacency.data,
        "indices": graph.adjacency.indices,
        "indptr": graph.adjacency.indptr,
        "kernel_degrees": graph.kernel_degrees,
        "neighbors": graph.neighbors,
        "parameters": np.array(json.dumps(parameters)),
    }
    arrays |= {name: array for name, array in optional.items() if array is not None}
    with open(path, "wb") as file:
        np.savez_compressed(file, **arrays)


def parameters_of(graph):
    """What is stored as JSON, with one sigma for all points."""
    parameters = {name: getattr(graph, name) for name in PARAMETERS}
    if not isinstance(graph.sigma, np.ndarray):
        parameters["sigma"] = graph.sigma
    return parameters


def read_graph(path, make):
    """Read what `write_graph` has written.

    Parameters
    ----------
    path : path-like
    make : callable
        Called with the fields of the graph as keywords.

    Returns
    -------
    object
        What `make` returns.

    Raises
    ------
    ValueError
        If the file is not such a graph, or damaged.
    FileNotFoundError
    """
    with (
        open(path, "rb") as file,
        refusing_others(path, "SimilarityGraph.save"),
        np.load(file, allow_pickle=False) as arrays,
    ):
        return make(**fields_of(dict(arrays)))


@contextmanager
def refusing_others(path, writer):
    """A context in which any error but that of memory means that `path` is not what the method
    `writer` writes: a damaged file surfaces as almost any error.
    """
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(
            f"path: {str(path)!r} is not a graph written by {writer} ({error})"
        ) from None


def fields_of(arrays):
    """The fields of the graph in the arrays of a file; an exception of any kind where they do not
    fit together.
    """
    parameters = json.loads(str(arrays["parameters"]))
    n = arrays["indptr"].size - 1
    adjacency = scipy.sparse.csr_array(
        (arrays["data"], arrays["indices"], arrays["indptr"]), shape=(n, n)
    )
    adjacency.check_format(full_check=True)
    shapes = {"data": (adjacency.nnz,), "neighbors": (n, parameters["n_rounds"])}
    if "points" in arrays:
        shapes["points"] = (n, arrays["points"].shape[-1])
    _check_shapes(arrays, shapes)
    check_values_of_vertices(arrays, parameters, n)
    fields = ("kernel_degrees", "neighbors", *OPTIONAL_ARRAYS)
    return {
        "adjacency": adjacency,
        **{name: arrays[name] for name in fields if name in arrays},
        **parameters,
    }


def check_values_of_vertices(arrays, parameters, n):
    """Raise an exception of any kind where the arrays with a number for each of the n vertices, of
    which only kernel_degrees has to be there, are not those of a graph with these parameters.
    """
    there = [name for name in VALUES_OF_VERTICES if name in arrays]
    _check_shapes(arrays, dict.fromkeys(("kernel_degrees", *there), (n,)))
    order = arrays.get("order")
    if order is not None and not np.array_equal(np.sort(order), np.arange(n)):
        raise ValueError("order is not a permutation of the points")
    for name in ("sigma", "densities"):
        if name in arrays and not (np.isfinite(arrays[name]) & (arrays[name] > 0)).all():
            raise ValueError(f"{name} is not positive")
    if ("densities" in arrays) != (parameters.get("alpha", 0.0) > 0):
        raise ValueError("densities belong to an alpha above 0")


def _check_shapes(arrays, shapes):
    for name, shape in shapes.items():
        array, kind = arrays[name], "i" if name in INTEGER_ARRAYS else "f"
        if array.shape != shape or array.dtype.kind != kind:
            raise ValueError(f"{name} has shape {array.shape} and dtype {array.dtype}")
