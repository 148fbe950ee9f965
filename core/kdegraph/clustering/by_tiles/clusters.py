"""Spectral clustering of a graph in a folder, from end to end."""

from functools import partial

import dask.array as da
import numpy as np

from kdegraph.clustering.by_tiles.labels import LABELS, conductances_by_tiles, label_vertices
from kdegraph.clustering.outliers import (
    join_isolated,
    join_small_components,
    largest_components,
    least_component,
    numbered_by_first_member,
)
from kdegraph.clustering.result import Clustering
from kdegraph.eigengap import AUTO_EIGENVALUES, suggest_n_clusters
from kdegraph.geometry.neighbors import unit_scale
from kdegraph.runtime.progress import partial_progress, stage_progress
from kdegraph.spectral.by_tiles.matrix import make_matrix
from kdegraph.spectral.by_tiles.spectrum import RESULT, Eigenproblem, computation, read_spectrum
from kdegraph.spectral.checked_graph import check_smallest_component
from kdegraph.spectral.solver.coarse import MIN_VERTICES
from kdegraph.tiles import points
from kdegraph.tiles.folder import Folder
from kdegraph.tiles.graph import array_by_blocks
from kdegraph.tiles.plan import ORDER


def cluster_by_tiles(graph, n_clusters, rounding, smallest_component, progress=None):
    """Cluster a graph without reading it into memory.

    Parameters
    ----------
    graph : TiledGraph
    n_clusters : int or "auto"
    rounding : Rounding
    smallest_component : int or "auto"
    progress : callable, optional
        Called as ``progress(stage, fraction)``.

    Returns
    -------
    Clustering or None
        Its labels and eigenvectors are Dask arrays. None if the graph is small or has no edges, or
        its clusters do not show in the coarse graph. What is found is kept, see `computation`.
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
            n_vectors = _n_vectors(problem, n_clusters, rounding)
            found = problem.solve(n_vectors, least, stage_progress(progress, "eigenvectors"))
            if found is None:
                return None
            if n_clusters == "auto":
                n_clusters = suggest_n_clusters(problem.eigenvalues(found))
            progress = stage_progress(progress, "k-means")
            labeling = partial_progress(progress, 0.0, 0.8)
            _write_labels(problem, found, graph.kernel, n_clusters, rounding, labeling)
            _write_result(problem, found, partial_progress(progress, 0.8, 1.0))
    return _read(graph, folder)


def _n_vectors(problem, n_clusters, rounding):
    """How many eigenvectors are wanted."""
    most = problem.vertices.n_in_components(problem.min_size)
    if n_clusters == "auto":
        return min(AUTO_EIGENVALUES, most)
    if problem.n_zero >= n_clusters:  # the clusters are components
        return n_clusters
    return rounding.n_eigenvectors(n_clusters, most)


def _write_labels(problem, found, kernel, n_clusters, rounding, progress):
    """Write the labels of all vertices, unless that has been done."""
    graph, folder, vertices = problem.graph, problem.folder, problem.vertices
    if folder.has(LABELS):
        return
    if problem.n_zero >= n_clusters:
        labels = largest_components(vertices, n_clusters)
    else:
        chosen = graph, folder, problem.min_size
        labels = label_vertices(*chosen, found, n_clusters, rounding, progress)
    if (labels < 0).any():
        X = vertices.points[vertices.order]
        np.ldexp(X, -unit_scale(X), out=X)
        join_small_components(vertices, X, kernel, labels)
        join_isolated(vertices, X, kernel, labels)
    by_vertex = numbered_by_first_member(labels[graph.read(ORDER, "place")])
    by_place = by_vertex[vertices.order]
    folder.write(LABELS, {"by_vertex": by_vertex, "by_place": by_place})


def _write_result(problem, found, progress):
    """Write what else there is, and delete what is not needed any more."""
    graph, folder = problem.graph, problem.folder
    n_clusters = int(folder.read(LABELS, "by_vertex").max()) + 1
    conductances = conductances_by_tiles(graph, folder, n_clusters, progress)
    folder.write(RESULT, problem.fields_of(found) | {"conductances": conductances})
    folder.keep_only(RESULT, LABELS, found.block)


def _read(graph, folder):
    """The `Clustering` of a `TiledGraph` that is in a folder."""
    found = read_spectrum(graph, folder)
    conductances = np.array(folder.read(RESULT, "conductances"))
    labels = array_by_blocks(graph, partial(_labels_of, folder.path), np.empty(0, np.int32))
    return Clustering(labels, len(conductances), conductances, found.isolated, found)


def _labels_of(folder, graph, begin, end):
    """The labels of the vertices begin ... end - 1."""
    return np.array(Folder(folder).read(LABELS, "by_vertex")[begin:end])


def lazy_labels(graph, labels):
    """Labels that are in memory, as a Dask array."""
    return da.from_array(labels, chunks=-(-graph.n_vertices // graph.n_blocks))
