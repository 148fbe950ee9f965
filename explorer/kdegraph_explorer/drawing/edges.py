"""Choose the edges of a graph that are drawn."""

import numpy as np

MAX_EDGES = 400_000  # drawn as density


def edge_list(adjacency, limit=MAX_EDGES):
    """List each edge of a graph once: two int32 arrays.

    If there are more than `limit`, an evenly spread part of them is taken.
    """
    every = max(1, adjacency.nnz // (2 * limit))
    chosen = np.arange(0, adjacency.nnz, every)
    columns = adjacency.indices[chosen].astype(np.int32)
    if every == 1:
        rows = np.repeat(np.arange(adjacency.shape[0], dtype=np.int32), np.diff(adjacency.indptr))
    else:
        rows = (np.searchsorted(adjacency.indptr, chosen, side="right") - 1).astype(np.int32)
    upper = rows < columns
    return rows[upper], columns[upper]


def edges_of(adjacency, vertices, limit=MAX_EDGES):
    """List each edge at some vertices once: two int32 arrays.

    `vertices` has no repetitions. If there are more than `limit` edges, an evenly spread part of
    them is taken.
    """
    rows, columns, _ = _at(adjacency, vertices)
    every = max(1, len(rows) // limit)
    return rows[::every], columns[::every]


def _at(adjacency, vertices=None):
    """List each edge at some vertices once, or each edge: its ends and its weight."""
    part = adjacency if vertices is None else adjacency[vertices]
    from_vertex = np.arange(adjacency.shape[0]) if vertices is None else np.asarray(vertices)
    inside = np.zeros(adjacency.shape[0], dtype=bool)
    inside[from_vertex] = True
    rows = np.repeat(from_vertex, np.diff(part.indptr))
    once = np.flatnonzero((rows < part.indices) | ~inside[part.indices])
    return rows[once].astype(np.int32), part.indices[once].astype(np.int32), part.data[once]


def strongest_edges(adjacency, vertices=(), limit=3000):
    """List the edges of greatest weight once, at most `limit`: two int32 arrays.

    By default they are as many as can be told apart when they are drawn as lines.

    Of equally heavy ones, an evenly spread part is taken, so that no region is preferred. Unless
    `vertices` is empty, only edges at these vertices count.
    """
    rows, columns, weights = _at(adjacency, vertices if len(vertices) else None)
    if len(rows) <= limit:
        return rows, columns
    least = np.partition(weights, len(rows) - limit)[len(rows) - limit]
    heavier, equal = np.flatnonzero(weights > least), np.flatnonzero(weights == least)
    spread = np.linspace(0, len(equal), limit - len(heavier), endpoint=False).astype(np.intp)
    chosen = np.concatenate([heavier, equal[spread]])
    return rows[chosen], columns[chosen]


def chosen_edges(adjacency, selection, which):
    """List the edges to draw: two int32 arrays, or None.

    `which` is "all", "strongest", or "selection", which is none without a selection. With a
    selection, only its edges are drawn.
    """
    if which == "strongest":
        return strongest_edges(adjacency, selection)
    if len(selection):
        return edges_of(adjacency, selection)
    return edge_list(adjacency) if which == "all" else None
