"""A table read from a file: which columns there are, and the data set made of those that were
chosen.
"""

from dataclasses import dataclass, field

import numpy as np

from kdegraph.io.dataset import Dataset
from kdegraph.io.pictures import MAX_PIXELS, image_points

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
_MAX_SUGGESTED_CLASSES = 100
_MISSING = "(missing)"


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Parameters
    ----------
    name : str
    kind : {"number", "text", "other"}
        "other" stands for dates, empty columns and the like, which can be neither feature nor
        label.
    values : (n,) array or None
        float64 for numbers, with NaN where a cell is missing or holds no number; objects (str or
        None) for text.
    bad : dict
        For numbers: cells that hold something else, from row to what they hold (a few of them).
    is_index : bool
        Whether it only counts the rows, as tables saved with their index have it.
    """

    name: str
    kind: str
    values: np.ndarray | None = field(repr=False)
    bad: dict = field(default_factory=dict, repr=False)
    is_index: bool = False

    @property
    def numeric(self):
        """Whether the column can be a feature."""
        return self.kind == "number"

    def classes(self):
        """The distinct values in order and the index of each row's value: (names, codes)."""
        if self.numeric:
            present = ~np.isnan(self.values)
            found, inverse = np.unique(self.values[present], return_inverse=True)
            names = [
                f"{value:g}"
                if abs(value) >= 1e15
                else str(int(value))
                if value == int(value)
                else repr(float(value))
                for value in found
            ]
        else:
            present = np.array([value is not None for value in self.values], dtype=bool)
            # No array of text, which would give each cell the room of the longest.
            names = sorted(set(self.values[present]))
            code_of = {name: code for code, name in enumerate(names)}
            inverse = [code_of[value] for value in self.values[present]]
        codes = np.full(len(self.values), len(names), np.int64)
        codes[present] = inverse
        return tuple(names) + (() if present.all() else (_MISSING,)), codes

    def could_be_label(self):
        """Whether the values look like classes: text or whole numbers, and not too many different
        ones.
        """
        if self.kind == "other" or (
            self.numeric
            and not (np.isnan(self.values) | (self.values == np.round(self.values))).all()
        ):
            return False
        values = self.values
        found = np.unique(values[~np.isnan(values)]) if self.numeric else set(values) - {None}
        return 1 <= len(found) <= _MAX_SUGGESTED_CLASSES


class Table:
    """A table of a file.

    Parameters
    ----------
    columns : sequence of Column
    name : str
        Of the data set.

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
        All other columns of numbers, without one that only counts the rows.
    """

    kind = "table"

    def __init__(self, columns, name=""):
        self.columns = tuple(_rename_duplicates(columns))
        self.name = name
        self.n_rows = max(
            (len(column.values) for column in self.columns if column.values is not None), default=0
        )
        self.suggested_label = self._suggest_label()
        self.suggested_features = tuple(
            c.name
            for c in self.columns
            if c.numeric and not c.is_index and c.name != self.suggested_label
        )

    def _suggest_label(self):
        lower = [column.name.strip().lower() for column in self.columns]
        for wanted in LABEL_NAMES:
            if wanted == "y" and "x" in lower:  # a coordinate
                continue
            for name, column in zip(lower, self.columns, strict=True):
                if (
                    name == wanted
                    and column.could_be_label()
                    and any(c.numeric and c is not column and not c.is_index for c in self.columns)
                ):
                    return column.name
        return None

    def column(self, key, argument="columns"):
        """The column of that name or position (from 0; also as a string of digits).

        Raises
        ------
        ValueError
            If there is none.
        """
        names = [column.name for column in self.columns]
        if isinstance(key, str) and key in names:
            return self.columns[names.index(key)]
        position = int(key) if isinstance(key, str) and key.isascii() and key.isdigit() else key
        if (
            isinstance(position, (int, np.integer))
            and not isinstance(position, bool)
            and 0 <= position < len(names)
        ):
            return self.columns[position]
        shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
        raise ValueError(f"{argument}: there is no column {key!r}; the columns are {shown}")

    def to_dataset(self, columns=None, label="auto", *, dropna=False):
        """The points in the chosen columns.

        Parameters
        ----------
        columns : sequence of str or int, optional
            Names or positions of the features, in the order wanted; by default
            `suggested_features`.
        label : str, int or None
            Name or position of the column of known labels; "auto" takes `suggested_label`, None
            none.
        dropna : bool
            Leave out rows with a cell that is missing or no finite number, rather than refusing the
            table.

        Returns
        -------
        Dataset
            Its `rows` tells which rows of the table are left.

        Raises
        ------
        ValueError
            For a column that does not exist, holds no numbers, or has missing cells (the message
            tells row and column).
        """
        if label == "auto":
            label = self.suggested_label
            if (
                label is not None
                and columns is not None
                and any(self.column(key).name == label for key in columns)
            ):
                label = None
        target = None if label is None else self.column(label, "label")
        if target is not None and target.kind == "other":
            raise ValueError(f"label: column {target.name!r} holds neither text nor numbers")
        if columns is None:
            features = [
                self.column(name)
                for name in self.suggested_features
                if target is None or name != target.name
            ]
        else:
            features = [
                self.column(key)
                for key in ([columns] if isinstance(columns, (str, int)) else columns)
            ]
        if not features:
            found = ", ".join(f"{c.name!r} ({c.kind})" for c in self.columns[:20])
            raise ValueError(
                f"{self.name or 'the table'} has no column of numbers to use as a feature; found {found or 'no columns'}"
            )
        for feature in features:
            if not feature.numeric:
                what = "text" if feature.kind == "text" else "neither numbers nor text"
                raise ValueError(
                    f"columns: column {feature.name!r} holds {what}, features must be numbers"
                )
        X = np.stack([feature.values for feature in features], axis=1)
        finite = np.isfinite(X).all(axis=1)
        if not (finite.all() or dropna):
            raise ValueError(_bad_cell(features, X, int(np.argmin(finite))))
        rows = np.flatnonzero(finite)
        if len(rows) == 0:
            raise ValueError(
                f"{self.name or 'the table'} has no row in which all chosen columns are numbers"
            )
        names, codes = ((), None) if target is None else target.classes()
        return Dataset(
            X=X if finite.all() else X[rows],
            y=None if codes is None else codes[rows],
            name=self.name,
            description=f"{len(rows):,} rows and {len(features)} columns of {self.name or 'a table'}.",
            feature_names=tuple(feature.name for feature in features),
            label_names=names,
            n_clusters=len(np.unique(codes[rows])) if codes is not None else None,
            rows=rows,
        )


def _bad_cell(features, X, row):
    column = int(np.argmin(np.isfinite(X[row])))
    feature = features[column]
    if row in feature.bad:
        what = f"is not a number: {feature.bad[row]!r}"
    else:
        what = "is missing (empty or NaN)" if np.isnan(X[row, column]) else "is infinite"
    return f"row {row + 1}, column {feature.name!r} {what}; correct it, choose other columns, or leave such rows out (dropna)"


def _rename_duplicates(columns):
    """Make names unique: the second "x" becomes "x (2)"."""
    seen = set()
    for column in columns:
        name, count = column.name, 1
        while name in seen:
            count += 1
            name = f"{column.name} ({count})"
        seen.add(name)
        yield (
            column
            if name == column.name
            else Column(name, column.kind, column.values, column.bad, column.is_index)
        )


class Picture:
    """A picture of a file.

    Parameters
    ----------
    image : array
        As `image_points` takes it.
    name : str

    Attributes
    ----------
    kind : str
        "image".
    """

    kind = "image"

    def __init__(self, image, name=""):
        self.image = image
        self.name = name

    def to_dataset(self, *, blur=1.0, max_pixels=MAX_PIXELS):
        """The pixels as points; see `image_points`."""
        return image_points(self.image, blur=blur, max_pixels=max_pixels, name=self.name)
