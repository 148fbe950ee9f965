"""Kernel functions: k(x, y) = exp(-t(x, y)), where the *exponent* t is a scaled distance.

Values with t >= `UNDERFLOW` count as zero everywhere in this package, so that all solvers and
samplers agree on which points cannot be reached.
"""

import math
from dataclasses import dataclass, field

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import ArrayLike, NDArray

from kdegraph.geometry.local_scale import (
    ONE_BANDWIDTH,
    LocalScale,
    factor_and_shift,
    local_scale,
    rescale_row,
)
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.validation import check_choice, check_points, check_positive

# Numbers by which compiled code knows the kernels.
GAUSSIAN = 0
LAPLACIAN = 1
EXPONENTIAL = 2
CODES = {"gaussian": GAUSSIAN, "laplacian": LAPLACIAN, "exponential": EXPONENTIAL}

# The exponent from which on kernel values count as zero. exp(-708) is 3.3e-308; the doubles below
# 2.2e-308 have fewer digits.
UNDERFLOW = 708.0

# Kernel values that `Kernel.pairwise` computes at a time: arrays of 128 kB stay in the cache.
CACHED_VALUES = 16_384


@dataclass(frozen=True)
class Kernel:
    """A kernel function with its bandwidth.

    Parameters
    ----------
    name : {"gaussian", "laplacian", "exponential"}
        ``exp(-||x - y||_2^2 / sigma^2)``, ``exp(-||x - y||_1 / sigma)`` or
        ``exp(-||x - y||_2 / sigma)``.
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
        check_choice(self.name, "kernel", tuple(CODES))
        object.__setattr__(self, "sigma", check_positive(self.sigma, "sigma"))

    @property
    def code(self) -> int:
        """The number by which compiled code knows the kernel.

        Examples
        --------
        >>> from kdegraph.kde import Kernel
        >>> Kernel("laplacian", sigma=1.0).code
        1
        """
        return CODES[self.name]

    @property
    def inverse_sigma(self) -> float:
        """1 / sigma, or the largest double where that would overflow.

        Examples
        --------
        >>> from kdegraph.kde import Kernel
        >>> Kernel("gaussian", sigma=4.0).inverse_sigma
        0.25
        """
        largest = float(np.finfo(float).max)
        return min(1.0 / self.sigma, largest) if self.sigma > 5e-309 else largest

    def pairwise(self, targets: ArrayLike, sources: ArrayLike) -> NDArray[np.float64]:
        """The matrix of kernel values between two sets of points, with the bandwidth `sigma`.

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
    n_rows = max(1, CACHED_VALUES // max(1, len(sources)))
    for first in range(begin, end, n_rows):
        block = slice(first, min(first + n_rows, end))
        values[block] = _pairwise_values(kernel, targets[block], sources)


def _pairwise_values(kernel, targets, sources):
    """`Kernel.pairwise` for few enough points that the arrays stay in the cache."""
    total = np.zeros((len(targets), len(sources)))
    with np.errstate(over="ignore"):  # what overflows is out of reach
        for x, y in zip(targets.T, sources.T, strict=True):
            delta = np.subtract.outer(x, y)
            delta *= kernel.inverse_sigma
            total += np.abs(delta) if kernel.code == LAPLACIAN else np.square(delta)
        if kernel.code == EXPONENTIAL:
            np.sqrt(total, out=total)
    return np.where(total < UNDERFLOW, np.exp(-total), 0.0)


def local_kernel(name: str, bandwidths, tree=None, shift=None) -> Kernel:
    """The kernel with a bandwidth for each point.

    Parameters
    ----------
    name : str
    bandwidths : (n,) float64
        In the order of the tree, if there is one.
    tree : Tree, optional
        The tree of the points, which samplers need.
    shift : (n,) float64, optional
        What is added to exponents, see `LocalScale`.

    Returns
    -------
    Kernel
        Its `sigma` is the reference: the middle of the bandwidths on a logarithmic scale.
    """
    reference = float(np.sqrt(bandwidths.min()) * np.sqrt(bandwidths.max()))
    factor = exponent_factors(name, reference, bandwidths)
    shift = np.zeros(factor.size) if shift is None else shift
    return Kernel(name, reference, local_scale(factor, shift, tree))


def exponent_factors(name: str, reference: float, bandwidths) -> NDArray[np.float64]:
    """The factors of `LocalScale` for these bandwidths."""
    factor = reference / bandwidths
    return factor if name == "gaussian" else np.sqrt(factor)


if numba.config.DISABLE_JIT:

    def exp_neg(t):
        """``exp(-t)``, zero from `UNDERFLOW` on."""
        return math.exp(-t) if t < UNDERFLOW else 0.0

    rough_exp_neg = exp_neg

else:

    @intrinsic
    def _bits(typing_context, x):
        """The bits of a double as an integer."""

        def codegen(context, builder, signature, args):
            return builder.bitcast(args[0], ir.IntType(64))

        return types.int64(types.float64), codegen

    @intrinsic
    def _double(typing_context, x):
        """The double that has these bits."""

        def codegen(context, builder, signature, args):
            return builder.bitcast(args[0], ir.DoubleType())

        return types.float64(types.int64), codegen

    _LOG2E = 1.4426950408889634
    # ln(2) as a sum: the first part has few digits, so that its products with integers are exact.
    _LN2_HIGH = 6.93147180369123816490e-01
    _LN2_LOW = 1.90821492927058770002e-10
    # 1.5 * 2**52: adding it to a double leaves the nearest integer in the low bits.
    _ROUND = 6755399441055744.0
    # The Taylor series of exp; 14 terms are exact to rounding for |r| <= ln(2) / 2.
    _C = tuple(1.0 / math.factorial(i) for i in range(14))

    @jit
    def exp_neg(t):
        """``exp(-t)`` to about one unit in the last place, zero from `UNDERFLOW` on.

        It is ``2**n exp(r)`` with the integer n nearest to ``-t / ln(2)``. The code has no branches
        and no calls, so that LLVM vectorizes it inside the loops of the callers; it would not
        vectorize a call of the exp of the C library.
        """
        shifted = _ROUND - t * _LOG2E
        n = shifted - _ROUND
        r = (-t - n * _LN2_HIGH) - n * _LN2_LOW
        p = _C[13]
        p = p * r + _C[12]
        p = p * r + _C[11]
        p = p * r + _C[10]
        p = p * r + _C[9]
        p = p * r + _C[8]
        p = p * r + _C[7]
        p = p * r + _C[6]
        p = p * r + _C[5]
        p = p * r + _C[4]
        p = p * r + _C[3]
        p = p * r + _C[2]
        p = p * r + 1.0
        p = p * r + 1.0
        value = _double(_bits(p) + (_bits(shifted) << np.int64(52)))
        return value if t < UNDERFLOW else 0.0

    @jit
    def rough_exp_neg(t):
        """``exp(-t)`` or up to 6.2 % more, for t from 0 to `UNDERFLOW`.

        The bits of a double, taken for an integer, are about its logarithm: exactly at the powers
        of two, and in between the double lies on the chord.
        """
        return _double(np.int64((1023.0 - t * _LOG2E) * 2.0**52))


@jit(borrow=True)
def exponent(code, inverse_sigma, X, i, Y, j):
    """The exponent t of the kernel between X[i] and Y[j]."""
    total = 0.0
    if code == LAPLACIAN:
        for c in range(X.shape[1]):
            total += abs((X[i, c] - Y[j, c]) * inverse_sigma)
        return total
    for c in range(X.shape[1]):
        delta = (X[i, c] - Y[j, c]) * inverse_sigma
        total += delta * delta
    return total if code == GAUSSIAN else math.sqrt(total)


@jit(distinct=True, borrow=True)
def paired_exponents(code, inverse_sigma, X, rows, columns, out):
    """Write the exponents between the points X[rows[p]] and X[columns[p]] into out[p].

    Indices must not be negative: they are read as unsigned, which spares the test for indices that
    count from the end.
    """
    for p in range(rows.size):
        out[p] = 0.0
    for c in range(X.shape[1]):
        if code == LAPLACIAN:
            for p in range(rows.size):
                out[p] += abs(
                    (X[np.uint32(rows[p]), c] - X[np.uint32(columns[p]), c]) * inverse_sigma
                )
        else:
            for p in range(rows.size):
                delta = (X[np.uint32(rows[p]), c] - X[np.uint32(columns[p]), c]) * inverse_sigma
                out[p] += delta * delta
    if code == EXPONENTIAL:
        for p in range(rows.size):
            out[p] = math.sqrt(out[p])


@jit(distinct=True, borrow=True)
def exponents_to(code, inverse_sigma, own, X, columns, out):
    """Write the exponents between the points own[:, p] and X[columns[p]] into out[p].

    Indices must not be negative, see `paired_exponents`.
    """
    for p in range(columns.size):
        out[p] = 0.0
    for c in range(X.shape[1]):
        x = own[c]
        if code == LAPLACIAN:
            for p in range(columns.size):
                out[p] += abs((x[p] - X[np.uint32(columns[p]), c]) * inverse_sigma)
        else:
            for p in range(columns.size):
                delta = (x[p] - X[np.uint32(columns[p]), c]) * inverse_sigma
                out[p] += delta * delta
    if code == EXPONENTIAL:
        for p in range(columns.size):
            out[p] = math.sqrt(out[p])


@jit(borrow=True)
def exponents(code, inverse_sigma, y, columns, start, stop, out):
    """Write the exponents between the point `y` and columns[:, start:stop] into `out`."""
    n = stop - start
    x = columns[0, start:stop]
    if code == LAPLACIAN:
        for j in range(n):
            out[j] = abs((x[j] - y[0]) * inverse_sigma)
        for c in range(1, y.size):
            x = columns[c, start:stop]
            for j in range(n):
                out[j] += abs((x[j] - y[c]) * inverse_sigma)
        return
    for j in range(n):
        delta = (x[j] - y[0]) * inverse_sigma
        out[j] = delta * delta
    for c in range(1, y.size):
        x = columns[c, start:stop]
        for j in range(n):
            delta = (x[j] - y[c]) * inverse_sigma
            out[j] += delta * delta
    if code == EXPONENTIAL:
        for j in range(n):
            out[j] = math.sqrt(out[j])


@jit(borrow=True)
def fill_values(begin, end, code, inverse_sigma, target_local, local, targets, columns, values):
    """Write the kernel values between targets[begin:end] and all `columns` to values[begin:end];
    `target_local` and `local` have the bandwidths of both.
    """
    n = columns.shape[1]
    for i in range(begin, end):
        row = values[i]
        exponents(code, inverse_sigma, targets[i], columns, 0, n, row)
        factor, shift = factor_and_shift(target_local, i)
        rescale_row(factor, shift, local, 0, row)
        for j in range(n):
            row[j] = exp_neg(row[j])
