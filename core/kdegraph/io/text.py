"""Read tables of text: CSV and TSV files in all usual encodings, delimiters and decimal points."""

import codecs
import csv
import io
import re
from functools import partial

from kdegraph.io.arrow import CODE, column
from kdegraph.io.limits import ADVICE, MAX_COLUMNS, MAX_LINE, check_table
from kdegraph.io.numbers import is_number, is_plain
from kdegraph.io.table import NULLS, Table
from kdegraph.runtime.memory import format_bytes
from kdegraph.runtime.slices import count, slices


def read_csv(data, name, max_bytes, delimiter=None):
    """Read a table of text; the delimiter is recognized if it is not given."""
    text = to_utf8(data, name)
    check_lines(text, name)
    delimiter, decimal, rows = _best_reading(_sample(text, name), delimiter)
    if delimiter == " ":  # perhaps several of them, to align the columns
        lines = io.BytesIO()
        lines.writelines(b" ".join(line.split()) + b"\n" for line in io.BytesIO(text))
        text = lines.getvalue()
    has_header = _is_header(rows, decimal)
    names = [f"x{i + 1}" for i in range(len(rows[0]))]
    if has_header:
        names = [cell or f"column {i + 1}" for i, cell in enumerate(rows[0])]
    check_table(n_lines(text), len(names), name, max_bytes)
    # Zeros that codes such as 007 begin with are kept.
    cells = ((name, cell) for row in rows for name, cell in zip(names, row, strict=False))
    codes = {name for name, cell in cells if CODE.fullmatch(cell)}
    table = _parse(text, name, names, int(has_header), delimiter, decimal, codes)
    if table.num_rows == 0:
        n = len(names)
        found = "the name of a column" if n == 1 else f"the names of {n} columns"
        raise ValueError(f"{name} has no rows, only {found}")
    # Lines cannot be numbered where some are empty or where a cell has line breaks.
    n_before, n_whole = int(has_header), n_lines(text.rstrip(b"\r\n"))
    return Table(
        map(partial(column, decimal=decimal), names, table.columns),
        name,
        n_before + 1 if n_before + table.num_rows == n_whole else None,
        table,
    )


def _parse(text, name, names, skip_rows, delimiter, decimal, codes):
    """Return a text as a table of Arrow, in which the columns `codes` are text."""
    import pyarrow as pa
    from pyarrow import csv

    uneven = []
    # In one block, as Arrow chooses the types of columns by the first block: a column with 1 there
    # and 1.5 later must become one column of numbers.
    whole = csv.ReadOptions(block_size=len(text) + 1, column_names=names, skip_rows=skip_rows)
    rows = csv.ParseOptions(
        delimiter=delimiter, invalid_row_handler=lambda row: uneven.append(row) or "error"
    )
    cells = csv.ConvertOptions(
        null_values=list(NULLS),
        strings_can_be_null=True,
        decimal_point=decimal,
        column_types=dict.fromkeys(codes, pa.string()),
    )
    try:
        return csv.read_csv(pa.BufferReader(text), whole, rows, cells)
    except pa.ArrowInvalid as error:
        reason = _describe_uneven(uneven[0], text) if uneven else error
        raise ValueError(f"{name} cannot be read as a table: {reason}") from None


def _describe_uneven(row, text):
    """Describe a row with more or fewer cells than the others."""
    shown = row.text if len(row.text) <= 80 else f"{row.text[:80]}..."
    line = re.search(rb"(?:^|[\r\n])" + re.escape(row.text.encode()) + rb"(?=[\r\n]|$)", text)
    place = "a row" if line is None else f"line {n_lines(text, line.end()):,}"
    return (
        f"{place} has {row.actual_columns} column{'s' * (row.actual_columns != 1)}, and "
        f"{row.expected_columns} are expected: {shown!r}"
    )


def to_utf8(data, name):
    """Return a text as UTF-8, without a byte order mark and without "# " before the header.

    UTF-16 is recognized by its byte order mark. Other text that is not UTF-8 is read as
    Windows-1252 or, if that fails, as Latin-1, in which every byte is a character.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            data = b"".join(_recoded(data, "utf-16"))
        except UnicodeDecodeError as error:
            raise ValueError(f"{name} starts like UTF-16 text but is damaged: {error}") from None
    start = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    if any(data.find(b"\0", part.start, part.stop) >= 0 for part in slices(len(data))):
        raise ValueError(
            f"{name} is not text: it holds zero bytes; save the table as CSV, Parquet or NPY"
        )
    encodings = ("utf-8", "cp1252", "latin-1")
    encoding = next(encoding for encoding in encodings if _decodes(data, encoding, start))
    if encoding != "utf-8":
        data, start = b"".join(_recoded(data, encoding, start)), 0
    if mark := re.compile(rb"\s*#+ ?").match(data, start):  # np.savetxt writes the header so
        start = mark.end()
    return b"".join(data[part] for part in slices(len(data), start)) if start else data


def _recoded(data, encoding, start=0):
    """Yield a text as UTF-8, in parts, as one str could take four times its memory."""
    encoded = (data[part] for part in slices(len(data), start))
    return (text.encode() for text in codecs.iterdecode(encoded, encoding))


def _decodes(data, encoding, start):
    try:
        return all(True for _ in _recoded(data, encoding, start))
    except UnicodeDecodeError:
        return False


def check_lines(text, name):
    """Refuse a text with a line longer than `MAX_LINE`."""
    start = 0
    while len(text) - start > MAX_LINE:  # go to the last end of a line within reach
        reach = start + MAX_LINE + 1
        end = max(text.rfind(b"\n", start, reach), text.rfind(b"\r", start, reach))
        if end < 0:
            limit = f"{format_bytes(MAX_LINE)}, which is enough for {MAX_COLUMNS:,} columns"
            line = f"line {n_lines(text, start):,}"
            raise ValueError(f"{name}: {line} is longer than {limit}; {ADVICE}")
        start = end + 1


def n_lines(text, stop=None):
    """Return the number of lines, or of those that begin before `stop`."""
    return max(count(text, end, stop=stop) for end in (b"\n", b"\r")) + 1


def _sample(text, name):
    """Return the first lines that are not empty, from which the dialect is recognized."""
    lines = io.TextIOWrapper(io.BytesIO(text), "utf-8").readlines(2**18)  # the first 256 KiB
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise ValueError(f"{name} is empty: it has no rows")
    return lines[:31]


def _best_reading(lines, known_delimiter):
    """Return the delimiter and the decimal point that fit the lines best, and the cells.

    Lines of equal length count first, then numbers, then numbers without marks between thousands.
    Of two readings that fit equally well, the one with a decimal point and the more common
    delimiter is taken. Blanks between words alone, or in lines of sentences, are no delimiters.
    """
    best_score, best = None, None
    for delimiter in known_delimiter or ",;\t| ":  # the most common first
        rows = _rows(lines, delimiter)
        width = len(rows[0])
        even = width > 1 and all(len(row) == width for row in rows)
        body = [cell for row in rows[1:] or rows for cell in row]
        for decimal in (".", ",") if delimiter != "," else (".",):
            plain = [is_plain(cell, decimal) for cell in body]
            numbers = [is_number(cell, decimal) for cell in body]
            shares = [round(sum(found) / max(len(body), 1), 6) for found in (numbers, plain)]
            if delimiter == " " and shares[0] <= (0 if even else 0.5):
                continue
            score = (even, *shares, decimal == ".")
            if best_score is None or score > best_score:
                best_score, best = score, (delimiter, decimal, rows)
    return best


def _rows(lines, delimiter):
    if delimiter == " ":
        lines = [" ".join(line.split()) for line in lines]
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:  # a cell is longer than the module reads
        rows = [line.split(delimiter) for line in lines]
    return [[cell.strip() for cell in row] for row in rows]


def _is_header(rows, decimal):
    """Return whether the first row has the names of the columns: it has text, and no number."""
    first, body = rows[0], rows[1:]
    if any(is_number(cell, decimal) for cell in first):
        # A table saved without names has 0, 1, 2, ... for a header.
        counts = [str(i) for i in range(len(first))]
        return (
            bool(body)
            and (first == counts or first == ["", *counts[:-1]])
            and any(decimal in cell for cell in body[0])
        )
    return any(cell and cell not in NULLS for cell in first)
