"""Spectral clustering of a graph in a folder, tile by tile, from end to end."""

import numpy as np

from kdegraph.clustering.conductance import quotients
from kdegraph.clustering.embedding import limits, represent
from kdegraph.clustering.partition import (
    Clustering,
    join_outliers,
    largest_components,
    least_component,
    numbered_by_first_member,
)
from kdegraph.clustering.rounding import choose_rows, extremes
from kdegraph.eigengap import AUTO_EIGENVALUES, suggest_n_clusters
from kdegraph.geometry.units import unit_scale
from kdegraph.runtime.progress import partial_progress, stage_progress
from kdegraph.spectral.checked_graph import check_smallest_component
from kdegraph.spectral.solver.coarse import MIN_VERTICES
from kdegraph.spectral.solver.rayleigh_ritz import MIN_DIVISOR
from kdegraph.tiles import points, scheduler
from kdegraph.tiles.folder import ORDER, Folder, n_tiles, span
from kdegraph.tiles.graph import stored_by_blocks
from kdegraph.tiles.matrix import COMPONENTS, lengths_of, make_matrix, rows_of
from kdegraph.tiles.spectrum import NAME, RESULT, Eigenproblem, computation, read_spectrum

# The step with the labels of all vertices: in the tree's order, and in their own.
LABELS = "labels"


def cluster_by_tiles(graph, n_clusters, rounding, smallest_component, progress=None):
    """Return the `Clustering` of a `TiledGraph` without reading it into memory. The parameters are
    those of `kdegraph.spectral_clustering`; the `Rounding` stands for some of them.

    Its labels and eigenvectors are Dask arrays. It is None if the graph is small or has no edges,
    or the coarse graph does not show its clusters. The result is kept, see `computation`.
    """
    if graph.n_vertices < MIN_VERTICES:
        return None
    store = Folder(graph.path)
    rounding = rounding.for_points(store.read(points.STEP, points.NAME))
    options = {
        "n_clusters": n_clusters,
        "smallest_component": check_smallest_component(smallest_component),
    }
    with computation(graph, "clusters", options | rounding._asdict()) as folder:
        if not folder.has(RESULT):
            vertices = make_matrix(store, stage_progress(progress, "components"))
            if len(vertices.sizes) == vertices.n:
                return None
            least = 1 if n_clusters == "auto" else n_clusters
            min_size = least_component(smallest_component, vertices, least)
            problem = Eigenproblem(store, folder, vertices, min_size, rounding.seed)
            most = vertices.n_in_components(min_size)
            if n_clusters == "auto":
                n_vectors = min(AUTO_EIGENVALUES, most)
            elif problem.n_zero >= n_clusters:  # the clusters are components
                n_vectors = n_clusters
            else:
                n_vectors = rounding.n_eigenvectors(n_clusters, most)
            found = problem.solve(n_vectors, least, stage_progress(progress, "eigenvectors"))
            if found is None:
                return None
            if n_clusters == "auto":
                n_clusters = suggest_n_clusters(problem.eigenvalues(found))
            progress = stage_progress(progress, "k-means")
            labeling = partial_progress(progress, 0.0, 0.8)
            _write_labels(problem, found, graph.kernel, n_clusters, rounding, labeling)
            _write_result(problem, found, partial_progress(progress, 0.8, 1.0))
    spectrum = read_spectrum(graph, folder)
    conductances = np.array(folder.read(RESULT, "conductances"))
    labels = stored_by_blocks(graph, folder, LABELS, "by_vertex", np.int32)
    return Clustering(labels, len(conductances), conductances, spectrum.isolated, spectrum)


def _write_labels(problem, found, kernel, n_clusters, rounding, progress):
    """Write the labels of all vertices, unless that has been done."""
    graph, folder, vertices = problem.graph, problem.folder, problem.vertices
    if folder.has(LABELS):
        return
    if problem.n_zero >= n_clusters:
        labels = largest_components(vertices, n_clusters)
    else:
        labels = _label_vertices(problem, found, n_clusters, rounding, progress)
    if (labels < 0).any():
        X = vertices.points[vertices.order]
        np.ldexp(X, -unit_scale(X), out=X)
        join_outliers(vertices, X, kernel, labels)
    by_vertex = numbered_by_first_member(labels[graph.read(ORDER, "place")])
    by_place = by_vertex[vertices.order]
    folder.write(LABELS, {"by_vertex": by_vertex, "by_place": by_place})


def _label_vertices(problem, found, n_clusters, rounding, progress):
    """Return labels in the tree's order, (n,) int32; -1 for vertices of components left out."""
    graph, folder, min_size = problem.graph, problem.folder, problem.min_size
    tiles = n_tiles(graph)
    counts = [np.count_nonzero(_members(graph, tile, min_size)) for tile in range(tiles)]
    volume = sum(np.sum(_weights(graph, tile, min_size)) for tile in range(tiles))
    of_all = found, volume / sum(counts), sum(counts), n_clusters, rounding
    report = partial_progress(progress, 0.0, 0.5)
    scheduler.write_tiles(
        folder, "embedding", tiles, _embed_tile, graph, min_size, *of_all, progress=report
    )
    rng = np.random.default_rng(rounding.seed)
    sample, largest = _sample(folder, counts, rng)
    factors = limits(largest) if rounding.embedding == "degree" else np.ones(len(largest))
    fitted = rounding.fit(sample * factors, n_clusters, rng)
    report = partial_progress(progress, 0.5, 1.0)
    scheduler.write_tiles(
        folder, "labels", tiles, _label_tile, graph, min_size, fitted, factors, progress=report
    )
    return np.concatenate([folder.read(f"labels-{tile}", "labels") for tile in range(tiles)])


def _members(graph, tile, min_size):
    """Return which vertices of a tile are in components that are kept."""
    component, sizes = graph.read(COMPONENTS, "component", "sizes")
    return sizes[component[span(graph, tile)]] >= min_size


def _weights(graph, tile, min_size):
    """Return the degrees of these vertices, in units of the mean of all."""
    return lengths_of(graph, tile)[_members(graph, tile, min_size), 0] ** 2


def _embed_tile(folder, tile, graph, min_size, found, unit, n, n_clusters, rounding):
    """Return the step "embedding": the rows that represent the n vertices, for a tile; `unit` is
    the mean degree of these vertices.

    Each row is the mean of its neighbors' rows, as in `kdegraph.clustering.rounding`, where that
    is known to be better.
    """
    n_vectors = rounding.n_eigenvectors(n_clusters, len(found.ritz.values))
    values, _, rotation = found.ritz.first(n_vectors)
    rotation = rotation * np.sqrt(unit)
    mine, members = span(graph, tile), _members(graph, tile, min_size)
    block, image = (folder.read(name, NAME)[mine][members] for name in (found.block, found.image))
    usable = values > MIN_DIVISOR
    rows = np.where(usable, image @ rotation / np.where(usable, values, 1.0), block @ rotation)
    if rounding.embedding == "plain":
        rows *= np.sqrt(_weights(graph, tile, min_size) / unit)[:, None]
    rows = represent(rows, n, 1.0 - values, n_clusters, rounding.embedding)
    ends = rows[np.unique(extremes(rows))] if len(rows) else rows
    return {"rows": rows.astype(np.float32), "extremes": ends}


def _sample(folder, counts, rng):
    """Return rows that stand for all, and the largest magnitude in each column; `counts` are the
    numbers of rows of the tiles.
    """
    first = np.cumsum([0, *counts])
    chosen = np.sort(choose_rows(first[-1], rng))
    all_chosen = len(chosen) == first[-1]
    sample, ends = [], []
    for tile in range(len(counts)):
        rows, extreme = folder.read(f"embedding-{tile}", "rows", "extremes")
        begin, end = np.searchsorted(chosen, first[tile : tile + 2])
        sample.append(rows[chosen[begin:end] - first[tile]].astype(np.float64))
        ends.append(extreme)
    largest = np.abs(np.concatenate(ends)).max(axis=0)
    return np.concatenate(sample if all_chosen else sample + ends), largest


def _label_tile(folder, tile, graph, min_size, fitted, factors):
    """Return the step "labels" of a tile."""
    members = _members(graph, tile, min_size)
    labels = np.full(len(members), -1, np.int32)
    rows = folder.read(f"embedding-{tile}", "rows")
    if len(rows):
        labels[members] = fitted.predict(rows * factors)
    return {"labels": labels}


def _write_result(problem, found, progress):
    """Write the last step, with the conductances, and delete what is not needed any more."""
    graph, folder, tiles = problem.graph, problem.folder, n_tiles(problem.graph)
    n_clusters = int(folder.read(LABELS, "by_vertex").max()) + 1
    scheduler.write_tiles(folder, "cut", tiles, _cut_tile, graph, n_clusters, progress=progress)
    sums = np.sum([folder.read(f"cut-{tile}", "sums") for tile in range(tiles)], axis=0)
    folder.write(RESULT, problem.fields_of(found) | {"conductances": quotients(*sums)})
    folder.keep_only(RESULT, LABELS, found.block)


def _cut_tile(folder, tile, graph, n_clusters):
    """Return the step "cut": the cut weights and the volumes of the clusters within a tile."""
    labels = folder.read(LABELS, "by_place")
    indptr, columns, weights = rows_of(graph, tile)
    own = np.repeat(labels[span(graph, tile)], np.diff(indptr))
    leaving = labels[columns] != own
    cuts = np.bincount(own[leaving], weights[leaving], n_clusters)
    return {"sums": np.array([cuts, np.bincount(own, weights, n_clusters)])}
