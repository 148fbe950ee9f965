"""Connected components of an undirected graph, and an order of its vertices in which neighbors are
near each other.

Components are found by union-find in two rounds. Measured on a connected graph of a million
vertices and 20 million entries (2 cores): 0.024 s, against 0.83 s for
`scipy.sparse.csgraph.connected_components` (with ``connection="strong"``, its faster method for
symmetric matrices) and 0.1 s for a plain union-find over all edges.
"""

import numpy as np

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit

VERTICES_PER_REPORT = 20_000  # visited between two calls of `progress`


def connected_components(indptr, indices, progress=None):
    """Find the connected components.

    The first round joins every vertex with its first few neighbors. A parallel sweep then finds the
    vertices that have a neighbor in another component, which are few, and the second round joins
    these with all their neighbors.

    `indptr` and `indices` are those of the CSR form of a symmetric matrix.

    Returns
    -------
    component : (n,) int32 array
        Component of each vertex; components are numbered in the order of their first vertices.
    sizes : (c,) int64 array
        Number of vertices in each component.
    """
    n = len(indptr) - 1
    return components_of_blocks(n, lambda: [(0, indptr, indices)], progress)


def components_of_blocks(n, blocks, progress=None):
    """Do the work of `connected_components` for a graph of n vertices whose rows come in blocks.

    ``blocks()``, which is called at most twice, returns an iterable of blocks: the number of the
    first row, and `indptr` and `indices` of the rows.
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


def breadth_first_order(indptr, indices, progress=None):
    """Return the vertices in breadth-first order, component after component.

    This is the order for graphs without points: the spectrum of a k-NN graph of 20,000 points takes
    0.46 s with it and 0.72 s in the given order. `scipy.sparse.csgraph.breadth_first_order` is as
    fast, but visits one component only and cannot be cancelled; `reverse_cuthill_mckee` takes
    quadratic time at vertices with many neighbors.

    `indptr` and `indices` are those of the CSR form of a symmetric matrix.
    """
    n = len(indptr) - 1
    order = np.empty(n, np.int32)
    seen = np.zeros(n, np.bool_)
    n_visited = n_found = unseen = 0
    while n_visited < n:
        stop = min(n_visited + VERTICES_PER_REPORT, n)
        n_found, unseen = _visit(n_visited, stop, n_found, unseen, indptr, indices, order, seen)
        n_visited = stop
        if progress is not None:
            progress(n_visited / n)
    return order


@jit
def _visit(n_visited, stop, n_found, unseen, indptr, indices, order, seen):
    """Visit vertices until there are `stop` of them.

    Returns the number of vertices found by then (``order[:n_found]``), and a number below which all
    vertices have been found.
    """
    for place in range(n_visited, stop):
        if place == n_found:  # the component is complete: begin another one
            while seen[unseen]:
                unseen += 1
            seen[unseen] = True
            order[n_found] = unseen
            n_found += 1
        i = order[place]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if not seen[j]:
                seen[j] = True
                order[n_found] = j
                n_found += 1
    return n_found, unseen
