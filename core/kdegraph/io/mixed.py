"""Coordinates for the columns of mixed tables: numbers, booleans and categories.

The columns are `kdegraph.datasets.Column`.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdegraph.geometry.units import unit_scale
from kdegraph.runtime.slices import slices

# The coordinate of a row in the direction of its category: different ones have the distance 1.
SIDE = np.sqrt(0.5)
# Distance between the quantiles 0.05 and 0.95 of the normal distribution with deviation 1.
NORMAL_RANGE = 3.2897072539


class Number(NamedTuple):
    """The coordinate ``(value - center) / scale`` for a column of numbers or booleans.

    `fill` stands for missing cells: the median, or the more frequent boolean.
    """

    name: str
    center: float
    scale: float
    fill: float = np.nan

    @classmethod
    def of(cls, column, *, one_hot: bool) -> "Number":
        """Return the coordinate for a column, which may be one of those of a one-hot category."""
        present = column.values[np.isfinite(column.values)]
        if len(present) == 0:
            raise ValueError(f"column {column.name!r} has no numbers; leave it out")
        if np.isin(present, (0, 1)).all():
            return cls(column.name, 0.0, 1 / SIDE if one_hot else 1.0, float(present.mean() > 0.5))
        exponent = unit_scale(present)  # so that no difference or square overflows
        present = np.ldexp(present, -exponent)
        low, median, high = np.quantile(present, [0.05, 0.5, 0.95])
        # Of a column that hardly ever differs from one value, the quantiles are equal.
        scale = (high / NORMAL_RANGE - low / NORMAL_RANGE) or present.std()
        median, scale = (float(np.ldexp(value, exponent)) for value in (median, scale))
        return cls(column.name, median, scale or 1.0, median)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the name of the coordinate."""
        return (self.name,)

    def encode(self, column, impute: bool) -> NDArray[np.float64]:
        """Return an (n, 1) array, with NaN for missing cells unless they are imputed."""
        values = column.values
        if values is None or not column.numeric:
            raise ValueError(f"column {self.name!r} must hold numbers, as the fitted table's does")
        if impute:
            values = np.where(np.isnan(values), self.fill, values)
        return (values / self.scale - self.center / self.scale)[:, None]


class Category(NamedTuple):
    """One coordinate for each of the `levels` of a column of categories.

    `fill` stands for missing cells: the most frequent category.
    """

    name: str
    levels: tuple[str, ...]
    fill: str

    @classmethod
    def of(cls, column) -> "Category":
        """Return the coordinates for a column."""
        levels, codes = codes_of(column)
        if not levels:
            raise ValueError(f"column {column.name!r} is empty; leave it out")
        frequent = np.argmax(np.bincount(codes, minlength=len(levels))[: len(levels)])
        return cls(column.name, tuple(levels), levels[frequent])

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the coordinates."""
        return tuple(f"{self.name}={level}" for level in self.levels)

    def encode(self, column, impute: bool) -> NDArray[np.float64]:
        """Return an (n, levels) array, with NaN for missing cells unless they are imputed."""
        found, codes = codes_of(column)
        if unknown := sorted(set(found) - set(self.levels)):
            known = ", ".join(map(repr, self.levels[:10]))
            raise ValueError(
                f"column {self.name!r} has a new category, {unknown[0]!r}; those of the fitted "
                f"table are {known}; fit a table with all of them, or leave out such rows"
            )
        levels = np.array(self.levels, dtype=object)
        kinds = np.array([*found, self.fill], dtype=object)  # the last one for missing cells
        places = np.where(kinds[:, None] == levels, SIDE, 0.0)
        if not impute:
            places[-1] = np.nan
        return places[codes]


def codes_of(column: Any) -> tuple[list[str], NDArray[np.int64]]:
    """Return the different values of a column as sorted texts, and which of them each row has; an
    index beyond them stands for a missing cell.
    """
    if column.values is None or not column.classifies:
        raise ValueError(f"column {column.name!r} holds neither text nor numbers")
    if column.numeric:
        present = ~np.isnan(column.values)
        found, inverse = np.unique(column.values[present], return_inverse=True)
        names = [_number_as_text(value) for value in found]
        codes = np.full(len(column.values), len(names), np.int64)
        codes[present] = inverse
        return names, codes
    # An array of text would take for each cell the memory of the longest one.
    names = sorted(different_texts(column.values))
    code_of = {name: code for code, name in enumerate([*names, None])}
    # Other threads can run during a generator, but not during a `map` of a C function.
    indices = (code_of[value] for value in column.values)
    return names, np.fromiter(indices, np.int64, len(column.values))


def different_texts(values: NDArray[Any], enough: float = np.inf) -> set[str]:
    """Return the different texts of a column, or only some of them if there are `enough`."""
    found: set[str] = set()
    for part in slices(len(values)):
        if len(found) <= enough:
            found.update(values[part])
    return found - {None}


def _number_as_text(value):
    if abs(value) >= 1e15:  # whole numbers are no longer exact there
        return f"{value:g}"
    return str(int(value)) if value == int(value) else repr(float(value))


def coordinates(columns: Sequence[Any], categories: Collection[str]) -> list[Number | Category]:
    """Return the coordinates for the columns of a table.

    Numbers are divided by their spread; text, and the columns with these names, are categories.
    Booleans, and other columns of 0 and 1, stay as they are, so that different ones have the
    distance 1. Neighboring ones of which each row has exactly one 1 are one category.
    """
    one_hot = _one_hot(columns)
    return [
        Number.of(column, one_hot=column.name in one_hot)
        if column.numeric and column.name not in categories
        else Category.of(column)
        for column in columns
    ]


def encode(
    parts: Sequence[Number | Category], columns: Sequence[Any], *, impute: bool = False
) -> NDArray[np.float64]:
    """Return the coordinates of all rows; NaN for missing cells, unless these are imputed."""
    n_rows = len(columns[0].values)
    stops = np.cumsum([len(part.names) for part in parts])
    X = np.empty((n_rows, stops[-1]))
    for part, column, stop in zip(parts, columns, stops, strict=True):
        X[:, stop - len(part.names) : stop] = part.encode(column, impute)
    return X


def _one_hot(columns):
    """Return the names of columns that are together the categories of one-hot columns."""
    found, run, total = set(), [], 0.0
    for column in columns:
        if not (column.numeric and np.isin(column.values, (0, 1)).all()):
            run, total = [], 0.0
            continue
        run, total = [*run, column], total + column.values
        while np.max(total) > 1:
            total = total - run.pop(0).values
        if np.min(total) == 1 and len(run) > 1:
            found |= {one.name for one in run}
            run, total = [], 0.0
    return found
