"""Local bandwidths: a sigma for every point, from the distances to its nearest neighbors."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kdegraph.geometry.kernel_functions import exp_neg
from kdegraph.geometry.neighbor_forest import (
    has_duplicates,
    has_many_dimensions,
    near_neighbors,
)
from kdegraph.geometry.neighbors import duplicate_groups, nearest
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.validation import (
    LOCAL_WORDS,
    check_choice,
    check_count,
    check_points,
    check_positive,
)

# Neighbors for each unit of the perplexity, as in Barnes-Hut t-SNE. The probabilities of the others
# are negligible.
NEIGHBORS_PER_PERPLEXITY = 3


def local_bandwidths(
    X: ArrayLike,
    *,
    perplexity: float | None = None,
    rule: str = "perplexity",
    n_neighbors: int = 7,
) -> NDArray[np.float64]:
    """Estimate a bandwidth for every point, which follows the density of the points.

    Parameters
    ----------
    X : (n, d) array-like
        Points.
    perplexity : float, optional
        Effective number of neighbors of a point, at least 1 and less than n, for
        ``rule="perplexity"``. By default 5, or a third of the number of other distinct points if
        that is less.
    rule : {"perplexity", "neighbor"}
        "perplexity": the Gaussian law of a point's neighbors, ``p(j) = exp(-||x_i - x_j||^2 /
        sigma_i^2) / Z_i``, has the entropy log(`perplexity`), as in t-SNE. "neighbor": the distance
        to the `n_neighbors`-th nearest other point, as Zelnik-Manor and Perona propose.
    n_neighbors : int
        At least 1, for ``rule="neighbor"``; at most the number of other distinct points is used.

    Returns
    -------
    (n,) float64 array
        Positive and finite, in the units of the points. Points that coincide count as one, so that
        they have the same bandwidth, and duplicating a point changes nothing. 1.0 if all points
        coincide.

    Raises
    ------
    ValueError, TypeError
        For points, a perplexity, a rule or a number that cannot be used.

    Notes
    -----
    O(n log n) up to 12 dimensions (a k-d tree), O(n^2 d) above; 16 bytes for each point and
    neighbor. For many points in many dimensions (18,000 in 20, 2,500 in 784) in about O(n log n):
    there most of the nearest neighbors are found, and the rules are applied to these.

    The law is that of the nearest ``max(15, 3 * perplexity)`` other distinct points, or of all if
    there are fewer; its entropy is accurate to 1e-6. The law has no factor 2 in the exponent, so
    that `sigma` means the same as for `similarity_graph`: it is sqrt(2) times the standard
    deviation of t-SNE.

    If at least `perplexity` neighbors are equally near (up to 0.01 %), for example on a grid, no
    bandwidth has the required entropy: the bandwidth is their distance then. A perplexity is at
    most the number of other distinct points less 0.1.

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
    >>> kdegraph.local_bandwidths(X, rule="neighbor", n_neighbors=1)
    array([ 1.,  1.,  1.,  1., 10., 10., 10., 10.])
    """
    X = check_points(X, keep_single=True)
    check_choice(rule, "rule", ("perplexity", "neighbor"))
    if perplexity is not None:
        perplexity = _check_perplexity(perplexity, len(X))
    n_neighbors = check_count(n_neighbors, "n_neighbors")
    if has_many_dimensions(X):
        k = neighbors_needed(len(X), "local", perplexity)
        lists = near_neighbors(X, k if rule == "perplexity" else n_neighbors)
        if not has_duplicates(lists):
            return bandwidths_of_lists(lists, perplexity, rule, n_neighbors)
    return _of_places(np.asarray(X, dtype=np.float64), perplexity, rule, n_neighbors)


def neighbors_needed(n, sigma, perplexity):
    """Return the number of neighbors of each of `n` points that the bandwidths `sigma` depend on.

    Raises
    ------
    ValueError, TypeError
        For a perplexity that cannot be used.
    """
    if not isinstance(sigma, str) or sigma not in LOCAL_WORDS:
        return 0
    if perplexity is not None:
        perplexity = _check_perplexity(perplexity, n)
    return _perplexity_and_neighbors(n - 1, perplexity)[1]


def bandwidths_of_lists(lists, perplexity=None, rule="perplexity", n_neighbors=7):
    """Return `local_bandwidths` from the `NeighborLists` of points that all differ."""
    if rule == "neighbor":
        sigmas = lists.distances[:, min(n_neighbors, lists.distances.shape[1]) - 1]
    else:
        perplexity, k = _perplexity_and_neighbors(len(lists.distances) - 1, perplexity)
        sigmas = _solve(lists.distances[:, :k], perplexity)
    return representable(sigmas)


def _of_places(X, perplexity, rule, n_neighbors):
    """Return `local_bandwidths`, where points that coincide count as one place."""
    order, starts = duplicate_groups(X)
    places = X[order[starts]] if len(starts) < len(X) else X
    if len(places) == 1:
        return np.ones(len(X))
    if rule == "neighbor":
        sigmas = _neighbor_distances(places, min(n_neighbors, len(places) - 1))[:, -1]
    else:
        sigmas = _entropic(places, perplexity)
    sigmas = representable(sigmas)
    if places is X:
        return sigmas
    of_points = np.empty(len(X))
    of_points[order] = np.repeat(sigmas, np.diff(starts, append=len(X)))
    return of_points


def bandwidths_of_new_points(
    X: NDArray[np.float64], queries: NDArray[np.float64], perplexity: float | None = None
) -> NDArray[np.float64]:
    """Return the bandwidth that each new point would have if it alone were added to `X`.

    Parameters
    ----------
    X : (n, d) float64 array
    queries : (m, d) float64 array
        New points, none of which is among `X`.
    perplexity : float, optional

    Returns
    -------
    (m,) float64 array

    Notes
    -----
    O(n d) for each new point.
    """
    order, starts = duplicate_groups(X)
    places = X[order[starts]]
    perplexity, k = _perplexity_and_neighbors(len(places), perplexity)
    distances = np.empty((len(queries), k))
    for query, row in zip(queries, distances, strict=True):
        row[:] = np.sort(np.partition(_distances(places, query), k - 1)[:k])
    return representable(_solve(distances, perplexity))


def _distances(points, query):
    """Return the distances of points to one point, without overflow and underflow."""
    offsets = np.abs(points / 2 - query / 2)
    largest = offsets.max(axis=1, initial=np.finfo(float).tiny, keepdims=True)
    with np.errstate(over="ignore"):
        halves = largest[:, 0] * np.linalg.norm(offsets / largest, axis=1)
    return 2 * np.minimum(halves, np.finfo(float).max / 2)


def representable(sigmas):
    """Return the nearest bandwidths that are positive, normal numbers."""
    limits = np.finfo(float)
    return np.clip(sigmas, limits.tiny, limits.max)


def _check_perplexity(perplexity, n):
    perplexity = check_positive(perplexity, "perplexity")
    if not 1 <= perplexity < n:
        raise ValueError(
            "perplexity is an effective number of neighbors, at least 1 and less than the number "
            f"of points, n = {n}; got {perplexity:g}: take fewer neighbors or more points"
        )
    return perplexity


def _neighbor_distances(places, k):
    """Return the distances of each place to its k nearest other ones, ascending, (n, k)."""
    if has_many_dimensions(places):
        return np.ascontiguousarray(near_neighbors(places, k).distances[:, :k])
    distances, _ = nearest(places, np.arange(len(places)), k + 1)
    return distances[:, 1:]


def _entropic(places, perplexity):
    """Return the bandwidth of each place at which the law of its neighbors has this perplexity."""
    perplexity, k = _perplexity_and_neighbors(len(places) - 1, perplexity)
    return _solve(_neighbor_distances(places, k), perplexity)


def _perplexity_and_neighbors(n_others, perplexity):
    """Return the perplexity of a point with `n_others` other places, and the number of neighbors in
    its law.

    Clusters of the usual benchmark sets have their highest mean adjusted Rand index, 0.95, at
    perplexities of 4 to 6.
    """
    if perplexity is None:
        perplexity = min(5.0, n_others / NEIGHBORS_PER_PERPLEXITY)
    k = max(15, math.ceil(NEIGHBORS_PER_PERPLEXITY * perplexity))
    return perplexity, min(n_others, k)


def _solve(distances, perplexity):
    """Return the bandwidth for each row of ascending distances."""
    sigmas, distances = np.empty(len(distances)), np.ascontiguousarray(distances)
    # Without the compiler NumPy would warn where the ratio of two distances overflows.
    with np.errstate(over="ignore"):
        parallel.run(_solve_rows, len(distances), distances, float(perplexity), sigmas)
    return sigmas


@jit
def _solve_rows(begin, end, distances, perplexity, sigmas):
    """Write the bandwidth for each row of ascending distances into `sigmas`."""
    gaps = np.empty(distances.shape[1])
    for i in range(begin, end):
        sigmas[i] = _solve_row(distances[i], perplexity, gaps)


@jit(borrow=True)
def _solve_row(distances, perplexity, gaps):
    """Return the sigma at which the law of neighbors at these distances has the perplexity, or the
    least distance if so many are equal to it that there is none.

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


@jit(reassociate=True, borrow=True)
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
