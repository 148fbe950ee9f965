"""The photographs that come with scikit-learn."""

from functools import partial
from typing import ClassVar

import param
from kdegraph import datasets

from .base import Source

PIXELS = (1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000)


class Photographs(Source):
    """Turn the pixels of a photograph into points, by color and place."""

    key = "photographs"
    label = "Photograph"
    controls = ("picture", "pixels")
    widgets: ClassVar[dict] = {"pixels": "steps"}

    picture = param.Selector(
        objects=list(datasets.photo_names()),
        label="Picture",
        doc="Photographs of 640 by 427 pixels.",
    )
    pixels = param.Selector(
        default=10_000,
        objects=list(PIXELS),
        label="Pixels",
        doc="The picture is scaled down to at most this many pixels.",
    )

    def loader(self):
        return partial(datasets.photo, self.picture, max_pixels=self.pixels)

    def script(self, data, dataset):
        return [
            f"data = kdegraph.datasets.photo({data['picture']!r}, max_pixels={data['pixels']!r})"
        ]
