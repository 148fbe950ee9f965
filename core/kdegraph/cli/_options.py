"""Options that several commands share, and reading FILE with them."""

import copy
import sys
from types import SimpleNamespace
from typing import Any, NamedTuple

import click

from kdegraph.runtime.progress import responsive

# As in `kdegraph.validation`, `kdegraph.geometry.kernel_functions`, `kdegraph.metrics` and
# `kdegraph.datasets`, which take long to import.
LOCAL_WORDS = ("local", "moderate")
KERNELS = ("gaussian", "laplacian", "exponential", "matern-3/2", "matern-5/2")
METRICS = ("euclidean", "cosine", "haversine")
MAX_PIXELS = 20_000
FILE = click.Path(exists=True, dir_okay=False)
DATA_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)


class Number(click.FloatRange):
    """A range of numbers, which messages call a number."""

    name = "number"


class Integer(click.IntRange):
    """A range of integers, which messages call an integer."""

    name = "integer"


POSITIVE = Number(min=0, min_open=True)


class Auto(click.ParamType):
    """A number of a given type, or one of a few words."""

    def __init__(self, number, name, words=("auto",)):
        self.number = copy.copy(number)
        self.number.name = " or ".join([name, *words])  # in messages
        self.name = name
        self.words = words

    def convert(self, value, parameter, context):
        """See `click.ParamType.convert`."""
        return value if value in self.words else self.number.convert(value, parameter, context)

    def get_metavar(self, param, ctx=None):
        """See `click.ParamType.get_metavar`."""
        return "|".join([self.name, *self.words])


_OPTIONS = (
    click.option(
        "--columns",
        multiple=True,
        metavar="NAME[,NAME...]",
        help="Columns that are features, by name or position from 0. [default: all numeric "
        "columns except identifiers, constants, dates and those that are mostly missing]",
    ),
    click.option(
        "--categories",
        multiple=True,
        metavar="NAME[,NAME...]",
        help="Use columns of text as categories, and also these, such as numbers that are codes; "
        "auto: text alone. --columns leaves others out. Each column then counts as one, see "
        "kdegraph.datasets.table_points, and --scale has no effect.",
    ),
    click.option(
        "--label",
        metavar="NAME",
        help="Column of known labels, to compare with; 'none' for none. "
        "[default: one called label, class, target, ..., else the only one of text that repeats]",
    ),
    click.option(
        "--id",
        metavar="NAME",
        help="Column that identifies the rows: it is not a feature, and stays in what is written.",
    ),
    click.option(
        "--dropna", is_flag=True, help="Leave out rows with missing cells (their label is -1)."
    ),
    click.option(
        "--max-pixels",
        type=Auto(Integer(min=1), "number", ("all",)),
        help=f"A larger picture is scaled down to this many pixels. [default: {MAX_PIXELS}]",
    ),
    click.option(
        "--blur",
        type=Number(0, 1000, max_open=True),
        help="Gaussian blur of a picture, in pixels; by default 3, and less for small ones.",
    ),
    click.option(
        "--method",
        type=click.Choice(["kde", "knn"]),
        default="kde",
        show_default=True,
        help="Sampled kernel graph, or k-nearest-neighbor graph.",
    ),
    click.option(
        "--sigma",
        type=Auto(POSITIVE, "number", ("auto", *LOCAL_WORDS)),
        help="Bandwidth; local, moderate: one for each point, which follows the density fully or "
        "less; auto: from the distances to near neighbors. [default: auto; of cluster the most "
        "stable of several]",
    ),
    click.option(
        "--perplexity",
        type=POSITIVE,
        metavar="NUMBER",
        help="Effective number of neighbors of a point, for --sigma local and moderate. "
        "[default: 5]",
    ),
    click.option(
        "--alpha",
        type=Number(0, 1),
        metavar="NUMBER",
        help="How far densities are divided out of the kernel, from 0 to 1. [default: 0]",
    ),
    click.option(
        "--kernel",
        type=click.Choice(KERNELS),
        default="gaussian",
        show_default=True,
        help="Kernel function of the graph.",
    ),
    click.option(
        "--metric",
        type=click.Choice(METRICS),
        default="euclidean",
        show_default=True,
        help="Distance in the kernel. cosine: by the angle alone, for embeddings; haversine: "
        "kilometers between latitudes and longitudes in degrees, such as --columns lat,lon.",
    ),
    click.option(
        "--rounds",
        type=Auto(Integer(min=1), "number"),
        help="Neighbors drawn per point (the paper's L). [default: auto]",
    ),
    click.option(
        "--neighbors",
        type=Integer(min=1),
        metavar="NUMBER",
        help="Neighbors per point of --method knn. [default: 10]",
    ),
    click.option(
        "--seed",
        type=Integer(0, 2**63 - 1),  # all libraries take these
        default=0,
        metavar="NUMBER",
        show_default=True,
        help="The same seed gives the same result.",
    ),
    click.option(
        "--deadline",
        type=POSITIVE,
        metavar="SECONDS",
        help="Give up after this time, with status 1, and leave the file of -o as it is.",
    ),
    click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors."),
)


def data_and_graph_options(command):
    """Add the options for reading FILE and for building a graph to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def scale_option(default):
    """Return a decorator that adds the option for the units of columns to a command."""
    return click.option(
        "--scale",
        type=click.Choice(["auto", "standardize", "none"]),
        default=default,
        show_default=True,
        help="Scales of the columns. none: as in FILE; standardize: each column gets the standard "
        "deviation 1, which is then the unit of --sigma; auto: standardize where some columns vary "
        "more than 100 times as much as others and --sigma is not a number, but none for points "
        "that are read block by block.",
    )


def check_options(given):
    """Return the options as attributes; refuse those that the method does not use."""
    options = SimpleNamespace(**given)
    local = options.sigma in LOCAL_WORDS
    if options.method == "kde" and options.neighbors is not None:
        raise click.UsageError("--neighbors goes with --method knn; a kernel graph has --rounds")
    if options.method == "knn":
        if options.rounds is not None:
            raise click.UsageError("--rounds goes with --method kde; a k-NN graph has --neighbors")
        if local:
            raise click.UsageError(f"--sigma {options.sigma} goes with --method kde")
        if options.alpha is not None:
            raise click.UsageError("--alpha goes with --method kde")
    if options.categories and (options.metric != "euclidean" or options.scale == "standardize"):
        raise click.UsageError(
            "--categories goes with --metric euclidean, and without --scale standardize"
        )
    if options.metric == "haversine" and options.scale == "standardize":
        raise click.UsageError("--metric haversine takes degrees, which --scale standardize alters")
    if options.perplexity is not None and not local:
        raise click.UsageError("--perplexity goes with --sigma local and --sigma moderate")
    return options


class Input(NamedTuple):
    """The contents of FILE."""

    data: Any  # the Dataset, in the units of the file
    scaled: Any  # the same with the columns scaled as --scale says: the points of the graph
    note: str | None = None  # what --scale auto and the types of columns have changed
    label: str | None = None  # the name of the column of known labels
    identifier: Any = None  # the Column of --id
    table: Any = None  # all of the file, including skipped rows; None for a picture
    unused: str = ""  # columns that are not features by default, with the reasons


def read_input(file, options, progress=None):
    """Read FILE into an `Input`; raises as `kdegraph.datasets.load`."""
    from kdegraph.runtime.memory import available_memory

    max_bytes = max(available_memory() // 3, 1)
    source = _standard_input(max_bytes + 1, progress) if file == "-" else file
    return _read_input(file, source, options, max_bytes, progress=progress)


def _standard_input(most, progress):
    """Return the bytes of standard input, or as many of them as the limit."""
    found, size = [], 0
    while size < most and (part := sys.stdin.buffer.read1(min(2**20, most - size))):
        found.append(part)
        size += len(part)
        if progress is not None:
            progress("reading", 0.0)
    return b"".join(found)


@responsive
def _read_input(file, source, options, max_bytes, *, progress):
    """Read the content of FILE, which may be its path, into an `Input`."""
    from kdegraph import datasets

    contents = datasets.read(source, max_bytes=max_bytes, progress=progress)
    if isinstance(contents, datasets.Picture):
        chosen = options.columns or options.categories or options.id is not None
        if chosen or options.label not in (None, "none") or options.scale == "standardize":
            raise ValueError(
                f"{file} is a picture: its points are its pixels, there are no columns or labels "
                "to choose, and no columns to standardize"
            )
        max_pixels = None if options.max_pixels == "all" else options.max_pixels or MAX_PIXELS
        data = contents.to_dataset(blur=options.blur, max_pixels=max_pixels)
        return Input(data, data)
    if options.max_pixels is not None or options.blur is not None:
        raise ValueError(f"{file} is not a picture: --max-pixels and --blur apply to pictures only")
    return _read_table(contents, options)


def _read_table(table, options):
    """Return the `Input` of a `kdegraph.datasets.Table`."""
    from kdegraph.io.features import choose, list_unused

    names = {column.name for column in table.columns}
    label = "auto" if options.label is None else options.label
    if label == "none" and "none" not in names:
        label = None
    columns = split_names(options.columns, names) or None
    categories = split_names(options.categories, names) or None
    if categories == ["auto"] and "auto" not in names:
        categories = "auto"
    features, target, parts = choose(table, columns, label, categories)
    identifier = None if options.id is None else table.column(options.id, "--id")
    if identifier in features:
        if columns is not None or identifier.name in split_names(options.categories, names):
            raise ValueError(
                f"--id: column {identifier.name!r} is also one of --columns or --categories, so it "
                "would be a feature"
            )
        columns = [feature.name for feature in features if feature is not identifier]
    data = table.to_dataset(columns, label, dropna=options.dropna, categories=categories)
    found = None if target is None else target.name
    unused = list_unused(table, [*features, target, identifier], text=True)
    if unused:
        unused += "; numbers are used if --columns names them, text if --categories does"
    scaled, note = (data, None) if categories else _scale_columns(data, options)
    coordinates = {name for part in parts for name in part.names}
    texts = [each.name for each in features if each.as_text and each.name in coordinates]
    if texts:
        words = ", ".join(map(repr, texts))
        told = f"numbers that are stored as text are used as numbers: {words}"
        note = f"{told}; {note}" if note else told
    return Input(data, scaled, note, found, identifier, table, unused)


def _scale_columns(data, options):
    """Return the data with the columns scaled as --scale says, and a note or None, see `Input`."""
    from kdegraph.datasets import rescale
    from kdegraph.diagnosis import unequal_columns

    unequal = None
    units_matter = options.metric == "euclidean" and not isinstance(options.sigma, float)
    if options.scale == "auto" and units_matter:
        unequal = unequal_columns(data.X, data.feature_names)
    if unequal is None and options.scale != "standardize":
        return data, None
    note = unequal and f"{unequal.observation}; all are standardized, which --scale none prevents"
    return rescale(data, standardize=data.feature_names), note


def split_names(texts, known=()):
    """Split texts at commas, except for those that are `known` names as they are."""
    parts = ([text] if text in known else text.split(",") for text in texts)
    return [name if name in known else name.strip() for part in parts for name in part]
