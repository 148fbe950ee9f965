"""The smallest eigenvalues of a graph in a folder, and their eigenvectors, from end to end."""

import contextlib
import warnings
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kdegraph.runtime.progress import stage_progress
from kdegraph.spectral.checked_graph import CheckedGraph, GraphParts, check_smallest_component
from kdegraph.spectral.products import NARROW_STRIP
from kdegraph.spectral.solver.coarse_vectors import (
    MIN_COARSE_VALUE,
    MIN_NODES_PER_VECTOR,
    MIN_VERTICES,
)
from kdegraph.spectral.spectrum import (
    Spectrum,
    check_n_components,
    compute_spectrum,
    warn_of_residuals,
)
from kdegraph.tiles.coarse import NODES, coarse_adjacency
from kdegraph.tiles.folder import DESCRIPTION, Folder
from kdegraph.tiles.graph import array_by_blocks
from kdegraph.tiles.matrix import DEGREES, make_matrix
from kdegraph.tiles.plan import ORDER
from kdegraph.tiles.vectors import (
    COARSE_VECTORS,
    NAME,
    Blocks,
    refine,
    with_positive_extremes,
)
from kdegraph.validation import check_count

# The last step.
RESULT = "result"


def spectrum_by_tiles(graph, n_components, seed, smallest_component, progress=None):
    """Compute the approximate `Spectrum` of a `TiledGraph` that is not read into memory. The
    parameters are those of `kdegraph.spectrum`.

    Its eigenvectors are a Dask array. It is None if the graph is small, or the coarse graph does
    not show its eigenvectors, such as those of isolated vertices. The result is kept, see
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
    """Yield the folder, within that of the graph, for a computation with these options.

    The values of the options can be written as JSON. A later computation with the same options
    reads the result, or completes it. No other thread of this process works in the folder, and the
    steps of an interrupted computation have been checked.
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
    """The graph whose eigenvectors are wanted, and the folder where they are computed.

    Attributes
    ----------
    graph, folder : Folder
        Of the graph, and for the vectors.
    vertices : CheckedGraph
        As `make_matrix` returns it.
    min_size : int
        The smallest size of components that are kept.
    seed : int
    """

    graph: Folder
    folder: Folder
    vertices: CheckedGraph
    min_size: int
    seed: int

    @property
    def n_zero(self):
        """The multiplicity of the eigenvalue 0: the number of components that are kept."""
        return int(np.sum(self.vertices.sizes >= self.min_size))

    def solve(self, n_vectors, n_shown, progress):
        """Return the `RitzVectors` of the `n_vectors` smallest eigenvalues, or None if the coarse
        graph is too small or does not show the first `n_shown`.
        """
        coarse = coarse_adjacency(self.graph, self.vertices)
        # There are at least two guard vectors, and the block fills vector registers.
        strips = -(-(n_vectors + 2) // NARROW_STRIP)
        width = strips * NARROW_STRIP
        kept = self._kept_nodes(coarse.shape[0])
        if MIN_NODES_PER_VECTOR * width > kept.sum():
            return None
        values, vectors = _coarse_eigenvectors(coarse[kept][:, kept], width, self.seed)
        if values[n_shown - 1] < MIN_COARSE_VALUE:
            return None
        of_nodes = np.zeros((len(kept), width), np.float32)
        unit = np.sqrt(self.graph.read(DEGREES, "mean"))
        # Entries of nodes of a tiny degree may be too large for single precision.
        of_nodes[kept] = np.clip(vectors * unit, -1e18, 1e18)
        self.folder.write(COARSE_VECTORS, {NAME: of_nodes})
        n_inexact = 0 if self.n_zero >= n_vectors else n_vectors
        found = refine(Blocks(self.graph, self.folder, width), values, n_inexact, progress)
        return found._replace(ritz=found.ritz.first(n_vectors))

    def _kept_nodes(self, n_nodes):
        """Return which nodes of the coarse graph are in components that are kept."""
        vertices = self.vertices
        kept = np.zeros(n_nodes, bool)
        in_large = vertices.sizes[vertices.component] >= self.min_size
        kept[self.graph.read(NODES, "node")[in_large]] = True
        return kept

    def eigenvalues(self, found):
        """Return the eigenvalues of the normalized Laplacian that belong to `RitzVectors`."""
        values = np.clip(1.0 - found.ritz.values, 0.0, 2.0)
        values[: self.n_zero] = 0.0
        return values

    def fields_of(self, found):
        """Return the fields of the last step, for `read_spectrum`."""
        of_tree = self.vertices.isolated
        return {
            "eigenvalues": self.eigenvalues(found),
            "residuals": found.ritz.residuals,
            "rotation": with_positive_extremes(self.graph, self.folder, found),
            "block": found.block,
            "isolated": np.sort(self.vertices.order[of_tree]).astype(np.int64),
            "converged": found.settled,
            "n_connected_components": len(self.vertices.sizes),
            "n_products": found.n_products,
            "smallest_component": self.min_size,
        }


def _coarse_eigenvectors(matrix, width, seed):
    """Return the largest eigenvalues of P of the coarse graph, and their eigenvectors."""
    parts = GraphParts(matrix, order=np.arange(matrix.shape[0]))  # nodes follow the tree's order
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the vectors will be refined
        found = compute_spectrum(parts, width, seed=seed, approximate=True)
    return 1.0 - found.eigenvalues, found.eigenvectors / np.sqrt(matrix.sum(axis=1))[:, None]


def read_spectrum(graph, folder):
    """Return the `Spectrum` of a `TiledGraph` that is kept in a folder."""
    arrays = ("eigenvalues", "residuals", "isolated")
    values = ("converged", "n_connected_components", "n_products", "smallest_component")
    fields = {name: folder.read(RESULT, name) for name in (*arrays, *values)}
    fields |= {name: np.array(fields[name]) for name in arrays}  # the files may be deleted
    like = np.empty((0, len(fields["eigenvalues"])))
    vectors = array_by_blocks(graph, partial(_vectors_of, folder), like)
    omitted = fields["smallest_component"] > 1
    found = Spectrum(eigenvectors=vectors, omit_isolated=omitted, **fields)
    if not found.converged:
        warn_of_residuals(found.residuals, found.n_products)
    return found


def _vectors_of(folder, graph, begin, end):
    """Return the eigenvectors at the vertices begin ... end - 1."""
    block, rotation = folder.read(RESULT, "block", "rotation")
    places = Folder(graph).read(ORDER, "place")[begin:end]
    degrees, mean = Folder(graph).read(DEGREES, "degrees", "mean")
    lengths = np.sqrt(degrees[places] / mean)[:, None]
    return lengths * (folder.read(block, NAME)[places] @ rotation)
