"""Dense linear algebra of tall blocks of vectors: Gram matrices, rotations, and the removal of the
null space.

Blocks are in single or double precision; products and sums are in double precision. Rows are
processed in chunks, whose sums are added in order, so that results do not depend on the number of
threads.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse

from kdegraph.runtime import parallel
from kdegraph.runtime.threads import blas_threads

CHUNK_ROWS = 4096  # in double precision, their part of a block of usual width stays in the caches


def n_chunks(block):
    """Return the number of chunks of a block."""
    return -(-len(block) // CHUNK_ROWS)


def run_on_chunks(function, block, progress=None):
    """Call ``function(chunk, rows)`` on all threads for the number of each chunk of the block and
    the slice of its rows.

    BLAS is called from our own threads and must not start others: these would wait for each other.
    """

    def kernel(start, stop):
        for chunk in range(start, stop):
            first = chunk * CHUNK_ROWS
            function(chunk, slice(first, min(first + CHUNK_ROWS, len(block))))

    with blas_threads(0):
        parallel.run(kernel, n_chunks(block), progress=progress)


def gram_matrices(block, image, progress=None):
    """Return ``block.T @ image`` and ``block.T @ block``, both symmetrized."""
    m = block.shape[1]
    partial = np.empty((2, n_chunks(block), m, m))

    def multiply(chunk, rows):
        own = block[rows].astype(np.float64)
        partial[0, chunk] = own.T @ image[rows].astype(np.float64)
        partial[1, chunk] = own.T @ own

    run_on_chunks(multiply, block, progress)
    return [(total + total.T) / 2 for total in partial.sum(axis=1)]


def rotate_to_ritz(block, image, rotation, values, progress=None):
    """Rotate the block and its image; return the column norms of ``image - block * values``."""
    squares = np.empty((n_chunks(block), len(values)))

    def rotate(chunk, rows):
        vectors = block[rows].astype(np.float64) @ rotation
        images = image[rows].astype(np.float64) @ rotation
        block[rows], image[rows] = vectors, images
        images -= vectors * values
        squares[chunk] = np.einsum("ib,ib->b", images, images)

    run_on_chunks(rotate, block, progress)
    return np.sqrt(squares.sum(axis=0))


class Overlaps(NamedTuple):
    """The inner products that make a block of vectors, or a block and its image side by side,
    orthonormal and orthogonal to the null space.
    """

    # (c, m): inner products of the eigenvectors of the null space with the vectors
    dots: np.ndarray
    gram: np.ndarray  # (m, m): Gram matrix of the vectors without their parts in the null space


@dataclass(eq=False)
class NullSpace:
    """The null space of the Laplacian: the eigenvectors of eigenvalue 1 of M.

    They are known exactly. There is one for each connected component, sqrt(degree) on the component
    and zero elsewhere.
    """

    bounds: np.ndarray  # (c + 1,) int64: component ``i`` has the rows ``bounds[i]:bounds[i + 1]``
    # (n,) float64: the sum of all eigenvectors, whose supports are disjoint. The part of each
    # component has norm 1.
    vector: np.ndarray

    def __len__(self):
        return len(self.bounds) - 1

    def _parts(self, rows):
        """Return the slice of the components that have some of the rows, and the bounds of these
        parts, counted from the first row.
        """
        first = np.searchsorted(self.bounds, rows.start, side="right") - 1
        last = np.searchsorted(self.bounds, rows.stop)
        bounds = np.clip(self.bounds[first : last + 1], rows.start, rows.stop)
        return slice(first, last), bounds - rows.start

    def overlaps(self, block, image=None, progress=None):
        """Return the `Overlaps` of a block, or of a block and its image to the right of it."""
        partial = [None] * n_chunks(block)

        def multiply(chunk, rows):
            vectors = _side_by_side(block, image, rows)
            gram = vectors.T @ vectors
            components, bounds = self._parts(rows)
            null = self.vector[rows], np.arange(len(vectors), dtype=np.int32), bounds
            partial[chunk] = gram, components, scipy.sparse.csr_array(null) @ vectors

        run_on_chunks(multiply, block, progress)
        gram = sum(of_chunk for of_chunk, _, _ in partial)
        dots = np.zeros((len(self), len(gram)))
        for _, components, of_chunk in partial:
            dots[components] += of_chunk
        gram -= dots.T @ dots
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

        def rotate(chunk, rows):
            rotated = _side_by_side(block, image, rows) @ rotation
            components, bounds = self._parts(rows)
            of_null = np.repeat(dots[components] @ rotation, np.diff(bounds), axis=0)
            of_null *= self.vector[rows, None]
            np.subtract(rotated, of_null, out=out[rows], casting="same_kind")

        run_on_chunks(rotate, block, progress)
        return out


def _side_by_side(block, image, rows):
    """Return rows of the block, or of the block and its image, as a new array."""
    parts = [block[rows]] if image is None else [block[rows], image[rows]]
    return np.hstack(parts, dtype=np.float64)
