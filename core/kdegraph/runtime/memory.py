"""Available memory, so that work that cannot fit is refused before it starts."""

import functools
import os
import re
from pathlib import Path

import numpy as np

_CGROUP = Path("/sys/fs/cgroup")
# Bytes that are used without asking the system for its available memory.
ALWAYS_AVAILABLE = 2**26


def _number(path, label=""):
    """Return the number behind a label in a file of the system, or None if there is no such file
    or no number; the word "max" means no limit.
    """
    try:
        found = re.search(rf"^{label}\s*(\d+)", path.read_text(), flags=re.MULTILINE)
    except (OSError, ValueError):
        return None
    return found and int(found[1])


def available_memory() -> int:
    """Return the number of bytes that this process can use without displacing other processes.

    It is the available memory of the machine, or the rest of the container's limit (cgroup, both
    versions) if that is smaller; half of the physical memory if the system does not report the
    available memory, and 4 GiB if it reports neither.
    """
    found = []
    if (free := _number(Path("/proc/meminfo"), "MemAvailable:")) is not None:
        found.append(1024 * free)
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
            found.append(2**32)
    return min(found)


def format_bytes(n: int) -> str:
    """Return `n` bytes as text: ``format_bytes(3 * 2**30) == "3.0 GiB"``."""
    units = ("bytes", "KiB", "MiB", "GiB", "TiB")
    n = min(n, 2**80)  # more than any machine has
    power = min(max(int(n).bit_length() - 1, 0) // 10, 4)
    return f"{n} bytes" if power == 0 else f"{n / 1024**power:.1f} {units[power]}"


def fits(n_bytes: int) -> bool:
    """Return whether this much memory is available."""
    return n_bytes <= ALWAYS_AVAILABLE or n_bytes <= available_memory()


def check_memory(n_bytes: int, need: str, advice: str = "") -> None:
    """Raise a `MemoryError` if `n_bytes` are not available. The message begins with `need`, such as
    "5 eigenvectors need", and ends with the advice.
    """
    if not fits(n_bytes):
        raise MemoryError(
            f"{need} about {format_bytes(n_bytes)}, and "
            f"{format_bytes(available_memory())} are available{advice and '; '}{advice}"
        )


@functools.cache
def reuse_freed_memory() -> None:
    """Let glibc reuse the memory of freed arrays for later arrays.

    Glibc does so once a large array has been freed. Before that, it requests the memory of each
    array of more than 128 KiB from the system, which clears the pages one by one. This takes a
    third of the time of the spectrum of 15,000 points, and a fifth of the time of their graph.
    """
    # The largest array whose memory glibc keeps: 32 MiB, minus its overhead. No page is ever used.
    np.empty(2**25 - 2**16, np.uint8)
