"""The block of vectors that the eigensolver starts from."""

import math
from dataclasses import dataclass

import numpy as np

from kdegraph.spectral.products import aligned_zeros
from kdegraph.spectral.solver.blocks import fill_random

N_PROBES = 8  # random vectors beside approximate eigenvectors, if there is room for so many


def block_width(k):
    """Number of vectors in the block for `k` wanted ones.

    The others are guard vectors, which speed convergence up. Multiples of 8 fill vector registers.
    There are at least 16: so many numbers in single precision are a cache line, and the product
    with a narrower block takes hardly less time.
    """
    return max(16, 8 * math.ceil((k + max(6, k // 2)) / 8))


def narrow_width(k):
    """The same where the eigenvectors need not be accurate: there are at least five guard vectors,
    and products with a block of 8 vectors take two thirds of the time.
    """
    return 8 * math.ceil((k + 5) / 8)


@dataclass
class Start:
    """The block of vectors that the eigensolver starts from.

    Attributes
    ----------
    block : (n, width) float32 array
        Approximate eigenvectors, if there are any, and then random vectors.
    n_probes : int
        Number of random vectors, the probes.
    values : (width,) array or None
        Estimates of the largest eigenvalues, in descending order, if there are approximate
        eigenvectors.
    """

    block: np.ndarray
    n_probes: int
    values: np.ndarray | None = None

    @classmethod
    def random(cls, n, k, seed):
        """A block of random vectors."""
        block = aligned_zeros(n, block_width(k), np.float32)
        fill_random(block, 0, seed)
        return cls(block, block.shape[1])
