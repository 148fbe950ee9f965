"""Open points that need not fit into memory, as Dask arrays."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kdegraph.io.arrow import column_of
from kdegraph.io.limits import refusing
from kdegraph.io.table import Table

if TYPE_CHECKING:
    import dask.array as da


def load_lazily(
    path: str | os.PathLike[str], columns: Sequence[str | int] | None = None
) -> "da.Array":
    """Open points that need not fit into memory.

    Parameters
    ----------
    path : str or path
        ``.npy``, which is mapped into memory; ``.zarr``, an array or a group with the array X, as
        AnnData writes it; ``.h5``, ``.hdf5`` or ``.h5ad``, with the array X or a single array;
        ``.parquet``, a file or a folder of files, which are read by row groups.
    columns : sequence of str or int, optional
        The columns to take: by name or position for a Parquet table, otherwise by position. By
        default all of them, and for a table those that its first row group suggests as features;
        see `Table`.

    Returns
    -------
    (n, d) dask array
        Of float64 for a table, otherwise of the stored type. Only the sizes have been read.

    Raises
    ------
    ValueError
        For another kind of file, a damaged file, or columns that do not exist.
    FileNotFoundError
        If the file does not exist.
    ImportError
        Without Dask, zarr or h5py: ``pip install 'kdegraph[dask]'``.

    Examples
    --------
    >>> import kdegraph, numpy as np, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "points.npy"
    ...     np.save(path, np.zeros((100, 3)))
    ...     kdegraph.datasets.load_lazily(path, columns=[0, 2]).shape
    (100, 2)
    """
    path = Path(path)
    kind = path.suffix.lower()
    kinds = (".npy", ".parquet", ".zarr", ".h5", ".hdf5", ".h5ad")
    if kind not in kinds:
        raise ValueError(
            f"{path.name} cannot be read block by block; files can be {', '.join(kinds)}"
        )
    if not path.exists():
        raise FileNotFoundError(f"there is no {str(path)!r}")
    if kind == ".parquet":
        return _from_parquet(path, columns)
    X = {".npy": _from_npy, ".zarr": _from_zarr}.get(kind, _from_hdf5)(path)
    if X.ndim != 2:
        raise ValueError(f"{path.name} must have rows and columns, got shape {X.shape}")
    if columns is None:
        return X
    positions = [int(key) if str(key).isdigit() else -1 for key in columns]
    if not all(0 <= position < X.shape[1] for position in positions):
        raise ValueError(
            f"columns of {path.name} are numbers from 0 to {X.shape[1] - 1}, got {list(columns)}"
        )
    return X[:, positions]


def _from_npy(path):
    import dask.array as da

    with refusing(path.name, "NPY", ValueError, EOFError, OSError):
        return da.from_array(np.load(path, mmap_mode="r", allow_pickle=False))


def _from_zarr(path):
    import dask.array as da
    import zarr

    with refusing(path.name, "Zarr", Exception):  # a damaged store surfaces as almost any error
        found = zarr.open(path, mode="r")
    if isinstance(found, zarr.Group):
        found = found.get("X")
        if not isinstance(found, zarr.Array):
            raise ValueError(f"{path.name} is a group without an array X; name an array within it")
    return da.from_zarr(found)


class _DatasetOfFile:
    """An array of an HDF5 file, which is opened for every read, in any process."""

    def __init__(self, path, dataset):
        self.path, self.name = path, dataset.name
        self.shape, self.ndim, self.dtype = dataset.shape, dataset.ndim, dataset.dtype
        self.chunks = dataset.chunks

    def __getitem__(self, key):
        import h5py

        with h5py.File(self.path) as file:
            return file[self.name][key]


def _from_hdf5(path):
    import dask.array as da
    import h5py

    with refusing(path.name, "HDF5", OSError):
        file = h5py.File(path)
    with file:
        found = [each for each in file.values() if isinstance(each, h5py.Dataset)]
        if "X" in file or len(found) != 1:
            found = [file.get("X")]
        if not isinstance(found[0], h5py.Dataset):
            raise ValueError(f"{path.name} must have an array X, or no other than one")
        return da.from_array(_DatasetOfFile(path, found[0]), asarray=False, name=False)


def _from_parquet(path, columns):
    import dask
    import dask.array as da
    import pyarrow as pa
    from pyarrow import dataset

    with refusing(path.name, "Parquet", pa.ArrowException, OSError):
        parts = [
            (group, group.row_groups[0].num_rows)
            for fragment in dataset.dataset(path, format="parquet").get_fragments()
            for group in fragment.split_by_row_group()
            if group.row_groups[0].num_rows
        ]
        names = _choose_columns(parts[0][0], columns) if parts else []
    if not names:
        raise ValueError(f"{path.name} has no rows, or no columns of numbers")
    read = dask.delayed(_read_numbers)
    blocks = [
        da.from_delayed(read(part, names), (n_rows, len(names)), np.float64)
        for part, n_rows in parts
    ]
    return da.concatenate(blocks)


def _choose_columns(part, columns):
    """Return the names of the columns to read, given their names or positions, or None."""
    table = _table(part)
    if columns is None:
        return list(table.suggested_features)
    chosen = [table.column(key) for key in columns]
    if words := [each.name for each in chosen if not each.numeric]:
        raise ValueError(f"columns must hold numbers, which {words[0]!r} does not")
    return [each.name for each in chosen]


def _table(part, names=None):
    """Return the `Table` of a row group."""
    found = part.to_table(columns=names)
    return Table(map(column_of, found.schema, found.columns))


def _read_numbers(part, names):
    """Return columns of a row group as (n, d) float64 with NaN for missing values."""
    table = _table(part, names)
    return np.column_stack([table.column(name).values for name in names]).astype(np.float64)
