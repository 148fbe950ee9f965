"""Points from a file of the user."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
import param
from kdegraph import datasets
from kdegraph.diagnosis import unequal_columns

from ..checks import quoted
from ..point_columns import TableDataset
from ..uploads import StoredFile
from .base import Source
from .column_facts import facts
from .column_scales import SCALES, ColumnScales, checked_choices, rescaling_of, scaling_of
from .generators import PIXELS
from .places import are_places, with_metric
from .user_files import decoded, name_of, packed, read, stored

NO_LABELS = "none"
# These belong to the columns of one file.
COLUMN_CHOICES = ("columns", "label_column", "dates", *SCALES)


class NewTable(NamedTuple):
    """Hold what is chosen by itself for a table that is opened."""

    file: Any = None
    n_incomplete: int = 0  # rows that are left out, as cells are missing
    unequal: str = ""  # why the columns are standardized; empty if they are not
    standardize: tuple[str, ...] = ()
    metric: str = "euclidean"

    @classmethod
    def of(cls, file, table, dataset):
        """Choose for the points of the complete rows of a table."""
        n_incomplete = table.n_rows - dataset.n_points
        if are_places(dataset.feature_names, dataset.X.T):
            return cls(file, n_incomplete, metric="haversine")
        finding = unequal_columns(dataset.X, dataset.feature_names)
        if finding is None:
            return cls(file, n_incomplete)
        return cls(file, n_incomplete, finding.observation, dataset.feature_names)


class Upload(ColumnScales, Source):
    """Read a table or a picture from a file; then its columns can be chosen.

    `contents` is the `Table` or `Picture` in the file that was read last, or None.
    """

    key = "upload"
    label = "File"
    controls = ("file", *COLUMN_CHOICES, "incomplete", "metric", "pixels")
    same_points = (*COLUMN_CHOICES, "metric")
    missing = "Choose a file under Data, or drop one there."
    widgets: ClassVar[dict] = {
        "file": "file",
        "columns": "columns",
        **dict.fromkeys(COLUMN_CHOICES[1:], "none"),
        "pixels": "steps",
    }

    file = param.Parameter(
        doc="CSV, TSV, Parquet, NPY or NPZ with one point per row, or a PNG or JPEG picture.",
        label="Choose or drop a file",
    )
    columns = param.ListSelector(
        default=[], objects=[], label="Columns", doc="The coordinates of the points."
    )
    label_column = param.Selector(
        objects=[NO_LABELS], label="Label column", doc="True labels, to compare the clusters with."
    )
    dates = param.Dict(default={}, doc="What columns of dates count as, by name: `DATE_PARTS`.")
    incomplete = param.Boolean(
        False, label="Leave out incomplete rows", doc="Leave out rows in which a number is missing."
    )
    metric = param.Selector(
        default="euclidean",
        objects={
            "Euclidean": "euclidean",
            "Angle (cosine), for embeddings": "cosine",
            "Kilometers, of latitude and longitude": "haversine",
        },
        label="Distance",
        doc="Between points: straight, by their directions alone, or on the Earth, in degrees.",
    )
    color_column = param.String(doc="The column by which the points are colored; empty for none.")
    facts = param.Parameter(default=(), doc="The `ColumnFacts` of all columns of the table.")
    new_table = param.Parameter(default=NewTable(), doc="What was chosen for the table by itself.")
    storage = param.Parameter(doc="The `KeptFiles` of the server; None in notebooks.")
    unkept = param.String(doc="Why an uploaded file is not kept on the server; empty if it is.")
    pixels = param.Selector(
        default=10_000,
        objects=list(PIXELS),
        label="Pixels of the picture",
        doc="The picture is scaled down to at most this many pixels.",
    )

    def __init__(self, **params):
        super().__init__(**params)
        self.contents = None
        self._contents_of = None
        self._found = None
        self._wanted = (None, {})  # a file that has not been read yet, and choices of its columns
        self._opened = NewTable()
        self._unkept = ""  # the next value of `unkept`

    def applicable(self):
        if self.contents is None:
            return ("file",)
        if self.contents.kind == "image":
            return ("file", "pixels")
        return ("file", "columns", "label_column", "incomplete", "metric")

    def role(self, name):
        """Return the use of a column: "feature", of a date one of `DATE_PARTS`, "label", only
        "color", or "ignore".
        """
        if name == self.label_column:
            return "label"
        if name in self.columns:
            return self.dates.get(name, "feature")
        return "color" if name == self.color_column else "ignore"

    def assign(self, names, role):
        """Give columns a role; only one, the first, can be the label or the color."""
        names = names[:1] if role in ("label", "color") else names
        if role == "color":
            self.color_column = names[0]
        elif any(self.role(name) == "color" for name in names):
            self.color_column = ""
        is_date = role in datasets.DATE_PARTS
        chosen = {*names} if is_date or role == "feature" else set()
        features = {*self.columns} - {*names} | chosen
        dates = {name: part for name, part in self.dates.items() if name not in names}
        label = NO_LABELS if self.label_column in names else self.label_column
        columns = [found.name for found in self.facts if found.name in features]
        self.param.update(
            columns=columns,
            metric=self.metric if columns == self.columns else self._suiting_metric(columns),
            label_column=names[0] if role == "label" else label,
            dates={**dates, **dict.fromkeys(names, role)} if is_date else dates,
        )

    def _suiting_metric(self, names):
        """Return the distance for features: on the Earth for a latitude and a longitude alone."""
        if are_places(names, [self.contents.column(name).values for name in names]):
            return "haversine"
        return "euclidean" if self.metric == "haversine" else self.metric

    @param.depends("label_column", watch=True)
    def _leave_out_label(self):
        """Remove the label from the features, as the clusters would agree with it."""
        if self.label_column in self.columns:
            self.columns = [name for name in self.columns if name != self.label_column]

    @property
    def lacks_cells(self):
        """Return whether some rows of the table have no number in one of the features."""
        columns = getattr(self.contents, "columns", ())  # a picture has none
        return any(
            column.name in self.columns and not np.isfinite(column.values).all()
            for column in columns
        )

    @property
    def automatic(self):
        """Return the `NewTable` of the file that is open."""
        return self.new_table if self.new_table.file is self._contents_of else NewTable()

    def _wanted_of(self, file):
        """Return the choices of columns with which a file is restored; none for others."""
        return self._wanted[1] if self._wanted[0] is file else {}

    def loader(self):
        if self.file is None:
            return None
        file, metric, pixels = self.file, self.metric, self.pixels
        contents = self.contents if self._contents_of is file else None
        wanted = self._wanted_of(file)
        decided = (self._opened.file, self.new_table.file)
        is_new = all(known is not file for known in decided) and not wanted
        if contents is not None:
            wanted = {name: getattr(self, name) for name in COLUMN_CHOICES}
        options = {"dropna": self.incomplete or is_new, **(_chosen(wanted) if wanted else {})}

        def load():
            found = contents
            if contents is None:
                found = read(file)
                columns = getattr(found, "columns", ())  # a picture has none
                self._found = (file, found, [facts(column) for column in columns])
            self._unkept = self._why_unkept(file)
            try:
                if found.kind == "image":
                    return found.to_dataset(max_pixels=pixels)
                dataset = found.to_dataset(**options)
                scaling, distance = rescaling_of(wanted) if wanted else {}, metric
                if is_new:
                    self._opened = opened = NewTable.of(file, found, dataset)
                    scaling, distance = {"standardize": opened.standardize}, opened.metric
                if distance != "haversine":  # degrees stay as they are
                    dataset = datasets.rescale(dataset, **scaling)
                return with_metric(TableDataset.of(dataset, found), distance)
            except ValueError as error:
                text = str(error)
                raise ValueError(text if found.name in text else f"{found.name}: {text}") from None

        return load

    def settle(self):
        """See `Source.settle`; offer the columns of a new table, and show what was chosen."""
        self.unkept = self._unkept
        self._offer_columns()
        if self._opened is not self.new_table and self._opened.file is self._contents_of:
            self.param.update(
                new_table=self._opened,
                standardize=[*self._opened.standardize],
                incomplete=self._opened.n_incomplete > 0,
                metric=self._opened.metric,
            )

    def _why_unkept(self, file):
        """Keep a file that was uploaded; return why it cannot be kept, or ""."""
        if not isinstance(file, StoredFile):
            return ""
        if self.storage is None:
            return "this server keeps no files"
        try:
            self.storage.keep(file)
        except ValueError as error:
            return str(error)
        return ""

    def delete(self, key):
        """Delete a kept file; the present data stay."""
        self.storage.delete(key)
        if isinstance(self.file, StoredFile) and key == self.storage.key_of(self.file):
            self.unkept = "it was deleted"

    def _offer_columns(self):
        """Offer the columns of a new table."""
        if self._found is None or self._found[0] is self._contents_of:
            return
        if self._found[0] is not self.file:
            return  # reading it was cancelled
        self._contents_of, self.contents, self.facts = self._found
        if self.contents.kind == "image":
            return
        can_be = [c for c in self.contents.columns if c.numeric or c.kind == "date"]
        names = [column.name for column in can_be]
        wanted, self._wanted = self._wanted_of(self._contents_of), (None, {})
        self.param.columns.objects = names
        self.param.label_column.objects = [
            NO_LABELS,
            *(column.name for column in self.contents.columns if column.classifies),
        ]
        with param.parameterized.batch_call_watchers(self):
            label = wanted.get("label_column")
            if label not in self.param.label_column.objects:
                label = self.contents.suggested_label or NO_LABELS
            columns = wanted["columns"] if wanted else self.contents.suggested_features
            self.param.update(
                columns=[name for name in columns if name in names],
                label_column=label,
                dates=wanted.get("dates", {}),
                **scaling_of({**wanted, "columns": names}),
            )

    def recall(self):
        """See `Source.recall`; the present columns are not those of a file that is yet unread."""
        data = super().recall()
        if self.file is not self._contents_of:
            defaults = self.defaults()
            unread = self._wanted_of(self.file)
            data |= {name: unread.get(name, defaults[name]) for name in COLUMN_CHOICES}
        return data

    def restore(self, data):
        """See `Source.restore`; the columns of another file are chosen after it has been read."""
        data = dict(data)
        if data["file"] is not self._contents_of and data["columns"]:
            self._wanted = data["file"], {name: data.pop(name) for name in COLUMN_CHOICES}
        else:
            self._wanted = (None, {})
            if data["file"] is not self._contents_of:
                data = {name: data[name] for name in data if name not in COLUMN_CHOICES}
        self.param.update(**data)

    def checked(self, data):
        """See `Source.checked`; the file that is open may be missing, or be a name."""
        opened = name_of(self.file)
        data = {**self.defaults(), "file": opened, **data}
        key = data.pop("kept", None)
        if key is not None and self.storage is not None:
            data["file"] = self._found_by(key, data["file"])
        elif opened is not None and data["file"] == opened:
            data["file"] = self.file
        chosen, label, file = checked_choices(data), data["label_column"], data["file"]
        if not isinstance(label, str):
            raise ValueError(f"label_column must be the name of a column, got {quoted(label)}")
        if file is not None and file is not self.file and not isinstance(file, StoredFile):
            advice = "choose it under Data, or open a session file"
            raise ValueError(f"the file {quoted(file)} cannot be part of an address: {advice}")
        rest = {name: data[name] for name in data if name not in ("file", *COLUMN_CHOICES)}
        return {
            **self.defaults(),
            **super().checked(rest),
            **chosen,
            "file": file,
            "columns": [name for name in chosen["columns"] if name != label],
            "label_column": label,
        }

    def _found_by(self, key, name):
        """Return the file with a key in an address; a ValueError names the file that is missing."""
        if isinstance(self.file, StoredFile) and key == self.storage.key_of(self.file):
            return self.file
        if (file := self.storage.find(key)) is None:
            raise ValueError(f"the file {quoted(name)} is not on this server: choose it under Data")
        return file

    def addressed(self, data):
        """See `Source.addressed`; an address has the name of the file, and its key."""
        file = data["file"]
        key = None
        if self.storage is not None and isinstance(file, StoredFile):
            key = self.storage.key_of(file)
        return {**data, "file": name_of(file), "kept": key}

    def portable(self, data, dataset):
        return self.key, {**data, "file": packed(stored(data["file"]))}

    def unpack(self, data):
        file = data.get("file")
        if file is None:
            return data
        if not isinstance(file, dict) or not isinstance(file.get("name"), str):
            raise ValueError(f"the session file is damaged: its data file is {quoted(file)}")
        if "content" in file:
            try:
                unpacked = StoredFile.of(file["name"], *decoded(file["content"]))
            except (ValueError, TypeError):
                raise ValueError(
                    f"the session file is damaged: {file['name']:.80} in it cannot be read"
                ) from None
            return {**data, "file": unpacked}
        known = name_of(self.file) is not None
        if known and stored(self.file).sha256 == file.get("sha256"):
            return {**data, "file": self.file}
        raise ValueError(
            f"the session needs the file {file['name']:.80}, which is too large to be part of it: "
            "open that file first, then the session"
        )

    def script(self, data, dataset):
        name = name_of(data["file"])
        if self.contents.kind == "image":
            return [f"data = kdegraph.datasets.load({name!r}, max_pixels={data['pixels']!r})"]
        options = {**_chosen(data), "dropna": data["incomplete"]}
        scaling = {key: value for key, value in rescaling_of(data).items() if value}
        if dataset.metric == "haversine":
            options["columns"], scaling = list(dataset.feature_names), {}
        lines = [f"data = kdegraph.datasets.load({name!r}, {_arguments(options)})"]
        if scaling:
            lines.append(f"data = kdegraph.datasets.rescale(data, {_arguments(scaling)})")
        return lines


def _chosen(data):
    """Return the columns, the label and the dates in `data` as `Table.to_dataset` takes them."""
    label = data["label_column"]
    columns = [name for name in data["columns"] if name != label]
    dates = {name: part for name, part in data["dates"].items() if name in columns}
    options = {"columns": columns, "label": None if label == NO_LABELS else label}
    return {**options, "dates": dates} if dates else options


def _arguments(values):
    """Return arguments of a function as Python code."""
    return ", ".join(f"{name}={value!r}" for name, value in values.items())
