"""What an experiment is, and the list of all experiments."""

import inspect
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

EXPERIMENTS = {}


@dataclass(frozen=True)
class Picture:
    """Lines that the report draws from the rows of an experiment, both axes logarithmic.

    There is one line for each value of the column `by`, in one plot for each value of `plots`.
    Only rows with the values in `where` count.
    """

    x: str
    y: str
    by: str
    plots: str = ""
    where: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """A table of measurements.

    Attributes
    ----------
    measure : callable
        Called with the parameters of one row by name; returns the measured values by name. Arrays
        among them are kept in a file beside the table, not in the table. Keyword-only parameters
        are options of the command line: what belongs to the place of the run, such as folders, and
        is not noted in the row. An experiment is skipped without an option that has no default.
    rows : callable
        Returns the parameters of all rows; its keyword-only parameters are options, too.
    source : str
        Where the claim stands that is measured here, and what it says.
    why : str
        Why the measured values differ from those of the source.
    better : dict
        For values by which methods are compared (column `method`): "less" or "more".
    summary : callable, optional
        From all rows to those of the table in the report; by default all rows.
    shown : tuple of str
        The measured values in the report; by default all.
    picture : Picture, optional
    draw : callable, optional
        From all rows and their `Table`, with the arrays, to a figure of another kind.
    limit : float
        Seconds after which a row is given up.
    """

    measure: Callable[..., dict]
    rows: Callable[..., Iterable[dict]]
    source: str
    why: str = ""
    better: dict[str, str] = field(default_factory=dict)
    summary: Callable[[list[dict]], list[dict]] | None = None
    shown: tuple[str, ...] = ()
    picture: Picture | None = None
    draw: Callable | None = None
    limit: float = 600.0

    @property
    def name(self):
        return self.measure.__name__

    @property
    def description(self):
        """The first sentence of what `measure` says of itself."""
        return " ".join(inspect.getdoc(self.measure).split("\n\n")[0].split())

    @property
    def remarks(self):
        """What it says beyond its first sentence."""
        paragraphs = inspect.getdoc(self.measure).split("\n\n")[1:]
        return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)

    @property
    def parameters(self):
        """The names of the columns that make a row what it is."""
        found = inspect.signature(self.measure).parameters.values()
        return [one.name for one in found if one.kind is not one.KEYWORD_ONLY]

    @property
    def options(self):
        """The names of the options that it needs."""
        return options_of(self.measure, needed=True) | options_of(self.rows, needed=True)


def experiment(rows, **about):
    """Enter the decorated function among the experiments; see `Experiment` for the arguments."""

    def enter(measure):
        EXPERIMENTS[measure.__name__] = Experiment(measure, rows, **about)
        return measure

    return enter


def options_of(function, needed=False):
    """The names of the keyword-only parameters of a function, or of those without a default."""
    found = inspect.signature(function).parameters.values()
    return {
        one.name
        for one in found
        if one.kind is one.KEYWORD_ONLY and not (needed and one.default is not one.empty)
    }


def grid(**values):
    """Every combination of some values of each parameter."""
    return [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]
