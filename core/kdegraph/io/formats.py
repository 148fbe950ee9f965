"""Read files of further programs: JSON lines, ARFF, point clouds, flow cytometry, workbooks."""

import contextlib
import csv
import io
import itertools
import json
import re
import zipfile

import numpy as np

from kdegraph.io.arrays import number_or_text
from kdegraph.io.arrow import column
from kdegraph.io.limits import check_members, check_table, check_unpacked, needing, refusing
from kdegraph.io.table import Table
from kdegraph.io.text import check_lines, n_lines, read_csv, to_utf8

# Bytes of the XML in a workbook: about a million cells, which take half a minute.
MAX_XML = 2**26
# Bytes of JSON in one piece, whose objects take about six times as much memory.
MAX_JSON = 2**28
WORKBOOK = "an Excel workbook"
HEADER = " in its header"  # where errors are
PLY_TYPES = {
    **dict.fromkeys(("char", "int8"), "i1"),
    **dict.fromkeys(("uchar", "uint8"), "u1"),
    **dict.fromkeys(("short", "int16"), "i2"),
    **dict.fromkeys(("ushort", "uint16"), "u2"),
    **dict.fromkeys(("int", "int32"), "i4"),
    **dict.fromkeys(("uint", "uint32"), "u4"),
    **dict.fromkeys(("float", "float32"), "f4"),
    **dict.fromkeys(("double", "float64"), "f8"),
}


def read_jsonl(data, name, max_bytes):
    """Read JSON lines."""
    needed = (
        'JSON lines: each line must be an object with the same keys, such as {"x": 1.5, "y": 2}'
    )
    return _read_objects(to_utf8(data, name), name, max_bytes, needed)


def read_json(data, name, max_bytes):
    """Read a JSON array of objects, one for each row."""
    text = to_utf8(data, name)
    check_unpacked(len(text), name, min(max_bytes, MAX_JSON))
    needed = 'JSON: it must be an array of objects with the same keys, [{"x": 1.5, "y": 2}, ...]'
    with refusing(name, needed, TypeError, json.JSONDecodeError, RecursionError):
        rows = json.loads(text)
        if not isinstance(rows, list):
            raise TypeError(f"it is of type {type(rows).__name__}")
        lines = "\n".join(json.dumps(row) for row in rows)
    return _read_objects(lines.encode(), name, max_bytes, needed)


def _read_objects(text, name, max_bytes, needed):
    """Read objects of JSON that stand one in each line."""
    import pyarrow as pa

    check_lines(text, name)
    with refusing(name, needed, pa.ArrowException, TypeError, json.JSONDecodeError):
        keys = json.loads(io.BytesIO(text).readline())
        check_table(n_lines(text), len(keys), name, max_bytes)
        # The types of the columns are recognized from the first MiB.
        schema = _read_json(b"".join(io.BytesIO(text).readlines(2**20))).schema
        try:
            found = _read_json(text, schema)
        except pa.ArrowInvalid:  # perhaps a column with 1 there and 1.5 later: one of numbers
            types = [pa.float64() if pa.types.is_integer(t) else t for t in schema.types]
            found = _read_json(text, pa.schema(list(zip(schema.names, types, strict=True))))
    columns = map(column, found.column_names, found.columns)
    return Table(columns, name, frame=_with_text(found))


def _with_text(frame):
    """Return an Arrow table with text in JSON in place of lists and objects, for other files."""
    import pyarrow as pa

    for i, known in enumerate(frame.schema):
        if pa.types.is_nested(known.type):
            cells = frame.column(i).to_pylist()
            texts = [None if cell is None else json.dumps(cell, default=str) for cell in cells]
            frame = frame.set_column(i, known.name, pa.array(texts, pa.string()))
    return frame


def _read_json(text, schema=None):
    import pyarrow as pa
    from pyarrow import json

    block = json.ReadOptions(block_size=len(text) + 1)
    unexpected = "infer" if schema is None else "error"
    fields = json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=unexpected)
    return json.read_json(pa.BufferReader(text), block, fields)


def read_arff(data, name, max_bytes):
    """Read a table of Weka."""
    from scipy.io import arff

    text = to_utf8(data, name)
    check_lines(text, name)
    check_table(n_lines(text), len(re.findall(rb"(?i)@attribute", text)), name, max_bytes)
    with refusing(name, "ARFF", Exception):  # of many kinds, such as StopIteration
        found, meta = arff.loadarff(io.StringIO(text.decode()))
    return Table([number_or_text(key, found[key]) for key in meta.names()], name)


def read_ply(data, name, max_bytes):
    """Read the vertices of a PLY file."""
    header, body = _header(data, rb"ply\s.*?^end_header\r?\n", name)
    with refusing(name, "PLY", StopIteration, LookupError, ValueError, where=HEADER):
        encoding = next(words[1] for words in header if words[0] == "format")
        n = next(int(words[2]) for words in header if words[:2] == ["element", "vertex"])
        elements = [i for i, words in enumerate(header) if words[0] in ("element", "end_header")]
        if header[elements[0]][1] != "vertex":
            raise ValueError("other elements come before the vertices")
        fields = [words for words in header[elements[0] : elements[1]] if words[0] == "property"]
        types = [PLY_TYPES[words[1]] for words in fields]
        order = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}[encoding]
    return _cloud(body, [words[-1] for words in fields], types, n, order, name, max_bytes)


def read_pcd(data, name, max_bytes):
    """Read a file of the Point Cloud Library."""
    header, body = _header(data, rb".*?^DATA .*?\n", name)
    with refusing(name, "PCD", LookupError, ValueError, where=HEADER):
        found = {words[0]: words[1:] for words in header}
        n, names = int(found["POINTS"][0]), found["FIELDS"]
        counts = [int(count) for count in found.get("COUNT", "1" * len(names))]
        fields = list(zip(names, found["TYPE"], found["SIZE"], counts, strict=True))
        order = {"ascii": "", "binary": "<"}[found["DATA"][0]]
    check_table(n, sum(counts), name, max_bytes)
    names = [
        f"{field}_{i}" if count > 1 else field
        for field, _, _, count in fields
        for i in range(count)
    ]
    types = [f"{kind.lower()}{size}" for _, kind, size, count in fields for _ in range(count)]
    return _cloud(body, names, types, n, order, name, max_bytes)


def _header(data, pattern, name):
    """Return the words of the lines of a header, and the data after it."""
    found = re.match(pattern, data[: 2**16], re.DOTALL | re.MULTILINE)
    if found is None:
        raise ValueError(f"{name} has no complete header")
    lines = found[0].decode("latin-1").splitlines()
    return [line.split() for line in lines if line.strip()], data[found.end() :]


def read_fcs(data, name, max_bytes):
    """Read the events of flow cytometry."""
    with refusing(name, "FCS", LookupError, ValueError, where=HEADER):
        first, last, start = (int(data[i : i + 8]) for i in (10, 18, 26))
        text = data[first : last + 1].decode("latin-1")
        words = text[1:].split(text[0])
        found = {
            key.upper(): word.strip() for key, word in zip(words[::2], words[1::2], strict=False)
        }
        start, n = start or int(found["$BEGINDATA"]), int(found["$TOT"])
        channels = range(1, int(found["$PAR"]) + 1)
        names = [found.get(f"$P{i}S") or found[f"$P{i}N"] for i in channels]
        sizes = [int(found[f"$P{i}B"]) // 8 for i in channels]
        types = [f"{ {'I': 'u', 'F': 'f', 'D': 'f'}[found['$DATATYPE']] }{size}" for size in sizes]
        order = "<" if found["$BYTEORD"].startswith("1") else ">"
    return _cloud(data[start:], names, types, n, order, name, max_bytes)


def _cloud(body, names, types, n, order, name, max_bytes):
    """Return a table of n rows of numbers: of text if `order` is "", else of bytes in an order."""
    check_table(n, len(names), name, max_bytes)
    if n <= 0 or not names:
        raise ValueError(f"{name} is empty: it has {n} points with {len(names)} values")
    try:
        if order:
            kinds = [(f"f{i}", order + kind) for i, kind in enumerate(types)]
            row = np.dtype(kinds)
            if any(row[i].kind not in "fiu" for i in range(len(row))):
                raise ValueError(f"their types are {', '.join(types)[:100]}")
            found = np.frombuffer(body, row, n)
            columns = [found[key] for key, _ in kinds]
        else:
            if not body.strip():
                raise ValueError("0 rows are there")
            filled = itertools.islice(filter(bytes.strip, io.BytesIO(body)), n)
            found = np.loadtxt(filled, ndmin=2, usecols=range(len(names)), comments=None)
            if len(found) < n:
                raise ValueError(f"{len(found):,} rows are there")
            columns = list(found.T)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} promises {n:,} points, which cannot be read: {error}") from None
    return Table(map(number_or_text, names, columns), name)


def read_xlsx(data, name, max_bytes):
    """Read the first sheet of an Excel workbook that has features, or the first of all, as text,
    without the rows that are empty. The name of the table says which, if it is not the first.
    """
    advice = "save the sheet as CSV"
    with needing(name, "openpyxl", "excel", advice):
        import openpyxl
    check_members(data, name, advice)
    with (
        refusing(name, WORKBOOK, zipfile.BadZipFile, ValueError, NotImplementedError),
        zipfile.ZipFile(io.BytesIO(data)) as archive,
    ):
        size = sum(info.file_size for info in archive.infolist())
    check_unpacked(size, name, min(max_bytes, MAX_XML))
    with refusing(name, WORKBOOK, Exception):  # a damaged one surfaces as almost any error
        sheets = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True).worksheets
        first = sheets[0]
    for sheet in sheets:
        title = name if sheet is first else f"{name}, sheet {sheet.title}"
        text = _text_of(sheet, title, max_bytes)
        with contextlib.suppress(ValueError):
            table = read_csv(text, title, max_bytes, ",")
            if table.suggested_features:
                return table
    return read_csv(_text_of(first, name, max_bytes), name, max_bytes, ",")


def _text_of(sheet, name, max_bytes):
    """Return a sheet as CSV."""
    with refusing(name, WORKBOOK, Exception):
        sheet.reset_dimensions()  # those that it states may be wrong
        with contextlib.suppress(UnboundLocalError):  # of openpyxl, for a sheet without cells
            sheet.calculate_dimension(force=True)
    check_table(sheet.max_row or 0, sheet.max_column or 0, name, max_bytes)
    text = io.StringIO()
    with refusing(name, WORKBOOK, Exception):
        rows = sheet.iter_rows(values_only=True)
        csv.writer(text).writerows(row for row in rows if any(cell is not None for cell in row))
    return text.getvalue().encode()
