"""From what users pass as `sigma` to the kernel between the points of a tree."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kdegraph.bandwidth import estimate_sigma
from kdegraph.geometry.kernels import Kernel, local_kernel
from kdegraph.geometry.tree import Tree
from kdegraph.local_bandwidth import bandwidths_of_new_points, local_bandwidths
from kdegraph.moderate_bandwidth import moderate_bandwidths, moderate_bandwidths_of_new_points
from kdegraph.validation import LOCAL_WORDS, check_bandwidths, check_positive

Bandwidth = float | NDArray[np.float64]


def check_sigma(sigma: float | str | ArrayLike, n: int) -> Bandwidth | str:
    """Return `sigma` as a positive number, as an (n,) array of them, or as one of the words "auto",
    "local" and "moderate".
    """
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
    """The number or the array that a checked `sigma` stands for."""
    if not isinstance(sigma, str):
        return sigma
    if sigma == "auto":
        return estimate_sigma(X, seed=0)
    rule = moderate_bandwidths if sigma == "moderate" else local_bandwidths
    return rule(X, perplexity=perplexity)


def new_bandwidths(
    bandwidth: Bandwidth,
    sigma: ArrayLike | str,
    X: NDArray[np.float64],
    queries: NDArray[np.float64],
    perplexity: float | None,
) -> Bandwidth:
    """The bandwidths of points that are not among the fitted ones `X`, whose bandwidths are
    `bandwidth` and came from the parameters `sigma` and `perplexity`.

    Raises
    ------
    ValueError
        If `sigma` was an array.
    """
    if not isinstance(bandwidth, np.ndarray):
        return bandwidth
    if isinstance(sigma, str):
        moderate = sigma == "moderate"
        rule = moderate_bandwidths_of_new_points if moderate else bandwidths_of_new_points
        return rule(X, queries, perplexity)
    raise ValueError(
        f"X has {len(queries)} new points, whose bandwidths are unknown, as sigma was an array "
        "with those of the fitted points; take sigma='local' or 'moderate', or fit all points"
    )


def tree_kernel(
    name: str,
    bandwidth: Bandwidth,
    tree: Tree,
    *,
    density: NDArray[np.float64] | None = None,
    alpha: float = 0.0,
) -> Kernel:
    """The kernel between the points of `tree`, divided by ``(density_i density_j) ** alpha``.

    `bandwidth` and `density` are in the order of the original points.
    """
    if density is None and not isinstance(bandwidth, np.ndarray):
        return Kernel(name, bandwidth)
    bandwidths = np.broadcast_to(bandwidth, tree.order.shape)[tree.order]
    shift = None if density is None else alpha * np.log(density[tree.order])
    return local_kernel(name, bandwidths, tree, shift)


def pair_kernel(
    name: str, bandwidth: Bandwidth, n: int = 1, shift: NDArray[np.float64] | None = None
) -> Kernel:
    """The kernel between `n` points in their own order, without a tree; see `local_kernel`."""
    if isinstance(bandwidth, np.ndarray):
        return local_kernel(name, bandwidth, shift=shift)
    if shift is not None:
        return local_kernel(name, np.full(n, bandwidth), shift=shift)
    return Kernel(name, bandwidth)


def kernel_row(
    name: str,
    bandwidth: Bandwidth,
    X: NDArray[np.float64],
    point: int,
    *,
    density: NDArray[np.float64] | None = None,
    alpha: float = 0.0,
) -> NDArray[np.float64]:
    """The kernel between one of the points and all of them, (n,), that with itself being 1 before
    the division by densities.
    """
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
    return row if density is None else row / (density * density[point]) ** alpha
