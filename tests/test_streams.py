"""The counter-based random numbers: a known algorithm, uniform, without correlations between draws, vertices and seeds."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.stats
from kdegraph.sampling.streams import stream, uniform

MASK = 2**64 - 1
GOLDEN, SECOND = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03


def mix(x):
    """SplitMix64's output function in plain integers."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def expected(seed, vertex, draw, counter):
    start = mix(mix(mix(seed + GOLDEN & MASK) + vertex * GOLDEN & MASK) + draw * SECOND & MASK)
    return (mix(start + counter * GOLDEN & MASK) >> 11) * 2.0**-53


def number(seed, vertex, draw, counter):
    # Python's integers would arrive as signed ones.
    return uniform(np.uint64(stream(np.uint64(seed), vertex, draw)), counter)


def numbers(seed, vertices, draws, counters):
    return np.array([[[number(seed, v, l, c) for c in range(counters)] for l in range(draws)] for v in range(vertices)])


@pytest.mark.nojit
@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
def test_bits(seed):
    for vertex in (0, 1, 12345, 2**31):
        for draw in (0, 1, 1000):
            for counter in (0, 1, 77):
                assert number(seed, vertex, draw, counter) == expected(seed, vertex, draw, counter)


@pytest.fixture(scope="module")
def block():
    return numbers(42, 40, 40, 40)


def test_uniform(block):
    values = block.ravel()
    assert values.min() >= 0.0
    assert values.max() < 1.0
    assert scipy.stats.kstest(values, "uniform").pvalue > 1e-4
    counts = np.bincount((values * 256).astype(int), minlength=256)
    assert scipy.stats.chisquare(counts).pvalue > 1e-4
    # The low ones of the 53 bits too.
    low = (values * 2**53).astype(np.uint64) & np.uint64(255)
    assert scipy.stats.chisquare(np.bincount(low.astype(int), minlength=256)).pvalue > 1e-4


def test_every_bit_is_fair(block):
    bits = (block.ravel()[:, None] * 2.0**53).astype(np.uint64) >> np.arange(53, dtype=np.uint64) & np.uint64(1)
    z = (bits.mean(axis=0) - 0.5) * 2 * np.sqrt(len(bits))
    assert np.abs(z).max() < 4.5


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("lag", [1, 2, 7])
def test_no_serial_correlation(block, axis, lag):
    x = np.moveaxis(block, axis, 0)
    a, b = x[:-lag].ravel(), x[lag:].ravel()
    assert abs(np.corrcoef(a, b)[0, 1]) * np.sqrt(a.size) < 4.5
    counts = np.bincount((a * 16).astype(int) * 16 + (b * 16).astype(int), minlength=256)
    assert scipy.stats.chisquare(counts).pvalue > 1e-4


def test_neighbouring_seeds_are_independent(block):
    other = numbers(43, 40, 40, 40)
    assert abs(np.corrcoef(block.ravel(), other.ravel())[0, 1]) * np.sqrt(block.size) < 4.5
    assert not np.isin(other.ravel(), block.ravel()).any()


def test_no_number_twice(block):
    assert np.unique(block).size == block.size


def test_same_without_compiler():
    code = (
        "from kdegraph.sampling.streams import stream, uniform; import numpy as np\n"
        "print([uniform(np.uint64(stream(np.uint64(s), v, 3)), c).hex() for s in (0, 2**64 - 1) for v in (0, 99999) for c in (0, 5)])"
    )
    command = [sys.executable, "-W", "error", "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
    values = [expected(s, v, 3, c).hex() for s in (0, 2**64 - 1) for v in (0, 99999) for c in (0, 5)]
    assert run.stdout.strip() == str(values)
