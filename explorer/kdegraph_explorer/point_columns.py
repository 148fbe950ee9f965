"""Name what is known of each point: all columns of its row in a file, or its coordinates."""

from dataclasses import dataclass, field, fields, replace
from weakref import WeakKeyDictionary

import numpy as np
from kdegraph.datasets import Column, Dataset, Table

MAX_LINES = 6  # columns that a note shows
MAX_LENGTH = 40  # characters of a name or of a value in a note
LABEL = "true label"  # the name of the labels of points that are from no table

# Texts of a million labels take a while to make.
_columns_without_table: WeakKeyDictionary[Dataset, dict] = WeakKeyDictionary()
_texts_of_booleans: WeakKeyDictionary[Column, Column] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class TableDataset(Dataset):
    """Points with the table that they are from, or None.

    The table also has the columns that are not features; `rows` says which of its rows the points
    are.
    """

    table: Table | None = field(default=None, repr=False)

    @classmethod
    def of(cls, dataset, table):
        """Return the same points with their table."""
        return cls(
            **{part.name: getattr(dataset, part.name) for part in fields(Dataset)}, table=table
        )


def columns_of(dataset):
    """Return the columns of points by name; `values_of` returns their values.

    They are those of the table with values, in which booleans are text, or the coordinates and the
    labels, if known.
    """
    table = getattr(dataset, "table", None)
    if table is not None:
        known = [column for column in table.columns if column.values is not None]
        return {column.name: _as_text(column) if column.boolean else column for column in known}
    if dataset not in _columns_without_table:
        _columns_without_table[dataset] = _columns_of_coordinates(dataset)
    return _columns_without_table[dataset]


def _as_text(column):
    """Return a column of booleans as one of text."""
    if column not in _texts_of_booleans:
        codes = np.nan_to_num(column.values, nan=2).astype(np.intp)
        values = np.array(["False", "True", None], dtype=object)[codes]
        _texts_of_booleans[column] = replace(column, kind="text", values=values, boolean=False)
    return _texts_of_booleans[column]


def _columns_of_coordinates(dataset):
    if dataset.image is not None:
        return {}
    columns = [
        Column(str(name), "number", dataset.X[:, i]) for i, name in enumerate(dataset.feature_names)
    ]
    if dataset.y is not None:
        names = dataset.label_names or tuple(map(str, range(int(dataset.y.max()) + 1)))
        columns.append(Column(LABEL, "text", np.array(names, dtype=object)[dataset.y]))
    return {column.name: column for column in columns}


def values_of(dataset, column, points=slice(None)):
    """Return the values of one of `columns_of`, at all points in order, or at some or at one."""
    from_table = getattr(dataset, "table", None) is not None
    return column.values[dataset.rows[points] if from_table else points]


def row_in_words(dataset, point, first="", left_out=()):
    """Describe a point for a note beside it: a list of "name: value".

    The column `first` comes before the others, then the label and other columns without numbers; of
    many columns only the first few are shown. Columns in `left_out` are shown in another way; the
    first one is shown all the same.
    """
    columns = columns_of(dataset)
    shown = [name for name in columns if name == first or name not in left_out]
    order = sorted(shown, key=lambda name: (name != first, columns[name].kind == "number"))
    lines = [
        f"{shortened(name)}: {shortened(cell(values_of(dataset, columns[name], point)))}"
        for name in order[:MAX_LINES]
    ]
    n_more = len(shown) - MAX_LINES
    return lines + [f"and {n_more:,} more column{'s' * (n_more > 1)}"] * (n_more > 0)


def shortened(text, longest=MAX_LENGTH):
    """Return a text on one line, of at most so many characters."""
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def cell(value):
    """Return a value of a column as text; a dash if there is none."""
    if value is None or value != value:  # NaN and NaT differ from themselves
        return "–"
    if isinstance(value, np.datetime64):
        text = str(value.astype("datetime64[s]"))
        return text.removesuffix("T00:00:00").replace("T", " ")
    if isinstance(value, str):
        return value
    five_digits = abs(value) < 1e4 and value != np.round(value)
    return f"{value:,.5g}" if five_digits or abs(value) >= 1e15 else f"{value:,.0f}"
