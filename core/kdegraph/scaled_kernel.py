"""From what users pass as `sigma` to the kernel between the points of a tree."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kdegraph.bandwidth import estimate_sigma
from kdegraph.geometry.kernels import Kernel, local_kernel
from kdegraph.geometry.tree import Tree
from kdegraph.local_bandwidth import local_bandwidths
from kdegraph.validation import check_positive

# The largest bandwidth over the smallest one. Beyond it exponents would leave the range of doubles.
MAX_RATIO = 1e100

Bandwidth = float | NDArray[np.float64]


def check_sigma(sigma: float | str | ArrayLike, n: int) -> Bandwidth | str:
    """Return `sigma` as a positive number, as an (n,) array of them, or as "auto" or "local"."""
    if isinstance(sigma, str):
        if sigma not in ("auto", "local"):
            raise ValueError(
                "sigma must be a positive number, an array with one for each point, 'auto' or "
                f"'local', got {sigma!r}"
            )
        return sigma
    if np.ndim(sigma) == 0:
        return check_positive(sigma.item() if isinstance(sigma, np.ndarray) else sigma, "sigma")
    array = np.asarray(sigma)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"sigma must hold real numbers, got dtype {array.dtype}")
    if array.shape != (n,):
        raise ValueError(f"sigma must have shape ({n},), one for each point, got {array.shape}")
    array = array.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if bad.size:
        raise ValueError(
            f"sigma must be positive and finite, but sigma[{bad[0]}] is {array[bad[0]]}"
        )
    if array.min() < array.max() / MAX_RATIO:
        raise ValueError(
            f"the bandwidths in sigma differ by a factor of more than {MAX_RATIO:g} "
            f"({array.min():g} to {array.max():g}); clip the extremes"
        )
    return array


def resolve_bandwidth(
    X: NDArray[np.float64], sigma: Bandwidth | str, perplexity: float | None = None
) -> Bandwidth:
    """The number or the array that a checked `sigma` stands for."""
    if not isinstance(sigma, str):
        return sigma
    if sigma == "auto":
        return estimate_sigma(X, seed=0)
    return local_bandwidths(X, perplexity=perplexity)


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
