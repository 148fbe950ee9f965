"""How kernels are compiled: the one place for compiler options."""

import numba
from numba.core.compiler import Compiler

from kdegraph.runtime import interrupts as _interrupts  # noqa: F401  it listens to the compiler
from kdegraph.runtime.cache import CodeCache

# Sums may be reordered (vectorized); NaN and infinity keep their meaning.
REASSOCIATE = {"reassoc", "contract", "nsz"}


class _DistinctArrays(Compiler):
    """Tells LLVM that no two arguments share memory that is written (Fortran's rule)."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        flags.noalias = True
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)


def jit(function=None, *, reassociate=False, distinct=False, inline=False, borrow=False):
    """Compile `function` when it is first called, without the GIL, or take the machine code from
    the cache.

    Parallelism is not numba's: kernels work on a range of their targets and `parallel.run` spreads
    the ranges over threads.

    `distinct` promises that what the function writes through one of its arrays it neither reads nor
    writes through another one. Without it no loop is vectorized that writes to one array and takes
    entries of another by computed numbers.

    `borrow` promises that the function makes no array: it only uses those of its caller (and views
    of them), so that no references need to be counted. Without it every call counts a reference to
    each array of each NamedTuple among the arguments, which made the sums on a tree 2.5 to 3.5
    times slower.

    `inline` puts the code of the function into every caller. LLVM inlines small functions anyway; a
    call of one that takes NamedTuples passes every array as about seven numbers.
    """
    options = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": REASSOCIATE if reassociate else {"contract"},
        "no_cfunc_wrapper": True,  # nobody calls kernels from C
        "forceinline": inline,
        "_nrt": not borrow,  # numba's run time, which counts references
    }
    if distinct:
        options["pipeline_class"] = _DistinctArrays

    def decorate(function):
        compiled = numba.njit(**options)(function)
        if not numba.config.DISABLE_JIT:
            compiled._cache = CodeCache(function)
        return compiled

    return decorate if function is None else decorate(function)
