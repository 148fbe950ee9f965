"""The kernels: k(x, y) = exp(-t(x, y)), with t the *exponent*, a scaled distance.

Values with t >= `UNDERFLOW` (below the smallest normal double) count as zero everywhere in this
package, so that all solvers and samplers agree on which points cannot be reached.
"""

import math
from dataclasses import dataclass

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit
from kdegraph.validation import check_choice, check_points, check_positive

GAUSSIAN, LAPLACIAN, EXPONENTIAL = 0, 1, 2
CODES = {"gaussian": GAUSSIAN, "laplacian": LAPLACIAN, "exponential": EXPONENTIAL}
UNDERFLOW = 708.0


@dataclass(frozen=True)
class Kernel:
    """A kernel with its bandwidth, as handed to KDE solvers.

    Parameters
    ----------
    name : {"gaussian", "laplacian", "exponential"}
        ``exp(-||x - y||_2^2 / sigma^2)``, ``exp(-||x - y||_1 / sigma)`` or ``exp(-||x - y||_2 /
        sigma)``.
    sigma : float
        Bandwidth, in the units of the points, positive and finite.

    Raises
    ------
    ValueError, TypeError
        For an unknown name, or a sigma that is not a positive number.

    Notes
    ----- At the limits of doubles: a sigma below 5.6e-309 counts as that, and coordinates that
    differ by more than 1.8e308 as infinitely far from each other.
    """

    name: str
    sigma: float

    def __post_init__(self):
        check_choice(self.name, "kernel", tuple(CODES))
        object.__setattr__(self, "sigma", check_positive(self.sigma, "sigma"))

    @property
    def code(self) -> int:
        """The number by which compiled code knows the kernel."""
        return CODES[self.name]

    @property
    def inverse_sigma(self) -> float:
        """1 / sigma, clamped to the largest double."""
        return (
            min(1.0 / self.sigma, np.finfo(float).max)
            if self.sigma > 5e-309
            else np.finfo(float).max
        )

    def pairwise(self, targets, sources):
        """Exact kernel values.

        Parameters
        ----------
        targets : (m, d) array
        sources : (n, d) array

        Returns
        -------
        (m, n) float64 array
            ``k(targets[i], sources[j])``; 8 m n bytes.
        """
        targets = check_points(targets, "targets")
        sources = check_points(sources, "sources", n_features=targets.shape[1])
        values = np.empty((len(targets), len(sources)))
        columns = np.ascontiguousarray(sources.T)
        with np.errstate(over="ignore"):  # for kernels that are not compiled: infinity is meant
            parallel.run(
                fill_values, len(targets), self.code, self.inverse_sigma, targets, columns, values
            )
        return values


if numba.config.DISABLE_JIT:

    def exp_neg(t):
        """exp(-t), zero from `UNDERFLOW` on."""
        return math.exp(-t) if t < UNDERFLOW else 0.0

else:

    @intrinsic
    def _bits(typing_context, x):
        def codegen(context, builder, signature, args):
            return builder.bitcast(args[0], ir.IntType(64))

        return types.int64(types.float64), codegen

    @intrinsic
    def _double(typing_context, x):
        def codegen(context, builder, signature, args):
            return builder.bitcast(args[0], ir.DoubleType())

        return types.float64(types.int64), codegen

    _LOG2E = 1.4426950408889634
    _LN2_HIGH = 6.93147180369123816490e-01
    _LN2_LOW = 1.90821492927058770002e-10
    _ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it leaves the nearest integer in the low bits
    _C = tuple(1.0 / math.factorial(i) for i in range(14))

    @jit
    def exp_neg(t):
        """exp(-t) to about one unit in the last place, zero from `UNDERFLOW` on.

        Straight-line code, which LLVM vectorizes inside the loops of the callers (a call to the C
        library's exp would stop it).
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


@jit(distinct=True)
def paired_exponents(code, inverse_sigma, X, rows, columns, out):
    """Write the exponents between the points X[rows[p]] and X[columns[p]] into `out`; the numbers
    are not negative.
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


@jit(distinct=True)
def exponents_to(code, inverse_sigma, own, X, columns, out):
    """Write the exponents between the points own[:, p], given by their coordinates, and
    X[columns[p]] into `out`.
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


@jit(reassociate=True)
def exponents(code, inverse_sigma, y, columns, start, stop, out):
    """Write the exponents between the point `y` and the points columns[:, start:stop] into `out`."""
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


@jit
def fill_values(begin, end, code, inverse_sigma, targets, columns, values):
    """Write the kernel values between the points targets[begin:end] and all of `columns` into
    values[begin:end].
    """
    n = columns.shape[1]
    for i in range(begin, end):
        row = values[i]
        exponents(code, inverse_sigma, targets[i], columns, 0, n, row)
        for j in range(n):
            row[j] = exp_neg(row[j])
