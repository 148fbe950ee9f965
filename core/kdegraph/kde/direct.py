"""The direct kernel sum, which evaluates every pair: the yardstick of the benchmarks, and the
method of choice for small sets.
"""

import numpy as np
from numpy.typing import NDArray

from kdegraph.costs import DIRECT_COSTS
from kdegraph.geometry.kernels import Kernel, exp_neg, exponents
from kdegraph.runtime import parallel
from kdegraph.runtime.jit import jit

# Sources that are taken together: they stay in the first-level cache while many targets pass by.
SOURCE_BLOCK = 512


def direct_sums(
    kernel: Kernel,
    sources: NDArray[np.float64],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    columns: NDArray[np.float64] | None = None,
    skip: NDArray[np.int64] | None = None,
    progress=None,
) -> NDArray[np.float64]:
    """Exact sums ``sum_j weights[j] k(targets[i], sources[j])``, (m,), in O(m n d).

    The arguments are checked already. Target i leaves out source ``skip[i]``. `columns` are the
    `sources` transposed, if they are known.
    """
    sums = np.zeros(len(targets))
    skip = np.full(len(targets), -1) if skip is None else skip
    columns = np.ascontiguousarray(sources.T) if columns is None else columns
    serial = len(targets) * len(sources) <= DIRECT_COSTS.serial_pairs
    parallel.run(
        _direct_range,
        len(targets),
        kernel.code,
        kernel.inverse_sigma,
        columns,
        targets,
        weights,
        skip,
        sums,
        chunk=len(targets) if serial else None,
        progress=progress,
    )
    return sums


@jit(reassociate=True)
def _direct_range(begin, end, code, scale, columns, targets, weights, skip, sums):
    """Add the sums at targets[begin:end] to `sums`."""
    buffer = np.empty(SOURCE_BLOCK)
    for start in range(0, columns.shape[1], SOURCE_BLOCK):
        stop = min(start + SOURCE_BLOCK, columns.shape[1])
        for i in range(begin, end):
            first = start
            if start <= skip[i] < stop:
                sums[i] += _block_sum(
                    code, scale, targets[i], columns, weights, start, skip[i], buffer
                )
                first = skip[i] + 1
            sums[i] += _block_sum(code, scale, targets[i], columns, weights, first, stop, buffer)


@jit(reassociate=True, borrow=True)
def _block_sum(code, scale, y, columns, weights, start, stop, buffer):
    """The sum over the sources start, ..., stop - 1 at the point `y`; `buffer` takes their
    exponents.
    """
    exponents(code, scale, y, columns, start, stop, buffer)
    w = weights[start:stop]
    total = 0.0
    for j in range(stop - start):
        total += w[j] * exp_neg(buffer[j])
    return total
