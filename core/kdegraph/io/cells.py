"""Read cells as AnnData writes them, in .h5ad files.

The library of HDF5 does not withstand damaged files: with one byte changed it may crash or never
end. So it reads in a process of its own, which this module is the program of.
"""

import io
import math
import subprocess
import sys

import numpy as np
import scipy.sparse

from kdegraph.io.arrow import read_parquet
from kdegraph.io.limits import ADVICE, check_table, needing
from kdegraph.sparse_checks import check_sparse

# Names of columns, or categories of one, as each is read by itself.
MAX_WORDS = 10_000
TIME_LIMIT = 60  # seconds, and one more for every 8 MiB


def read_h5ad(data, name, max_bytes):
    """Read the cells as points: by their principal components where there are any, else by X. The
    columns of `obs` with categories follow.
    """
    with needing(name, "h5py", "dask", "save the points as NPY"):
        import h5py  # noqa: F401
    program = [sys.executable, "-P", "-m", "kdegraph.io.cells", str(max_bytes)]
    limit = TIME_LIMIT + len(data) / 2**23
    try:
        done = subprocess.run(program, input=data, capture_output=True, timeout=limit)
        reason = done.stderr.decode(errors="replace").strip().rpartition("\n")[2][:300]
    except subprocess.TimeoutExpired:
        done, reason = None, ""
    if done is None or done.returncode:
        raise ValueError(f"{name} cannot be read as H5AD: {reason or 'it is damaged'}")
    return read_parquet(done.stdout, name, max_bytes)


def main():
    """Read cells from standard input, and write a Parquet file to standard output."""
    import h5py
    import pyarrow as pa
    from pyarrow import parquet

    with h5py.File(io.BytesIO(sys.stdin.buffer.read())) as file:
        columns = _columns(_Parts(file, int(sys.argv[1])))
    parquet.write_table(pa.table(columns), sys.stdout.buffer)


def _columns(parts):
    """Return the columns of the table of a file, by name."""
    has_components = "X_pca" in parts.file.get("obsm", ())
    points = parts.part("obsm", "X_pca") if has_components else parts.part("X")
    n, d = map(int, points.attrs.get("shape", getattr(points, "shape", ())))
    check_table(n, d, "it", parts.left)
    rows = parts.numbers(points, (n, d))
    names = [f"PC{i + 1}" for i in range(d)] if has_components else parts.index("var")
    columns = dict(zip(names, rows.T, strict=True))
    for key in parts.part("obs"):
        if "categories" in parts.part("obs", key):
            columns[key] = parts.categories(key, n)
    return columns


class _Parts:
    """The parts of a file, which are neither elsewhere nor larger than the limit."""

    def __init__(self, file, max_bytes):
        self.file, self.left = file, max_bytes

    def part(self, *path):
        """Return a group or an array of the file itself."""
        import h5py

        found = self.file
        for key in path:
            if not isinstance(found.get(key, getlink=True), h5py.HardLink):
                raise ValueError(f"{key} is missing or elsewhere")
            found = found[key]
        return found

    def numbers(self, found, shape):
        """Return an array of numbers of this shape, also of a sparse matrix."""
        kinds = {"csr_matrix": scipy.sparse.csr_array, "csc_matrix": scipy.sparse.csc_array}
        kind = kinds.get(found.attrs.get("encoding-type"))
        if kind is None:
            array = self._array(found)
        else:
            fields = [self.part(found.name[1:], key) for key in ("data", "indices", "indptr")]
            matrix = kind(tuple(map(self._array, fields)), shape)
            check_sparse(matrix, "X")
            array = matrix.toarray()
        if array.shape != shape:
            raise ValueError(f"{found.name} has the shape {array.shape}, not {shape}")
        return array

    def _array(self, dataset):
        if dataset.dtype.kind not in "fiub" or dataset.external or dataset.is_virtual:
            raise ValueError(f"{dataset.name} does not hold numbers")
        self._take(max(dataset.size, math.prod(dataset.chunks or ())) * dataset.dtype.itemsize)
        return dataset[()]

    def _take(self, n_bytes):
        self.left -= n_bytes
        if self.left < 0:
            raise ValueError(f"it unpacks to more than the limit; {ADVICE}")

    def index(self, axis):
        """Return the names of the rows of a data frame."""
        return self._words(self.part(axis, self.part(axis).attrs["_index"]))

    def _words(self, dataset):
        """Return texts; in the file one may stand for many."""
        if dataset.size > MAX_WORDS:
            raise ValueError(f"{dataset.name} has {dataset.size:,} names, the limit is {MAX_WORDS}")
        words, texts = [], dataset.asstr()
        for i in range(dataset.size):
            words.append(str(texts[i]))
            self._take(len(words[-1]))
        return words

    def categories(self, key, n):
        """Return the category of each cell, or null, as an Arrow array of a categorical type."""
        import pyarrow as pa

        codes = self.numbers(self.part("obs", key, "codes"), (n,))
        words = self._words(self.part("obs", key, "categories"))
        if not np.isin(codes, np.arange(-1, len(words))).all():
            raise ValueError(f"{key} has codes without a category")
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(words))


if __name__ == "__main__":
    main()
