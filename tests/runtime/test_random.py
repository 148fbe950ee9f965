"""The counter-based random numbers: a known algorithm, and no dependence between counters, draws,
vertices and seeds.
"""

import os
import subprocess
import sys

import battery
import numba
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
    # Python's integers would arrive as signed ones.
    return uniform(np.uint64(stream(np.uint64(seed), vertex, draw)), counter)


@pytest.mark.nojit
def test_bits():
    for seed in (0, 1, 2**63, 2**64 - 1):
        for vertex in (0, 1, 12345, 2**31):
            for draw in (0, 1, 1000):
                for counter in (0, 1, 77):
                    place = seed, vertex, draw, counter
                    assert number(*place) == expected(*place)


COUNT = 2**17
ORDERS = ("counters", "draws", "vertices", "seeds", "counters of draws of vertices")


@numba.njit
def in_order(order, seed, out):
    """Write the numbers along one of `ORDERS`; samplers use them in the last one."""
    for k in range(out.size):
        if order == 0:
            out[k] = uniform(stream(seed, 7, 3), k)
        elif order == 1:
            out[k] = uniform(stream(seed, 7, k), 0)
        elif order == 2:
            out[k] = uniform(stream(seed, k, 3), 0)
        elif order == 3:
            out[k] = uniform(stream(seed + np.uint64(k), 7, 3), 1)
        else:
            out[k] = uniform(stream(seed, k // 40, k // 4 % 10), k % 4)


def ordered(order, seed):
    out = np.empty(COUNT)
    in_order(ORDERS.index(order), np.uint64(seed), out)
    return out


@pytest.mark.parametrize("order", ORDERS)
def test_battery(order):
    """About 30 tests of each of 10 sequences: the smallest p-value to expect is 3e-3."""
    for seed in (0, 2**40 + 12345):
        values = ordered(order, seed)
        found = dict(battery.p_values(values))
        assert min(found.values()) > 1e-5
        assert np.unique(values).size == values.size


def test_battery_p_values_are_uniform():
    """Also flaws that are too small for one test would show."""
    sequences = [ordered("counters of draws of vertices", seed) for seed in range(10, 16)]
    found = [p for values in sequences for _, p in battery.p_values(values)]
    assert scipy.stats.kstest(found, "uniform").pvalue > 1e-4


FLAWED = {
    "weyl": lambda k: k * np.uint64(GOLDEN),
    "mixed once, low bits short": lambda k: (
        (k ^ k >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    ),
    "congruential": lambda k: (
        np.cumsum(np.full(k.size, 6364136223846793005, np.uint64)) * np.uint64(1442695040888963407)
    ),
    "repeated": lambda k: np.tile(
        np.random.default_rng(0).integers(0, 2**64, k.size // 2, dtype=np.uint64), 2
    ),
    "lowest bit stuck": lambda k: (
        np.random.default_rng(0).integers(0, 2**64, k.size, dtype=np.uint64) | np.uint64(1 << 11)
    ),
    "alternating": lambda k: np.sort(
        np.random.default_rng(0).integers(0, 2**64, k.size, dtype=np.uint64).reshape(-1, 2), axis=1
    ).ravel(),
}


@pytest.mark.parametrize("flaw", FLAWED)
def test_battery_finds_flaws(flaw):
    numbers = (FLAWED[flaw](np.arange(COUNT, dtype=np.uint64)) >> np.uint64(11)) * 2.0**-53
    assert min(p for _, p in battery.p_values(numbers)) < 1e-8


WITHOUT_COMPILER = """
import numpy as np
from kdegraph.runtime.random import stream, uniform
for seed in (0, 2**64 - 1):
    for vertex in (0, 99999):
        for counter in (0, 5):
            print(uniform(np.uint64(stream(np.uint64(seed), vertex, 3)), counter).hex())
"""


def test_same_without_compiler():
    command = [sys.executable, "-W", "error", "-c", WITHOUT_COMPILER]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert run.stdout.split() == [
        expected(seed, vertex, 3, counter).hex()
        for seed in (0, 2**64 - 1)
        for vertex in (0, 99999)
        for counter in (0, 5)
    ]
