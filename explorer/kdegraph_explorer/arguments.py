"""What a program may pass to an explorer, checked."""

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from kdegraph import SimilarityGraph, datasets, moderate_bandwidths
from kdegraph.datasets import Dataset
from kdegraph.validation import LOCAL_WORDS, as_array, check_count, check_points, check_positive

from .state import State
from .uploads import StoredFile

TABLE = "table.parquet"  # how a data frame is called, which becomes a file


class Material(NamedTuple):
    """What an explorer begins with: at most one of data and a file, and choices.

    Attributes
    ----------
    dataset : Dataset or None
    file : path, StoredFile or None
    choices : dict
        Parameters of the state.
    """

    dataset: Dataset | None = None
    file: Path | StoredFile | None = None
    choices: dict = {}  # noqa: RUF012 (never changed)


def material_of(X, y):
    """Sort out what was passed as the data.

    Parameters
    ----------
    X : array-like, data frame, str, path, Dataset, SimilarityGraph or None
    y : (n,) array-like, optional

    Raises
    ------
    ValueError, TypeError
    """
    if X is None:
        if y is not None:
            raise ValueError("y was given without X; pass the points that it labels")
        return Material()
    if isinstance(X, (str, os.PathLike)):
        _refuse_labels(y, "a file")
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
    """The parameters of the state that were given, checked."""
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
    """Whether each point is to have a bandwidth of its own."""
    return isinstance(sigma, str) and sigma in LOCAL_WORDS


def check_n_rounds(n_rounds):
    """The number of rounds as an int."""
    return check_count(n_rounds, "n_rounds", maximum=State.param.n_rounds.bounds[1])


def check_n_clusters(n_clusters, dataset):
    """The number of clusters as an int, at most the number of points where these are known."""
    most, reason = State.param.n_clusters.bounds[1], ""
    if dataset is not None and dataset.n_points < most:
        most, reason = dataset.n_points, "(the number of points)"
    return check_count(n_clusters, "n_clusters", maximum=most, reason=reason)


def _refuse_labels(y, what):
    if y is not None:
        raise ValueError(f"y cannot be given with {what}, which has its labels itself")


def _file(path):
    """The path of a data file that exists."""
    datasets.file_type(path)
    if not path.is_file():
        raise ValueError(f"X is {str(path)!r}, and there is no such file")
    return path


def _of_graph(graph, y):
    """The points of a graph, and the parameters that it was made with."""
    if graph.points is None or graph.kernel != "gaussian":
        raise ValueError(
            "X is a graph that the explorer cannot make again, as it "
            + ("has no points" if graph.points is None else f"has the kernel {graph.kernel!r}")
            + "; pass points"
        )
    if np.ndim(graph.sigma) == 0:
        choices = {"sigma": float(graph.sigma)}
    else:
        moderate = np.array_equal(graph.sigma, moderate_bandwidths(graph.points))
        choices = {"bandwidth": "moderate" if moderate else "local"}
    most = State.param.n_rounds.bounds[1]
    choices |= {"n_rounds": min(graph.n_rounds, most), "seed": graph.seed}
    return Material(material_of(graph.points, y).dataset, choices=choices)


def _of_frame(frame, y):
    """A data frame, as a file with one table, of which columns can be chosen; or as points with
    labels.
    """
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
    dataset = datasets.load(content, filename=TABLE, label=y if is_name else "auto")
    if y is None:
        return Material(file=StoredFile.of(TABLE, content))
    return Material(dataset if is_name else _labeled(dataset, y))


def _labeled(dataset, y):
    """A dataset with the labels `y`, which may be of any type."""
    labels = as_array(y, "y")
    if labels.shape != (dataset.n_points,):
        raise ValueError(
            f"y must have shape ({dataset.n_points},), one label per point, got {labels.shape}"
        )
    names, numbers = np.unique(labels, return_inverse=True)
    return replace(dataset, y=numbers.astype(np.int64), label_names=tuple(map(str, names)))
