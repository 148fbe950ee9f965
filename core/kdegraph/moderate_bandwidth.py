"""Moderate bandwidths: a sigma for every point that follows the density less than a local one does.

Local bandwidths follow the density rho of the points as ``rho ** (-1 / d)``. With them a cut in the
plane costs the integral of ``rho ** (1 / 2)`` along it, so that a long cut where points are sparse,
as between two moons with noise, may cost more than a short one through the middle of a moon. With
``sigma ~ rho ** (-a / d)`` it is the integral of ``rho ** (2 - a * (d + 1) / d)``. Moderate
bandwidths have ``a = d / (d + 1)``: a cut costs the density along it.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kdegraph.local_bandwidth import bandwidths_of_new_points, local_bandwidths, representable
from kdegraph.validation import check_points

# Largest number of dimensions in which moderate bandwidths differ from local ones. With more, a is
# nearly 1, and moderate ones were not better on PenDigits (16 dimensions), where the adjusted Rand
# index fell from 0.81 to 0.74, while that of two random parts of it stayed.
MAX_DIMENSIONS = 12


def moderate_bandwidths(X: ArrayLike, *, perplexity: float | None = None) -> NDArray[np.float64]:
    """Estimate a bandwidth for every point with which a cut costs the density along it.

    Parameters
    ----------
    X : (n, d) array-like
        Points.
    perplexity : float, optional
        Effective number of neighbors of a point, as for `local_bandwidths`.

    Returns
    -------
    (n,) float64 array
        Positive and finite, in the units of the points; ``(s * sigma_i ** d) ** (1 / (d + 1))``,
        where sigma_i is the local bandwidth of the point and s the geometric mean of all, and at
        least ``0.75 * sigma_i``. In more than 12 dimensions it is sigma_i.

    Raises
    ------
    ValueError, TypeError
        For points or a perplexity that cannot be used.

    See Also
    --------
    local_bandwidths : Follow the density fully; the cost is the same.

    Notes
    -----
    Local bandwidths follow the density rho as ``rho ** (-1 / d)``, and a cut through the points
    costs the integral of ``rho ** (1 - 1 / d)`` along it: a short cut through the middle of a
    cluster may cost less than a long one through noise. Moderate ones follow it as ``rho ** (-1 /
    (d + 1))``, with which a cut costs the integral of rho. `KDESpectralClustering` takes them by
    default. Local ones better keep clusters together that are far denser than others.

    Examples
    --------
    >>> import kdegraph
    >>> X = [[0.0], [1.0], [2.0], [3.0], [100.0], [110.0], [120.0], [130.0]]
    >>> kdegraph.local_bandwidths(X).round(1)
    array([ 2. ,  1.1,  1.1,  2. , 19.6, 11.3, 11.3, 19.6])
    >>> kdegraph.moderate_bandwidths(X).round(1)
    array([ 3. ,  2.3,  2.3,  3. , 14.7,  8.5,  8.5, 14.7])
    """
    X = check_points(X, keep_single=True)
    local = local_bandwidths(X, perplexity=perplexity)
    return local if X.shape[1] > MAX_DIMENSIONS else moderate(local, local, X.shape[1])


def moderate_bandwidths_of_new_points(X, queries, perplexity=None):
    """Return the bandwidth of each new point from its local one, of `bandwidths_of_new_points`, and
    the geometric mean of the points `X`.
    """
    own, d = bandwidths_of_new_points(X, queries, perplexity), X.shape[1]
    if d > MAX_DIMENSIONS:
        return own
    return moderate(own, local_bandwidths(X, perplexity=perplexity), d)


def moderate(local, of_all, d):
    """Return moderate bandwidths in d dimensions from local ones and those of all points, whose
    geometric mean is kept.

    A point has at least 0.75 of its local bandwidth. With less, the fringe of a wide cluster may
    fall to pieces beside a tight one; with more, fewer clusters are found among noise.
    """
    with np.errstate(over="ignore"):  # by rounding, at the largest doubles
        by_density = np.exp((np.mean(np.log(of_all)) + d * np.log(local)) / (d + 1))
    return representable(np.maximum(by_density, 0.75 * local))
