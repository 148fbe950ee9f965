"""Tables: their columns, and the data set made from some of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdegraph.io.dataset import Dataset
from kdegraph.runtime.slices import slices

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


@dataclass(frozen=True, eq=False)
class Column:
    """Hold one column of a table.

    Parameters
    ----------
    name : str
        The name in the first line of the table; unique within the table.
    kind : {"number", "text", "date", "other"}
        Only numbers can be features, and only numbers and text can be labels. "other" stands for
        columns that are not read, such as lists and empty columns.
    values : (n,) array or None
        Of float64 for numbers, with NaN for cells that are missing or hold no number; of objects
        (str or None) for text; of datetime64[ms] for dates; None for other columns.
    bad : dict
        Some of the cells of a column of numbers that hold something else, from row to content.
    recognized : {"", "index", "id", "constant", "date"}
        The reason why the column is not a feature by default: it counts the rows and has no name of
        its own, it is a running number or another identifier, it has one value in all rows, or it
        is a date.

    Examples
    --------
    >>> from kdegraph import datasets
    >>> table = datasets.read(b"x,y,label\\n0,1,a\\n2,3,b\\n", filename="points.csv")
    >>> column = table.column("label")
    >>> column.kind, column.numeric
    ('text', False)
    >>> column.classes()
    (('a', 'b'), array([0, 1]))
    """

    name: str
    kind: str
    values: NDArray[Any] | None = field(repr=False)
    bad: dict[int, str] = field(default_factory=dict, repr=False)
    recognized: str = ""

    @property
    def numeric(self) -> bool:
        """True if the column can be a feature."""
        return self.kind == "number"

    @property
    def classifies(self) -> bool:
        """True if the column can be the label."""
        return self.kind in ("number", "text")

    def classes(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Return the different values, and which of them each row has.

        Returns
        -------
        (tuple of str, (n,) int64 array)
            The values in order, as text, and the index of each row's value. Where some are
            missing, the last value is "(missing)".
        """
        if self.values is None or not self.classifies:
            raise ValueError(f"column {self.name!r} holds neither text nor numbers")
        if self.numeric:
            present = ~np.isnan(self.values)
            found, inverse = np.unique(self.values[present], return_inverse=True)
            names = [_number_as_text(value) for value in found]
            codes = np.full(len(self.values), len(names), np.int64)
            codes[present] = inverse
        else:
            # An array of text would take for each cell the memory of the longest one.
            names = sorted(_different_texts(self.values))
            code_of = {name: code for code, name in enumerate([*names, None])}
            # Other threads can run during a generator, but not during a `map` of a C function.
            indices = (code_of[value] for value in self.values)
            codes = np.fromiter(indices, np.int64, len(self.values))
        missing = bool((codes == len(names)).any())
        return tuple(names + ["(missing)"] * missing), codes


def _different_texts(values, enough=np.inf):
    """Return the different texts of a column, or only some of them if there are `enough`."""
    found = set()
    for part in slices(len(values)):
        if len(found) <= enough:
            found.update(values[part])
    return found - {None}


def _number_as_text(value):
    if abs(value) >= 1e15:  # whole numbers are no longer exact there
        return f"{value:g}"
    return str(int(value)) if value == int(value) else repr(float(value))


def _could_be_label(column):
    """Return whether the values look like classes: at most 100 different texts or whole numbers."""
    if column.kind == "text":
        n_classes = len(_different_texts(column.values, 101))
    elif column.kind == "number":
        numbers = np.unique(column.values[~np.isnan(column.values)])
        n_classes = len(numbers) if (numbers == np.round(numbers)).all() else 0
    else:
        n_classes = 0
    return 1 <= n_classes <= 100


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

    Attributes
    ----------
    kind : str
        "table".
    columns : tuple of Column
    n_rows : int
    suggested_label : str or None
        A column that is named like a label (label, class, cluster, target, y, ...) and holds
        classes.
    suggested_features : tuple of str
        All other columns of numbers except those that are `Column.recognized` as something else.
        If none remains, these are features too, except one that counts the rows and has no name of
        its own.

    Examples
    --------
    >>> from kdegraph import datasets
    >>> table = datasets.read(b"x,y,label\\n0,1,a\\n2,3,b\\n", filename="points.csv")
    >>> [column.name for column in table.columns]
    ['x', 'y', 'label']
    >>> table.to_dataset(["y"]).X
    array([[1.],
           [3.]])
    """

    kind = "table"

    def __init__(
        self, columns: Iterable[Column], name: str = "", first_line: int | None = None
    ) -> None:
        self.columns = tuple(_with_different_names(columns))
        self.name = name
        self.first_line = first_line
        self.n_rows = max((len(c.values) for c in self.columns if c.values is not None), default=0)
        self.suggested_label = self._suggest_label()
        features = self._suggest_features(self.suggested_label)
        self.suggested_features = tuple(column.name for column in features)

    def _suggest_features(self, *labels: str | None) -> list[Column]:
        """Return the columns that are features if those with these names are labels."""
        possible = [
            column
            for column in self.columns
            if column.numeric and column.recognized != "index" and column.name not in labels
        ]
        return [column for column in possible if not column.recognized] or possible

    def _suggest_label(self) -> str | None:
        names = [column.name.strip().lower() for column in self.columns]
        for wanted in LABEL_NAMES:
            if wanted == "y" and "x" in names:
                continue  # y is a coordinate
            for name, column in zip(names, self.columns, strict=True):
                others = name == wanted and self._suggest_features(column.name)
                if others and _could_be_label(column):
                    return column.name
        return None

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
    ) -> Dataset:
        """Return the points in the chosen columns.

        Parameters
        ----------
        columns : sequence of str or int, optional
            Names or positions of the features, in the wanted order; by default
            `suggested_features`.
        label : str, int or None
            Name or position of the column of known labels. "auto" takes `suggested_label`, unless
            that is one of `columns`; None takes none.
        dropna : bool
            Skip rows with a cell that is missing or is not a finite number. By default such a table
            is refused.

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
        chosen = [columns] if isinstance(columns, (str, int)) else columns
        features = None if chosen is None else [self.column(key) for key in chosen]
        target = self._target(label, features or [])
        if features is None:
            named = None if target is None else target.name
            features = self._suggest_features(self.suggested_label, named)
        X = self._numbers(features)
        finite = np.isfinite(X).all(axis=1)
        if not (finite.all() or dropna):
            raise ValueError(self._describe_bad_cell(features, X, int(np.argmin(finite))))
        rows = np.flatnonzero(finite)
        if len(rows) == 0:
            raise ValueError(
                f"{self.name or 'the table'} has no row in which all chosen columns are numbers"
            )
        used = [*features, *([] if target is None else [target])]
        unused = self.unused(column.name for column in used)
        size = f"{len(rows):,} rows and {len(features)} columns"
        data = Dataset(
            X=X if finite.all() else X[rows],
            name=self.name,
            description=f"{size} of {self.name or 'a table'}."
            + (f" Not used: {unused}." if unused else ""),
            feature_names=tuple(feature.name for feature in features),
            rows=rows,
        )
        if target is None:
            return data
        names, codes = target.classes()
        y = codes[rows]
        return replace(data, y=y, label_names=names, n_clusters=len(np.unique(y)))

    def unused(self, used: Iterable[str]) -> str:
        """Describe the columns that are recognized as something other than a feature.

        Parameters
        ----------
        used : iterable of str
            Names of features and labels, which are not listed.

        Returns
        -------
        str
            ``"'id' (an identifier), 'when' (a date)"``; the first five of many, or "".
        """
        reasons = {
            "index": "counts the rows",
            "id": "an identifier",
            "constant": "always the same",
            "date": "a date",
        }
        names = set(used)
        found = [
            f"{column.name!r} ({reasons[column.recognized]})"
            for column in self.columns
            if column.recognized and column.name not in names
        ]
        return ", ".join(found[:5] + ([f"{len(found) - 5} more"] if len(found) > 5 else []))

    def _target(self, label, features) -> Column | None:
        """Return the column of known labels, or None."""
        if label == "auto":
            label = self.suggested_label
            if label in [feature.name for feature in features]:
                return None
        if label is None:
            return None
        target = self.column(label, "label")
        if not target.classifies:
            raise ValueError(f"label: column {target.name!r} holds neither text nor numbers")
        if target in features:
            raise ValueError(
                f"label: column {target.name!r} is also one of the features, which would make the "
                "clusters agree with it; leave it out of columns, or choose another label"
            )
        return target

    def _numbers(self, features) -> NDArray[np.float64]:
        """Return the values of some columns as one array; refuse columns without numbers."""
        if not features:
            found = ", ".join(f"{c.name!r} ({c.kind})" for c in self.columns[:20])
            raise ValueError(
                f"{self.name or 'the table'} has no column of numbers to use as a feature; "
                f"found {found or 'no columns'}"
            )
        for feature in features:
            if not feature.numeric:
                what = {"text": "text", "date": "dates"}.get(feature.kind, "no values")
                raise ValueError(
                    f"columns: column {feature.name!r} holds {what}, features must be numbers"
                )
        return np.stack([feature.values for feature in features], axis=1)

    def _describe_bad_cell(self, features, X, row) -> str:
        """Describe the first cell of a row that is not a finite number."""
        column = int(np.argmin(np.isfinite(X[row])))
        feature = features[column]
        if row in feature.bad:
            what = f"is not a number: {feature.bad[row]!r}"
        else:
            what = "is missing (empty or NaN)" if np.isnan(X[row, column]) else "is infinite"
        line = "" if self.first_line is None else f" (line {self.first_line + row:,} of the file)"
        return (
            f"row {row:,}{line}, column {feature.name!r} {what}; correct it, choose other "
            "columns, or leave out incomplete rows (in Python dropna=True, in the shell --dropna)"
        )


def _with_different_names(columns):
    """Yield columns with a number after names that occur again: the second "x" is "x (2)"."""
    seen = set()
    for column in columns:
        name, count = column.name, 1
        while name in seen:
            count += 1
            name = f"{column.name} ({count})"
        seen.add(name)
        yield column if name == column.name else replace(column, name=name)
