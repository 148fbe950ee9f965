"""Data: generators (`make`), built-in photographs (`photo`), files (`load`, `read`) and pictures (`image_points`)."""

from ._dataset import Dataset, expand_labels
from ._files import MAX_BYTES, accepted, file_type, load, read
from ._generators import describe, make, names
from ._images import MAX_PIXELS, image_points, photo, photo_names
from ._table import Column, Picture, Table

__all__ = [
    "MAX_BYTES",
    "MAX_PIXELS",
    "Column",
    "Dataset",
    "Picture",
    "Table",
    "accepted",
    "describe",
    "expand_labels",
    "file_type",
    "image_points",
    "load",
    "make",
    "names",
    "photo",
    "photo_names",
    "read",
]
