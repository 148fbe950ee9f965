"""Spectral clustering of a graph in a folder, from end to end."""

import warnings
from functools import partial

import dask.array as da
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kdegraph.clustering.by_tiles.coarse import NODES, coarse_adjacency
from kdegraph.clustering.by_tiles.labels import LABELS, conductances_by_tiles, label_vertices
from kdegraph.clustering.by_tiles.matrix import DEGREES, make_matrix
from kdegraph.clustering.by_tiles.vectors import (
    COARSE_VECTORS,
    NAME,
    Blocks,
    refine,
    with_positive_extremes,
)
from kdegraph.clustering.outliers import (
    join_isolated,
    join_small_components,
    largest_components,
    least_component,
    numbered_by_first_member,
)
from kdegraph.clustering.result import Clustering
from kdegraph.geometry.neighbors import unit_scale
from kdegraph.runtime.progress import partial_progress, stage_progress
from kdegraph.spectral.checked_graph import GraphParts
from kdegraph.spectral.products import NARROW_STRIP
from kdegraph.spectral.solver.coarse import MIN_COARSE_VALUE, MIN_NODES_PER_VECTOR, MIN_VERTICES
from kdegraph.spectral.spectrum import Spectrum, spectrum, warn_of_residuals
from kdegraph.tiles import points
from kdegraph.tiles.folder import DESCRIPTION, Folder
from kdegraph.tiles.graph import array_by_blocks
from kdegraph.tiles.plan import STEP as PLAN

# The step that is written last.
RESULT = "result"
# The values of a spectrum that it has.
SPECTRUM_VALUES = ("converged", "n_connected_components", "n_products", "smallest_component")
# Entries of the vectors of the coarse graph are limited to what single precision can hold; only
# nodes of a tiny degree have larger ones.
MAX_ENTRY = 1e18
# Vectors of the block beyond those that are wanted, at least, which speed convergence up.
MIN_GUARDS = 2


def cluster_by_tiles(graph, n_clusters, rounding, smallest_component, progress=None):
    """Cluster a graph without reading it into memory.

    Parameters
    ----------
    graph : TiledGraph
    n_clusters : int
    rounding : Rounding
    smallest_component : int or "auto"
    progress : callable, optional
        Called as ``progress(stage, fraction)``.

    Returns
    -------
    Clustering or None
        Its labels and eigenvectors are Dask arrays. None if the graph is small, or its clusters do
        not show in the coarse graph.

    Notes
    -----
    What is found is kept in a folder for these parameters, within that of the graph: the same call
    reads it, or completes it if it was interrupted.
    """
    if graph.n_vertices < MIN_VERTICES:
        return None
    store = Folder(graph.path)
    rounding = rounding.for_points(store.read(points.STEP, points.NAME))
    options = {"n_clusters": n_clusters, "smallest_component": smallest_component}
    options |= rounding._asdict()
    folder = Folder(graph.path / "-".join(["clusters", *map(str, options.values())]))
    with store.claimed():
        if not folder.has(RESULT):
            if folder.has(DESCRIPTION):  # interrupted
                store.check_all()
                folder.check_all()
            folder.begin(options)
            work = _Work(store, folder, graph.kernel, n_clusters, smallest_component, rounding)
            if not work.is_done(progress):
                return None
    return _read(graph, folder)


class _Work:
    """The steps from a graph to its clusters."""

    def __init__(self, graph, folder, kernel, n_clusters, smallest_component, rounding):
        self.graph, self.folder, self.kernel = graph, folder, kernel
        self.n_clusters, self.smallest_component = n_clusters, smallest_component
        self.rounding = rounding

    def is_done(self, progress):
        """Do all steps and return True, or False if the coarse graph is of no use."""
        self.vertices = make_matrix(self.graph, stage_progress(progress, "components"))
        self.min_size = least_component(self.smallest_component, self.vertices, self.n_clusters)
        found = self._eigenvectors(stage_progress(progress, "eigenvectors"))
        if found is not None:
            progress = stage_progress(progress, "k-means")
            self._write_labels(found, partial_progress(progress, 0.0, 0.8))
            self._write_result(found, partial_progress(progress, 0.8, 1.0))
        return found is not None

    @property
    def _components_suffice(self):
        """Whether the clusters are connected components."""
        return np.sum(self.vertices.sizes >= self.min_size) >= self.n_clusters

    @property
    def _n_vectors(self):
        """How many eigenvectors are wanted."""
        if self._components_suffice:
            return self.n_clusters
        return self.rounding.n_eigenvectors(self.n_clusters, self.vertices.n)

    def _eigenvectors(self, progress):
        """The `RitzVectors` that separate the clusters; None if the coarse graph is of no use."""
        vertices = self.vertices
        coarse = coarse_adjacency(self.graph, vertices)
        counted = np.zeros(coarse.shape[0], bool)
        in_clusters = vertices.sizes[vertices.component] >= self.min_size
        counted[self.graph.read(NODES, "node")[in_clusters]] = True
        strips = -(-(self._n_vectors + MIN_GUARDS) // NARROW_STRIP)  # of vector registers
        width = strips * NARROW_STRIP
        if MIN_NODES_PER_VECTOR * width > counted.sum():
            return None
        matrix = coarse[counted][:, counted]
        values, of_nodes = _coarse_eigenvectors(matrix, width, self.rounding.seed)
        if values[self.n_clusters - 1] < MIN_COARSE_VALUE:
            return None
        vectors = np.zeros((coarse.shape[0], width), np.float32)
        unit = np.sqrt(self.graph.read(DEGREES, "mean"))
        vectors[counted] = np.clip(of_nodes * unit, -MAX_ENTRY, MAX_ENTRY)
        self.folder.write(COARSE_VECTORS, {NAME: vectors})
        n_inexact = 0 if self._components_suffice else self._n_vectors
        return refine(Blocks(self.graph, self.folder, width), values, n_inexact, progress)

    def _write_labels(self, found, progress):
        """Write the labels of all vertices, unless that has been done."""
        if self.folder.has(LABELS):
            return
        vertices, k = self.vertices, self.n_clusters
        if self._components_suffice:
            labels = largest_components(vertices, k)
        else:
            labels = label_vertices(
                self.graph, self.folder, self.min_size, found, k, self.rounding, progress
            )
        if (labels < 0).any():
            X = vertices.points[vertices.order]
            X = np.ldexp(X, -unit_scale(X))
            join_small_components(vertices, X, self.kernel, labels)
            join_isolated(vertices, X, self.kernel, labels)
        by_vertex = numbered_by_first_member(labels[self.graph.read(PLAN, "place")])
        by_place = by_vertex[vertices.order]
        self.folder.write(LABELS, {"by_vertex": by_vertex, "by_place": by_place})

    def _write_result(self, found, progress):
        """Write what else there is, and delete what is not needed any more."""
        n_clusters = int(self.folder.read(LABELS, "by_vertex").max()) + 1
        conductances = conductances_by_tiles(self.graph, self.folder, n_clusters, progress)
        of_tree = self.vertices.isolated
        fields = {
            "eigenvalues": np.clip(1.0 - found.values[: self._n_vectors], 0.0, 2.0),
            "residuals": found.residuals[: self._n_vectors],
            "rotation": with_positive_extremes(self.graph, self.folder, found, self._n_vectors),
            "block": found.block,
            "conductances": conductances,
            "isolated": np.sort(self.vertices.order[of_tree]).astype(np.int64),
            "converged": found.settled,
            "n_connected_components": len(self.vertices.sizes),
            "n_products": found.n_products,
            "smallest_component": self.min_size,
        }
        self.folder.write(RESULT, fields)
        self.folder.keep_only(RESULT, LABELS, found.block)


def _coarse_eigenvectors(matrix, width, seed):
    """The largest eigenvalues of P of the coarse graph, and their eigenvectors."""
    order = np.arange(matrix.shape[0])  # nodes are numbered along the tree
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the vectors will be refined
        found = spectrum(GraphParts(matrix, order=order), width, seed=seed, approximate=True)
    return 1.0 - found.eigenvalues, found.eigenvectors / np.sqrt(matrix.sum(axis=1))[:, None]


def _read(graph, folder):
    """The `Clustering` that is in a folder."""
    names = "eigenvalues", "residuals", "conductances", "isolated"
    eigenvalues, residuals, conductances, isolated = map(np.array, folder.read(RESULT, *names))
    like = np.empty((0, len(eigenvalues)))
    found = Spectrum(
        eigenvalues,
        array_by_blocks(graph, partial(_vectors_of, folder.path), like),
        residuals,
        isolated=isolated,
        omit_isolated=True,
        **{name: folder.read(RESULT, name) for name in SPECTRUM_VALUES},
    )
    if not found.converged:
        warn_of_residuals(residuals, found.n_products)
    labels = array_by_blocks(graph, partial(_labels_of, folder.path), np.empty(0, np.int32))
    return Clustering(labels, len(conductances), conductances, isolated, found)


def _labels_of(folder, graph, begin, end):
    """The labels of the vertices begin ... end - 1."""
    return np.array(Folder(folder).read(LABELS, "by_vertex")[begin:end])


def _vectors_of(folder, graph, begin, end):
    """The eigenvectors at the vertices begin ... end - 1."""
    block, rotation = Folder(folder).read(RESULT, "block", "rotation")
    places = Folder(graph).read(PLAN, "place")[begin:end]
    degrees, mean = Folder(graph).read(DEGREES, "degrees", "mean")
    lengths = np.sqrt(degrees[places] / mean)[:, None]
    return lengths * (Folder(folder).read(block, NAME)[places] @ rotation)


def lazy_labels(graph, labels):
    """Labels that are in memory, as a Dask array."""
    return da.from_array(labels, chunks=-(-graph.n_vertices // graph.n_blocks))
