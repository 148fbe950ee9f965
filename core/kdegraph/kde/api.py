"""The public kernel sums: checks, choice of the method."""

import numpy as np

from kdegraph.geometry.kernels import Kernel
from kdegraph.kde.direct import direct_sums
from kdegraph.kde.dispatch import fast_sums
from kdegraph.validation import check_choice, check_eps, check_points, check_weights

METHODS = ("auto", "direct", "tree", "fgt")
FLOOR = 1e-14  # absolute error allowed, times the sum of absolute weights


def kernel_sum(
    sources, targets=None, *, kernel="gaussian", sigma, weights=None, eps=1e-6, method="auto"
):
    """Sums of kernels, ``sum_j weights[j] k(targets[i], sources[j])``.

    Parameters
    ----------
    sources : (n, d) array_like
    targets : (m, d) array_like, optional
        The sources when None; a source that is also a target contributes its own ``k(x, x) = 1``.
    kernel : {"gaussian", "laplacian", "exponential"}
        See `Kernel`.
    sigma : float
        Bandwidth, in the units of the points, > 0.
    weights : (n,) array_like, optional
        Finite, of any sign and size; ones by default.
    eps : float
        Relative error, in (0, 1).
    method : {"auto", "direct", "tree", "fgt"}
        "direct" evaluates all pairs with threads, O(m n d), whatever `eps`; "tree" prunes and lumps
        nodes of a kd-tree; "fgt" is the fast Gauss transform (Gaussian kernel only), expansions on
        a regular grid, or on the tree where points are sparse: O((m + n) log(1/eps)^d) once the
        points are dense at the scale of sigma. "auto" estimates the costs and takes the least.

    Returns
    -------
    (m,) float64 array
        ``|result[i] - exact[i]| <= eps * sum_j |w_j| k(y_i, x_j) + 1e-14 * sum_j |w_j|``, and
        results below the smallest normal double, 2.2e-308, are rounded to a multiple of 4.9e-324. A
        sum beyond the largest double, 1.8e308, is infinite; one that is nearer to it than this
        error may be.

    Raises
    ------
    ValueError, TypeError
        For points that are not finite or of wrong shape, sigma <= 0, eps outside (0, 1), unknown
        names, "fgt" with another kernel than the Gaussian.
    """
    kernel = Kernel(kernel, sigma)
    sources = check_points(sources, "sources")
    if targets is not None:
        targets = check_points(targets, "targets", n_features=sources.shape[1])
    weights = check_weights(weights, len(sources))
    eps = check_eps(eps)
    check_choice(method, "method", METHODS)
    if method == "fgt" and kernel.name != "gaussian":
        raise ValueError(
            f"method 'fgt' expands the Gaussian kernel only, got kernel {kernel.name!r}; use method='tree' or 'auto'"
        )
    # No product or sum of weights of at most 1 leaves the range of doubles. A power of two scales
    # them exactly.
    exponent = np.frexp(max(weights.max(), -weights.min()))[1]
    sums = _sums(kernel, sources, targets, np.ldexp(weights, -exponent), eps, method)
    with np.errstate(over="ignore"):
        return np.ldexp(sums, exponent)


def _sums(kernel, sources, targets, weights, eps, method):
    """Kernel sums for checked arguments and weights of at most 1."""
    if method == "direct":
        return direct_sums(kernel, sources, sources if targets is None else targets, weights)
    # Read-only arrays are of another type for compiled code: a copy costs less than to compile
    # everything for them.
    sources, targets = (
        np.require(sources, requirements="W"),
        None if targets is None else np.require(targets, requirements="W"),
    )
    return fast_sums(kernel, sources, targets, weights, eps, floor=FLOOR, method=method)


def gauss_transform(sources, targets=None, *, sigma, weights=None, eps=1e-6, method="auto"):
    """The Gauss transform, ``sum_j weights[j] exp(-||targets[i] - sources[j]||^2 / sigma^2)``.

    `kernel_sum` with the Gaussian kernel: the parameters, the guarantee and the errors are the
    same.
    """
    return kernel_sum(sources, targets, sigma=sigma, weights=weights, eps=eps, method=method)
