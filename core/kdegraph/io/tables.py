"""A table or a picture that was read from a file, and the data set made from it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdegraph.io.dataset import Dataset
from kdegraph.io.pictures import MAX_PIXELS, image_points
from kdegraph.io.recognition import REASONS
from kdegraph.runtime.slices import slices

LABEL_NAMES = (
    "label",
    "labels",
    "class",
    "classes",
    "cluster",
    "clusters",
    "target",
    "targets",
    "species",
    "y",
)

# A column with more different values than this is not suggested as the label.
_MAX_CLASSES = 100
# The class of rows whose label is missing.
_MISSING = "(missing)"
# Columns that a sentence names.
_N_NAMED = 5
# From here on, whole numbers are no longer exact in a float64 and are shown in short.
_LARGE_NUMBER = 1e15


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table.

    Parameters
    ----------
    name : str
        The name in the first line of the table; unique within the table.
    kind : {"number", "text", "date", "other"}
        Only numbers can be features, only numbers and text labels. "other" stands for empty columns
        and the like.
    values : (n,) array or None
        For numbers float64, with NaN where a cell is missing or holds no number. For text objects,
        str or None. For dates datetime64[ms]. None for other columns.
    bad : dict
        For numbers: some of the cells that hold something else, from row to what they hold.
    recognized : {"", "index", "id", "constant", "date"}
        What the column is recognized as, by its type, values and name, if that is nothing to
        cluster by: it counts the rows without a name of its own, it is a running number or another
        identifier, it is the same in all rows, or it is a date. Such a column is no feature unless
        it is asked for.

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
        """Whether the column can be a feature."""
        return self.kind == "number"

    @property
    def classifies(self) -> bool:
        """Whether the column can be the label."""
        return self.kind in ("number", "text")

    def classes(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Return the distinct values in order, as text, and the index of each row's value."""
        if self.values is None or not self.classifies:
            raise ValueError(f"column {self.name!r} holds neither text nor numbers")
        if self.numeric:
            present = ~np.isnan(self.values)
            found, inverse = np.unique(self.values[present], return_inverse=True)
            names = [_number_as_text(value) for value in found]
            codes = np.full(len(self.values), len(names), np.int64)
            codes[present] = inverse
        else:
            # An array of text would give each cell as much memory as the longest one needs.
            names = sorted(_distinct(self.values))
            code_of = {name: code for code, name in enumerate([*names, None])}
            codes = np.fromiter(
                (code_of[value] for value in self.values), np.int64, len(self.values)
            )
            present = codes < len(names)
        return tuple(names) + (() if present.all() else (_MISSING,)), codes

    def could_be_label(self) -> bool:
        """Return whether the values look like classes.

        They do if they are text or whole numbers and not too many of them differ.
        """
        if self.values is None or not self.classifies:
            return False
        if not self.numeric:
            return 1 <= len(_distinct(self.values, _MAX_CLASSES + 1)) <= _MAX_CLASSES
        numbers = self.values[~np.isnan(self.values)]
        whole = bool((numbers == np.round(numbers)).all())
        return whole and 1 <= len(np.unique(numbers)) <= _MAX_CLASSES


def _distinct(texts, enough=math.inf):
    """Return the different texts of a column, or the first ones if there are `enough`."""
    found = set()
    for part in slices(len(texts)):
        found.update(texts[part])
        found.discard(None)
        if len(found) >= enough:
            break
    return found


def _number_as_text(value):
    if abs(value) >= _LARGE_NUMBER:
        return f"{value:g}"
    return str(int(value)) if value == int(value) else repr(float(value))


class Table:
    """A table that was read from a file.

    Parameters
    ----------
    columns : sequence of Column
        The columns, in the order of the file. A name that occurs again gets a number.
    name : str
        The name of the data set.
    first_line : int, optional
        The line of a file of text in which the first row stands, where each row is a line.

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
        All other columns of numbers that are not `Column.recognized` as something else; where there
        is none, the recognized ones, except one that counts the rows without a name of its own.

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
        self.columns = tuple(_rename_duplicates(columns))
        self.name = name
        self.first_line = first_line
        lengths = [len(column.values) for column in self.columns if column.values is not None]
        self.n_rows = max(lengths, default=0)
        self.suggested_label = self._suggest_label()
        self.suggested_features = tuple(column.name for column in self._suggest_features())

    def _suggest_features(self, label: Column | None = None) -> list[Column]:
        possible = [
            column
            for column in self.columns
            if column.numeric
            and column.recognized != "index"
            and column is not label
            and column.name != self.suggested_label
        ]
        return [column for column in possible if not column.recognized] or possible

    def _suggest_label(self) -> str | None:
        by_name: dict[str, list[Column]] = {}
        for column in self.columns:
            by_name.setdefault(column.name.strip().lower(), []).append(column)
        for wanted in LABEL_NAMES:
            if wanted == "y" and "x" in by_name:
                continue  # y is a coordinate
            for column in by_name.get(wanted, ()):
                if column.could_be_label() and self._has_features_beside(column):
                    return column.name
        return None

    def _has_features_beside(self, label: Column) -> bool:
        others = (column for column in self.columns if column is not label)
        return any(column.numeric and column.recognized != "index" for column in others)

    def column(self, key: str | int, argument: str = "columns") -> Column:
        """Return the column of a name or of a position.

        Parameters
        ----------
        key : str or int
            The name, or the position from 0, also as a string of digits. A name comes first.
        argument : str
            What the message of an error calls `key`.

        Returns
        -------
        Column

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
            Leave out rows with a cell that is missing or is no finite number. By default such a
            table is refused.

        Returns
        -------
        Dataset
            Its `rows` tells which rows of the table are left, its `description` also which columns
            are no features, and why.

        Raises
        ------
        ValueError
            If a column does not exist or holds no numbers, if the label is one of `columns`, or if
            a cell is missing. The message names the row, counted from 0, and the column.
        """
        features = None if columns is None else self._columns(columns)
        target = self._target(label, features or [])
        if features is None:
            features = self._suggest_features(target)
        X = self._numbers(features)
        finite = np.isfinite(X).all(axis=1)
        if not (finite.all() or dropna):
            raise ValueError(self._describe_bad_cell(features, X, int(np.argmin(finite))))
        rows = np.flatnonzero(finite)
        if len(rows) == 0:
            raise ValueError(
                f"{self.name or 'the table'} has no row in which all chosen columns are numbers"
            )
        size = f"{len(rows):,} rows and {len(features)} columns"
        used = [*features, *([] if target is None else [target])]
        description = f"{size} of {self.name or 'a table'}."
        if unused := self.unused(column.name for column in used):
            description += f" Not used: {unused}."
        data = Dataset(
            X=X if finite.all() else X[rows],
            name=self.name,
            description=description,
            feature_names=tuple(feature.name for feature in features),
            rows=rows,
        )
        if target is None:
            return data
        names, codes = target.classes()
        y = codes[rows]
        return replace(data, y=y, label_names=names, n_clusters=len(np.unique(y)))

    def unused(self, used: Iterable[str]) -> str:
        """Say which columns are recognized as something other than a feature, and not used.

        Parameters
        ----------
        used : iterable of str
            Names of the features and of the label.

        Returns
        -------
        str
            ``"'id' (an identifier), 'when' (a date)"``; the first few of many, and "" if there is
            none.
        """
        names = set(used)
        found = [
            f"{column.name!r} ({REASONS[column.recognized]})"
            for column in self.columns
            if column.recognized and column.name not in names
        ]
        more = [f"{len(found) - _N_NAMED} more"] if len(found) > _N_NAMED else []
        return ", ".join(found[:_N_NAMED] + more)

    def _columns(self, keys) -> list[Column]:
        if isinstance(keys, (str, int)):
            keys = [keys]
        return [self.column(key) for key in keys]

    def _target(self, label, features) -> Column | None:
        """Return the column of known labels, or None."""
        if label == "auto":
            if self.suggested_label is None:
                return None
            target = self.column(self.suggested_label)
            return None if any(feature is target for feature in features) else target
        if label is None:
            return None
        target = self.column(label, "label")
        if not target.classifies:
            raise ValueError(f"label: column {target.name!r} holds neither text nor numbers")
        if any(feature is target for feature in features):
            raise ValueError(
                f"label: column {target.name!r} is also one of the features, which would make the "
                "clusters agree with it; leave it out of columns, or choose another label"
            )
        return target

    def _numbers(self, features) -> NDArray[np.float64]:
        """Return the values of columns side by side; refuse columns without numbers."""
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
        """Say what is wrong with the first cell of a row that is not a finite number."""
        column = int(np.argmin(np.isfinite(X[row])))
        feature = features[column]
        if row in feature.bad:
            what = f"is not a number: {feature.bad[row]!r}"
        else:
            what = "is missing (empty or NaN)" if np.isnan(X[row, column]) else "is infinite"
        line = None if self.first_line is None else self.first_line + row
        return (
            f"{describe_row(row, line)}, column {feature.name!r} {what}; correct it, choose other "
            "columns, or leave out incomplete rows (in Python dropna=True, in the shell --dropna)"
        )


def describe_row(row: int, line: int | None = None) -> str:
    """Name a row of a table, counted from 0, and its line in a file, counted from 1."""
    return f"row {row:,}" + ("" if line is None else f" (line {line:,} of the file)")


def _rename_duplicates(columns):
    """Make the names of columns unique: the second "x" becomes "x (2)"."""
    seen = set()
    for column in columns:
        name, count = column.name, 1
        while name in seen:
            count += 1
            name = f"{column.name} ({count})"
        seen.add(name)
        yield column if name == column.name else replace(column, name=name)


class Picture:
    """A picture that was read from a file.

    Parameters
    ----------
    image : array
        The pixels as `image_points` takes them.
    name : str
        The name of the data set.

    Attributes
    ----------
    kind : str
        "image".

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from kdegraph import datasets
    >>> file = io.BytesIO()
    >>> np.save(file, np.zeros((4, 6, 3), np.uint8))
    >>> picture = datasets.read(file.getvalue(), filename="picture.npy")
    >>> picture.kind, picture.to_dataset().shape
    ('image', (4, 6))
    """

    kind = "image"

    def __init__(self, image: NDArray[Any], name: str = "") -> None:
        self.image = image
        self.name = name

    def to_dataset(
        self, *, blur: float | None = None, max_pixels: int | None = MAX_PIXELS
    ) -> Dataset:
        """Return the pixels as points; see `image_points`."""
        return image_points(self.image, blur=blur, max_pixels=max_pixels, name=self.name)
