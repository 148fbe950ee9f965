"""The Rayleigh-Ritz method: the eigenpairs of M within the span of a block."""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from kdegraph.runtime.threads import blas_threads
from kdegraph.spectral.blocks import gram_matrices, rotate_to_ritz
from kdegraph.spectral.products import aligned_zeros

# Squared length, relative to the longest, below which a direction counts as linearly dependent.
DEPENDENT = 1e-11
# Eigenvalue of M above which the image divided by the eigenvalue is the more accurate vector.
MIN_DIVISOR = 0.5


class RitzPairs(NamedTuple):
    """Approximate eigenpairs from a block of vectors."""

    # (n, m): orthonormal, and orthogonal to the null space, as far as the precision of the block
    # allows
    vectors: np.ndarray
    image: np.ndarray  # (n, m): M times the vectors
    values: np.ndarray  # (m,): Ritz values in descending order
    residuals: np.ndarray  # (m,): ``||M v - value v||_2``


class RitzRotation(NamedTuple):
    """Approximate eigenpairs within the span of a block, before their vectors are computed."""

    # (m,): as in `RitzPairs`
    values: np.ndarray
    residuals: np.ndarray
    # (width, m): from the block to the vectors, and from its image to their images. It has fewer
    # columns than rows if vectors of the block are linearly dependent.
    rotation: np.ndarray

    def first(self, m):
        """Return the first m pairs."""
        return RitzRotation(self.values[:m], self.residuals[:m], self.rotation[:, :m])


def rayleigh_ritz(operator, null, block, workspace, rng, overlaps=None, progress=None):
    """Return the `RitzPairs` within the span of a block, in its precision; sums are in double
    precision.

    The block and the workspace, of the same shape and dtype, are overwritten. New vectors, from
    `rng`, replace linearly dependent ones. `overlaps` are those of the block, if they are known.
    """
    width = block.shape[1]
    vectors = _orthonormalize(null, block, overlaps, progress)
    if (n_dropped := width - vectors.shape[1]) > 0:
        random = null.remove(rng.random((operator.n, n_dropped)) - 0.5)
        vectors = np.hstack([vectors, random.astype(block.dtype)])
        vectors = _orthonormalize(null, vectors, None, progress)
    if workspace.shape != vectors.shape:
        workspace = aligned_zeros(*vectors.shape, vectors.dtype)
    image = operator.step(vectors, workspace, progress=progress)
    values, rotation = _eigh(*gram_matrices(vectors, image, progress))
    values, rotation = values[::-1].copy(), np.ascontiguousarray(rotation[:, ::-1])
    residuals = rotate_to_ritz(vectors, image, rotation, values, progress)
    return RitzPairs(vectors, image, values, residuals)


def ritz_rotation(gram):
    """Return the `RitzRotation` for the Gram matrix of a block and its image side by side.

    It is less accurate than `rayleigh_ritz` where vectors of the block are small beside others.
    """
    width = len(gram) // 2
    scale = 1 / np.sqrt(np.maximum(np.diag(gram)[:width], 1e-300))
    lengths, basis = _eigh(gram[:width, :width] * scale[:, None] * scale)
    keep = lengths > DEPENDENT * lengths[-1]
    basis = scale[:, None] * basis[:, keep] / np.sqrt(lengths[keep])
    projected = basis.T @ gram[:width, width:] @ basis
    values, rotation = _eigh((projected + projected.T) / 2)
    values, rotation = values[::-1], basis @ rotation[:, ::-1]
    squares = np.einsum("ia,ij,ja->a", rotation, gram[width:, width:], rotation) - values**2
    return RitzRotation(np.minimum(values, 1.0), np.sqrt(np.maximum(squares, 0.0)), rotation)


def ritz_vectors(null, block, image, ritz, dtype, overlaps=None, progress=None):
    """Return the orthonormal vectors that are nearest to the Ritz vectors of a `RitzRotation`, an
    (n, m) array.

    Given the image of the block, which may be None, they are nearest to the images divided by the
    values, where the values are large: these are more accurate. `overlaps` are those of the block
    and its image, if they are known.
    """
    dots, gram = overlaps or null.overlaps(block, image, progress)
    rotation = ritz.rotation
    if image is not None:
        by_image = ritz.values > MIN_DIVISOR
        of_image = rotation * by_image / np.where(by_image, ritz.values, 1.0)
        rotation = np.vstack([rotation * ~by_image, of_image])
    lengths, basis = _eigh(rotation.T @ gram @ rotation)
    rotation = rotation @ (basis / np.sqrt(lengths)) @ basis.T
    out = aligned_zeros(len(block), len(ritz.values), dtype)
    return null.rotate(block, image, dots, rotation, out, progress)


def _orthonormalize(null, block, overlaps, progress):
    """Return a basis of the block's span without its part in the null space, in place unless
    linearly dependent directions are dropped.

    It is orthonormal as far as the precision of the block allows; the Ritz problem takes account of
    the rest.
    """
    out = block
    dots, gram = overlaps or null.overlaps(block, progress=progress)
    scale = 1 / np.sqrt(np.maximum(np.diag(gram), 1e-300))
    lengths, rotation = _eigh(gram * scale[:, None] * scale)
    keep = lengths > DEPENDENT * lengths[-1]
    if not keep.all():
        out = np.empty((len(block), keep.sum()), block.dtype)
    basis = scale[:, None] * rotation[:, keep] / np.sqrt(lengths[keep])
    return null.rotate(block, None, dots, basis, out, progress)


def _eigh(*matrices):
    """Return eigenvalues, ascending, and eigenvectors of a problem of the size of the block."""
    with blas_threads(len(matrices[0])):
        return scipy.linalg.eigh(*matrices, check_finite=False)
