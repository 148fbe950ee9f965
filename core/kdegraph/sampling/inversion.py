"""Draws from a row of kernel values by inversion: the position at which the running sum exceeds a
uniform number.

The running sum is known at the ends of blocks of `BLOCK_SIZE` values only, so that it is computed
by vectorized loops: a draw searches among the blocks, then in a block.
"""

import numpy as np

from kdegraph.runtime.jit import jit

BLOCK_SIZE = 16
# Sums of blocks that are counted through; among more of them a draw searches by bisection first.
MAX_COUNTED_SUMS = 32


@jit
def minimum(values):
    """The smallest value; of four running minima, so that none waits for the one before."""
    a = b = c = d = np.inf
    n = values.size - values.size % 4
    for j in range(0, n, 4):
        a = min(a, values[j])
        b = min(b, values[j + 1])
        c = min(c, values[j + 2])
        d = min(d, values[j + 3])
    for j in range(n, values.size):
        a = min(a, values[j])
    return min(min(a, b), min(c, d))


@jit(borrow=True)
def total_of(values):
    """The sum of the values; of four running sums, so that none waits for the one before.

    The order is written down, and not left to the compiler: in which order it would add up depends
    on what else it compiles at the same time, and a seed would not give the same bits.
    """
    a = b = c = d = 0.0
    n = values.size - values.size % 4
    for j in range(0, n, 4):
        a += values[j]
        b += values[j + 1]
        c += values[j + 2]
        d += values[j + 3]
    for j in range(n, values.size):
        a += values[j]
    return (a + b) + (c + d)


@jit
def n_blocks(n):
    """How many blocks n values have."""
    return -(-n // BLOCK_SIZE)


@jit(reassociate=True)
def running_sums(values, sums):
    """Write the sums of the values up to the end of each block; return the total."""
    total = 0.0
    for block in range(n_blocks(values.size)):
        subtotal = 0.0
        for j in range(block * BLOCK_SIZE, min((block + 1) * BLOCK_SIZE, values.size)):
            subtotal += values[j]
        total += subtotal
        sums[block] = total
    return total


@jit(borrow=True)
def search(values, sums, u):
    """The first position at which the running sum of `values` exceeds `u` (the last positive one
    before where rounding leaves none); -1 if no value is positive.

    Short ranges are counted through, without a branch that depends on `u`: no processor could guess
    which way it goes.
    """
    block, last = 0, n_blocks(values.size) - 1
    while last - block > MAX_COUNTED_SUMS:
        middle = (block + last) // 2
        if sums[middle] > u:
            last = middle
        else:
            block = middle + 1
    first = block
    for b in range(first, last):
        block += sums[b] <= u
    u -= sums[block - 1] if block else 0.0
    begin, end = block * BLOCK_SIZE, min((block + 1) * BLOCK_SIZE, values.size)
    found = begin
    for j in range(begin, end):
        u -= values[j]
        found += u >= 0.0
    if found < end:
        return found
    for j in range(end - 1, -1, -1):
        if values[j] > 0.0:
            return j
    return -1
