"""Read Parquet files, and recognize the columns of Arrow tables that are not features."""

import re
from functools import partial

import numpy as np

from kdegraph.io.columns import Column
from kdegraph.io.limits import (
    MAX_COLUMNS,
    MAX_FOOTER_LIST,
    check_footer,
    check_table,
    check_unpacked,
    refusing,
)
from kdegraph.io.numbers import numbers_of
from kdegraph.io.table import Table
from kdegraph.runtime.slices import slices, take

# A postal code or the like: a number of three or more digits that begins with a zero. An account
# number or the like: one of more digits than integers of 64 bits have.
CODE = re.compile("0[0-9]{2,}|[1-9][0-9]{19,}")
_NUMBER = "(?:number|num|no|nr)"  # in names of columns
# Names of columns of numbers that are names, such as zip_code and "Phone number".
_NAMES = (
    r"(?i)(?:.*[\W_])?(?:zip|plz|zip[\W_]?code|post(?:al)?[\W_]?code|(?:tele)?phone|mobile|fax)"
    rf"(?:[\W_]{_NUMBER})?"
)
# Those of people, each of whom may have several rows.
_PEOPLE = rf"(?i)(?:subject|patient|participant|respondent)(?:[\W_]*{_NUMBER})?"
# A date as text, and perhaps a time of day.
_MONTH = "(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DAY = (
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    rf"|\d{{1,2}}[- .]+{_MONTH}[-., ]+\d{{2,4}}|{_MONTH}[ .]+\d{{1,2}},? +\d{{4}}"
)
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?i:am|pm))?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?"
_DATE = re.compile(rf"(?:{_DAY})(?:[T ]+{_CLOCK})?")


def read_parquet(data, name, max_bytes):
    """Read a Parquet file; its footer says how large the table is, before it is unpacked."""
    import pyarrow as pa
    from pyarrow import parquet

    check_footer(data, name)
    refusing_damage = partial(refusing, name, "Parquet", pa.ArrowException, ValueError, OSError)
    source = pa.BufferReader(data)
    with refusing_damage():
        try:
            file = parquet.ParquetFile(source, thrift_container_size_limit=MAX_FOOTER_LIST)
        except OSError as error:
            if "size limit" not in str(error):
                raise
            many = f"it has more than {MAX_FOOTER_LIST:,} columns or row groups"
            raise ValueError(f"{many}; a table may have {MAX_COLUMNS:,} columns") from None
        meta, schema = file.metadata, file.schema_arrow
    groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
    n_rows = max(meta.num_rows, sum(group.num_rows for group in groups))  # they may disagree
    check_table(n_rows, len(schema), name, max_bytes)
    check_unpacked(sum(group.total_byte_size for group in groups), name, max_bytes)
    if n_rows == 0:
        raise ValueError(f"{name} has no rows")
    read = [field.name for field in schema if _kind(field.type) != "other"]
    text = [field.name for field in schema if _kind(field.type) == "text"]
    with refusing_damage():
        # As a dictionary, a text is held once, however many rows have it.
        table = parquet.ParquetFile(source, metadata=meta, read_dictionary=text).read(columns=read)
    # Several columns may have one name.
    places = {label: iter(table.schema.get_all_field_indices(label)) for label in read}
    columns = []
    for field in schema:
        if _kind(field.type) == "other":
            columns.append(Column(field.name, "other", None))
            continue
        columns.append(column_of(field, table.column(next(places[field.name]))))
    return Table(columns, name, frame=table)


def _kind(arrow_type):
    """Return the kind of a column of an Arrow type; see `Column`."""
    from pyarrow import types

    if types.is_dictionary(arrow_type):
        return _kind(arrow_type.value_type)
    kinds = {
        "text": (types.is_string, types.is_large_string),
        "date": (types.is_timestamp, types.is_date),
        "number": (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal),
    }
    return next((kind for kind in kinds if any(is_(arrow_type) for is_ in kinds[kind])), "other")


def column(name, values, decimal="."):
    """Return the `Column` of a chunked array.

    Text of which more than half are numbers is a column of numbers with wrong cells, so that one
    typing error does not silently remove a feature. `decimal` is the usual point of these numbers.
    """
    import pyarrow as pa

    if pa.types.is_string_view(values.type):  # of polars
        values = values.cast(pa.large_string())
    kind = _kind(values.type)
    if kind == "other":
        return Column(name, "other", None)
    if kind == "text":
        return _text_column(name, values, decimal)
    if kind == "date":
        moments = values.cast(pa.timestamp("ms"), safe=False).to_numpy()
        return Column(name, "date", moments, recognized="date")
    boolean = pa.types.is_boolean(values.type)
    numbers = _to_float(values.cast(pa.int8()) if boolean else values)
    recognized = _recognize(name, numbers)
    return Column(name, "number", numbers, recognized=recognized, boolean=boolean)


def column_of(field, values):
    """Return the `Column` of a field of a table and its values: text for a categorical type, also
    for categories that are numbers.
    """
    import pyarrow as pa

    if not pa.types.is_dictionary(field.type):
        return column(str(field.name), values)
    words, codes = _words_and_codes(values)
    texts = [None if word is None else str(word) for word in words.to_pylist()]
    return Column(str(field.name), "text", take(np.array([*texts, None], dtype=object), codes))


def _words_and_codes(values):
    """Return the different values of a chunked array with a dictionary, and which of them each row
    has; the number of them stands for a missing one.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    values = values.unify_dictionaries().combine_chunks()
    codes = pc.fill_null(values.indices.cast(pa.int64()), len(values.dictionary))
    return values.dictionary, codes.to_numpy()


def _text_column(name, values, decimal):
    """Return a column of text, or of numbers with wrong cells, with equal texts held once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    words, codes = _words_and_codes(values)
    missing = len(words)
    numbers = np.append(_to_float(numbers_of(pc.utf8_trim_whitespace(words), decimal)), np.nan)
    numbers = numbers[codes]
    numeric = ~np.isnan(numbers)
    texts = np.full(missing + 1, None, dtype=object)
    for part in slices(missing):
        texts[part] = words[part].to_pylist()
    if 2 * np.count_nonzero(numeric) <= np.count_nonzero(codes != missing):
        are_dates = missing and all(_DATE.fullmatch(word.strip()) for word in texts[:-1])
        recognized = "date" if are_dates else ""
        return Column(name, "text", take(texts, codes), recognized=recognized)
    bad = np.flatnonzero(~numeric & (codes != missing))[:20]  # some of them, for messages
    cells = {int(row): texts[codes[row]] for row in bad}
    is_code = any(CODE.fullmatch(text) for text in texts[:-1])
    recognized = "id" if is_code else _recognize(name, numbers)
    return Column(name, "number", numbers, cells, recognized, as_text=True)


def _to_float(values):
    """Return an Arrow array of numbers, or of numbers as text, as float64 with NaN for null."""
    import pyarrow as pa

    numbers = values.cast(pa.float64(), safe=False)
    if isinstance(numbers, pa.ChunkedArray):
        numbers = numbers.combine_chunks()
    # PyArrow's own conversion imports pandas, which takes longer than reading a small table.
    return np.array(numbers if numbers.null_count else np.from_dlpack(numbers), dtype=np.float64)


def _recognize(name, values):
    """Return the value of `Column.recognized` for numbers, "" for a feature.

    - "constant": all of two or more rows have one value.
    - "missing": more than half of the cells are missing, and the column is none of the following.
    - "date": the name is year and the values are years, or the values are dates such as 20240131,
      or the name contains time, date or the like and the values count seconds since 1970.
    - "index": the column has no name of its own and counts the rows.
    - "id": the values are whole numbers and the name is id, user_id, userId or the like, or that of
      a postal code or a telephone number, or that which pandas gives to an index; or three or more
      differ and the name is subject, patient or the like; or they all differ and the name is index,
      row or rownames, or the first column has none; or 20 or more all differ and are at least half
      of the whole numbers in their range.
    """
    present = values[~np.isnan(values)]
    if len(values) < 2 or len(present) == 0:
        return ""
    if len(present) == len(values) and present.min() == present.max():
        return "constant"
    mostly_missing = 2 * len(present) < len(values)
    return _meaning(name, values, present) or ("missing" if mostly_missing else "")


def _meaning(name, values, present):
    """Return "date", "index" or "id" for numbers of which some are present, or ""; see
    `_recognize`.
    """
    if _counts_seconds(name, present):
        return "date"
    if not (np.isfinite(present).all() and (present == np.round(present)).all()):
        return ""
    unnamed = name.startswith(("column ", "Unnamed", "__index_level_"))
    if unnamed and np.array_equal(values, values[0] + np.arange(len(values))):
        return "index"
    if _are_days_or_years(name.strip(), present):
        return "date"
    return "id" if _is_identifier(name.strip(), present) else ""


def _is_identifier(name, values):
    if re.fullmatch(r"(?i:id|ids|identifiers?|uid|uuid|guid|.*[\W_]ids?)|.*[a-z](?:Id|ID)s?", name):
        return True
    if re.fullmatch(r"__index_level_\d+__", name):  # of pandas, where some rows were taken
        return True
    if re.fullmatch(_NAMES, name) and values.max() > 999:
        return True
    if re.fullmatch(_PEOPLE, name) and len(np.unique(values)) > 2:
        return True
    names = rf"(?i:idx|index|row|rowid|row[\W_]*(?:{_NUMBER}|names?)|#)|column 1|Unnamed: 0"
    index = re.fullmatch(names, name)
    # In fewer rows, other whole numbers may well all differ and be at least half of their range.
    if len(values) < 20 and not index:
        return False
    all_differ = len(np.unique(values)) == len(values)
    return bool(all_differ and (index or np.ptp(values) < 2 * len(values)))


def _are_days_or_years(name, values):
    """Return whether whole numbers are dates such as 20240131, or years by their name."""
    low, high = 1500, 2200
    if re.fullmatch(r"(?i:year|yr|.*[\W_](?:year|yr))", name):
        return bool((values >= low).all() and (values <= high).all())
    years, rest = np.divmod(values, 10_000)
    months, days = np.divmod(rest, 100)
    written = (years >= low) & (years <= high) & (months >= 1) & (months <= 12)
    return bool((written & (days >= 1) & (days <= 31)).all())


def _counts_seconds(name, values):
    """Return whether a column with the name of a time counts seconds, or thousandths, millionths or
    billionths of them, since 1970.
    """
    low, high = 315_532_800, 4_102_444_800  # the years 1980 to 2100
    return bool(re.search("(?i:time|date|epoch|stamp)", name)) and any(
        values.min() >= low * unit and values.max() <= high * unit for unit in (1, 1e3, 1e6, 1e9)
    )
