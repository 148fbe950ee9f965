"""From eigenvectors in files to the labels of all vertices, tile by tile."""

import numpy as np

from kdegraph.clustering.conductance import quotients
from kdegraph.clustering.embedding import limits, represent
from kdegraph.clustering.rounding import choose_rows, extremes, predict
from kdegraph.runtime.progress import partial_progress
from kdegraph.spectral.by_tiles.matrix import COMPONENTS, lengths_of, n_tiles, rows_of, span
from kdegraph.spectral.by_tiles.vectors import NAME
from kdegraph.tiles import scheduler
from kdegraph.tiles.folder import Folder

# The step with the labels of all vertices: in the tree's order, and in their own.
LABELS = "labels"


def label_vertices(graph, folder, min_size, found, n_clusters, rounding, progress=None):
    """Labels for the vertices of components of at least `min_size`, -1 for all others.

    Parameters
    ----------
    graph, folder : Folder
        Of the graph, and of its clusters.
    min_size : int
    found : RitzVectors
    n_clusters : int
    rounding : Rounding
    progress : callable, optional

    Returns
    -------
    (n,) int32 array
        In the tree's order.
    """
    tiles = range(n_tiles(graph))
    common = graph.path, folder.path
    counts = [np.count_nonzero(_members(graph, tile, min_size)) for tile in tiles]
    volume = sum(np.sum(_weights(graph, tile, min_size)) for tile in tiles)
    more = found, volume / sum(counts), sum(counts), n_clusters, rounding
    tasks = [(*common, tile, min_size, *more) for tile in tiles]
    scheduler.run(_embed_tile, tasks, partial_progress(progress, 0.0, 0.5))

    rng = np.random.default_rng(rounding.seed)
    sample, largest = _sample(folder, counts, rng)
    factors = limits(largest) if rounding.embedding == "degree" else np.ones(len(largest))
    fitted = rounding.fit(sample * factors, n_clusters, rng)
    tasks = [(*common, tile, min_size, fitted, factors) for tile in tiles]
    scheduler.run(_label_tile, tasks, partial_progress(progress, 0.5, 1.0))
    return np.concatenate([folder.read(_labels_step(tile), "labels") for tile in tiles])


def _members(graph, tile, min_size):
    """Which vertices of a tile get labels."""
    component, sizes = graph.read(COMPONENTS, "component", "sizes")
    return sizes[component[slice(*span(graph, tile))]] >= min_size


def _weights(graph, tile, min_size):
    """The degrees of these vertices, in units of the mean of all."""
    return lengths_of(graph, tile)[_members(graph, tile, min_size), 0] ** 2


def _embed_tile(graph, folder, tile, min_size, found, unit, n, n_clusters, rounding):
    """Write the rows that represent the vertices of a tile, unless that has been done; `unit` is
    the mean degree of all vertices that are represented.

    Each row is the mean of its neighbors' rows, as in `kdegraph.clustering.embedding`, where that
    is known to be better.
    """
    graph, folder, step = Folder(graph), Folder(folder), _embedding_step(tile)
    if folder.has(step):
        return
    n_vectors = rounding.n_eigenvectors(n_clusters, len(found.values))
    values, rotation = found.values[:n_vectors], found.rotation[:, :n_vectors] * np.sqrt(unit)
    mine, members = slice(*span(graph, tile)), _members(graph, tile, min_size)
    block, image = (folder.read(name, NAME)[mine][members] for name in (found.block, found.image))
    usable = values > 0.5
    rows = np.where(usable, image @ rotation / np.where(usable, values, 1.0), block @ rotation)
    if rounding.embedding == "plain":
        rows *= np.sqrt(_weights(graph, tile, min_size) / unit)[:, None]
    rows = represent(rows, n, 1.0 - values, n_clusters, rounding.embedding)
    ends = rows[np.unique(extremes(rows))] if len(rows) else rows
    folder.write(step, {"rows": rows.astype(np.float32), "extremes": ends})


def _sample(folder, counts, rng):
    """Rows that stand for all, and the largest magnitude in each column; `counts` are the numbers
    of rows of the tiles.
    """
    first = np.cumsum([0, *counts])
    chosen = np.sort(choose_rows(first[-1], rng))
    all_chosen = len(chosen) == first[-1]
    sample, ends = [], []
    for tile in range(len(counts)):
        rows, extreme = folder.read(_embedding_step(tile), "rows", "extremes")
        begin, end = np.searchsorted(chosen, first[tile : tile + 2])
        sample.append(rows[chosen[begin:end] - first[tile]].astype(np.float64))
        ends.append(extreme)
    largest = np.abs(np.concatenate(ends)).max(axis=0)
    return np.concatenate(sample if all_chosen else sample + ends), largest


def _label_tile(graph, folder, tile, min_size, fitted, factors):
    """Write the labels of a tile, unless that has been done."""
    folder = Folder(folder)
    if not folder.has(_labels_step(tile)):
        members = _members(Folder(graph), tile, min_size)
        labels = np.full(len(members), -1, np.int32)
        rows = folder.read(_embedding_step(tile), "rows")
        if len(rows):
            labels[members] = predict(fitted, rows * factors)
        folder.write(_labels_step(tile), {"labels": labels})


def conductances_by_tiles(graph, folder, n_clusters, progress=None):
    """The conductances of the clusters whose labels are in the folder."""
    tiles = range(n_tiles(graph))
    tasks = [(graph.path, folder.path, tile, n_clusters) for tile in tiles]
    scheduler.run(_cut_tile, tasks, progress)
    return quotients(*np.sum([folder.read(_cut_step(tile), "sums") for tile in tiles], axis=0))


def _cut_tile(graph, folder, tile, n_clusters):
    """Write the cut weights and the volumes of the clusters within a tile."""
    graph, folder = Folder(graph), Folder(folder)
    if folder.has(_cut_step(tile)):
        return
    labels = folder.read(LABELS, "by_place")
    indptr, columns, weights = rows_of(graph, tile)
    own = np.repeat(labels[slice(*span(graph, tile))], np.diff(indptr))
    leaving = labels[columns] != own
    sums = [
        np.bincount(own[leaving], weights[leaving], n_clusters),
        np.bincount(own, weights, n_clusters),
    ]
    folder.write(_cut_step(tile), {"sums": np.array(sums)})


def _embedding_step(tile):
    return f"embedding-{tile}"


def _labels_step(tile):
    return f"labels-{tile}"


def _cut_step(tile):
    return f"cut-{tile}"
