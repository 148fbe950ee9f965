"""Dense linear algebra of tall blocks of vectors: Gram matrices, rotations, random numbers.

Blocks are in single or double precision; sums are in double precision. Rows are handled in chunks,
whose sums are added up in order, so that results do not depend on the number of threads. Within a
chunk, panels of rows are converted to double precision and multiplied by BLAS. It is called from
our own threads, and has to stay in them: its own threads would wait for each other.
"""

import contextlib

import numpy as np

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.random import stream, uniform
from kdegraph.runtime.threads import blas_threads

CHUNK_ROWS = 1024  # in a chunk of a narrow block
# Rows of a panel: it stays in the cache next to the processor. Blocks wider than that have longer
# chunks, as the sums of a chunk take as much memory as its rows.
PANEL_ROWS = 128
# Columns of a block up to which BLAS stays in the thread that calls it, as a product of a panel has
# at most 2^18 multiplications: `PANEL_ROWS` times the square of the columns of two blocks. For
# wider ones it is told to.
MAX_NARROW = 22


@jit
def chunk_rows(width):
    """Number of rows in a chunk of a block of so many columns."""
    return CHUNK_ROWS * (1 + width // PANEL_ROWS)


def n_chunks(block):
    """Number of chunks of a block."""
    return -(-len(block) // chunk_rows(block.shape[1]))


@jit
def chunk_bounds(chunk, block):
    """The first row of a chunk of the block, and the row after its last one."""
    rows = chunk_rows(block.shape[1])
    return chunk * rows, min((chunk + 1) * rows, len(block))


def run_on_chunks(kernel, block, *args, progress=None):
    """Call a kernel that multiplies panels on all chunks of the block."""
    wide = block.shape[1] > MAX_NARROW
    with blas_threads(0) if wide else contextlib.nullcontext():
        parallel.run(kernel, n_chunks(block), *args, progress=progress)


@jit
def take_panel(block, first, stop, panel, column):
    """Copy rows ``first:stop`` of the block, as many as fit, into the columns of the panel from
    `column` on, and fill up with rows of zeros. Return the number of rows copied.
    """
    count = min(len(panel), stop - first)
    for i in range(count):
        for c in range(block.shape[1]):
            panel[i, column + c] = block[first + i, c]
    panel[count:, column : column + block.shape[1]] = 0
    return count


def gram_matrices(block, image, progress=None):
    """``block.T @ image`` and ``block.T @ block``, both symmetrized."""
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
    """Rotate the block and its image in place, and return the norms of the columns of
    ``image - block * values``.
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
    """Set ``image = alpha (image - shift block)`` in place and return it."""
    number = block.dtype.type
    args = image, block, number(alpha), number(shift)
    parallel.run(_shift_rows, len(block), *args, progress=progress)
    return image


@jit
def _shift_rows(start, stop, image, block, alpha, shift):
    for i in range(start, stop):
        for c in range(block.shape[1]):
            image[i, c] = alpha * (image[i, c] - shift * block[i, c])
