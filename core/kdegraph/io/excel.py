"""Read the first sheet of Excel workbooks."""

import csv
import io
import zipfile

from kdegraph.io.limits import check_members, check_table, check_unpacked, needing, refusing
from kdegraph.io.text import read_csv

# Bytes of the XML in a workbook: about a million cells, which take half a minute.
MAX_XML = 2**26


def read_xlsx(data, name, max_bytes):
    """Read the first sheet as a table of text, without the rows that are empty."""
    advice, kind = "save the sheet as CSV", "an Excel workbook"
    with needing(name, "openpyxl", "excel", advice):
        import openpyxl
    check_members(data, name, advice)
    with (
        refusing(name, kind, zipfile.BadZipFile, ValueError, NotImplementedError),
        zipfile.ZipFile(io.BytesIO(data)) as archive,
    ):
        size = sum(info.file_size for info in archive.infolist())
    check_unpacked(size, name, min(max_bytes, MAX_XML))
    with refusing(name, kind, Exception):  # a damaged one surfaces as almost any error
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # those that it states may be wrong
        sheet.calculate_dimension(force=True)
    check_table(sheet.max_row, sheet.max_column, name, max_bytes)
    text = io.StringIO()
    with refusing(name, kind, Exception):
        rows = sheet.iter_rows(values_only=True)
        csv.writer(text).writerows(row for row in rows if any(cell is not None for cell in row))
    return read_csv(text.getvalue().encode(), name, max_bytes, ",")
