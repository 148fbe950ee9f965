"""Folders that keep the arrays of a long computation step by step, so that it can be resumed.

A step is a set of arrays, each in an .npy file, and a list of them with their checksums. The list
is written last, and each file gets its name when it is complete: an interrupted step does not
exist.
"""

import atexit
import contextlib
import json
import math
import shutil
import tempfile
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import dask
import numpy as np
from numpy.typing import DTypeLike

from kdegraph.manual import explained
from kdegraph.npy_files import npy_header, write_npy
from kdegraph.runtime.replacing import naming, replacing, writing
from kdegraph.scaled_kernel import Bandwidth

# The step that describes what the folder holds.
DESCRIPTION = "graph"
# The steps of a folder with the order of the vertices, their kernel degrees, and the values of the
# finished graph.
ORDER, DEGREES, RESULT = "order", "degrees", "result"
# The locks of folders in which this process works.
LOCKS: dict[Path, threading.Lock] = {}


class Folder:
    """The steps of a computation, all of whose processes can use the folder under its name."""

    def __init__(self, path):
        self.path = Path(path).absolute()  # workers may have another working directory

    @classmethod
    def temporary(cls) -> "Folder":
        """Return a new folder beside those of Dask, which is deleted when the process ends."""
        path = tempfile.mkdtemp(
            prefix="kdegraph-", dir=dask.config.get("temporary-directory", None)
        )
        atexit.register(shutil.rmtree, path, ignore_errors=True)
        return cls(path)

    def begin(self, description: dict[str, Any]) -> None:
        """Create the folder for a computation, or check that it holds the same one.

        The `description` has all that the computation depends on; its values can be written as
        JSON. If the folder holds other files, or another computation, a ValueError is raised, and
        the folder is not changed.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        if not self.has(DESCRIPTION):
            others = [path.name for path in self.path.iterdir() if path.name[0] != "."]
            if others:
                raise explained(
                    ValueError,
                    "error-store",
                    f"store {str(self.path)!r} holds other files, for instance {others[0]!r}; "
                    "choose a new or an empty folder",
                )
            self.write(DESCRIPTION, description)
        before = self.values(DESCRIPTION)
        for name, value in description.items():
            if before.get(name) != value:
                raise explained(
                    ValueError,
                    "error-store",
                    f"store {str(self.path)!r} holds another graph: {name} is "
                    f"{before.get(name)!r} there and {value!r} here; choose another folder",
                )
        for pattern in (".*.npy", ".*.json"):  # of interrupted steps
            for path in self.path.glob(pattern):
                path.unlink(missing_ok=True)

    def claimed(self) -> threading.Lock:
        """Return a context in which no other thread of this process works in the folder. A thread
        whose work was cancelled may continue for a moment.
        """
        return LOCKS.setdefault(self.path.resolve(), threading.Lock())

    def has(self, step: str) -> bool:
        """Return whether the step is complete."""
        return self._list(step).exists()

    def write(self, step: str, fields: dict[str, Any]) -> None:
        """Write a step: arrays, and values that can be written as JSON. After an OSError, for
        example of a full disk, no incomplete file is left.
        """
        entries = {}
        for name, array in fields.items():
            if isinstance(array, np.ndarray):
                array = np.ascontiguousarray(array)
                path = self._file(step, name)
                with writing(path) as temporary:
                    write_npy(temporary, array)
                entries[name] = _entry(array)
        values = {name: value for name, value in fields.items() if name not in entries}
        self._write_list(step, entries, values)

    @contextlib.contextmanager
    def filling(
        self, step: str, name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float64
    ) -> "Iterator[RowsOfFile]":
        """Yield the `RowsOfFile` of the only array of a new step, which any process may fill."""
        path, dtype = self._file(step, name), np.dtype(dtype)
        with replacing(path) as temporary:
            header = npy_header(shape, dtype)
            with naming(path), open(temporary, "wb") as file:
                file.write(header)
                file.truncate(len(header) + dtype.itemsize * math.prod(shape))
            yield RowsOfFile(temporary, shape, dtype)
        self._write_list(step, {name: _entry(_mapped(path, dtype, shape))}, {})

    def values(self, step: str) -> dict[str, Any]:
        """Return all fields of a step that are not arrays."""
        return self._read_list(step)["values"]

    def read(self, step: str, *names: str) -> Any:
        """Return a field of a step, or a list of several. Arrays are mapped into memory: pages are
        read when they are used, and changes of the array do not change the file. A ValueError is
        raised if a file is missing or not of the right length.
        """
        listed = self._read_list(step)
        found = [
            listed["values"][name] if name in listed["values"] else self._map(step, name, listed)
            for name in names
        ]
        return found if len(names) > 1 else found[0]

    def _map(self, step, name, listed):
        path, entry = self._file(step, name), listed["arrays"][name]
        try:
            return _mapped(path, np.dtype(entry["dtype"]), tuple(entry["shape"]))
        except (OSError, ValueError) as error:
            raise ValueError(
                f"{str(path)!r} is damaged ({error}); delete the files of the step {step!r} to "
                "have them computed again"
            ) from None

    def check(self, step: str) -> None:
        """Raise a `ValueError` if an array of the step has changed since it was written."""
        for name, entry in self._read_list(step)["arrays"].items():
            if checksum(self.read(step, name)) != entry["checksum"]:
                raise ValueError(
                    f"{str(self._file(step, name))!r} is damaged: its checksum is not the one that "
                    f"was noted; delete the files of the step {step!r} to have them computed again"
                )

    def check_all(self) -> None:
        """Check all steps that an interrupted computation has left."""
        for step in self._steps():
            self.check(step)

    def remove(self, step: str) -> None:
        """Remove a step, if it exists: first the list, then the arrays."""
        self._list(step).unlink(missing_ok=True)
        self._remove_arrays(step)

    def keep_only(self, *steps: str) -> None:
        """Remove all steps but these and the description."""
        for step in self._steps():
            if step not in (*steps, DESCRIPTION):
                self.remove(step)

    def discard(self, step: str) -> None:
        """Delete the fields of a step, which are not needed any more; the step stays complete."""
        self._write_list(step, {}, {})
        self._remove_arrays(step)

    def _steps(self):
        """Return the steps that are complete; a list that is being written does not count."""
        return sorted(path.stem for path in self.path.glob("[!.]*.json"))

    def _remove_arrays(self, step):
        for path in self.path.glob(f"{step}.*.npy"):
            path.unlink(missing_ok=True)

    def _file(self, step, name):
        return self.path / f"{step}.{name}.npy"

    def _list(self, step):
        return self.path / f"{step}.json"

    def _write_list(self, step, entries, values):
        path = self._list(step)
        with writing(path) as temporary:
            temporary.write_text(json.dumps({"arrays": entries, "values": values}))

    def _read_list(self, step):
        path = self._list(step)
        try:
            return json.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise ValueError(f"{str(path)!r} is missing or damaged ({error})") from None


class RowsOfFile:
    """An .npy file whose rows are written block by block, by any process."""

    def __init__(self, path, shape, dtype):
        self._path, self._dtype = path, dtype
        self._row_bytes = dtype.itemsize * math.prod(shape[1:])
        self._offset = len(npy_header(shape, dtype))

    def put(self, first: int, rows: np.ndarray) -> None:
        """Write rows from row `first` on."""
        with naming(self._path), open(self._path, "r+b") as file:
            file.seek(self._offset + int(first) * self._row_bytes)
            file.write(np.ascontiguousarray(rows, self._dtype).data)


def _entry(array):
    """Return the entry for an array in the list of a step."""
    return {"dtype": array.dtype.str, "shape": array.shape, "checksum": checksum(array)}


def _mapped(path, dtype, shape):
    """Return the array of an .npy file, mapped into memory.

    The header is not read: Python's parser, which `numpy.load` uses for that, may fail if several
    threads use it at the same time (CPython 3.11).
    """
    offset, n_bytes = len(npy_header(shape, dtype)), dtype.itemsize * math.prod(shape)
    surplus = path.stat().st_size - offset - n_bytes
    if surplus:
        raise ValueError(f"it has {surplus:+} bytes")
    if n_bytes == 0:
        return np.empty(shape, dtype)
    return np.asarray(np.memmap(path, dtype, "c", offset, shape))


def checksum(array: np.ndarray) -> int:
    """Return the CRC-32 of the bytes of a C-contiguous array."""
    return zlib.crc32(array.reshape(-1).view(np.uint8).data)


class Order(NamedTuple):
    """The order of the points, which are the vertices of the graph, and its division into tiles."""

    order: np.ndarray  # (n,) int64: the vertices in the tree's order
    place: np.ndarray  # (n,) int64: the place of each vertex in it
    # (n_tiles + 1,) int64: tile t has the places bounds[t] ... bounds[t + 1] - 1
    bounds: np.ndarray
    bandwidth: Bandwidth  # float or (n,) float64: by vertex
    densities: np.ndarray | None  # (n,) float64 or None: divided out of the kernel, by vertex

    @classmethod
    def of(cls, order, bounds, bandwidth, densities):
        """Return an order with the place of each vertex."""
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return cls(order, place, bounds, bandwidth, densities)

    @property
    def n_tiles(self):
        """The number of tiles."""
        return len(self.bounds) - 1

    def tiles_of(self, places):
        """Return the tiles of places; -1 for the place -1."""
        tiles = np.searchsorted(self.bounds, places, side="right") - 1
        return tiles.astype(np.int32)


def read_order(folder):
    """Return the `Order` of a folder, whose arrays are mapped into memory."""
    return Order(*folder.read(ORDER, *Order._fields))


def number_of_tiles(n, n_rounds):
    """Return the number of tiles for `n` points with `n_rounds` draws each.

    There are at most 2^22 draws in a tile, each of which takes about 64 bytes while its rows are
    made, and at least 16 tiles, so that workers end at about the same time. But with fewer than
    2,048 points, the overhead of a tile would exceed its work.
    """
    size = max(2048, min(2**22 // n_rounds, n // 16))
    return max(1, round(n / size))


def n_tiles(folder):
    """Return the number of tiles of a graph in a folder."""
    return len(folder.read(ORDER, "bounds")) - 1


def span(folder, tile):
    """Return the places of a tile, a slice."""
    return slice(*folder.read(ORDER, "bounds")[tile : tile + 2].tolist())
