"""A bandwidth for every point, from its distances to its nearest neighbors."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kdegraph.geometry.kernel_functions import exp_neg
from kdegraph.geometry.neighbor_forest import has_duplicates, has_many_dimensions, near_neighbors
from kdegraph.geometry.neighbors import duplicate_groups, nearest
from kdegraph.geometry.sparse_points import nearest_rows
from kdegraph.manual import explained
from kdegraph.metrics import points_of
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.validation import (
    LOCAL_WORDS,
    SparsePoints,
    check_choice,
    check_count,
    check_positive,
)


def local_bandwidths(
    X: ArrayLike,
    *,
    perplexity: float | None = None,
    rule: str = "perplexity",
    n_neighbors: int = 7,
    metric: str = "euclidean",
) -> NDArray[np.float64]:
    """Estimate a bandwidth for every point, which follows the density of the points.

    Parameters
    ----------
    X : (n, d) array-like
        Points.
    perplexity : float, optional
        Effective number of neighbors of a point, at least 1 and less than n, for the rules
        "perplexity" and "moderate". By default 5, or a third of the number of other distinct points
        if that is less.
    rule : {"perplexity", "moderate", "neighbor"}
        "perplexity": the Gaussian law of a point's neighbors, ``p(j) = exp(-||x_i - x_j||^2 /
        sigma_i^2) / Z_i``, has the entropy log(`perplexity`), as in t-SNE. "moderate": ``(s *
        sigma_i ** d) ** (1 / (d + 1))``, where sigma_i is the bandwidth of "perplexity" and s the
        geometric mean of all, and at least ``0.75 * sigma_i``; in more than 12 dimensions sigma_i.
        "neighbor": the distance to the `n_neighbors`-th nearest other point, as Zelnik-Manor and
        Perona propose.
    n_neighbors : int
        At least 1, for ``rule="neighbor"``; at most the number of other distinct points is used.
    metric : {"euclidean", "cosine", "haversine"}
        The distance, see `similarity_graph`.

    Returns
    -------
    (n,) float64 array
        Positive and finite, in the units of the points. Points that coincide count as one, so that
        they have the same bandwidth, and duplicating a point changes nothing (but the mean s of
        "moderate"). 1.0 if all points coincide.

    Raises
    ------
    ValueError, TypeError
        For points, a perplexity, a rule or a number that cannot be used.

    Notes
    -----
    O(n log n) up to 12 dimensions (a k-d tree), O(n^2 d) above; 16 bytes for each point and
    neighbor. For many points in many dimensions (18,000 in 20, 2,500 in 784) in about O(n log n):
    there most of the nearest neighbors are found, and the rules are applied to these.

    *Perplexity.* The law is that of the nearest ``max(15, 3 * perplexity)`` other distinct points,
    or of all if there are fewer; its entropy is accurate to 1e-6. It has no factor 2 in the
    exponent, so that `sigma` means the same as for `similarity_graph`: it is sqrt(2) times the
    standard deviation of t-SNE. If at least `perplexity` neighbors are equally near (up to 0.01 %),
    for example on a grid, no bandwidth has the required entropy: it is their distance then. A
    perplexity is at most the number of other distinct points less 0.1.

    *Moderate.* Bandwidths of "perplexity" follow the density rho as ``rho ** (-1 / d)``, and a cut
    through the points costs the integral of ``rho ** (1 - 1 / d)`` along it: a short cut through
    the middle of a cluster may cost less than a long one through noise. Moderate ones follow it as
    ``rho ** (-1 / (d + 1))``, with which a cut costs the integral of rho. `KDESpectralClustering`
    takes them by default. Those of "perplexity" better keep clusters together that are far denser
    than others.

    References
    ----------
    L. van der Maaten and G. Hinton, "Visualizing data using t-SNE", Journal of Machine Learning
    Research 9 (2008).

    L. van der Maaten, "Accelerating t-SNE using tree-based algorithms", Journal of Machine Learning
    Research 15 (2014).

    L. Zelnik-Manor and P. Perona, "Self-tuning spectral clustering", Advances in Neural Information
    Processing Systems 17 (2004).

    Examples
    --------
    >>> import kdegraph
    >>> X = [[0.0], [1.0], [2.0], [3.0], [100.0], [110.0], [120.0], [130.0]]
    >>> kdegraph.local_bandwidths(X).round(1)
    array([ 2. ,  1.1,  1.1,  2. , 19.6, 11.3, 11.3, 19.6])
    >>> kdegraph.local_bandwidths(X, rule="moderate").round(1)
    array([ 3. ,  2.3,  2.3,  3. , 14.7,  8.5,  8.5, 14.7])
    >>> kdegraph.local_bandwidths(X, rule="neighbor", n_neighbors=1)
    array([ 1.,  1.,  1.,  1., 10., 10., 10., 10.])
    """
    X = points_of(X, metric, keep_single=True)
    check_choice(rule, "rule", ("perplexity", "moderate", "neighbor"))
    perplexity = _check_perplexity(perplexity, len(X))
    n_neighbors = check_count(n_neighbors, "n_neighbors")
    if has_many_dimensions(X):
        needed = n_neighbors if rule == "neighbor" else _neighbors_of_law(len(X) - 1, perplexity)
        lists = near_neighbors(X, needed)
        if not has_duplicates(lists):
            # In so many dimensions "moderate" is the same as "perplexity".
            return bandwidths_of_distances(
                lists.distances, len(X) - 1, perplexity, rule, n_neighbors
            )
    X = X.astype(np.float64, copy=False)
    order, starts = duplicate_groups(X)
    places = X[order[starts]] if len(starts) < len(X) else X
    if len(places) == 1:
        return np.ones(len(X))
    n_others = len(places) - 1
    needed = n_neighbors if rule == "neighbor" else _neighbors_of_law(n_others, perplexity)
    distances, _ = _nearest_others(places, min(needed, n_others))
    sigmas = of_places = bandwidths_of_distances(distances, n_others, perplexity, rule, n_neighbors)
    if places is not X:
        sigmas = np.empty(len(X))
        sigmas[order] = np.repeat(of_places, np.diff(starts, append=len(X)))
    return _moderate(sigmas, sigmas, X.shape[1]) if rule == "moderate" else sigmas


def _nearest_others(places, k, progress=None):
    """Return the distances to the k nearest other ones of different points, ascending, and their
    numbers; near ones of many points in many dimensions, see `near_neighbors`.
    """
    if has_many_dimensions(places):
        lists = near_neighbors(places, k, progress)
        return lists.distances[:, :k], lists.indices[:, :k]
    distances, neighbors = nearest(places, np.arange(len(places)), k + 1, progress)
    return distances[:, 1:], neighbors[:, 1:]


def neighbors_of_law(
    places: NDArray[np.float64],
    perplexity: float | None = None,
    progress: Callable[[float], object] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the distances and numbers of the neighbors in the law of each of several places."""
    return _nearest_others(places, _neighbors_of_law(len(places) - 1, perplexity), progress)


def neighbors_needed(
    n: int, sigma: float | NDArray[np.float64] | str, perplexity: float | None
) -> int:
    """Return the number of neighbors of each of `n` points that the bandwidths `sigma` depend on. A
    perplexity that cannot be used raises a ValueError or TypeError.
    """
    if not isinstance(sigma, str) or sigma not in LOCAL_WORDS:
        return 0
    return _neighbors_of_law(n - 1, _check_perplexity(perplexity, n))


def bandwidths_of_new_points(
    X: NDArray[np.float64],
    queries: NDArray[np.float64],
    perplexity: float | None = None,
    rule: str = "perplexity",
) -> NDArray[np.float64]:
    """Return the bandwidth that each new point would have if it alone were added to `X`; with the
    `rule` "moderate" instead of "perplexity", with the geometric mean of the bandwidths of `X`.
    None of the new points is among `X`. It takes O(n d) for each of them.
    """
    order, starts = duplicate_groups(X)
    places = X[order[starts]]
    k = _neighbors_of_law(len(places), perplexity)
    if isinstance(X, SparsePoints):
        distances, _ = nearest_rows(places, k, queries)
    else:
        distances = np.empty((len(queries), k))
        for query, row in zip(queries, distances, strict=True):
            row[:] = np.sort(np.partition(_distances(places, query), k - 1)[:k])
    own = bandwidths_of_distances(distances, len(places), perplexity)
    if rule != "moderate":
        return own
    return _moderate(own, local_bandwidths(X, perplexity=perplexity), X.shape[1])


def _check_perplexity(perplexity, n):
    if perplexity is None:
        return None
    perplexity = check_positive(perplexity, "perplexity")
    if not 1 <= perplexity < n:
        raise explained(
            ValueError,
            "error-perplexity",
            "perplexity is an effective number of neighbors, at least 1 and less than the number "
            f"of points, n = {n}; got {perplexity:g}: take fewer neighbors or more points",
        )
    return perplexity


def _perplexity_or_default(n_others, perplexity):
    """Return the perplexity of a point with `n_others` other places.

    Clusters of the usual benchmark sets have their highest mean adjusted Rand index, 0.95, at
    perplexities of 4 to 6.
    """
    return min(5.0, n_others / 3) if perplexity is None else perplexity


def _neighbors_of_law(n_others, perplexity):
    """Return the number of neighbors in the law of a point with `n_others` other places: three for
    each unit of the perplexity, as in Barnes-Hut t-SNE. The probabilities of others are negligible.
    """
    k = max(15, math.ceil(3 * _perplexity_or_default(n_others, perplexity)))
    return min(n_others, k)


def _distances(points, query):
    """Return the distances of points to one point, without overflow and underflow."""
    offsets = np.abs(points / 2 - query / 2)
    largest = offsets.max(axis=1, initial=np.finfo(float).tiny, keepdims=True)
    with np.errstate(over="ignore"):
        halves = largest[:, 0] * np.linalg.norm(offsets / largest, axis=1)
    return 2 * np.minimum(halves, np.finfo(float).max / 2)


def bandwidths_of_distances(distances, n_others, perplexity, rule="perplexity", n_neighbors=7):
    """Return bandwidths from rows of ascending distances to the nearest of `n_others` places."""
    if rule == "neighbor":
        return _representable(distances[:, min(n_neighbors, distances.shape[1]) - 1])
    distances = np.ascontiguousarray(distances[:, : _neighbors_of_law(n_others, perplexity)])
    perplexity = float(_perplexity_or_default(n_others, perplexity))
    sigmas = np.empty(len(distances))
    # Without the compiler NumPy would warn where the ratio of two distances overflows.
    with np.errstate(over="ignore"):
        parallel.run(_solve_rows, len(distances), distances, perplexity, sigmas)
    return _representable(sigmas)


def _moderate(local, of_all, d):
    """Return moderate bandwidths in d dimensions from local ones and those of all points, whose
    geometric mean is kept.

    A point has at least 0.75 of its local bandwidth. With less, the fringe of a wide cluster may
    fall to pieces beside a tight one; with more, fewer clusters are found among noise. In more than
    12 dimensions d / (d + 1) is nearly 1, and moderate bandwidths were not better on PenDigits (16
    dimensions): the adjusted Rand index was 0.74 instead of 0.81.
    """
    if d > 12:
        return local
    with np.errstate(over="ignore"):  # by rounding, at the largest doubles
        by_density = np.exp((np.mean(np.log(of_all)) + d * np.log(local)) / (d + 1))
    return _representable(np.maximum(by_density, 0.75 * local))


def _representable(sigmas):
    """Return the nearest bandwidths that are positive, normal numbers."""
    limits = np.finfo(float)
    return np.clip(sigmas, limits.tiny, limits.max)


@jit
def _solve_rows(begin, end, distances, perplexity, sigmas):
    """Write the bandwidth for each row of ascending distances into `sigmas`."""
    gaps = np.empty(distances.shape[1])
    for i in range(begin, end):
        sigmas[i] = _solve_row(distances[i], perplexity, gaps)


@jit(borrow=True)
def _solve_row(distances, perplexity, gaps):
    """Return the sigma at which the law of neighbors at these distances has the perplexity, or the
    least distance if such a sigma does not exist because too many are equal to it.

    The array `gaps` receives the differences between the squared distances and the least one. A gap
    is a tie if it is at most 1e-4 of the least squared distance and of the largest gap. If all gaps
    are at most 1e-9 of it, all distances count as equal.
    """
    k = distances.size
    # A distance of about sigma: relative to it, relevant squares neither overflow nor vanish.
    unit = distances[min(int(perplexity), k - 1)]
    if unit == 0.0:
        return 0.0
    perplexity = min(perplexity, k - 0.1)  # the uniform law, of k, has an infinite bandwidth
    least = distances[0] / unit
    for j in range(k):
        distance = distances[j] / unit
        # A limit at which the weight is zero and the square does not overflow.
        gaps[j] = min((distance - least) * (distance + least), 1e100)
    spread = gaps[k - 1]
    equally_near = gaps[math.ceil(perplexity) - 1] <= 1e-4 * min(least * least, spread)
    if equally_near or spread <= 1e-9 * least * least:
        return distances[0]
    return unit * math.exp(-0.5 * _log_beta(gaps, perplexity))


@jit(borrow=True)
def _log_beta(gaps, perplexity):
    """Return the logarithm of the beta at which the law proportional to ``exp(-beta * gaps)`` has
    the perplexity, by Newton's method, safeguarded by bisection.

    The entropy falls with beta, from the logarithm of the number of gaps to that of the number of
    zeros among them. Four to ten steps, of at most 4, are usual; the last error is at most 1e-9.
    """
    target = math.log(perplexity)
    below, above = -math.inf, math.inf
    log_beta = -math.log(gaps[int(perplexity)])
    for _ in range(200):
        beta = math.exp(log_beta)
        total, mean, square = _moments(gaps, beta)
        excess = math.log(total) + mean - target
        if abs(excess) <= 1e-9:
            break
        if excess > 0:
            below = log_beta
        else:
            above = log_beta
        slope = square - mean * mean
        if abs(excess) < 4.0 * slope:
            log_beta += excess / slope
        else:
            log_beta += math.copysign(4.0, excess)
        if not below < log_beta < above:
            log_beta = 0.5 * (below + above)
    return log_beta


@jit(reassociate=True, borrow=True, inline=True)
def _moments(gaps, beta):
    """Return the sum of the weights ``exp(-t)`` with ``t = beta * gaps``, and the means of t and
    t^2 under the law that they define.
    """
    total = mean = square = 0.0
    for j in range(gaps.size):
        t = beta * gaps[j]
        weight = exp_neg(t)
        total += weight
        mean += weight * t
        square += weight * t * t
    return total, mean / total, square / total
