"""Generators, pictures as points, and files: what is read, and what is refused and why."""

import io
import os
import struct
import zipfile
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from kdegraph import datasets
from PIL import Image
from scipy.ndimage import gaussian_filter


def csv_table(text, filename="t.csv"):
    return datasets.read(text.encode() if isinstance(text, str) else text, filename=filename)


def load_csv(text, **options):
    return datasets.load(text.encode() if isinstance(text, str) else text, filename="t.csv", **options)


def npy_bytes(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def npz_bytes(**arrays):
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def parquet_bytes(columns):
    stream = io.BytesIO()
    pa.parquet.write_table(pa.table(columns), stream)
    return stream.getvalue()


def picture_bytes(array, kind="PNG", mode=None, **options):
    image = Image.fromarray(array)
    stream = io.BytesIO()
    (image.convert(mode) if mode else image).save(stream, kind, **options)
    return stream.getvalue()


def png_header(width, height):
    """A PNG file that says it is huge, and stops there."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(b"\0" * 64))
    )


NOISY = np.random.default_rng(0).integers(0, 255, (40, 40, 3), dtype=np.uint8)


# Generators


@pytest.mark.parametrize("name", datasets.names())
@pytest.mark.parametrize("n", [1, 2, 3, 7, 500])
@pytest.mark.parametrize("noise", [None, 0, 0.3])
def test_exactly_n_points(name, n, noise):
    data = datasets.make(name, n=n, noise=noise, seed=3)
    assert data.X.shape[0] == data.n_points == n
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous
    assert np.isfinite(data.X).all()
    assert len(data.feature_names) == data.X.shape[1]
    assert data.name == name
    assert data.description.endswith(".")
    assert data.description == datasets.describe(name)
    assert data.sigma > 0
    if data.y is not None:
        assert data.y.shape == (n,)
        assert data.y.dtype == np.int64
        assert set(data.y) <= set(range(data.n_clusters))
        assert len(data.label_names) == data.n_clusters
        assert n < 500 or len(set(data.y)) == data.n_clusters


@pytest.mark.parametrize("name", datasets.names())
def test_the_seed_decides(name):
    first, again, other = (datasets.make(name, n=60, seed=seed) for seed in (5, 5, 2**60))
    np.testing.assert_array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize("name", datasets.names())
def test_noise_spreads_the_points(name):
    quiet, loud = (datasets.make(name, n=400, noise=noise, seed=0) for noise in (0.01, 20.0))
    assert loud.X.std() > 1.5 * quiet.X.std()


def test_the_papers_sets_come_first():
    assert datasets.names()[:3] == ("moons", "circles", "anisotropic")


def test_moons_lie_on_their_half_circles():
    data = datasets.make("moons", n=300, noise=0, seed=0)
    upper, lower = data.X[data.y == 0], data.X[data.y == 1]
    np.testing.assert_allclose(np.hypot(*upper.T), 1)
    np.testing.assert_allclose(np.hypot(lower[:, 0] - 1, lower[:, 1] - 0.5), 1)


def test_knn_falls_apart_on_clumps_and_the_kernel_graph_does_not():
    from kdegraph.baselines import full_graph, knn_graph
    from scipy.sparse.csgraph import connected_components

    data = datasets.make("clumps", n=1000, seed=0)
    n_components, _ = connected_components(knn_graph(data.X))
    assert n_components >= 30
    graph = full_graph(data.X, sigma=data.sigma)
    across = data.y[:, None] != data.y
    assert graph[across].sum() < 0.01 * graph.sum()
    n_components, _ = connected_components(np.where(across, 0, graph) > 1e-3)
    assert n_components == 2


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"name": "moon"}, ValueError, "unknown name 'moon'.*'moons'"),
        ({"name": 3}, TypeError, "name"),
        ({"n": 0}, ValueError, "n must be"),
        ({"n": 2.5}, ValueError, "n must be"),
        ({"noise": -1}, ValueError, "noise"),
        ({"noise": float("nan")}, ValueError, "noise"),
        ({"noise": "much"}, TypeError, "noise"),
        ({"noise": 1j}, TypeError, "noise"),
        ({"seed": -3}, ValueError, "seed"),
    ],
)
def test_make_refuses(arguments, error, message):
    with pytest.raises(error, match=message):
        datasets.make(**{"name": "moons", **arguments})


# Pictures


def test_pixels_follow_the_papers_protocol():
    image = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    data = datasets.image_points(image)
    blurred = np.stack([gaussian_filter(image[:, :, c] / 255, 1.0, mode="nearest") for c in range(3)], axis=2)
    assert data.X.shape == (600, 5)
    np.testing.assert_allclose(data.X[:, :3], blurred.reshape(-1, 3))
    np.testing.assert_allclose(data.X[:, 3].reshape(20, 30)[:, 7], np.arange(20) / 255)  # max(20, 30, 255)
    np.testing.assert_allclose(data.X[:, 4].reshape(20, 30)[3], np.arange(30) / 255)
    assert data.shape == (20, 30)
    np.testing.assert_array_equal(data.image, image)
    assert data.sigma == 0.2


def test_positions_of_a_large_picture_are_divided_by_its_longer_side():
    data = datasets.image_points(np.zeros((300, 400)), max_pixels=None)
    assert data.n_points == 120_000
    assert data.X[:, 3].max() == pytest.approx(299 / 400)
    assert data.X[:, 4].max() == pytest.approx(399 / 400)


@pytest.mark.parametrize("shape", [(100, 200), (1, 5000), (5000, 1), (7, 900), (321, 481), (30, 30)])
@pytest.mark.parametrize("max_pixels", [1, 10, 1000, 20_000])
def test_scaling_down_keeps_within_the_limit_and_labels_scale_back(shape, max_pixels):
    data = datasets.image_points(np.random.default_rng(0).random(shape), max_pixels=max_pixels, blur=0)
    assert 1 <= data.n_points <= max_pixels or data.n_points == np.prod(shape) <= max_pixels
    assert data.n_points == np.prod(data.shape)
    labels = data.label_image(np.arange(data.n_points))
    assert labels.shape == shape
    assert (np.diff(labels, axis=0) >= 0).all()
    assert (np.diff(labels, axis=1) >= 0).all()
    assert set(labels.ravel()) == set(range(data.n_points))


def test_scaling_down_averages():
    image = np.kron(np.arange(8).reshape(2, 4) / 8, np.ones((10, 10)))
    data = datasets.image_points(image, max_pixels=8, blur=0)
    assert data.shape == (2, 4)
    np.testing.assert_allclose(data.X[:, 0], np.arange(8) / 8, atol=1e-6)
    np.testing.assert_array_equal(data.label_image(np.arange(8)), np.kron(np.arange(8).reshape(2, 4), np.ones((10, 10))))


def test_kinds_of_pictures_give_the_same_points():
    rgb = np.random.default_rng(0).integers(0, 256, (9, 11, 3), dtype=np.uint8)
    expected = datasets.image_points(rgb).X
    np.testing.assert_allclose(datasets.image_points(rgb / 255).X, expected)
    np.testing.assert_allclose(datasets.image_points(rgb.astype(int)).X, expected)
    np.testing.assert_allclose(datasets.image_points(rgb.astype(np.uint16) * 257).X, expected)
    np.testing.assert_allclose(datasets.image_points(Image.fromarray(rgb)).X, expected)
    opaque = np.concatenate([rgb, np.full((9, 11, 1), 255, np.uint8)], axis=2)
    np.testing.assert_allclose(datasets.image_points(opaque).X, expected)
    gray = rgb[:, :, 0]
    expected = datasets.image_points(np.repeat(gray[:, :, None], 3, axis=2)).X
    for array in (gray, gray[:, :, None], np.stack([gray, np.full_like(gray, 255)], axis=2)):
        np.testing.assert_allclose(datasets.image_points(array).X, expected)


def test_transparent_parts_are_white():
    image = np.zeros((4, 4, 4), np.uint8)
    image[:2, :, 3] = 255
    data = datasets.image_points(image, blur=0)
    np.testing.assert_array_equal(data.X[:8, :3], 0)
    np.testing.assert_array_equal(data.X[8:, :3], 1)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros(5), r"shape .*got \(5,\)"),
        (np.zeros((4, 4, 5)), r"got \(4, 4, 5\)"),
        (np.zeros((0, 4, 3)), "no pixels"),
        (np.full((4, 4), np.nan), "floating-point colours"),
        (np.full((4, 4), 200.0), "divide by 255"),
        (np.full((4, 4), -1), "whole numbers must lie"),
        (np.full((4, 4), "a"), "dtype"),
        (np.full((4, 4), 1j), "dtype"),
    ],
)
def test_pictures_that_are_none(image, message):
    with pytest.raises(ValueError, match=f"image .*{message}"):
        datasets.image_points(image)


@pytest.mark.parametrize(
    ("options", "error"),
    [({"blur": -1}, ValueError), ({"blur": float("nan")}, ValueError), ({"blur": "x"}, TypeError), ({"max_pixels": 0}, ValueError)],
)
def test_image_points_refuses(options, error):
    with pytest.raises(error, match=next(iter(options))):
        datasets.image_points(np.zeros((4, 4)), **options)


def test_labels_of_other_data_are_no_picture():
    data = datasets.make("moons", n=5)
    with pytest.raises(ValueError, match="moons are not the pixels"):
        data.label_image(np.zeros(5))
    with pytest.raises(ValueError, match=r"labels must have shape \(16,\)"):
        datasets.image_points(np.zeros((4, 4))).label_image(np.zeros(5))


@pytest.mark.parametrize("name", datasets.photo_names())
def test_photographs(name):
    data = datasets.photo(name, max_pixels=2000)
    assert 1900 <= data.n_points <= 2000
    assert data.image.shape == (427, 640, 3)
    assert data.X[:, :3].std() > 0.1
    assert data.n_clusters >= 2
    with pytest.raises(ValueError, match="unknown name"):
        datasets.photo(name + "s")


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_png_of_every_mode(mode):
    array = np.zeros((6, 8, 3), np.uint8)
    array[:, 4:] = 255
    data = picture_bytes(array[:, :, 0].astype(np.uint16) * 257) if mode == "I;16" else picture_bytes(array, mode=mode)
    points = datasets.load(data, filename="a.PNG", blur=0)
    np.testing.assert_allclose(points.X[:, :3], array.reshape(-1, 3) / 255)


def test_palette_with_a_transparent_colour():
    image = Image.fromarray(np.zeros((4, 4), np.uint8), mode=None).convert("P")
    stream = io.BytesIO()
    image.save(stream, "PNG", transparency=0)
    np.testing.assert_array_equal(datasets.load(stream.getvalue(), filename="a.png").X[:, :3], 1)


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_jpeg(mode):
    array = np.full((16, 24, 3), 128, np.uint8)
    points = datasets.load(picture_bytes(array, "JPEG", mode), filename="a.jpeg")
    assert points.shape == (16, 24)
    np.testing.assert_allclose(points.X[:, :3], 0.5, atol=0.02)


def test_photographs_are_turned_upright():
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    data = picture_bytes(np.zeros((10, 20, 3), np.uint8), "JPEG", exif=exif)
    assert datasets.load(data, filename="a.jpg").shape == (20, 10)


@pytest.mark.parametrize(
    ("data", "filename", "message"),
    [
        (png_header(100_000, 100_000), "a.png", "too large"),
        (png_header(12_000, 12_000), "a.png", "too large: 12,000 x 12,000"),
        (png_header(10_001, 10_000), "a.png", "too large: 10,001 x 10,000"),
        (png_header(50, 50), "a.png", "cannot be decoded"),
        (picture_bytes(NOISY)[:-2000], "a.png", "cannot be decoded"),
        (
            picture_bytes(NOISY, "JPEG")[:-900],
            "a.jpg",
            "cannot be decoded",
        ),
        (b"\x89PNG\r\n\x1a\n", "a.png", "not a readable PNG"),
        (b"\x89PNG\r\n\x1a\n" + b"junk" * 100, "a.png", "not a readable PNG"),
        (b"\xff\xd8\xff" + b"junk" * 100, "a.jpg", "not a readable JPEG"),
        (b"GIF89a" + b"\0" * 100, "a.png", "does not hold what its name says: by its content it is a GIF"),
        (picture_bytes(np.zeros((4, 4, 3), np.uint8)), "a.jpg", "a PNG picture"),
        (b"some words", "a.png", "text or something unknown"),
    ],
)
def test_bad_pictures_are_refused(data, filename, message):
    with pytest.raises(ValueError, match=message):
        datasets.load(data, filename=filename)


def test_columns_do_not_go_with_a_picture():
    with pytest.raises(ValueError, match="no columns or labels"):
        datasets.load(picture_bytes(np.zeros((4, 4, 3), np.uint8)), filename="a.png", columns=["x"])


# Tables of text


def test_csv_with_a_header_and_labels():
    data = load_csv("a,b,label\n1,2.5,cat\n3,4,dog\n5,6,cat\n")
    np.testing.assert_array_equal(data.X, [[1, 2.5], [3, 4], [5, 6]])
    np.testing.assert_array_equal(data.y, [0, 1, 0])
    assert data.label_names == ("cat", "dog")
    assert data.feature_names == ("a", "b")
    assert data.n_clusters == 2
    assert data.name == "t.csv"
    np.testing.assert_array_equal(data.rows, [0, 1, 2])


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1.5,-2\n3,4e2\n",
        "a;b\n1.5;-2\n3;4e2\n",
        "a;b\n1,5;-2\n3;4e2\n",
        "a\tb\n1.5\t-2\n3\t4e2\n",
        "a|b\n1.5|-2\n3|4e2\n",
        "a b\n1.5 -2\n3 4e2\n",
        "a,b\r\n1.5,-2\r\n3,4e2\r\n",
        "a,b\n\n1.5,-2\n3,4e2",
        '"a","b"\n"1.5","-2"\n"3","4e2"\n',
        "# a,b\n1.5,-2\n3,4e2\n",
        "\ufeffa,b\n1.5,-2\n3,4e2\n",
        "a , b\n 1.5 , -2\n 3 , 4e2\n",
    ],
)
def test_separators_quotes_and_marks(text):
    data = load_csv(text)
    assert data.feature_names == ("a", "b")
    np.testing.assert_array_equal(data.X, [[1.5, -2], [3, 400]])


def test_tsv_may_have_commas_in_its_cells():
    data = datasets.load(b"x\ttown\n1\tBonn, West\n2\tBonn\n", filename="t.tsv")
    np.testing.assert_array_equal(data.X, [[1], [2]])


@pytest.mark.parametrize(
    ("text", "names", "n"),
    [
        ("1,2\n3,4\n", ("x1", "x2"), 2),
        ("1\n2\n3\n", ("x1",), 3),
        ("value\n1\n2\n", ("value",), 2),
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n6.0,2.0,other\n", ("x1", "x2"), 3),
        ("0,1\n0.5,1.5\n2.5,3.5\n", ("0", "1"), 2),  # names as a table without names is saved
        ("0,1\n1,0\n2,5\n", ("x1", "x2"), 3),
        (",a,b\n0,5,6\n1,7,8\n", ("a", "b"), 2),  # with the index
        ("1.5,2\n", ("x1", "x2"), 1),
        ("a,a\n1,2\n", ("a", "a (2)"), 1),
        ("x,y\n1,0\n2,1\n3,1\n", ("x", "y"), 3),  # y is a coordinate here
    ],
)
def test_headers(text, names, n):
    data = load_csv(text)
    assert data.feature_names == names
    assert data.n_points == n


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("a,LABEL\n1,2\n3,4\n", "LABEL"),
        ("a,Class\n1,u\n3,v\n", "Class"),
        ("a,b,y\n1,2,0\n3,4,1\n", "y"),
        ("a,target\n1,0.5\n3,0.25\n", None),  # a measurement
        ("label\n1\n2\n", None),  # nothing else to cluster
        ("a,b\n1,2\n", None),
        ("y,cluster\n1,2\n3,4\n", "cluster"),
    ],
)
def test_which_label_is_suggested(text, label):
    assert csv_table(text).suggested_label == label


def test_a_user_interface_can_ask_first():
    table = csv_table("id,when,x,note,label\n7,2020-01-01,1.5,hello,0\n9,2020-01-02,2.5,world,1\n")
    assert table.kind == "table"
    assert table.n_rows == 2
    assert [(c.name, c.kind, c.numeric) for c in table.columns] == [
        ("id", "number", True),
        ("when", "other", False),
        ("x", "number", True),
        ("note", "text", False),
        ("label", "number", True),
    ]
    assert table.suggested_features == ("id", "x")
    assert table.suggested_label == "label"
    data = table.to_dataset(["x", 0], label="note")
    np.testing.assert_array_equal(data.X, [[1.5, 7], [2.5, 9]])
    assert data.label_names == ("hello", "world")
    assert table.to_dataset("x", label=None).y is None
    assert table.to_dataset(["x", "label"]).y is None  # a feature now
    assert table.to_dataset(["2"]).feature_names == ("x",)


@pytest.mark.parametrize(
    ("columns", "label", "message"),
    [
        (["z"], "auto", r"columns: there is no column 'z'; the columns are 'id'"),
        ([9], "auto", "there is no column 9"),
        ([-1], "auto", "there is no column -1"),
        (["note"], "auto", "column 'note' holds text"),
        (["when"], "auto", "holds neither numbers nor text"),
        ([], "auto", "no column of numbers"),
        (None, "z", "label: there is no column 'z'"),
        (None, "when", "label: column 'when'"),
    ],
)
def test_columns_that_cannot_be_chosen(columns, label, message):
    table = csv_table("id,when,note\n7,2020-01-01,hello\n9,2020-01-02,world\n")
    with pytest.raises(ValueError, match=message):
        table.to_dataset(columns, label)


@pytest.mark.parametrize("cell", ["", "NaN", "NA", "null", "?"])
def test_missing_cells_are_named_or_left_out(cell):
    text = f"a,b,label\n1,2,u\n3,{cell},v\n5,6,v\n"
    with pytest.raises(ValueError, match=r"row 2, column 'b' is missing .*dropna"):
        load_csv(text)
    data = load_csv(text, dropna=True)
    np.testing.assert_array_equal(data.X, [[1, 2], [5, 6]])
    np.testing.assert_array_equal(data.rows, [0, 2])
    np.testing.assert_array_equal(data.y, [0, 1])
    np.testing.assert_array_equal(load_csv(text, columns=["a"]).X, [[1], [3], [5]])


def test_a_typing_error_does_not_remove_a_column():
    with pytest.raises(ValueError, match=r"row 3, column 'b' is not a number: 'l2'"):
        load_csv("a,b\n1,2\n3,4\n5,l2\n")
    with pytest.raises(ValueError, match="row 1, column 'a' is infinite"):
        load_csv("a,b\ninf,2\n3,4\n")


def test_a_missing_label_is_a_class_of_its_own():
    data = load_csv("a,label\n1,u\n2,\n3,v\n")
    np.testing.assert_array_equal(data.y, [0, 2, 1])
    assert data.label_names == ("u", "v", "(missing)")
    data = load_csv("a,label\n1,7\n2,\n3,5\n")
    np.testing.assert_array_equal(data.y, [1, 2, 0])
    assert data.label_names == ("5", "7", "(missing)")


def test_types_are_not_guessed_from_the_first_megabyte():
    text = "a,b\n" + "1,2\n" * 400_000 + "1.5,2\n"
    data = load_csv(text)
    assert data.n_points == 400_001
    assert data.X[-1, 0] == 1.5


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_encodings(encoding):
    data = load_csv("größe,label\n1,Zürich\n2,Genève\n".encode(encoding))
    assert data.feature_names == ("größe",)
    assert data.label_names == ("Genève", "Zürich")


def test_formulas_stay_text():
    table = csv_table("a,b\n1,=cmd|' /C calc'!A0\n2,=1+1\n")
    assert [c.kind for c in table.columns] == ["number", "text"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b" \n \n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"a,b\n", "no rows"),
        (b"hello world\nthis is prose, is it not\n", "no column of numbers|cannot be read"),
        (b"words\nmore\nwords\n", "no column of numbers"),
        (b"a,b\n1,2\n3,4,5\n", "cannot be read as a table"),
        (b"a,b\nu,v\n", "no column of numbers"),
        (b"a,b\n1,2\n\0\0,3\n", "zero bytes"),
        (b"\xff\xfea\x00,\x00b", "UTF-16"),
        (b"PAR1" + b"x" * 40, "does not hold what its name says: by its content it is a Parquet"),
        (b"%PDF-1.4 ...", "a PDF document"),
        (picture_bytes(np.zeros((4, 4, 3), np.uint8)), "a PNG picture"),
        (
            (",".join(f"c{i}" for i in range(10_000)) + "\n" + ",".join("1" for _ in range(10_000)) + "\n").encode(),
            "10,000 columns, the limit is 4,096",
        ),
        (b"a,b\nNaN,NaN\nNaN,1\n", "row 1"),
    ],
)
def test_bad_csv_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        load_csv(data)


def test_dropping_all_rows_is_an_error():
    with pytest.raises(ValueError, match="no row in which"):
        load_csv("a,b\n1,\n,2\n", dropna=True)


# Parquet


def test_parquet():
    columns = {
        "x": np.array([1.5, 2.5, 3.5], np.float32),
        "n": [1, 2, None],
        "flag": [True, False, True],
        "name": pa.array(["u", "v", "u"]).dictionary_encode(),
        "list": [[1], [2], [3]],
        "__index_level_0__": [0, 1, 2],
    }
    table = datasets.read(parquet_bytes(columns), filename="t.parquet")
    assert [c.name for c in table.columns] == ["x", "n", "flag", "name", "__index_level_0__"]
    assert table.suggested_features == ("x", "n", "flag")
    data = table.to_dataset(["x", "flag"], "name")
    np.testing.assert_array_equal(data.X, [[1.5, 1], [2.5, 0], [3.5, 1]])
    np.testing.assert_array_equal(data.y, [0, 1, 0])
    with pytest.raises(ValueError, match="row 3, column 'n' is missing"):
        table.to_dataset()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"PAR1junkjunkPAR1", "cannot be read as Parquet"),
        (parquet_bytes({"x": [1.0]})[:-6], "cannot be read as Parquet"),
        (parquet_bytes({"x": np.zeros(0)}), "no rows"),
        (parquet_bytes({f"c{i}": [0] for i in range(5000)}), "5,000 columns"),
        (parquet_bytes({"x": np.zeros(1_000_000)}), "unpacks to 7.6 MiB, the limit is 4.0 MiB"),
        (b"a,b\n1,2\n", "text or something unknown"),
    ],
)
def test_bad_parquet_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        datasets.load(data, filename="t.parquet", max_bytes=2**22)


# NPY and NPZ


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int16, np.uint8, bool, ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(dtype, order):
    array = np.asarray(np.arange(12).reshape(4, 3) % 2 if dtype is bool else np.arange(12).reshape(4, 3), dtype=dtype, order=order)
    data = datasets.load(npy_bytes(array), filename="t.npy")
    np.testing.assert_array_equal(data.X, array.astype(float))
    assert data.feature_names == ("x1", "x2", "x3")
    assert data.y is None


def test_npy_of_one_and_of_three_dimensions():
    np.testing.assert_array_equal(datasets.load(npy_bytes(np.arange(3.0)), filename="t.npy").X, [[0], [1], [2]])
    picture = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    data = datasets.load(npy_bytes(picture), filename="t.npy", blur=0)
    assert data.shape == (5, 7)
    np.testing.assert_allclose(data.X[:, :3], picture.reshape(-1, 3) / 255)


def test_npy_with_a_header_that_lies_allocates_nothing():
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000), }\n"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + b"\0" * 80
    with pytest.raises(ValueError, match=r"promises 7276\.0 TiB of data, 80 bytes are there"):
        datasets.load(data, filename="t.npy")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"1,2\n3,4\n", "text or something unknown"),
        (npy_bytes(np.array([{"a": 1}], dtype=object), allow_pickle=True), "pickled"),
        (npy_bytes(np.zeros((4, 3)))[:-8], "cut off"),
        (npy_bytes(np.zeros((0, 3))), "is empty"),
        (npy_bytes(np.zeros((4, 0))), "is empty"),
        (npy_bytes(np.array(3.0)), r"shape \(\)"),
        (npy_bytes(np.zeros((2, 2, 2))), r"shape \(2, 2, 2\)"),
        (npy_bytes(np.zeros((2, 2), complex)), "complex"),
        (npy_bytes(np.array([["a", "b"]])), "holds text"),
        (npy_bytes(np.zeros(3, [("a", float)])), "numbers are needed"),
        (npy_bytes(np.array(["2020-01-01"], "datetime64[D]")), "numbers are needed"),
        (npy_bytes(np.zeros((2, 10_000))), "10,000 columns, the limit is 4,096"),
        (npy_bytes(np.array([[1.0, np.nan]])), "row 1, column 'x2' is missing"),
        (npy_bytes(np.array([[np.inf, 1.0]])), "row 1, column 'x1' is infinite"),
        (b"\x93NUMPY\x01\x00\x10\x00" + b"__import__('os')", "damaged NPY header"),
        (b"\x93NUMPY\x09\x00" + b"\0" * 20, "not an NPY array|version"),
        (b"\x93NUMPY", "not an NPY array"),
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
    ):
        data = datasets.load(npz_bytes(**arrays), filename="t.npz")
        np.testing.assert_array_equal(data.X, X)
        np.testing.assert_array_equal(data.y, [0, 0, 1, 1, 1, 0])
        assert data.label_names == ("3", "5")
    assert datasets.load(npz_bytes(anything=X), filename="t.npz").y is None
    data = datasets.load(npz_bytes(a=X[:, 0], b=X[:, 1], label=y), filename="t.npz")
    np.testing.assert_array_equal(data.X, X)
    assert data.y is not None


def bomb():
    """30 MB of zeros in 30 KB."""
    return npz_bytes(X=np.zeros((2_000_000, 2)))


def lying_archive():
    """An archive whose directory says that a member is small."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", npy_bytes(np.zeros((2_000_000, 2))))
    return stream.getvalue().replace(struct.pack("<I", 32_000_128), struct.pack("<I", 300))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (bomb(), "unpacks to 30.5 MiB, the limit is 10.0 MiB"),
        (lying_archive(), "damaged"),
        (npz_bytes(a=np.zeros((3, 2)), b=np.zeros((3, 2))), "several arrays"),
        (npz_bytes(a=np.zeros(3), b=np.zeros(4)), "holds no points"),
        (npz_bytes(X=np.zeros((2, 2, 2))), "holds no points"),
        (npz_bytes(), "no arrays|empty"),
        (npz_bytes(a=np.array([])), "empty"),
        (npz_bytes(X=np.array([[None]], dtype=object)), "pickled"),
        (bomb()[:-40], "damaged"),
        (b"PK\x03\x04" + b"junk" * 30, "damaged"),
        (b"words", "text or something unknown"),
    ],
)
def test_bad_npz_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        datasets.load(data, filename="t.npz", max_bytes=10 * 2**20)


def test_npz_with_damaged_data():
    data = bytearray(npz_bytes(X=np.random.default_rng(0).random((50, 2))))
    data[200:220] = b"\0" * 20
    with pytest.raises(ValueError, match=r"damaged|cannot be unpacked"):
        datasets.load(bytes(data), filename="t.npz")


# Files


def test_paths_open_files_and_bytes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    expected = [[1, 2], [3, 4]]
    np.testing.assert_array_equal(datasets.load(path).X, expected)
    np.testing.assert_array_equal(datasets.load(str(path)).X, expected)
    with path.open("rb") as stream:
        np.testing.assert_array_equal(datasets.load(stream).X, expected)
    with path.open() as stream:
        np.testing.assert_array_equal(datasets.load(stream).X, expected)
    np.testing.assert_array_equal(datasets.load(path.read_bytes()).X, expected)  # text without a name is CSV
    np.testing.assert_array_equal(datasets.load(io.BytesIO(npy_bytes(np.array(expected)))).X, expected)
    assert datasets.read(picture_bytes(np.zeros((4, 4, 3), np.uint8))).kind == "image"


def test_paths_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError):
        datasets.load(tmp_path / "none.csv")
    with pytest.raises(ValueError, match=r"unknown type '\.txt'; files can be \.csv"):
        datasets.load(tmp_path / "none.txt")
    with pytest.raises(ValueError, match="without an extension"):
        datasets.load(b"1,2", filename="words")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ValueError, match="is a folder"):
        datasets.load(tmp_path / "folder.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(ValueError, match="not a regular file"):
        datasets.load(tmp_path / "pipe.csv")
    with pytest.raises(TypeError, match="source must be a path, bytes or an open file, got int"):
        datasets.load(3)
    with pytest.raises(ValueError, match="content it is a PDF"):
        datasets.load(b"%PDF-1.4")


def test_the_size_is_checked_before_reading(tmp_path):
    path = tmp_path / "big.npy"
    with path.open("wb") as stream:
        stream.truncate(2**40)  # sparse: takes no space
    with pytest.raises(ValueError, match=r"big.npy is too large: 1.0 TiB, the limit is 1.0 GiB"):
        datasets.load(path)
    with pytest.raises(ValueError, match="too large: more than the limit of 10 bytes"):
        datasets.load(io.BytesIO(b"1,2\n" * 100), filename="t.csv", max_bytes=10)


def test_accepted_extensions():
    assert set(datasets.accepted()) >= {".csv", ".tsv", ".parquet", ".npy", ".npz", ".png", ".jpg", ".jpeg"}
    assert datasets.file_type("A.JPG") == "jpeg"


def test_damaged_files_are_refused_or_read_but_never_crash():
    rng = np.random.default_rng(0)
    X = rng.random((30, 3))
    files = {
        "a.npy": npy_bytes(X),
        "a.npz": npz_bytes(X=X, y=np.arange(30)),
        "a.parquet": parquet_bytes({"x": X[:, 0], "s": ["u", "v"] * 15}),
        "a.png": picture_bytes(NOISY),
        "a.jpg": picture_bytes(NOISY, "JPEG"),
        "a.csv": b"a,b,label\n" + b"\n".join(b"%f,%f,u" % tuple(row[:2]) for row in X),
    }
    refused = 0
    for _ in range(100):
        for name, data in files.items():
            damaged = bytearray(data)
            for position in rng.integers(len(data), size=3):
                damaged[position : position + rng.integers(3)] = rng.bytes(rng.integers(4))
            try:
                assert np.isfinite(datasets.load(bytes(damaged), filename=name, max_bytes=2**24).X).all()
            except ValueError:
                refused += 1
    assert refused > 100
