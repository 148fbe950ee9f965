"""A cache of machine code whose folder may be read-only, and to which nothing is written at import.

This module and `parts` are the only ones that use private classes of numba. Where they are missing
or have changed, `cache` does without this module.
"""

import contextlib
import functools
import hashlib
import inspect
import os
from pathlib import Path

from numba.core import caching

from kdegraph.runtime import notices, second_process


@functools.cache
def _hash_of_file(path):
    return hashlib.blake2b(Path(path).read_bytes()).hexdigest()


class CodeCache(caching.FunctionCache):
    """The cache of one function.

    Parameters
    ----------
    function : function
        What is compiled.
    folder : Path
        The folder of all functions. It is made when there is something to keep.
    """

    def __init__(self, function, folder):
        class Locator(caching._CacheLocator):
            """Tells numba where the files of the function are and which version they have."""

            @classmethod
            def from_function(cls, py_func, py_file):
                return cls()

            def get_cache_path(self):
                return str(folder / function.__module__)

            def ensure_cache_path(self):
                os.makedirs(self.get_cache_path(), exist_ok=True)

            def get_source_stamp(self):
                # The folder stands for the sources of this package. This stands for the source of
                # a kernel outside of it.
                return _hash_of_file(inspect.getfile(function))

            def get_disambiguator(self):
                return str(function.__code__.co_firstlineno)

        class Implementation(caching.CompileResultCacheImpl):
            _locator_classes = (Locator,)

        self._impl_class = Implementation
        self._folder = folder
        super().__init__(function)

    def load_overload(self, sig, target_context):
        """Return the machine code for a signature, or None; remove files that are damaged.

        If the second process is compiling it, wait for that.
        """
        self._use_files_of(sig)
        found = self._load(sig, target_context)
        if found is None and second_process.begin(self._cache_file._index_path, self._folder):
            found = self._load(sig, target_context)
        return found

    def _use_files_of(self, sig):
        """Let each signature have its own files. In common ones, what two processes write at the
        same time would be lost or mixed up.
        """
        name = hashlib.blake2b(str(sig).encode(), digest_size=8).hexdigest()
        self._cache_file = caching.IndexDataCacheFile(
            self._cache_path,
            f"{self._impl.filename_base}-{name}",
            self._impl.locator.get_source_stamp(),
        )

    def _load(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig, data):
        """Keep machine code, if that is possible."""
        self._use_files_of(sig)
        try:
            super().save_overload(sig, data)
        except Exception as error:
            reason = getattr(error, "strerror", None) or error
            notices.tell(
                f"kdegraph: cannot keep compiled code in {self._folder} ({reason}), so every run "
                "compiles again; set KDEGRAPH_CACHE_DIR to a folder that can be written"
            )
        second_process.end(self._cache_file._index_path)
