"""Dense linear algebra of tall blocks of vectors: Gram matrices, rotations, random numbers, and the
removal of the null space.

Blocks are in single or double precision; sums are in double precision. Rows are processed in
chunks, whose sums are added in order, so that results do not depend on the number of threads.
Within a chunk, panels of rows are converted to double precision and multiplied by BLAS, which is
called from our own threads and must not start others: these would wait for each other.
"""

import contextlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.random import stream, uniform
from kdegraph.runtime.threads import blas_threads

CHUNK_ROWS = 1024  # of a narrow block
# Rows of a panel, which stays in the cache next to the processor. Wider blocks have longer chunks,
# because the sums of a chunk take as much memory as its rows.
PANEL_ROWS = 128
# Columns of a block up to which BLAS stays in the calling thread of its own accord: a product of a
# panel then has at most 2^18 multiplications, `PANEL_ROWS` times the square of the columns of two
# blocks.
MAX_NARROW = 22


@jit
def chunk_rows(width):
    """Return the number of rows in a chunk of a block with `width` columns."""
    return CHUNK_ROWS * (1 + width // PANEL_ROWS)


def n_chunks(block):
    """Return the number of chunks of a block."""
    return -(-len(block) // chunk_rows(block.shape[1]))


@jit
def chunk_bounds(chunk, block):
    """Return the first row of a chunk of the block, and the row after its last one."""
    rows = chunk_rows(block.shape[1])
    return chunk * rows, min((chunk + 1) * rows, len(block))


def run_on_chunks(kernel, block, *args, progress=None):
    """Call a kernel that multiplies panels on all chunks of the block."""
    wide = block.shape[1] > MAX_NARROW
    with blas_threads(0) if wide else contextlib.nullcontext():
        parallel.run(kernel, n_chunks(block), *args, progress=progress)


@jit
def take_panel(block, first, stop, panel, column):
    """Copy as many of the rows ``first:stop`` of the block as fit into the panel, from `column` on,
    and set its other rows to zero there. Return the number of rows copied.
    """
    count = min(len(panel), stop - first)
    for i in range(count):
        for c in range(block.shape[1]):
            panel[i, column + c] = block[first + i, c]
    panel[count:, column : column + block.shape[1]] = 0
    return count


def gram_matrices(block, image, progress=None):
    """Return ``block.T @ image`` and ``block.T @ block``, both symmetrized."""
    m = block.shape[1]
    partial = np.zeros((n_chunks(block), m, 2 * m))
    run_on_chunks(_gram_chunks, block, block, image, partial, progress=progress)
    total = partial.sum(axis=0)
    return [(part + part.T) / 2 for part in (total[:, :m], total[:, m:])]


@jit
def _gram_chunks(start, stop, block, image, partial):
    m = block.shape[1]
    rows, others = np.empty((PANEL_ROWS, m)), np.empty((PANEL_ROWS, 2 * m))
    product = np.empty((m, 2 * m))
    for chunk in range(start, stop):
        first, last = chunk_bounds(chunk, block)
        for panel in range(first, last, PANEL_ROWS):
            take_panel(block, panel, last, rows, 0)
            take_panel(image, panel, last, others, 0)
            take_panel(block, panel, last, others, m)
            np.dot(rows.T, others, product)
            partial[chunk] += product


def rotate_to_ritz(block, image, rotation, values, progress=None):
    """Rotate the block and its image in place, and return the norms of the columns of ``image -
    block * values``.
    """
    squares = np.zeros((n_chunks(block), len(values)))
    args = block, image, rotation, values, squares
    run_on_chunks(_rotate_chunks_to_ritz, block, *args, progress=progress)
    return np.sqrt(squares.sum(axis=0))


@jit(reassociate=True)
def _rotate_chunks_to_ritz(start, stop, block, image, rotation, values, squares):
    m = len(values)
    rows = np.empty((PANEL_ROWS, m))
    vectors = np.empty((PANEL_ROWS, m))
    images = np.empty((PANEL_ROWS, m))
    for chunk in range(start, stop):
        total = squares[chunk]
        first, last = chunk_bounds(chunk, block)
        for panel in range(first, last, PANEL_ROWS):
            count = take_panel(block, panel, last, rows, 0)
            np.dot(rows, rotation, vectors)
            take_panel(image, panel, last, rows, 0)
            np.dot(rows, rotation, images)
            for i in range(count):
                for b in range(m):
                    block[panel + i, b] = vectors[i, b]
                    image[panel + i, b] = images[i, b]
                    total[b] += (images[i, b] - vectors[i, b] * values[b]) ** 2


def fill_random(block, first_column, seed):
    """Set the columns from `first_column` on to random numbers from -1/2 to 1/2, of variance 1/12.

    The number in row i and column c depends on the seed, i and c alone.
    """
    numbers = np.uint64(stream(seed, 0, 0))
    parallel.run(_fill_random_rows, len(block), block, first_column, numbers)


@jit
def _fill_random_rows(start, stop, block, first_column, numbers):
    m = block.shape[1]
    for i in range(start, stop):
        for c in range(first_column, m):
            block[i, c] = uniform(numbers, i * m + c) - 0.5


def shift_image(image, block, alpha, shift, progress=None):
    """Set the image to ``alpha (image - shift block)`` and return it."""
    number = block.dtype.type
    args = image, block, number(alpha), number(shift)
    parallel.run(_shift_rows, len(block), *args, progress=progress)
    return image


@jit
def _shift_rows(start, stop, image, block, alpha, shift):
    for i in range(start, stop):
        for c in range(block.shape[1]):
            image[i, c] = alpha * (image[i, c] - shift * block[i, c])


class Overlaps(NamedTuple):
    """The inner products that make a block of vectors, or a block and its image side by side,
    orthonormal and orthogonal to the null space.

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

    They are known exactly. There is one for each connected component, sqrt(degree) on the component
    and zero elsewhere.

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
        """Return the `Overlaps` of a block, or of a block and its image to the right of it.

        Row ``i + j`` of the partial sums belongs to chunk i and component j alone, if these share
        rows, because both numbers ascend from row to row.
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
        """Return the part of a block in double precision that is orthogonal to the null space."""
        scaled = self.vector[:, None] * block
        dots = np.add.reduceat(scaled, self.bounds[:-1], axis=0)
        return block - self.vector[:, None] * np.repeat(dots, np.diff(self.bounds), axis=0)

    def rotate(self, block, image, dots, rotation, out, progress=None):
        """Set `out`, which may be the block, to ``([block, image] - null space @ dots) @ rotation``
        and return it. The image may be None.
        """
        image = _or_empty(image, block)
        args = self.bounds, self.vector, dots, np.ascontiguousarray(rotation), block, image, out
        run_on_chunks(_rotate_chunks, block, *args, progress=progress)
        return out


def _or_empty(image, block):
    """Return the image, or a block without columns if that is None."""
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
