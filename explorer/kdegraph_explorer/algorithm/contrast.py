"""Compare some points with all others, column by column."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from kdegraph import describe_clusters
from kdegraph.datasets import Table

from ..point_columns import cell, columns_of, shortened, values_of

MAX_COLUMNS = 6
N_BINS = 20
N_VALUES = 4  # values of a category
OUTER = 0.01  # share of the values beyond each end of the bins, which the outermost ones count


class Histogram(NamedTuple):
    """The shares of the points inside and outside in each bin of a column.

    `left` and `right` are the ends of the bins. `names` are the values of a category, whose bins
    are around 0, 1, ..., and None for numbers.
    """

    left: np.ndarray
    right: np.ndarray
    inside: np.ndarray
    outside: np.ndarray
    names: tuple | None = None


class Contrast(NamedTuple):
    """Points against all others: a description, as `kdegraph.describe_clusters` returns it, and
    the columns and `Histogram`s of its first differences.
    """

    description: object
    columns: tuple
    histograms: tuple


def contrast(dataset, members, probabilities):
    """Return the `Contrast` of some points, a bool array; the probabilities may be None."""
    columns = {
        name: replace(column, values=values_of(dataset, column))
        for name, column in columns_of(dataset).items()
    }
    table = Table(columns.values())
    (found,) = describe_clusters(table, members, probabilities=probabilities)
    shown = [(one, columns[one.column]) for one in found.differences[:MAX_COLUMNS]]
    return Contrast(
        found,
        tuple(column for _, column in shown),
        tuple(histogram(column, members, difference) for difference, column in shown),
    )


def histogram(column, members, difference):
    """Return the `Histogram` of a column in which the points differ from the others."""
    if difference.kind == "category":
        return _of_values(column, members)
    known = np.isfinite(column.values)
    values, own = column.values[known], members[known]
    low, high = np.quantile(values, [OUTER, 1 - OUTER], method="inverted_cdf")
    if low == high:
        low, high = values.min(), values.max()
    if high - low < N_BINS and (values == np.round(values)).all():
        edges = np.arange(low - 0.5, high + 1)
    elif low == high:
        edges = np.array([low - 0.5, low + 0.5])
    else:
        edges = np.linspace(low, high, N_BINS + 1)
    places = np.clip(np.searchsorted(edges, values, "right") - 1, 0, len(edges) - 2)
    counts = [np.bincount(places[part], minlength=len(edges) - 1) for part in (own, ~own)]
    return Histogram(edges[:-1], edges[1:], *(count / count.sum() for count in counts))


def _of_values(column, members):
    """Return the `Histogram` of the values that are most frequent inside or outside."""
    import pyarrow as pa  # its dictionary takes a fifth of the time of sorting the texts

    known = np.array([value is not None and value == value for value in column.values])
    texts = pa.array([cell(value) for value in column.values[known]]).dictionary_encode()
    names, codes = texts.dictionary.to_pylist(), texts.indices.to_numpy()
    own = members[known]
    inside, outside = (np.bincount(codes[part], minlength=len(names)) for part in (own, ~own))
    inside, outside = inside / inside.sum(), outside / outside.sum()
    first = np.argsort(-np.maximum(inside, outside), kind="stable")[:N_VALUES]
    places = np.arange(len(first))
    words = tuple(shortened(names[value]) for value in first)
    return Histogram(places - 0.4, places + 0.4, inside[first], outside[first], words)
