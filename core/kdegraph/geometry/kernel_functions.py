"""Kernel functions: k(x, y) = exp(-t), where the *exponent* t grows with the distance of x and y.

The table `KERNELS` has one row for each of them, and `exponent_of` is its compiled form. To add a
kernel function, write its exponent, give it a code and a row, and a branch in `exponent_of`.

Everywhere else, code computes the *scaled distance* u of two points, a sum over the dimensions c:
of ``|x_c - y_c| / sigma`` for kernels of the L1 distance, and of the squares of these numbers for
kernels of the Euclidean distance. Where each point has its own bandwidth, u is rescaled before
`exponent_of` is applied, see `kdegraph.geometry.local_scale`.

Values with t >= `UNDERFLOW` count as zero everywhere in this package, so that all solvers and
samplers agree on which points cannot be reached.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from kdegraph.runtime.jit import jit

# The exponent from which on kernel values count as zero. exp(-708) is 3.3e-308; the doubles below
# 2.2e-308 have fewer digits.
UNDERFLOW = 708.0

# Matérn kernels: the logarithm of their polynomial is that of a distance of at most this, because
# the square of a larger one could overflow. The value has underflowed long before.
_FAR = 1e4


def _identity(u):
    return u


def _matern_3_2(u):
    r = np.sqrt(3.0 * u)
    return r - np.log1p(np.minimum(r, _FAR))


def _matern_5_2(u):
    r = np.sqrt(5.0 * u)
    near = np.minimum(r, _FAR)
    return r - np.log1p(near + near * near / 3.0)


class KernelFunction(NamedTuple):
    """A kernel function."""

    code: int  # the number by which compiled code knows it
    norm: int  # 1 or 2: its distance is L1 or Euclidean
    exponent: Callable  # The exponent t of a scaled distance u. It increases with u.
    reach: float  # a distance in units of sigma from which on all values count as zero

    def bandwidth_factors(self, reference, bandwidths):
        """Return by what each bandwidth multiplies scaled distances in units of `reference`.

        The bandwidth of a pair of points is the geometric mean of theirs.
        """
        with np.errstate(over="ignore"):  # the product of two factors is finite
            factors = np.minimum(reference / bandwidths, 1e200)
        return factors if self.norm == 2 else np.sqrt(factors)


GAUSSIAN, LAPLACIAN, EXPONENTIAL, MATERN_3_2, MATERN_5_2 = range(5)

KERNELS = {
    "gaussian": KernelFunction(GAUSSIAN, 2, _identity, math.sqrt(UNDERFLOW)),
    "laplacian": KernelFunction(LAPLACIAN, 1, _identity, UNDERFLOW),
    "exponential": KernelFunction(EXPONENTIAL, 2, np.sqrt, UNDERFLOW),
    "matern-3/2": KernelFunction(MATERN_3_2, 2, _matern_3_2, UNDERFLOW),
    "matern-5/2": KernelFunction(MATERN_5_2, 2, _matern_5_2, UNDERFLOW),
}

_compiled_matern_3_2 = jit(inline=True)(_matern_3_2)
_compiled_matern_5_2 = jit(inline=True)(_matern_5_2)


@jit(inline=True)
def exponent_of(code, u):
    """Return the exponent t of a scaled distance u."""
    if code in (GAUSSIAN, LAPLACIAN):
        return u
    if code == EXPONENTIAL:
        return math.sqrt(u)
    return _compiled_matern_3_2(u) if code == MATERN_3_2 else _compiled_matern_5_2(u)


@jit(distinct=True, borrow=True)
def to_exponents(code, u):
    """Replace scaled distances by exponents."""
    if code == EXPONENTIAL:
        for j in range(u.size):
            u[j] = math.sqrt(u[j])
    elif code not in (GAUSSIAN, LAPLACIAN):
        for j in range(u.size):
            u[j] = exponent_of(code, u[j])


@jit(inline=True)
def scaled_term(code, delta):
    """Return what a difference in one dimension, in units of sigma, adds to a scaled distance."""
    return abs(delta) if code == LAPLACIAN else delta * delta


if numba.config.DISABLE_JIT:

    def exp_neg(t):
        """Return ``exp(-t)``, zero from `UNDERFLOW` on."""
        return math.exp(-t) if t < UNDERFLOW else 0.0

    rough_exp_neg = exp_neg

else:

    def _reinterpreted(source, target):
        """Return a function for compiled code that reads the bits of a number as another type."""

        @intrinsic
        def read(typing_context, x):
            def codegen(context, builder, signature, args):
                return builder.bitcast(args[0], context.get_value_type(target))

            return target(source), codegen

        return read

    _bits = _reinterpreted(types.float64, types.int64)
    _double = _reinterpreted(types.int64, types.float64)

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
        """Return ``exp(-t)`` to about one unit in the last place, zero from `UNDERFLOW` on.

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
        """Return ``exp(-t)`` or up to 6.2 % more, for t from 0 to `UNDERFLOW`.

        The bits of a double, taken for an integer, are about its logarithm: exactly at the powers
        of two, and in between the double lies on the chord.
        """
        return _double(np.int64((1023.0 - t * _LOG2E) * 2.0**52))
