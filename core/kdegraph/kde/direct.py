"""The direct kernel sum, which evaluates every pair: the yardstick of the benchmarks, and the
method of choice for small sets.
"""

import numpy as np
from numpy.typing import NDArray

from kdegraph.costs import DIRECT_COSTS
from kdegraph.geometry.kernel_functions import exp_neg
from kdegraph.geometry.kernels import Kernel, row_exponents
from kdegraph.geometry.local_scale import LocalScale
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
    target_local: LocalScale | None = None,
    progress=None,
) -> NDArray[np.float64]:
    """Exact sums ``sum_j weights[j] k(targets[i], sources[j])``, (m,), in O(m n d).

    The arguments are checked already. Target i leaves out source ``skip[i]``. `columns` are the
    `sources` transposed, if they are known. Where bandwidths differ, ``kernel.local`` has those of
    the sources, and `target_local` those of the targets; without it, target i has the bandwidth of
    source ``skip[i]``.
    """
    sums = np.zeros(len(targets))
    skip = np.full(len(targets), -1) if skip is None else skip
    columns = np.ascontiguousarray(sources.T) if columns is None else columns
    target_local = kernel.local.at(skip) if target_local is None else target_local
    serial = len(targets) * len(sources) <= DIRECT_COSTS.serial_pairs
    parallel.run(
        _direct_range,
        len(targets),
        kernel.code,
        kernel.inverse_sigma,
        kernel.local,
        target_local,
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
def _direct_range(
    begin, end, code, scale, local, target_local, columns, targets, weights, skip, sums
):  # fmt: skip
    """Add the sums at targets[begin:end] to `sums`."""
    buffer = np.empty(SOURCE_BLOCK)
    for start in range(0, columns.shape[1], SOURCE_BLOCK):
        stop = min(start + SOURCE_BLOCK, columns.shape[1])
        for i in range(begin, end):
            out = buffer[: stop - start]
            y = targets[i]
            row_exponents(code, scale, y, target_local, i, columns, local, start, stop, out)
            if start <= skip[i] < stop:
                out[skip[i] - start] = np.inf
            sums[i] += _weighted_sum(weights[start:stop], out)


@jit(reassociate=True, borrow=True)
def _weighted_sum(weights, exponents):
    """Return the sum of the kernel values of these exponents."""
    total = 0.0
    for j in range(weights.size):
        total += weights[j] * exp_neg(exponents[j])
    return total
