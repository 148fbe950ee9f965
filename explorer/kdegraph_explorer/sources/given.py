"""Points that a program passed in."""

from .base import Source


class Given(Source):
    """A dataset that exists already. Not in `SOURCES`: a session has it only when it was given one."""

    key = "given"
    label = "Given points"

    def __init__(self, dataset, **params):
        super().__init__(**params)
        self._dataset = dataset

    def loader(self):
        """See `Source.loader`."""
        return lambda: self._dataset
