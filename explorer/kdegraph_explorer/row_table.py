"""The rows of points as a table that is searched, filtered, sorted and read a page at a time."""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from kdegraph.datasets import Column

from .point_columns import cell, columns_of, values_of
from .row_pictures import pixels_of

PAGE = 100  # rows that the browser gets at a time
MAX_COLUMNS = 40  # that are shown; the search looks into all
MAX_SUMMARIZED = 6  # columns in the summary by cluster
ROW, CLUSTER = "Row", "Cluster"


@dataclass(frozen=True)
class Query:
    """What of a table is wanted.

    Attributes
    ----------
    search : str
        Rows in which a cell has this in it, in upper or lower case; empty for all.
    rows : str
        "all", "selected", or the number of a cluster, from 1.
    sort : int
        Position of the column to sort by.
    descending : bool
    first : int
        The first row of the page.
    """

    search: str = ""
    rows: str = "all"
    sort: int = 0
    descending: bool = False
    first: int = 0


@dataclass(frozen=True, eq=False)
class RowTable:
    """The columns of points, with the number of the row, from 0 as in exports, and the cluster
    before them.

    Attributes
    ----------
    columns : tuple of Column
        Their values are in the order of the points.
    clusters : (n,) int array or None
        From 0.
    """

    columns: tuple
    clusters: np.ndarray | None

    @classmethod
    def of(cls, dataset, clusters, names=None):
        """The table of the points of a dataset; clusters with one of the `names` have that in place
        of their number.
        """
        rows = np.arange(dataset.n_points) if dataset.rows is None else dataset.rows
        columns = [Column(ROW, "number", rows.astype(np.float64))]
        if clusters is not None and names:
            words = [names.get(c, f"{c + 1}") for c in range(int(clusters.max()) + 1)]
            columns.append(Column(CLUSTER, "text", np.array(words, dtype=object)[clusters]))
        elif clusters is not None:
            columns.append(Column(CLUSTER, "number", clusters + 1.0))
        pixels = pixels_of(dataset)
        known = columns_of(dataset).values()
        if pixels is not None:  # these are seen as a picture
            known = sorted(known, key=lambda column: column.name in pixels.columns)
        columns += [replace(column, values=values_of(dataset, column)) for column in known]
        return cls(tuple(columns), clusters)

    @property
    def names(self):
        """The names of the columns that are shown."""
        return [column.name for column in self.columns[:MAX_COLUMNS]]

    def found(self, query, selection):
        """The points that a query asks for, sorted: int array."""
        points = np.arange(len(self.columns[0].values))
        if query.rows == "selected":
            points = np.asarray(selection, dtype=np.intp)
        elif query.rows != "all" and self.clusters is not None:
            points = np.flatnonzero(self.clusters + 1 == int(query.rows))
        if words := query.search.strip().lower():
            points = points[self._matching(points, words)]
        return points[_order(self.columns[query.sort].values[points], query.descending)]

    def _matching(self, points, words):
        found = np.zeros(len(points), dtype=bool)
        for column in self.columns[1:]:
            values = column.values[points]
            if column.kind == "text":
                texts = {value: words in cell(value).lower() for value in set(values)}
                found |= np.fromiter((texts[value] for value in values), bool, len(values))
            elif any(sign.isdigit() for sign in words):
                found |= np.fromiter((words in cell(value) for value in values), bool, len(values))
        return found

    def cells(self, points):
        """The cells of points as text, a list for each."""
        columns = [column.values[points] for column in self.columns[:MAX_COLUMNS]]
        return [list(map(cell, values)) for values in zip(*columns, strict=True)]

    def summary(self, selection):
        """The clusters: names of columns, and a row for each with its number, its points, those
        selected, and the mean or the most frequent value of the first columns.
        """
        known = self.columns[2:]  # after the row and the cluster
        chosen = [column for column in known if not column.recognized][:MAX_SUMMARIZED]
        heads = [f"Mean {c.name}" if c.kind == "number" else f"Most {c.name}" for c in chosen]
        selected = np.bincount(self.clusters[selection], minlength=int(self.clusters.max()) + 1)
        rows = []
        for cluster in np.unique(self.clusters):
            members = self.clusters == cluster
            values = [_typical(column, column.values[members]) for column in chosen]
            counts = [f"{np.count_nonzero(members):,}", f"{selected[cluster]:,}"]
            rows.append([f"{cluster + 1}", *counts, *values])
        return ["Cluster", "Points", "Selected", *heads], rows


def _typical(column, values):
    if column.kind == "number":
        known = values[np.isfinite(values)]
        return cell(float((known / max(len(known), 1)).sum())) if len(known) else cell(None)
    counts = Counter(values)
    most = max(counts.values())
    return min(cell(value) for value, count in counts.items() if count == most)


def _order(values, descending):
    """The order of values, ties as they are; what is missing comes last in both directions."""
    if values.dtype == object:
        missing = np.array([value is None for value in values], dtype=bool)
        found = np.unique([value for value in values if value is not None])
        code_of = {value: code for code, value in enumerate(found.tolist())}
        keys = np.array([code_of.get(value, 0) for value in values], dtype=np.int64)
    else:
        missing = np.isnat(values) if values.dtype.kind == "M" else np.isnan(values)
        keys = np.unique(values, return_inverse=True)[1]
    return np.lexsort([-keys if descending else keys, missing])
