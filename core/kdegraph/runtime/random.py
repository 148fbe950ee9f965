"""Counter-based random numbers: the stream depends on (seed, vertex, draw) alone, never on threads
or on what was drawn before.

The output function is that of SplitMix64 (Steele, Lea and Flood, 2014): a bijective mixing of a
counter that advances by an odd constant.
"""

import numba
import numpy as np

from kdegraph.runtime.jit import jit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xD1B54A32D192ED03)
_A, _B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_27, _30, _31, _11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)
UNIT = 2.0**-53


def _wrapping(function):
    """Silence numpy's overflow warnings where the code runs uncompiled: wrapping around is what is
    wanted.
    """
    return np.errstate(over="ignore")(function) if numba.config.DISABLE_JIT else function


@jit
def _mix(x):
    x = (x ^ (x >> _30)) * _A
    x = (x ^ (x >> _27)) * _B
    return x ^ (x >> _31)


@_wrapping
@jit
def stream(seed, vertex, draw):
    """The start of the stream of (seed, vertex, draw), an uint64."""
    return _mix(
        _mix(_mix(np.uint64(seed) + _GOLDEN) + np.uint64(vertex) * _GOLDEN)
        + np.uint64(draw) * _SECOND
    )


@_wrapping
@jit
def streams(seed, vertex, draw, out):
    """Write the starts of the streams of (seed, vertex, draw), (seed, vertex, draw + 1), ... into
    `out`.
    """
    base = _mix(_mix(np.uint64(seed) + _GOLDEN) + np.uint64(vertex) * _GOLDEN)
    for k in range(out.size):
        out[k] = _mix(base + np.uint64(draw + k) * _SECOND)


@_wrapping
@jit
def advance(start, n):
    """The stream `start` without its first `n` numbers."""
    return start + np.uint64(n) * _GOLDEN


@_wrapping
@jit
def uniform(start, counter):
    """Number `counter` of the stream `start`: a double in [0, 1) with 53 random bits."""
    return np.float64(_mix(start + np.uint64(counter) * _GOLDEN) >> _11) * UNIT
