"""Rasters with any number of bands: scales, segments, and coordinates of xarray."""

import numpy as np
import pytest
from kdegraph import KDESpectralClustering, datasets

HEIGHT, WIDTH, BANDS = 24, 32, 5


@pytest.fixture
def scene():
    """Two fields that only one band tells apart, in units of their own."""
    pixels = np.random.default_rng(0).normal(0, 1, (HEIGHT, WIDTH, BANDS))
    pixels[:, 20:, 3] += 40
    return pixels * [1, 1000, 1e-3, 7, 1] + [0, 5000, 0, -3, 1e6]


def test_bands_are_scaled_by_their_quantiles(scene):
    data = datasets.raster_points(scene)
    flat = scene.reshape(-1, BANDS)
    low, high = np.quantile(flat, [0.02, 0.98], axis=0)
    expected = np.clip((flat - low) / (high - low), 0, 1) / np.sqrt(BANDS)
    np.testing.assert_allclose(data.X[:, :BANDS], expected, atol=1e-12)
    row, column = np.indices((HEIGHT, WIDTH)).reshape(2, -1) / (2 * WIDTH)
    np.testing.assert_array_equal(data.X[:, -2:], np.column_stack([row, column]))
    assert data.feature_names == ("band 1", "band 2", "band 3", "band 4", "band 5", "row", "column")
    assert data.image.shape == (HEIGHT, WIDTH, 3)


def test_units_do_not_matter_and_whole_numbers_are_taken(scene):
    changed = datasets.raster_points(scene * [2, 3, 5, 7, 11] - 100.0)
    np.testing.assert_allclose(changed.X, datasets.raster_points(scene).X, atol=1e-9)
    whole = np.round(scene * 1000).astype(np.int64)
    np.testing.assert_allclose(
        datasets.raster_points(whole).X, datasets.raster_points(whole.astype(float)).X
    )


@pytest.mark.parametrize("max_pixels", [None, 300])
def test_the_fields_are_found(scene, max_pixels):
    data = datasets.raster_points(scene, max_pixels=max_pixels)
    assert len(data.X) <= (max_pixels or HEIGHT * WIDTH)
    labels = KDESpectralClustering(2, random_state=0).fit_predict(data)
    found = data.label_image(labels)
    assert isinstance(found, np.ndarray)
    assert np.mean(found == (np.arange(WIDTH) >= 20)) > 0.95


def test_few_bands_and_constant_ones():
    gray = np.arange(12.0).reshape(3, 4)
    data = datasets.raster_points(gray)
    assert data.X.shape == (12, 3)
    assert data.image.shape == (3, 4, 3)
    assert np.all(datasets.raster_points(np.full((3, 4, 6), 7)).X[:, :6] == 0)
    rare = np.zeros((20, 20, 1))
    rare[3, 4] = 5.0  # both quantiles are 0
    assert datasets.raster_points(rare).X[:, 0].max() == 1.0


@pytest.mark.parametrize(
    ("image", "options", "error", "message"),
    [
        (np.zeros(5), {}, ValueError, r"\(height, width, bands\)"),
        (np.zeros((0, 5, 5)), {}, ValueError, r"\(height, width, bands\)"),
        (np.full((3, 3, 5), np.nan), {}, ValueError, "fill them, for a DataArray by"),
        (np.full((3, 3, 5), "a"), {}, TypeError, "must hold numbers"),
        (np.zeros((3, 3, 5)), {"blur": -1}, ValueError, "blur must be"),
        (np.zeros((3, 3, 5)), {"max_pixels": 0}, ValueError, "max_pixels must be"),
    ],
)
def test_other_arrays_are_refused(image, options, error, message):
    with pytest.raises(error, match=message):
        datasets.raster_points(image, **options)
    with pytest.raises(ValueError, match="raster_points takes any number of bands"):
        datasets.image_points(np.zeros((3, 3, 5)))


@pytest.mark.parametrize("order", [("band", "y", "x"), ("y", "x", "band"), ("wave", "lat", "lon")])
def test_segments_of_xarray_keep_its_coordinates(scene, order):
    xarray = pytest.importorskip("xarray")
    rows, columns = [name for name in order if name not in ("band", "wave")]
    y, x = 50.0 - 0.1 * np.arange(HEIGHT), 8.0 + 0.2 * np.arange(WIDTH)
    bands = order[0] if order[0] == "wave" else "band"
    image = xarray.DataArray(
        scene,
        {rows: y, columns: x, bands: list("abcde"), "time": 2024},
        (rows, columns, bands),
        attrs={"units": "reflectance"},
    ).transpose(*order)
    data = datasets.raster_points(image)
    np.testing.assert_array_equal(data.X, datasets.raster_points(scene).X)
    found = data.label_image(np.arange(len(data.X)))
    assert found.dims == (rows, columns)
    assert set(found.coords) == {rows, columns, "time"}
    assert found.attrs == {}
    assert found.sel({rows: y[2], columns: x[5]}) == 2 * WIDTH + 5
    assert image.attrs == {"units": "reflectance"}


@pytest.mark.filterwarnings("default")  # of rioxarray
def test_segments_of_a_geotiff_keep_its_georeference(scene, tmp_path):
    rioxarray, xarray = pytest.importorskip("rioxarray"), pytest.importorskip("xarray")
    y, x = 50.0 - 0.1 * np.arange(HEIGHT), 8.0 + 0.2 * np.arange(WIDTH)
    image = xarray.DataArray(
        np.moveaxis(scene, 2, 0), {"y": y, "x": x}, ("band", "y", "x")
    ).rio.write_crs("EPSG:4326")
    image.rio.write_nodata(-9999.0).rio.to_raster(tmp_path / "scene.tif")
    with rioxarray.open_rasterio(tmp_path / "scene.tif") as opened:
        data = datasets.raster_points(opened)
        labels = KDESpectralClustering(2, random_state=0).fit_predict(data)
        segments = data.label_image(labels)
        segments.rio.to_raster(tmp_path / "segments.tif")
        with rioxarray.open_rasterio(tmp_path / "segments.tif") as written:
            assert written.rio.crs == opened.rio.crs
            assert written.rio.transform() == opened.rio.transform()
            assert np.array_equal(written.squeeze(), labels.reshape(HEIGHT, WIDTH))
            assert written.rio.nodata is None
