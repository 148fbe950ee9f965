"""Find the pictures that the rows of points are, where their columns are pixels."""

import base64
import io
import re
from math import isqrt
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from kdegraph.datasets import Dataset
from PIL import Image

from .point_columns import columns_of, values_of

MIN_SIDE = 4  # pixels along each side of a picture
PATCH = 21  # pixels along each side of the part around a pixel of a photograph; odd

_known_pixels: WeakKeyDictionary[Dataset, object] = WeakKeyDictionary()


class Pixels(NamedTuple):
    """The columns of a data set that are pixels.

    `columns` are by name, row after row of the picture, from its top left corner; `shape` is
    (height, width). `low` and `high`, the smallest and the largest value, are black and white.
    """

    columns: dict
    shape: tuple
    low: float
    high: float


def pixels_of(dataset):
    """Return the `Pixels` of a data set, or None if its rows are not known to be pictures.

    Columns are pixels if their names give the place of each, as in pixel_0_0 and 1x1, or number
    them, as in pixel0 and pixel784, and fill a rectangle, or a square. Columns without names, x1 to
    xd, are pixels if they fill a square of at least 8 by 8 and hold whole numbers from 0 to 255.
    """
    if dataset not in _known_pixels:
        _known_pixels[dataset] = _find_pixels(columns_of(dataset))
    return _known_pixels[dataset]


def picture_of(dataset, point):
    """Return the picture in the row of a point, (height, width, 3) uint8, or None.

    Of a photograph, it is the part around the pixel.
    """
    if dataset.image is not None:
        return _around(dataset.image, dataset.shape, point)
    pixels = pixels_of(dataset)
    if pixels is None:
        return None
    values = np.array([values_of(dataset, one, point) for one in pixels.columns.values()])
    span = (pixels.high - pixels.low) or 1.0
    gray = np.round(255 * (np.nan_to_num(values, nan=pixels.low) - pixels.low) / span)
    return np.repeat(gray.astype(np.uint8).reshape(*pixels.shape, 1), 3, axis=2)


def picture_address(dataset, point):
    """Return the same picture as an address, or an empty string."""
    picture = picture_of(dataset, point)
    return "" if picture is None else png_address(picture)


def _find_pixels(columns):
    numbers = {name: column for name, column in columns.items() if column.kind == "number"}
    numbered = r"(?i:pixels?|pix|px)[\W_]*(\d+)"
    names, shape = _grid(numbers) or _square(numbers, numbered, MIN_SIDE) or (None, None)
    if names is None:  # columns without names may be pixels, too, if there are many
        names, shape = _square(numbers, r"x(\d+)", 8) or (None, None)
        if names is None or not all(_is_gray(numbers[name].values) for name in names):
            return None
    known = [values[np.isfinite(values)] for values in (numbers[name].values for name in names)]
    low = min((float(values.min()) for values in known if len(values)), default=0.0)
    high = max((float(values.max()) for values in known if len(values)), default=0.0)
    return Pixels({name: numbers[name] for name in names}, shape, low, high)


def _grid(names):
    """Return the names with a row and a column in them, in order, and the shape.

    None if they do not fill a rectangle.
    """
    place = r"(?i:pixels?|pix|px)[\W_]*r?(\d+)[\W_x]+c?(\d+)"
    row_by_column = r"(\d+)x(\d+)"  # without the x it could be the months of some years
    matches = {
        name: re.fullmatch(place, name) or re.fullmatch(row_by_column, name) for name in names
    }
    found = {name: match for name, match in matches.items() if match}
    places = {(int(match[1]), int(match[2])): name for name, match in found.items()}
    if not places:
        return None
    (top, left), (bottom, right) = min(places), max(places)
    shape = (bottom - top + 1, right - left + 1)
    if len(found) != shape[0] * shape[1] or min(shape) < MIN_SIDE:
        return None
    order = [(top + i, left + j) for i in range(shape[0]) for j in range(shape[1])]
    if not all(cell in places for cell in order):
        return None
    return [places[cell] for cell in order], shape


def _square(names, pattern, min_side):
    """Return the names with a number in them, in order, and the shape; None if not a square."""
    found = {name: match for name in names if (match := re.fullmatch(pattern, name))}
    numbered = {int(match[1]): name for name, match in found.items()}
    side = isqrt(len(found))
    if side < min_side or side * side != len(found):
        return None
    first = min(numbered)
    if not all(first + i in numbered for i in range(len(found))):
        return None
    return [numbered[first + i] for i in range(len(found))], (side, side)


def _is_gray(values):
    return bool(((values >= 0) & (values <= 255) & (values == np.round(values))).all())


def _around(image, grid, point):
    """Cut out the part of a photograph around one point of its grid."""
    place = np.array(divmod(point, grid[1]))
    middle = (2 * place + 1) * image.shape[:2] // (2 * np.array(grid))
    steps = np.arange(PATCH) - PATCH // 2
    rows, columns = (
        np.clip(center + steps, 0, size - 1)
        for center, size in zip(middle, image.shape[:2], strict=True)
    )
    return image[np.ix_(rows, columns)]


def png_address(pixels):
    """Return a picture, (height, width, 3 or 4) uint8, as a data: address."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "png", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
