"""The eigenvectors that are known exactly: one for each connected component."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kdegraph.runtime.jit import jit
from kdegraph.spectral.solver.blocks import (
    PANEL_ROWS,
    chunk_bounds,
    chunk_rows,
    n_chunks,
    run_on_chunks,
    take_panel,
)


class Overlaps(NamedTuple):
    """What it takes to make a block of vectors, or a block and its image side by side, orthonormal
    and orthogonal to the null space.

    Attributes
    ----------
    dots : (c, m) array
        Inner products of the eigenvectors of the null space with the vectors.
    gram : (m, m) array
        Gram matrix of the vectors without their parts in the null space.
    """

    dots: np.ndarray
    gram: np.ndarray


@dataclass(eq=False)
class NullSpace:
    """The null space of the Laplacian: the eigenvectors of eigenvalue 1 of M.

    There is one for each connected component, sqrt(degree) on the component and zero elsewhere.

    Parameters
    ----------
    bounds : (c + 1,) int64 array
        Component ``i`` has the rows ``bounds[i]:bounds[i + 1]``.
    vector : (n,) float64 array
        The sum of all eigenvectors, whose supports are disjoint. The part of each component has
        norm 1.
    """

    bounds: np.ndarray
    vector: np.ndarray

    def __len__(self):
        return len(self.bounds) - 1

    def overlaps(self, block, image=None, progress=None):
        """The `Overlaps` of a block, with its image to the right of it if that is given.

        Chunk i and component j, if they share rows, have row ``i + j`` of the partial sums to
        themselves, as both numbers ascend from row to row.
        """
        image = _or_empty(image, block)
        m, n_parts = block.shape[1] + image.shape[1], n_chunks(block)
        partial, partial_gram = np.zeros((n_parts + len(self), m)), np.zeros((n_parts, m, m))
        args = self.bounds, self.vector, block, image, partial, partial_gram
        run_on_chunks(_overlap_chunks, block, *args, progress=progress)
        dots = np.zeros((len(self), m))
        _sum_partial(self.bounds, chunk_rows(block.shape[1]), partial, dots)
        gram = partial_gram.sum(axis=0) - dots.T @ dots
        return Overlaps(dots, (gram + gram.T) / 2)

    def remove(self, block):
        """The part of a block in double precision that is orthogonal to the null space."""
        scaled = self.vector[:, None] * block
        dots = np.add.reduceat(scaled, self.bounds[:-1], axis=0)
        return block - self.vector[:, None] * np.repeat(dots, np.diff(self.bounds), axis=0)

    def rotate(self, block, image, dots, rotation, out, progress=None):
        """Set `out`, which may be the block, to ``([block, image] - null space @ dots) @ rotation``
        and return it; the image may be None.
        """
        image = _or_empty(image, block)
        args = self.bounds, self.vector, dots, np.ascontiguousarray(rotation), block, image, out
        run_on_chunks(_rotate_chunks, block, *args, progress=progress)
        return out


def _or_empty(image, block):
    """The image, or a block without columns if that is None."""
    return np.empty((len(block), 0), block.dtype) if image is None else image


@jit
def _overlap_chunks(start, stop, bounds, vector, block, image, partial, partial_gram):
    component = np.searchsorted(bounds, chunk_bounds(start, block)[0], side="right") - 1
    m = partial.shape[1]
    rows, product = np.empty((PANEL_ROWS, m)), np.empty((m, m))
    for chunk in range(start, stop):
        first, last = chunk_bounds(chunk, block)
        for panel in range(first, last, PANEL_ROWS):
            count = take_panel(block, panel, last, rows, 0)
            take_panel(image, panel, last, rows, block.shape[1])
            for i in range(count):
                while panel + i >= bounds[component + 1]:
                    component += 1
                for c in range(m):
                    partial[chunk + component, c] += vector[panel + i] * rows[i, c]
            np.dot(rows.T, rows, product)
            partial_gram[chunk] += product


@jit
def _sum_partial(bounds, rows, partial, dots):
    for component in range(len(bounds) - 1):
        for chunk in range(bounds[component] // rows, (bounds[component + 1] - 1) // rows + 1):
            dots[component] += partial[chunk + component]


@jit
def _rotate_chunks(start, stop, bounds, vector, dots, rotation, block, image, out):
    component = np.searchsorted(bounds, chunk_bounds(start, block)[0], side="right") - 1
    n_given, m = rotation.shape
    rows, rotated = np.empty((PANEL_ROWS, n_given)), np.empty((PANEL_ROWS, m))
    for chunk in range(start, stop):
        first, last = chunk_bounds(chunk, block)
        for panel in range(first, last, PANEL_ROWS):
            count = take_panel(block, panel, last, rows, 0)
            take_panel(image, panel, last, rows, block.shape[1])
            for i in range(count):
                while panel + i >= bounds[component + 1]:
                    component += 1
                for a in range(n_given):
                    rows[i, a] -= vector[panel + i] * dots[component, a]
            np.dot(rows, rotation, rotated)
            for i in range(count):
                for b in range(m):
                    out[panel + i, b] = rotated[i, b]
