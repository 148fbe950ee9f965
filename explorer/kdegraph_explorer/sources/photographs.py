"""The photographs that come with scikit-learn."""

import kdegraph.datasets
import param

from .base import Source

PIXELS = (1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000)


class Photographs(Source):
    """A photograph whose pixels are points (red, green, blue, row, column)."""

    key = "photographs"
    label = "Photograph"
    description = "Every pixel is a point in five dimensions: three of colour, two of place. Clusters are segments."
    controls = ("picture", "pixels")
    widgets = {"pixels": "steps"}

    picture = param.Selector(objects=list(kdegraph.datasets.photo_names()), label="Picture", doc="Photographs of 640 by 427 pixels.")
    pixels = param.Selector(default=10_000, objects=list(PIXELS), label="Pixels", doc="The photograph is scaled down to at most this many pixels.")

    def load(self):
        """See `Source.load`."""
        return kdegraph.datasets.photo(self.picture, max_pixels=self.pixels)
