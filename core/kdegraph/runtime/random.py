"""Counter-based random numbers.

A stream depends only on (seed, vertex, draw), not on threads or on earlier draws. The output
function is that of SplitMix64 (Steele, Lea and Flood, 2014): a bijective mixing of a counter that
advances by an odd constant.
"""

import numba
import numpy as np

from kdegraph.runtime.jit import jit

# SplitMix64's increment, 2**64 divided by the golden ratio: the step from one vertex to the next,
# and from one number of a stream to the next.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def _wrapping(function):
    """Silence NumPy's overflow warnings in code that is not compiled: integers wrap on purpose."""
    return np.errstate(over="ignore")(function) if numba.config.DISABLE_JIT else function


@jit
def _mix(x):
    """Mix 64 bits bijectively, as SplitMix64 does."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@_wrapping
@jit
def stream(seed, vertex, draw):
    """Return the start of the stream of (seed, vertex, draw), a uint64."""
    return draw_stream(vertex_stream(seed, vertex), draw)


@_wrapping
@jit
def vertex_stream(seed, vertex):
    """Return the common part of the streams of all draws of a vertex; see `draw_stream`."""
    return _mix(_mix(np.uint64(seed) + _GOLDEN) + np.uint64(vertex) * _GOLDEN)


@_wrapping
@jit
def draw_stream(own, draw):
    """Return ``stream(seed, vertex, draw)``, where `own` is ``vertex_stream(seed, vertex)``."""
    return _mix(own + np.uint64(draw) * np.uint64(0xD1B54A32D192ED03))  # another odd constant


@_wrapping
@jit
def streams(seed, vertex, draw, out):
    """Write the starts of the streams of `draw`, `draw` + 1, ... of a vertex into `out`."""
    own = vertex_stream(seed, vertex)
    for k in range(out.size):
        out[k] = draw_stream(own, draw + k)


@_wrapping
@jit
def advance(start, n):
    """Return the start of a stream without its first `n` numbers."""
    return start + np.uint64(n) * _GOLDEN


@_wrapping
@jit
def uniform(start, counter):
    """Return number `counter` of a stream: a double in [0, 1) with 53 random bits."""
    return np.float64(_mix(start + np.uint64(counter) * _GOLDEN) >> np.uint64(11)) * 2.0**-53
