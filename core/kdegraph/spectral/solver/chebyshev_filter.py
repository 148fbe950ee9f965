"""The polynomial filter of the block eigensolver: which part of the spectrum it damps, its degree,
and its application.
"""

import math

import numpy as np

from kdegraph.spectral.products import zeros_in_lines
from kdegraph.spectral.solver.blocks import shift_image

MAX_DEGREE = 200
CONTRAST = {
    np.float32: math.log(3e4),
    np.float64: math.log(1e8),
}  # between vectors of a block that a filter may make
BULK, N_CUTS = (
    0.5,
    16,
    # Most eigenvalues of a sampled graph are smaller; cuts that are considered from there to the end of
    # the block.
)


class Chebyshev:
    """The Chebyshev polynomial of M that is at most 1 on [low, cut] and grows as fast as
    polynomials of its degree can above.

    Parameters
    ----------
    cut : float
        Upper end of the interval to damp.
    degree : int
    dtype : type
        Precision in which to apply it.
    low : float
        Lower end of that interval. What belongs to eigenvalues below grows, too: only -1 leaves
        none.
    """

    def __init__(self, cut, degree, dtype, low=-1.0):
        self.center, self.half = (cut + low) / 2, (cut - low) / 2
        self.degree, self.dtype, self.low = degree, dtype, low

    @classmethod
    def revealing(cls, values, n_given, stray, proof, n, radius):
        """The polynomial of least degree that makes a missing eigenvector stand out in the probes:
        see `iteration._standing_out`.

        The probes take the places behind the first `n_given` of the given eigenvalues. The j-th is
        left with the eigenvector that belongs there, as far as the j probes before have not taken
        it up, and with all that was damped, to a mean square of 1/2. Few eigenvalues are below
        minus `radius`; if there are more than that, they show in what is measured then.
        """
        low = -min(radius, 1.0)
        cuts = np.linspace(min(BULK, radius, values[-1]), values[-1], N_CUTS)[:, None]
        degrees = np.arange(1, MAX_DEGREE)

        def growth(value):
            ratio = (2 * value - low - cuts) / (cuts - low)
            return degrees * np.arccosh(np.maximum(1.0, ratio))

        behind = values[n_given:]
        squares = np.arange(len(behind), 0, -1) / n  # of the coefficients
        with np.errstate(over="ignore"):
            rest = np.mean(
                [
                    np.log(0.5 + square * np.exp(2 * growth(value)))
                    for square, value in zip(squares, behind, strict=True)
                ],
                axis=0,
            )
        found = (growth(stray) + (math.log(squares[0]) - rest) / 2 >= proof) & (
            growth(1.0) <= 2 * CONTRAST[np.float32]
        )
        first = np.where(found.any(axis=1), found.argmax(axis=1), len(degrees))
        best = len(cuts) - 1 - int(np.argmin(first[::-1]))
        revealing = cls(float(cuts[best, 0]), 1, np.float32, low)
        needed = (proof - math.log(squares[0]) / 2) / max(
            revealing.growth(stray), 1e-9
        )  # without what lies in between
        revealing.degree = int(
            first[best] + 1 if first[best] < len(degrees) else min(math.ceil(needed), MAX_DEGREE)
        )
        return revealing

    @classmethod
    def choose(cls, values, residual, k, dtype):
        """The next polynomial, from the Ritz values in descending order and the residual of the
        last one.

        The last value of the block is the best cut when the spectrum is dense. When the block ends
        inside a cluster of equal eigenvalues, that cut would leave the pollution by vectors further
        below as it is. So the cut keeps a distance from the wanted values: at least a small part of
        what the block covers, and the mean distance of the pollution, for which a vector v + e w
        with residual r and Rayleigh quotient 1 - t gives the estimate r^2 / t.
        """
        last, wanted = 1.0 - values[-1], values[k - 1]
        distance = max(
            wanted - values[-1], 0.02 * last, 0.5 * residual**2 / max(last, 1e-300), 1e-15
        )
        return cls(max(wanted - distance, -0.9), 1, dtype)

    def set_degree(self, values, needs):
        """Choose the degree for a list of needs (eigenvalue, logarithm of the factor by which its
        part is to grow).

        It is limited to what keeps the vectors of the block, with these Ritz values, independent in
        the working precision, and the rounding errors along the eigenvectors of eigenvalue 1, which
        grow most and are in no block, no larger than these vectors. That limit is returned.
        """
        self.degree = 1
        spread = self.growth(values[0]) - self.growth(values[-1])
        limit = CONTRAST[self.dtype] * min(1 / max(spread, 1e-9), 2 / max(self.growth(1.0), 1e-9))
        most = int(max(4, min(MAX_DEGREE, limit)))
        wanted = max(need / max(self.growth(value), 1e-9) for value, need in needs)
        self.degree = int(max(4, min(most, math.ceil(wanted))))
        return most

    def growth(self, value):
        """Logarithm of the factor by which the part with this eigenvalue grows."""
        return self.degree * math.acosh(max(1.0, (value - self.center) / self.half))

    def reuses(self, block, image):
        """Whether `filter` makes use of this image of the block."""
        return image is not None and image.dtype == self.dtype and image.shape == block.shape

    def filter(self, operator, block, image=None, enough=None, progress=None):
        """The filtered block, and an array of its kind that is free, in the memory of `block` and
        `image` where they are of that kind.

        Parameters
        ----------
        image : array, optional
            M times the block: the first product.
        enough : callable, optional
            ``enough(filtered)`` returns by how much the degree is to rise; it is asked until it
            returns 0.
        """
        if self.reuses(block, image):
            current = shift_image(image, block, 1 / self.half, self.center, progress)
        else:
            block = block.astype(self.dtype, copy=False)
            current = operator.step(
                block,
                zeros_in_lines(*block.shape, block.dtype),
                1 / self.half,
                self.center,
                progress=progress,
            )
        more = self.degree - 1
        while more > 0:
            for _ in range(more):
                block, current = (
                    current,
                    operator.step(
                        current, block, 2 / self.half, self.center, 1.0, progress=progress
                    ),
                )
            more = enough(current) if enough else 0
            self.degree += more
        return current, block
