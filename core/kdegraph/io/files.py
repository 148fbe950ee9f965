"""Files of data: which type a file is, and whether it can be read safely."""

import os
from pathlib import Path

from kdegraph.io.limits import MAX_BYTES
from kdegraph.io.pictures import MAX_PIXELS, open_image
from kdegraph.io.tables import Picture
from kdegraph.runtime.memory import format_bytes
from kdegraph.validation import check_count

EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npy": "npy",
    ".npz": "npz",
    ".png": "png",
    ".jpg": "jpeg",
    ".jpeg": "jpeg",
}
_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpeg",
    b"PAR1": "parquet",
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PK\x05\x06": "npz",
    b"%PDF": "a PDF document",
    b"\x1f\x8b": "a gzip archive",
    b"GIF8": "a GIF picture",
    b"\xd0\xcf\x11\xe0": "an old office document",
}
_WORDS = {
    "npz": "an NPZ or another zip archive",
    "npy": "an NPY array",
    "png": "a PNG picture",
    "jpeg": "a JPEG picture",
    "parquet": "a Parquet table",
}


def accepted():
    """The extensions that `load` knows, with the dot.

    Returns
    -------
    tuple of str
    """
    return tuple(EXTENSIONS)


def file_type(filename):
    """The type of a file by its name.

    Parameters
    ----------
    filename : str or path

    Returns
    -------
    {"csv", "tsv", "parquet", "npy", "npz", "png", "jpeg"}

    Raises
    ------
    ValueError
        For any other extension, or none.
    """
    extension = Path(filename).suffix.lower()
    if extension not in EXTENSIONS:
        what = f"of the unknown type {extension!r}" if extension else "without an extension"
        raise ValueError(
            f"{Path(filename).name} is a file {what}; files can be {', '.join(EXTENSIONS)}"
        )
    return EXTENSIONS[extension]


def _content(data):
    """What the first bytes say: a type, words for something foreign, or "text"."""
    return next(
        (kind for signature, kind in _SIGNATURES.items() if data.startswith(signature)), "text"
    )


def _read_bytes(source, filename, max_bytes):
    """The bytes of a path, of bytes or of an open binary file, and the name to go by."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
    elif isinstance(source, (str, os.PathLike)):
        path = Path(source)
        filename = path.name if filename is None else filename
        file_type(filename)  # before anything is read
        if path.is_dir():
            raise ValueError(f"{path} is a folder, not a file")
        if path.exists() and not path.is_file():
            raise ValueError(f"{path} is not a regular file")
        size = path.stat().st_size
        if size > max_bytes:
            raise ValueError(
                f"{filename} is too large: {format_bytes(size)}, the limit is {format_bytes(max_bytes)}"
            )
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
    if not data or data.isspace():
        raise ValueError(f"{name or 'the file'} is empty")
    return data, name


def read(source, *, filename=None, max_bytes=MAX_BYTES):
    """Read a file without choosing columns yet: what a user interface asks first.

    Parameters
    ----------
    source : path, bytes or binary file
    filename : str, optional
        Tells the type of bytes (its extension) and the name for messages. Without it the content
        decides, and text is CSV.
    max_bytes : int
        Limit on the size of the file, and on what its numbers take as float64.

    Returns
    -------
    Table or Picture
        Both have ``kind`` ("table" or "image"), ``name`` and ``to_dataset(...)``; a table has
        ``columns`` (each with ``name``, ``numeric`` and ``kind``), ``n_rows``,
        ``suggested_features`` and ``suggested_label``.

    Raises
    ------
    ValueError
        With the reason, before much is loaded: an unknown type, content that is not of that type,
        an empty, damaged, cut off or too large file, more than 4,096 columns, a line of text of
        more than 1 MiB, pickles, a table or a picture that would unpack to more than `max_bytes`.
    OSError
        If the file cannot be opened.
    """
    max_bytes = check_count(max_bytes, "max_bytes")
    data, name = _read_bytes(source, filename, max_bytes)
    content = _content(data)
    kind = file_type(name) if name is not None else ("csv" if content == "text" else content)
    name = name or "the file"
    if kind not in EXTENSIONS.values() or (
        content != "text" if kind in ("csv", "tsv") else content != kind
    ):
        holds = _WORDS.get(content, "text or something unknown" if content == "text" else content)
        raise ValueError(f"{name} does not hold what its name says: by its content it is {holds}")
    return _parse(data, kind, name, max_bytes)


def _parse(data, kind, name, max_bytes):
    from kdegraph.io import arrays as _arrays
    from kdegraph.io import arrow as _arrow

    if kind in ("csv", "tsv"):
        return _arrow.read_csv(data, name, max_bytes, "\t" if kind == "tsv" else None)
    if kind == "parquet":
        return _arrow.read_parquet(data, name, max_bytes)
    if kind == "npy":
        return _arrays.read_npy(data, name, max_bytes)
    if kind == "npz":
        return _arrays.read_npz(data, name, max_bytes)
    return Picture(open_image(data, kind, name, max_bytes=max_bytes), name)


def load(
    source,
    *,
    filename=None,
    columns=None,
    label="auto",
    dropna=False,
    max_bytes=MAX_BYTES,
    blur=1.0,
    max_pixels=MAX_PIXELS,
):
    """Load points from a CSV, TSV, Parquet, NPY or NPZ file, or the pixels of a PNG or JPEG
    picture. The order of the rows is kept.

    Parameters
    ----------
    source : path, bytes or binary file
    filename : str, optional
        Tells the type of bytes; see `read`.
    columns : sequence of str or int, optional
        The features of a table, by name or position from 0; by default all columns of numbers but
        the label and a column that only counts the rows.
    label : str, int or None
        The column of known labels, by name or position; "auto" takes one that is called label,
        class, cluster, target or y and holds classes, None takes none.
    dropna : bool
        Leave out rows with missing cells rather than refusing the table.
    max_bytes : int
        Limit on the size of the file, and on what its numbers take as float64; 1 GiB by default.
    blur, max_pixels
        For pictures; see `image_points`.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError, OSError
        See `read` and `Table.to_dataset`; `columns` and `label` do not go with a picture.
    """
    contents = read(source, filename=filename, max_bytes=max_bytes)
    if isinstance(contents, Picture):
        if columns is not None or label not in ("auto", None):
            raise ValueError(
                f"{contents.name} is a picture: its points are its pixels, there are no columns or labels to choose"
            )
        return contents.to_dataset(blur=blur, max_pixels=max_pixels)
    return contents.to_dataset(columns, label, dropna=dropna)
