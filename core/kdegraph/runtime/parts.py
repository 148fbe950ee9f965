"""Functions that kernels call: they become parts of these, and have no machine code of their own.

Numba compiles every function for calls from Python, too: down to machine code, with a wrapper that
takes each array of each tuple among its arguments apart. Doing without that makes the first use of
the package a third faster. Numba has no option for it, so private classes of numba are used here.

It also compiles them anew for each constant among their arguments, even where a loop only begins
with that. A part is the same for all values, which saves another sixth.
"""

import functools
from types import SimpleNamespace

import numba
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _Part(JITCodeLibrary):
    """Code that is optimized, and then translated together with the kernels that take it in."""

    # Numba tells machine code where its Python function is. Here there is nobody to tell.
    codegen = SimpleNamespace(set_env=lambda name, environment: None)

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True


class _RoughPart(_Part):
    """Code that is also optimized together with the kernels that take it in."""

    def _optimize_final_module(self):
        pass


@functools.cache
def _pipeline(base, library):
    """Return the compiler `base`, which makes a part of a kernel."""

    class Pipeline(base):
        def __init__(self, typingctx, targetctx, _, *others):
            super().__init__(typingctx, targetctx, library(targetctx.codegen(), "part"), *others)

    return Pipeline


def call_as_part(compiled, options, *, rough) -> None:
    """Let kernels that call a compiled function take it in as a part.

    Parameters
    ----------
    compiled : numba dispatcher
        It serves the calls from Python.
    options : dict
        What it was made with.
    rough : bool
        Leave optimizing it to the kernels, which saves more time. A promise that its arguments are
        distinct is lost then.
    """
    pipeline = _pipeline(options.get("pipeline_class", Compiler), _RoughPart if rough else _Part)
    options = options | {"no_cpython_wrapper": True, "pipeline_class": pipeline}
    part = numba.njit(**options)(compiled.py_func)

    def template(args, kws):
        args = [types.unliteral(kind) for kind in args]
        return part.get_call_template(args, {name: types.unliteral(kws[name]) for name in kws})

    compiled.get_call_template, compiled.get_overload = template, part.get_overload
