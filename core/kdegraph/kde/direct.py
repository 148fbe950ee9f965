"""The direct kernel sum: every pair is evaluated. The yardstick of the benchmarks and the solver of
choice for small sets.
"""

import numpy as np

from kdegraph.geometry.kernels import exp_neg, exponents
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit

BLOCK = 512  # sources that stay in the first-level cache while many targets pass by
AT_ONCE = 100_000  # pairs that one thread evaluates sooner than it wakes another


def direct_sums(kernel, sources, targets, weights, *, columns=None, skip=None, progress=None):
    """Exact sums ``sum_j weights[j] k(targets[i], sources[j])``, (m,); all arrays are checked
    already; O(m n d).

    Target i leaves out source ``skip[i]``. `columns` are the `sources` transposed, if they are
    known.
    """
    sums = np.zeros(len(targets))
    skip = np.full(len(targets), -1) if skip is None else skip
    columns = np.ascontiguousarray(sources.T) if columns is None else columns
    parallel.run(
        _direct_range, len(targets), kernel.code, kernel.inverse_sigma, columns, targets, weights, skip, sums,
        chunk=len(targets) if len(targets) * len(sources) <= AT_ONCE else None, progress=progress,
    )  # fmt: skip
    return sums


@jit(reassociate=True)
def _direct_range(begin, end, code, inverse_sigma, columns, targets, weights, skip, sums):
    buffer = np.empty(BLOCK)
    for start in range(0, columns.shape[1], BLOCK):
        stop = min(start + BLOCK, columns.shape[1])
        for i in range(begin, end):
            first = start
            if start <= skip[i] < stop:
                sums[i] += block_sum(
                    code, inverse_sigma, targets[i], columns, weights, start, skip[i], buffer
                )
                first = skip[i] + 1
            sums[i] += block_sum(
                code, inverse_sigma, targets[i], columns, weights, first, stop, buffer
            )


@jit(reassociate=True)
def block_sum(code, inverse_sigma, y, columns, weights, start, stop, buffer):
    """The sum over the sources start..stop-1 for the point `y`; `buffer` has room for their
    exponents.
    """
    exponents(code, inverse_sigma, y, columns, start, stop, buffer)
    w = weights[start:stop]
    total = 0.0
    for j in range(stop - start):
        total += w[j] * exp_neg(buffer[j])
    return total
