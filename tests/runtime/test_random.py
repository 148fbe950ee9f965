"""Counter-based random numbers: a known algorithm, and independence along every axis."""

import itertools

import numpy as np
import pytest
import scipy.stats
from kdegraph.runtime.random import stream, uniform

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
SECOND = 0xD1B54A32D192ED03


def mix(x):
    """SplitMix64's output function in plain integers."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def expected(seed, vertex, draw, counter):
    start = mix(mix(mix(seed + GOLDEN & MASK) + vertex * GOLDEN & MASK) + draw * SECOND & MASK)
    return (mix(start + counter * GOLDEN & MASK) >> 11) * 2.0**-53


def number(seed, vertex, draw, counter):
    # The compiler takes Python's integers for signed ones.
    return uniform(np.uint64(stream(np.uint64(seed), vertex, draw)), counter)


@pytest.mark.nojit
def test_bits():
    """Without the compiler, too."""
    seeds, vertices = (0, 1, 2**63, 2**64 - 1), (0, 1, 12345, 2**31)
    for place in itertools.product(seeds, vertices, (0, 1, 1000), (0, 1, 77)):
        assert number(*place) == expected(*place)


def test_numbers_are_uniform_and_independent_along_every_axis():
    """Briefly: `python -m benchmarks run randomness` tests the algorithm at length."""
    shape = (3, 25, 25, 25)  # seeds, vertices, draws, counters
    block = np.array([number(*place) for place in np.ndindex(shape)]).reshape(shape)
    assert np.unique(block).size == block.size
    assert scipy.stats.kstest(block.ravel(), "uniform").pvalue > 1e-4
    for axis in range(4):
        values = np.moveaxis(block, axis, 0)
        one, next_one = values[:-1].ravel(), values[1:].ravel()
        assert abs(np.corrcoef(one, next_one)[0, 1]) * np.sqrt(one.size) < 4.5
        cells = (one * 16).astype(int) * 16 + (next_one * 16).astype(int)
        assert scipy.stats.chisquare(np.bincount(cells, minlength=256)).pvalue > 1e-4
