"""Options that several commands share, and reading FILE with them."""

from dataclasses import dataclass
from functools import reduce
from typing import Any

import click

KERNELS = ("gaussian", "laplacian", "exponential")
SEED_MAX = 2**63 - 1


class Auto(click.ParamType):
    """A number of a given type, or the word "auto"."""

    def __init__(self, number, name):
        self.number = number
        self.name = name

    def convert(self, value, parameter, context):
        """See `click.ParamType.convert`."""
        return value if value == "auto" else self.number.convert(value, parameter, context)

    def get_metavar(self, param, ctx=None):
        """See `click.ParamType.get_metavar`."""
        return f"{self.name}|auto"


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
        return (
            None
            if value in (None, "all")
            else click.IntRange(min=1).convert(value, parameter, context)
        )


FILE = click.Path(exists=True, dir_okay=False)

_READING = (
    click.option(
        "--columns",
        multiple=True,
        metavar="NAME[,NAME...]",
        help="Columns that are features, by name or position from 0. [default: all of numbers]",
    ),
    click.option(
        "--label",
        metavar="NAME",
        help="Column of known labels, to compare with; 'none' for none. [default: one called label, class, target, ...]",
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
        default=1.0,
        show_default=True,
        help="Gaussian blur of a picture, in pixels.",
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
        type=Auto(Positive(), "number"),
        default=None,
        help="Bandwidth. [default: auto, from the distances to near neighbors]",
    ),
    click.option(
        "--kernel",
        type=click.Choice(KERNELS),
        default="gaussian",
        show_default=True,
        help="Kernel of the graph.",
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
        type=click.IntRange(0, SEED_MAX),
        default=0,
        metavar="NUMBER",
        show_default=True,
        help="The same seed gives the same result.",
    ),
    click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors."),
)


def data_and_graph_options(command):
    """Add the options for reading FILE and for building a graph to a command."""
    return reduce(lambda decorated, option: option(decorated), reversed(_READING + _GRAPH), command)


@dataclass
class Input:
    """What was read from FILE.

    Parameters
    ----------
    data : kdegraph.datasets.Dataset
    label : str or None
        Name of the column of known labels.
    n_rows : int
        Rows of the file, also those that were left out.
    """

    data: Any
    label: str | None
    n_rows: int


def read_input(file, columns=(), label=None, dropna=False, max_pixels=None, blur=1.0):
    """Read FILE.

    Parameters
    ----------
    file : str
    columns : sequence of str
        Names, several to a string if separated by commas.
    label : str, optional
        A name, "none", or None for the suggested column.
    dropna, max_pixels, blur
        See `kdegraph.datasets.load`.

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
    if contents.kind == "image":
        if columns or label not in (None, "none"):
            raise ValueError(
                f"{file} is a picture: its points are its pixels, there are no columns or labels to choose"
            )
        data = contents.to_dataset(blur=blur, max_pixels=max_pixels)
        return Input(data, None, data.n_points)
    names = {column.name for column in contents.columns}
    chosen = [
        name
        for given in columns
        for name in ([given] if given in names else [part.strip() for part in given.split(",")])
    ]
    label = "auto" if label is None else None if label == "none" and "none" not in names else label
    data = contents.to_dataset(chosen or None, label, dropna=dropna)
    target = (
        None
        if data.y is None
        else contents.suggested_label
        if label == "auto"
        else contents.column(label, "label").name
    )
    return Input(data, target, contents.n_rows)
