"""Kernels with their bandwidths, and the kernel values of points."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kdegraph.geometry.kernel_functions import (
    KERNELS,
    LAPLACIAN,
    UNDERFLOW,
    exp_neg,
    exponent_of,
    scaled_term,
    to_exponents,
)
from kdegraph.geometry.local_scale import ONE_BANDWIDTH, LocalScale, local_scale, rescale
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.validation import check_choice, check_points, check_positive


@dataclass(frozen=True)
class Kernel:
    """A kernel function with its bandwidth.

    Parameters
    ----------
    name : {"gaussian", "laplacian", "exponential", "matern-3/2", "matern-5/2"}
        With the Euclidean distance r in units of sigma: ``exp(-r^2)``, ``exp(-r)`` for
        "exponential", ``(1 + sqrt(3) r) exp(-sqrt(3) r)`` and
        ``(1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r)`` for the Matérn kernels. "laplacian" is
        ``exp(-||x - y||_1 / sigma)``, with the L1 distance.
    sigma : float
        Bandwidth, in the units of the points, positive and finite.
    local : LocalScale, optional
        How the bandwidths of the points of a tree differ from `sigma`. By default they do not.

    Raises
    ------
    ValueError, TypeError
        For an unknown name, or a sigma that is not a positive number.

    Notes
    -----
    At the limits of doubles: a sigma below 5.6e-309 counts as 5.6e-309, and two coordinates that
    differ by more than 1.8e308 count as infinitely far from each other.

    Examples
    --------
    >>> from kdegraph.kde import Kernel
    >>> kernel = Kernel("gaussian", sigma=2.0)
    >>> kernel.sigma
    2.0
    """

    name: str
    sigma: float
    local: LocalScale = field(default=ONE_BANDWIDTH, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_choice(self.name, "kernel", tuple(KERNELS))
        object.__setattr__(self, "sigma", check_positive(self.sigma, "sigma"))

    @property
    def code(self) -> int:
        """The number by which compiled code knows the kernel."""
        return KERNELS[self.name].code

    @property
    def inverse_sigma(self) -> float:
        """1 / sigma, or the largest double where that would overflow."""
        largest = float(np.finfo(float).max)
        return min(1.0 / self.sigma, largest) if self.sigma > 5e-309 else largest

    def pairwise(self, targets: ArrayLike, sources: ArrayLike) -> NDArray[np.float64]:
        """Return the kernel values between two sets of points, with the bandwidth `sigma`.

        Parameters
        ----------
        targets : (m, d) array_like
        sources : (n, d) array_like

        Returns
        -------
        (m, n) float64 array
            ``k(targets[i], sources[j])``, to rounding; it takes 8 m n bytes.

        Raises
        ------
        ValueError, TypeError
            For points that are not finite or of the wrong shape.

        Examples
        --------
        >>> from kdegraph.kde import Kernel
        >>> Kernel("gaussian", sigma=2.0).pairwise([[0.0]], [[0.0], [2.0]]).round(4)
        array([[1.    , 0.3679]])
        """
        targets = check_points(targets, "targets")
        sources = check_points(sources, "sources", n_features=targets.shape[1])
        values = np.empty((len(targets), len(sources)))
        parallel.run(_fill_pairwise, len(targets), self, targets, sources, values)
        return values


def _fill_pairwise(begin, end, kernel, targets, sources, values):
    """Write the kernel values between targets[begin:end] and `sources` to values[begin:end].

    This is NumPy's work, as the first graph needs few values and would wait for the compiler.
    """
    function = KERNELS[kernel.name]
    n_rows = max(1, 2**14 // max(1, len(sources)))  # arrays of 128 KiB stay in the cache
    for first in range(begin, end, n_rows):
        block = slice(first, min(first + n_rows, end))
        total = np.zeros((block.stop - first, len(sources)))
        with np.errstate(over="ignore"):  # what overflows is out of reach
            for x, y in zip(targets[block].T, sources.T, strict=True):
                delta = np.subtract.outer(x, y)
                delta *= kernel.inverse_sigma
                total += np.abs(delta) if function.norm == 1 else np.square(delta)
            total = function.exponent(total)
        values[block] = np.where(total < UNDERFLOW, np.exp(-total), 0.0)


def local_kernel(name: str, bandwidths, tree=None, shift=None) -> Kernel:
    """Return the kernel with a bandwidth for each point, in the order of the tree of the points if
    there is one, which samplers need. The (n,) `shift` is added to exponents, see `LocalScale`.

    The `sigma` of the kernel is the reference: the middle of the bandwidths on a logarithmic scale.
    """
    reference = float(np.sqrt(bandwidths.min()) * np.sqrt(bandwidths.max()))
    factor = KERNELS[name].bandwidth_factors(reference, bandwidths)
    shift = np.zeros(factor.size) if shift is None else shift
    return Kernel(name, reference, local_scale(factor, shift, tree))


@jit(borrow=True)
def scaled_distance(code, inverse_sigma, X, i, Y, j):
    """Return the scaled distance of X[i] and Y[j]."""
    total = 0.0
    for c in range(X.shape[1]):
        total += scaled_term(code, (X[i, c] - Y[j, c]) * inverse_sigma)
    return total


@jit(borrow=True)
def exponent(code, inverse_sigma, X, i, Y, j):
    """Return the exponent of the kernel between X[i] and Y[j]."""
    return exponent_of(code, scaled_distance(code, inverse_sigma, X, i, Y, j))


@jit(distinct=True, borrow=True)
def paired_exponents(code, inverse_sigma, X, rows, columns, out):
    """Write the exponents between the points X[rows[p]] and X[columns[p]] to out[p].

    Indices must not be negative: they are read as unsigned, which spares the test for indices that
    count from the end.
    """
    out = out[: rows.size]
    out[:] = 0.0
    for c in range(X.shape[1]):
        for p in range(rows.size):
            delta = X[np.uint32(rows[p]), c] - X[np.uint32(columns[p]), c]
            out[p] += scaled_term(code, delta * inverse_sigma)
    to_exponents(code, out)


@jit(distinct=True, borrow=True)
def scaled_distances_to(code, inverse_sigma, own, X, columns, out):
    """Write the scaled distances between the points own[:, p] and X[columns[p]] to out[p].

    Indices must not be negative, see `paired_exponents`.
    """
    for p in range(columns.size):
        out[p] = 0.0
    for c in range(X.shape[1]):
        x = own[c]
        for p in range(columns.size):
            out[p] += scaled_term(code, (x[p] - X[np.uint32(columns[p]), c]) * inverse_sigma)


@jit(borrow=True)
def scaled_distances(code, inverse_sigma, y, columns, start, stop, out):
    """Write the scaled distances between the point `y` and columns[:, start:stop] to `out`."""
    # Loops of their own for each norm and for the first dimension: in two dimensions, a choice
    # within the loop takes 1.3 times as long, and setting `out` to zero first 1.5 times.
    x = columns[0, start:stop]
    if code == LAPLACIAN:
        for j in range(x.size):
            out[j] = abs((x[j] - y[0]) * inverse_sigma)
        for c in range(1, y.size):
            x = columns[c, start:stop]
            for j in range(x.size):
                out[j] += abs((x[j] - y[c]) * inverse_sigma)
        return
    for j in range(x.size):
        delta = (x[j] - y[0]) * inverse_sigma
        out[j] = delta * delta
    for c in range(1, y.size):
        x = columns[c, start:stop]
        for j in range(x.size):
            delta = (x[j] - y[c]) * inverse_sigma
            out[j] += delta * delta


@jit(borrow=True)
def row_exponents(code, inverse_sigma, y, own_local, i, columns, local, start, stop, out):
    """Write the exponents between the point `y` and columns[:, start:stop] to `out`.

    The bandwidth of `y` is that of point `i` of `own_local`; those of the columns are in `local`.
    """
    scaled_distances(code, inverse_sigma, y, columns, start, stop, out)
    if local.factor.size:
        own_factor, own_shift = own_local.factor[i], own_local.shift[i]
        factor, shift = local.factor[start:stop], local.shift[start:stop]
        rescale(code, own_factor, own_shift, factor, shift, out)
    else:
        to_exponents(code, out)


@jit(borrow=True)
def fill_values(begin, end, code, inverse_sigma, target_local, local, targets, columns, values):
    """Write the kernel values between targets[begin:end] and all `columns` to values[begin:end];
    `target_local` and `local` have the bandwidths of both.
    """
    n = columns.shape[1]
    for i in range(begin, end):
        row = values[i]
        row_exponents(code, inverse_sigma, targets[i], target_local, i, columns, local, 0, n, row)
        for j in range(n):
            row[j] = exp_neg(row[j])
