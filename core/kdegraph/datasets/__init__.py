"""Make synthetic data (`make`), load built-in photographs (`photo`), tables and pictures (`load`,
`read`, `image_points`), rasters with many bands (`raster_points`), data frames with numbers and
categories (`table_points`) and points that need not fit into memory (`load_lazily`), and change the
scales of features (`rescale`).
"""

from kdegraph.datasets.generators import default_noise, describe, make, names
from kdegraph.io.columns import Column
from kdegraph.io.dataset import Dataset, expand_labels, rescale
from kdegraph.io.dates import DATE_PARTS, date_coordinates
from kdegraph.io.files import MAX_BYTES, file_type, load, read
from kdegraph.io.frames import table_points
from kdegraph.io.lazily import load_lazily
from kdegraph.io.pictures import MAX_PIXELS, Picture, image_points, photo, photo_names
from kdegraph.io.rasters import raster_points
from kdegraph.io.table import Table

__all__ = [
    "DATE_PARTS",
    "MAX_BYTES",
    "MAX_PIXELS",
    "Column",
    "Dataset",
    "Picture",
    "Table",
    "date_coordinates",
    "default_noise",
    "describe",
    "expand_labels",
    "file_type",
    "image_points",
    "load",
    "load_lazily",
    "make",
    "names",
    "photo",
    "photo_names",
    "raster_points",
    "read",
    "rescale",
    "table_points",
]
