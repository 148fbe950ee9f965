"""Chebyshev filters: the part of the spectrum that they damp, their degrees, and how they are
applied.
"""

import math
from dataclasses import dataclass

import numpy as np

from kdegraph.spectral.products import aligned_zeros

MIN_DEGREE = 4  # of a filter whose degree is chosen: a Rayleigh-Ritz step costs as much as this
MAX_DEGREE = 200
# Logarithm of the largest factor by which a filter may make one vector of a block longer than
# another one. With a larger one they become dependent in the precision of the block.
MAX_LOG_CONTRAST = {np.float32: math.log(3e4), np.float64: math.log(1e8)}


def log_growth(value, low, cut):
    """Return the logarithm of the factor by which each degree of a Chebyshev filter of [low, cut]
    enlarges the part with this eigenvalue, for all but small degrees.

    Arguments may be arrays. It is 0 inside the interval.
    """
    return np.arccosh(np.maximum(1.0, (2 * value - low - cut) / (cut - low)))


@dataclass(frozen=True)
class ChebyshevFilter:
    """The Chebyshev polynomial of M that is at most 1 in modulus on [low, cut].

    Above the cut it grows as fast as polynomials of its degree can.
    """

    cut: float  # upper end of the damped interval
    degree: int
    dtype: type  # precision in which it is applied
    # Lower end of the damped interval. Parts with smaller eigenvalues grow, too; no eigenvalue is
    # below -1.
    low: float = -1.0

    def growth(self, value):
        """Return the logarithm of the factor by which the part with this eigenvalue grows."""
        return self.degree * self.growth_per_degree(value)

    def growth_per_degree(self, value):
        """Return the `growth` for each degree."""
        return float(log_growth(value, self.low, self.cut))

    def degree_for(self, value, growth):
        """Return the degree, without rounding and limit, at which the part with this eigenvalue
        grows by a factor of this logarithm.
        """
        return growth / max(self.growth_per_degree(value), 1e-9)

    def max_degree(self, values):
        """Return the largest degree that rounding errors allow for a block with these Ritz values.

        The vectors of the block must stay independent. Rounding errors along the eigenvectors of
        eigenvalue 1, which are not in the block, grow fastest; they must stay smaller than the
        vectors.
        """
        spread = self.growth_per_degree(values[0]) - self.growth_per_degree(values[-1])
        errors = self.growth_per_degree(1.0)
        per_contrast = min(1 / max(spread, 1e-9), 2 / max(errors, 1e-9))
        degree = min(MAX_DEGREE, MAX_LOG_CONTRAST[self.dtype] * per_contrast)
        return int(max(MIN_DEGREE, degree))


def choose_cut(values, residual, k):
    """Choose the end of the damped interval from the Ritz values, in descending order, and the
    residual of the last one.

    Where the spectrum is dense, the last value of the block is the best choice. If the block ends
    inside a cluster of equal eigenvalues, that would not damp the components along eigenvectors
    further below, which pollute the block. So the cut keeps a distance from the wanted values: at
    least 2 % of what the block covers, and about the distance of the pollution, for which a vector
    v + e w with residual r and Rayleigh quotient 1 - t gives the estimate r^2 / t.
    """
    last, wanted = 1.0 - values[-1], values[k - 1]
    pollution = 0.5 * residual**2 / max(last, 1e-300)
    distance = max(wanted - values[-1], 0.02 * last, pollution, 1e-15)
    return max(wanted - distance, -0.9)


class FilteredBlock:
    """Filter a block, by the three-term recurrence of Chebyshev polynomials. The degree of the
    filter is not used, see `raise_to`.

    `vectors` is the block, filtered by the polynomial of degree `degree`, and `previous` the same
    for the degree before, whose memory may be reused when the filter is complete. `n_products`
    counts the products with M. The block, and the `image`, which is M times the block and saves the
    first product, are overwritten if they are in the precision of the filter.
    """

    def __init__(self, chebyshev, operator, block, image=None, progress=None):
        self._operator, self._progress = operator, progress
        self._center = (chebyshev.cut + chebyshev.low) / 2
        self._half = (chebyshev.cut - chebyshev.low) / 2
        if image is not None and image.dtype == chebyshev.dtype:
            self.n_products = 0
            image -= chebyshev.dtype(self._center) * block
            image *= chebyshev.dtype(1 / self._half)
            self.vectors = image
        else:
            self.n_products = 1
            block = block.astype(chebyshev.dtype, copy=False)
            zeros = aligned_zeros(*block.shape, block.dtype)
            self.vectors = operator.step(block, zeros, 1 / self._half, self._center, 0.0, progress)
        self.previous = block
        self.degree = 1

    def raise_to(self, degree):
        """Apply the filter up to this degree and return self."""
        while self.degree < degree:
            following = self._operator.step(
                self.vectors, self.previous, 2 / self._half, self._center, 1.0, self._progress
            )
            self.vectors, self.previous = following, self.vectors
            self.degree += 1
            self.n_products += 1
        return self
