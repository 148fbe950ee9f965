"""The public kernel sums: checks, choice of the method."""

import numpy as np

from .._validation import check_choice, check_eps, check_points, check_weights
from ..kernels import Kernel
from .direct import direct_sums
from .fast import fast_sums

METHODS = ("auto", "direct", "tree", "fgt")
FLOOR = 1e-14  # absolute error allowed, times the sum of absolute weights


def kernel_sum(sources, targets=None, *, kernel="gaussian", sigma, weights=None, eps=1e-6, method="auto"):
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
        Of any sign; ones by default.
    eps : float
        Relative error, in (0, 1).
    method : {"auto", "direct", "tree", "fgt"}
        "direct" evaluates all pairs with threads, O(m n d), whatever `eps`; "tree" prunes and lumps nodes of a kd-tree; "fgt" is the fast
        Gauss transform (Gaussian kernel only), expansions on a regular grid, or on the tree where points are sparse: O((m + n)
        log(1/eps)^d) once the points are dense at the scale of sigma. "auto" estimates the costs and takes the least.

    Returns
    -------
    (m,) float64 array
        ``|result[i] - exact[i]| <= eps * sum_j |w_j| k(y_i, x_j) + 1e-14 * sum_j |w_j|``.

    Raises
    ------
    ValueError, TypeError
        For points that are not finite or of wrong shape, sigma <= 0, eps outside (0, 1), unknown names, "fgt" with another kernel than
        the Gaussian.
    """
    kernel = Kernel(kernel, sigma)
    sources = check_points(sources, "sources")
    if targets is not None:
        targets = check_points(targets, "targets", n_features=sources.shape[1])
    weights = check_weights(weights, len(sources))
    eps = check_eps(eps)
    check_choice(method, "method", METHODS)
    if method == "fgt" and kernel.name != "gaussian":
        raise ValueError(f"method 'fgt' expands the Gaussian kernel only, got kernel {kernel.name!r}; use method='tree' or 'auto'")
    points = sources if targets is None else targets
    if method == "direct":
        return direct_sums(kernel, sources, points, weights)
    # Read-only arrays are of another type for compiled code: a copy costs less than to compile everything for them.
    sources, targets = np.require(sources, requirements="W"), None if targets is None else np.require(targets, requirements="W")
    return fast_sums(kernel, sources, targets, weights, eps, floor=FLOOR, method=method)


def gauss_transform(sources, targets=None, *, sigma, weights=None, eps=1e-6, method="auto"):
    """The Gauss transform, ``sum_j weights[j] exp(-||targets[i] - sources[j]||^2 / sigma^2)``.

    `kernel_sum` with the Gaussian kernel: the parameters, the guarantee and the errors are the same.
    """
    return kernel_sum(sources, targets, sigma=sigma, weights=weights, eps=eps, method=method)
