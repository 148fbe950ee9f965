"""CSV, TSV and Parquet files, which Arrow reads."""

import re

import numpy as np

from kdegraph.io.delimited_text import NULLS, NUMBER, check_lines, n_lines, sniff, to_utf8
from kdegraph.io.limits import (
    MAX_COLUMNS,
    MAX_FOOTER,
    MAX_FOOTER_LIST,
    NUMBER_BYTES,
    check_columns,
    check_unpacked,
)
from kdegraph.io.recognition import is_date_text, recognize
from kdegraph.io.tables import Column, Table
from kdegraph.runtime.memory import format_bytes
from kdegraph.runtime.slices import slices, take

# Cells of a column of numbers that are no numbers and are kept for messages.
_N_BAD_CELLS = 20
# Characters of a row that a message shows.
_SHOWN_TEXT = 80


def read_csv(data, name, max_bytes, delimiter=None):
    """Read a table of text; `sniff` finds out how it is written.

    Parameters
    ----------
    data : bytes
    name : str
        What messages call the file.
    max_bytes : int
        Limit on what the cells take as float64.
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
    check_lines(text, name)
    dialect = sniff(text, name, delimiter)
    check_unpacked(NUMBER_BYTES * n_lines(text) * len(dialect.names), name, max_bytes)
    # One block, because the types of the columns are guessed from the first: "1" and, a megabyte
    # later, "1.5" must become one column.
    reading = csv.ReadOptions(
        block_size=len(text) + 1, column_names=dialect.names, skip_rows=int(dialect.has_header)
    )
    uneven: list[csv.InvalidRow] = []
    parsing = csv.ParseOptions(
        delimiter=dialect.delimiter,
        invalid_row_handler=lambda row: uneven.append(row) or "error",
    )
    converting = csv.ConvertOptions(
        null_values=list(NULLS), strings_can_be_null=True, decimal_point=dialect.decimal_point
    )
    try:
        table = csv.read_csv(
            pa.BufferReader(text),
            read_options=reading,
            parse_options=parsing,
            convert_options=converting,
        )
    except pa.ArrowInvalid as error:
        reason = _describe_uneven(uneven[0], text) if uneven else error
        raise ValueError(f"{name} cannot be read as a table: {reason}") from None
    if table.num_rows == 0:
        raise ValueError(f"{name} has no rows, only the names of {len(dialect.names)} column(s)")
    # Fewer rows than lines: some are empty, or cells are longer than a line.
    n_before, n_whole = int(dialect.has_header), n_lines(text.rstrip(b"\r\n"))
    return Table(
        [column(label, values) for label, values in zip(dialect.names, table.columns, strict=True)],
        name,
        n_before + 1 if n_before + table.num_rows == n_whole else None,
    )


def _describe_uneven(row, text):
    """Say which row of a table of text has another number of cells than the others."""
    shown = row.text if len(row.text) <= _SHOWN_TEXT else f"{row.text[:_SHOWN_TEXT]}..."
    line = re.search(rb"(?:^|[\r\n])" + re.escape(row.text.encode()) + rb"(?=[\r\n]|$)", text)
    place = "a row" if line is None else f"line {n_lines(text, line.end()):,}"
    return (
        f"{place} has {row.actual_columns} columns, and {row.expected_columns} are expected: "
        f"{shown!r}"
    )


def read_parquet(data, name, max_bytes):
    """Read a Parquet file. Its footer tells how large it is before anything is unpacked.

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

    _check_footer(data, name)
    try:
        source = pa.BufferReader(data)
        file = parquet.ParquetFile(source, thrift_container_size_limit=MAX_FOOTER_LIST)
        meta, schema = file.metadata, file.schema_arrow
    except (pa.ArrowException, ValueError, OSError) as error:
        if "size limit" in str(error):
            many = f"it has more than {MAX_FOOTER_LIST:,} columns or row groups"
            reason = f"{many}; a table may have {MAX_COLUMNS:,} columns"
        else:
            reason = str(error).strip()
        raise ValueError(f"{name} cannot be read as Parquet: {reason}") from None
    check_columns(meta.num_columns, name)
    flat = [field for field in schema if not pa.types.is_nested(field.type)]
    groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
    n_rows = max(meta.num_rows, sum(group.num_rows for group in groups))  # a damaged file has both
    stored = sum(group.total_byte_size for group in groups)
    check_unpacked(max(NUMBER_BYTES * n_rows * max(len(flat), 1), stored), name, max_bytes)
    if n_rows == 0:
        raise ValueError(f"{name} has no rows")
    read = [field.name for field in flat if _kind(field.type) != "other"]
    text = [field.name for field in flat if _kind(field.type) == "text"]
    try:
        # As a dictionary, a text is held once, however many rows have it.
        table = parquet.ParquetFile(source, metadata=meta, read_dictionary=text).read(columns=read)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise ValueError(f"{name} cannot be read as Parquet: {error}") from None
    # Several columns may have one name.
    places = {label: iter(table.schema.get_all_field_indices(label)) for label in read}
    columns = []
    for field in flat:
        values = None if _kind(field.type) == "other" else table.column(next(places[field.name]))
        columns.append(column(field.name, values))
    return Table(columns, name)


def _check_footer(data, name):
    """Refuse a Parquet file with a footer of more than `MAX_FOOTER`, which is unpacked whole."""
    size = int.from_bytes(data[-8:-4], "little")
    if MAX_FOOTER < size < len(data):
        found = f"a footer of {format_bytes(size)}, the limit is {format_bytes(MAX_FOOTER)}"
        raise ValueError(f"{name} has {found}; write it with fewer columns or row groups")


def _kind(arrow_type):
    """Return the kind of a column of an Arrow type; see `Column`."""
    import pyarrow as pa

    is_type = pa.types
    if is_type.is_dictionary(arrow_type):
        return _kind(arrow_type.value_type)
    if is_type.is_string(arrow_type) or is_type.is_large_string(arrow_type):
        return "text"
    if is_type.is_timestamp(arrow_type) or is_type.is_date(arrow_type):
        return "date"
    numbers = (is_type.is_boolean, is_type.is_integer, is_type.is_floating, is_type.is_decimal)
    return "number" if any(is_number(arrow_type) for is_number in numbers) else "other"


def column(name, values):
    """Turn an Arrow column into a `Column`.

    Text of which more than half are numbers is a column of numbers with bad cells, so that one
    typing error does not silently remove a feature.

    Parameters
    ----------
    name : str
    values : pyarrow.ChunkedArray or None
        None for a column that was not read, as it can be neither feature nor label.

    Returns
    -------
    Column
    """
    import pyarrow as pa

    kind = "other" if values is None else _kind(values.type)
    if kind == "other":
        return Column(name, "other", None)
    if kind == "text":
        return _text_column(name, values)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if kind == "date":
        moments = values.cast(pa.timestamp("ms"), safe=False).to_numpy()
        return Column(name, "date", moments, recognized="date")
    numbers = _to_float(values.cast(pa.int8()) if pa.types.is_boolean(values.type) else values)
    return Column(name, "number", numbers, recognized=recognize(name, numbers))


def _text_column(name, values):
    """Return a column of text, or of numbers with bad cells. Equal texts are held once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    values = values.unify_dictionaries().combine_chunks()
    words, missing = values.dictionary, len(values.dictionary)
    codes = pc.fill_null(values.indices.cast(pa.int64()), missing).to_numpy()
    trimmed = pc.utf8_trim_whitespace(words)
    matches = pc.fill_null(pc.match_substring_regex(trimmed, f"^{NUMBER}$"), False)
    numeric = np.append(matches.to_numpy(zero_copy_only=False), False)[codes]
    texts = np.full(missing + 1, None, dtype=object)
    for part in slices(missing):
        texts[part] = words[part].to_pylist()
    if 2 * np.count_nonzero(numeric) <= np.count_nonzero(codes != missing):
        recognized = "date" if is_date_text(texts[:-1]) else ""
        return Column(name, "text", take(texts, codes), recognized=recognized)
    numbers = np.append(_to_float(pc.if_else(matches, trimmed, None)), np.nan)[codes]
    bad = np.flatnonzero(~numeric & (codes != missing))[:_N_BAD_CELLS]
    cells = {int(row): texts[codes[row]] for row in bad}
    return Column(name, "number", numbers, cells, recognize(name, numbers))


def _to_float(values):
    import pyarrow as pa

    numbers = values.cast(pa.float64(), safe=False)
    if isinstance(numbers, pa.ChunkedArray):
        numbers = numbers.combine_chunks()
    # PyArrow's own conversion imports pandas, which takes longer than to read a small table.
    return np.array(numbers if numbers.null_count else np.from_dlpack(numbers), dtype=np.float64)
