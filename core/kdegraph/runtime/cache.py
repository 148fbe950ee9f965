"""Machine code on disk: a folder for each version of the kernels, a file for each signature.

Numba's own ``cache=True`` is not used, because it cannot be kept from wrong results:

- It recompiles a function when its file has changed, but not when a function that it calls has
  changed in another file. A folder for each version (`CACHE_DIR`) would solve that, but where this
  folder cannot be written, numba writes beside the sources instead.
- It writes its index of signatures before the code, to files that are numbered from 1. Of two
  processes that start at once, one can replace the code to which the index of the other refers.

Numba would also fail on damaged files and on a full disk, and ignore a filled folder that is
read-only.
"""

import contextlib
import glob
import hashlib
import inspect
import os
import pickle
import re
import sys
from pathlib import Path

import numba
from numba.core import serialize
from numba.core.compiler import CompileResult

from kdegraph.runtime.progress import notify
from kdegraph.runtime.replacing import replacing

_ROOT = Path(__file__).parents[1]
_IMPORTS = re.compile(r"^ *from kdegraph\.?([\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


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
    """Return the source of each module with kernels, and of each module that such a module imports.

    Machine code contains the functions that a kernel calls, and constants from other modules.
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
    """Return a hash of the kernels' sources and of the versions of numba and Python."""
    digest = hashlib.blake2b(f"{numba.__version__} {sys.version_info[:2]}".encode(), digest_size=8)
    for name, source in sorted(_kernel_sources().items()):
        digest.update(f"{name}\n{source}".encode())
    return digest.hexdigest()


CACHE_DIR = _user_cache() / _fingerprint()


class MachineCode:
    """Keep the machine code of one function. A numba dispatcher takes this as its cache.

    A file holds a checksum, a key and the code for one signature and one kind of processor. It
    gets its name when it is complete, so any number of processes can share the folder. A file that
    is damaged counts as missing. The file of the function is a part of the key, as it may be a
    kernel of another package, which `CACHE_DIR` does not stand for. An OSError or a TypeError is
    raised if the function is not in a file.
    """

    def __init__(self, function):
        self._function = function
        self._name = f"{function.__module__}.{function.__name__.strip('<>')}"
        self.cache_path = str(CACHE_DIR)
        # Now, because the file may change before the function is compiled.
        self._source = _hash(Path(inspect.getfile(function)).read_bytes())

    def _file_of(self, signature, codegen):
        """Return the key of a signature and the path of its file."""
        function = self._function
        closure = serialize.dumps([cell.cell_contents for cell in function.__closure__ or ()])
        place = function.__qualname__, function.__code__.co_firstlineno
        key = signature, codegen.magic_tuple(), self._source, place, closure
        return key, CACHE_DIR / f"{self._name}-{_hash(repr(key).encode()).hex()}.nbc"

    def load_overload(self, signature, target_context):
        """Return the code for a signature, or None if it is not there or damaged."""
        target_context.refresh()
        with contextlib.suppress(Exception):
            wanted, path = self._file_of(signature, target_context.codegen())
            data = path.read_bytes()
            checksum, content = data[:16], data[16:]
            if checksum == _hash(content):
                key, code = pickle.loads(content)
                if key == wanted:
                    return CompileResult._rebuild(target_context, *code)
        return None

    def save_overload(self, signature, compiled):
        """Keep the code for a signature, or say why that is not possible."""
        if compiled.lifted or compiled.library.has_dynamic_globals:
            return  # it contains addresses of this process
        try:
            key, path = self._file_of(signature, compiled.codegen)
            content = serialize.dumps((key, compiled._reduce()))
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as temporary:
                temporary.write_bytes(_hash(content) + content)
        except Exception as error:
            reason = getattr(error, "strerror", None) or error
            notify(
                f"kdegraph: cannot keep compiled code in {CACHE_DIR} ({reason}), so every run "
                "compiles again; set KDEGRAPH_CACHE_DIR to a folder that can be written"
            )

    def flush(self):
        """Remove the code for all signatures, as a dispatcher's `recompile` asks for."""
        for path in CACHE_DIR.glob(f"{glob.escape(self._name)}-*.nbc"):
            path.unlink(missing_ok=True)
