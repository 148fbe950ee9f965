"""Pictures as points: one 5-dimensional point, a color and a place, for each pixel."""

import io
import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kdegraph.bandwidth import pixel_sigma
from kdegraph.io.dataset import Dataset
from kdegraph.io.limits import PIXEL_BYTES, check_pixels
from kdegraph.runtime.memory import check_memory
from kdegraph.validation import as_array, check_choice, check_count, check_real

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

# Points of a picture by default, which are clustered in a few seconds.
MAX_PIXELS = 20_000
_FEATURES = {
    "lab": ("L*", "a*", "b*", "row", "column"),
    "rgb": ("red", "green", "blue", "row", "column"),
}
# Photographs of scikit-learn: descriptions, and numbers of clusters.
_PHOTOS = {
    "china": ("A temple roof against sky and trees: large regions of even color.", 5),
    "flower": ("A bright flower before a dark background: one object, two or three segments.", 3),
}
# From linear sRGB to XYZ (IEC 61966-2-1), each divided by that of the white point D65.
_TO_XYZ = np.array(
    [
        [0.412390799265959, 0.357584339383878, 0.180480788401834],
        [0.212639005871510, 0.715168678767756, 0.072192315360734],
        [0.019330818715592, 0.119194779794626, 0.950532152249661],
    ]
)
_TO_XYZ /= _TO_XYZ.sum(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class Picture:
    """Hold a picture that was read from a file.

    Parameters
    ----------
    image : array
        The pixels as `image_points` takes them.
    name : str
        The name of the data set.

    Attributes
    ----------
    kind : str
        "image".

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from kdegraph import datasets
    >>> file = io.BytesIO()
    >>> np.save(file, np.zeros((4, 6, 3), np.uint8))
    >>> picture = datasets.read(file.getvalue(), filename="picture.npy")
    >>> picture.kind, picture.to_dataset().shape
    ('image', (4, 6))
    """

    image: NDArray[Any]
    name: str = ""
    kind: ClassVar[str] = "image"

    def to_dataset(
        self, *, blur: float | None = None, max_pixels: int | None = MAX_PIXELS
    ) -> Dataset:
        """Return the pixels as points.

        Parameters
        ----------
        blur : float or None, default=None
            As for `image_points`.
        max_pixels : int or None
            As for `image_points`.

        Returns
        -------
        Dataset
            See `image_points`.
        """
        return image_points(self.image, blur=blur, max_pixels=max_pixels, name=self.name)


def read_picture(data, name, max_bytes, kind):
    """Read a picture of a `kind` that Pillow knows; photographs are turned upright."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            # Pillow warns about very large pictures; `check_pixels` has a limit of its own.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data), formats=(kind,))
    except Image.DecompressionBombError:
        limit = f"the limit is {max_bytes // PIXEL_BYTES:,} pixels, and it has many more"
        raise ValueError(f"{name} is too large: {limit}; scale it down first") from None
    except Exception as error:  # a damaged header surfaces as almost any error
        unknown = isinstance(error, UnidentifiedImageError)  # whose text names an object in memory
        reason = "its header is damaged" if unknown else error
        raise ValueError(f"{name} is not a readable {kind} picture: {reason}") from None
    check_pixels(image.height, image.width, name, max_bytes)
    try:
        image.load()
        image = ImageOps.exif_transpose(image)
    except Exception as error:  # truncated or damaged data, again of many kinds
        raise ValueError(f"{name} is damaged: its picture cannot be decoded ({error})") from None
    return Picture(_pixels(image), name)


def image_points(
    image: "ArrayLike | PillowImage",
    *,
    color: Literal["lab", "rgb"] = "lab",
    blur: float | None = None,
    max_pixels: int | None = MAX_PIXELS,
    name: str = "image",
) -> Dataset:
    """Turn the pixels of a picture into points for segmentation: colors and places.

    Parameters
    ----------
    image : array or PIL.Image.Image
        Of shape (height, width) for a gray picture, or (height, width, channels), where 1 channel
        is gray, 2 are gray and alpha, 3 are RGB and 4 are RGBA. Unsigned integers span the range
        of their type, other integers [0, 255], and floating-point numbers [0, 1]. Transparent
        parts become white.
    color : {"lab", "rgb"}, default="lab"
        The color space: CIE L*a*b*, in which distances are closer to perceived ones, or red, green
        and blue.
    blur : float or None, default=None
        Standard deviation of a Gaussian blur, in pixels of the picture as given, from 0 (no blur)
        to 1000. None is 3, or 1/160 of the longer side if that is less.
    max_pixels : int or None
        A larger picture is blurred and then scaled down, by averaging, to a grid of at most this
        many points; by default 20,000. None keeps every pixel.
    name : str
        The name of the data set.

    Returns
    -------
    Dataset
        ``X`` is (rows * columns, 5): the color, then row and column of the grid. Grid points are
        in row-major order. With "lab" the color is L*, a* and b*, each divided by 100, and row and
        column are divided by ``2 * max(rows, columns)``; with "rgb" it is red, green and blue in
        [0, 1], and row and column are divided by ``max(rows, columns, 255)``. ``image`` is the
        picture in full size, ``shape`` the grid, and ``label_image(labels)`` brings labels back to
        full size. ``sigma`` suits segmentation: with "lab" from the distances of the pixels, with
        "rgb" the paper's 0.2.

    Raises
    ------
    ValueError, TypeError
        If the picture has another shape or other values, or if `color`, `blur` or `max_pixels` is
        not one of the values above.
    MemoryError
        Before more memory is taken than is available.

    Notes
    -----
    The paper segments photographs with ``image_points(image, color="rgb", blur=1)``.

    The defaults here were chosen for `KDESpectralClustering`, with the number of segments given, on
    150 of the 300 photographs of BSDS500 (train and val), scaled down to 20,000 pixels. On the
    other 150 the mean Rand index against human segmentations is 0.793, and 0.771 with the paper's
    points, `estimate_sigma` and k-means (standard error of the mean difference 0.005). At full
    resolution it is about 0.01 lower.

    References
    ----------
    P. Macgregor, H. Sun, "Fast approximation of similarity graphs with kernel density estimation",
    NeurIPS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from kdegraph import datasets
    >>> picture = np.zeros((4, 6, 3), np.uint8)
    >>> picture[:, 3:] = [255, 0, 0]  # the right half is red
    >>> data = datasets.image_points(picture, blur=0)
    >>> data.X.shape, data.shape, data.feature_names
    ((24, 5), (4, 6), ('L*', 'a*', 'b*', 'row', 'column'))
    """
    from PIL import Image

    pixels = _pixels(image) if isinstance(image, Image.Image) else as_array(image, "image")
    largest = _largest_value(pixels)
    check_choice(color, "color", tuple(_FEATURES))
    height, width = pixels.shape[:2]
    if blur is None:
        # 3 pixels of the 481 of photographs of BSDS500, and less in smaller pictures.
        blur = min(3.0, 1 / 160 * max(height, width))
    colors, places, picture = smooth_bands(
        lambda c: _color(pixels, c, largest), 3, (height, width), blur, max_pixels
    )
    shape = places.shape[:2]
    if color == "lab":
        # A difference of 100 in L*a*b* counts as much as half of the longer side of the picture.
        colors = _lab(colors) / 100
        places *= 0.5 / max(shape)
    else:  # as in the paper, also its bandwidth below
        places /= max(*shape, 255)
    points = np.concatenate([colors, places], axis=2).reshape(-1, 5)
    return Dataset(
        X=points,
        name=name,
        description=f"The pixels of a picture of {width} x {height} pixels, by color and place.",
        feature_names=_FEATURES[color],
        sigma=pixel_sigma(points) if color == "lab" else 0.2,
        image=picture,
        shape=shape,
    )


def smooth_bands(band_of, n_bands, full, blur, max_pixels):
    """Blur the bands of a picture, and average them over a grid of at most `max_pixels` points.

    `band_of` is called with the number of a band, and returns it as (height, width) float64 in
    [0, 1]. Return the bands, (rows, columns, n_bands) float64, the row and the column of each point
    of the grid, (rows, columns, 2) float64, and the first three bands in full size, uint8.
    """
    from PIL import Image
    from scipy.ndimage import gaussian_filter

    if not 0 <= check_real(blur, "blur", "a number of pixels >= 0") < 1000:
        raise ValueError(f"blur must be a number of pixels from 0 to 1000, got {blur!r}")
    shape = full if max_pixels is None else _fit_grid(*full, check_count(max_pixels, "max_pixels"))
    n_bytes = 25 * math.prod(full) + 32 * (n_bands + 2) * math.prod(shape)
    need = f"{math.prod(shape):,} of the {full[1]:,} x {full[0]:,} pixels need"
    check_memory(n_bytes, need, "use fewer max_pixels, or a smaller picture")
    bands, picture = np.empty((*shape, n_bands)), np.empty((*full, min(n_bands, 3)), np.uint8)
    for c in range(n_bands):  # one at a time, as a band in float64 may take more than the picture
        values = band_of(c)
        if c < 3:
            picture[:, :, c] = np.round(values * 255)
        if blur:
            values = gaussian_filter(values, blur, mode="nearest")
        if shape != full:
            large = Image.fromarray(values.astype(np.float32))
            small = large.resize(shape[::-1], Image.Resampling.BOX)
            values = np.clip(np.asarray(small, dtype=np.float64), 0, 1)
        bands[:, :, c] = values
    return bands, np.moveaxis(np.indices(shape, dtype=np.float64), 0, 2), picture


def _fit_grid(height, width, max_pixels):
    if height * width <= max_pixels:
        return height, width
    scale = math.sqrt(max_pixels / (height * width))
    rows = min(max(1, int(height * scale)), max_pixels)
    columns = min(max(1, int(width * scale)), max_pixels // rows)
    return min(rows, max(1, max_pixels // columns)), columns


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
    """Check an array of pixels, and return its value for full brightness."""
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (1, 2, 3, 4)):
        raise ValueError(
            "image must have shape (height, width), or (height, width, 1 to 4 channels), "
            f"got {array.shape}; raster_points takes any number of bands"
        )
    if 0 in array.shape:
        raise ValueError(f"image has no pixels: shape {array.shape}")
    if array.dtype.kind not in "buif":
        raise ValueError(f"image must hold numbers, got dtype {array.dtype}")
    if array.dtype.kind == "u":
        return float(np.iinfo(array.dtype).max)
    largest, rule = 1.0, "floating-point colors must lie in [0, 1] (divide by 255?)"
    if array.dtype.kind == "i":
        largest, rule = 255.0, "whole numbers must lie in [0, 255]"
    if not (array.min() >= 0 and array.max() <= largest):  # also for NaN
        raise ValueError(f"image has values from {array.min()} to {array.max()}; {rule}")
    return largest


def _color(array, c, largest):
    """Return color `c` as (height, width) float64 in [0, 1], with white for transparent parts."""
    channels = array[:, :, None] if array.ndim == 2 else array
    gray, transparent = channels.shape[2] < 3, channels.shape[2] in (2, 4)
    values = np.divide(channels[:, :, 0 if gray else c], largest, dtype=np.float64)
    if transparent:
        alpha = np.divide(channels[:, :, -1], largest, dtype=np.float64)
        values = values * alpha + (1 - alpha)
    return values


def _lab(rgb):
    """Return CIE L*a*b* for sRGB colors in [0, 1], (..., 3) both; L* is 0 to 100."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = linear @ _TO_XYZ.T
    # Below (6 / 29) ** 3 a line replaces the cube root (CIE 15).
    line = xyz / (3 * (6 / 29) ** 2) + 4 / 29
    x, y, z = np.moveaxis(np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), line), -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def photo_names() -> tuple[str, ...]:
    """Return the names of the built-in photographs.

    Returns
    -------
    tuple of str
        All names that `photo` takes.

    Examples
    --------
    >>> from kdegraph import datasets
    >>> datasets.photo_names()
    ('china', 'flower')
    """
    return tuple(_PHOTOS)


def photo(
    name: str,
    *,
    color: Literal["lab", "rgb"] = "lab",
    blur: float | None = None,
    max_pixels: int | None = MAX_PIXELS,
) -> Dataset:
    """Turn a built-in photograph into points. The photographs come with scikit-learn.

    Parameters
    ----------
    name : {"china", "flower"}
        One of `photo_names`.
    color : {"lab", "rgb"}, default="lab"
        As for `image_points`.
    blur : float or None, default=None
        As for `image_points`.
    max_pixels : int or None
        As for `image_points`.

    Returns
    -------
    Dataset
        See `image_points`; with a number of clusters that suits the photograph.

    Raises
    ------
    ValueError, TypeError
        If there is no photograph of this name; for the rest see `image_points`.

    Examples
    --------
    >>> from kdegraph import datasets
    >>> data = datasets.photo("flower", max_pixels=1000)
    >>> data.n_points, data.image.shape, data.n_clusters
    (950, (427, 640, 3), 3)
    """
    from sklearn.datasets import load_sample_image

    description, n_clusters = _PHOTOS[check_choice(name, "name", photo_names())]
    image = load_sample_image(f"{name}.jpg")
    points = image_points(image, color=color, blur=blur, max_pixels=max_pixels, name=name)
    return replace(points, description=description, n_clusters=n_clusters)
