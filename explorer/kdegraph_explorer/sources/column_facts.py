"""Descriptions of the columns of a file for the table of columns: type, range and distribution."""

from dataclasses import dataclass

import numpy as np

N_BARS = 16
# Evenly spread rows from which a distribution is drawn; a sparkline does not show more.
MAX_ROWS = 20_000
MAX_COUNTED = 100_000  # different texts of a column that are counted
NAMES_SHOWN = 3  # values of a column of text that are named


@dataclass(frozen=True)
class ColumnFacts:
    """Hold one column in words and as a sparkline.

    Attributes
    ----------
    name : str
    about : str
        Its type and its range.
    bars : tuple of float
        Frequencies of values in equal parts of the range, or of the most frequent texts; the
        largest is 1.
    numeric, classifies : bool
        Whether it can be a feature, and whether it can be the label.
    has_values : bool
    lowest : float or None
        The smallest finite number; None if there is none.
    """

    name: str
    about: str
    bars: tuple
    numeric: bool
    classifies: bool
    has_values: bool
    lowest: float | None = None

    @property
    def no_log(self):
        """Return why the column cannot be on a log scale; empty if it can."""
        if self.lowest is None or self.lowest > 0:
            return ""
        return f"a log scale needs values above 0, and the smallest is {self.lowest:.4g}"


def facts(column):
    """Return the `ColumnFacts` of a `kdegraph.datasets.Column`."""
    about, bars = _described(column)
    has_values = column.values is not None
    numbers = column.values[np.isfinite(column.values)] if column.numeric else ()
    lowest = float(numbers.min()) if len(numbers) else None
    return ColumnFacts(
        column.name, about, bars, column.numeric, column.classifies, has_values, lowest
    )


def _described(column):
    if column.values is None:
        return "no values", ()
    recognized = {"index": "row number", "id": "identifier", "constant": "constant", "date": "date"}
    kind = recognized.get(column.recognized, column.kind)
    if column.kind == "text":
        words, bars, absent = _of_texts(column.values)
    else:
        missing = np.isnat if column.kind == "date" else np.isnan
        present = column.values[~missing(column.values)]
        words, bars = _of_numbers(present, column.kind)
        absent = len(column.values) - len(present)
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
