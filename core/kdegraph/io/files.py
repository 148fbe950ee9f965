"""Read data from files of all types."""

import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from kdegraph.io import arrays, arrow, cells, formats, text
from kdegraph.io.dataset import Dataset
from kdegraph.io.limits import ADVICE, MAX_BYTES
from kdegraph.io.pictures import MAX_PIXELS, Picture, read_picture
from kdegraph.io.table import Table
from kdegraph.runtime.memory import format_bytes
from kdegraph.runtime.progress import responsive
from kdegraph.runtime.slices import slices
from kdegraph.validation import check_count

# The readers for the types of files, called with the bytes of a file, its name for messages, and
# the limit on the bytes that its numbers may take as float64.
_READERS: dict[str, Callable[..., Table | Picture]] = {
    "csv": text.read_csv,
    "tsv": partial(text.read_csv, delimiter="\t"),
    "json": formats.read_json,
    "jsonl": formats.read_jsonl,
    "arff": formats.read_arff,
    "parquet": arrow.read_parquet,
    "npy": arrays.read_npy,
    "npz": arrays.read_npz,
    "ply": formats.read_ply,
    "pcd": formats.read_pcd,
    "fcs": formats.read_fcs,
    "xlsx": formats.read_xlsx,
    "h5ad": cells.read_h5ad,
    "png": partial(read_picture, kind="PNG"),
    "jpeg": partial(read_picture, kind="JPEG"),
}
_TEXTS = ("csv", "tsv", "json", "jsonl", "arff", "ply", "pcd")  # of these any beginning is possible
_CONTENTS = dict.fromkeys(_TEXTS, "text") | {"xlsx": "npz"}  # types that begin like others
_EXTENSIONS = {
    **{f".{kind}": kind for kind in _READERS},
    **dict.fromkeys((".txt", ".data", ".xyz"), "csv"),
    ".pq": "parquet",
    ".jpg": "jpeg",
}
# The first bytes of files, with their type and its name in messages; some cannot be read.
_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": ("png", "a PNG picture"),
    b"\xff\xd8\xff": ("jpeg", "a JPEG picture"),
    b"PAR1": ("parquet", "a Parquet table"),
    b"\x93NUMPY": ("npy", "an NPY array"),
    b"PK\x03\x04": ("npz", "an NPZ or another zip archive"),
    b"PK\x05\x06": ("npz", "an NPZ or another zip archive"),
    b"FCS": ("fcs", "flow cytometry"),
    b"\x89HDF\r\n\x1a\n": ("h5ad", "an HDF5 file"),
    b"\x1f\x8b": ("gzip", "a gzip archive"),
    b"%PDF": ("", "a PDF document"),
    b"GIF8": ("", "a GIF picture"),
    b"\xd0\xcf\x11\xe0": ("", "an old office document"),
    b"": ("text", "text or something unknown"),
}
# The advice for types that cannot be read.
_ADVICE = {".xls": "save the sheet as CSV"}

# The sources of `read` and `load`: a path, the bytes of a file, or a file open for reading.
Source = str | os.PathLike[str] | bytes | bytearray | memoryview | IO[Any]


def file_type(filename: str | os.PathLike[str]) -> str:
    """Return the type of a file by its name.

    Parameters
    ----------
    filename : str or path
        Only its extension matters, in upper or lower case, and before ``.gz`` the one there.

    Returns
    -------
    str
        By the extension of the name: "csv", "tsv", "json", "jsonl", "arff", "parquet", "npy",
        "npz", "ply", "pcd", "fcs", "xlsx", "h5ad", "png" or "jpeg".

    Raises
    ------
    ValueError
        If the name has another extension, or none.

    Examples
    --------
    >>> from kdegraph import datasets
    >>> datasets.file_type("photo.JPG")
    'jpeg'
    """
    name = Path(filename).name
    extension = Path(name[:-3] if name.lower().endswith(".gz") else name).suffix.lower()
    if extension not in _EXTENSIONS:
        what = f"of the unknown type {extension!r}" if extension else "without an extension"
        advice = f"{_ADVICE[extension]}; " if extension in _ADVICE else ""
        raise ValueError(
            f"{name} is a file {what}; {advice}files can be {', '.join(_EXTENSIONS)}, .gz of these"
        )
    return _EXTENSIONS[extension]


@responsive
def read(
    source: Source,
    *,
    filename: str | None = None,
    max_bytes: int = MAX_BYTES,
    progress: Callable[[str, float], object] | None = None,
) -> Table | Picture:
    """Read a file without choosing columns, so that a user interface can offer them.

    Parameters
    ----------
    source : path, bytes or open file
        The data.
    filename : str, optional
        Its extension determines the type of the content, and messages call the content by this
        name. Without a name, the type is recognized from the content, and text is CSV, JSON lines
        if it begins with a brace, or JSON if it begins with ``[{``. What gzip has packed is
        unpacked.
    max_bytes : int
        Limit on the size of the file, and on the size of its numbers as float64; by default 1 GiB.
    progress : callable, optional
        Called as ``progress("reading", 0.0)`` again and again; it may raise `Cancelled`, or be a
        `Deadline`.

    Returns
    -------
    Table or Picture
        Both have ``kind`` ("table" or "image"), ``name`` and ``to_dataset(...)``; a table has
        ``columns`` (each with ``name``, ``numeric`` and ``kind``), ``n_rows``,
        ``suggested_features`` and ``suggested_label``.

    Raises
    ------
    ValueError
        If the type is unknown; if the content is not of that type; if the file is empty, damaged,
        cut off or too large; if it has more than 4,096 columns, a line of text of more than 1 MiB
        or pickled objects; if it would unpack to more than `max_bytes`. All of this is checked
        before most of the file is loaded.
    TypeError
        If `source` is none of these.
    OSError
        If the file cannot be opened.

    Examples
    --------
    >>> from kdegraph import datasets
    >>> table = datasets.read(b"x,y,label\\n0,1,a\\n2,3,b\\n", filename="points.csv")
    >>> table.kind, table.n_rows, table.suggested_features, table.suggested_label
    ('table', 2, ('x', 'y'), 'label')
    """
    if progress is not None:
        progress("reading", 0.0)
    max_bytes = check_count(max_bytes, "max_bytes")
    data, name = _read_bytes(source, filename, max_bytes)
    content, found = _content(data)
    if content == "gzip" and (name is None or name.lower().endswith(".gz")):
        data = _unpacked(data, name or "the file", max_bytes)
        content, found = _content(data)
    kind = content
    if name is not None:
        kind = file_type(name)
    elif content == "text":
        of_json = {"jsonl": rb"\s*\{", "json": rb"\s*\[\s*\{"}
        kind = next((kind for kind in of_json if re.match(of_json[kind], data)), "csv")
    name = name or "the file"
    if kind not in _READERS or content != _CONTENTS.get(kind, kind):
        raise ValueError(f"{name} does not hold what its name says: by its content it is {found}")
    return _READERS[kind](data, name, max_bytes)


def _content(data):
    """Return the type of a content and its name in messages, by its first bytes."""
    return next(_SIGNATURES[first] for first in _SIGNATURES if data.startswith(first))


def _unpacked(data, name, max_bytes):
    """Return the content of a gzip archive; its size is found before any of it is kept."""

    def parts():
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as archive:
            while part := archive.read(2**20):
                yield part

    size = 0
    try:
        for part in parts():
            size += len(part)
            if size > max_bytes:
                limit = format_bytes(max_bytes)
                raise ValueError(f"{name} unpacks to more than the limit of {limit}; {ADVICE}")
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{name} is a damaged gzip archive: {error}") from None
    return b"".join(parts())


def _read_bytes(source, filename, max_bytes):
    """Return the content of a source, and the name by which messages call it (or None)."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
    elif isinstance(source, (str, os.PathLike)):
        path = Path(source)
        filename = path.name if filename is None else filename
        file_type(filename)
        if path.exists() and not path.is_file():
            raise ValueError(f"{path} is {'a folder' if path.is_dir() else 'not a regular file'}")
        size = path.stat().st_size
        if size > max_bytes:
            found, limit = format_bytes(size), format_bytes(max_bytes)
            raise ValueError(f"{filename} is too large: {found}, the limit is {limit}")
        data = path.read_bytes()
    elif hasattr(source, "read"):
        name = getattr(source, "name", None)
        filename = name if filename is None and isinstance(name, str) else filename
        data = source.read(max_bytes + 1)
        if isinstance(data, str):
            data = data.encode()
    else:
        raise TypeError(
            f"source must be a path, bytes or an open file, got {type(source).__name__}"
        )
    name = Path(filename).name if filename is not None else None
    if len(data) > max_bytes:
        raise ValueError(
            f"{name or 'the file'} is too large: more than the limit of {format_bytes(max_bytes)}"
        )
    if all(data[part].isspace() for part in slices(len(data))):
        raise ValueError(f"{name or 'the file'} is empty")
    return data, name


@responsive
def load(
    source: Source,
    *,
    filename: str | None = None,
    columns: Sequence[str | int] | str | int | None = None,
    label: str | int | None = "auto",
    dropna: bool = False,
    dates: Mapping[str, str] | None = None,
    max_bytes: int = MAX_BYTES,
    blur: float | None = None,
    max_pixels: int | None = MAX_PIXELS,
    progress: Callable[[str, float], object] | None = None,
) -> Dataset:
    """Load points from a table, or the pixels of a picture.

    Tables are text with delimiters or aligned columns (.csv, .tsv, .txt, .data, .xyz), JSON (an
    array of objects), JSON lines, ARFF, Parquet, NPY, NPZ, point clouds (.ply, .pcd), flow
    cytometry (.fcs), the first sheet with features of a workbook (.xlsx) and cells (.h5ad: their
    principal components, or X, and the columns of `obs` with categories), and text may be packed by
    gzip; pictures are PNG and JPEG files. The points have the order of the rows. An array of shape
    (n, height, width) is a table of n gray pictures, whose columns are called pixel_0_0 and so on.

    Parameters
    ----------
    source : path, bytes or open file
        The data.
    filename : str, optional
        The type of the content, if `source` has no name; see `read`.
    columns : sequence of str or int, optional
        The features of a table, by name or by position from 0. By default all columns of numbers
        except the label, and in text and Parquet files except those that are `Column.recognized`
        as running numbers and other identifiers, constants and dates, and those of which more than
        half of the cells are missing; all of them if there are no others.
    label : str, int or None
        The column of known labels, by name or by position. "auto" takes `Table.suggested_label`: a
        column that is called label, class, cluster, target or y and holds classes, else the only
        column of text with few values. None takes none.
    dropna : bool
        Skip rows with missing cells. By default a table with missing cells is refused.
    dates : mapping of str to {"time", "year", "month", "weekday", "hour"}, optional
        What columns of dates count as, by name: the days since 1970, the year, or a part that
        returns, which is two coordinates on a circle: December is as near to January as January is
        to February, at a distance of about 1. Times with a zone are taken in UTC.
    max_bytes : int
        Limit on the size of the file, and on the size of its numbers as float64; by default 1 GiB.
    blur : float or None, default=None
        For pictures; see `image_points`.
    max_pixels : int or None
        For pictures; see `image_points`.
    progress : callable, optional
        As for `read`.

    Returns
    -------
    Dataset
        The points, with the known labels if there are any.

    Raises
    ------
    ValueError, TypeError, OSError
        As `read` and `Table.to_dataset` do, and if `columns` or `label` are given for a picture.

    Examples
    --------
    >>> from kdegraph import datasets
    >>> data = datasets.load(b"x,y,label\\n0,1,a\\n2,3,b\\n", filename="points.csv")
    >>> data.X
    array([[0., 1.],
           [2., 3.]])
    >>> data.y, data.label_names
    (array([0, 1]), ('a', 'b'))
    >>> data = datasets.load(b"id,x,y\\n7,0,1\\n3,2,3\\n", filename="points.csv")
    >>> data.feature_names, data.description
    (('x', 'y'), "2 rows and 2 columns of points.csv. Not used: 'id' (an identifier).")
    """
    contents = read(source, filename=filename, max_bytes=max_bytes, progress=progress)
    if isinstance(contents, Table):
        return contents.to_dataset(columns, label, dropna=dropna, dates=dates)
    if columns is not None or dates or label not in ("auto", None):
        raise ValueError(
            f"{contents.name} is a picture: its points are its pixels, there are no columns "
            "or labels to choose"
        )
    return contents.to_dataset(blur=blur, max_pixels=max_pixels)
