"""The Rayleigh-Ritz method: the eigenpairs of M within the span of a block."""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from kdegraph.runtime.blas import blas_threads
from kdegraph.spectral.products import aligned_zeros
from kdegraph.spectral.solver.blocks import gram_matrices, rotate_to_ritz

# Squared length, relative to the longest, below which a direction counts as linearly dependent.
DEPENDENT = 1e-11


@dataclass(eq=False)
class RitzPairs:
    """Approximate eigenpairs from a block of vectors.

    Attributes
    ----------
    vectors : (n, m) array
        Orthonormal, and orthogonal to the null space, as far as the precision of the block allows.
    image : (n, m) array
        M times the vectors.
    values : (m,) array
        Ritz values in descending order.
    residuals : (m,) array
        ``||M v - value v||_2``.
    """

    vectors: np.ndarray
    image: np.ndarray
    values: np.ndarray
    residuals: np.ndarray


def rayleigh_ritz(operator, null, block, workspace, rng, overlaps=None, progress=None):
    """The eigenpairs of M within the span of a block.

    Parameters
    ----------
    operator : NormalizedAdjacency
    null : NullSpace
    block : (n, m) array
        Overwritten.
    workspace : (n, m) array
        Overwritten; of the dtype of the block.
    rng : numpy.random.Generator
        For new vectors in place of linearly dependent ones.
    overlaps : Overlaps, optional
        `NullSpace.overlaps` of the block, if they are known.
    progress : callable, optional

    Returns
    -------
    RitzPairs
        In the precision of the block; sums are in double precision.
    """
    width = block.shape[1]
    vectors = orthonormalize(null, block, overlaps, block, progress)
    if (n_dropped := width - vectors.shape[1]) > 0:
        random = null.remove(rng.random((operator.n, n_dropped)) - 0.5)
        vectors = np.hstack([vectors, random.astype(block.dtype)])
        vectors = orthonormalize(null, vectors, None, vectors, progress)
    if workspace.shape != vectors.shape:
        workspace = aligned_zeros(*vectors.shape, vectors.dtype)
    image = operator.step(vectors, workspace, progress=progress)
    values, rotation = _eigh(*gram_matrices(vectors, image, progress))
    values, rotation = values[::-1].copy(), np.ascontiguousarray(rotation[:, ::-1])
    residuals = rotate_to_ritz(vectors, image, rotation, values, progress)
    return RitzPairs(vectors, image, values, residuals)


def orthonormalize(null, block, overlaps, out, progress=None, nearest=False):
    """An orthonormal basis of the block's span without its part in the null space.

    It is orthonormal as far as the precision of the block allows; the Ritz problem takes account of
    the rest.

    Parameters
    ----------
    null : NullSpace
    block : (n, m) array
    overlaps : Overlaps or None
        `NullSpace.overlaps` of the block, if they are known.
    out : (n, m) array
        Where the basis is written to, unless linearly dependent directions are dropped.
    progress : callable, optional
    nearest : bool, default=False
        Of all bases choose the one that is nearest to the block, whose columns must be independent.

    Returns
    -------
    (n, m') array
    """
    dots, gram = overlaps or null.overlaps(block, progress)
    scale = 1 / np.sqrt(np.maximum(np.diag(gram), 1e-300))
    lengths, rotation = _eigh(gram * scale[:, None] * scale)
    keep = lengths > DEPENDENT * lengths[-1]
    if not keep.all():
        out = np.empty((len(block), keep.sum()), block.dtype)
    basis = rotation[:, keep] / np.sqrt(lengths[keep])
    basis = basis @ (rotation.T if nearest else np.eye(keep.sum()))
    return null.rotate(block, dots, scale[:, None] * basis, out, progress)


def _eigh(*matrices):
    """Eigenvalues, ascending, and eigenvectors of a problem of the size of the block."""
    with blas_threads(len(matrices[0])):
        return scipy.linalg.eigh(*matrices, check_finite=False)
