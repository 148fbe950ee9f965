"""Limits on the contents of files.

Readers check them before they unpack anything, so that refusing a file takes little memory besides
that of the file itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from kdegraph.runtime.memory import format_bytes
from kdegraph.runtime.slices import count

# Bytes of a file, and of its numbers, each as a float64.
MAX_BYTES = 2**30
# Columns of a table. User interfaces list all of them, and each is a separate array.
MAX_COLUMNS = 4096
# Bytes of a line of text: 256 for each column of the widest table.
MAX_LINE = 2**20
# Files in an archive, as a directory of millions of files takes gigabytes.
MAX_MEMBERS = 1000
# Entries of a list in that footer. It lists the parts of nested columns, and the row groups.
MAX_FOOTER_LIST = 10_000
# Bytes of the three colors of a pixel, each as a float64.
PIXEL_BYTES = 24

# Ends the message about a table that is too large.
ADVICE = "keep the columns that matter, or pass an array in Python"


@contextmanager
def refusing(name: str, kind: str, *errors: type[Exception], where: str = "") -> Iterator[None]:
    """Turn errors on the content of a file into a ValueError that says what cannot be read."""
    try:
        yield
    except errors as error:
        reason = repr(error) if isinstance(error, LookupError) else str(error).strip()
        reason = (reason[:200] or "something is missing") + where
        raise ValueError(f"{name} cannot be read as {kind}: {reason}") from None


@contextmanager
def needing(name: str, package: str, extra: str, advice: str) -> Iterator[None]:
    """Turn the error on a package that is not installed into a ValueError on the file."""
    try:
        yield
    except ImportError:
        raise ValueError(
            f"{name} needs the package {package}: pip install 'kdegraph[{extra}]', or {advice}"
        ) from None


def check_members(data, name, advice):
    """Refuse a zip archive of too many files."""
    n_members = count(data, b"PK\x01\x02")  # begins each entry of the directory
    if n_members > MAX_MEMBERS:
        raise ValueError(
            f"{name} holds {n_members:,} files, the limit is {MAX_MEMBERS:,}; {advice}"
        )


def check_table(n_rows, n_columns, name, max_bytes):
    """Refuse a table with too many columns, or that takes more than `max_bytes` as float64."""
    if n_columns > MAX_COLUMNS:
        raise ValueError(
            f"{name} has {n_columns:,} columns, the limit is {MAX_COLUMNS:,}; {ADVICE}"
        )
    check_unpacked(8 * n_rows * n_columns, name, max_bytes)


def check_unpacked(n_bytes, name, max_bytes):
    """Refuse data that take more than `max_bytes` of memory when they are unpacked."""
    if n_bytes > max_bytes:
        found, limit = format_bytes(n_bytes), format_bytes(max_bytes)
        raise ValueError(f"{name} unpacks to {found}, the limit is {limit}; {ADVICE}")


def check_pixels(height, width, name, max_bytes):
    """Refuse a picture whose colors take more than `max_bytes` as float64."""
    limit = max_bytes // PIXEL_BYTES
    if height * width > limit:
        found = f"{width:,} x {height:,} pixels, the limit is {limit:,} pixels"
        raise ValueError(f"{name} is too large: {found}; scale it down first")


def check_footer(data, name):
    """Refuse a Parquet file with a footer of more than 32 MiB, which is unpacked whole and then
    takes about 14 times as much. 4,096 columns take 0.5 MB of it for each row group.
    """
    size, limit = int.from_bytes(data[-8:-4], "little"), 2**25
    if limit < size < len(data):
        found = f"a footer of {format_bytes(size)}, the limit is {format_bytes(limit)}"
        raise ValueError(f"{name} has {found}; write it with fewer columns or row groups")
