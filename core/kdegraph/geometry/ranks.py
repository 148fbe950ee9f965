"""Ranks of a few keys, by counting the smaller ones: vectorized loops, which sorting has not."""

from kdegraph.runtime.jit import jit


@jit(distinct=True, borrow=True)
def add_ranks(keys, n_keys, ranks):
    """Add to the rank of each key how many of the first `n_keys` keys are smaller.

    They are counted four at a time: up to the next multiple of 4, further keys must be at least as
    large as all others.
    """
    for first in range(0, n_keys, 4):
        a, b, c, d = keys[first], keys[first + 1], keys[first + 2], keys[first + 3]
        for k in range(keys.size):
            key = keys[k]
            ranks[k] += int(key > a) + int(key > b) + int(key > c) + int(key > d)
