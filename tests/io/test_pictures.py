"""Turn pictures into points, and refuse bad pictures with a reason."""

import numpy as np
import pytest
from files import NOISY, picture_bytes, png_header
from kdegraph import datasets, estimate_sigma
from PIL import Image
from scipy.ndimage import gaussian_filter


@pytest.mark.parametrize(("shape", "divisor"), [((20, 30), 255), ((300, 400), 400)])
def test_pixels_follow_the_papers_protocol(shape, divisor):
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    data = datasets.image_points(image, color="rgb", blur=1, max_pixels=None)
    blurred = gaussian_filter(image / 255, (1, 1, 0), mode="nearest")
    np.testing.assert_allclose(data.X[:, :3], blurred.reshape(-1, 3))
    places = np.indices(shape).reshape(2, -1).T / divisor
    np.testing.assert_allclose(data.X[:, 3:], places)
    assert data.shape == shape
    np.testing.assert_array_equal(data.image, image)
    assert data.feature_names == ("red", "green", "blue", "row", "column")
    assert data.sigma == 0.2


def test_pixels_are_colors_that_people_see_and_places():
    """The values of L*, a* and b* are those of the CSS Color specification, for D65."""
    image = np.array(
        [[[255, 255, 255], [0, 0, 0], [255, 0, 0]], [[0, 128, 0], [0, 0, 255], [9] * 3]]
    )
    data = datasets.image_points(image, blur=0)
    white, black, gray = [100, 0, 0], [0, 0, 0], [2.471, 0, 0]
    red, green = [53.237, 80.090, 67.203], [46.228, -51.699, 49.897]
    blue = [32.301, 79.195, -107.855]
    expected = [white, black, red, green, blue, gray]
    np.testing.assert_allclose(100 * data.X[:, :3], expected, atol=0.02)
    np.testing.assert_allclose(data.X[:, 3], np.repeat([0, 1], 3) / 6)
    np.testing.assert_allclose(data.X[:, 4], np.tile([0, 1, 2], 2) / 6)
    assert data.feature_names == ("L*", "a*", "b*", "row", "column")


@pytest.mark.parametrize(("longer", "blur"), [(48, 0.3), (480, 3.0), (600, 3.0)])
def test_small_pictures_are_blurred_less(longer, blur):
    image = np.random.default_rng(0).random((20, longer))
    usual, given = (datasets.image_points(image, blur=one).X for one in (None, blur))
    np.testing.assert_allclose(usual, given, atol=1e-12)
    assert np.abs(usual - datasets.image_points(image, blur=0.9 * blur).X).max() > 1e-6


def test_sigma_of_a_picture_depends_on_the_picture_and_not_on_its_resolution():
    coarse, fine = (datasets.photo("china", max_pixels=n) for n in (15_000, 150_000))
    assert coarse.sigma == pytest.approx(fine.sigma, rel=0.1)
    assert estimate_sigma(coarse.X, seed=0) > 1.5 * estimate_sigma(fine.X, seed=0)
    faint = datasets.image_points(0.4 + coarse.image / 255 / 5).sigma
    assert faint < 0.7 * datasets.image_points(coarse.image / 255).sigma


@pytest.mark.parametrize(
    "shape", [(100, 200), (1, 5000), (5000, 1), (7, 900), (321, 481), (30, 30)]
)
def test_scaling_down_keeps_within_the_limit_and_labels_scale_back(shape):
    image = np.random.default_rng(0).random(shape)
    for max_pixels in (1, 10, 1000, 20_000):
        data = datasets.image_points(image, max_pixels=max_pixels, blur=0)
        assert 1 <= data.n_points <= max_pixels
        assert data.n_points == np.prod(data.shape)
        labels = data.label_image(np.arange(data.n_points))
        assert labels.shape == shape
        assert (np.diff(labels, axis=0) >= 0).all()
        assert (np.diff(labels, axis=1) >= 0).all()
        assert set(labels.ravel()) == set(range(data.n_points))


def test_scaling_down_averages():
    image = np.kron(np.arange(8).reshape(2, 4) / 8, np.ones((10, 10)))
    data = datasets.image_points(image, color="rgb", max_pixels=8, blur=0)
    assert data.shape == (2, 4)
    np.testing.assert_allclose(data.X[:, 0], np.arange(8) / 8, atol=1e-6)
    np.testing.assert_array_equal(
        data.label_image(np.arange(8)), np.kron(np.arange(8).reshape(2, 4), np.ones((10, 10)))
    )


def test_kinds_of_pictures_give_the_same_points():
    rgb = NOISY
    gray = rgb[:, :, :1]
    opaque = np.full_like(gray, 255)
    whole = [rgb / 255, rgb.astype(int), rgb.astype(np.uint16) * 257, Image.fromarray(rgb)]
    for expected, images in (
        (rgb, [*whole, np.dstack([rgb, opaque])]),
        (np.repeat(gray, 3, axis=2), [gray, gray[:, :, 0], np.dstack([gray, opaque])]),
    ):
        points = datasets.image_points(expected).X
        for image in images:
            np.testing.assert_allclose(datasets.image_points(image).X, points)


def test_transparent_parts_are_white():
    image = np.zeros((4, 4, 4), np.uint8)
    image[:2, :, 3] = 255
    data = datasets.image_points(image, color="rgb", blur=0)
    np.testing.assert_array_equal(data.X[:8, :3], 0)
    np.testing.assert_array_equal(data.X[8:, :3], 1)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros(5), r"shape .*got \(5,\)"),
        (np.zeros((4, 4, 5)), r"got \(4, 4, 5\)"),
        (np.zeros((0, 4, 3)), "no pixels"),
        (np.full((4, 4), np.nan), "floating-point colors"),
        (np.full((4, 4), 200.0), "divide by 255"),
        (np.full((4, 4), -1), "whole numbers must lie"),
        (np.full((4, 4), "a"), "dtype"),
        (np.full((4, 4), 1j), "dtype"),
    ],
)
def test_arrays_that_are_not_pictures_are_refused(image, message):
    with pytest.raises(ValueError, match=f"image .*{message}"):
        datasets.image_points(image)


def test_bad_arguments_are_refused():
    for option, value in (("blur", -1), ("blur", np.nan), ("color", "hsv"), ("max_pixels", 0)):
        with pytest.raises(ValueError, match=option):
            datasets.image_points(np.zeros((4, 4)), **{option: value})
    with pytest.raises(TypeError, match="blur"):
        datasets.image_points(np.zeros((4, 4)), blur="x")
    picture = picture_bytes(np.zeros((4, 4, 3), np.uint8))
    with pytest.raises(ValueError, match="no columns or labels"):
        datasets.load(picture, filename="a.png", columns=["x"])


def test_labels_of_other_data_are_no_picture():
    data = datasets.make("moons", n=5)
    with pytest.raises(ValueError, match="moons are not the pixels"):
        data.label_image(np.zeros(5))
    with pytest.raises(
        ValueError,
        match=r"labels must have 4 x 4 values, one per point of the grid, got shape \(5,\)",
    ):
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
    if mode == "I;16":
        data = picture_bytes(array[:, :, 0].astype(np.uint16) * 257)
    else:
        data = picture_bytes(array, mode=mode)
    points = datasets.load(data, filename="a.PNG", blur=0)
    lightness_and_gray = array.reshape(-1, 3) / 255 * [1, 0, 0]
    np.testing.assert_allclose(points.X[:, :3], lightness_and_gray, atol=1e-9)


def test_palette_with_a_transparent_color():
    data = picture_bytes(np.zeros((4, 4), np.uint8), mode="P", transparency=0)
    np.testing.assert_array_equal(datasets.load(data, filename="a.png").image, 255)


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_jpeg(mode):
    array = np.full((16, 24, 3), 128, np.uint8)
    points = datasets.load(picture_bytes(array, "JPEG", mode), filename="a.jpeg")
    assert points.shape == (16, 24)
    np.testing.assert_allclose(points.image, 128, atol=5)


def test_photographs_are_turned_upright():
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    data = picture_bytes(np.zeros((10, 20, 3), np.uint8), "JPEG", exif=exif)
    assert datasets.load(data, filename="a.jpg").shape == (20, 10)


@pytest.mark.parametrize(
    ("data", "filename", "message"),
    [
        (png_header(100_000, 100_000), "a.png", "too large"),
        (png_header(10_001, 10_000), "a.png", "too large: 10,001 x 10,000"),
        (png_header(50, 50), "a.png", "cannot be decoded"),
        (picture_bytes(NOISY)[:-2000], "a.png", "cannot be decoded"),
        (picture_bytes(NOISY, "JPEG")[:-900], "a.jpg", "cannot be decoded"),
        (b"\x89PNG\r\n\x1a\n", "a.png", "not a readable PNG"),
        (b"\x89PNG\r\n\x1a\n" + b"junk" * 100, "a.png", "not a readable PNG"),
        (b"\xff\xd8\xff" + b"junk" * 100, "a.jpg", "readable JPEG picture: its header is damaged"),
        (b"GIF89a" + b"\0" * 100, "a.png", "does not hold what its name says: .* it is a GIF"),
        (picture_bytes(NOISY), "a.jpg", "a PNG picture"),
        (b"some words", "a.png", "text or something unknown"),
    ],
)
def test_bad_pictures_are_refused(data, filename, message):
    with pytest.raises(ValueError, match=message):
        datasets.load(data, filename=filename)
