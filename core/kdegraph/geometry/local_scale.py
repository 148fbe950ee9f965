"""Bandwidths that differ from point to point, and densities that are divided out.

The kernel between two points with the bandwidths ``sigma_i`` and ``sigma_j`` is that of one
bandwidth, the geometric mean ``sqrt(sigma_i sigma_j)``. With the scaled distance ``u`` for a common
reference bandwidth its exponent is

    t(factor_i factor_j u) + shift_i + shift_j,

for every kernel function t, so that compiled code computes scaled distances as it does for one
bandwidth, and turns them into exponents here. A positive shift divides the kernel by a density:
``exp(-shift_i)`` is ``density_i ** -alpha``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.geometry.kernel_functions import GAUSSIAN, LAPLACIAN, exponent_of
from kdegraph.runtime.jit import jit


class LocalScale(NamedTuple):
    """Factors of scaled distances and shifts of exponents; all arrays are empty where all points
    share one bandwidth.
    """

    # (n,): of each point, in the order of the tree
    factor: NDArray[np.float64]
    shift: NDArray[np.float64]
    # (n_nodes,): the smallest and the largest ones in each node of the tree
    low_factor: NDArray[np.float64]
    high_factor: NDArray[np.float64]
    low_shift: NDArray[np.float64]
    high_shift: NDArray[np.float64]

    @property
    def is_local(self) -> bool:
        """True if there is anything to rescale."""
        return self.factor.size > 0

    def at(self, points: NDArray[np.int64] | slice) -> "LocalScale":
        """Return the factors and shifts of some points."""
        if not self.is_local:
            return self
        return self._replace(factor=self.factor[points], shift=self.shift[points])


ONE_BANDWIDTH = LocalScale(*(np.empty(0) for _ in LocalScale._fields))


def local_scale(factor, shift, tree=None) -> LocalScale:
    """Return the `LocalScale` of factors and shifts in the order of `tree`; without a tree it has
    no bounds.
    """
    if tree is None:
        return ONE_BANDWIDTH._replace(factor=factor, shift=shift)
    extremes = np.minimum, np.maximum
    bounds = [tree.reduced(extreme, values) for values in (factor, shift) for extreme in extremes]
    return LocalScale(factor, shift, *bounds)


@jit(inline=True, borrow=True)
def rescaled(code, local, i, others, j, u):
    """Return the exponent of points i and j, whose scaled distance for the reference is u."""
    if local.factor.size == 0:
        return exponent_of(code, u)
    t = exponent_of(code, local.factor[i] * others.factor[j] * u)
    return t + (local.shift[i] + others.shift[j])


@jit(distinct=True, borrow=True)
def rescale_to(code, own_factor, own_shift, local, columns, out):
    """Replace scaled distances of pairs of points by exponents: the factor and the shift of the
    first point are own_factor[p] and own_shift[p], and the second point is columns[p].
    """
    factor, shift = local.factor, local.shift
    for p in range(columns.size):
        j = np.uint32(columns[p])
        t = exponent_of(code, own_factor[p] * factor[j] * out[p])
        out[p] = t + (own_shift[p] + shift[j])


@jit(distinct=True, borrow=True)
def rescale(code, own_factor, own_shift, factor, shift, out):
    """Replace the scaled distances of one point and several others by exponents."""
    if code in (GAUSSIAN, LAPLACIAN):
        for j in range(out.size):
            out[j] = own_factor * factor[j] * out[j] + (own_shift + shift[j])
    else:
        for j in range(out.size):
            t = exponent_of(code, own_factor * factor[j] * out[j])
            out[j] = t + (own_shift + shift[j])


@jit(inline=True, borrow=True)
def rescaled_bounds(code, local, a, others, b, least, most):
    """Return the smallest and the largest exponent between node `a` of the tree of `local` and node
    `b` of that of `others`, whose scaled distances for the reference bandwidth lie between `least`
    and `most`.
    """
    if local.factor.size == 0:
        return exponent_of(code, least), exponent_of(code, most)
    least *= local.low_factor[a] * others.low_factor[b]
    most *= local.high_factor[a] * others.high_factor[b]
    return (
        exponent_of(code, least) + (local.low_shift[a] + others.low_shift[b]),
        exponent_of(code, most) + (local.high_shift[a] + others.high_shift[b]),
    )
