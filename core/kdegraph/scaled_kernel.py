"""From the parameter `sigma` to bandwidths, and kernels between points with one bandwidth or with
one for each of them.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kdegraph.bandwidth import estimate_sigma
from kdegraph.geometry.kernel_functions import KERNELS
from kdegraph.geometry.kernels import Kernel, local_kernel
from kdegraph.geometry.sparse_points import KernelRows
from kdegraph.geometry.tree import Tree
from kdegraph.local_bandwidth import bandwidths_of_new_points, local_bandwidths
from kdegraph.manual import explained
from kdegraph.validation import LOCAL_WORDS, SparsePoints, check_bandwidths, check_positive

Bandwidth: TypeAlias = float | NDArray[np.float64]  # one for all points, or one for each


def check_sigma(sigma: float | str | ArrayLike, n: int) -> Bandwidth | str:
    """Return `sigma` as a positive number, as an (n,) array of them, or as one of its words."""
    if isinstance(sigma, str):
        if sigma not in ("auto", *LOCAL_WORDS):
            raise ValueError(
                "sigma must be a positive number, an array with one for each point, 'auto', "
                f"'local' or 'moderate', got {sigma!r}"
            )
        return sigma
    if np.ndim(sigma) == 0:
        return check_positive(sigma, "sigma")
    return check_bandwidths(sigma, n)


def resolve_bandwidth(
    X: NDArray[np.float64], sigma: Bandwidth | str, perplexity: float | None = None
) -> Bandwidth:
    """Return the number or the array that a checked `sigma` stands for."""
    if not isinstance(sigma, str):
        return sigma
    if sigma == "auto":
        return estimate_sigma(X, seed=0)
    return local_bandwidths(X, perplexity=perplexity, rule=_rule_of(sigma))


def new_bandwidths(
    bandwidth: Bandwidth,
    sigma: ArrayLike | str,
    X: NDArray[np.float64],
    queries: NDArray[np.float64],
    perplexity: float | None,
) -> Bandwidth:
    """Return the bandwidths of points that are not among the fitted ones `X`, whose bandwidths are
    `bandwidth` and came from the parameters `sigma` and `perplexity`. A ValueError is raised if
    `sigma` was an array.
    """
    if not isinstance(bandwidth, np.ndarray):
        return bandwidth
    if isinstance(sigma, str):
        own = bandwidths_of_new_points(X, queries, perplexity, _rule_of(sigma))
        with np.errstate(over="ignore"):  # at one of few fitted points it may be next to nothing
            return np.clip(own, 1e-40 * bandwidth.min(), 1e40 * bandwidth.max())
    raise explained(
        ValueError,
        "error-bandwidths",
        f"X has {len(queries)} new points, whose bandwidths are unknown, as sigma was an array "
        "with those of the fitted points, whose clusters are in labels_; take sigma='local' or "
        "'moderate', or fit all points",
    )


def _rule_of(sigma):
    """Return the rule of `local_bandwidths` that the word "local" or "moderate" stands for."""
    return "moderate" if sigma == "moderate" else "perplexity"


def exponent_shifts(
    density: ArrayLike | None, alpha: float, weight: NDArray[np.float64] | None = None
) -> NDArray[np.float64] | None:
    """Return what each point adds to the exponents, so that kernel values are multiplied by
    ``weight_i weight_j / (density_i density_j) ** alpha``; None without densities and weights.
    """
    if density is None:
        return None if weight is None else -np.log(weight)
    by_density = alpha * np.log(np.asarray(density))
    return by_density if weight is None else by_density - np.log(weight)


def tree_kernel(
    name: str, bandwidth: Bandwidth, tree: Tree, shift: NDArray[np.float64] | None = None
) -> Kernel:
    """Return the kernel between the points of `tree`; see `local_kernel`.

    `bandwidth` and `shift` are in the order of the original points.
    """
    if shift is None and not isinstance(bandwidth, np.ndarray):
        return Kernel(name, bandwidth)
    bandwidths = np.broadcast_to(bandwidth, tree.order.shape)[tree.order]
    return local_kernel(name, bandwidths, tree, None if shift is None else shift[tree.order])


def pair_kernel(
    name: str, bandwidth: Bandwidth, n: int = 1, shift: NDArray[np.float64] | None = None
) -> Kernel:
    """Return the kernel between `n` points in their own order; see `local_kernel`."""
    if isinstance(bandwidth, np.ndarray):
        return local_kernel(name, bandwidth, shift=shift)
    if shift is not None:
        return local_kernel(name, np.full(n, bandwidth), shift=shift)
    return Kernel(name, bandwidth)


def kernel_blocks(
    name: str,
    bandwidth: Bandwidth,
    X: SparsePoints,
    queries: SparsePoints,
    own: Bandwidth,
) -> Iterator[NDArray[np.float64]]:
    """Yield the kernel values between new points and `X`, (m, n), for some new points at a time.
    Their bandwidths are `own`, and those of `X` are `bandwidth`.
    """
    kernel = pair_kernel(name, bandwidth)
    rows, local = KernelRows(kernel, X), kernel.local
    if local.is_local:
        factor = KERNELS[name].bandwidth_factors(kernel.sigma, own)
        local = local._replace(factor=factor, shift=np.zeros(len(queries)))
    height = max(1, 2**21 // len(X))  # 16 MiB of kernel values
    for start in range(0, len(queries), height):
        some = slice(start, min(start + height, len(queries)))
        values = np.empty((some.stop - start, len(X)))
        rows.fill(queries[some], local.at(some), values)
        yield values


def kernel_row(
    name: str,
    bandwidth: Bandwidth,
    X: NDArray[np.float64],
    point: int,
    shift: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the kernel values between a point and all points; its own is 1 without a shift."""
    if isinstance(bandwidth, np.ndarray):
        pair = np.sqrt(bandwidth[point]) * np.sqrt(bandwidth)
    else:
        pair = np.full(len(X), bandwidth)
    with np.errstate(over="ignore"):
        # Halves, as the difference of the largest doubles would overflow.
        offsets = (X / 2 - X[point] / 2) / pair[:, None]
    largest = np.finfo(float).max
    offsets = np.clip(offsets, -largest, largest)
    row = Kernel(name, 0.5).pairwise(np.zeros((1, X.shape[1])), offsets)[0]
    return row if shift is None else row * np.exp(-(shift + shift[point]))
