"""Read arrays from files, and refuse bad files of all types with a reason."""

import io
import os
import struct
import zipfile
from itertools import product

import numpy as np
import pytest
from files import NOISY, npy_bytes, npz_bytes, picture_bytes
from kdegraph import datasets


def test_npy_of_every_type_and_order():
    numbers = np.arange(12).reshape(4, 3)
    for dtype, order in product(["f8", "f4", "f2", "i2", "u1", "?", ">f8"], "CF"):
        array = np.asarray(numbers % 2 if dtype == "?" else numbers, dtype=dtype, order=order)
        data = datasets.load(npy_bytes(array), filename="t.npy")
        np.testing.assert_array_equal(data.X, array.astype(float))
        assert (data.feature_names, data.y) == (("x1", "x2", "x3"), None)


def test_a_signaling_nan_is_missing_without_a_warning():
    X = np.array([[0x7FA00000, 0]], np.uint32).view(np.float32)
    with pytest.raises(ValueError, match="row 0, column 'x1' is missing"):
        datasets.load(npy_bytes(X), filename="t.npy")


def test_npy_of_one_and_of_three_dimensions():
    data = datasets.load(npy_bytes(np.arange(3.0)), filename="t.npy")
    np.testing.assert_array_equal(data.X, [[0], [1], [2]])
    data = datasets.load(npy_bytes(NOISY), filename="t.npy", blur=0)
    assert data.shape == NOISY.shape[:2]
    np.testing.assert_array_equal(data.image, NOISY)


@pytest.mark.parametrize("shape", [(5, 4, 6), (3, 7, 3)])
def test_gray_pictures_become_points_with_pixels_for_columns(shape):
    pictures, y = np.random.default_rng(0).random(shape), np.arange(shape[0]) % 2
    names = tuple(f"pixel_{i}_{j}" for i in range(shape[1]) for j in range(shape[2]))
    for content, name in (
        (npy_bytes(pictures), "t.npy"),
        (npy_bytes(np.asfortranarray(pictures)), "t.npy"),
        (npz_bytes(images=pictures, y=y, weights=pictures[:, 0, 0]), "t.npz"),
    ):
        data = datasets.load(content, filename=name)
        assert data.feature_names == names
        np.testing.assert_array_equal(data.X, pictures.reshape(len(y), -1))
    np.testing.assert_array_equal(data.y, y)
    points = datasets.load(npz_bytes(images=pictures, other=y[:, None]), filename="t.npz")
    assert points.feature_names == ("x1",)  # an array of two dimensions is preferred


def lying_npy():
    """An array whose header promises far more than there is."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000), }\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + b"\0" * 80


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"1,2\n3,4\n", "text or something unknown"),
        (npy_bytes(np.array([{"a": 1}], dtype=object), allow_pickle=True), "pickled"),
        (npy_bytes(np.zeros((4, 3)))[:-8], "cut off"),
        (npy_bytes(np.zeros((0, 3))), "is empty"),
        (npy_bytes(np.zeros((4, 0))), "is empty"),
        (npy_bytes(np.array(3.0)), r"shape \(\)"),
        (npy_bytes(np.zeros((2, 2, 2, 2))), r"shape \(2, 2, 2, 2\)"),
        (npy_bytes(np.zeros((2, 65, 64))), "4,160 columns, the limit is 4,096"),
        (npy_bytes(np.zeros((2, 2), complex)), "complex"),
        (npy_bytes(np.array([["a", "b"]])), "holds text"),
        (npy_bytes(np.zeros(3, [("a", float)])), "numbers are needed"),
        (npy_bytes(np.array(["2020-01-01"], "datetime64[D]")), "numbers are needed"),
        (npy_bytes(np.array([[1.0, np.nan]])), "row 0, column 'x2' is missing"),
        (npy_bytes(np.array([[np.inf, 1.0]])), "row 0, column 'x1' is infinite"),
        (b"\x93NUMPY\x01\x00\x10\x00" + b"__import__('os')", "damaged NPY header"),
        (b"\x93NUMPY\x09\x00" + b"\0" * 20, "not an NPY array|version"),
        (b"\x93NUMPY", "not an NPY array"),
        (npy_bytes(np.eye(3)).replace(b"(3, 3)", b"(-1, 3)"), r"header: its shape is \(-1, 3\)"),
        (lying_npy(), r"promises 7276\.0 TiB of data, 80 bytes are there"),
    ],
)
def test_bad_npy_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        datasets.load(data, filename="t.npy")


def test_npz():
    X, y = np.random.default_rng(0).random((6, 2)), np.array([3, 3, 5, 5, 5, 3])
    for arrays in (
        {"X": X, "y": y},
        {"other": X[:, :1], "data": X, "labels": y, "weights": X[:, 0]},
        {"points": X, "class": y.astype(str)},
        {"a": X[:, 0], "b": X[:, 1], "label": y},
    ):
        data = datasets.load(npz_bytes(**arrays), filename="t.npz")
        np.testing.assert_array_equal(data.X, X)
        np.testing.assert_array_equal(data.y, [0, 0, 1, 1, 1, 0])
        assert data.label_names == ("3", "5")
    assert datasets.load(npz_bytes(anything=X), filename="t.npz").y is None


def bomb():
    """30 MB of zeros in 30 KB."""
    return npz_bytes(X=np.zeros((2_000_000, 2)))


def lying_archive():
    """An archive whose directory says that a member is small."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", npy_bytes(np.zeros((2_000_000, 2))))
    return stream.getvalue().replace(struct.pack("<I", 32_000_128), struct.pack("<I", 300))


def damaged_npz():
    data = npz_bytes(X=np.random.default_rng(0).random((50, 2)))
    return data[:200] + b"\0" * 20 + data[220:]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (damaged_npz(), "damaged|cannot be unpacked"),
        (bomb(), "unpacks to 30.5 MiB, the limit is 10.0 MiB"),
        (lying_archive(), "damaged"),
        (npz_bytes(a=np.zeros((3, 2)), b=np.zeros((3, 2))), "several arrays"),
        (npz_bytes(a=np.zeros(3), b=np.zeros(4)), "holds no points"),
        (npz_bytes(X=np.zeros((2, 2, 2, 2))), "holds no points"),
        (npz_bytes(), "no arrays|empty"),
        (npz_bytes(a=np.array([])), "empty"),
        (npz_bytes(X=np.array([[None]], dtype=object)), "pickled"),
        (bomb()[:-40], "damaged"),
        (b"PK\x03\x04" + b"junk" * 30, "damaged"),
        (npz_bytes(X=np.eye(3))[:4] + npz_bytes(X=np.eye(3))[5:], r"t\.npz is a damaged NPZ"),
        (b"words", "text or something unknown"),
    ],
)
def test_bad_npz_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        datasets.load(data, filename="t.npz", max_bytes=10 * 2**20)


# Files


def test_paths_open_files_and_bytes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    array = io.BytesIO(npy_bytes(np.array([[1, 2], [3, 4]])))
    with path.open("rb") as binary, path.open() as text:
        for source in (path, str(path), binary, text, path.read_bytes(), array):
            np.testing.assert_array_equal(datasets.load(source).X, [[1, 2], [3, 4]])
    assert datasets.read(picture_bytes(NOISY)).kind == "image"


def test_paths_that_cannot_be_read(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    for source, error, message in (
        ("none.csv", FileNotFoundError, "none.csv"),
        ("none.doc", ValueError, r"unknown type '\.doc'; files can be \.csv"),
        ("none", ValueError, "without an extension"),
        ("folder.csv", ValueError, "is a folder"),
        ("pipe.csv", ValueError, "not a regular file"),
        (3, TypeError, "source must be a path, bytes or an open file, got int"),
        (b"%PDF-1.4", ValueError, "content it is a PDF"),
    ):
        with pytest.raises(error, match=message):
            datasets.load(tmp_path / source if isinstance(source, str) else source)


def test_the_size_is_checked_before_reading(tmp_path):
    path = tmp_path / "big.npy"
    with path.open("wb") as stream:
        stream.truncate(2**40)  # sparse: takes no space
    with pytest.raises(ValueError, match=r"big.npy is too large: 1.0 TiB, the limit is 1.0 GiB"):
        datasets.load(path)
    with pytest.raises(ValueError, match="too large: more than the limit of 10 bytes"):
        datasets.load(io.BytesIO(b"1,2\n" * 100), filename="t.csv", max_bytes=10)
