"""CSV, TSV and Parquet through Arrow."""

import numpy as np

from .._memory import format_bytes
from ._csv import NULLS, NUMBER, sniff, to_utf8
from ._table import MAX_COLUMNS, Column, Table

_BAD_CELLS = 20


def read_csv(data, name, delimiter=None):
    """A table of text; see `sniff` for what is found out about it.

    Parameters
    ----------
    data : bytes
    name : str
        What messages call the file.
    delimiter : str, optional

    Returns
    -------
    Table

    Raises
    ------
    ValueError
    """
    import pyarrow as pa
    from pyarrow import csv

    text = to_utf8(data, name)
    dialect = sniff(text, name, delimiter)
    # One block, because the types of the columns are guessed from the first: "1" and, a megabyte later, "1.5" must become one column.
    reading = csv.ReadOptions(block_size=len(text) + 1, column_names=dialect.names, skip_rows=int(dialect.has_header))
    parsing = csv.ParseOptions(delimiter=dialect.delimiter)
    converting = csv.ConvertOptions(null_values=list(NULLS), strings_can_be_null=True, decimal_point=dialect.decimal_point)
    try:
        table = csv.read_csv(pa.BufferReader(text), read_options=reading, parse_options=parsing, convert_options=converting)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{name} cannot be read as a table: {error}") from None
    if table.num_rows == 0:
        raise ValueError(f"{name} has no rows, only the names of {len(dialect.names)} column(s)")
    return Table([column(label, values) for label, values in zip(dialect.names, table.columns, strict=True)], name)


def read_parquet(data, name, max_bytes):
    """A Parquet file; its footer tells what it unpacks to before anything is unpacked.

    Parameters
    ----------
    data : bytes
    name : str
        What messages call the file.
    max_bytes : int
        Limit on the unpacked size.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(pa.BufferReader(data))
        meta = file.metadata
        flat = [field.name for field in file.schema_arrow if not pa.types.is_nested(field.type)]
        if meta.num_columns > MAX_COLUMNS:
            raise ValueError(f"it has {meta.num_columns:,} columns, the limit is {MAX_COLUMNS:,}")
        unpacked = max(8 * meta.num_rows * max(len(flat), 1), sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups)))
        if unpacked > max_bytes:
            raise ValueError(f"it unpacks to {format_bytes(unpacked)}, the limit is {format_bytes(max_bytes)}")
        table = file.read(columns=flat)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise ValueError(f"{name} cannot be read as Parquet: {error}") from None
    if table.num_rows == 0:
        raise ValueError(f"{name} has no rows")
    return Table([column(label, values) for label, values in zip(table.column_names, table.columns, strict=True)], name)


def column(name, values):
    """Turn an Arrow column into a `Column`.

    Text of which more than half are numbers is a column of numbers with bad cells, so that one typing error does not silently remove a
    feature.

    Parameters
    ----------
    name : str
    values : pyarrow.ChunkedArray

    Returns
    -------
    Column
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    kind = values.type
    if pa.types.is_boolean(kind):
        values = values.cast(pa.int8())
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = _to_float(values)
        return Column(name, "number", numbers, is_index=_counts_rows(name, numbers))
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return Column(name, "other", None)
    trimmed = pc.utf8_trim_whitespace(values)
    numeric = pc.fill_null(pc.match_substring_regex(trimmed, f"^{NUMBER}$"), False)
    present = len(values) - values.null_count
    if 2 * pc.sum(numeric).as_py() > present:
        numbers = _to_float(pc.if_else(numeric, trimmed, None))
        bad = np.flatnonzero(pc.and_(pc.is_valid(values), pc.invert(numeric)).to_numpy())[:_BAD_CELLS]
        return Column(name, "number", numbers, {int(row): values[int(row)].as_py() for row in bad})
    return Column(name, "text", np.array(values.to_pylist(), dtype=object))


def _to_float(values):
    import pyarrow as pa

    return np.array(values.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def _counts_rows(name, numbers):
    """Whether a column without a proper name is 0, 1, 2, ...: the index of a table that was saved with it."""
    unnamed = name.startswith(("column ", "Unnamed", "__index_level_"))
    return unnamed and len(numbers) > 1 and np.array_equal(numbers - numbers[0], np.arange(len(numbers)))
