"""Where machine code is kept from run to run: a folder of the user's for each version of the code.

With numba's own ``cache=True`` alone, a change of a function that a kernel calls goes unnoticed if
it lies in another file. So the folder is named after the sources of all kernels (`CACHE_DIR`), and
what was compiled for other sources is not found. How numba finds and fills the folder is in
`code_cache`, and numba's own way is taken where that does not work.
"""

import hashlib
import os
import re
import sys
from pathlib import Path

import numba
import numba.core.event

from kdegraph.runtime import notices

try:
    from kdegraph.runtime.code_cache import CodeCache
except Exception:  # another version of numba, whose private classes differ
    CodeCache = None  # type: ignore[assignment, misc]

COMPILING = (
    "kdegraph: compiling for the first use, which takes about 5 to 15 seconds; later runs start "
    "at once (`kdegraph warmup` compiles all at once)"
)
_ROOT = Path(__file__).parents[1]
_IMPORTS = re.compile(r"^ *from kdegraph\.?([\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


def _user_cache() -> Path:
    """Return the folder that `KDEGRAPH_CACHE_DIR` names, or ours in the user's cache folder."""
    if path := os.environ.get("KDEGRAPH_CACHE_DIR"):
        return Path(path)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "kdegraph"


def _kernel_sources() -> dict[str, str]:
    """Return the source of each module with kernels, and of each module that such a one imports.

    Machine code contains what a kernel calls, and the values of constants from other modules.
    """
    sources = {}
    for path in _ROOT.rglob("*.py"):
        parts = path.relative_to(_ROOT).with_suffix("").parts
        name = ".".join(parts).removesuffix("__init__").removesuffix(".")
        sources[name] = path.read_text(encoding="utf-8")
    to_visit = [name for name, source in sources.items() if "runtime.jit import" in source]
    found = {}
    while to_visit:
        name = to_visit.pop()
        if name in found:
            continue
        found[name] = sources[name]
        for module, names in _IMPORTS.findall(sources[name]):
            submodules = (f"{module}.{part}".strip(".") for part in re.findall(r"\w+", names))
            to_visit += [other for other in (module, *submodules) if other in sources]
    return found


def _fingerprint() -> str:
    """Return a hash of everything that machine code depends on."""
    digest = hashlib.blake2b(f"{numba.__version__} {sys.version_info[:2]}".encode(), digest_size=8)
    for name, source in sorted(_kernel_sources().items()):
        digest.update(f"{name}\n{source}".encode())
    return digest.hexdigest()


CACHE_DIR = _user_cache() / _fingerprint()


def keep_machine_code(compiled) -> None:
    """Let numba keep what it compiles for a function in `CACHE_DIR`.

    Numba's own way (``cache=True`` with this folder) is the second choice. It is as fast, but it
    writes to the folder whenever the package is imported, does not use a filled folder that it
    cannot write to, such as one in the image of a container, and fails on damaged files.
    """
    if CodeCache is not None and hasattr(compiled, "_cache"):
        try:
            compiled._cache = CodeCache(compiled.py_func, CACHE_DIR)
            return
        except Exception:  # another version of numba, whose private classes differ
            pass
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(CACHE_DIR)
    try:
        compiled.enable_caching()
    except (OSError, RuntimeError):  # no folder can be written to: it is compiled in every run
        pass
    finally:
        numba.config.CACHE_DIR = before


class _Announcer(numba.core.event.Listener):
    """Says that a kernel of this package is being compiled."""

    def on_start(self, event):
        if (event.data["dispatcher"].py_func.__module__ or "").startswith("kdegraph"):
            notices.tell(COMPILING)

    def on_end(self, event):
        pass


numba.core.event.register("numba:compile", _Announcer())
