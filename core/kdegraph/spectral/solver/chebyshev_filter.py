"""The polynomial filter of the block eigensolver: which part of the spectrum it damps, its degree
and its application.
"""

import math
from dataclasses import dataclass

import numpy as np

from kdegraph.spectral.products import aligned_zeros
from kdegraph.spectral.solver.blocks import shift_image

MIN_DEGREE = 4  # of a filter whose degree is chosen: a Rayleigh-Ritz step costs as much
MAX_DEGREE = 200
# Logarithm of the largest factor by which a filter may make one vector of a block longer than
# another one: beyond that they are no longer independent in the precision of the block.
MAX_LOG_CONTRAST = {np.float32: math.log(3e4), np.float64: math.log(1e8)}
# The interval to damp ends at least at this share of what the block covers below its last wanted
# value: see `choose_cut`.
MIN_CUT_DISTANCE = 0.02


def log_growth(value, low, cut):
    """Logarithm of the factor by which one degree of a Chebyshev filter of [low, cut] lets the part
    with this eigenvalue grow; for all but small degrees.

    Arguments may be arrays. Inside of the interval it is 0.
    """
    return np.arccosh(np.maximum(1.0, (2 * value - low - cut) / (cut - low)))


@dataclass(frozen=True)
class ChebyshevFilter:
    """The Chebyshev polynomial of M that is at most 1 in modulus on [low, cut].

    Above the cut it grows as fast as polynomials of its degree can.

    Attributes
    ----------
    cut : float
        Upper end of the interval to damp.
    degree : int
    dtype : type
        Precision in which to apply it.
    low : float
        Lower end of the interval to damp. What belongs to eigenvalues below grows, too; -1 is below
        all of them.
    """

    cut: float
    degree: int
    dtype: type
    low: float = -1.0

    def growth(self, value):
        """Logarithm of the factor by which the part with this eigenvalue grows."""
        return self.degree * self.growth_per_degree(value)

    def growth_per_degree(self, value):
        """`growth` of a filter of degree 1."""
        return float(log_growth(value, self.low, self.cut))

    def degree_for(self, value, growth):
        """The least degree that lets the part with this eigenvalue grow by a factor of this
        logarithm, not limited and not rounded.
        """
        return growth / max(self.growth_per_degree(value), 1e-9)

    def max_degree(self, values):
        """The largest degree that rounding errors allow for a block with these Ritz values.

        The vectors of the block must stay independent. The rounding errors along the eigenvectors
        of eigenvalue 1, which are in no block, grow most; they must not become larger than the
        vectors.
        """
        spread = self.growth_per_degree(values[0]) - self.growth_per_degree(values[-1])
        errors = self.growth_per_degree(1.0)
        per_contrast = min(1 / max(spread, 1e-9), 2 / max(errors, 1e-9))
        degree = min(MAX_DEGREE, MAX_LOG_CONTRAST[self.dtype] * per_contrast)
        return int(max(MIN_DEGREE, degree))


def choose_cut(values, residual, k):
    """The end of the interval to damp, from the Ritz values in descending order and the residual of
    the last one.

    Where the spectrum is dense the last value of the block is the best choice. If the block ends
    inside a cluster of equal eigenvalues, that would not damp the components along eigenvectors
    further below, which pollute the block. So the cut keeps a distance from the wanted values: at
    least a small part of what the block covers, and about the distance of the pollution, for which
    a vector v + e w with residual r and Rayleigh quotient 1 - t gives the estimate r^2 / t.
    """
    last, wanted = 1.0 - values[-1], values[k - 1]
    pollution = 0.5 * residual**2 / max(last, 1e-300)
    distance = max(wanted - values[-1], MIN_CUT_DISTANCE * last, pollution, 1e-15)
    return max(wanted - distance, -0.9)


class FilteredBlock:
    """A block in the course of being filtered: the three-term recurrence of Chebyshev polynomials.

    Parameters
    ----------
    chebyshev : ChebyshevFilter
        Its degree is not used: see `raise_to`.
    operator : NormalizedAdjacency
    block : (n, m) array
        Overwritten if it is in the precision of the filter.
    image : (n, m) array, optional
        M times the block, which is the first product, and overwritten: used if it is in the
        precision of the filter.
    progress : callable, optional

    Attributes
    ----------
    vectors : (n, m) array
        The block, filtered by the polynomial of degree `degree`.
    previous : (n, m) array
        The same for the degree before: free memory for whoever is done with filtering.
    n_products : int
        Products with M so far.
    """

    def __init__(self, chebyshev, operator, block, image=None, progress=None):
        self._operator, self._progress = operator, progress
        self._center = (chebyshev.cut + chebyshev.low) / 2
        self._half = (chebyshev.cut - chebyshev.low) / 2
        if image is not None and image.dtype == chebyshev.dtype:
            self.n_products = 0
            self.vectors = shift_image(image, block, 1 / self._half, self._center, progress)
        else:
            self.n_products = 1
            block = block.astype(chebyshev.dtype, copy=False)
            zeros = aligned_zeros(*block.shape, block.dtype)
            self.vectors = operator.step(block, zeros, 1 / self._half, self._center, 0.0, progress)
        self.previous = block
        self.degree = 1

    def raise_to(self, degree):
        """Apply the filter up to this degree; return self."""
        while self.degree < degree:
            following = self._operator.step(
                self.vectors, self.previous, 2 / self._half, self._center, 1.0, self._progress
            )
            self.vectors, self.previous = following, self.vectors
            self.degree += 1
            self.n_products += 1
        return self
