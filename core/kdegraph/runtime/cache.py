"""Where machine code is kept from run to run: a folder of the user's, keyed on the sources of the
package.

Numba looks after each file by itself and would not notice that a callee in another file has
changed; it insists on a folder that it can write to, and on one for each place in which the package
is installed. Here the key covers all kernels, a folder that was filled beforehand (in the image of
a container, say) may be read-only, and where nothing can be written kernels are compiled in every
run.
"""

import contextlib
import functools
import hashlib
import inspect
import os
import sys
from pathlib import Path

import numba
import numba.core.event
from numba.core import caching

from kdegraph.runtime import notices as _notice

COMPILING = "kdegraph: compiling for the first use, up to about 20 seconds; from now on it is ready at once (`kdegraph warmup` prepares all)"
_ROOT = Path(__file__).parents[1]


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
    """Hash of all sources with compiled code, and of what compiles them."""
    digest = hashlib.blake2b(f"{numba.__version__} {sys.version_info[:2]}".encode(), digest_size=8)
    for path in sorted(_ROOT.rglob("*.py")):
        source = path.read_bytes()
        if b"runtime.jit import" in source or path.name == "jit.py":
            digest.update(path.relative_to(_ROOT).as_posix().encode() + source)
    return digest.hexdigest()


CACHE_DIR = _user_cache() / _fingerprint()


@functools.cache
def _hash_of_file(path):
    return hashlib.blake2b(Path(path).read_bytes()).hexdigest()


class _Locator(caching._CacheLocator):
    """Tells numba the folder and the version of a function; nothing is written before there is
    something to keep.
    """

    def __init__(self, function):
        self._function = function

    @classmethod
    def from_function(cls, py_func, py_file):
        return cls(py_func)

    def get_cache_path(self):
        return str(CACHE_DIR / self._function.__module__)

    def ensure_cache_path(self):
        os.makedirs(self.get_cache_path(), exist_ok=True)

    def get_source_stamp(self):
        # The folder stands for the sources of this package; this, for those of others that use
        # `jit`.
        return _hash_of_file(inspect.getfile(self._function))

    def get_disambiguator(self):
        return str(self._function.__code__.co_firstlineno)


class _Implementation(caching.CompileResultCacheImpl):
    _locator_classes = (_Locator,)


class CodeCache(caching.FunctionCache):
    """The cache of one function."""

    _impl_class = _Implementation

    def load_overload(self, sig, target_context):
        """What was kept, or None; files that a crash has left damaged are dropped."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig, data):
        """Keep what was compiled, if that is possible."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _notice.tell(
                f"kdegraph: cannot keep compiled code in {CACHE_DIR} ({error.strerror or error}), so every run compiles again; "
                "set KDEGRAPH_CACHE_DIR to a folder that can be written"
            )


class _Announcer(numba.core.event.Listener):
    def on_start(self, event):
        if (event.data["dispatcher"].py_func.__module__ or "").startswith("kdegraph"):
            _notice.tell(COMPILING)

    def on_end(self, event):
        pass


numba.core.event.register("numba:compile", _Announcer())
