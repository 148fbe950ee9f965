"""What a file of text is: its encoding, what separates the cells, and whether the first line names
the columns.
"""

import codecs
import csv
import re
from dataclasses import dataclass

from kdegraph.io.limits import ADVICE, MAX_COLUMNS, MAX_LINE, check_columns
from kdegraph.runtime.memory import format_bytes

NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_NUMBER = re.compile(NUMBER)
_COMMENT = re.compile(rb"\s*#+ ?")  # np.savetxt marks its header as a comment
_PART_BYTES = 1 << 20
_DELIMITERS = (",", ";", "\t", "|", " ")
_SAMPLE_BYTES = 1 << 18
_SAMPLE_LINES = 30
# What the reader takes for a missing cell.
NULLS = (
    "",
    "NA",
    "N/A",
    "n/a",
    "na",
    "NaN",
    "nan",
    "-nan",
    "-NaN",
    "NULL",
    "null",
    "None",
    "#N/A",
    "?",
)


@dataclass(frozen=True)
class Dialect:
    """How to read a table of text."""

    delimiter: str
    decimal_point: str
    has_header: bool
    names: tuple


def to_utf8(data, name):
    """The text as UTF-8 without a byte order mark.

    UTF-16 is known by its mark; what is not UTF-8 is taken for Windows-1252, or Latin-1 where that
    fails (single bytes, so no error).
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            data = b"".join(_recoded(data, "utf-16"))
        except UnicodeDecodeError as error:
            raise ValueError(f"{name} starts like UTF-16 text but is damaged: {error}") from None
    data = data.removeprefix(codecs.BOM_UTF8)
    if b"\0" in data:
        raise ValueError(
            f"{name} is not text: it holds zero bytes; save the table as CSV, Parquet or NPY"
        )
    encodings = ("utf-8", "cp1252", "latin-1")
    encoding = next(encoding for encoding in encodings if _decodes(data, encoding))
    if encoding != "utf-8":
        data = b"".join(_recoded(data, encoding))
    mark = _COMMENT.match(data)
    return data[mark.end() :] if mark else data


def _recoded(data, encoding):
    """Parts of the text as UTF-8: the whole, as Python text, could take four times its memory."""
    parts = (data[start : start + _PART_BYTES] for start in range(0, len(data), _PART_BYTES))
    return (text.encode() for text in codecs.iterdecode(parts, encoding))


def _decodes(data, encoding):
    try:
        for _ in _recoded(data, encoding):
            pass
    except UnicodeDecodeError:
        return False
    return True


def check_lines(text, name):
    """Refuse a line longer than `MAX_LINE`.

    Parameters
    ----------
    text : bytes
    name : str
        What messages call the file.

    Raises
    ------
    ValueError
    """
    start = 0
    while len(text) - start > MAX_LINE:  # go to the last end of a line within reach
        reach = start + MAX_LINE + 1
        end = max(text.rfind(b"\n", start, reach), text.rfind(b"\r", start, reach))
        if end < 0:
            raise ValueError(f"{name}: {_describe_line(text, start)}; {ADVICE}")
        start = end + 1


def n_lines(text, stop=None):
    """The number of lines, or of those that begin up to `stop`."""
    return max(text.count(b"\n", 0, stop), text.count(b"\r", 0, stop)) + 1


def _describe_line(text, start):
    ends = [text.find(end, start) for end in (b"\n", b"\r")]
    end = min((found for found in ends if found >= 0), default=len(text))
    n_cells = max(text.count(delimiter.encode(), start, end) for delimiter in _DELIMITERS) + 1
    found = f"{format_bytes(end - start)} long, with up to {n_cells:,} columns"
    limits = f"{format_bytes(MAX_LINE)} and {MAX_COLUMNS:,} columns"
    return f"line {n_lines(text, start):,} is {found}; the limits are {limits}"


def _numeric(cell, decimal):
    return bool(
        _NUMBER.fullmatch(cell.strip().replace(",", ".") if decimal == "," else cell.strip())
    )


def _rows(lines, delimiter):
    try:
        return [
            [cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter) if row
        ]
    except csv.Error:
        return []


def sniff(text, name, delimiter=None):
    """Find out how to read a table.

    Parameters
    ----------
    text : bytes
        UTF-8.
    name : str
        What messages call the file.
    delimiter : str, optional
        Known from the type of the file.

    Returns
    -------
    Dialect

    Raises
    ------
    ValueError
        For an empty file, and for more than `MAX_COLUMNS` columns.
    """
    lines = text[:_SAMPLE_BYTES].decode("utf-8", errors="ignore").splitlines()
    lines = [line for line in lines if line.strip()][: _SAMPLE_LINES + 1]
    if not lines:
        raise ValueError(f"{name} is empty: it has no rows")
    if len(text) > _SAMPLE_BYTES and 1 < len(lines) <= _SAMPLE_LINES:
        lines.pop()  # cut off in the middle
    best = None
    for candidate in [delimiter] if delimiter else _DELIMITERS:
        for decimal in (".", ",") if candidate != "," else (".",):
            rows = _rows(lines, candidate)
            width = len(rows[0]) if rows else 0
            even = width > 1 and all(len(row) == width for row in rows)
            body = [cell for row in rows[1:] or rows for cell in row]
            share = sum(_numeric(cell, decimal) for cell in body) / max(len(body), 1)
            # Lines of equal length first, then numbers; of two equally good readings the one with a
            # point, and the commoner separator.
            score = (even, round(share, 6), decimal == ".")
            if best is None or score > best[0]:
                best = (score, candidate, decimal, rows)
    _, separator, decimal, rows = best
    width = len(rows[0]) if rows else 0
    check_columns(width, name, at_least=len(lines) == 1 and len(text) > _SAMPLE_BYTES)
    header = _is_header(rows, decimal)
    names = (
        tuple(cell or f"column {i + 1}" for i, cell in enumerate(rows[0]))
        if header
        else tuple(f"x{i + 1}" for i in range(width))
    )
    return Dialect(separator, decimal, header, names)


def _is_header(rows, decimal):
    """Whether the first row names the columns: text over numbers says so, a number in the first row
    speaks against it.
    """
    first, body = rows[0], rows[1:]
    if any(_numeric(cell, decimal) for cell in first):
        # A table saved without names has 0, 1, 2, ... for a header.
        counts = [str(i) for i in range(len(first))]
        return (
            bool(body)
            and (first == counts or first == ["", *counts[:-1]])
            and any(decimal in cell for cell in body[0])
        )
    return any(cell and cell not in NULLS for cell in first)
