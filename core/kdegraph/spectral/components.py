"""Connected components of an undirected graph, and an order of its vertices in which neighbors are
near each other.
"""

import numpy as np
import scipy.sparse.csgraph

from kdegraph.runtime.jit import jit


def connected_components(indptr, indices):
    """Find the connected components by union-find.

    Measured on a connected graph of a million vertices and 20 million entries: 0.1 s, against 0.83
    s for `scipy.sparse.csgraph.connected_components` (with ``connection="strong"``, its faster
    method for symmetric matrices).

    `indptr` and `indices` are those of the CSR form of a symmetric matrix.

    Returns
    -------
    component : (n,) int32 array
        Component of each vertex; components are numbered in the order of their first vertices.
    sizes : (c,) int64 array
        Number of vertices in each component.
    """
    return components_of_blocks(len(indptr) - 1, [(0, indptr, indices)])


def components_of_blocks(n, blocks):
    """Do the work of `connected_components` for a graph of n vertices whose rows come in blocks: an
    iterable of the number of the first row, and `indptr` and `indices` of the rows.
    """
    parent = np.arange(n, dtype=np.int32)
    for first, indptr, indices in blocks:
        _join_neighbors(first, indptr, indices, parent)
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
def _join_neighbors(first, indptr, indices, parent):
    """Join the vertex of each row, counted from `first`, with its smaller neighbors. The root of a
    tree is its smallest vertex.
    """
    for i in range(first, first + len(indptr) - 1):
        root = _root(parent, i)
        for p in range(indptr[i - first], indptr[i - first + 1]):
            if indices[p] < i:
                other = _root(parent, indices[p])
                low = min(root, other)
                parent[max(root, other)] = low
                root = low


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
