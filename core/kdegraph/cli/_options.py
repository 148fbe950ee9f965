"""Options that several commands share, and reading FILE with them."""

from dataclasses import dataclass, fields
from functools import reduce, wraps
from typing import Any

import click

# As in `kdegraph.validation` and `kdegraph.geometry.kernel_functions`, which take long to import.
LOCAL_WORDS = ("local", "moderate")
KERNELS = ("gaussian", "laplacian", "exponential", "matern-3/2", "matern-5/2")
# Every library takes seeds up to here.
LARGEST_SEED = 2**63 - 1


class Auto(click.ParamType):
    """A number of a given type, or one of a few words."""

    def __init__(self, number, name, words=("auto",)):
        self.number = number
        self.name = name
        self.words = words

    def convert(self, value, parameter, context):
        """See `click.ParamType.convert`."""
        return value if value in self.words else self.number.convert(value, parameter, context)

    def get_metavar(self, param, ctx=None):
        """See `click.ParamType.get_metavar`."""
        return "|".join([self.name, *self.words])


class Positive(click.ParamType):
    """A positive, finite number."""

    name = "number"

    def convert(self, value, parameter, context):
        """See `click.ParamType.convert`."""
        number = click.FLOAT.convert(value, parameter, context)
        if not 0 < number < float("inf"):
            self.fail(f"{value} is not a positive, finite number.", parameter, context)
        return number


class Pixels(click.ParamType):
    """A whole number from 1, or the word "all"."""

    name = "number|all"

    def convert(self, value, parameter, context):
        """See `click.ParamType.convert`."""
        if value in (None, "all"):
            return None
        return click.IntRange(min=1).convert(value, parameter, context)


FILE = click.Path(exists=True, dir_okay=False)

_READING = (
    click.option(
        "--columns",
        multiple=True,
        metavar="NAME[,NAME...]",
        help="Columns that are features, by name or position from 0. [default: all of numbers, "
        "but no identifiers, constants and dates]",
    ),
    click.option(
        "--label",
        metavar="NAME",
        help="Column of known labels, to compare with; 'none' for none. "
        "[default: one called label, class, target, ...]",
    ),
    click.option(
        "--dropna", is_flag=True, help="Leave out rows with missing cells (their label is -1)."
    ),
    click.option(
        "--max-pixels",
        type=Pixels(),
        default="20000",
        show_default=True,
        help="A larger picture is scaled down to this many pixels.",
    ),
    click.option(
        "--blur",
        type=click.FloatRange(0, 1000, max_open=True),
        help="Gaussian blur of a picture, in pixels; by default 3, and less for small ones.",
    ),
)
_GRAPH = (
    click.option(
        "--method",
        type=click.Choice(["kde", "knn"]),
        default="kde",
        show_default=True,
        help="Sampled kernel graph, or k-nearest-neighbor graph.",
    ),
    click.option(
        "--sigma",
        type=Auto(Positive(), "number", ("auto", *LOCAL_WORDS)),
        default=None,
        help="Bandwidth; local, moderate: one for each point, which follows the density fully or "
        "less. [default: auto, from the distances to near neighbors]",
    ),
    click.option(
        "--perplexity",
        type=Positive(),
        default=None,
        help="Effective number of neighbors of a point, for --sigma local and moderate. "
        "[default: 5]",
    ),
    click.option(
        "--alpha",
        type=click.FloatRange(0, 1),
        default=None,
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
        "--rounds",
        type=Auto(click.IntRange(min=1), "number"),
        default=None,
        help="Neighbors drawn per point (the paper's L). [default: auto]",
    ),
    click.option(
        "--neighbors",
        type=click.IntRange(min=1),
        default=None,
        metavar="NUMBER",
        help="Neighbors per point of --method knn. [default: 10]",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, LARGEST_SEED),
        default=0,
        metavar="NUMBER",
        show_default=True,
        help="The same seed gives the same result.",
    ),
    click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors."),
)


@dataclass(frozen=True)
class ReadingOptions:
    """How FILE is read.

    Attributes
    ----------
    columns : tuple of str
        Names of the features, several to a string if separated by commas; empty for all numbers.
    label : str or None
        Name of the column of known labels, "none", or None for the suggested column.
    dropna, max_pixels, blur
        See `kdegraph.datasets.load`.
    """

    columns: tuple[str, ...]
    label: str | None
    dropna: bool
    max_pixels: int | None
    blur: float | None


@dataclass(frozen=True)
class GraphOptions:
    """How a graph is built.

    Attributes
    ----------
    method : {"kde", "knn"}
    sigma : float, "auto", "local", "moderate" or None
        None is for pictures the paper's bandwidth, for other kernel graphs "auto", and for k-NN
        graphs no bandwidth, so that all weights are 1.
    perplexity : float or None
        Effective number of neighbors, for local bandwidths.
    alpha : float or None
        How far densities are divided out of the kernel; None is not at all.
    kernel : str
    rounds : int, "auto" or None
        Sampled neighbors of each point of a kernel graph.
    neighbors : int or None
        Neighbors of each point of a k-NN graph.
    seed : int
    """

    method: str
    sigma: float | str | None
    perplexity: float | None
    alpha: float | None
    kernel: str
    rounds: int | str | None
    neighbors: int | None
    seed: int


def data_and_graph_options(command):
    """Add the options for reading FILE and for building a graph to a command.

    The command gets them as `reading` and `options`, beside `quiet`.
    """

    @wraps(command)
    def collect(**values):
        reading, options = (
            kind(**{field.name: values.pop(field.name) for field in fields(kind)})
            for kind in (ReadingOptions, GraphOptions)
        )
        return command(reading=reading, options=options, **values)

    return reduce(lambda decorated, option: option(decorated), reversed(_READING + _GRAPH), collect)


@dataclass
class Input:
    """What was read from FILE.

    Attributes
    ----------
    data : kdegraph.datasets.Dataset
    label : str or None
        Name of the column of known labels.
    n_rows : int
        Rows of the file, including those that were left out.
    unused : str
        Which columns were recognized as no features; see `kdegraph.datasets.Table.unused`.
    """

    data: Any
    label: str | None
    n_rows: int
    unused: str = ""


def read_input(file: str, reading: ReadingOptions) -> Input:
    """Read FILE.

    Parameters
    ----------
    file : str
    reading : ReadingOptions

    Returns
    -------
    Input

    Raises
    ------
    ValueError
        See `kdegraph.datasets.load`.
    """
    from kdegraph import datasets
    from kdegraph.runtime.memory import available_memory

    contents = datasets.read(file, max_bytes=max(available_memory() // 3, 1))
    if isinstance(contents, datasets.Picture):
        if reading.columns or reading.label not in (None, "none"):
            raise ValueError(
                f"{file} is a picture: its points are its pixels, there are no columns or labels "
                "to choose"
            )
        data = contents.to_dataset(blur=reading.blur, max_pixels=reading.max_pixels)
        return Input(data, None, data.n_points)
    names = {column.name for column in contents.columns}
    label = _label(reading.label, names)
    columns = list(_split_names(reading.columns, names))
    data = contents.to_dataset(columns or None, label, dropna=reading.dropna)
    if data.y is None:
        found = None
    else:
        found = (
            contents.suggested_label if label == "auto" else contents.column(label, "label").name
        )
    used = [*data.feature_names, *([] if found is None else [found])]
    return Input(data, found, contents.n_rows, contents.unused(used))


def _label(given, names):
    """Return the option --label as `Table.to_dataset` takes it."""
    if given is None:
        return "auto"
    return None if given == "none" and "none" not in names else given


def _split_names(given, names):
    """Split strings at commas, except for those that are names of columns as they are."""
    for text in given:
        if text in names:
            yield text
        else:
            yield from (name.strip() for name in text.split(","))
