"""Descriptions of the columns of a file for the table of columns: type, range and distribution."""

from typing import NamedTuple

import numpy as np
from kdegraph.datasets import DATE_PARTS

N_BARS = 16
# Evenly spread rows from which a distribution is drawn; a sparkline does not show more.
MAX_ROWS = 20_000
MAX_COUNTED = 100_000  # different texts of a column that are counted
NAMES_SHOWN = 3  # values of a column of text that are named


class ColumnFacts(NamedTuple):
    """One column in words and as a sparkline."""

    name: str
    about: str  # its type and its range
    bars: tuple  # frequencies in equal parts of the range, or of the most frequent texts, up to 1
    # Those that it can have, of "feature", `DATE_PARTS`, "label", "color" and "ignore".
    roles: tuple
    no_log: str  # why it cannot be on a log scale; empty if it can


def facts(column):
    """Return the `ColumnFacts` of a `kdegraph.datasets.Column`."""
    possible = {
        "feature": column.numeric,
        **dict.fromkeys(DATE_PARTS, column.kind == "date"),
        "hour": column.kind == "date" and _has_hours(column.values),
        "label": column.classifies,
        "color": column.values is not None,
        "ignore": True,
    }
    numbers = column.values[np.isfinite(column.values)] if column.numeric else ()
    no_log = "it holds dates" if column.kind == "date" else ""
    if len(numbers) and numbers.min() <= 0:
        no_log = f"a log scale needs values above 0, and the smallest is {numbers.min():.4g}"
    roles = tuple(role for role in possible if possible[role])
    return ColumnFacts(column.name, *_described(column), roles, no_log)


def _has_hours(moments):
    """Return whether some dates have a time of day."""
    present = moments[~np.isnat(moments)]
    return bool((present != present.astype("datetime64[D]")).any())


def _described(column):
    if column.values is None:
        return "no readable values", ()
    recognized = {"index": "row number", "id": "identifier", "constant": "constant", "date": "date"}
    kind = "boolean" if column.boolean else column.kind
    if column.kind == "text":
        words, bars, absent = _of_texts(column.values)
    else:
        missing = np.isnat if column.kind == "date" else np.isnan
        present = column.values[~missing(column.values)]
        words, bars = _of_numbers(present, kind)
        absent = len(column.values) - len(present)
    kind = recognized.get(column.recognized, kind)
    return ", ".join([f"{kind}, {words}"] + [f"{absent:,} missing"] * (absent > 0)), bars


def _of_texts(values):
    present = [value for value in _spread(values) if value is not None]
    names, counts = np.unique(np.array(present, dtype=str), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    shown = ", ".join(names[order][:NAMES_SHOWN])
    more = ", …" if len(names) > NAMES_SHOWN else ""
    n_values, absent = _count_texts(values)
    many = "more than " * (n_values > MAX_COUNTED)
    n_values = min(n_values, MAX_COUNTED)
    words = f"{many}{n_values:,} {'value' if n_values == 1 else 'values'}: {shown}{more}"
    return words, _shares(counts[order][:N_BARS]), absent


def _count_texts(values):
    """Return the number of different texts, counted to a little more than `MAX_COUNTED`, and the
    number of missing ones. Other threads run between two parts.
    """
    different, absent = set(), 0
    for start in range(0, len(values), MAX_ROWS):
        part = values[start : start + MAX_ROWS].tolist()
        absent += part.count(None)
        if len(different) <= MAX_COUNTED:
            different.update(part)
    different.discard(None)
    return len(different), absent


def _of_numbers(present, kind):
    if not len(present):
        return "no values", ()
    low, high = present.min(), present.max()
    if kind == "date":
        words = [str(value.astype("datetime64[D]")) for value in (low, high)]
    elif kind == "boolean":
        words = [str(bool(value)) for value in (low, high)]
    else:
        words = [f"{value:.4g}" for value in (low, high)]
    finite = _spread(present).astype(np.float64)
    finite = finite[np.isfinite(finite)]
    scale = np.abs(finite).max(initial=0.0) or 1.0  # differences of huge numbers would overflow
    counts, _ = np.histogram(finite / scale, bins=N_BARS)
    return " to ".join(dict.fromkeys(words)), _shares(counts)


def _spread(values):
    return values[:: max(1, len(values) // MAX_ROWS)]


def _shares(counts):
    largest = max(counts.max(initial=0), 1)
    return tuple(float(share) for share in np.round(counts / largest, 3))
