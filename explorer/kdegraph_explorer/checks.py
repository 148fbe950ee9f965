"""Check values from outside: from an address or a session file.

Sets of indices arrive as text, such as "0-5,7". A text is short and may stand for any number of
indices, which are listed only once the number of points is known.
"""

import re
import reprlib

import numpy as np
import param

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 200
TEXT = re.compile(r"\d{1,12}(-\d{1,12})?(,\d{1,12}(-\d{1,12})?)*", re.ASCII)


def quoted(value):
    """Return the `repr` of a value for messages, shortened in the middle if it is long."""
    return _short.repr(value)


def check_values(kind, values, allowed):
    """Check values of parameters of a class by assigning them to a new object.

    `allowed` lists the names that may occur. A ValueError says what is wrong.
    """
    trial = kind()
    for name, value in values.items():
        if name not in allowed:
            known = ", ".join(allowed)
            raise ValueError(f"there is nothing called {quoted(name)} to set; there is {known}")
        parameter = trial.param[name]
        open_choice = type(parameter) is param.Selector and parameter.objects == [""]
        if open_choice and isinstance(value, str):
            parameter.objects = [value]  # the choices follow from the data
        try:
            if isinstance(parameter, param.Number) and isinstance(value, bool):
                raise ValueError("a number is needed")
            setattr(trial, name, value)
        except (ValueError, TypeError):
            raise ValueError(f"{name} cannot be {quoted(value)}: {_allowed(parameter)}") from None
    return dict(values)


def _allowed(parameter):
    """Describe the values that a parameter may have."""
    if isinstance(parameter, param.Boolean):
        return "it must be true or false"
    if isinstance(parameter, param.Selector):
        return f"it must be one of {', '.join(map(str, parameter.objects))}"
    if not isinstance(parameter, param.Number) or parameter.bounds is None:
        return parameter.doc
    kind = "a whole number" if isinstance(parameter, param.Integer) else "a number"
    low, high = parameter.bounds
    if high is None:
        return f"it must be {kind} {'from' if parameter.inclusive_bounds[0] else 'above'} {low:,}"
    return f"it must be {kind} from {low:,} to {high:,}"


def as_text(indices):
    """Return the text of indices, an int array or list in any order."""
    indices = np.unique(np.asarray(indices, dtype=np.int64))
    if not len(indices):
        return ""
    starts = np.flatnonzero(np.diff(indices, prepend=indices[0] - 2) > 1)
    stops = np.r_[starts[1:], len(indices)] - 1
    ends = zip(indices[starts].tolist(), indices[stops].tolist(), strict=True)
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ends)


def runs(text):
    """Return the first and the last index of each run of a text: (r, 2) int64 array.

    A ValueError says if this is not such a text, or if its indices do not ascend.
    """
    if text == "":
        return np.empty((0, 2), dtype=np.int64)
    if isinstance(text, str) and TEXT.fullmatch(text):
        parts = [part.partition("-") for part in text.split(",")]
        ends = np.array([(int(first), int(last or first)) for first, _, last in parts])
        if (ends[:, 0] <= ends[:, 1]).all() and (ends[1:, 0] > ends[:-1, 1]).all():
            return ends
    raise ValueError(
        f"points must be ascending indices and ranges such as '0-5,7', got {quoted(text)}"
    )


def count(text):
    """Count the indices in a text."""
    ends = runs(text)
    return int((ends[:, 1] - ends[:, 0] + 1).sum())


def at(text, places):
    """Return the indices at some places, an int array, among all that a text stands for."""
    ends = runs(text)
    before = np.cumsum(ends[:, 1] - ends[:, 0] + 1)
    run = np.searchsorted(before, places, side="right")
    return ends[run, 1] + 1 - (before[run] - places)


def as_indices(text, n):
    """Return the indices in a text, ascending: int array.

    A ValueError says if one of them is not below `n`.
    """
    ends = runs(text)
    if len(ends) and ends[-1, 1] >= n:
        raise ValueError(f"points must be indices from 0 to {n - 1:,}, got {quoted(text)}")
    return at(text, np.arange(count(text)))


def holds(text, indices):
    """Return which of the indices, an int array, are in a text: bool array."""
    ends = runs(text)
    if not len(ends):
        return np.zeros(len(indices), dtype=bool)
    run = np.searchsorted(ends[:, 0], indices, side="right") - 1
    return (run >= 0) & (indices <= ends[run, 1])


def as_code(text):
    """Return a Python expression for the list of the indices in a text."""
    parts = [
        f"{first}" if first == last else f"*range({first}, {last + 1})"
        for first, last in runs(text).tolist()
    ]
    return f"[{', '.join(parts)}]"
