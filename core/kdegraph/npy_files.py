"""NPY files: check their headers before their values are read, and write them."""

import io
import math
from typing import NamedTuple

import numpy as np
from numpy.lib import format as npy

from kdegraph.runtime.memory import format_bytes


class Header(NamedTuple):
    """The header of an NPY file; with `fortran`, the first index varies fastest."""

    shape: tuple
    fortran: bool
    dtype: np.dtype

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)  # Python integers do not overflow


def read_header(stream, size, name):
    """Read the `Header` of an NPY file of `size` bytes, whose array messages call `name`.

    A file that is damaged, cut off or holds anything but numbers or text is refused.
    """
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    try:
        version = npy.read_magic(stream)
    except ValueError:
        raise ValueError(f"{name} is not an NPY array: it does not start like one") from None
    if version not in readers:
        raise ValueError(
            f"{name} is an NPY array of version {version}, which holds records; save plain numbers"
        )
    try:
        header = Header(*readers[version](stream))
        if min(header.shape, default=0) < 0:
            raise ValueError(f"its shape is {header.shape}")
    except Exception as error:  # of any kind, as the header is evaluated as a Python literal
        raise ValueError(f"{name} has a damaged NPY header: {error}") from None
    if header.dtype.hasobject:
        raise ValueError(
            f"{name} holds pickled Python objects, which can run any code when loaded; "
            "save numbers: np.save(path, X.astype(float))"
        )
    if header.dtype.kind not in "fiubUS":
        raise ValueError(f"{name} holds values of type {header.dtype}; numbers are needed")
    needed, left = header.size * header.dtype.itemsize, size - stream.tell()
    if needed > left:
        promised = f"its header promises {format_bytes(needed)} of data"
        raise ValueError(f"{name} is cut off: {promised}, {format_bytes(left)} are there")
    return header


def npy_header(shape, dtype):
    """Return the header of an .npy file for a C-contiguous array."""
    header = io.BytesIO()
    fields = {"descr": dtype.str, "fortran_order": False, "shape": shape}
    npy.write_array_header_1_0(header, fields)
    return header.getvalue()


def write_npy(path, array):
    """Write an array of numbers to an .npy file.

    On a full disk, `numpy.save` can leave out the end of an array without an error.
    """
    array = np.ascontiguousarray(array)
    with open(path, "wb") as file:
        file.write(npy_header(array.shape, array.dtype))
        file.write(array.data)
