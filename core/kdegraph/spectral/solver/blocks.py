"""Dense algebra of tall blocks of vectors: Gram matrices, rotations, random numbers.

Blocks are in single or double precision; sums are in double precision. Rows are handled in chunks,
whose sums are added up in their order whatever the number of threads, and within a chunk in panels,
which are converted and multiplied by BLAS: called from our own threads, and for so few rows that it
does not wake its own.
"""

import numpy as np

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.runtime.random import stream, uniform

CHUNK = 1024  # rows, and more where the sums of one take as much memory as its rows
PANEL = (
    128  # rows that are multiplied together, so that they stay in the cache next to the processor
)
SINGLE = 2**18  # multiplications that BLAS does in the thread that asks for them


@jit
def chunk_rows(width):
    """Rows of a chunk of a block of so many columns."""
    return CHUNK * (1 + width // PANEL)


def n_chunks(block):
    """Chunks of a block."""
    return -(-len(block) // chunk_rows(block.shape[1]))


@jit
def chunk_bounds(chunk, block):
    """First row of a chunk of the block, and the row behind its last one."""
    rows = chunk_rows(block.shape[1])
    return chunk * rows, min((chunk + 1) * rows, len(block))


@jit
def panel_rows(width):
    """Rows of a panel of so many columns."""
    return min(PANEL, max(16, SINGLE // width**2))


@jit
def take_panel(block, first, stop, panel, column):
    """Copy rows from `first` on into the columns of the panel from `column` on; zeros where the
    rows end. Return how many there are.
    """
    count = min(len(panel), stop - first)
    for i in range(count):
        for c in range(block.shape[1]):
            panel[i, column + c] = block[first + i, c]
    panel[count:, column : column + block.shape[1]] = 0
    return count


@jit
def add_gram(first, stop, block, left, right, total):
    """Add ``block.T @ [left, right]`` of some rows, or ``block.T @ left`` where there is no room
    for both.
    """
    m, both = block.shape[1], total.shape[1] > block.shape[1]
    size = panel_rows(m)
    rows, others, product = (
        np.empty((size, m)),
        np.empty((size, total.shape[1])),
        np.empty_like(total),
    )
    for panel in range(first, stop, size):
        take_panel(block, panel, stop, rows, 0)
        take_panel(left, panel, stop, others, 0)
        if both:
            take_panel(right, panel, stop, others, m)
        np.dot(rows.T, others, product)
        for a in range(m):
            for b in range(total.shape[1]):
                total[a, b] += product[a, b]


def gram_matrices(block, image, progress=None):
    """``block.T @ image`` and ``block.T @ block``, both symmetrized."""
    m = block.shape[1]
    partial = np.zeros((n_chunks(block), m, 2 * m))
    parallel.run(_gram_chunks, len(partial), block, image, partial, progress=progress)
    total = partial.sum(axis=0)
    return [(part + part.T) / 2 for part in (total[:, :m], total[:, m:])]


@jit
def _gram_chunks(start, stop, block, image, partial):
    for chunk in range(start, stop):
        first, last = chunk_bounds(chunk, block)
        add_gram(first, last, block, image, block, partial[chunk])


def column_dots(left, right, progress=None):
    """Inner products of each column with the one in its place: of left with left, left with right,
    and right with right, (3, m).
    """
    partial = np.zeros((n_chunks(left), 3, left.shape[1]))
    parallel.run(_column_dots, len(partial), left, right, partial, progress=progress)
    return partial.sum(axis=0)


@jit(reassociate=True)
def _column_dots(start, stop, left, right, partial):
    for chunk in range(start, stop):
        total = partial[chunk]
        first, last = chunk_bounds(chunk, left)
        for i in range(first, last):
            for c in range(left.shape[1]):
                a, b = np.float64(left[i, c]), np.float64(right[i, c])
                total[0, c] += a * a
                total[1, c] += a * b
                total[2, c] += b * b


def rotate_to_ritz(block, image, rotation, values, progress=None):
    """Rotate the block and its image in place, and return the norms of ``image - block * values``,
    column by column.
    """
    squares = np.zeros((n_chunks(block), len(values)))
    parallel.run(
        _rotate_to_ritz, len(squares), block, image, rotation, values, squares, progress=progress
    )
    return np.sqrt(squares.sum(axis=0))


@jit(reassociate=True)
def _rotate_to_ritz(start, stop, block, image, rotation, values, squares):
    m = len(values)
    size = panel_rows(m)
    rows, vectors, images = np.empty((size, m)), np.empty((size, m)), np.empty((size, m))
    for chunk in range(start, stop):
        total = squares[chunk]
        first, last = chunk_bounds(chunk, block)
        for panel in range(first, last, size):
            count = take_panel(block, panel, last, rows, 0)
            np.dot(rows, rotation, vectors)
            take_panel(image, panel, last, rows, 0)
            np.dot(rows, rotation, images)
            for i in range(count):
                for b in range(m):
                    block[panel + i, b] = vectors[i, b]
                    image[panel + i, b] = images[i, b]
                    total[b] += (images[i, b] - vectors[i, b] * values[b]) ** 2


def fill_block(block, vectors, columns, seed):
    """Set the first columns of the block to some of the vectors, the others to random numbers from
    -1/2 to 1/2, of variance 1/12.

    Number c of row i depends on the seed and on ``(i, c)`` alone.
    """
    parallel.run(
        _fill_rows,
        len(block),
        block,
        vectors,
        np.asarray(columns, np.int64),
        np.uint64(stream(seed, 0, 0)),
    )


@jit
def _fill_rows(start, stop, block, vectors, columns, numbers):
    m, n_given = block.shape[1], len(columns)
    for i in range(start, stop):
        for c in range(n_given):
            block[i, c] = vectors[i, columns[c]]
        for c in range(n_given, m):
            block[i, c] = uniform(numbers, i * m + c) - 0.5


def shift_image(image, block, alpha, shift, progress=None):
    """``alpha (image - shift block)`` in the memory of `image`."""
    number = block.dtype.type
    parallel.run(
        _shift_rows, len(block), image, block, number(alpha), number(shift), progress=progress
    )
    return image


@jit
def _shift_rows(start, stop, image, block, alpha, shift):
    for i in range(start, stop):
        for c in range(block.shape[1]):
            image[i, c] = alpha * (image[i, c] - shift * block[i, c])
