"""How kernels are compiled, and where the machine code is kept."""

import hashlib
import os
import sys
from pathlib import Path

import numba

# Sums may be reordered (vectorised); NaN and infinity keep their meaning.
REASSOCIATE = {"reassoc", "contract", "nsz"}


def _user_cache() -> Path:
    if path := os.environ.get("KDEGRAPH_CACHE_DIR"):
        return Path(path)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "kdegraph"


def _fingerprint() -> str:
    """Hash of all sources with compiled code: numba does not notice that a callee in another file has changed."""
    root = Path(__file__).parent
    digest = hashlib.blake2b(f"{numba.__version__} {sys.version_info[:2]}".encode(), digest_size=8)
    for path in sorted(root.rglob("*.py")):
        source = path.read_bytes()
        if b"_jit import" in source:
            digest.update(path.relative_to(root).as_posix().encode() + source)
    return digest.hexdigest()


CACHE_DIR = _user_cache() / _fingerprint()


def jit(function=None, *, reassociate=False):
    """Compile `function` lazily, without the GIL, cached in a folder keyed on the package's sources.

    Parallelism is not numba's: kernels work on a range of their targets and `parallel.run` spreads the ranges over threads.
    """
    options = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": REASSOCIATE if reassociate else {"contract"},
        "cache": True,
    }

    def decorate(function):
        saved, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(CACHE_DIR)
        try:
            return numba.njit(**options)(function)
        finally:
            numba.config.CACHE_DIR = saved

    return decorate if function is None else decorate(function)
