"""Rasters with any number of bands, such as satellite pictures, as points."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kdegraph.bandwidth import pixel_sigma
from kdegraph.io.dataset import Dataset
from kdegraph.io.pictures import MAX_PIXELS, smooth_bands
from kdegraph.validation import as_array

__all__ = ["raster_points"]


def raster_points(
    image: ArrayLike | Any,
    *,
    blur: float = 0.0,
    max_pixels: int | None = MAX_PIXELS,
    name: str = "raster",
) -> Dataset:
    """Turn the pixels of a raster into points for segmentation: their bands and places.

    Parameters
    ----------
    image : array or xarray.DataArray
        An array of shape (height, width, bands) or (height, width), with values in any unit. Of a
        DataArray, the dimension "band", or else the first of three, holds the bands, and the others
        are rows and columns, in this order.
    blur : float, default=0.0
        Standard deviation of a Gaussian blur, in pixels, from 0 (no blur) to 1000.
    max_pixels : int or None
        As for `image_points`.
    name : str
        The name of the data set.

    Returns
    -------
    Dataset
        ``X`` is (rows * columns, bands + 2): the bands, then row and column of the grid, in
        row-major order. Each band is scaled so that its quantiles 0.02 and 0.98 become 0 and
        ``1 / sqrt(bands)``, at which values beyond them end; row and column are divided by
        ``2 * max(rows, columns)``. ``image`` shows the first three bands, or the first one.
        ``label_image(labels)`` brings labels back to full size: of a DataArray as one with its
        rows, columns and coordinates, among them rioxarray's georeference.

    Raises
    ------
    ValueError, TypeError
        If the raster has another shape, or values that are not finite numbers, or if `blur` or
        `max_pixels` cannot be used.

    See Also
    --------
    image_points : For photographs, whose colors are compared as people see them.

    Examples
    --------
    >>> import numpy as np
    >>> from kdegraph import datasets
    >>> raster = np.zeros((4, 6, 5))
    >>> raster[:, 3:, 4] = 900.0  # the right half differs in the last band
    >>> data = datasets.raster_points(raster)
    >>> data.X.shape, data.feature_names[-3:]
    ((24, 7), ('band 5', 'row', 'column'))
    """
    pixels, template = _checked(image)
    height, width, n_bands = pixels.shape
    bands, places, picture = smooth_bands(
        lambda c: _scaled(pixels[:, :, c]), n_bands, (height, width), blur, max_pixels
    )
    shape = places.shape[:2]
    places *= 0.5 / max(shape)
    points = np.concatenate([bands / np.sqrt(n_bands), places], axis=2)
    points = points.reshape(-1, n_bands + 2)
    return Dataset(
        X=points,
        name=name,
        description=f"The pixels of a raster of {width} x {height} pixels, by band and place.",
        feature_names=(*(f"band {c + 1}" for c in range(n_bands)), "row", "column"),
        sigma=pixel_sigma(points),
        image=picture if n_bands > 2 else np.repeat(picture[:, :, :1], 3, axis=2),
        shape=shape,
        template=template,
    )


def _checked(image):
    """Return the pixels as a (height, width, bands) array, and a DataArray for labels, or None."""
    template = None
    if hasattr(image, "dims") and hasattr(image, "coords"):
        if len(image.dims) == 3:
            band = "band" if "band" in image.dims else image.dims[0]
            image = image.transpose(..., band)
            template = image.isel({band: 0}, drop=True)
        else:
            template = image
        template = template.copy(deep=False).rename("segments").drop_attrs(deep=False)
        template.encoding = {}  # such as a value for no data
    pixels = as_array(image, "image")
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.ndim != 3 or 0 in pixels.shape:
        raise ValueError(
            f"image must have shape (height, width, bands) or (height, width), got {pixels.shape}"
        )
    if pixels.dtype.kind not in "buif":
        raise TypeError(f"image must hold numbers, got dtype {pixels.dtype}")
    if not np.isfinite(pixels).all():
        raise ValueError(
            "image has pixels without a finite value (NaN or infinity); fill them, for a DataArray "
            "by image.fillna(image.median())"
        )
    return pixels, template


def _scaled(band):
    """Return a band as float64, with its quantiles 0.02 and 0.98 at 0 and 1, and none beyond."""
    values = band.astype(np.float64)
    low, high = np.quantile(values, [0.02, 0.98])
    if low == high:
        low, high = values.min(), values.max()
    if low == high:
        return np.zeros_like(values)
    with np.errstate(over="ignore"):
        return np.clip((values / 2 - low / 2) / (high / 2 - low / 2), 0.0, 1.0)
