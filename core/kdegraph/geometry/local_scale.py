"""Bandwidths that differ from point to point, and densities that are divided out.

The kernel between two points with the bandwidths ``sigma_i`` and ``sigma_j`` is that of one
bandwidth, the geometric mean ``sqrt(sigma_i sigma_j)``. With the exponent ``t`` of a common
reference bandwidth it is

    exp(-(factor_i factor_j t + shift_i + shift_j)),

for every family of kernels, so that compiled code computes exponents as it does for one bandwidth,
and rescales them here. A positive shift divides the kernel by a density: ``exp(-shift_i)`` is
``density_i ** -alpha``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.runtime.jit import jit


class LocalScale(NamedTuple):
    """Factors and shifts of the exponents; all arrays are empty where all points share one
    bandwidth.

    Attributes
    ----------
    factor, shift : (n,) float64
        Of each point, in the order of the tree.
    low_factor, high_factor, low_shift, high_shift : (n_nodes,) float64
        The smallest and the largest ones in each node of the tree.
    """

    factor: NDArray[np.float64]
    shift: NDArray[np.float64]
    low_factor: NDArray[np.float64]
    high_factor: NDArray[np.float64]
    low_shift: NDArray[np.float64]
    high_shift: NDArray[np.float64]

    @property
    def is_local(self) -> bool:
        """Whether there is anything to rescale."""
        return self.factor.size > 0

    @property
    def largest_factor(self) -> float:
        """The factor of the point with the smallest bandwidth; 1 where all points share one."""
        return float(self.factor.max(initial=0.0)) if self.is_local else 1.0


def _empty() -> NDArray[np.float64]:
    return np.empty(0)


ONE_BANDWIDTH = LocalScale(_empty(), _empty(), _empty(), _empty(), _empty(), _empty())


def local_scale(factor, shift, tree=None) -> LocalScale:
    """The `LocalScale` of factors and shifts in the order of `tree`; without a tree it has no
    bounds.
    """
    if tree is None:
        return ONE_BANDWIDTH._replace(factor=factor, shift=shift)
    bounds = [np.empty(tree.start.size) for _ in range(4)]
    _fill_bounds(factor, tree.start, tree.stop, *bounds[:2])
    _fill_bounds(shift, tree.start, tree.stop, *bounds[2:])
    return LocalScale(factor, shift, *bounds)


@jit(borrow=True)
def _fill_bounds(values, start, stop, low, high):
    """Write the extremes of the values in each node, from the leaves upward."""
    n_nodes = start.size
    for k in range(n_nodes - 1, -1, -1):
        if 2 * k + 2 < n_nodes:
            low[k] = min(low[2 * k + 1], low[2 * k + 2])
            high[k] = max(high[2 * k + 1], high[2 * k + 2])
            continue
        smallest = largest = values[start[k]]
        for i in range(start[k] + 1, stop[k]):
            smallest, largest = min(smallest, values[i]), max(largest, values[i])
        low[k], high[k] = smallest, largest


@jit(inline=True, borrow=True)
def rescaled(local, i, others, j, t):
    """The exponent of point i of `local` and point j of `others` from that of the reference
    bandwidth.
    """
    if local.factor.size == 0:
        return t
    return local.factor[i] * others.factor[j] * t + (local.shift[i] + others.shift[j])


@jit(distinct=True, borrow=True)
def rescale_to(own_factor, own_shift, local, columns, out):
    """Rescale the exponents out[p] of pairs of points: the factor and the shift of the first one
    are given, and the second one is columns[p].
    """
    factor, shift = local.factor, local.shift
    for p in range(columns.size):
        j = np.uint32(columns[p])
        out[p] = own_factor[p] * factor[j] * out[p] + (own_shift[p] + shift[j])


@jit(distinct=True, borrow=True)
def rescale_row(own_factor, own_shift, local, start, out):
    """Rescale the exponents of one point and the points from `start` on in the order of the
    tree.
    """
    if local.factor.size:
        stop = start + out.size
        rescale(own_factor, own_shift, local.factor[start:stop], local.shift[start:stop], out)


@jit(distinct=True, borrow=True)
def rescale(own_factor, own_shift, factor, shift, out):
    """Rescale the exponents of one point and the points with the factors and shifts given."""
    for j in range(out.size):
        out[j] = own_factor * factor[j] * out[j] + (own_shift + shift[j])


@jit(inline=True, borrow=True)
def factor_and_shift(local, i):
    """The factor and the shift of point i; 1 and 0 where all points share one bandwidth."""
    if local.factor.size == 0:
        return 1.0, 0.0
    return local.factor[i], local.shift[i]


@jit(inline=True, borrow=True)
def rescaled_bounds(local, a, others, b, least, most):
    """The smallest and the largest exponent between node `a` of the tree of `local` and node `b` of
    that of `others`, from those of the reference bandwidth.
    """
    if local.factor.size == 0:
        return least, most
    low = local.low_factor[a] * others.low_factor[b]
    high = local.high_factor[a] * others.high_factor[b]
    return (
        low * least + (local.low_shift[a] + others.low_shift[b]),
        high * most + (local.high_shift[a] + others.high_shift[b]),
    )
