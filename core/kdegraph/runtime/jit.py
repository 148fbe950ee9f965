"""How kernels are compiled: compiler options, for programs that build on this package, too.

The private classes and attributes of numba that the package relies on are used here and in `cache`.
"""

import functools
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import SimpleNamespace

import numba
import numba.core.event
from numba.core import types
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.options import DefaultOptions

from kdegraph.runtime.cache import MachineCode
from kdegraph.runtime.progress import notify

try:
    from numba.core.codegen import JITCodeLibrary
except ImportError:  # in another version of numba; first use takes more time then
    JITCodeLibrary = None

__all__ = ["jit"]

COMPILING = (
    "kdegraph: compiling for the first use, which takes about 5 to 15 seconds; later runs start "
    "at once (`kdegraph warmup` compiles all at once)"
)


def jit(function=None, *, reassociate=False, distinct=False, inline=False, borrow=False):
    """Compile a function when it is first called, or load its machine code from the cache.

    Compiled code releases the GIL. Numba's own parallelism is not used: kernels work on a range of
    their targets, and `parallel.run` shares the ranges between threads.

    Parameters
    ----------
    function : function, optional
        If None, a decorator is returned.
    reassociate : bool
        Allow sums to be reordered, which vectorizes them and changes their rounding.
    distinct : bool
        Promise that memory which the function writes through one of its arrays is neither read nor
        written through another one. Without this promise, a loop that writes to one array and reads
        another one at computed indices is not vectorized. Measured on one core, the promise makes
        drawing samples 1.6 to 2.1 times as fast, the sampled graph 1.1 to 1.5 times, expansions on
        a grid 1.2 to 1.3 times, and the full graph of 3,000 points in 12 dimensions 5 times.
    inline : bool
        Copy the machine code of the function into its callers. This pays for short functions that
        are called often with tuples of arrays, because a call passes each array as seven numbers.
        With `reassociate` it also makes the first use, which compiles, round sums as later ones do:
        otherwise it may call the function where later ones have a copy within its caller.
    borrow : bool
        Promise that the function creates no array and uses only those of its caller, and views of
        them. Without this promise, every call counts a reference to each array of each tuple among
        its arguments, which makes kernel sums on a tree 2.5 to 3.5 times slower.

    Returns
    -------
    numba dispatcher or decorator
    """
    # Sums may be reordered, which vectorizes loops over them. NaN and infinity keep their meaning.
    reordering = {"reassoc", "nsz"} if reassociate else set()
    options = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": {"contract", *reordering},
        "no_cfunc_wrapper": True,  # kernels are not called from C
        "forceinline": inline,
    }
    # Numba's option to omit its run time, which counts references, is not documented. Without the
    # option kernels are right, but slower.
    if borrow and hasattr(DefaultOptions, "_nrt"):
        options["_nrt"] = False
    if distinct:
        options["pipeline_class"] = _DistinctArrays

    def decorate(function):
        dispatcher = numba.njit(**options)(function)
        if not numba.config.DISABLE_JIT:
            with suppress(OSError, TypeError):  # a function that is not in a file
                dispatcher._cache = MachineCode(function)
            _compile_outside_of_main_thread(dispatcher)
            # How sums are reordered depends on how a function is compiled.
            if JITCodeLibrary is not None and not reassociate:
                _merge_into_callers(dispatcher, options, optimize_later=not distinct)
        return dispatcher

    return decorate if function is None else decorate(function)


class _DistinctArrays(Compiler):
    """Promise LLVM that memory written through one argument is accessed through no other one.

    This is Fortran's rule. Numba has the flag, but no option of `numba.njit` that sets it.
    """

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        flags.noalias = True
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)


def _compile_outside_of_main_thread(dispatcher):
    """Let a dispatcher compile in another thread when it is called in the main thread.

    Ctrl+C raises `KeyboardInterrupt` in the main thread only. Within numba and LLVM, which call
    Python functions while they compile, the exception would be lost or leave incomplete code. So
    the main thread waits, and the exception ends its waiting as soon as the kernel is ready.
    """
    compile_here = dispatcher.compile

    def compile_signature(signature):
        # A kernel of another package that calls this one is being compiled if this thread holds the
        # compiler's lock, which the other thread would wait for.
        in_main_thread = threading.current_thread() is threading.main_thread()
        if not in_main_thread or global_compiler_lock.is_locked():
            return compile_here(signature)
        with ThreadPoolExecutor(1, "kdegraph-compiler") as worker:
            try:
                compiling = worker.submit(compile_here, signature)
            except RuntimeError:  # the interpreter is shutting down and starts no threads
                return compile_here(signature)
            return compiling.result()

    dispatcher.compile = compile_signature


def _merge_into_callers(dispatcher, options, *, optimize_later):
    """Let kernels that call a function contain its code, instead of calling machine code.

    Numba compiles every function for calls from Python, too: down to machine code, with a wrapper
    that unpacks each array of each tuple among its arguments. Without that, the first use of the
    package takes two thirds of the time. Numba has no option for this. Numba also compiles a
    function again for each constant among its arguments, even if a loop only begins with it. Code
    that is the same for all values saves another sixth.

    The dispatcher, which was made with these options, still serves the calls from Python. With
    `optimize_later`, the code is optimized only within the kernels, which saves more time. A
    promise that its arguments are distinct is lost then.
    """
    library = _MergedLater if optimize_later else _Merged
    pipeline = _pipeline(options.get("pipeline_class", Compiler), library)
    options = options | {"no_cpython_wrapper": True, "pipeline_class": pipeline}
    merged = numba.njit(**options)(dispatcher.py_func)

    def template(args, kws):
        args = [types.unliteral(kind) for kind in args]
        return merged.get_call_template(args, {name: types.unliteral(kws[name]) for name in kws})

    dispatcher.get_call_template, dispatcher.get_overload = template, merged.get_overload


if JITCodeLibrary is not None:

    class _Merged(JITCodeLibrary):
        """Code that is optimized, and then translated together with the kernels that contain it."""

        # Numba registers the Python environment of machine code. This code has none.
        codegen = SimpleNamespace(set_env=lambda name, environment: None)

        def _finalize_final_module(self):
            self._finalize_dynamic_globals()
            self._finalized = True

    class _MergedLater(_Merged):
        """Code that is also optimized together with the kernels that contain it."""

        def _optimize_final_module(self):
            pass


@functools.cache
def _pipeline(base, library):
    """Return a subclass of the compiler `base` whose code goes into a `library`."""

    class Pipeline(base):
        def __init__(self, typingctx, targetctx, _, *others):
            super().__init__(typingctx, targetctx, library(targetctx.codegen(), "part"), *others)

    return Pipeline


class _Announcer(numba.core.event.Listener):
    """Say that a kernel of this package is being compiled."""

    def on_start(self, event):
        if (event.data["dispatcher"].py_func.__module__ or "").startswith("kdegraph"):
            notify(COMPILING)

    def on_end(self, event):
        pass


numba.core.event.register("numba:compile", _Announcer())
