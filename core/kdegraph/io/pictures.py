"""Pictures as points: one 5-dimensional point (r, g, b, row, column) for each pixel."""

import io
import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from kdegraph.io.dataset import Dataset
from kdegraph.io.limits import MAX_BYTES, PIXEL_BYTES, check_pixels
from kdegraph.validation import check_choice, check_count

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

# Points that a picture becomes by default, so that it is clustered in a few seconds.
MAX_PIXELS = 20_000
# The bandwidth that the paper uses for pictures.
_PICTURE_SIGMA = 0.2
_FORMATS = {"png": "PNG", "jpeg": "JPEG"}
_PHOTOS = {
    "china": ("china.jpg", "A temple roof against sky and trees: large regions of even color.", 5),
    "flower": (
        "flower.jpg",
        "A bright flower before a dark background: one object, two or three segments.",
        3,
    ),
}


def open_image(data, kind, name="the file", *, max_bytes=MAX_BYTES):
    """Decode a PNG or JPEG file; the size is checked before anything is decoded.

    Parameters
    ----------
    data : bytes
    kind : {"png", "jpeg"}
    name : str
        What messages call the file.
    max_bytes : int
        A picture whose colors would take more memory is refused; see `check_pixels`.

    Returns
    -------
    (height, width) or (height, width, channels) array
        As `image_points` takes it, turned upright as the camera noted.

    Raises
    ------
    ValueError
        If the file is damaged, of another format or too large.
    """
    from PIL import Image, ImageOps

    # Pillow warns of very large pictures and fails on larger ones still; the limit here says it in
    # one way, before decoding.
    bombs = (Image.DecompressionBombError, Image.DecompressionBombWarning)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data), formats=(_FORMATS[kind],))
    except bombs:
        limit = f"the limit is {max_bytes // PIXEL_BYTES:,} pixels, and it has many more"
        raise ValueError(f"{name} is too large: {limit}; scale it down first") from None
    except Exception as error:  # a damaged header surfaces as almost any error
        raise ValueError(f"{name} is not a readable {_FORMATS[kind]} picture: {error}") from None
    check_pixels(image.height, image.width, name, max_bytes)
    try:
        image.load()
        image = ImageOps.exif_transpose(image)
    except Exception as error:  # truncated or damaged data, again of many kinds
        raise ValueError(f"{name} is damaged: its picture cannot be decoded ({error})") from None
    return _pixels(image)


def _pixels(image):
    """Return the pixels of a Pillow image of any mode as `image_points` takes them."""
    if image.mode.startswith("I"):  # 16 or 32 bits of gray
        values = np.asarray(image, dtype=np.float64)
        return values / max(65535.0, values.max())
    if image.mode == "F":
        return np.clip(np.asarray(image, dtype=np.float64), 0, 1)
    transparent = image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info
    return np.asarray(image.convert("RGBA" if transparent else "RGB"))


def _largest_value(array):
    """Check an array of pixels, and return the value that stands for full brightness."""
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (1, 2, 3, 4)):
        raise ValueError(
            "image must have shape (height, width), or (height, width, 1 to 4 channels), "
            f"got {array.shape}"
        )
    if 0 in array.shape:
        raise ValueError(f"image has no pixels: shape {array.shape}")
    if array.dtype == bool:
        return 1.0
    if array.dtype.kind == "u":
        return float(np.iinfo(array.dtype).max)
    if array.dtype.kind == "i":
        if array.min() < 0 or array.max() > 255:
            raise ValueError(
                f"image has integers from {array.min()} to {array.max()}; "
                "whole numbers must lie in [0, 255]"
            )
        return 255.0
    if array.dtype.kind == "f":
        if not np.isfinite(array).all() or array.min() < 0 or array.max() > 1:
            raise ValueError(
                f"image has values from {array.min()} to {array.max()}; "
                "floating-point colors must lie in [0, 1] (divide by 255?)"
            )
        return 1.0
    raise ValueError(f"image must hold numbers, got dtype {array.dtype}")


def _color(array, c, largest):
    """Return color `c` as (height, width) float64 in [0, 1], with transparent parts on white."""
    channels = array[:, :, None] if array.ndim == 2 else array
    gray, transparent = channels.shape[2] < 3, channels.shape[2] in (2, 4)
    values = np.divide(channels[:, :, 0 if gray else c], largest, dtype=np.float64)
    if transparent:
        alpha = np.divide(channels[:, :, -1], largest, dtype=np.float64)
        values = values * alpha + (1 - alpha)
    return values


def _fit(height, width, max_pixels):
    """Return the largest grid with the shape of the picture and at most `max_pixels` points."""
    if max_pixels is None or height * width <= max_pixels:
        return height, width
    scale = math.sqrt(max_pixels / (height * width))
    rows = min(max(1, int(height * scale)), max_pixels)
    columns = min(max(1, int(width * scale)), max_pixels // rows)
    rows = min(rows, max(1, max_pixels // columns))
    return rows, columns


def _resize(channel, shape):
    """Average one color over the cells of a grid of the given shape."""
    from PIL import Image

    large = Image.fromarray(channel.astype(np.float32))
    small = large.resize((shape[1], shape[0]), Image.Resampling.BOX)
    return np.clip(np.asarray(small, dtype=np.float64), 0, 1)


def image_points(
    image: "ArrayLike | PillowImage",
    *,
    blur: float = 1.0,
    max_pixels: int | None = MAX_PIXELS,
    name: str = "image",
) -> Dataset:
    """Turn the pixels of a picture into points, by the paper's protocol for segmentation.

    Parameters
    ----------
    image : array or PIL.Image.Image
        Of shape (height, width) for a gray picture, or (height, width, channels), where 1 channel
        is gray, 2 are gray and alpha, 3 are RGB and 4 are RGBA. Unsigned integers span the range
        of their type, other integers [0, 255], and floating-point numbers [0, 1]. Transparent
        parts are put on white.
    blur : float
        Standard deviation of a Gaussian blur, in pixels of the picture as given, from 0 (no blur)
        to 1000.
    max_pixels : int or None
        A larger picture is blurred and then scaled down, by averaging, to a grid of at most this
        many points; by default 20,000. None keeps every pixel.
    name : str
        The name of the data set.

    Returns
    -------
    Dataset
        ``X`` is (rows * columns, 5): red, green, blue in [0, 1], then row and column of the grid,
        both divided by ``max(rows, columns, 255)``. Grid points are in row-major order. ``image``
        is the picture in full size, ``shape`` the grid, and ``label_image(labels)`` brings labels
        back to full size. ``sigma`` is the paper's 0.2.

    Raises
    ------
    ValueError, TypeError
        If the picture has another shape or other values, or if `blur` or `max_pixels` is no number
        in its range.

    Examples
    --------
    >>> import numpy as np
    >>> from kdegraph import datasets
    >>> picture = np.zeros((4, 6, 3), np.uint8)
    >>> picture[:, 3:] = [255, 0, 0]  # the right half is red
    >>> data = datasets.image_points(picture, blur=0)
    >>> data.X.shape, data.shape, data.feature_names
    ((24, 5), (4, 6), ('red', 'green', 'blue', 'row', 'column'))
    """
    from PIL import Image
    from scipy.ndimage import gaussian_filter

    pixels = _pixels(image) if isinstance(image, Image.Image) else np.asarray(image)
    largest = _largest_value(pixels)
    _check_blur(blur)
    if max_pixels is not None:
        max_pixels = check_count(max_pixels, "max_pixels")
    height, width = pixels.shape[:2]
    shape = _fit(height, width, max_pixels)
    points, picture = np.empty((*shape, 5)), np.empty((height, width, 3), np.uint8)
    for c in range(3):  # one after the other: as float64, one takes more than the picture
        color = _color(pixels, c, largest)
        picture[:, :, c] = np.round(color * 255)
        smooth = gaussian_filter(color, blur, mode="nearest") if blur else color
        points[:, :, c] = smooth if shape == (height, width) else _resize(smooth, shape)
    points[:, :, 3:] = np.moveaxis(np.indices(shape), 0, 2) / max(*shape, 255)
    return Dataset(
        X=points.reshape(-1, 5),
        name=name,
        description=f"The pixels of a picture of {width} x {height} pixels, by color and place.",
        feature_names=("red", "green", "blue", "row", "column"),
        sigma=_PICTURE_SIGMA,
        image=picture,
        shape=shape,
    )


def _check_blur(blur):
    if isinstance(blur, (str, bytes, bool)) or not np.isreal(blur) or np.ndim(blur):
        raise TypeError(f"blur must be a number of pixels >= 0, got {blur!r}")
    if not 0 <= blur < 1000:
        raise ValueError(f"blur must be a number of pixels from 0 to 1000, got {blur!r}")


def photo_names() -> tuple[str, ...]:
    """Return the names of the built-in photographs.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from kdegraph import datasets
    >>> datasets.photo_names()
    ('china', 'flower')
    """
    return tuple(_PHOTOS)


def photo(name: str, *, blur: float = 1.0, max_pixels: int | None = MAX_PIXELS) -> Dataset:
    """Turn a built-in photograph into points. The photographs come with scikit-learn.

    Parameters
    ----------
    name : {"china", "flower"}
        One of `photo_names`.
    blur, max_pixels
        As for `image_points`.

    Returns
    -------
    Dataset
        See `image_points`; with a number of clusters that suits the photograph.

    Raises
    ------
    ValueError, TypeError
        If there is no photograph of this name; for `blur` and `max_pixels` see `image_points`.

    Examples
    --------
    >>> from kdegraph import datasets
    >>> data = datasets.photo("flower", max_pixels=1000)
    >>> data.n_points, data.image.shape, data.n_clusters
    (950, (427, 640, 3), 3)
    """
    from sklearn.datasets import load_sample_image

    file, description, n_clusters = _PHOTOS[check_choice(name, "name", photo_names())]
    points = image_points(load_sample_image(file), blur=blur, max_pixels=max_pixels, name=name)
    return replace(points, description=description, n_clusters=n_clusters)
