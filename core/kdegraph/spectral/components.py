"""Connected components of an undirected graph, and an order of its vertices in which neighbors are
near each other.

Components are found by union-find in two rounds. Measured on a connected graph of a million
vertices and 20 million entries (2 cores): 0.024 s, against 0.83 s for
`scipy.sparse.csgraph.connected_components` (with ``connection="strong"``, its faster method for
symmetric matrices) and 0.1 s for a plain union-find over all edges.
"""

import numpy as np
import scipy.sparse.csgraph

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit


def connected_components(n, blocks, progress=None):
    """Find the connected components of a graph of n vertices. Return the component of each vertex,
    (n,) int32, in the order of their first vertices, and the number of vertices in each.

    The rows of its symmetric matrix come in blocks: ``blocks()``, which is called at most twice,
    returns an iterable of them, each the number of the first row, and `indptr` and `indices`.

    The first round joins every vertex with its first few neighbors. A parallel sweep then finds the
    vertices that have a neighbor in another component, which are few, and the second round joins
    these with all their neighbors.
    """
    parent = np.arange(n, dtype=np.int32)
    for first, indptr, indices in blocks():
        rows = np.arange(len(indptr) - 1, dtype=np.int32)
        # Three edges of each vertex are enough to join nearly all of most components.
        _join_neighbors(rows, first, 3, indptr, indices, parent)
    _flatten(parent)
    if parent.any():  # more than one component is left
        for first, indptr, indices in blocks():
            crossing = np.empty(len(indptr) - 1, np.bool_)
            args = first, indptr, indices, parent, crossing
            parallel.run(_find_crossing, len(crossing), *args, progress=progress)
            rows = np.flatnonzero(crossing).astype(np.int32)
            _join_neighbors(rows, first, n, indptr, indices, parent)
    component = np.empty(n, np.int32)
    count = _number_components(parent, component)
    return component, np.bincount(component, minlength=count)


@jit
def _root(parent, i):
    """Return the root of the tree that vertex `i` is in; halve the path to it on the way."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@jit
def _join_neighbors(rows, first, max_edges, indptr, indices, parent):
    """Join the vertex of each row with its first neighbors. Vertices of rows are counted from
    `first`, and the root of a tree is its smallest vertex.
    """
    for i in rows:
        root = _root(parent, first + i)
        for p in range(indptr[i], min(indptr[i] + max_edges, indptr[i + 1])):
            other = _root(parent, indices[p])
            if root < other:
                parent[other] = root
            elif other < root:
                parent[root] = other
                root = other


@jit
def _flatten(parent):
    """Let every vertex point to its root; parents come before their children."""
    for i in range(len(parent)):
        parent[i] = parent[parent[i]]


@jit
def _find_crossing(start, stop, first, indptr, indices, parent, crossing):
    """Mark the rows whose vertices, counted from `first`, have a neighbor with another root."""
    for i in range(start, stop):
        root, found = parent[first + i], False
        for p in range(indptr[i], indptr[i + 1]):
            found |= parent[indices[p]] != root
        crossing[i] = found


@jit
def _number_components(parent, component):
    """Number the components by their first vertices and return how many there are."""
    count = 0
    for i in range(len(parent)):
        if parent[i] == i:
            component[i] = count
            count += 1
        else:
            component[i] = component[parent[i]]
    return count


def breadth_first_order(indptr, indices, component):
    """Return the vertices in breadth-first order, within each component.

    This is the order for graphs without points: the spectrum of a k-NN graph of 20,000 points takes
    0.46 s with it and 0.72 s in the given order. The search begins at another vertex, which has the
    first vertex of each component as its neighbor.

    `indptr` and `indices` are those of the CSR form of a symmetric matrix.
    """
    n = len(indptr) - 1
    first = np.unique(component, return_index=True)[1]
    indptr = np.append(indptr, indptr[-1] + len(first))
    indices = np.append(indices, first)
    matrix = scipy.sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(n + 1, n + 1))
    found = scipy.sparse.csgraph.breadth_first_order(matrix, n, return_predecessors=False)
    return found[1:]
