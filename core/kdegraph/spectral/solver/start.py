"""Where the block eigensolver starts: approximate eigenvectors, and random vectors to find what
these lack, in one block.
"""

import math
from dataclasses import dataclass

import numpy as np

from kdegraph.spectral.products import zeros_in_lines
from kdegraph.spectral.solver.blocks import column_dots, fill_block

PROBES = 8  # random vectors beside given ones, where there is room for so many
CHANGE = 0.25  # relative change of the eigenvalues beyond which those of the start are of no use
LOST = 0.09  # squared length, relative, of what is left of a vector that belongs to the null space


def block_width(k):
    """Vectors in the block for `k` wanted ones: guards speed convergence up, multiples of 8 fill
    vector registers.

    At least 16: that many numbers in single precision are a cache line, and a narrower product
    takes hardly less time.
    """
    return max(16, 8 * math.ceil((k + max(6, k // 2)) / 8))


def n_places(k):
    """How many of the vectors that are given for `k` wanted ones find a place in the block."""
    return max(k, block_width(k) - PROBES)


@dataclass
class Start:
    """The first block.

    Attributes
    ----------
    block : (n, width) float32 array
        The given vectors first.
    n_random : int
        How many of the last ones are random.
    values : (width,) array or None
        Estimates of the largest eigenvalues, in descending order, if they are known for so many as
        the block has columns.
    residual : float
        The largest of the wanted vectors, if it is not known to be small.
    image : (n, width) float32 array or None
        M times the block, if that is known.
    """

    block: np.ndarray
    n_random: int
    values: np.ndarray | None = None
    residual: float = 0.0
    image: np.ndarray | None = None

    @classmethod
    def random(cls, n, k, seed):
        """Nothing but random vectors."""
        block = zeros_in_lines(n, block_width(k), np.float32)
        fill_block(block, block, (), seed)
        return cls(block, block.shape[1])

    @classmethod
    def given(cls, null, k, vectors, values, seed):
        """From approximate eigenvectors (n, s) float32 outside the null space, and the values of
        these and further ones, or None.
        """
        n, width = len(vectors), block_width(k)
        squares, dots = column_dots(vectors, vectors)[0], null.dots(vectors)
        n_zero = 0 if values is None else int(np.sum(values[: vectors.shape[1]] == 1.0))
        if (
            n_zero > 1
            # Of components that have joined: what is null again, and what is not, in columns of their
            # own.
        ):
            _, turn = np.linalg.eigh(dots[:, :n_zero].T @ dots[:, :n_zero])
            vectors[:, :n_zero], dots[:, :n_zero] = (
                vectors[:, :n_zero] @ turn.astype(np.float32),
                dots[:, :n_zero] @ turn,
            )
        lost = squares - (dots**2).sum(axis=0) < LOST * squares
        columns = np.flatnonzero(~lost)[: n_places(k)]
        if values is not None:
            values = np.delete(values, np.flatnonzero(lost))[:width]
            if len(values) < width or len(columns) < k:  # where the block ends is not known
                values = None
        block = zeros_in_lines(n, width, np.float32)
        fill_block(block, vectors, columns, seed)
        return cls(block, width - len(columns), values)

    def checked(self, operator, k, progress=None):
        """The start with its residual and values in proportion; without values that are not those
        of this matrix, for they would mislead.

        A graph whose edges were drawn anew has the eigenvectors v of its predecessor but for noise,
        which is nearly orthogonal to all eigenvectors of eigenvalues far from 0: it makes the
        residual r and lowers the Rayleigh quotient by about r^2. What is missing beyond that in the
        `k` wanted vectors is the change of the eigenvalues.
        """
        if self.values is None:
            return self
        image = operator.step(
            self.block, zeros_in_lines(*self.block.shape, np.float32), progress=progress
        )
        squares, products, images = column_dots(self.block, image, progress)[:, :k]
        squares = np.maximum(squares, 1e-300)
        quotients = products / squares
        residuals = images / squares - quotients**2
        old, new = (1 - self.values[:k]).sum(), (1 - quotients - residuals).sum()
        if abs(new - old) > CHANGE * old:
            return Start(self.block, self.n_random)
        values = 1 - (1 - self.values) * (new / old if old > 0 else 1.0)
        return Start(self.block, self.n_random, values, math.sqrt(max(residuals.max(), 0.0)), image)
