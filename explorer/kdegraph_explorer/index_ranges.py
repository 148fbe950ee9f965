"""Sets of indices as text, such as "0-5,7": plain values, short where indices follow each other.

A text from outside is short and may stand for any number of indices: they are listed only once it
is known how many points there are.
"""

import re

import numpy as np

from .checks import quoted

TEXT = re.compile(r"\d{1,12}(-\d{1,12})?(,\d{1,12}(-\d{1,12})?)*", re.ASCII)


def as_text(indices):
    """The text of indices: int array or list, in any order."""
    indices = np.unique(np.asarray(indices, dtype=np.int64))
    if not len(indices):
        return ""
    starts = np.flatnonzero(np.diff(indices, prepend=indices[0] - 2) > 1)
    stops = np.r_[starts[1:], len(indices)] - 1
    ends = zip(indices[starts].tolist(), indices[stops].tolist(), strict=True)
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in ends)


def runs(text):
    """The runs of a text: (r, 2) int64 array, the first and the last index of each.

    Raises
    ------
    ValueError
        If it is no such text, or if its indices do not ascend.
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
    """How many indices a text stands for."""
    ends = runs(text)
    return int((ends[:, 1] - ends[:, 0] + 1).sum())


def at(text, places):
    """The indices at some places, an int array, among all that a text stands for."""
    ends = runs(text)
    before = np.cumsum(ends[:, 1] - ends[:, 0] + 1)
    run = np.searchsorted(before, places, side="right")
    return ends[run, 1] + 1 - (before[run] - places)


def as_indices(text, n):
    """The indices that a text stands for, ascending: int array.

    Raises
    ------
    ValueError
        If one of them is not below `n`.
    """
    ends = runs(text)
    if len(ends) and ends[-1, 1] >= n:
        raise ValueError(f"points must be indices from 0 to {n - 1:,}, got {quoted(text)}")
    return at(text, np.arange(count(text)))


def holds(text, indices):
    """Which of the indices, an int array, a text stands for: bool array."""
    ends = runs(text)
    if not len(ends):
        return np.zeros(len(indices), dtype=bool)
    run = np.searchsorted(ends[:, 0], indices, side="right") - 1
    return (run >= 0) & (indices <= ends[run, 1])


def as_code(text):
    """A Python expression for the list of the indices that a text stands for."""
    parts = [
        f"{first}" if first == last else f"*range({first}, {last + 1})"
        for first, last in runs(text).tolist()
    ]
    return f"[{', '.join(parts)}]"
