"""The eigenvectors that are known exactly: one for each connected component."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.spectral.solver.blocks import (
    PANEL_ROWS,
    add_gram,
    chunk_bounds,
    chunk_rows,
    n_chunks,
    run_on_chunks,
    take_panel,
)


class Overlaps(NamedTuple):
    """What it takes to make a block of vectors orthonormal and orthogonal to the null space.

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

    def overlaps(self, block, progress=None):
        """The `Overlaps` of a block with the null space."""
        partial_gram = np.zeros((n_chunks(block), block.shape[1], block.shape[1]))
        dots = self._sum_chunks(_overlap_chunks, block, (partial_gram,), progress)
        gram = partial_gram.sum(axis=0) - dots.T @ dots
        return Overlaps(dots, (gram + gram.T) / 2)

    def _sum_chunks(self, kernel, block, more=(), progress=None):
        """Inner products of the eigenvectors with the columns of the block, (c, m), by a kernel
        that sums them over chunks of rows.

        Chunk i and component j, if they share rows, have row ``i + j`` of the partial sums to
        themselves, as both numbers ascend from row to row.
        """
        m = block.shape[1]
        partial = np.zeros((n_chunks(block) + len(self), m))
        dots = np.zeros((len(self), m))
        args = self.bounds, self.vector, block, partial, *more
        run_on_chunks(kernel, block, *args, progress=progress)
        _sum_partial(self.bounds, chunk_rows(m), partial, dots)
        return dots

    def remove(self, block):
        """The part of a block in double precision that is orthogonal to the null space."""
        rest, dots = block.copy(), self._sum_chunks(_dots_chunks, block)
        parallel.run(_subtract_rows, len(rest), self.bounds, self.vector, dots, rest)
        return rest

    def rotate(self, block, dots, rotation, out, progress=None):
        """Set `out`, which may be the block, to ``(block - null space @ dots) @ rotation`` and
        return it.
        """
        args = self.bounds, self.vector, dots, np.ascontiguousarray(rotation), block, out
        run_on_chunks(_rotate_chunks, block, *args, progress=progress)
        return out


@jit(reassociate=True)
def _dots_chunks(start, stop, bounds, vector, block, partial):
    component = np.searchsorted(bounds, chunk_bounds(start, block)[0], side="right") - 1
    for chunk in range(start, stop):
        first, last = chunk_bounds(chunk, block)
        for i in range(first, last):
            while i >= bounds[component + 1]:
                component += 1
            total = partial[chunk + component]
            for c in range(block.shape[1]):
                total[c] += vector[i] * block[i, c]


@jit
def _overlap_chunks(start, stop, bounds, vector, block, partial, partial_gram):
    for chunk in range(start, stop):
        _dots_chunks(chunk, chunk + 1, bounds, vector, block, partial)
        first, last = chunk_bounds(chunk, block)
        add_gram(first, last, block, block, block, partial_gram[chunk])


@jit
def _sum_partial(bounds, rows, partial, dots):
    for component in range(len(bounds) - 1):
        for chunk in range(bounds[component] // rows, (bounds[component + 1] - 1) // rows + 1):
            dots[component] += partial[chunk + component]


@jit
def _subtract_rows(start, stop, bounds, vector, dots, block):
    component = np.searchsorted(bounds, start, side="right") - 1
    for i in range(start, stop):
        while i >= bounds[component + 1]:
            component += 1
        for a in range(block.shape[1]):
            block[i, a] -= vector[i] * dots[component, a]


@jit
def _rotate_chunks(start, stop, bounds, vector, dots, rotation, block, out):
    component = np.searchsorted(bounds, chunk_bounds(start, block)[0], side="right") - 1
    n_given, m = rotation.shape
    rows, rotated = np.empty((PANEL_ROWS, n_given)), np.empty((PANEL_ROWS, m))
    for chunk in range(start, stop):
        first, last = chunk_bounds(chunk, block)
        for panel in range(first, last, PANEL_ROWS):
            count = take_panel(block, panel, last, rows, 0)
            for i in range(count):
                while panel + i >= bounds[component + 1]:
                    component += 1
                for a in range(n_given):
                    rows[i, a] -= vector[panel + i] * dots[component, a]
            np.dot(rows, rotation, rotated)
            for i in range(count):
                for b in range(m):
                    out[panel + i, b] = rotated[i, b]
