"""Read NPY and NPZ files without pickles: headers first, then only the needed arrays."""

import io
import math
import zipfile

import numpy as np

from kdegraph.io.columns import Column
from kdegraph.io.limits import check_members, check_pixels, check_table, check_unpacked
from kdegraph.io.pictures import Picture
from kdegraph.io.table import LABEL_NAMES, NULLS, Table
from kdegraph.npy_files import read_header
from kdegraph.runtime.slices import take


def read_npy(data, name, max_bytes):
    """Read an NPY file: points, a column, a picture, or a gray picture for each point."""
    stream = io.BytesIO(data)
    header = read_header(stream, len(data), name)
    _check_points(header, name, max_bytes)
    stream.seek(0)
    return _from_array(np.lib.format.read_array(stream, allow_pickle=False), name)


def read_npz(data, name, max_bytes):
    """Read an NPZ archive.

    Its points are the array called X (or data, points, features), else the only array of two
    dimensions, or the only one of gray pictures. Of the other arrays, those that are named like a
    label and have one value for each point become further columns. An archive of one-dimensional
    arrays of one length is a table of these columns.
    """
    check_members(data, name, "save the points as an array of their own")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            arrays = _read_chosen(archive, name, max_bytes)
    except ValueError as error:
        if name in str(error):  # of a check
            raise
        raise ValueError(f"{name} is a damaged NPZ archive: {error}") from None
    except Exception as error:  # also of libraries that unpack, such as zlib.error
        found = str(error)[:200]
        raise ValueError(f"{name} is a damaged or encrypted NPZ archive: {found}") from None
    first = next(iter(arrays))
    points = None if arrays[first].ndim == 1 else arrays.pop(first)
    columns = [number_or_text(key, values) for key, values in arrays.items()]
    return Table(columns, name) if points is None else _from_array(points, name, columns)


def _read_chosen(archive, name, max_bytes):
    """Return the needed arrays of an archive, by name and in the order of `_choose`."""
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
            arrays[key] = np.lib.format.read_array(stream, allow_pickle=False)
    return arrays


def _choose(headers, name, max_bytes):
    """Return the names of the arrays to read: the points and their labels, or only columns."""
    found = ", ".join(f"{key} {header.shape}" for key, header in headers.items()) or "no arrays"
    possible = [key for key, header in headers.items() if header.ndim == 2 or _is_picture(header)]
    possible = possible or [key for key in headers if _are_gray_pictures(headers[key])]
    names = ("x", "data", "points", "features", "arr_0")  # of points, the most certain first
    named = [key for wanted in names for key in possible if key.lower() == wanted]
    points = named or possible
    if len(points) > 1 and not named:
        raise ValueError(
            f"{name} holds several arrays that could be the points ({found}); call one of them X"
        )
    flat = {key: header for key, header in headers.items() if header.ndim == 1}
    if points:
        header = headers[points[0]]
        _check_points(header, name, max_bytes)
        labels = [key for key in flat if key.lower() in LABEL_NAMES and not _is_picture(header)]
        return [points[0], *(key for key in labels if flat[key].size == header.shape[0])]
    lengths = {header.size for header in flat.values()}
    if len(flat) < len(headers) or len(lengths) != 1 or not any(map(_is_numeric, flat.values())):
        needed = "an array X of shape (n, d), or columns of one length"
        raise ValueError(f"{name} holds no points: {needed}; found {found}")
    if lengths == {0}:
        raise ValueError(f"{name} is empty: {found}")
    check_table(lengths.pop(), len(flat), name, max_bytes)
    return list(flat)


def _is_numeric(array):
    """Return whether an array, or a header, describes numbers."""
    return array.dtype.kind in "fiub"


def _is_picture(array):
    """Return whether an array, or a header, describes a picture with colors."""
    return array.ndim == 3 and array.shape[2] in (3, 4) and array.dtype == np.uint8


def _are_gray_pictures(array):
    """Return whether an array, or a header, describes a gray picture for each point."""
    return array.ndim == 3 and _is_numeric(array) and not _is_picture(array)


def _check_points(header, name, max_bytes):
    """Refuse an array that is neither a table nor a picture, or too large for one."""
    if header.size == 0:
        raise ValueError(f"{name} is empty: an array of shape {header.shape}")
    if _is_picture(header):
        check_pixels(*header.shape[:2], name, max_bytes)
        return
    if not _is_numeric(header):
        raise ValueError(f"{name} holds text (type {header.dtype}); points must be numbers")
    if header.ndim not in (1, 2, 3):
        found = f"an array of shape {header.shape} and type {header.dtype}"
        table = "(n, d) for points, (n,) for one column, (n, height, width) for gray pictures"
        picture = "(height, width, 3 or 4) of uint8 for a picture"
        raise ValueError(f"{name} is {found}; it must be {table}, {picture}")
    check_table(header.shape[0], math.prod(header.shape[1:]), name, max_bytes)


def _from_array(array, name, extra=()):
    """Return a checked array as a `Picture`, or as a `Table` with the columns `extra` at its end.

    The columns of gray pictures are named after the pixels.
    """
    if _is_picture(array):
        return Picture(array, name)
    names = (f"x{i + 1}" for i in range(math.prod(array.shape[1:])))
    if _are_gray_pictures(array):
        names = (f"pixel_{i}_{j}" for i, j in np.ndindex(array.shape[1:]))
    columns = map(number_or_text, names, array.reshape(len(array), -1).T)
    return Table([*columns, *extra], name)


def number_or_text(name, values):
    """Return the `Column` of an array of numbers or of text."""
    if _is_numeric(values):
        with np.errstate(invalid="ignore"):  # of signaling NaN
            return Column(name, "number", values.astype(np.float64))
    found, codes = np.unique(values, return_inverse=True)  # cells with the same text share it
    if values.dtype.kind == "S":
        found = [value.decode("utf-8", "replace") for value in found]
    texts = [None if value in NULLS else str(value) for value in found]
    return Column(name, "text", take(np.array(texts, dtype=object), codes))
