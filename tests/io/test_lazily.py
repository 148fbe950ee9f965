"""Points that are read block by block."""

import dask.array as da
import h5py
import numpy as np
import pyarrow as pa
import pytest
import zarr
from kdegraph import similarity_graph
from kdegraph.datasets import load_lazily
from pyarrow import parquet

X = np.random.default_rng(0).normal(size=(1_000, 3))


def table(n=1_000):
    """Three features, a label and text."""
    labels = np.arange(n) % 4
    columns = {"a": X[:n, 0], "b": X[:n, 1], "c": X[:n, 2], "label": labels}
    return pa.table(columns | {"text": [f"row {i}" for i in range(n)]})


def save_group(path):
    """Save the points as AnnData does."""
    zarr.open_group(path, mode="w").create_array("X", shape=X.shape, dtype=X.dtype)[:] = X


def save_hdf5(path, **arrays):
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array, chunks=True)


def save_folder(path):
    path.mkdir()
    for i in range(4):
        parquet.write_table(table().slice(250 * i, 250), path / f"part-{i}.parquet")


SAVED = {
    "npy": lambda path: np.save(path, X),
    "zarr": lambda path: zarr.save_array(path, X),
    "group.zarr": save_group,
    "h5": lambda path: save_hdf5(path, points=X),
    "h5ad": lambda path: save_hdf5(path, X=X, weights=np.ones(1_000)),
    "parquet": lambda path: parquet.write_table(table(), path, row_group_size=300),
    "folder.parquet": save_folder,
}


@pytest.fixture(params=SAVED)
def path(request, tmp_path):
    path = tmp_path / f"points.{request.param}"
    SAVED[request.param](path)
    return path


def test_points_and_their_graph_are_those_of_the_file(path):
    lazily = load_lazily(path)
    assert isinstance(lazily, da.Array)
    np.testing.assert_array_equal(lazily.compute(), X)
    chosen = load_lazily(path, columns=["2", 0])
    np.testing.assert_array_equal(chosen.compute(), X[:, [2, 0]])
    tiled = similarity_graph(lazily, sigma=0.5, n_rounds=5, seed=0).compute()
    graph = similarity_graph(X, sigma=0.5, n_rounds=5, seed=0)
    assert (tiled.adjacency != graph.adjacency).nnz == 0


def test_columns_of_a_table_have_names(tmp_path):
    path = tmp_path / "points.parquet"
    SAVED["parquet"](path)
    chosen = load_lazily(path, columns=["c", "label"])
    np.testing.assert_array_equal(chosen.compute(), np.c_[X[:, 2], np.arange(1_000) % 4])
    for columns, message in ((["a", "text"], "'text' does not"), (["d"], "'d'")):
        with pytest.raises(ValueError, match=message):
            load_lazily(path, columns=columns)


def test_a_missing_value_is_named_by_its_row(tmp_path):
    points = X.copy()
    points[700, 1] = np.nan
    columns = {name: pa.array(points[:, i], from_pandas=True) for i, name in enumerate("abc")}
    parquet.write_table(pa.table(columns), tmp_path / "points.parquet", row_group_size=300)
    with pytest.raises(ValueError, match=r"X\[700, 1\] is nan"):
        similarity_graph(load_lazily(tmp_path / "points.parquet"), sigma=0.5)


TEXT = table().select(["text"])
CATEGORIES = pa.table({"kind": pa.array(["0", "1", "1"]).dictionary_encode()})
REFUSED = {
    "points.csv": (lambda path: path.write_text("1,2"), "cannot be read block by block"),
    "broken.npy": (lambda path: path.write_bytes(b"\x93NUMPY"), "cannot be read as NPY"),
    "broken.parquet": (lambda path: path.write_bytes(b"PAR1"), "cannot be read as Parquet"),
    "empty.parquet": (lambda path: parquet.write_table(table(0), path), "no rows"),
    "text.parquet": (lambda path: parquet.write_table(TEXT, path), "no columns of numbers"),
    "categories.parquet": (
        lambda path: parquet.write_table(CATEGORIES, path),
        "no columns of numbers",
    ),
    "folder.zarr": (lambda path: path.mkdir(), "cannot be read as Zarr"),
    "group.zarr": (lambda path: zarr.open_group(path, mode="w"), "a group without an array X"),
    "broken.h5": (lambda path: path.write_bytes(b"\x89HDF"), "cannot be read as HDF5"),
    "two.h5": (lambda path: save_hdf5(path, a=X, b=X), "an array X, or no other"),
    "line.npy": (lambda path: np.save(path, np.ones(5)), "must have rows and columns"),
}


def test_what_cannot_be_read_is_named(tmp_path):
    for name, (write, message) in REFUSED.items():
        write(tmp_path / name)
        with pytest.raises(ValueError, match=message):
            load_lazily(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="there is no"):
        load_lazily(tmp_path / "points.npy")
    np.save(tmp_path / "points.npy", X)
    for column in (3, "a"):
        with pytest.raises(ValueError, match="numbers from 0 to 2"):
            load_lazily(tmp_path / "points.npy", columns=[column])
