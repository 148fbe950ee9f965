"""NPY and NPZ, without pickles and without unpacking what is too large."""

import io
import zipfile

import numpy as np
from numpy.lib import format as npy

from .._memory import format_bytes
from ._csv import NULLS
from ._table import LABEL_NAMES, MAX_COLUMNS, Column, Picture, Table

POINT_NAMES = ("x", "data", "points", "features", "arr_0")
_MAX_MEMBERS = 1000


def _read_array(stream, size, name):
    """Read one array of `size` bytes with its header, which is checked against them before anything is allocated."""
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    try:
        version = npy.read_magic(stream)
    except ValueError:
        raise ValueError(f"{name} is not an NPY array: it does not start like one") from None
    if version not in readers:
        raise ValueError(f"{name} is an NPY array of version {version}, which holds records; save plain numbers")
    try:
        shape, fortran, dtype = readers[version](stream)
    except Exception as error:  # the header is evaluated as a Python literal: a damaged one surfaces as many kinds of error
        raise ValueError(f"{name} has a damaged NPY header: {error}") from None
    if dtype.hasobject:
        raise ValueError(
            f"{name} holds pickled Python objects, which can run any code when loaded; save numbers: np.save(path, X.astype(float))"
        )
    if dtype.kind not in "fiubUS":
        raise ValueError(f"{name} holds values of type {dtype}; numbers are needed")
    count = 1
    for length in shape:  # Python integers do not overflow
        count *= length
    left = size - stream.tell()
    if count * dtype.itemsize > left:
        raise ValueError(
            f"{name} is cut off: its header promises {format_bytes(count * dtype.itemsize)} of data, {format_bytes(left)} are there"
        )
    data = stream.read(count * dtype.itemsize)
    return np.frombuffer(data, dtype=dtype, count=count).reshape(shape, order="F" if fortran else "C")


def _numeric(array):
    return array.dtype.kind in "fiub"


def _is_picture(array):
    return array.ndim == 3 and array.shape[2] in (3, 4) and array.dtype == np.uint8


def _column(name, values):
    if _numeric(values):
        return Column(name, "number", values.astype(np.float64))
    text = [value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value) for value in values]
    return Column(name, "text", np.array([None if value in NULLS else value for value in text], dtype=object))


def _from_array(array, name, extra=()):
    """An array as a table, or as a picture if it is (height, width, 3 or 4) of uint8."""
    if array.size == 0:
        raise ValueError(f"{name} is empty: an array of shape {array.shape}")
    if _is_picture(array):
        from ._images import _colours

        return Picture(_colours(array), name)
    if not _numeric(array):
        raise ValueError(f"{name} holds text (type {array.dtype}); points must be numbers")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        shapes = "(n, d) for points, (n,) for one column, (height, width, 3 or 4) of uint8 for a picture"
        raise ValueError(f"{name} is an array of shape {array.shape} and type {array.dtype}; it must be {shapes}")
    if array.shape[1] > MAX_COLUMNS:
        raise ValueError(
            f"{name} has {array.shape[1]:,} columns, the limit is {MAX_COLUMNS:,}; pass such an array in Python, or reduce it first"
        )
    columns = [_column(f"x{i + 1}", array[:, i]) for i in range(array.shape[1])]
    return Table([*columns, *extra], name)


def read_npy(data, name):
    """An NPY file: (n, d) is points, (n,) one column, (height, width, 3 or 4) of uint8 a picture.

    Parameters
    ----------
    data : bytes
    name : str
        What messages call the file.

    Returns
    -------
    Table or Picture

    Raises
    ------
    ValueError
    """
    return _from_array(_read_array(io.BytesIO(data), len(data), name), name)


def read_npz(data, name, max_bytes):
    """An NPZ archive: its points are the array called X (or data, points, features), else the only array of two dimensions.

    One-dimensional arrays of the same length become further columns, so that `y` or `labels` can be the label. An archive with nothing
    but one-dimensional arrays of one length is a table of these columns.

    Parameters
    ----------
    data : bytes
    name : str
        What messages call the file.
    max_bytes : int
        Limit on the unpacked size, which the archive's directory tells beforehand.

    Returns
    -------
    Table or Picture

    Raises
    ------
    ValueError
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            if len(archive.infolist()) > _MAX_MEMBERS:
                raise ValueError(f"{name} holds {len(archive.infolist()):,} members; that is no archive of a few arrays")
            unpacked = sum(info.file_size for info in members)
            if unpacked > max_bytes:
                raise ValueError(f"{name} unpacks to {format_bytes(unpacked)}, the limit is {format_bytes(max_bytes)}")
            arrays = {}
            for info in members:
                key = info.filename.removesuffix(".npy")
                with archive.open(info) as stream:
                    arrays[key] = _read_array(stream, info.file_size, f"{key} in {name}")
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError) as error:
        raise ValueError(f"{name} is a damaged or encrypted NPZ archive: {error}") from None
    except Exception as error:
        if isinstance(error, ValueError):
            raise
        raise ValueError(f"{name} cannot be unpacked: {error}") from None  # zlib.error, lzma.LZMAError
    return _from_archive(arrays, name)


def _from_archive(arrays, name):
    found = ", ".join(f"{key} {array.shape}" for key, array in arrays.items()) or "no arrays"
    points = [
        key for wanted in POINT_NAMES for key in arrays if key.lower() == wanted and (arrays[key].ndim == 2 or _is_picture(arrays[key]))
    ]
    points = points or [key for key, array in arrays.items() if array.ndim == 2 or _is_picture(array)]
    if len(points) > 1 and points[0].lower() not in POINT_NAMES:
        raise ValueError(f"{name} holds several arrays that could be the points ({found}); call one of them X")
    flat = {key: array for key, array in arrays.items() if array.ndim == 1}
    if points:
        array = arrays[points[0]]
        extra = [_column(key, values) for key, values in flat.items() if len(values) == len(array)]
        # Arrays beside the points are features only if nothing marks them as something else; usually they are labels or weights.
        extra = [column for column in extra if column.name.lower() in LABEL_NAMES] if array.ndim == 2 else []
        return _from_array(array, name, extra)
    if (
        flat
        and len(flat) == len(arrays)
        and len({len(values) for values in flat.values()}) == 1
        and any(_numeric(v) for v in flat.values())
    ):
        if min(map(len, flat.values())) == 0:
            raise ValueError(f"{name} is empty: {found}")
        return Table([_column(key, values) for key, values in flat.items()], name)
    raise ValueError(f"{name} holds no points: an array X of shape (n, d), or columns of one length; found {found}")
