"""Rows that are pictures: how they are known, and where the picture of a point is seen."""

import base64
import io

import numpy as np
import pytest
from bokeh.events import MouseLeave, MouseMove
from explorer_actions import choose, explorer_of_file, put, settle
from explorer_objects import happen, source, text, view
from files import npy_bytes
from kdegraph import datasets
from kdegraph.datasets import Dataset
from kdegraph_explorer.pictures import PATCH, picture_address, picture_of, pixels_of
from kdegraph_explorer.views.point_note import THUMBNAIL
from PIL import Image
from sklearn.datasets import load_digits

DIGITS = load_digits(as_frame=True)  # the pixels first, the label last; some are always 0


def named(names, n=5):
    """A data set with columns of these names."""
    X = np.random.default_rng(0).integers(0, 17, (n, len(names))).astype(float)
    return Dataset(X, feature_names=tuple(names))


def numbers(first, count, words):
    return [words.format(i) for i in range(first, first + count)]


@pytest.mark.parametrize(
    ("names", "shape"),
    [
        ([f"pixel_{i}_{j}" for i in range(8) for j in range(8)], (8, 8)),
        ([f"{i}x{j}" for i in range(1, 5) for j in range(1, 8)], (4, 7)),
        ([f"PX r{i} c{j}" for i in range(5) for j in range(4)], (5, 4)),
        (numbers(0, 784, "pixel{}"), (28, 28)),
        (numbers(1, 16, "px_{}"), (4, 4)),
        (numbers(1, 64, "x{}"), (8, 8)),
        (["class", *numbers(0, 16, "Pixel {}"), "weight"], (4, 4)),
        ([f"pixel_{i}_{j}" for i in range(8) for j in range(8)][1:], None),
        ([f"{i}x{j}" for i in range(3) for j in range(8)], None),
        ([f"{year}-{month:02}" for year in range(2020, 2024) for month in range(1, 13)], None),
        ([f"size {i}x{j}" for i in range(8) for j in range(8)], None),
        (numbers(0, 17, "pixel{}"), None),
        (numbers(0, 9, "pixel{}"), None),
        (["pixel01", *numbers(1, 15, "pixel{}")], None),  # two of the same place
        ([*numbers(0, 15, "pixel{}"), "pixel99"], None),
        (numbers(1, 49, "x{}"), None),
        (["x", "y"], None),
    ],
)
def test_pixels_are_known_by_the_names_of_their_columns(names, shape):
    found = pixels_of(named(names))
    assert (None if found is None else found.shape) == shape


def test_columns_without_names_are_pixels_if_their_values_can_be():
    X = named(numbers(1, 64, "x{}")).X
    assert pixels_of(Dataset(X.copy())) is not None
    for value in (-1.0, 256.0, 0.5, np.nan, np.inf):
        X[3, 7] = value
        assert pixels_of(Dataset(X.copy())) is None


def test_a_picture_has_its_pixels_in_their_places():
    rng = np.random.default_rng(1)
    pictures = rng.random((6, 4, 7))
    pictures[0, 0, 0], pictures[5, 3, 6] = -1, 3  # black and white
    pictures[2, 1, 2] = np.nan
    order = rng.permutation(28)
    names = np.array([f"pixel_{i}_{j}" for i in range(4) for j in range(7)])
    data = Dataset(pictures.reshape(6, 28)[:, order], feature_names=tuple(names[order]))
    for point in range(6):
        gray = np.round(255 * (np.nan_to_num(pictures[point], nan=-1) + 1) / 4)
        np.testing.assert_array_equal(picture_of(data, point), np.stack([gray] * 3, axis=2))
    part = data.subset([4, 2])
    np.testing.assert_array_equal(picture_of(part, 1)[1, 2], [0, 0, 0])
    np.testing.assert_array_equal(
        picture_of(named(numbers(0, 16, "px{}"), n=1), 0).shape, (4, 4, 3)
    )
    data = Dataset(np.full((3, 16), 7.0), feature_names=tuple(numbers(0, 16, "px{}")))
    assert not picture_of(data, 1).any()
    # An array of pictures is known as such.
    content = npy_bytes(DIGITS.images[:40])
    data = datasets.load(content, filename="digits.npy")
    np.testing.assert_array_equal(picture_of(data, 17), expected(17))


def test_a_photograph_shows_what_is_around_the_pixel():
    rng = np.random.default_rng(2)
    image = rng.integers(0, 256, (40, 60, 3)).astype(np.uint8)
    data = datasets.image_points(image)
    half = PATCH // 2
    for row, column in ((20, 30), (0, 0), (39, 5)):
        found = picture_of(data, row * 60 + column)
        assert found.shape == (PATCH, PATCH, 3)
        np.testing.assert_array_equal(found[half, half], image[row, column])
    np.testing.assert_array_equal(picture_of(data, 20 * 60 + 30), image[10:31, 20:41])
    smaller = datasets.image_points(image, max_pixels=600)  # 20 by 30 of them
    assert smaller.shape == (20, 30)
    np.testing.assert_array_equal(picture_of(smaller, 10 * 30 + 15)[half, half], image[21, 31])
    assert picture_of(datasets.make("moons", n=100, seed=0), 3) is None


@pytest.fixture(scope="module")
def digits():
    """A CSV file of 300 digits."""
    return DIGITS.frame[:300].to_csv(index=False).encode()


@pytest.fixture
def explorer(explore, digits):
    explorer = explorer_of_file(explore, digits)
    choose(explorer.session, n_clusters=3)
    settle(explorer)
    return explorer


def opened(address):
    """The picture of an address."""
    content = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    return np.asarray(Image.open(io.BytesIO(content)))


def expected(row):
    """The picture of a digit."""
    return np.stack([np.round(255 * DIGITS.images[row] / 16)] * 3, axis=2)


def test_hovering_shows_the_picture_and_no_pixels_as_words(explorer):
    figures, point = view(explorer, "points").figures(), 17
    for figure in figures:
        assert source(figure, "thumbnail").data["image"] == []
    x, y = (source(figure, "points").data[axis][point] for axis in "xy")
    happen(figure, MouseMove, x=x, y=y)
    settle(explorer)
    for figure in figures:
        (packed,) = source(figure, "thumbnail").data["image"]
        shown = packed[::-1].copy().view(np.uint8).reshape(8, 8, 4)
        np.testing.assert_array_equal(shown[:, :, :3], expected(point))
        note = figure.select_one({"name": "note"})
        assert f"target: {DIGITS.target[point]}" in note.text.text
        assert "pixel" not in note.text.text
        assert max(note.padding["top"], note.padding["bottom"]) > THUMBNAIL
    put(explorer, color="column:pixel_3_4")
    happen(figure, MouseMove, x=x, y=y + 1e6)
    settle(explorer)
    assert not note.visible
    happen(figure, MouseMove, x=x, y=y)
    settle(explorer)
    assert f"pixel_3_4: {DIGITS.images[point][3, 4]:.0f}" in note.text.text
    happen(figure, MouseLeave)
    settle(explorer)
    assert source(figure, "thumbnail").data["image"] == []


def test_the_table_of_rows_and_one_point_show_pictures(explorer):
    put(explorer, view="rows")
    listed = view(explorer, "rows").list
    assert listed.names[:4] == ["Row", "Cluster", "target", "pixel_0_0"]
    assert len(listed.page) == 100 < listed.found
    for row in listed.page[::33]:
        np.testing.assert_array_equal(opened(row["picture"]), expected(row["point"]))
    # One point shows its picture and those of its neighbors.
    state = explorer.session.state
    state.selection = np.array([17])
    put(explorer, view="point")
    content = text(view(explorer, "point"), "kg-neighbors")
    assert content.startswith(f'<p><img src="{picture_address(state.shown, 17)}" alt="">')
    neighbors = state.outcome("knn").adjacency[[17]].indices
    assert any(picture_address(state.shown, int(point)) in content for point in neighbors)
