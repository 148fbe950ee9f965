"""Sets of indices as text, such as "0-5,7": plain values, short where indices follow each other."""

import re
from functools import lru_cache

import numpy as np

from .checks import quoted

TEXT = re.compile(r"\d{1,12}(-\d{1,12})?(,\d{1,12}(-\d{1,12})?)*", re.ASCII)
MAX_INDICES = 100_000_000  # that a text may stand for: a range of two numbers could be any


def as_text(indices):
    """The text of indices: int array or list, in any order."""
    return ",".join(
        f"{first}" if first == last else f"{first}-{last}" for first, last in _ends(indices)
    )


@lru_cache(maxsize=64)  # texts of a million indices take a while to read
def as_indices(text):
    """The indices that a text stands for, ascending: int array that cannot be written to.

    Raises
    ------
    ValueError
    """
    if not text:
        return np.empty(0, dtype=np.intp)
    if not isinstance(text, str) or not TEXT.fullmatch(text):
        raise ValueError(f"points must be indices and ranges such as '0-5,7', got {quoted(text)}")
    ends = [tuple(map(int, part.split("-"))) for part in text.split(",")]
    if sum(end[-1] - end[0] + 1 for end in ends) > MAX_INDICES:
        raise ValueError(f"points must be at most {MAX_INDICES:,} indices, got {quoted(text)}")
    indices = np.unique(np.concatenate([np.arange(end[0], end[-1] + 1) for end in ends]))
    indices.flags.writeable = False
    return indices


def as_code(text):
    """A Python expression for the list of the indices that a text stands for."""
    parts = [
        f"{first}" if first == last else f"*range({first}, {last + 1})"
        for first, last in _ends(as_indices(text))
    ]
    return f"[{', '.join(parts)}]"


def _ends(indices):
    """The first and the last index of each run of indices that follow each other."""
    indices = np.unique(np.asarray(indices, dtype=np.int64))
    if not len(indices):
        return []
    starts = np.flatnonzero(np.diff(indices, prepend=indices[0] - 2) > 1)
    stops = np.r_[starts[1:], len(indices)] - 1
    return list(zip(indices[starts].tolist(), indices[stops].tolist(), strict=True))
