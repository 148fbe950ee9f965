"""The smallest eigenvalues of a graph in a folder, and their eigenvectors, from end to end."""

import contextlib
import warnings
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kdegraph.runtime.progress import stage_progress
from kdegraph.spectral.by_tiles.coarse import NODES, coarse_adjacency
from kdegraph.spectral.by_tiles.matrix import DEGREES, make_matrix
from kdegraph.spectral.by_tiles.vectors import (
    COARSE_VECTORS,
    NAME,
    Blocks,
    refine,
    with_positive_extremes,
)
from kdegraph.spectral.checked_graph import CheckedGraph, GraphParts, check_smallest_component
from kdegraph.spectral.products import NARROW_STRIP
from kdegraph.spectral.result import Spectrum, warn_of_residuals
from kdegraph.spectral.solver.coarse import MIN_COARSE_VALUE, MIN_NODES_PER_VECTOR, MIN_VERTICES
from kdegraph.spectral.spectrum import check_n_components, spectrum
from kdegraph.tiles.folder import DESCRIPTION, Folder
from kdegraph.tiles.graph import array_by_blocks
from kdegraph.tiles.plan import ORDER
from kdegraph.validation import check_count

# The step that is written last.
RESULT = "result"
# Its arrays, and its values, that are fields of a spectrum.
ARRAYS = ("eigenvalues", "residuals", "isolated")
VALUES = ("converged", "n_connected_components", "n_products", "smallest_component")
# Entries of the vectors of the coarse graph are limited to what single precision can hold; only
# nodes of a tiny degree have larger ones.
MAX_ENTRY = 1e18
# Vectors of the block beyond those that are wanted, at least, which speed convergence up.
MIN_GUARDS = 2


def spectrum_by_tiles(graph, n_components, seed, smallest_component, progress=None):
    """The approximate spectrum of a graph that is not read into memory.

    Parameters
    ----------
    graph : TiledGraph
    n_components : int
    seed : int
    smallest_component : int or "auto"
        Or 1, if isolated vertices are components, too.
    progress : callable, optional
        Called as ``progress(stage, fraction)``.

    Returns
    -------
    Spectrum or None
        Its eigenvectors are a Dask array. None if the graph is small, or its eigenvectors do not
        show in the coarse graph, as those of isolated vertices. What is found is kept, see
        `computation`.
    """
    if graph.n_vertices < MIN_VERTICES:
        return None
    options = {
        "n_components": check_count(n_components, "n_components", maximum=graph.n_vertices),
        "smallest_component": check_smallest_component(smallest_component),
        "seed": seed,
    }
    with computation(graph, "spectrum", options) as folder:
        if not folder.has(RESULT):
            vertices = make_matrix(Folder(graph.path), stage_progress(progress, "components"))
            min_size = vertices.smallest_component(smallest_component)
            if min_size == 1 and vertices.isolated.size:
                return None
            k = check_n_components(n_components, vertices, min_size)
            problem = Eigenproblem(Folder(graph.path), folder, vertices, min_size, seed)
            found = problem.solve(k, k, stage_progress(progress, "eigenvectors"))
            if found is None:
                return None
            folder.write(RESULT, problem.fields_of(found))
            folder.keep_only(RESULT, found.block)
    return read_spectrum(graph, folder)


@contextlib.contextmanager
def computation(graph, name, options):
    """Yield the folder, within that of the graph, for what is computed with some options. A later
    computation with the same options reads what is there, or completes it.

    Parameters
    ----------
    graph : TiledGraph
    name : str
    options : dict
        Of values that JSON has.

    Yields
    ------
    Folder
        No other thread of this process works in it. Steps that were interrupted have been checked.
    """
    store = Folder(graph.path)
    folder = Folder(graph.path / "-".join([name, *map(str, options.values())]))
    with store.claimed():
        if not folder.has(RESULT):
            if folder.has(DESCRIPTION):
                store.check_all()
                folder.check_all()
            folder.begin(options)
        yield folder


class Eigenproblem(NamedTuple):
    """Which eigenvectors are wanted, and where they are computed.

    Attributes
    ----------
    graph, folder : Folder
        Of the graph, and for the vectors.
    vertices : CheckedGraph
        As `make_matrix` returns it.
    min_size : int
        The least size of components that count.
    seed : int
    """

    graph: Folder
    folder: Folder
    vertices: CheckedGraph
    min_size: int
    seed: int

    @property
    def n_zero(self):
        """How often 0 is an eigenvalue: the number of components that count."""
        return int(np.sum(self.vertices.sizes >= self.min_size))

    def solve(self, n_vectors, n_shown, progress):
        """Find the eigenvectors of the smallest eigenvalues of the normalized Laplacian.

        Parameters
        ----------
        n_vectors : int
        n_shown : int
            How many of them have to show in the coarse graph.
        progress : callable, optional

        Returns
        -------
        RitzVectors or None
            None if the coarse graph is of no use.
        """
        coarse = coarse_adjacency(self.graph, self.vertices)
        strips = -(-(n_vectors + MIN_GUARDS) // NARROW_STRIP)  # of vector registers
        width = strips * NARROW_STRIP
        counted = self._nodes_that_count(coarse.shape[0])
        if MIN_NODES_PER_VECTOR * width > counted.sum():
            return None
        values, vectors = _coarse_eigenvectors(coarse[counted][:, counted], width, self.seed)
        if values[n_shown - 1] < MIN_COARSE_VALUE:
            return None
        of_nodes = np.zeros((len(counted), width), np.float32)
        unit = np.sqrt(self.graph.read(DEGREES, "mean"))
        of_nodes[counted] = np.clip(vectors * unit, -MAX_ENTRY, MAX_ENTRY)
        self.folder.write(COARSE_VECTORS, {NAME: of_nodes})
        n_inexact = 0 if self.n_zero >= n_vectors else n_vectors
        found = refine(Blocks(self.graph, self.folder, width), values, n_inexact, progress)
        return found.first(n_vectors)

    def _nodes_that_count(self, n_nodes):
        """Which nodes of the coarse graph are of components that count."""
        vertices = self.vertices
        counted = np.zeros(n_nodes, bool)
        in_large = vertices.sizes[vertices.component] >= self.min_size
        counted[self.graph.read(NODES, "node")[in_large]] = True
        return counted

    def eigenvalues(self, found):
        """The eigenvalues of the normalized Laplacian that belong to `RitzVectors`."""
        values = np.clip(1.0 - found.values, 0.0, 2.0)
        values[: self.n_zero] = 0.0
        return values

    def fields_of(self, found):
        """What `read_spectrum` reads."""
        of_tree = self.vertices.isolated
        return {
            "eigenvalues": self.eigenvalues(found),
            "residuals": found.residuals,
            "rotation": with_positive_extremes(self.graph, self.folder, found),
            "block": found.block,
            "isolated": np.sort(self.vertices.order[of_tree]).astype(np.int64),
            "converged": found.settled,
            "n_connected_components": len(self.vertices.sizes),
            "n_products": found.n_products,
            "smallest_component": self.min_size,
        }


def _coarse_eigenvectors(matrix, width, seed):
    """The largest eigenvalues of P of the coarse graph, and their eigenvectors."""
    order = np.arange(matrix.shape[0])  # nodes are numbered along the tree
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the vectors will be refined
        found = spectrum(GraphParts(matrix, order=order), width, seed=seed, approximate=True)
    return 1.0 - found.eigenvalues, found.eigenvectors / np.sqrt(matrix.sum(axis=1))[:, None]


def read_spectrum(graph, folder):
    """The `Spectrum` of a `TiledGraph` that is in a folder."""
    # Copies: the files may be deleted.
    fields = {name: np.array(folder.read(RESULT, name)) for name in ARRAYS}
    fields |= {name: folder.values(RESULT)[name] for name in VALUES}
    like = np.empty((0, len(fields["eigenvalues"])))
    vectors = array_by_blocks(graph, partial(_vectors_of, folder.path), like)
    leaves_out = fields["smallest_component"] > 1
    found = Spectrum(eigenvectors=vectors, omit_isolated=leaves_out, **fields)
    if not found.converged:
        warn_of_residuals(found.residuals, found.n_products)
    return found


def _vectors_of(folder, graph, begin, end):
    """The eigenvectors at the vertices begin ... end - 1."""
    block, rotation = Folder(folder).read(RESULT, "block", "rotation")
    places = Folder(graph).read(ORDER, "place")[begin:end]
    degrees, mean = Folder(graph).read(DEGREES, "degrees", "mean")
    lengths = np.sqrt(degrees[places] / mean)[:, None]
    return lengths * (Folder(folder).read(block, NAME)[places] @ rotation)
