"""Which bandwidths suit the points to be clustered, where users do not say.

Local bandwidths follow the density rho of the points as ``rho ** (-1 / d)``. With them a cut in the
plane costs the integral of ``rho ** (1 / 2)`` along it, so that a long cut where points are sparse,
as between two moons with noise, may cost more than a short one through the middle of a moon. With
``sigma ~ rho ** (-a / d)`` it is the integral of ``rho ** (2 - a * (d + 1) / d)``. Moderate
bandwidths have ``a = d / (d + 1)``: a cut costs the density along it.
"""

import numpy as np

from kdegraph.local_bandwidth import local_bandwidths, representable

# Dimensions above which local bandwidths are taken as they are: a is nearly 1 there, and moderate
# ones were no better on PenDigits (16 dimensions), where the adjusted Rand index fell from 0.81 to
# 0.74, while that of two random parts of it stayed.
MAX_DIMENSIONS = 12
# Share of its local bandwidth that a point has at least. With less, the fringe of a wide cluster
# may fall to pieces beside a tight one; with more, fewer clusters are found among noise.
LEAST_SHARE = 0.75
# Effective numbers of neighbors that are tried, until the clusters are not degenerate.
PERPLEXITIES = (5.0, 10.0, 20.0, 40.0)
# Points for each unit of the perplexity: fewer say nothing about a density.
POINTS_PER_PERPLEXITY = 30
# Share of the number of clusters: clusters are degenerate if they are fewer in effect, by the
# entropy of their sizes. On the standard sets nothing changes from 0.3 to 0.6.
LEAST_EFFECTIVE = 0.6


def perplexities(n, perplexity):
    """The perplexities to try for n points, where this one is asked for, or None."""
    if perplexity is not None:
        return [perplexity]
    larger = [p for p in PERPLEXITIES[1:] if n >= POINTS_PER_PERPLEXITY * p]
    return [None, *larger]  # None adapts to few points


def suitable_bandwidths(points, perplexity):
    """The bandwidths for points of this perplexity, and the center that `moderate` needs for more
    points; "local" and None in many dimensions.
    """
    if points.shape[1] > MAX_DIMENSIONS:
        return "local", None
    local = local_bandwidths(points, perplexity=perplexity)
    with np.errstate(over="ignore"):
        center = representable(np.exp(np.mean(np.log(local))))
    return moderate(local, center, points.shape[1]), center


def moderate(local, center, d):
    """Moderate bandwidths of points in d dimensions.

    Parameters
    ----------
    local : (n,) float64 array
        Their local bandwidths.
    center : float
        The bandwidth that stays as it is: the geometric mean of those of all points.
    d : int

    Returns
    -------
    (n,) float64 array
    """
    with np.errstate(over="ignore"):  # by rounding, at the largest doubles
        by_density = np.exp((np.log(center) + d * np.log(local)) / (d + 1))
    return representable(np.maximum(by_density, LEAST_SHARE * local))


def is_degenerate(labels, n_clusters):
    """Whether a few clusters hold nearly all points though more were asked for."""
    labels = np.asarray(labels)
    shares = np.bincount(labels[labels >= 0]) / max(np.sum(labels >= 0), 1)
    shares = shares[shares > 0]
    return bool(np.exp(-np.sum(shares * np.log(shares))) < LEAST_EFFECTIVE * n_clusters)
