"""Graphs of NetworkX and igraph, which need not be installed, from and to adjacency matrices."""

import importlib
from typing import Any, Protocol

import numpy as np
import scipy.sparse


class ForeignGraph(Protocol):
    """A graph of NetworkX, such as `networkx.Graph`, or of igraph, `igraph.Graph`."""

    def is_directed(self) -> bool:
        """Return whether edges have a direction."""
        ...


def adjacency_of_foreign(graph: Any) -> scipy.sparse.csr_array | None:
    """Return the adjacency matrix of a graph of NetworkX or igraph, or None for other objects.

    The weights are the edges' attribute "weight", or 1 without it; those of parallel edges are
    added. The vertices of NetworkX are numbered in the order of `nodes`. The matrix of a directed
    graph need not be symmetric.
    """
    if isinstance(graph, type) or not hasattr(graph, "is_directed"):
        return None
    if hasattr(graph, "nodes"):  # of NetworkX
        number = {vertex: i for i, vertex in enumerate(graph.nodes)}
        edges = list(graph.edges(data="weight", default=1.0))
        ends = [(number[start], number[stop]) for start, stop, _ in edges]
        weights, n = _numbers([weight for *_, weight in edges]), len(number)
    else:
        ends, n = graph.get_edgelist(), graph.vcount()
        named = "weight" in graph.es.attributes()
        weights = _numbers(graph.es["weight"]) if named else np.ones(len(ends))
    pairs = np.reshape(ends, (-1, 2)).astype(np.intp)
    if not graph.is_directed():
        no_loop = pairs[:, 0] != pairs[:, 1]
        pairs = np.concatenate([pairs, pairs[no_loop, ::-1]])
        weights = np.append(weights, weights[no_loop])
    return scipy.sparse.csr_array((weights, pairs.T), shape=(n, n))


def _numbers(weights):
    """Return the weights of edges as an array of float64; that of None is NaN."""
    try:
        numbers = np.array(weights, np.float64)
        if numbers.ndim != 1:
            raise ValueError(f"they have the shape {numbers.shape}")
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"the weights of the graph must be numbers: {error}") from None
    return numbers


def networkx_of(adjacency: scipy.sparse.csr_array) -> Any:
    """Return a `networkx.Graph` with the weights as the attribute "weight" of the edges."""
    return _library("networkx").from_scipy_sparse_array(adjacency)


def igraph_of(adjacency: scipy.sparse.csr_array) -> Any:
    """Return an `igraph.Graph` with the weights as the attribute "weight" of the edges."""
    upper = scipy.sparse.triu(adjacency, format="coo")
    edges, weights = np.column_stack(upper.coords), {"weight": upper.data.tolist()}
    return _library("igraph").Graph(adjacency.shape[0], edges, edge_attrs=weights)


def _library(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"this needs {name} ({error}): pip install {name}") from error
