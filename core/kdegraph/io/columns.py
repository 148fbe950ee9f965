"""Columns of tables, and what they hold."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kdegraph.io.mixed import codes_of, different_texts

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
    recognized : {"", "index", "id", "constant", "date", "missing"}
        The reason why the column is not a feature by default: it counts the rows and has no name of
        its own, it is a running number or another identifier, it has one value in all rows, it is a
        date, or more than half of its cells are missing.
    as_text : bool
        True for numbers that are stored as text.
    boolean : bool
        True for numbers that stand for False and True, 0 and 1.

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
    boolean: bool = False

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
        names, codes = codes_of(self)
        missing = bool((codes == len(names)).any())
        return tuple(names + ["(missing)"] * missing), codes


def number_of_classes(column):
    """Return how many different texts or whole numbers a column has, or 101 or more for more texts;
    0 for other columns.
    """
    if column.kind == "text":
        return len(different_texts(column.values, MAX_CLASSES))
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


def repeats(column):
    """Return whether a column has 2 to 100 different texts, each in two rows or more on average."""
    if column.kind != "text" or column.recognized:
        return False
    return 2 <= number_of_classes(column) <= min(MAX_CLASSES, len(column.values) // 2)
