"""Take what a program passes to an explorer, and let it read, set and watch the choices."""

import io
import os
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import numpy as np
import param
from kdegraph import SimilarityGraph, datasets, local_bandwidths
from kdegraph.datasets import Dataset
from kdegraph.validation import LOCAL_WORDS, as_array, check_count, check_points, check_positive
from panel.viewable import Viewer

from .during import During
from .results import DECIDED
from .sources.column_scales import SCALES, check_scale
from .state import State
from .uploads import StoredFile

SETTABLE = ("sigma", "n_rounds", "n_clusters", "selection", *SCALES)
NOTHING = np.empty(0, dtype=np.intp)


class Material(NamedTuple):
    """The data that an explorer begins with: a dataset, a file or neither, and choices.

    A file is a path or a `StoredFile`; `choices` are parameters of the state.
    """

    dataset: Dataset | None = None
    file: Path | StoredFile | None = None
    choices: dict = {}  # noqa: RUF012 (never changed)


def material_of(X, y):
    """Sort out what was passed as the data: return a `Material`, or raise an error."""
    if X is None:
        if y is not None:
            raise ValueError("y was given without X; pass the points that it labels")
        return Material()
    if isinstance(X, (str, os.PathLike)):
        if y is not None:
            raise ValueError("y cannot be given with a file, which has its labels itself")
        return Material(file=_file(Path(X)))
    if isinstance(X, SimilarityGraph):
        return _of_graph(X, y)
    if isinstance(X, Dataset):
        return Material(X if y is None else _labeled(X, y))
    if hasattr(X, "__arrow_c_stream__"):
        return _of_frame(X, y)
    dataset = Dataset(check_points(X), name="given points")
    return Material(dataset if y is None else _labeled(dataset, y))


def choices_of(sigma, perplexity, n_rounds, n_clusters, dataset):
    """Check the given parameters, and return those of the state."""
    choices = {}
    if is_local(sigma):
        choices["bandwidth"] = sigma
    elif sigma is not None:
        choices["sigma"] = check_positive(sigma, "sigma")
    if perplexity is not None:
        low, high = State.param.perplexity.bounds
        choices["perplexity"] = check_count(perplexity, "perplexity", minimum=low, maximum=high)
    if n_rounds is not None:
        choices["n_rounds"] = check_n_rounds(n_rounds)
    if n_clusters is not None:
        choices["n_clusters"] = check_n_clusters(n_clusters, dataset)
    return choices


def is_local(sigma):
    """Return whether each point is to have a bandwidth of its own."""
    return isinstance(sigma, str) and sigma in LOCAL_WORDS


def check_n_rounds(n_rounds):
    """Return the number of rounds as an int."""
    return check_count(n_rounds, "n_rounds", maximum=State.param.n_rounds.bounds[1])


def check_n_clusters(n_clusters, dataset):
    """Return the number of clusters as an int, at most the number of points if known."""
    most, reason = State.param.n_clusters.bounds[1], ""
    if dataset is not None and dataset.n_points < most:
        most, reason = dataset.n_points, "(the number of points)"
    return check_count(n_clusters, "n_clusters", maximum=most, reason=reason)


def _file(path):
    """Return the path of a data file that exists."""
    datasets.file_type(path)
    if not path.is_file():
        raise ValueError(f"X is {str(path)!r}, and there is no such file")
    return path


def _of_graph(graph, y):
    """Take the points of a graph, and the parameters that it was made with."""
    if graph.points is None or graph.kernel != "gaussian":
        raise ValueError(
            "X is a graph that the explorer cannot make again, as it "
            + ("has no points" if graph.points is None else f"has the kernel {graph.kernel!r}")
            + "; pass points"
        )
    if np.ndim(graph.sigma) == 0:
        choices = {"sigma": float(graph.sigma)}
    else:
        moderate = np.array_equal(graph.sigma, local_bandwidths(graph.points, rule="moderate"))
        choices = {"bandwidth": "moderate" if moderate else "local"}
    most = State.param.n_rounds.bounds[1]
    choices |= {"n_rounds": min(graph.n_rounds, most), "seed": graph.seed}
    return Material(material_of(graph.points, y).dataset, choices=choices)


def _of_frame(frame, y):
    """Take a data frame, as a file with one table or as points with labels."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = pa.RecordBatchReader.from_stream(frame).read_all()
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise ValueError(f"X is a data frame that cannot be read: {error}") from None
    index = [name for name in table.column_names if name.startswith("__index_level_")]
    buffer = io.BytesIO()
    parquet.write_table(table.drop_columns(index), buffer)
    content = buffer.getvalue()
    is_name = isinstance(y, str)
    name = "data.parquet"
    dataset = datasets.load(content, filename=name, label=y if is_name else "auto")
    if y is None:
        return Material(file=StoredFile.of(name, content))
    return Material(dataset if is_name else _labeled(dataset, y))


def _labeled(dataset, y):
    """Return a dataset with the labels `y`, which may be of any type."""
    labels = as_array(y, "y")
    if labels.shape != (dataset.n_points,):
        raise ValueError(
            f"y must have shape ({dataset.n_points},), one label per point, got {labels.shape}"
        )
    names, numbers = np.unique(labels, return_inverse=True)
    return replace(dataset, y=numbers.astype(np.int64), label_names=tuple(map(str, names)))


class Attributes(Viewer):
    """Let a program set choices that follow the session, and that the session follows.

    A value is checked when it is set. Other attributes cannot be set.
    """

    sigma = param.Parameter(
        doc="Kernel width: a float, or 'local' or 'moderate' for one of each point. Set it to None "
        "to have it chosen automatically; it is None until it has been chosen."
    )
    n_rounds = param.Parameter(doc="Neighbors that are drawn per point, an int.")
    n_clusters = param.Parameter(
        doc="Number of clusters, an int. Set it to None to have it chosen automatically; it is "
        "None until it has been chosen."
    )
    selection = param.Parameter(
        default=NOTHING,
        doc="Indices of the selected points, an ascending int array. It can be set to indices in "
        "any order, or to a bool array with a value for each point.",
    )

    log = param.Parameter(
        default=[], doc="Names of the columns of a table that are on a log scale, a list."
    )
    standardize = param.Parameter(
        default=[],
        doc="Names of the columns of a table that are standardized, a list. It can be set to True "
        "for all features, and to False for none.",
    )
    weights = param.Parameter(
        default={}, doc="Factors by which columns of a table are multiplied, a dict by name."
    )

    def __init__(self, **params):
        super().__init__(**params)
        self._state, self._wait, self._following = None, None, During()
        self._columns = None  # the source whose columns have scales

    def _attach(self, session):
        """Follow the state of a session from now on, and have it follow."""
        self._state, self._wait = session.state, session.wait
        self._held = session.mailbox.held
        state, self._columns = session.state, session.sources["upload"]
        self._columns.param.watch(lambda *events: self._follow(), list(SCALES))
        names = ["sigma", "sigma_auto", "bandwidth", "n_rounds", "n_clusters", "clusters_auto"]
        state.param.watch(lambda *events: self._follow(), [*names, "selection", "result"])
        self.param.watch(lambda *events: self._lead(events), list(SETTABLE))
        self._follow()

    def __setattr__(self, name, value):
        if getattr(self, "_state", None) is not None and not name.startswith("_"):
            if name not in (*SETTABLE, "name"):
                raise AttributeError(_unknown(type(self), name))
            if name in SETTABLE and not self._following:
                value = self._checked(name, value)
        super().__setattr__(name, value)

    def _checked(self, name, value):
        """Return a value for an attribute, or raise an error that explains the problem."""
        if name == "selection":
            if self._state.shown is None or self._state.shown is not self._state.dataset:
                self._wait()  # other data would come without a selection
            return check_selection(value, self._state.dataset)
        if name in SCALES:
            self._wait()  # the columns of a file are known when it has been read
            if self._state.source != "upload":
                raise ValueError(
                    f"{name} is a choice for the columns of a table; these points have none"
                )
            return check_scale(self._columns, name, value)
        if value is None and name != "n_rounds":
            return None
        if name == "n_clusters":
            return check_n_clusters(value, self._state.dataset)
        if name == "n_rounds":
            return check_n_rounds(value)
        return value if is_local(value) else check_positive(value, "sigma")

    def _follow(self):
        """Copy the values of the state."""
        state = self._state
        known = state.result is not None
        one = state.sigma if known or state.sigma_chosen == "hand" else None
        with self._following:
            self.param.update(
                sigma=state.kind if state.is_local else one,
                n_rounds=state.rounds,
                n_clusters=state.n_clusters if known or not state.clusters_auto else None,
                selection=state.selection,
                **{name: getattr(self._columns, name) for name in SCALES},
            )

    def _lead(self, events):
        """Copy the values that were set to the session."""
        if self._following:
            return
        values, state = {event.name: event.new for event in events}, self._state
        scales = {name: values.pop(name) for name in SCALES if name in values}
        if is_local(values.get("sigma")):
            values["bandwidth"] = values.pop("sigma")
        elif "sigma" in values:
            values["bandwidth"] = DECIDED if values["sigma"] is None else "one"
        automatic = {
            flag: True
            for name, flag in (("sigma", "sigma_auto"), ("n_clusters", "clusters_auto"))
            if name in values and values[name] is None
        }
        with self._held():
            self._columns.param.update(**scales)
            state.choose(**{name: value for name, value in values.items() if value is not None})
            state.param.update(**automatic)


def check_selection(value, dataset):
    """Return indices of points, ascending and each once, from indices or from a mask."""
    given = as_array(value, "selection")
    n = 0 if dataset is None else dataset.n_points
    if given.dtype == bool:
        if given.shape != (n,):
            raise ValueError(
                f"selection as a mask must have shape ({n},), one value per point, "
                f"got {given.shape}"
            )
        return np.flatnonzero(given)
    if given.size == 0:
        return NOTHING
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise TypeError(
            "selection must be a list of the indices of points or a mask, "
            f"got an array of shape {given.shape} and type {given.dtype}"
        )
    if given.min() < 0 or given.max() >= n:
        raise ValueError(
            f"selection must be indices from 0 to {n - 1}, got {given.min()} to {given.max()}"
        )
    return np.unique(given).astype(np.intp)


def _unknown(kind, name):
    """Return the message for an attribute that cannot be set."""
    settable = ", ".join(SETTABLE)
    if isinstance(getattr(kind, name, None), property):
        return f"{name} is a result, which cannot be set; what can be set are {settable}"
    near = get_close_matches(name, SETTABLE, cutoff=0.5)
    meant = f"; did you mean {' or '.join(near)}?" if near else "."
    return f"an explorer has no attribute {name!r} that can be set{meant} There are {settable}."
