"""Files from the user's disk."""

from typing import ClassVar

import param
from kdegraph import datasets

from .base import Source
from .photographs import PIXELS

NO_LABELS = "none"


class Upload(Source):
    """A table or a picture in a file; after reading it, the columns can be chosen.

    Attributes
    ----------
    contents : kdegraph.datasets.Table, Picture or None
        What was read last.
    """

    key = "upload"
    label = "File"
    controls = ("file", "columns", "label_column", "incomplete", "pixels")
    widgets: ClassVar[dict] = {"file": "file", "pixels": "steps"}

    file = param.Parameter(
        doc="CSV, TSV, Parquet, NPY or NPZ with one point per row, or a PNG or JPEG picture.", label="Choose or drop a file"
    )
    columns = param.ListSelector(default=[], objects=[], label="Columns", doc="The coordinates of the points.")
    label_column = param.Selector(objects=[NO_LABELS], label="Label column", doc="True labels, to compare the clusters with.")
    incomplete = param.Boolean(False, label="Leave out incomplete rows", doc="Leave out rows in which a number is missing.")
    pixels = param.Selector(
        default=10_000, objects=list(PIXELS), label="Pixels of the picture", doc="The picture is scaled down to at most this many pixels."
    )

    def __init__(self, **params):
        super().__init__(**params)
        self.contents = None
        self._contents_of = None
        self._found = None

    def applicable(self):
        """See `Source.applicable`."""
        if self.contents is None:
            return ("file",)
        return ("file", "pixels") if self.contents.kind == "image" else ("file", "columns", "label_column", "incomplete")

    def loader(self):
        """See `Source.loader`."""
        if self.file is None:
            return None
        file, contents, pixels = self.file, self.contents, self.pixels
        options = {"dropna": self.incomplete}
        if self._contents_of is file:
            options |= {"columns": list(self.columns), "label": None if self.label_column == NO_LABELS else self.label_column}
        else:
            contents = None

        def load():
            found = read(file) if contents is None else contents
            self._found = (file, found)
            try:
                return found.to_dataset(max_pixels=pixels) if found.kind == "image" else found.to_dataset(**options)
            except ValueError as error:
                text = str(error)
                raise ValueError(text if found.name in text else f"{found.name}: {text}") from None

        return load

    def settle(self):
        """See `Source.settle`: offer the columns of a new table."""
        if self._found is None or self._found[0] is self._contents_of:
            return
        self._contents_of, self.contents = self._found
        if self.contents.kind == "image":
            return
        names = [column.name for column in self.contents.columns if column.numeric]
        self.param.columns.objects = names
        self.param.label_column.objects = [NO_LABELS, *(column.name for column in self.contents.columns if column.kind != "other")]
        self.param.update(columns=list(self.contents.suggested_features), label_column=self.contents.suggested_label or NO_LABELS)


def read(file):
    """Read a path, or the pair of a name and bytes; raise what came in place of a file."""
    if isinstance(file, ValueError):
        raise file
    if isinstance(file, tuple):
        name, content = file
        return datasets.read(content, filename=name)
    return datasets.read(file)
