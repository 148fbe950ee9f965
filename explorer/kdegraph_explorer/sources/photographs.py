"""The two photographs that come with scikit-learn."""

import param
from sklearn.datasets import load_sample_image

from .base import Source
from .images import PIXELS, image_dataset


class Photographs(Source):
    """A photograph whose pixels are points (red, green, blue, row, column)."""

    key = "photographs"
    label = "Photograph"
    description = "Every pixel is a point in five dimensions: three of colour, two of place. Clusters are segments."
    controls = ("picture", "pixels")
    widgets = {"pixels": "steps"}

    picture = param.Selector(objects={"Temple": "china.jpg", "Flower": "flower.jpg"}, label="Photograph", doc="Both are 640 by 427 pixels.")
    pixels = param.Selector(default=5000, objects=list(PIXELS), label="Pixels", doc="The photograph is scaled down to at most this many pixels.")

    def load(self):
        """See `Source.load`."""
        return image_dataset(self.picture.removesuffix(".jpg"), load_sample_image(self.picture), self.pixels)
