"""Points that a program has passed in."""

import io

import numpy as np

from ..uploads import StoredFile
from .base import Source
from .user_files import packed


class Given(Source):
    """Hold a data set that exists already, in a session that was given one."""

    key = "given"
    label = "Given points"

    def __init__(self, dataset=None, **params):  # None if values are only checked
        super().__init__(**params)
        self._dataset = dataset

    def loader(self):
        return lambda: self._dataset

    def portable(self, data, dataset):
        """Return the points as a file that holds them."""
        whole = self._dataset
        labels = {} if whole.y is None else {"y": whole.y}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, X=whole.X, **labels)
        file = packed(StoredFile.of("given points.npz", buffer.getvalue()))
        return "upload", {"file": file, "part": data["part"]}
