"""Tables: their columns, and the data set made from some of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdegraph.io.dataset import Dataset
from kdegraph.io.limits import MAX_BYTES, check_table
from kdegraph.io.mixed import Category, Number, coordinates, encode
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


# Different values of a column that is a label or a category by default.
MAX_CLASSES = 100


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
    as_text : bool
        True for numbers that are stored as text.

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
    as_text: bool = False

    @property
    def numeric(self) -> bool:
        """True if the column can be a feature."""
        return self.kind == "number"

    @property
    def classifies(self) -> bool:
        """True if the column can be the label."""
        return self.kind in ("number", "text")

    @property
    def repeats(self) -> bool:
        """True for 2 to 100 different texts, each in two rows or more on average."""
        if self.kind != "text" or self.recognized or self.values is None:
            return False
        n_texts = len(_different_texts(self.values, MAX_CLASSES))
        return 2 <= n_texts <= min(MAX_CLASSES, len(self.values) // 2)

    def classes(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Return the different values, and which of them each row has.

        Returns
        -------
        (tuple of str, (n,) int64 array)
            The values in order, as text, and the index of each row's value. Where some are
            missing, the last value is "(missing)".
        """
        names, codes = self.codes()
        missing = bool((codes == len(names)).any())
        return tuple(names + ["(missing)"] * missing), codes

    def codes(self) -> tuple[list[str], NDArray[np.int64]]:
        """Return the different values as `classes`, with an index beyond them for missing cells.

        Returns
        -------
        (list of str, (n,) int64 array)
            The values in order, as text, and the index of each row's value.
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
        return names, codes


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


def _number_of_classes(column):
    """Return how many different texts or whole numbers a column has, or 101 for more texts; 0 for
    other columns.
    """
    if column.kind == "text":
        return len(_different_texts(column.values, MAX_CLASSES))
    if column.kind == "number":
        numbers = np.unique(column.values[~np.isnan(column.values)])
        return len(numbers) if (numbers == np.round(numbers)).all() else 0
    return 0


def as_arrow(values: Any) -> Any:
    """Return an array of numbers or of text as an Arrow array; those of Arrow as they are."""
    import pyarrow as pa

    if not isinstance(values, np.ndarray):
        return values
    if values.dtype.kind not in "iuf":
        return pa.array(values.tolist())
    # PyArrow's own conversion imports pandas, which takes longer than writing a small table.
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, buffer])


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
        classes.
    suggested_features : tuple of str
        All other columns of numbers except those that are `Column.recognized` as something else,
        and whole numbers in a column that is named like a label.
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
        self,
        columns: Iterable[Column],
        name: str = "",
        first_line: int | None = None,
        frame: Any = None,
    ) -> None:
        self.columns = tuple(_with_different_names(columns))
        self.name = name
        self.first_line = first_line
        self.frame = frame
        self._label_like = self._find_label_like()
        self.n_rows = max((len(c.values) for c in self.columns if c.values is not None), default=0)
        self.suggested_label = self._suggest_label()
        features = self.suggest_features(self.suggested_label)
        self.suggested_features = tuple(column.name for column in features)

    def suggest_features(self, *labels: str | None, mixed: bool = False) -> list[Column]:
        """Return the columns that are features by default.

        Parameters
        ----------
        *labels : str or None
            Names of columns that are labels, and so no features.
        mixed : bool
            Include the columns of text that `Column.repeats`.

        Returns
        -------
        list of Column
            In the order of the table.
        """
        possible = [
            column
            for column in self.columns
            if ((column.numeric and column.recognized != "index") or (mixed and column.repeats))
            and column.name not in labels
        ]
        likely = [c for c in possible if not (c.recognized or c.name in self._label_like)]
        return likely or possible

    def _find_label_like(self) -> list[str]:
        """Return the columns of text or whole numbers that are named like a label, the most certain
        first.
        """
        names = [column.name.strip().lower() for column in self.columns]
        return [
            column.name
            for wanted in LABEL_NAMES
            for name, column in zip(names, self.columns, strict=True)
            if name == wanted and not (name == "y" and "x" in names)  # y is a coordinate there
            if _number_of_classes(column)
        ]

    def _suggest_label(self, mixed: bool = False) -> str | None:
        for name in self._label_like:
            others = self.suggest_features(name, mixed=mixed)
            if others and _number_of_classes(self.column(name)) <= MAX_CLASSES:
                return name
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
        impute: bool = False,
        categories: Sequence[str | int] | str | int | None = None,
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
        impute : bool
            Replace missing cells by the median of their column, or by the most frequent category.
        categories : sequence of str or int, str or int, optional
            Scale the columns, and encode those that are categories, as
            `kdegraph.datasets.table_points` does. By default only numbers can be features, which
            stay as they are.

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
        features, target, parts = self.choose(columns, label, categories)
        X = encode(parts, features, impute=impute)
        finite = np.isfinite(X).all(axis=1)
        if not dropna:
            self.check_complete(features, finite)
        rows = np.flatnonzero(finite)
        if len(rows) == 0:
            raise ValueError(
                f"{self.name or 'the table'} has no row in which all chosen columns have values"
            )
        used = [*features, *([] if target is None else [target])]
        unused = self.unused((column.name for column in used), text=categories is not None)
        size = f"{len(rows):,} rows and {len(features)} columns"
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

    def choose(
        self,
        columns: Sequence[str | int] | str | int | None,
        label: str | int | None,
        categories: Sequence[str | int] | str | int | None,
    ) -> tuple[list[Column], Column | None, list[Number | Category]]:
        """Choose features and the label, as `to_dataset` does.

        Parameters
        ----------
        columns : sequence of str or int, str or int, or None
            The features.
        label : str, int or None
            The column of known labels.
        categories : sequence of str or int, str or int, or None
            Columns that are categories; None is for tables of numbers alone.

        Returns
        -------
        (list of Column, Column or None, list)
            The features, the label, and how the features become coordinates.
        """
        mixed = categories is not None
        named = [] if categories in (None, "auto") else self._columns(categories, "categories")
        chosen = [] if columns is None else self._columns(columns, "columns")
        suggested = self._suggest_label(mixed)
        target = self._target(label, [*chosen, *named], suggested)
        if columns is None:
            labels = {suggested, None if target is None else target.name}
            labels -= {column.name for column in named}
            chosen = self.suggest_features(*labels, mixed=mixed)
        features = [*chosen, *(column for column in named if column not in chosen)]
        self._check_features(features, mixed)
        if not mixed:
            return features, target, [Number(column.name, 0.0, 1.0) for column in features]
        parts = coordinates(features, {column.name for column in named})
        n_coordinates = sum(len(part.names) for part in parts)
        check_table(self.n_rows, n_coordinates, self.name or "the encoded table", MAX_BYTES)
        return features, target, parts

    def _columns(self, keys, argument) -> list[Column]:
        """Return the columns for one or several names or positions."""
        keys = [keys] if isinstance(keys, (str, int)) else keys
        return [self.column(key, argument) for key in keys]

    def to_arrow(self, columns: Mapping[str, NDArray] | None = None) -> Any:
        """Return all columns as they were read, and further ones after them.

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

        frame = self.frame
        if frame is None:
            known = [column for column in self.columns if column.values is not None]
            frame = pa.table({column.name: as_arrow(column.values) for column in known})
        found = {
            name: values.cast(values.type.value_type)
            if pa.types.is_dictionary(values.type)
            else values
            for name, values in zip(frame.column_names, frame.columns, strict=True)
        }
        for name, values in (columns or {}).items():
            while name in found:
                name += "_"
            found[name] = as_arrow(values)
        return pa.table(found)

    def unused(self, used: Iterable[str], *, text: bool = False) -> str:
        """Describe the columns that are recognized as something other than a feature.

        Parameters
        ----------
        used : iterable of str
            Names of features and labels, which are not listed.
        text : bool
            List columns of text, too.

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
            "label": "named like a label",
            "text": "text",
        }
        names = set(used)
        recognized = {
            column.name: column.recognized
            or ("label" if column.name in self._label_like else column.kind if text else "")
            for column in self.columns
            if column.name not in names
        }
        found = [
            f"{name!r} ({reasons[reason]})"
            for name, reason in recognized.items()
            if reason in reasons
        ]
        return ", ".join(found[:5] + ([f"{len(found) - 5} more"] if len(found) > 5 else []))

    def _target(self, label, features, suggested) -> Column | None:
        """Return the column of known labels, or None."""
        if label == "auto":
            label = suggested
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

    def _check_features(self, features, mixed) -> None:
        """Refuse a table without features, and columns that cannot be features."""
        if not features:
            found = ", ".join(f"{c.name[:40]!r} ({c.kind})" for c in self.columns[:10])
            raise ValueError(
                f"{self.name or 'the table'} has no column of numbers to use as a feature; "
                f"found {found or 'no columns'}"
            )
        for feature in features:
            if not (feature.numeric or (mixed and feature.classifies)):
                what = {"text": "text", "date": "dates"}.get(feature.kind, "no values")
                remedy = "; table_points, or --categories in the shell, encodes text"
                raise ValueError(
                    f"columns: column {feature.name!r} holds {what}, features must be numbers"
                    + remedy * (feature.kind == "text")
                )

    def check_complete(self, features: Sequence[Any], finite: Any) -> None:
        """Raise a ValueError on the first missing cell or infinite number of some columns.

        Parameters
        ----------
        features : sequence of Column
            The columns.
        finite : (n,) bool array
            False for the rows with such a cell.
        """
        if finite.all():
            return
        row = int(np.argmin(finite))
        cells = ((feature, feature.values[row]) for feature in features)
        feature, cell = next(
            (feature, cell)
            for feature, cell in cells
            if cell is None or (feature.numeric and not np.isfinite(cell))
        )
        if row in feature.bad:
            what = f"is not a number: {feature.bad[row][:80]!r}"
        else:
            what = "is infinite" if cell in (np.inf, -np.inf) else "is missing (empty or NaN)"
        line = "" if self.first_line is None else f" (line {self.first_line + row:,} of the file)"
        raise ValueError(
            f"row {row:,}{line}, column {feature.name!r} {what}; correct it, choose other "
            "columns, or leave out incomplete rows (in Python dropna=True, or missing='drop' of "
            "table_points, in the shell --dropna)"
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
