"""NPY and NPZ files, without pickles. Headers are read first, then only the arrays in need."""

import io
import math
import zipfile

import numpy as np

from kdegraph.io.delimited_text import NULLS
from kdegraph.io.limits import (
    MAX_MEMBERS,
    NUMBER_BYTES,
    check_columns,
    check_pixels,
    check_unpacked,
)
from kdegraph.io.tables import LABEL_NAMES, Column, Picture, Table
from kdegraph.npy_files import read_header, read_values
from kdegraph.runtime.slices import count, take

POINT_NAMES = ("x", "data", "points", "features", "arr_0")
# The bytes with which the entry of each file in the directory of an archive begins.
_DIRECTORY_ENTRY = b"PK\x01\x02"


def _numeric(array):
    """Whether an array, or the header of one, holds numbers."""
    return array.dtype.kind in "fiub"


def _is_picture(array):
    """Whether an array, or the header of one, is a picture with colors."""
    return array.ndim == 3 and array.shape[2] in (3, 4) and array.dtype == np.uint8


def _are_gray_pictures(array):
    """Whether an array, or the header of one, is a gray picture for each point."""
    return array.ndim == 3 and _numeric(array) and not _is_picture(array)


def _column(name, values):
    if _numeric(values):
        return Column(name, "number", values.astype(np.float64))
    found, codes = np.unique(values, return_inverse=True)  # cells with the same text share it
    if values.dtype.kind == "S":
        found = [value.decode("utf-8", "replace") for value in found]
    texts = [None if value in NULLS else str(value) for value in found]
    return Column(name, "text", take(np.array(texts, dtype=object), codes))


def _check_points(header, name, max_bytes):
    """Refuse an array that is no table of points and no picture, or too large for one."""
    if header.size == 0:
        raise ValueError(f"{name} is empty: an array of shape {header.shape}")
    if _is_picture(header):
        check_pixels(*header.shape[:2], name, max_bytes)
        return
    if not _numeric(header):
        raise ValueError(f"{name} holds text (type {header.dtype}); points must be numbers")
    if header.ndim not in (1, 2, 3):
        found = f"an array of shape {header.shape} and type {header.dtype}"
        table = "(n, d) for points, (n,) for one column, (n, height, width) for gray pictures"
        picture = "(height, width, 3 or 4) of uint8 for a picture"
        raise ValueError(f"{name} is {found}; it must be {table}, {picture}")
    check_columns(math.prod(header.shape[1:]), name)
    check_unpacked(NUMBER_BYTES * header.size, name, max_bytes)


def _from_array(array, name, extra=()):
    """A checked array as a picture if it is (height, width, 3 or 4) of uint8, else as a table. Its
    columns have the names of pixels if each point is a picture.
    """
    if _is_picture(array):
        return Picture(array, name)
    names = (f"x{i + 1}" for i in range(math.prod(array.shape[1:])))
    if _are_gray_pictures(array):
        names = (f"pixel_{i}_{j}" for i, j in np.ndindex(array.shape[1:]))
    columns = map(_column, names, array.reshape(len(array), -1).T)
    return Table([*columns, *extra], name)


def read_npy(data, name, max_bytes):
    """An NPY file: (n, d) is points, (n,) one column, (height, width, 3 or 4) of uint8 a picture,
    and other arrays of three dimensions are points of which each is a gray picture.

    Parameters
    ----------
    data : bytes
    name : str
        What messages call the file.
    max_bytes : int
        Limit on what its numbers take as float64.

    Returns
    -------
    Table or Picture

    Raises
    ------
    ValueError
    """
    stream = io.BytesIO(data)
    header = read_header(stream, len(data), name)
    _check_points(header, name, max_bytes)
    return _from_array(read_values(stream, header), name)


def read_npz(data, name, max_bytes):
    """An NPZ archive: its points are the array called X (or data, points, features), else the only
    array of two dimensions, or the only one of gray pictures.

    One-dimensional arrays of the same length become further columns, so that `y` or `labels` can be
    the label. An archive with nothing but one-dimensional arrays of one length is a table of these
    columns.

    Parameters
    ----------
    data : bytes
    name : str
        What messages call the file.
    max_bytes : int
        Limit on the unpacked size, which the archive's directory tells beforehand, and on what the
        points take as float64.

    Returns
    -------
    Table or Picture

    Raises
    ------
    ValueError
    """
    if (n_members := count(data, _DIRECTORY_ENTRY)) > MAX_MEMBERS:
        found = f"{n_members:,} files, the limit is {MAX_MEMBERS:,}"
        raise ValueError(f"{name} holds {found}; save the points as an array of their own")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            arrays = _read_chosen(archive, name, max_bytes)
    except ValueError:
        raise
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError) as error:
        raise ValueError(f"{name} is a damaged or encrypted NPZ archive: {error}") from None
    except Exception as error:  # of a library that unpacks, such as zlib.error
        raise ValueError(f"{name} cannot be unpacked: {error}") from None
    first = next(iter(arrays))
    points = None if arrays[first].ndim == 1 else arrays.pop(first)
    columns = [_column(key, values) for key, values in arrays.items()]
    return Table(columns, name) if points is None else _from_array(points, name, columns)


def _read_chosen(archive, name, max_bytes):
    """Return the arrays of an archive that are needed, by name and in the order of `_choose`."""
    stored = [info for info in archive.infolist() if info.filename.endswith(".npy")]
    members = {info.filename.removesuffix(".npy"): info for info in stored}
    check_unpacked(sum(info.file_size for info in members.values()), name, max_bytes)
    headers = {}
    for key, info in members.items():
        with archive.open(info) as stream:
            headers[key] = read_header(stream, info.file_size, f"{key} in {name}")
    arrays = {}
    for key in _choose(headers, name, max_bytes):
        with archive.open(members[key]) as stream:
            read_header(stream, members[key].file_size, f"{key} in {name}")
            arrays[key] = read_values(stream, headers[key])
    return arrays


def _choose(headers, name, max_bytes):
    """Return the names of the arrays to read: the points and their labels, or only columns."""
    found = ", ".join(f"{key} {header.shape}" for key, header in headers.items()) or "no arrays"
    possible = [key for key, header in headers.items() if header.ndim == 2 or _is_picture(header)]
    possible = possible or [key for key in headers if _are_gray_pictures(headers[key])]
    named = [key for wanted in POINT_NAMES for key in possible if key.lower() == wanted]
    points = named or possible
    if len(points) > 1 and not named:
        raise ValueError(
            f"{name} holds several arrays that could be the points ({found}); call one of them X"
        )
    flat = {key: header for key, header in headers.items() if header.ndim == 1}
    if points:
        header = headers[points[0]]
        _check_points(header, name, max_bytes)
        # Arrays beside the points are features only if nothing marks them as something else;
        # usually they are labels or weights.
        labels = [key for key in flat if key.lower() in LABEL_NAMES and not _is_picture(header)]
        return [points[0], *(key for key in labels if flat[key].size == header.shape[0])]
    lengths = {header.size for header in flat.values()}
    if len(flat) < len(headers) or len(lengths) != 1 or not any(map(_numeric, flat.values())):
        needed = "an array X of shape (n, d), or columns of one length"
        raise ValueError(f"{name} holds no points: {needed}; found {found}")
    if lengths == {0}:
        raise ValueError(f"{name} is empty: {found}")
    check_columns(len(flat), name)
    check_unpacked(NUMBER_BYTES * sum(header.size for header in flat.values()), name, max_bytes)
    return list(flat)
