"""Approximate eigenvectors of a graph in a folder: from those of the coarse graph, by smoothing.

This is `kdegraph.spectral.solver.coarse_vectors.refine` with blocks of vectors in files and
products tile by tile. Vectors are divided by the square roots of the degrees, and those of
eigenvalue 1 of P are in the block, too.
"""

from typing import NamedTuple

import numpy as np

from kdegraph.runtime.progress import partial_progress
from kdegraph.spectral.solver.coarse_vectors import (
    MAX_ROUNDS,
    SMOOTHING_DEGREE,
    has_settled,
    smoothing_filter,
)
from kdegraph.spectral.solver.rayleigh_ritz import RitzRotation, ritz_rotation
from kdegraph.tiles import scheduler
from kdegraph.tiles.coarse import NODES
from kdegraph.tiles.matrix import DEGREES, lengths_of, multiply
from kdegraph.tiles.plan import n_tiles, span

# The name of the only array of a step with a block of vectors.
NAME = "block"
# The step with the eigenvectors of the coarse graph, divided by the square roots of the degrees.
COARSE_VECTORS = "coarse"


class RitzVectors(NamedTuple):
    """Eigenpairs of P within the span of a block of vectors.

    Attributes
    ----------
    ritz : RitzRotation
    block, image : str
        The steps with the block, (n, w) float32, and with P times the block.
    settled : bool
    n_products : int
    """

    ritz: RitzRotation
    block: str
    image: str
    settled: bool
    n_products: int


class Blocks:
    """Blocks of vectors, each a step of a folder, that are made tile by tile.

    Parameters
    ----------
    graph : Folder
        With the matrix and the nodes.
    folder : Folder
        For the blocks.
    width : int
        Number of vectors.
    """

    def __init__(self, graph, folder, width):
        self.graph, self.folder = graph, folder
        self._shape = len(graph.read(DEGREES, "degrees")), width
        self._n_tiles = n_tiles(graph)

    def make(self, step, function, *args, progress=None):
        """Make a block, unless it is there.

        Parameters
        ----------
        step : str
        function : callable
            Called as ``function(graph, folder, tile, *args)``, it returns the rows of a tile.
        *args : object
        progress : callable, optional

        Returns
        -------
        str
            The step.
        """
        if not self.folder.has(step):
            with self.folder.filling(step, NAME, self._shape, np.float32) as rows:
                common = rows, function, self.graph, self.folder
                tasks = [(*common, tile, *args) for tile in range(self._n_tiles)]
                scheduler.run(_make_rows, tasks, progress)
        return step

    def overlaps(self, block, image):
        """Return the Gram matrix, weighted by the degrees, of the vectors and their images side by
        side: a (2 width, 2 width) array.
        """
        name, tiles = f"{image}-overlaps", self._n_tiles
        scheduler.write_tiles(self.folder, name, tiles, _overlap, self.graph, block, image)
        return np.sum([self.folder.read(f"{name}-{tile}", "sums") for tile in range(tiles)], axis=0)


def refine(blocks, values, k, progress=None):
    """Return the `RitzVectors` from the step `COARSE_VECTORS`, smoothed until the first `k`
    eigenvalues have settled. If k is 0, the wanted eigenvalues are exact.

    `values` are the eigenvalues of P of the coarse graph, in descending order.
    """
    block = blocks.make("start-0", _prolong)
    if k == 0:
        exact = RitzRotation(values, np.zeros(len(values)), np.eye(len(values)))
        return RitzVectors(exact, block, block, True, 0)
    for round_ in range(MAX_ROUNDS):
        done = 1 - 0.5**round_
        at_present = partial_progress(progress, done, (1 + done) / 2)
        filtered = _smooth(blocks, block, 1.0 - values[-1], round_, at_present)
        image = blocks.make(f"image-{round_}", _multiply, filtered)
        ritz = ritz_rotation(blocks.overlaps(filtered, image))
        settled = has_settled(values, ritz, k)
        if settled or round_ == MAX_ROUNDS - 1:
            break
        values = ritz.values
        block = blocks.make(f"start-{round_ + 1}", _rotate, filtered, ritz.rotation)
        blocks.folder.discard(filtered)
        blocks.folder.discard(image)
    n_products = (round_ + 1) * (SMOOTHING_DEGREE + 1)
    return RitzVectors(ritz, filtered, image, settled, n_products)


def _smooth(blocks, block, last, round_, progress):
    """Apply the smoothing filter: the three-term recurrence of Chebyshev polynomials."""
    chebyshev = smoothing_filter(last)
    center, half = (chebyshev.cut + chebyshev.low) / 2, (chebyshev.cut - chebyshev.low) / 2
    previous, present = None, block
    for degree in range(SMOOTHING_DEGREE):
        report = partial_progress(
            progress, degree / SMOOTHING_DEGREE, (degree + 1) / SMOOTHING_DEGREE
        )
        factor = (1 if degree == 0 else 2) / half
        step = f"smooth-{round_}-{degree + 1}"
        blocks.make(step, _recur, present, previous, factor, center, progress=report)
        if previous is not None:
            blocks.folder.discard(previous)
        previous, present = present, step
    blocks.folder.discard(previous)
    return present


def with_positive_extremes(graph, folder, found):
    """Return the rotation of `RitzVectors` with signs such that the entry of largest magnitude of
    each vector is positive.
    """
    rotation = found.ritz.rotation
    lowest = highest = np.zeros(rotation.shape[1])
    block = folder.read(found.block, NAME)
    for tile in range(n_tiles(graph)):
        rows = lengths_of(graph, tile) * (block[span(graph, tile)] @ rotation)
        lowest = np.minimum(lowest, rows.min(axis=0))
        highest = np.maximum(highest, rows.max(axis=0))
    return np.where(-lowest > highest, -rotation, rotation)


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
