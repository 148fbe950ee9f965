"""A folder that keeps the arrays of a long computation step by step, so that it can go on later.

A step is a set of arrays, each in an .npy file, and a list of them with their checksums. The list
is written last, and each file gets its name when it is complete: a step that has been interrupted
does not exist.
"""

import contextlib
import io
import json
import math
import os
import uuid
import zlib
from pathlib import Path
from typing import Any

import numpy as np

# The list of the step that says what the folder holds; no other step is named so.
DESCRIPTION = "graph"
# How the names of files end that are not complete.
PARTIAL = ".partial"
# Bytes whose checksum is computed at a time.
CHECKED_TOGETHER = 2**24


class Folder:
    """The steps of one computation.

    Parameters
    ----------
    path : path-like
        The folder, which every process that takes part can read and write under this name.
    """

    def __init__(self, path):
        self.path = Path(path).absolute()  # workers may have another working directory

    def begin(self, description: dict[str, Any]) -> None:
        """Create the folder for a computation, or find that it holds the same one.

        Parameters
        ----------
        description : dict
            What the computation depends on, in values that JSON has.

        Raises
        ------
        ValueError
            If the folder holds other files, or another computation. Nothing is changed then.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        if not self.has(DESCRIPTION):
            others = [path.name for path in self.path.iterdir() if path.suffix != PARTIAL]
            if others:
                raise ValueError(
                    f"store {str(self.path)!r} holds other files, for instance {others[0]!r}; "
                    "choose a new or an empty folder"
                )
            self.write(DESCRIPTION, description)
        before = self.values(DESCRIPTION)
        for name, value in description.items():
            if before.get(name) != value:
                raise ValueError(
                    f"store {str(self.path)!r} holds another graph: {name} is "
                    f"{before.get(name)!r} there and {value!r} here; choose another folder"
                )
        for path in self.path.glob(f"*{PARTIAL}"):
            path.unlink(missing_ok=True)

    def has(self, step: str) -> bool:
        """Whether the step is complete."""
        return self._list(step).exists()

    def write(self, step: str, fields: dict[str, Any]) -> None:
        """Write a step: arrays, and values that JSON has.

        Raises
        ------
        OSError
            If the disk is full, or the folder cannot be written. Nothing half-written is left.
        """
        entries = {}
        for name, array in fields.items():
            if isinstance(array, np.ndarray):
                array = np.ascontiguousarray(array)
                self._write_file(self._file(step, name), lambda file, a=array: np.save(file, a))
                entries[name] = _entry(array)
        values = {name: value for name, value in fields.items() if name not in entries}
        self._write_list(step, entries, values)

    def adopt(self, step: str, name: str, path: Path) -> None:
        """Make an .npy file that has been written elsewhere the only array of a step."""
        array = np.asarray(np.load(path, mmap_mode="c", allow_pickle=False))
        os.replace(path, self._file(step, name))
        self._write_list(step, {name: _entry(array)}, {})

    def values(self, step: str) -> dict[str, Any]:
        """All fields of a step that are no arrays."""
        return self._read_list(step)["values"]

    def read(self, step: str, name: str) -> Any:
        """A field of a step. Arrays are mapped into memory: pages are read when they are used, and
        what is written to the array does not change the file.

        Raises
        ------
        ValueError
            If the file is missing or not of the right length.
        """
        fields = self._read_list(step)
        if name in fields["values"]:
            return fields["values"][name]
        path, entry = self._file(step, name), fields["arrays"][name]
        dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
        # The header is not read: Python's parser, by which `numpy.load` does it, may fail if
        # several threads use it at the same time (CPython 3.11).
        n_bytes = dtype.itemsize * math.prod(shape)
        try:
            offset = path.stat().st_size - n_bytes
            if offset != entry["offset"]:
                raise ValueError(f"it has {offset - entry['offset']:+} bytes")
            if n_bytes == 0:
                return np.empty(shape, dtype)
            return np.asarray(np.memmap(path, dtype, "c", offset, shape))
        except (OSError, ValueError) as error:
            raise ValueError(
                f"{str(path)!r} is damaged ({error}); delete the files of the step {step!r} to "
                "have them computed again"
            ) from None

    def check(self, step: str) -> None:
        """Raise a `ValueError` that names the file if an array of the step is not what was
        written.
        """
        for name, entry in self._read_list(step)["arrays"].items():
            if checksum(self.read(step, name)) != entry["checksum"]:
                raise ValueError(
                    f"{str(self._file(step, name))!r} is damaged: its checksum is not the one that "
                    f"was noted; delete the files of the step {step!r} to have them computed again"
                )

    def remove(self, step: str) -> None:
        """Remove a step, if there is one: first the list, then the arrays."""
        self._list(step).unlink(missing_ok=True)
        for path in self.path.glob(f"{step}.*.npy"):
            path.unlink(missing_ok=True)

    def _file(self, step, name):
        return self.path / f"{step}.{name}.npy"

    def _list(self, step):
        return self.path / f"{step}.json"

    def _write_list(self, step, entries, values):
        text = json.dumps({"arrays": entries, "values": values})
        self._write_file(self._list(step), lambda file: file.write(text.encode()))

    def _read_list(self, step):
        path = self._list(step)
        try:
            return json.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise ValueError(f"{str(path)!r} is missing or damaged ({error})") from None

    def _write_file(self, path, write):
        """Write a file under another name, and rename it when it is complete."""
        partial = path.with_name(f"{path.name}.{uuid.uuid4().hex}{PARTIAL}")
        try:
            with naming(path), open(partial, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)


@contextlib.contextmanager
def naming(path):
    """A context in which errors of writing, for instance to a full disk, name the file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"cannot write {path}: {error.strerror}") from error


def _entry(array):
    """What the list of a step says of an array, whose file has a header of the usual length."""
    return {
        "dtype": array.dtype.str,
        "shape": array.shape,
        "offset": header_length(array.shape, array.dtype),
        "checksum": checksum(array),
    }


def header_length(shape, dtype):
    """The length of the header of an .npy file, in bytes."""
    file = io.BytesIO()
    write_header(file, shape, dtype)
    return file.tell()


def write_header(file, shape, dtype):
    """Write the header of an .npy file for a C-contiguous array."""
    fields = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, fields)


def checksum(array: np.ndarray) -> int:
    """The CRC-32 of the bytes of a C-contiguous array."""
    bytes_of_array = array.reshape(-1).view(np.uint8).data
    value = 0
    for start in range(0, len(bytes_of_array), CHECKED_TOGETHER):
        value = zlib.crc32(bytes_of_array[start : start + CHECKED_TOGETHER], value)
    return value
