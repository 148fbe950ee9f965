"""Show the rows of the points as a table, linked to the selection, with a summary by cluster."""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import param
from kdegraph.datasets import Column
from panel.custom import JSComponent

from ..assets import script_of_elements, style_sheet
from ..pictures import picture_address, pixels_of
from ..point_columns import cell, columns_of, values_of
from ..results import rows_of
from .base import View, beside
from .color import NamedClusters

PAGE = 100  # rows that the browser gets at once
MAX_COLUMNS = 40  # columns that are shown; the search includes all
CLUSTER = "Cluster"


@dataclass(frozen=True)
class Query:
    """A page of a table.

    `search` is what a cell of each row contains, in upper or lower case, or "" for all rows. `rows`
    is "all", "selected", or the number of a cluster, from 1. `sort` is the position of the column
    to sort by, and `first` is the first row of the page.
    """

    search: str = ""
    rows: str = "all"
    sort: int = 0
    descending: bool = False
    first: int = 0


@dataclass(frozen=True, eq=False)
class RowTable:
    """The columns of points, after the number of the row, from 0 as in exports, and the cluster.

    The values of `columns` are in the order of the points; `clusters` (n,) are numbers from 0, or
    None, and `words` what the user reads for them, in order.
    """

    columns: tuple
    clusters: np.ndarray | None
    words: dict | None = None

    @classmethod
    def of(cls, dataset, clusters, words=None):
        """Make the table of the points of a dataset; `words` are those for clusters, in order."""
        columns = [Column("Row", "number", rows_of(dataset).astype(np.float64))]
        if clusters is not None:
            words = words or {c: f"{c + 1}" for c in np.unique(clusters).tolist()}
            is_text = not all(word.isdigit() for word in words.values())
            values = np.empty(max(words) + 1, dtype=object if is_text else float)
            values[list(words)] = list(words.values())
            columns.append(Column(CLUSTER, "text" if is_text else "number", values[clusters]))
        pixels = pixels_of(dataset)
        known = columns_of(dataset).values()
        if pixels is not None:  # these are seen as a picture
            known = sorted(known, key=lambda column: column.name in pixels.columns)
        columns += [replace(column, values=values_of(dataset, column)) for column in known]
        return cls(tuple(columns), clusters, words)

    @property
    def names(self):
        """Return the names of the columns that are shown."""
        return [column.name for column in self.columns[:MAX_COLUMNS]]

    def found(self, query, selection):
        """Return the points that a query asks for, sorted: int array."""
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
        """Return the cells of points as text, a list for each."""
        columns = [column.values[points] for column in self.columns[:MAX_COLUMNS]]
        return [list(map(cell, values)) for values in zip(*columns, strict=True)]

    def summary(self, selection):
        """Summarize the clusters: names of columns, and cells by cluster.

        They are the points, those selected, and the mean or the most frequent value of the first
        columns, without those that say nothing about clusters, such as identifiers.
        """
        known = self.columns[2:]  # after the row and the cluster
        chosen = [column for column in known if not column.recognized and _repeats(column)][:6]
        heads = [f"Mean {c.name}" if c.kind == "number" else f"Most {c.name}" for c in chosen]
        selected = np.bincount(self.clusters[selection], minlength=int(self.clusters.max()) + 1)
        cells = {}
        for cluster in self.words:
            members = self.clusters == cluster
            values = [_typical(column, column.values[members]) for column in chosen]
            counts = [f"{np.count_nonzero(members):,}", f"{selected[cluster]:,}"]
            cells[cluster] = counts + values
        return ["Cluster", "Points", "Selected", *heads], cells


def _repeats(column):
    """Return whether a column has numbers, or texts that stand in two rows or more on average."""
    return column.kind == "number" or 2 * len(set(column.values)) <= len(column.values)


def _typical(column, values):
    if column.kind == "number":
        known = values[np.isfinite(values)]
        return cell(float((known / max(len(known), 1)).sum())) if len(known) else cell(None)
    counts = Counter(values)
    most = max(counts.values())
    return min(cell(value) for value, count in counts.items() if count == most)


def _order(values, descending):
    """Return the order of values, ties as they are; missing ones are last in both directions."""
    import pyarrow as pa
    import pyarrow.compute as pc

    way = "descending" if descending else "ascending"
    found = pa.array(values, from_pandas=True)  # NaN is null
    return pc.array_sort_indices(found, order=way, null_placement="at_end").to_numpy()


class RowList(JSComponent):
    """Show a page of a table, with a search field and what sorts, filters and selects.

    `act` is called with what the user does to the selection.
    """

    names = param.List(doc="Names of the columns.")
    numeric = param.List(doc="Whether each column holds numbers.")
    choices = param.List(doc="Pairs of a value of `Query.rows` and what the user reads.")
    query = param.Dict(default=vars(Query()), doc="The `Query`, which the browser sets.")
    page = param.List(
        doc="Rows: the point, the address of its picture or an empty string, its cells as text, "
        "and whether it is selected."
    )
    found = param.Integer(doc="Number of rows that were found.")
    selected = param.Integer(doc="Number of selected points.")
    page_size = param.Integer(PAGE)

    _esm = script_of_elements("rows")

    def __init__(self, act, **params):
        self._act = act
        super().__init__(stylesheets=[style_sheet("fields"), style_sheet("rows")], **params)

    def _handle_msg(self, message):
        self._act(message)


class RowsView(View):
    """Show a table of all that is known of each point; a click selects its point in all plots."""

    key, label, area = "rows", "Rows", "top"

    def __init__(self, session):
        super().__init__(session)
        self.list = RowList(self._select, sizing_mode="stretch_both", margin=(4, 10))
        self.summary = NamedClusters(
            session,
            heads=[CLUSTER],
            css_classes=["kg-table", "kg-scroll"],
            sizing_mode="stretch_both",
            margin=(4, 10),
        )
        self._job = session.latest(self._find, deliver=self._show)
        self._made_of, self._table, self._found = (None,), None, np.empty(0, dtype=np.intp)
        self._body = beside(
            self.card("Rows", "a click selects, with Shift or Ctrl another one", self.list),
            self.card("Clusters", "usual values; a click names, merges, splits", self.summary),
            widths=[5, 3],
            min_height=240,
        )
        self.list.param.watch(lambda event: self._update(), "query")
        self.follow(self._update, "shown", "result", "selection", "named")

    @staticmethod
    def applies(state):
        """Return whether more is known of a point than the color and the place of a pixel."""
        return state.shown is None or state.shown.image is None

    def _update(self):
        dataset, outcome = self.state.shown, self.state.outcome("kde")
        if dataset is None:
            return
        clusters = None if outcome is None else outcome.colors
        made_of = (dataset, clusters, self.state.named)
        if any(a is not b for a, b in zip(made_of, self._made_of, strict=False)):
            state = self.state
            words = outcome and {c: state.named.get(c, state.mark(c)) for c in outcome.clusters}
            self._made_of, self._table = made_of, RowTable.of(dataset, clusters, words)
        query = checked(self.list.query, self._table)
        if vars(query) != self.list.query:
            self.list.query = vars(query)  # which calls this again
            return
        self._job.request((self._table, query, self.state.selection, dataset))

    @staticmethod
    def _find(request, progress, publish):
        table, query, selection, dataset = request
        found = table.found(query, selection)
        shown = found[query.first : query.first + PAGE]
        pictures = [picture_address(dataset, point) for point in shown]
        summary = None if table.clusters is None else table.summary(selection)
        return found, shown, pictures, table.cells(shown), summary

    def _show(self, request, result):
        (table, _, selection, _), (found, shown, pictures, cells, summary) = request, result
        self._found = found
        selected = np.isin(shown, selection)
        page = [
            {"point": int(point), "picture": picture, "cells": texts, "selected": bool(chosen)}
            for point, picture, texts, chosen in zip(shown, pictures, cells, selected, strict=True)
        ]
        self.list.param.update(
            names=table.names,
            numeric=[column.kind == "number" for column in table.columns][: len(table.names)],
            choices=[
                ["all", "All rows"],
                ["selected", "Selected rows"],
                *([f"{c + 1}", self.state.cluster_name(c)] for c in table.words or ()),
            ],
            found=len(found),
            selected=len(selection),
            page=page,
        )
        if summary is not None:
            self.summary.update(*summary)

    def _select(self, message):
        before, n_points = self.state.selection, self.state.shown.n_points
        point = message.get("point")
        if message.get("select") == "none":
            self.state.selection = np.empty(0, dtype=np.intp)
        elif message.get("select") == "found":
            self.state.selection = np.sort(self._found)
        elif isinstance(point, int) and 0 <= point < n_points:
            alone = np.array([point], dtype=np.intp)
            self.state.selection = np.setxor1d(before, alone) if message.get("add") else alone


def checked(values, table):
    """Return the `Query` that the browser has set, with defaults for what is not valid."""
    usual = Query()
    kinds = {name: type(value) for name, value in vars(usual).items()}
    known = {name: values[name] for name in kinds if type(values.get(name)) is kinds[name]}
    query = Query(**known)
    clusters = set() if table.clusters is None else set(np.unique(table.clusters) + 1)
    possible = query.rows in ("all", "selected") or (
        query.rows.isascii() and query.rows.isdigit() and int(query.rows) in clusters
    )
    return replace(
        query,
        rows=query.rows if possible else usual.rows,
        sort=query.sort if 0 <= query.sort < len(table.names) else usual.sort,
        first=max(query.first, 0),
    )
