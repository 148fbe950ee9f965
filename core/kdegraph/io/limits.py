"""What a file may hold.

Readers check these limits before the work that they bound, so that a file is refused in memory that
is small beside it.
"""

from kdegraph.runtime.memory import format_bytes

MAX_BYTES = 2**30  # of a file, and of the numbers in it, each as a float64
MAX_COLUMNS = 4096  # of a table: widgets list them all, and each is an array of its own
MAX_LINE = 2**20  # bytes of a line of text: 256 for each column of the widest table
MAX_MEMBERS = 1000  # files in an archive: a directory of millions takes gigabytes
# Bytes of the footer of a Parquet file, which takes about 14 times as much when it is unpacked;
# 4,096 columns take 0.5 MB per row group.
MAX_FOOTER = 2**25
# Entries of a list in that footer. Nested columns are counted there by their parts, and row groups
# are such a list, too.
MAX_FOOTER_LIST = 10_000
NUMBER_BYTES = 8  # of a float64
PIXEL_BYTES = 3 * NUMBER_BYTES  # of the colors of a pixel

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
