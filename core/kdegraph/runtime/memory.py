"""How much memory there is: refusing a job that cannot fit is better than being killed half-way
through it.
"""

import functools
import os
from pathlib import Path

import numpy as np

FALLBACK = 4 * 2**30  # where the system does not tell
KEPT = (
    2**25 - 2**16
)  # bytes: the largest array that glibc learns from, but for its own administration
_CGROUP = Path("/sys/fs/cgroup")


def _number(path):
    """The number in a small file of the system, or None ("max" stands for no limit)."""
    try:
        return int(Path(path).read_text().strip())
    except (OSError, ValueError):
        return None


def _meminfo():
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def available_memory():
    """Bytes of memory that this process may still use without pushing others out, as far as the
    system tells.

    Returns
    -------
    int
        The smaller of the available memory of the machine and what is left of the limit of the
        container (cgroup, both versions). Half of the physical memory where the system names no
        available memory, and `FALLBACK` where it names nothing.
    """
    found = []
    if (free := _meminfo()) is not None:
        found.append(free)
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        most, now = _number(_CGROUP / limit), _number(_CGROUP / used)
        if most is not None and now is not None:
            found.append(max(most - now, 0))
    if not found:
        try:
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)
        except (AttributeError, ValueError, OSError):
            found.append(FALLBACK)
    return min(found)


def format_bytes(n):
    """`n` bytes for people: ``format_bytes(3 * 2**30) == "3.0 GiB"``."""
    power = min(max(int(n).bit_length() - 1, 0) // 10, 4)
    return (
        f"{n} bytes"
        if power == 0
        else f"{n / 1024**power:.1f} {('KiB', 'MiB', 'GiB', 'TiB')[power - 1]}"
    )


@functools.cache
def reuse_freed_memory():
    """Have glibc keep the memory of freed arrays for the next ones, as it does anyway from the
    first large array on that it has freed.

    Until then it takes all arrays of more than 128 KiB from the system anew, and the system clears
    their pages one by one, which may take longer than to compute what is written there: a third of
    the time of the spectrum of 15,000 points, a fifth of that of their graph.
    """
    np.empty(KEPT, np.uint8)  # no page of it is touched
