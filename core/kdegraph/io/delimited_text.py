"""How a table of text is written: its encoding, its delimiter, and whether it has a header."""

import codecs
import csv
import re
from dataclasses import dataclass

from kdegraph.io.limits import ADVICE, MAX_COLUMNS, MAX_LINE, check_columns
from kdegraph.runtime.memory import format_bytes
from kdegraph.runtime.slices import count, slices

NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_NUMBER_PATTERN = re.compile(NUMBER)
# np.savetxt marks the header as a comment.
_COMMENT_PATTERN = re.compile(rb"\s*#+ ?")
# The commoner ones come first.
_DELIMITERS = (",", ";", "\t", "|", " ")
# The dialect is found out from the lines in so many bytes, and from at most so many lines.
_SAMPLE_BYTES = 2**18
_SAMPLE_LINES = 30
# Cells that count as missing.
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
    """Return a text as UTF-8 without a byte order mark.

    UTF-16 is known by its mark. Other text that is not UTF-8 is taken for Windows-1252, and for
    Latin-1, in which all bytes are characters, where that fails.
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
    if mark := _COMMENT_PATTERN.match(data, start):
        start = mark.end()
    return b"".join(data[part] for part in slices(len(data), start)) if start else data


def _recoded(data, encoding, start=0):
    """Yield parts of a text as UTF-8. As one str, it could take four times its memory."""
    encoded = (data[part] for part in slices(len(data), start))
    return (text.encode() for text in codecs.iterdecode(encoded, encoding))


def _decodes(data, encoding, start):
    try:
        for _ in _recoded(data, encoding, start):
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
    """Return the number of lines, or of those that begin before `stop`."""
    return max(count(text, end, stop=stop) for end in (b"\n", b"\r")) + 1


def _describe_line(text, start):
    ends = [text.find(end, start) for end in (b"\n", b"\r")]
    end = min((found for found in ends if found >= 0), default=len(text))
    n_cells = max(count(text, delimiter.encode(), start, end) for delimiter in _DELIMITERS) + 1
    found = f"{format_bytes(end - start)} long, with up to {n_cells:,} columns"
    limits = f"{format_bytes(MAX_LINE)} and {MAX_COLUMNS:,} columns"
    return f"line {n_lines(text, start):,} is {found}; the limits are {limits}"


def _numeric(cell, decimal):
    """Whether a cell is a number with this decimal point."""
    text = cell.strip()
    return bool(_NUMBER_PATTERN.fullmatch(text.replace(",", ".") if decimal == "," else text))


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
    separator, decimal, rows = _best_reading(lines, [delimiter] if delimiter else _DELIMITERS)
    width = len(rows[0]) if rows else 0
    check_columns(width, name, at_least=len(lines) == 1 and len(text) > _SAMPLE_BYTES)
    header = _is_header(rows, decimal)
    names = (
        tuple(cell or f"column {i + 1}" for i, cell in enumerate(rows[0]))
        if header
        else tuple(f"x{i + 1}" for i in range(width))
    )
    return Dialect(separator, decimal, header, names)


def _best_reading(lines, delimiters):
    """Return the delimiter and the decimal point that suit the lines best, and the cells.

    Lines of equal length count first, then numbers. Of two readings that are equally good, the one
    with a point and the commoner delimiter is taken.
    """
    best_score, best = None, None
    for delimiter in delimiters:
        rows = _rows(lines, delimiter)
        width = len(rows[0]) if rows else 0
        even = width > 1 and all(len(row) == width for row in rows)
        body = [cell for row in rows[1:] or rows for cell in row]
        for decimal in (".", ",") if delimiter != "," else (".",):
            share = sum(_numeric(cell, decimal) for cell in body) / max(len(body), 1)
            score = (even, round(share, 6), decimal == ".")
            if best_score is None or score > best_score:
                best_score, best = score, (delimiter, decimal, rows)
    return best


def _is_header(rows, decimal):
    """Whether the first row names the columns.

    Text above numbers says so, and a number in the first row says that it does not.
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
