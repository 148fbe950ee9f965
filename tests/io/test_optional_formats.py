"""Read workbooks and cells, each with a package that not all have: right values, lying files, and
what is said without the package.
"""

import datetime
import io
import re
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse
from files import xlsx_bytes
from kdegraph import datasets
from kdegraph.io import cells as files_of_cells
from kdegraph.io import formats

SMALL = 10 * 2**20
ROWS = [
    ["length", "width", "kind", "day", "ok"],
    [1.5, -2, "rose", datetime.datetime(2024, 1, 31), True],
    [None] * 5,
    [0.25, 40, 'tulip, "red"', datetime.datetime(2024, 2, 1), False],
    [1e-300, 7, None, None, True],
]


def repacked(content, replace=("", ""), drop=None):
    """A zip archive with text replaced in all of its files, and without one of them."""
    old, new = (text.encode() for text in replace)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {key: archive.read(key) for key in archive.namelist() if key != drop}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, part in parts.items():
            archive.writestr(key, part.replace(old, new) if old else part)
    return file.getvalue()


@pytest.mark.parametrize("lie", [("", ""), ('ref="A1:E5"', 'ref="A1:XFD1048576"')])
def test_the_first_sheet_of_a_workbook(lie):
    table = datasets.read(repacked(xlsx_bytes(ROWS), lie), filename="flowers.xlsx")
    kinds = {column.name: column.kind for column in table.columns}
    expected = {"length": "number", "width": "number", "kind": "text", "day": "date"}
    assert kinds == expected | {"ok": "number"}
    np.testing.assert_array_equal(table.column("length").values, [1.5, 0.25, 1e-300])
    assert table.column("kind").values.tolist() == ["rose", 'tulip, "red"', None]
    assert table.column("day").values[0] == np.datetime64("2024-01-31")
    data = table.to_dataset(["length", "width"], "ok")
    np.testing.assert_array_equal(data.X[:, 1], [-2, 40, 7])


def test_sheets_without_features_come_before_the_table():
    words = (["Read me"], [], ["How the flowers were measured", "in 1936"])
    content = xlsx_bytes(ROWS, before=words)
    table = datasets.read(content, filename="flowers.xlsx")
    assert [column.name for column in table.columns] == list(ROWS[0])
    assert table.name == "flowers.xlsx, sheet Sheet"
    for rows, message in (
        ([["Read me"]], r"^t\.xlsx has no rows, only the name of a column"),
        ([], r"^t\.xlsx is empty"),
    ):
        with pytest.raises(ValueError, match=message):
            datasets.read(xlsx_bytes(rows), filename="t.xlsx")
    # A sheet that is too large is not passed over.
    with pytest.raises(ValueError, match="the limit is"):
        datasets.read(xlsx_bytes([["far"]], (2, 16384)), filename="t.xlsx", max_bytes=SMALL)


BAD_BOOKS = {
    "cut": (lambda book: book[:-300], "cannot be read as an Excel workbook"),
    "empty": (lambda book: repacked(book, drop="xl/workbook.xml"), "cannot be read as an Excel"),
    "bad_xml": (lambda book: repacked(book, ("<sheetData>", "<")), "cannot be read as an Excel"),
    "text": (lambda book: b"a,b\n1,2\n", "by its content it is text"),
    "wide": (
        lambda book: xlsx_bytes(ROWS, (2, 16384)),
        "has 16,384 columns, the limit is 4,096",
    ),
    "long": (lambda book: xlsx_bytes(ROWS, (1048576, 1)), "unpacks to .*, the limit is 10.0 MiB"),
    "bomb": (
        lambda book: repacked(book, ("<sheetData>", "<sheetData>" + " " * SMALL)),
        "unpacks to .*, the limit is 10.0 MiB",
    ),
}


@pytest.mark.parametrize("name", BAD_BOOKS)
def test_bad_workbooks_are_refused(name):
    spoil, message = BAD_BOOKS[name]
    content = spoil(xlsx_bytes(ROWS))
    with pytest.raises(ValueError, match=rf"^{name}\.xlsx .*{message}"):
        datasets.load(content, filename=f"{name}.xlsx", max_bytes=SMALL)


def test_a_workbook_of_too_much_text_is_refused(monkeypatch):
    monkeypatch.setattr(formats, "MAX_XML", 1000)
    with pytest.raises(ValueError, match=r"unpacks to .*, the limit is 1000 bytes"):
        datasets.read(xlsx_bytes(ROWS), filename="t.xlsx")


@pytest.mark.parametrize(
    ("package", "name", "start", "remedy"),
    [
        ("openpyxl", "t.xlsx", b"PK\x03\x04", r"kdegraph\[excel\]', or save the sheet as CSV"),
        ("h5py", "t.h5ad", b"\x89HDF\r\n\x1a\n", r"kdegraph\[dask\]', or save the points as NPY"),
    ],
)
def test_without_the_package_the_remedy_is_named(monkeypatch, package, name, start, remedy):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ValueError, match=f"{name} needs the package {package}: .*{remedy}"):
        datasets.read(start, filename=name)


# ---- cells

X = np.array([[1.5, 0.0, 2.0], [0.0, 3.0, 0.0], [0.25, 0.0, 0.0], [0.0, 0.0, 7.0]])
CODES = [0, 1, -1, 0]


def cells(spoil=lambda file: None, *, components=None, kind=None):
    """The bytes of an .h5ad file as AnnData writes it."""
    h5py = pytest.importorskip("h5py")
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        if kind is None:
            file["X"] = X
        else:
            matrix = {"csr_matrix": scipy.sparse.csr_array, "csc_matrix": scipy.sparse.csc_array}
            group, matrix = file.create_group("X"), matrix[kind](X)
            group.attrs.update({"encoding-type": kind, "shape": X.shape})
            for key in ("data", "indices", "indptr"):
                group[key] = getattr(matrix, key)
        file.create_group("var").attrs["_index"] = "gene"
        file["var/gene"] = ["CD4", "CD8A", "MS4A1"]
        file.create_group("obs")
        file["obs/n_counts"] = X.sum(axis=1)
        file["obs/leiden/codes"] = np.array(CODES, np.int8)
        file["obs/leiden/categories"] = ["T cell", "B cell"]
        if components is not None:
            file["obsm/X_pca"] = components
        spoil(file)
    return content.getvalue()


@pytest.mark.parametrize("kind", [None, "csr_matrix", "csc_matrix"])
def test_cells_are_points_with_their_categories(kind):
    table = datasets.read(cells(kind=kind), filename="cells.h5ad")
    assert [column.name for column in table.columns] == ["CD4", "CD8A", "MS4A1", "leiden"]
    data = table.to_dataset(label=None)
    np.testing.assert_array_equal(data.X, X)
    assert table.column("leiden").values.tolist() == ["T cell", "B cell", None, "T cell"]


def test_clusters_that_were_saved_with_cells_are_no_features():
    """scanpy numbers clusters, and AnnData keeps the numbers as text."""

    def number(file):
        del file["obs/leiden/categories"]
        file["obs/leiden/categories"] = ["0", "1"]

    table = datasets.read(cells(number), filename="cells.h5ad")
    assert table.column("leiden").kind == "text"
    np.testing.assert_array_equal(table.to_dataset(label=None).X, X)


def test_principal_components_are_taken_where_there_are_any():
    components = np.arange(8.0).reshape(4, 2)
    data = datasets.load(cells(components=components), filename="cells.h5ad", label="leiden")
    np.testing.assert_array_equal(data.X, components)
    assert data.feature_names == ("PC1", "PC2")
    assert data.label_names == ("B cell", "T cell", "(missing)")


def outside(path):
    """Points that another file holds."""
    return lambda file: file.create_dataset("X", X.shape, float, external=[(path, 0, 96)])


def huge_chunk(file):
    file.create_dataset("X", X.shape, float, chunks=(2**15, 2**15), maxshape=(None, None))


def without_x(then):
    def spoil(file):
        del file["X"]
        then(file)

    return spoil


def external_link(file):
    import h5py

    file["X"] = h5py.ExternalLink("/etc/hostname", "X")


BAD_CELLS = {
    "none": (without_x(lambda file: None), "X is missing or elsewhere"),
    "link": (without_x(external_link), "X is missing or elsewhere"),
    "outside": (without_x(outside("/etc/hostname")), "/X does not hold numbers"),
    "words": (without_x(lambda file: file.update({"X": ["a"] * 4})), "cannot be read as H5AD"),
    "chunk": (without_x(huge_chunk), "it unpacks to more than the limit"),
    "wide": (
        without_x(lambda file: file.create_dataset("X", (4, 5000), float)),
        "has 5,000 columns, the limit is 4,096",
    ),
    "many": (
        without_x(lambda file: file.create_dataset("X", (10**9, 3), float)),
        "unpacks to .*, the limit is 10.0 MiB",
    ),
    "codes": (
        lambda file: file["obs/leiden/codes"].write_direct(np.array([5, 0, 0, 0], np.int8)),
        "leiden has codes without a category",
    ),
}


@pytest.mark.parametrize("name", BAD_CELLS)
def test_bad_cells_are_refused(name):
    spoil, message = BAD_CELLS[name]
    content = cells(spoil)
    with pytest.raises(ValueError, match=rf"^{name}\.h5ad .*{message}"):
        datasets.load(content, filename=f"{name}.h5ad", max_bytes=SMALL)


def test_cells_cut_off_or_with_a_wrong_matrix_are_refused():
    with pytest.raises(ValueError, match=r"cut\.h5ad cannot be read as H5AD"):
        datasets.load(cells()[:-200], filename="cut.h5ad")

    def spoil(file):
        file["X/indices"][0] = 99

    with pytest.raises(ValueError, match=r"sparse\.h5ad cannot be read as H5AD"):
        datasets.load(cells(spoil, kind="csr_matrix"), filename="sparse.h5ad")


def test_a_file_in_which_hdf5_never_ends_is_refused(monkeypatch):
    monkeypatch.setattr(files_of_cells, "TIME_LIMIT", 0.01)
    with pytest.raises(ValueError, match=r"t\.h5ad cannot be read as H5AD: it is damaged"):
        datasets.read(cells(), filename="t.h5ad")


def test_a_text_that_stands_for_many_is_read_up_to_the_limit():
    """HDF5 keeps texts in a heap, to which the cells of an array point."""

    def spoil(file):
        del file["var/gene"]
        file["var/gene"] = ["x" * 2**20, *"y" * 20]

    content = cells(spoil)
    pointer = re.search(rb"\x00\x00\x10\x00.{12}(?=\x01\x00\x00\x00)", content, re.DOTALL)
    stop = pointer.end()
    content = content[:stop] + 20 * pointer[0] + content[stop + 20 * 16 :]
    with pytest.raises(ValueError, match="it unpacks to more than the limit"):
        datasets.load(content, filename="t.h5ad", max_bytes=10 * 2**20)
    assert len(content) < 2**21
