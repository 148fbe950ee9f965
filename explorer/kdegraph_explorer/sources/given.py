"""Points that a program passed in."""

from .base import Source


class Given(Source):
    """A dataset that exists already. Not in `SOURCES`: a session has it only when it was given one."""

    key = "given"
    label = "Given points"
    description = "The points that were passed to the explorer."

    def __init__(self, dataset, **params):
        super().__init__(**params)
        self._dataset = dataset

    def load(self):
        """See `Source.load`."""
        return self._dataset
