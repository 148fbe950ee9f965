"""Kernels between points with one bandwidth, or with a bandwidth for each of them."""

import numpy as np
from numpy.typing import NDArray

from kdegraph.geometry.kernels import Kernel, local_kernel
from kdegraph.geometry.tree import Tree
from kdegraph.local_bandwidth import Bandwidth


def tree_kernel(
    name: str,
    bandwidth: Bandwidth,
    tree: Tree,
    *,
    density: NDArray[np.float64] | None = None,
    alpha: float = 0.0,
) -> Kernel:
    """Return the kernel between the points of `tree`, divided by ``(density_i density_j) **
    alpha``.

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
    """Return the kernel between `n` points in their own order; see `local_kernel`."""
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
    """Return the kernel values between one of the points and all of them, (n,). That with itself
    is 1 before the division by densities.
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
