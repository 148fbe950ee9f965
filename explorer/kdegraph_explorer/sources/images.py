"""Images as points, for the sources that have images."""

import kdegraph
import numpy as np

from ..dataset import Dataset

PIXELS = (1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000)


def image_dataset(name, picture, max_pixels):
    """The pixels of a picture as points (red, green, blue, row, column).

    Parameters
    ----------
    name : str
    picture : (height, width, 3) uint8 array
    max_pixels : int
        Larger pictures are scaled down to at most this many pixels.

    Returns
    -------
    Dataset
    """
    points, grid = kdegraph.datasets.image_points(picture, max_pixels)
    return Dataset(name, points, columns=("red", "green", "blue", "row", "column"), picture=np.ascontiguousarray(picture), grid=grid)
