"""Limits on what a file holds.

Readers check them before the work that they limit, so that refusing a file takes little memory
beside the file itself.
"""

from kdegraph.runtime.memory import format_bytes

# Bytes of a file, and of its numbers, each as a float64.
MAX_BYTES = 2**30
# Columns of a table. User interfaces list them all, and each is an array of its own.
MAX_COLUMNS = 4096
# Bytes of a line of text: 256 for each column of the widest table.
MAX_LINE = 2**20
# Files in an archive. A directory of millions of files takes gigabytes.
MAX_MEMBERS = 1000
# Bytes of the footer of a Parquet file, which takes about 14 times as much when it is unpacked.
# 4,096 columns take 0.5 MB for each row group.
MAX_FOOTER = 2**25
# Entries of a list in that footer. It lists the parts of nested columns, and the row groups.
MAX_FOOTER_LIST = 10_000
# Bytes of a float64.
NUMBER_BYTES = 8
# Bytes of the three colors of a pixel, each as a float64.
PIXEL_BYTES = 3 * NUMBER_BYTES

# What messages recommend where a table is too large.
ADVICE = "keep the columns that matter, or pass an array in Python"


def check_columns(n_columns, name, *, at_least=False):
    """Refuse a table with more than `MAX_COLUMNS` columns.

    Parameters
    ----------
    n_columns : int
    name : str
        What messages call the file.
    at_least : bool
        Whether not all columns were counted.

    Raises
    ------
    ValueError
    """
    if n_columns > MAX_COLUMNS:
        found = f"{'at least ' * at_least}{n_columns:,} columns"
        raise ValueError(f"{name} has {found}, the limit is {MAX_COLUMNS:,}; {ADVICE}")


def check_unpacked(n_bytes, name, max_bytes):
    """Refuse data that would take more than `max_bytes` of memory once they are unpacked.

    Raises
    ------
    ValueError
    """
    if n_bytes > max_bytes:
        found, limit = format_bytes(n_bytes), format_bytes(max_bytes)
        raise ValueError(f"{name} unpacks to {found}, the limit is {limit}; {ADVICE}")


def check_pixels(height, width, name, max_bytes):
    """Refuse a picture whose colors would take more than `max_bytes` as float64.

    Raises
    ------
    ValueError
    """
    limit = max_bytes // PIXEL_BYTES
    if height * width > limit:
        found = f"{width:,} x {height:,} pixels, the limit is {limit:,} pixels"
        raise ValueError(f"{name} is too large: {found}; scale it down first")
