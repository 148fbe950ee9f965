"""Tables, and the data set made from some of their columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdegraph.io.columns import MAX_CLASSES, Column, as_arrow, number_of_classes, repeats
from kdegraph.io.dataset import Dataset
from kdegraph.io.dates import date_coordinates, encode_dates
from kdegraph.io.features import check_complete, choose, columns_of, list_unused
from kdegraph.io.mixed import encode

# Names of columns and arrays that are labels, the most certain first.
LABEL_NAMES = (
    *("label", "labels", "class", "classes", "cluster", "clusters"),
    *("target", "targets", "species", "y"),
)
# Text that stands for a missing cell.
NULLS = (
    *("", "NA", "N/A", "n/a", "na", "NaN", "nan", "-nan", "-NaN"),
    *("NULL", "null", "None", "#N/A", "?"),
)


class Table:
    """Hold a table that was read from a file.

    Parameters
    ----------
    columns : iterable of Column
        The columns, in the order of the file. A name that occurs again gets a number.
    name : str
        The name of the data set.
    first_line : int, optional
        The line of the first row in a text file in which each row is a line.
    frame : pyarrow.Table, optional
        The columns as they were read, for those who write them to another file.

    Attributes
    ----------
    kind : str
        "table".
    columns : tuple of Column
    n_rows : int
    suggested_label : str or None
        A column that is named like a label (label, class, cluster, target, y, ...) and holds
        classes; else the only column of text with 2 to 100 different values, each in two rows or
        more on average.
    suggested_features : tuple of str
        All other columns of numbers except those that are `Column.recognized` as something else,
        and whole numbers in a column that is named like a label.
        If none remains, these are features too, except one that counts the rows and has no name of
        its own.

    Examples
    --------
    >>> from kdegraph import datasets
    >>> table = datasets.read(b"x,y,label\\n0,1,a\\n2,3,b\\n", filename="points.csv")
    >>> table
    <Table of points.csv with 2 rows and 3 columns>
    >>> [column.name for column in table.columns]
    ['x', 'y', 'label']
    >>> table.to_dataset(["y"]).X
    array([[1.],
           [3.]])
    """

    kind = "table"

    def __init__(
        self,
        columns: Iterable[Column],
        name: str = "",
        first_line: int | None = None,
        frame: Any = None,
    ) -> None:
        columns = tuple(columns)
        names = _different([column.name for column in columns])
        self.columns: tuple[Column, ...] = tuple(
            replace(column, name=name) for column, name in zip(columns, names, strict=True)
        )
        self.name = name
        self.first_line = first_line
        self.frame = frame
        self.n_rows: int = max(
            (len(c.values) for c in self.columns if c.values is not None), default=0
        )
        self._label_like = _named_like_labels(self.columns)
        self.suggested_label: str | None = self._suggest_label()
        self.suggested_features: tuple[str, ...] = tuple(
            c.name for c in self._suggest_features(self.suggested_label)
        )

    def __repr__(self) -> str:
        name = f" of {self.name}" if self.name else ""
        return f"<Table{name} with {self.n_rows:,} rows and {len(self.columns)} columns>"

    def _suggest_features(self, *labels, mixed=False):
        """Return the columns that are features by default; `mixed` includes text that repeats."""
        possible = [
            column
            for column in self.columns
            if ((column.numeric and column.recognized != "index") or (mixed and repeats(column)))
            and column.name not in labels
        ]
        likely = [c for c in possible if not (c.recognized or c.name in self._label_like)]
        return likely or possible

    def _suggest_label(self, mixed=False):
        for name, n_classes in self._label_like.items():
            if n_classes <= MAX_CLASSES and self._suggest_features(name, mixed=mixed):
                return name
        texts = [column.name for column in self.columns if not mixed and repeats(column)]
        return texts[0] if len(texts) == 1 and self._suggest_features() else None

    def column(self, key: str | int, argument: str = "columns") -> Column:
        """Return the column with a name or at a position.

        Parameters
        ----------
        key : str or int
            The name, or the position from 0, also as a string of digits. A name comes first.
        argument : str
            The name of the argument, for messages.

        Returns
        -------
        Column
            The column, with its values.

        Raises
        ------
        ValueError
            If there is no such column.
        """
        names = [column.name for column in self.columns]
        if isinstance(key, str) and key in names:
            return self.columns[names.index(key)]
        if isinstance(key, str) and key.isascii() and key.isdigit():
            key = int(key)
        is_whole = isinstance(key, (int, np.integer)) and not isinstance(key, bool)
        if is_whole and 0 <= int(key) < len(names):
            return self.columns[int(key)]
        shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
        raise ValueError(f"{argument}: there is no column {key!r}; the columns are {shown}")

    def to_dataset(
        self,
        columns: Sequence[str | int] | str | int | None = None,
        label: str | int | None = "auto",
        *,
        dropna: bool = False,
        impute: bool = False,
        categories: Sequence[str | int] | str | int | None = None,
        dates: Mapping[str, str] | None = None,
    ) -> Dataset:
        """Return the points in the chosen columns.

        Parameters
        ----------
        columns : sequence of str or int, str or int, optional
            The features, as for `load`; by default `suggested_features`.
        label : str, int or None
            The known labels, as for `load`. "auto" takes `suggested_label`, unless that is one of
            `columns`.
        dropna : bool
            Skip rows with a cell that is missing or is not a finite number.
        impute : bool
            Replace missing cells by the median of their column, or by the most frequent category.
        categories : sequence of str or int, str or int, optional
            Scale the columns, and encode those that are categories, as
            `kdegraph.datasets.table_points` does. By default only numbers can be features, which
            stay as they are.
        dates : mapping of str to str, optional
            What columns of dates count as, by name, as for `load`.

        Returns
        -------
        Dataset
            Its `rows` are the rows of the table that it has. Its `description` also names the
            columns that are recognized as something other than a feature.

        Raises
        ------
        ValueError
            If a column does not exist or does not hold numbers, if the label is one of `columns`,
            or if a cell is missing. The message names the row, counted from 0, and the column.
        """
        if dates:
            table, replaced = with_dates(self, dates)
            if columns is not None:
                keys = columns_of(self, columns, "columns")
                columns = [name for key in keys for name in replaced.get(key.name, (key.name,))]
            return table.to_dataset(
                columns, label, dropna=dropna, impute=impute, categories=categories
            )
        features, target, parts = choose(self, columns, label, categories)
        X = encode(parts, features, impute=impute)
        finite = np.isfinite(X).all(axis=1)
        if not dropna:
            check_complete(self, features, finite)
        rows = np.flatnonzero(finite)
        if len(rows) == 0:
            raise ValueError(
                f"{self.name or 'the table'} has no row in which all chosen columns have values"
            )
        unused = list_unused(self, [*features, target], text=categories is not None)
        n, d = len(rows), len(features)
        size = f"{n:,} row{'s' * (n != 1)} and {d} column{'s' * (d != 1)}"
        data = Dataset(
            X=X if finite.all() else X[rows],
            name=self.name,
            description=f"{size} of {self.name or 'a table'}."
            + (f" Not used: {unused}." if unused else ""),
            feature_names=tuple(name for part in parts for name in part.names),
            rows=rows,
        )
        if target is None:
            return data
        names, codes = target.classes()
        y = codes[rows]
        return replace(data, y=y, label_names=names, n_clusters=len(np.unique(y)))

    def to_arrow(self, columns: Mapping[str, NDArray[Any]] | None = None) -> Any:
        """Return all columns as they were read, and further ones after them.

        They have the names of `columns`: the second "x" is "x (2)".

        Parameters
        ----------
        columns : mapping of str to (n_rows,) array, optional
            Further columns by name. A name that is taken gets an underscore.

        Returns
        -------
        pyarrow.Table
            With one row for each row of the file.

        Examples
        --------
        >>> import numpy as np
        >>> from kdegraph import datasets
        >>> table = datasets.read(b"id,x\\n007,1.5\\n008,2.5\\n", filename="points.csv")
        >>> table.to_arrow({"cluster": np.array([0, 1])}).column_names
        ['id', 'x', 'cluster']
        """
        import pyarrow as pa

        if self.frame is None:
            known = [column for column in self.columns if column.values is not None]
            found = {column.name: as_arrow(column.values) for column in known}
        else:
            found = dict(zip(_different(self.frame.column_names), self.frame.columns, strict=True))
        for name, values in found.items():
            if pa.types.is_dictionary(values.type):
                found[name] = values.cast(values.type.value_type)
        for name, values in (columns or {}).items():
            while name in found:
                name += "_"
            found[name] = as_arrow(values)
        return pa.table(found)


def with_dates(table: Table, dates: Mapping[str, str]) -> tuple[Table, dict[str, tuple[str, ...]]]:
    """Return a table with coordinates in place of columns of dates, and their names by column."""
    if not isinstance(dates, Mapping):
        raise TypeError(f"dates must name the columns, such as {{'day': 'month'}}, got {dates!r}")
    replaced = {}
    for key, part in dates.items():
        column = table.column(key, "dates")
        if column.kind != "date":
            raise ValueError(
                f"dates: column {column.name!r} holds no dates that are known as such; write them "
                "as 2024-01-31 or 2024-01-31 12:30"
            )
        replaced[column.name] = date_coordinates(column.name, part), part
    columns: list[Column] = []
    for column in table.columns:
        if column.name in replaced and column.values is not None:
            names, part = replaced[column.name]
            values = encode_dates(column.values, part).T
            columns += [Column(*one) for one in zip(names, ["number"] * 2, values, strict=False)]
        else:
            columns.append(column)
    found = Table(columns, table.name, table.first_line, table.frame)
    return found, {name: names for name, (names, _) in replaced.items()}


def _named_like_labels(columns):
    """Return the columns of text or whole numbers that are named like a label, the most certain
    first: their names, and the numbers of their classes.
    """
    names = [column.name.strip().lower() for column in columns]
    found = {
        column.name: number_of_classes(column)
        for wanted in LABEL_NAMES
        for name, column in zip(names, columns, strict=True)
        if name == wanted and not (name == "y" and "x" in names)  # y is a coordinate there
    }
    return {name: n_classes for name, n_classes in found.items() if n_classes}


def _different(names):
    """Return the names with a number after those that occur again: the second "x" is "x (2)"."""
    found = {}  # in order
    for name in names:
        different, count = name, 1
        while different in found:
            count += 1
            different = f"{name} ({count})"
        found[different] = None
    return list(found)
