"""The eigenvectors that are known exactly: one for each connected component."""

from dataclasses import dataclass

import numpy as np

from . import parallel
from ._jit import jit
from ._products import add_rows

CHUNK = 2048  # rows that are summed together, whatever the number of threads


@dataclass
class NullSpace:
    """The eigenvectors of eigenvalue 1 of M: sqrt(degree) on one connected component each, zero elsewhere.

    Parameters
    ----------
    bounds : (c + 1,) int64 array
        Component ``i`` has the rows ``bounds[i]:bounds[i + 1]``.
    vector : (n,) float64 array
        All eigenvectors at once: their supports are disjoint. Each part has norm 1.
    """

    bounds: np.ndarray
    vector: np.ndarray

    def __len__(self):
        return len(self.bounds) - 1

    def dots(self, block, progress=None):
        """Inner products of the eigenvectors with the columns of the block, (c, m) float64."""
        n, m = block.shape
        # A chunk and a component that share rows have the sum of their numbers to themselves: both ascend from row to row.
        partial = np.zeros((-(-n // CHUNK) + len(self), m))
        parallel.run(_partial_dots, n, self.bounds, self.vector, block, partial, chunk=CHUNK, progress=progress)
        dots = np.zeros((len(self), m))
        _sum_partial(self.bounds, partial, dots)
        return dots

    def remove(self, block):
        """Return the part of the block that is orthogonal to the null space, in its precision."""
        rest = block.copy()
        parallel.run(_subtract, len(rest), self.bounds, self.vector, self.dots(block), rest, chunk=CHUNK)
        return rest

    def rotate(self, block, dots, rotation, progress=None):
        """``(block - null space @ dots) @ rotation``, in the memory of `block` if that has the right size."""
        out = block if rotation.shape[1] == block.shape[1] else np.empty((len(block), rotation.shape[1]), block.dtype)
        rotation = np.ascontiguousarray(rotation)
        parallel.run(_rotate, len(block), self.bounds, self.vector, dots, rotation, block, out, chunk=CHUNK, progress=progress)
        return out


@jit(reassociate=True)
def _partial_dots(start, stop, bounds, vector, block, partial):
    component = np.searchsorted(bounds, start, side="right") - 1
    for i in range(start, stop):
        while i >= bounds[component + 1]:
            component += 1
        total = partial[start // CHUNK + component]
        for c in range(block.shape[1]):
            total[c] += vector[i] * block[i, c]


@jit
def _sum_partial(bounds, partial, dots):
    for component in range(len(bounds) - 1):
        for chunk in range(bounds[component] // CHUNK, (bounds[component + 1] - 1) // CHUNK + 1):
            dots[component] += partial[chunk + component]


@jit
def _subtract(start, stop, bounds, vector, dots, block):
    component = np.searchsorted(bounds, start, side="right") - 1
    for i in range(start, stop):
        while i >= bounds[component + 1]:
            component += 1
        for a in range(block.shape[1]):
            block[i, a] -= vector[i] * dots[component, a]


@jit(reassociate=True)
def _rotate(start, stop, bounds, vector, dots, rotation, block, out):
    component = np.searchsorted(bounds, start, side="right") - 1
    n_given, m = rotation.shape
    every, row, rotated = np.arange(n_given), np.empty(n_given), np.empty(m)
    for i in range(start, stop):
        while i >= bounds[component + 1]:
            component += 1
        for a in range(n_given):
            row[a] = block[i, a] - vector[i] * dots[component, a]
        add_rows(every, row, rotation, 0, n_given, rotated)
        for b in range(m):
            out[i, b] = rotated[b]
