"""Pictures as points: one 5-dimensional point (r, g, b, row, column) for each pixel."""

import io
import math
import warnings

import numpy as np

from .._validation import check_choice, check_count
from ._dataset import Dataset

MAX_PIXELS = 20_000
MAX_FILE_PIXELS = 100_000_000  # of a picture in a file, before it is decoded
SIGMA = 0.2  # the paper's
_FORMATS = {"png": "PNG", "jpeg": "JPEG"}
_PHOTOS = {
    "china": ("china.jpg", "A temple roof against sky and trees: large regions of even colour.", 5),
    "flower": ("flower.jpg", "A bright flower before a dark background: one object, two or three segments.", 3),
}


def open_image(data, kind, name="the file", *, max_file_pixels=MAX_FILE_PIXELS):
    """Decode a PNG or JPEG file; the size is checked before anything is decoded.

    Parameters
    ----------
    data : bytes
    kind : {"png", "jpeg"}
    name : str
        What messages call the file.
    max_file_pixels : int
        Larger pictures are refused.

    Returns
    -------
    (height, width, 3) float64 array
        Colours in [0, 1], turned upright as the camera noted, transparent parts on white.

    Raises
    ------
    ValueError
        If the file is damaged, of another format or too large.
    """
    from PIL import Image, ImageOps

    # Pillow warns of very large pictures and fails on larger ones still; the limit here says it in one way, before decoding.
    bombs = (Image.DecompressionBombError, Image.DecompressionBombWarning)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data), formats=(_FORMATS[kind],))
    except bombs:
        raise ValueError(f"{name} is too large: more than {max_file_pixels:,} pixels; scale the picture down first") from None
    except Exception as error:  # a damaged header surfaces as almost any error
        raise ValueError(f"{name} is not a readable {_FORMATS[kind]} picture: {error}") from None
    width, height = image.size
    if width * height > max_file_pixels:
        raise ValueError(
            f"{name} is too large: {width:,} x {height:,} pixels, the limit is {max_file_pixels:,} pixels; scale it down first"
        )
    try:
        image.load()
        image = ImageOps.exif_transpose(image)
    except Exception as error:  # truncated or damaged data, again of many kinds
        raise ValueError(f"{name} is damaged: its picture cannot be decoded ({error})") from None
    return _pillow_colours(image)


def _pillow_colours(image):
    """The colours in [0, 1] of a Pillow image of any mode."""
    if image.mode.startswith("I"):  # 16 or 32 bits of gray
        values = np.asarray(image, dtype=np.float64)
        return _colours(values / max(65535.0, values.max()))
    if image.mode == "F":
        return _colours(np.clip(np.asarray(image, dtype=np.float64), 0, 1))
    transparent = image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info
    return _colours(np.asarray(image.convert("RGBA" if transparent else "RGB")))


def _colours(array):
    """Check an array of pixels and return it as (height, width, 3) float64 in [0, 1], transparent parts on white."""
    array = np.asarray(array)
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (1, 2, 3, 4)):
        raise ValueError(f"image must have shape (height, width), or (height, width, 1 to 4 channels), got {array.shape}")
    if 0 in array.shape:
        raise ValueError(f"image has no pixels: shape {array.shape}")
    if array.dtype == bool:
        values = array.astype(np.float64)
    elif array.dtype.kind == "u":
        values = array / float(np.iinfo(array.dtype).max)
    elif array.dtype.kind == "i":
        if array.min() < 0 or array.max() > 255:
            raise ValueError(f"image has integers from {array.min()} to {array.max()}; whole numbers must lie in [0, 255]")
        values = array / 255.0
    elif array.dtype.kind == "f":
        if not np.isfinite(array).all() or array.min() < 0 or array.max() > 1:
            raise ValueError(
                f"image has values from {array.min()} to {array.max()}; floating-point colours must lie in [0, 1] (divide by 255?)"
            )
        values = array.astype(np.float64)
    else:
        raise ValueError(f"image must hold numbers, got dtype {array.dtype}")
    if values.ndim == 2:
        values = values[:, :, None]
    if values.shape[2] in (2, 4):
        alpha = values[:, :, -1:]
        values = values[:, :, :-1] * alpha + (1 - alpha)
    return np.repeat(values, 3, axis=2) if values.shape[2] == 1 else values


def _fit(height, width, max_pixels):
    """The largest grid of about the shape of the picture with at most `max_pixels` points."""
    if max_pixels is None or height * width <= max_pixels:
        return height, width
    scale = math.sqrt(max_pixels / (height * width))
    rows = min(max(1, int(height * scale)), max_pixels)
    columns = min(max(1, int(width * scale)), max_pixels // rows)
    rows = min(rows, max(1, max_pixels // columns))
    return rows, columns


def _resize(colours, shape):
    """Average over the cells of a grid."""
    from PIL import Image

    channels = [Image.fromarray(colours[:, :, c].astype(np.float32)) for c in range(3)]
    small = [channel.resize((shape[1], shape[0]), Image.Resampling.BOX) for channel in channels]
    return np.clip(np.stack([np.asarray(channel, dtype=np.float64) for channel in small], axis=2), 0, 1)


def image_points(image, *, blur=1.0, max_pixels=MAX_PIXELS, name="image"):
    """The pixels of a picture as points, by the paper's protocol for segmentation.

    Parameters
    ----------
    image : array or PIL.Image.Image
        (height, width), gray, or (height, width, channels): 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA. Unsigned integers span the range
        of their type, other integers [0, 255], floating-point numbers [0, 1]. Transparent parts are put on white.
    blur : float
        Standard deviation of a Gaussian blur, in pixels of the picture as given; 0 for none.
    max_pixels : int or None
        A larger picture is scaled down (averaged, after the blur) to a grid of at most this many points. None keeps every pixel.
    name : str
        Becomes the name of the data set.

    Returns
    -------
    Dataset
        ``X`` is (rows * columns, 5): red, green, blue in [0, 1], then row and column of the grid, both divided by
        ``max(rows, columns, 255)``. Grid points are in row-major order. ``image`` is the picture in full size, ``shape`` the grid,
        and ``label_image(labels)`` brings labels back to full size. ``sigma`` is the paper's 0.2.

    Raises
    ------
    ValueError, TypeError
        For a picture, a blur or a number that cannot be used.
    """
    from PIL import Image
    from scipy.ndimage import gaussian_filter

    colours = _pillow_colours(image) if isinstance(image, Image.Image) else _colours(image)
    if isinstance(blur, (str, bytes, bool)) or not np.isreal(blur) or np.ndim(blur):
        raise TypeError(f"blur must be a number of pixels >= 0, got {blur!r}")
    if not 0 <= blur < 1000:
        raise ValueError(f"blur must be a number of pixels from 0 to 1000, got {blur!r}")
    if max_pixels is not None:
        max_pixels = check_count(max_pixels, "max_pixels")
    shape = _fit(*colours.shape[:2], max_pixels)
    smooth = gaussian_filter(colours, (blur, blur, 0), mode="nearest") if blur else colours
    if shape != smooth.shape[:2]:
        smooth = _resize(smooth, shape)
    row, column = np.indices(shape) / max(*shape, 255)
    return Dataset(
        X=np.ascontiguousarray(np.concatenate([smooth, row[:, :, None], column[:, :, None]], axis=2).reshape(-1, 5)),
        name=name,
        description=f"The pixels of a picture of {colours.shape[1]} x {colours.shape[0]} pixels, by colour and place.",
        feature_names=("red", "green", "blue", "row", "column"),
        sigma=SIGMA,
        image=np.round(colours * 255).astype(np.uint8),
        shape=shape,
    )


def photo_names():
    """The built-in photographs.

    Returns
    -------
    tuple of str
    """
    return tuple(_PHOTOS)


def photo(name, *, blur=1.0, max_pixels=MAX_PIXELS):
    """A built-in photograph (they come with scikit-learn) as points; see `image_points`.

    Parameters
    ----------
    name : {"china", "flower"}
    blur, max_pixels
        As for `image_points`.

    Returns
    -------
    Dataset
    """
    from dataclasses import replace

    from sklearn.datasets import load_sample_image

    file, description, n_clusters = _PHOTOS[check_choice(name, "name", photo_names())]
    points = image_points(load_sample_image(file), blur=blur, max_pixels=max_pixels, name=name)
    return replace(points, description=description, n_clusters=n_clusters)
