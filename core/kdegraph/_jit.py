"""How kernels are compiled: the one place for compiler options."""

import numba

from ._code_cache import CodeCache

# Sums may be reordered (vectorised); NaN and infinity keep their meaning.
REASSOCIATE = {"reassoc", "contract", "nsz"}


def jit(function=None, *, reassociate=False):
    """Compile `function` when it is first called, without the GIL, or take the machine code from the cache.

    Parallelism is not numba's: kernels work on a range of their targets and `parallel.run` spreads the ranges over threads.
    """
    options = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": REASSOCIATE if reassociate else {"contract"},
        "no_cfunc_wrapper": True,  # nobody calls kernels from C
    }

    def decorate(function):
        compiled = numba.njit(**options)(function)
        if not numba.config.DISABLE_JIT:
            compiled._cache = CodeCache(function)
        return compiled

    return decorate if function is None else decorate(function)
