"""Points of data frames: pandas, polars, PyArrow and others with Arrow's interface."""

from collections.abc import Sequence
from typing import Any, Literal

from kdegraph.io.arrow import column_of
from kdegraph.io.dataset import Dataset
from kdegraph.io.table import Table
from kdegraph.validation import check_choice

__all__ = ["as_table", "table_points"]


def table_points(
    frame: Any,
    columns: Sequence[str | int] | str | int | None = None,
    label: str | int | None = "auto",
    *,
    categories: Sequence[str | int] | str | int = "auto",
    missing: Literal["error", "drop", "impute"] = "error",
) -> Dataset:
    """Turn the rows of a table with numbers, booleans and categories into points.

    Parameters
    ----------
    frame : data frame, dict or Table
        A frame of pandas, polars or PyArrow, or any other with Arrow's interface (the method
        ``__arrow_c_stream__``); arrays by their names; or what `read` returns for a table.
    columns : sequence of str or int, str or int, optional
        The features, by name or position. By default all columns except the label, those that are
        recognized as identifiers, constants or dates, those of numbers that are mostly missing, and
        text with more than 100 different values or with fewer than two rows for each on average.
    label : str, int or None
        The column of known labels, see `load`.
    categories : sequence of str or int, str or int
        Columns that are categories, besides those of text and those of a categorical type: for
        example whole numbers that are codes. "auto" is none besides.
    missing : {"error", "drop", "impute"}
        Refuse missing cells; skip rows with one; or replace them by the median of their column,
        and categories and booleans by the most frequent one.

    Returns
    -------
    Dataset
        Its ``X`` are the points, ``rows`` their rows in the table, and ``feature_names`` the
        coordinates, such as "age" and "color=red"; ``description`` also names the columns that are
        not used.

    Raises
    ------
    ValueError
        If a column does not exist or cannot be a feature, or for missing cells.
    TypeError
        If `frame` is not a table.

    Notes
    -----
    Numbers are shifted by their median and divided by the distance between their quantiles 0.05 and
    0.95, as a share of the one that a normal distribution with deviation 1 has, so that a few
    outliers have no influence; where these are equal, by the standard deviation.

    Two rows that differ in one category, or one boolean, have the squared distance 1, in two 2, and
    so on: the number of mismatches, as in Gower's distance, however many categories a column has.
    Each category is a coordinate of 0 or the square root of 1/2. Neighboring columns of 0 and 1 of
    which each row has exactly one 1, as ``pandas.get_dummies`` makes them, count as one column.

    In pipelines `kdegraph.TableTransformer` does the same, and encodes new rows as the fitted ones.

    References
    ----------
    J. C. Gower, "A general coefficient of similarity and some of its properties", Biometrics 27
    (1971), 857-871.

    Examples
    --------
    >>> from kdegraph.datasets import table_points
    >>> frame = {"height": [150.0, 160.0, 170.0, 180.0], "color": ["red", "blue", "blue", "red"]}
    >>> points = table_points(frame)
    >>> points.feature_names
    ('height', 'color=blue', 'color=red')
    >>> points.X.round(2)
    array([[-1.83,  0.  ,  0.71],
           [-0.61,  0.71,  0.  ],
           [ 0.61,  0.71,  0.  ],
           [ 1.83,  0.  ,  0.71]])
    """
    check_choice(missing, "missing", ("error", "drop", "impute"))
    drop, impute = missing == "drop", missing == "impute"
    table = as_table(frame)
    return table.to_dataset(columns, label, dropna=drop, impute=impute, categories=categories)


def as_table(frame: Any) -> Table:
    """Return a `Table` with the columns of a data frame, without its index."""
    import pyarrow as pa

    if isinstance(frame, Table):
        return frame
    if not (isinstance(frame, (dict, pa.Table)) or hasattr(frame, "__arrow_c_stream__")):
        raise TypeError(
            "the table must be a frame of pandas, polars or PyArrow, a dict of columns or a Table, "
            f"got {type(frame).__name__}; for an array take pandas.DataFrame(array)"
        )
    try:
        found = pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise ValueError(f"the table cannot be read: {error}; make such columns text") from None
    index = (found.schema.pandas_metadata or {}).get("index_columns", [])
    found = found.drop_columns([name for name in index if isinstance(name, str)])
    if found.num_rows == 0:
        raise ValueError("the table has no rows")
    return Table(map(column_of, found.schema, found.columns))
