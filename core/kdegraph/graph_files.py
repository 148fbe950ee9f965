"""The file format of sampled graphs: an .npz archive of plain arrays, without pickled objects."""

import json

import numpy as np
import scipy.sparse

# Fields of a graph that are stored together as JSON.
PARAMETERS = (
    "sigma",
    "kernel",
    "n_rounds",
    "seed",
    "sampler",
    "draws",
    "weighting",
    "eps",
    "timings",
)
OPTIONAL_ARRAYS = ("points", "order")
INTEGER_ARRAYS = ("neighbors", "order")


def write_graph(path, graph):
    """Write a `SimilarityGraph` to `path`."""
    parameters = {name: getattr(graph, name) for name in PARAMETERS}
    arrays = {
        "data": graph.adjacency.data,
        "indices": graph.adjacency.indices,
        "indptr": graph.adjacency.indptr,
        "kernel_degrees": graph.kernel_degrees,
        "neighbors": graph.neighbors,
        "parameters": np.array(json.dumps(parameters)),
    }
    for name in OPTIONAL_ARRAYS:
        if getattr(graph, name) is not None:
            arrays[name] = getattr(graph, name)
    with open(path, "wb") as file:
        np.savez_compressed(file, **arrays)


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
    with open(path, "rb") as file:
        try:
            with np.load(file, allow_pickle=False) as arrays:
                return make(**_fields(dict(arrays)))
        except MemoryError:
            raise
        except Exception as error:  # a damaged file surfaces as almost any error
            raise ValueError(
                f"path: {str(path)!r} is not a graph written by SimilarityGraph.save ({error})"
            ) from None


def _fields(arrays):
    """The fields of the graph in the arrays of a file; an exception of any kind where they do not
    fit together.
    """
    parameters = json.loads(str(arrays["parameters"]))
    n = arrays["indptr"].size - 1
    adjacency = scipy.sparse.csr_array(
        (arrays["data"], arrays["indices"], arrays["indptr"]), shape=(n, n)
    )
    adjacency.check_format(full_check=True)
    shapes = {
        "data": (adjacency.nnz,),
        "kernel_degrees": (n,),
        "neighbors": (n, parameters["n_rounds"]),
    }
    if "points" in arrays:
        shapes["points"] = (n, arrays["points"].shape[-1])
    if "order" in arrays:
        shapes["order"] = (n,)
    for name, shape in shapes.items():
        array, kind = arrays[name], "i" if name in INTEGER_ARRAYS else "f"
        if array.shape != shape or array.dtype.kind != kind:
            raise ValueError(f"{name} has shape {array.shape} and dtype {array.dtype}")
    order = arrays.get("order")
    if order is not None and not np.array_equal(np.sort(order), np.arange(n)):
        raise ValueError("order is not a permutation of the points")
    return {
        "adjacency": adjacency,
        "kernel_degrees": arrays["kernel_degrees"],
        "neighbors": arrays["neighbors"],
        "points": arrays.get("points"),
        "order": order,
        **parameters,
    }
