"""Whether the memory suffices: refusing is better than being killed half-way."""

from kdegraph.runtime.memory import available_memory, format_bytes

ALWAYS_AVAILABLE = 2**26  # bytes that are taken without asking the system what it has


def fits(n_bytes):
    """Whether so many bytes of memory are available."""
    return n_bytes <= ALWAYS_AVAILABLE or n_bytes <= available_memory()


def check_memory(n_bytes, k, n):
    """Raise a `MemoryError` if `n_bytes`, for `k` eigenvectors of `n` vertices, do not fit."""
    if not fits(n_bytes):
        raise MemoryError(
            f"{k} eigenvectors of a graph of {n} vertices need about {format_bytes(n_bytes)}, and "
            f"{format_bytes(available_memory())} are available; use fewer n_components"
        )
