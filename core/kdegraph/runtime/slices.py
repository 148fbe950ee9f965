"""Large contents in parts, so that other threads run in between.

A method of bytes holds Python's global lock until it returns. On a whole file it would stop every
other thread of the process, such as the one that serves the pages of the explorer, for up to a
second.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Bytes, or rows, that are dealt with at a time: a few milliseconds.
SLICE = 2**16


def slices(stop: int, start: int = 0) -> Iterator[slice]:
    """Iterate over consecutive slices that cover the range from `start` to `stop`."""
    for first in range(start, stop, SLICE):
        yield slice(first, min(first + SLICE, stop))


def count(data: bytes, found: bytes, start: int = 0, stop: int | None = None) -> int:
    """Return how often `found`, which does not overlap itself, occurs in a range of `data`."""
    stop = len(data) if stop is None else stop
    reach = len(found) - 1
    return sum(
        data.count(found, part.start, min(part.stop + reach, stop)) for part in slices(stop, start)
    )


def take(objects: NDArray[Any], indices: NDArray[np.int64]) -> NDArray[Any]:
    """Return ``objects[indices]`` for an array of Python objects."""
    taken = np.empty(len(indices), dtype=object)
    for part in slices(len(indices)):
        taken[part] = objects[indices[part]]
    return taken
