"""The public kernel sums, and solvers as black boxes, as Algorithm 1 of Macgregor and Sun (2023)
uses them.
"""

import math
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kdegraph.geometry.kernel_functions import KERNELS
from kdegraph.geometry.kernels import Kernel, local_kernel
from kdegraph.geometry.local_scale import ONE_BANDWIDTH, local_scale
from kdegraph.kde.direct import direct_sums
from kdegraph.kde.dispatch import fast_sums
from kdegraph.validation import (
    as_array,
    check_bandwidths,
    check_choice,
    check_eps,
    check_points,
    check_weights,
)

KERNEL_SUM_METHODS = ("auto", "direct", "tree", "fgt")
SOLVERS = ("auto", "direct", "fgt")


def kernel_sum(
    sources: ArrayLike,
    targets: ArrayLike | None = None,
    *,
    kernel: str = "gaussian",
    sigma: float | ArrayLike,
    target_sigma: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    eps: float = 1e-6,
    method: Literal["auto", "direct", "tree", "fgt"] = "auto",
) -> NDArray[np.float64]:
    """Compute sums of kernels, ``sum_j weights[j] k(targets[i], sources[j])``.

    Parameters
    ----------
    sources : (n, d) array_like
        Points.
    targets : (m, d) array_like, optional
        Points at which the sums are computed; the sources by default. A source that is also a
        target contributes its own ``k(x, x) = 1``.
    kernel : str, optional
        The kernel function, see `Kernel`; the Gaussian by default.
    sigma : float or (n,) array_like
        Bandwidth, in the units of the points, positive and finite; or one for each source. The
        kernel between two points then has the bandwidth ``sqrt(sigma_i sigma_j)``, and all pairs
        are evaluated.
    target_sigma : (m,) array_like, optional
        With bandwidths for the sources: those of the targets.
    weights : (n,) array_like, optional
        Finite, of any sign and size; ones by default.
    eps : float, optional
        Relative error, in (0, 1); 1e-6 by default.
    method : {"auto", "direct", "tree", "fgt"}, optional
        "direct" evaluates all pairs, whatever `eps`. "tree" skips distant nodes of a k-d tree and
        takes the mean kernel value for narrow ones. "fgt" is the fast Gauss transform (Gaussian
        kernel only): expansions on a regular grid, or the tree where points are too few or too
        sparse for one. "auto", the default, takes the one that is estimated to cost least.

    Returns
    -------
    (m,) float64 array
        ``|result[i] - exact[i]| <= eps * sum_j |w_j| k(y_i, x_j) + 1e-14 * sum_j |w_j|``. Results
        below the smallest normal double, 2.2e-308, are rounded to a multiple of 4.9e-324. A sum
        beyond the largest double, 1.8e308, is infinite; one that is nearer to it than this error
        may be.

    Raises
    ------
    ValueError, TypeError
        For points that are not finite or of the wrong shape, sigma <= 0, eps outside (0, 1),
        unknown names, or "fgt" with another kernel than the Gaussian.

    Notes
    -----
    "direct" takes O(m n d) time; "fgt" takes O((m + n) log(1/eps)^d) once the points are dense at
    the scale of sigma. All methods use several threads, see `set_num_threads`, and return the same
    numbers for any number of threads.

    References
    ----------
    L. Greengard and J. Strain, "The fast Gauss transform", SIAM Journal on Scientific and
    Statistical Computing 12 (1991).

    Examples
    --------
    >>> import numpy as np
    >>> from kdegraph import kernel_sum
    >>> points = np.array([[0.0], [1.0], [5.0]])
    >>> kernel_sum(points, kernel="laplacian", sigma=1.0, method="direct").round(4)
    array([1.3746, 1.3862, 1.0251])
    """
    sources = check_points(sources, "sources")
    if targets is not None:
        targets = check_points(targets, "targets", n_features=sources.shape[1])
    scaled, target_local = _check_kernel(kernel, sigma, target_sigma, sources, targets)
    weights = check_weights(weights, len(sources))
    eps = check_eps(eps)
    check_choice(method, "method", KERNEL_SUM_METHODS)
    if scaled.local.is_local:
        if method not in ("auto", "direct"):
            raise ValueError(
                f"method {method!r} needs one bandwidth for all points; use method='direct'"
            )
        method = "direct"
    if method == "fgt" and scaled.name != "gaussian":
        raise ValueError(
            f"method 'fgt' expands the Gaussian kernel only, got kernel {scaled.name!r}; "
            "use method='tree' or 'auto'"
        )
    # With weights less than 2 no product or sum leaves the range of doubles. Scaling by a power of
    # two is exact. It is at most 2^1023; for numbers below the normal ones its inverse would be
    # infinite, hence the division.
    largest = max(weights.max(), -weights.min())
    power = math.ldexp(1.0, math.frexp(largest)[1] - 1)
    sums = _checked_sums(scaled, sources, targets, weights / power, eps, method, target_local)
    with np.errstate(over="ignore"):
        return sums * power


def _check_kernel(name, sigma, target_sigma, sources, targets):
    """Return the kernel of these bandwidths, and the `LocalScale` of the targets."""
    if np.ndim(sigma) == 0:
        if target_sigma is not None:
            raise ValueError(
                "target_sigma needs a bandwidth for each source, got one sigma for all"
            )
        return Kernel(name, sigma), ONE_BANDWIDTH
    check_choice(name, "kernel", tuple(KERNELS))
    kernel = local_kernel(name, check_bandwidths(sigma, len(sources)))
    if targets is None and target_sigma is None:
        return kernel, kernel.local
    if targets is None or target_sigma is None:
        raise ValueError(
            "targets with bandwidths of their own need both targets and target_sigma, got only one"
        )
    own = check_bandwidths(target_sigma, len(targets), "target_sigma")
    factors = KERNELS[name].bandwidth_factors(kernel.sigma, own)
    return kernel, local_scale(factors, np.zeros(len(own)))


def _checked_sums(kernel, sources, targets, weights, eps, method, target_local):
    """Kernel sums for checked arguments and weights less than 2."""
    if method == "direct":
        targets = sources if targets is None else targets
        return direct_sums(kernel, sources, targets, weights, target_local=target_local)
    # Read-only arrays are of another type for compiled code, and all kernels would be compiled
    # again for them: a copy takes less time.
    sources = np.require(sources, requirements="W")
    targets = None if targets is None else np.require(targets, requirements="W")
    # The floor is a hundred times the unit roundoff, for a sum of absolute weights of 1. Without it
    # sums over far points would have to be exact to the last digit.
    return fast_sums(kernel, sources, targets, weights, eps, floor=1e-14, method=method)


def gauss_transform(
    sources: ArrayLike,
    targets: ArrayLike | None = None,
    *,
    sigma: float,
    weights: ArrayLike | None = None,
    eps: float = 1e-6,
    method: Literal["auto", "direct", "tree", "fgt"] = "auto",
) -> NDArray[np.float64]:
    """Return the Gauss transform of weighted points.

    That is ``sum_j weights[j] exp(-||targets[i] - sources[j]||^2 / sigma^2)``, or `kernel_sum` with
    the Gaussian kernel.

    Parameters
    ----------
    sources : (n, d) array_like
        Points.
    targets : (m, d) array_like, optional
        Points at which the sums are computed; the sources by default.
    sigma : float
        Bandwidth, in the units of the points, positive and finite.
    weights : (n,) array_like, optional
        Finite, of any sign and size; ones by default.
    eps : float, optional
        Relative error, in (0, 1); 1e-6 by default.
    method : {"auto", "direct", "tree", "fgt"}, optional
        See `kernel_sum`.

    Returns
    -------
    (m,) float64 array
        With the error bound of `kernel_sum`.

    Raises
    ------
    ValueError, TypeError
        For arguments that cannot be used, see `kernel_sum`.

    Examples
    --------
    >>> from kdegraph import gauss_transform
    >>> gauss_transform([[0.0], [1.0]], [[0.0]], sigma=1.0, weights=[2.0, -1.0]).round(4)
    array([1.6321])
    """
    return kernel_sum(sources, targets, sigma=sigma, weights=weights, eps=eps, method=method)


class Solver(Protocol):
    """A KDE solver: any object with these two methods."""

    def fit(self, sources: NDArray[np.float64], kernel: Kernel) -> "Solver":
        """Prepare sums over the (n, d) `sources`; return the fitted solver, usually itself."""
        ...

    def sums(self, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Estimates of ``sum_j k(targets[i], sources[j])``, (m,)."""
        ...


class DirectKDE:
    """Exact sums, O(n m d)."""

    def fit(self, sources: NDArray[np.float64], kernel: Kernel) -> "DirectKDE":
        """Keep the (n, d) `sources` and the `kernel`."""
        self._sources, self._kernel = sources, kernel
        return self

    def sums(self, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Exact kernel sums at the (m, d) `targets`."""
        return direct_sums(self._kernel, self._sources, targets, np.ones(len(self._sources)))


class FastKDE(DirectKDE):
    """Sums of relative error `eps`, however small they are, by the method of least cost."""

    def __init__(self, eps: float) -> None:
        self.eps = eps

    def sums(self, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Kernel sums at the (m, d) `targets`, relative error `eps`."""
        return fast_sums(
            self._kernel, self._sources, targets, np.ones(len(self._sources)), self.eps, floor=0.0
        )


def make_solver(kde: str | Solver, eps: float) -> Solver:
    """Return the solver for the argument `kde` of `similarity_graph`: a name, or an object with the
    methods of `Solver`.
    """
    if isinstance(kde, str):
        check_choice(kde, "kde", SOLVERS)
        return DirectKDE() if kde == "direct" else FastKDE(eps)
    for method in ("fit", "sums"):
        if not callable(getattr(kde, method, None)):
            raise TypeError(
                f"kde must be one of {', '.join(map(repr, SOLVERS))} or an object with "
                "fit(sources, kernel) -> self and sums(targets) -> (m,); "
                f"{type(kde).__name__} has no method {method!r}"
            )
    return kde


def checked_sums(
    solver: Solver, sources: NDArray[np.float64], kernel: Kernel, targets: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Fit `solver` and return its sums, checked: (m,), finite; negative estimates count as 0."""
    name = type(solver).__name__
    fitted = solver.fit(sources, kernel)
    if fitted is None:
        raise TypeError(
            f"kde: {name}.fit(sources, kernel) must return the fitted object (self), got None"
        )
    sums = as_array(fitted.sums(targets), f"kde: the result of {name}.sums")
    if sums.dtype.kind not in "fiu":
        raise TypeError(
            f"kde: {name}.sums must return real numbers, got an array of dtype {sums.dtype}"
        )
    sums = sums.astype(np.float64, copy=False)
    if sums.shape != (len(targets),):
        raise ValueError(
            f"kde: {name}.sums must return shape ({len(targets)},), one per target, "
            f"got {sums.shape}"
        )
    if not np.isfinite(sums).all():
        first = sums[~np.isfinite(sums)][0]
        raise ValueError(f"kde: {name}.sums returned {first} (NaN or infinity)")
    return np.maximum(sums, 0.0)
