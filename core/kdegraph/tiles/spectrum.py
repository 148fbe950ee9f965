"""The smallest eigenvalues of a graph in a folder, and their eigenvectors.

Eigenvectors of the coarse graph are smoothed as `kdegraph.spectral.solver.coarse.refine` does, with
blocks of vectors in files and products tile by tile. Vectors are divided by the square roots of the
degrees, and those of eigenvalue 1 of P are in the block, too.
"""

import contextlib
import warnings
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kdegraph.runtime.progress import partial_progress, stage_progress
from kdegraph.spectral.checked_graph import CheckedGraph, GraphParts, check_smallest_component
from kdegraph.spectral.products import NARROW_STRIP
from kdegraph.spectral.solver.coarse import (
    MAX_ROUNDS,
    MIN_COARSE_VALUE,
    MIN_NODES_PER_VECTOR,
    MIN_VERTICES,
    SMOOTHING_DEGREE,
    has_settled,
    smoothing_filter,
)
from kdegraph.spectral.solver.rayleigh_ritz import RitzRotation, ritz_rotation
from kdegraph.spectral.spectrum import (
    Spectrum,
    check_n_components,
    compute_spectrum,
    warn_of_residuals,
)
from kdegraph.tiles import scheduler
from kdegraph.tiles.folder import DESCRIPTION, ORDER, Folder, n_tiles, span
from kdegraph.tiles.graph import array_by_blocks
from kdegraph.tiles.matrix import (
    DEGREES,
    NODES,
    coarse_adjacency,
    lengths_of,
    make_matrix,
    multiply,
)
from kdegraph.validation import check_count

# The last step, the step with the eigenvectors of the coarse graph, and the name of the only array
# of a step with a block of vectors.
RESULT, COARSE_VECTORS, NAME = "result", "coarse", "block"


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


class RitzVectors(NamedTuple):
    """Eigenpairs of P within the span of a block of vectors."""

    ritz: RitzRotation
    # The steps with the block, (n, w) float32, and with P times the block.
    block: str
    image: str
    settled: bool
    n_products: int


class Eigenproblem(NamedTuple):
    """The folder of the graph whose eigenvectors are wanted, and the one where they are computed;
    the vertices as `make_matrix` returns them; and the smallest size of components that are kept.
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
        kept = np.zeros(coarse.shape[0], bool)  # the nodes in components that are kept
        kept[self.graph.read(NODES, "node")[self.vertices.in_components(self.min_size)]] = True
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
        found = self._refine(values, n_inexact, progress)
        return found._replace(ritz=found.ritz.first(n_vectors))

    def _refine(self, values, k, progress):
        """Return the `RitzVectors` from the step `COARSE_VECTORS`, smoothed until the first `k`
        eigenvalues have settled. If k is 0, the wanted eigenvalues are exact.

        `values` are the eigenvalues of P of the coarse graph, in descending order.
        """
        width = len(values)
        block = self._make_block("start-0", width, _prolong)
        if k == 0:
            exact = RitzRotation(values, np.zeros(width), np.eye(width))
            return RitzVectors(exact, block, block, True, 0)
        for round_ in range(MAX_ROUNDS):
            done = 1 - 0.5**round_
            at_present = partial_progress(progress, done, (1 + done) / 2)
            filtered = self._smooth(block, values, round_, at_present)
            image = self._make_block(f"image-{round_}", width, _multiply, filtered)
            ritz = ritz_rotation(self._overlaps(filtered, image))
            settled = has_settled(values, ritz, k)
            if settled or round_ == MAX_ROUNDS - 1:
                break
            values = ritz.values
            block = self._make_block(f"start-{round_ + 1}", width, _rotate, filtered, ritz.rotation)
            self.folder.discard(filtered)
            self.folder.discard(image)
        n_products = (round_ + 1) * (SMOOTHING_DEGREE + 1)
        return RitzVectors(ritz, filtered, image, settled, n_products)

    def _smooth(self, block, values, round_, progress):
        """Apply the smoothing filter: the three-term recurrence of Chebyshev polynomials."""
        chebyshev = smoothing_filter(1.0 - values[-1])
        center, half = (chebyshev.cut + chebyshev.low) / 2, (chebyshev.cut - chebyshev.low) / 2
        previous, present = None, block
        for degree in range(SMOOTHING_DEGREE):
            done, next_done = degree / SMOOTHING_DEGREE, (degree + 1) / SMOOTHING_DEGREE
            report = partial_progress(progress, done, next_done)
            factor = (1 if degree == 0 else 2) / half
            recurrence = _recur, present, previous, factor, center
            step = self._make_block(
                f"smooth-{round_}-{degree + 1}", len(values), *recurrence, progress=report
            )
            if previous is not None:
                self.folder.discard(previous)
            previous, present = present, step
        self.folder.discard(previous)
        return present

    def _make_block(self, step, width, function, *args, progress=None):
        """Make a block of vectors, unless it is there, and return its step.

        ``function(graph, folder, tile, *args)`` returns the rows of a tile.
        """
        if not self.folder.has(step):
            shape = self.vertices.n, width
            with self.folder.filling(step, NAME, shape, np.float32) as rows:
                common = rows, function, self.graph, self.folder
                tasks = [(*common, tile, *args) for tile in range(n_tiles(self.graph))]
                scheduler.run(_make_rows, tasks, progress)
        return step

    def _overlaps(self, block, image):
        """Return the Gram matrix, weighted by degrees, of the vectors beside their images."""
        name, tiles = f"{image}-overlaps", n_tiles(self.graph)
        scheduler.write_tiles(self.folder, name, tiles, _overlap, self.graph, block, image)
        return np.sum([self.folder.read(f"{name}-{tile}", "sums") for tile in range(tiles)], axis=0)

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
            "rotation": self._rotation_with_positive_extremes(found),
            "block": found.block,
            "isolated": np.sort(self.vertices.order[of_tree]).astype(np.int64),
            "converged": found.settled,
            "n_connected_components": len(self.vertices.sizes),
            "n_products": found.n_products,
            "smallest_component": self.min_size,
        }

    def _rotation_with_positive_extremes(self, found):
        """Return the rotation with signs such that the largest entry of each vector is positive."""
        rotation = found.ritz.rotation
        lowest = highest = np.zeros(rotation.shape[1])
        block = self.folder.read(found.block, NAME)
        for tile in range(n_tiles(self.graph)):
            rows = lengths_of(self.graph, tile) * (block[span(self.graph, tile)] @ rotation)
            lowest = np.minimum(lowest, rows.min(axis=0))
            highest = np.maximum(highest, rows.max(axis=0))
        return np.where(-lowest > highest, -rotation, rotation)


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


# ---------------------------------------------------------------- tasks of a tile


def _make_rows(rows, function, graph, folder, tile, *args):
    rows.put(span(graph, tile).start, function(graph, folder, tile, *args))


def _prolong(graph, folder, tile):
    """Return the vectors of the coarse graph, prolonged to the vertices."""
    return folder.read(COARSE_VECTORS, NAME)[graph.read(NODES, "node")[span(graph, tile)]]


def _recur(graph, folder, tile, present, previous, factor, center):
    """Return a step of the recurrence: ``factor (P - center) present - previous``."""
    mine = span(graph, tile)
    block = folder.read(present, NAME)
    rows = multiply(graph, tile, block)
    rows -= np.float32(center) * block[mine]
    rows *= np.float32(factor)
    return rows if previous is None else rows - folder.read(previous, NAME)[mine]


def _multiply(graph, folder, tile, block):
    return multiply(graph, tile, folder.read(block, NAME))


def _rotate(graph, folder, tile, block, rotation):
    return folder.read(block, NAME)[span(graph, tile)] @ rotation


def _overlap(folder, tile, graph, block, image):
    mine, lengths = span(graph, tile), lengths_of(graph, tile)
    both = np.hstack([lengths * folder.read(name, NAME)[mine] for name in (block, image)])
    return {"sums": both.T @ both}
