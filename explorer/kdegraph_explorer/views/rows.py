"""The rows of the points as a table, linked to the selection, with a summary by cluster."""

import numpy as np
import param
from panel.custom import JSComponent

from ..assets import script, style_sheet
from ..row_pictures import picture_address
from ..row_table import PAGE, Query, RowTable
from .base import View, beside, card
from .markup import Text, html_table


class RowList(JSComponent):
    """A page of a table, with a search field and what sorts, filters and selects.

    Parameters
    ----------
    act : callable
        Called with what the user does to the selection.
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

    _esm = script("rows")

    def __init__(self, act, **params):
        self._act = act
        super().__init__(stylesheets=[style_sheet("fields"), style_sheet("rows")], **params)

    def _handle_msg(self, message):
        self._act(message)


class RowsView(View):
    """A table of all that is known of each point; a click selects its point in all plots."""

    key, label, area = "rows", "Rows", "top"

    def __init__(self, session, **params):
        super().__init__(session, **params)
        self.list = RowList(self._select, sizing_mode="stretch_both", margin=(4, 10))
        self.summary = Text(
            stylesheets=[style_sheet("table")],
            css_classes=["kg-table", "kg-scroll"],
            sizing_mode="stretch_both",
            margin=(4, 10),
        )
        self._job = session.latest(self._find, deliver=self._show)
        self._made_of, self._table, self._found = (None,), None, np.empty(0, dtype=np.intp)
        self._body = beside(
            card("Rows", "a click selects, with Shift or Ctrl another one", self.list),
            card("Clusters", "means, and the most frequent values", self.summary),
            widths=[5, 3],
            min_height=240,
        )
        self.list.param.watch(lambda event: self._update(), "query")
        self.follow(self._update, "shown", "result", "selection", "named")

    @staticmethod
    def applies(state):
        """See `View.applies`: of a pixel nothing is known but its color and place."""
        return state.shown is None or state.shown.image is None

    def _update(self):
        dataset, outcome = self.state.shown, self.state.outcome("kde")
        if dataset is None:
            return
        clusters = None if outcome is None else outcome.colors
        made_of = (dataset, clusters, self.state.named)
        if any(a is not b for a, b in zip(made_of, self._made_of, strict=False)):
            self._made_of, self._table = made_of, RowTable.of(*made_of)
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
        clusters = [] if summary is None else [number for number, *_ in summary[1]]
        self.list.param.update(
            names=table.names,
            numeric=[column.kind == "number" for column in table.columns][: len(table.names)],
            choices=[
                ["all", "All rows"],
                ["selected", "Selected rows"],
                *([number, self.state.cluster_name(int(number) - 1)] for number in clusters),
            ],
            found=len(found),
            selected=len(selection),
            page=page,
        )
        if summary is not None:
            heads, rows = summary
            named = self.state.named
            self.summary.content = html_table(
                heads, [(named.get(int(number) - 1, number), rest, "") for number, *rest in rows]
            )

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
    """The `Query` that the browser has set; what cannot be is as at the beginning."""
    usual = Query()
    kinds = {name: type(value) for name, value in vars(usual).items()}
    known = {name: values[name] for name in kinds if type(values.get(name)) is kinds[name]}
    query = Query(**known)
    clusters = set() if table.clusters is None else set(np.unique(table.clusters) + 1)
    possible = query.rows in ("all", "selected") or (
        query.rows.isascii() and query.rows.isdigit() and int(query.rows) in clusters
    )
    return Query(
        search=query.search,
        rows=query.rows if possible else usual.rows,
        sort=query.sort if 0 <= query.sort < len(table.names) else usual.sort,
        descending=query.descending,
        first=max(query.first, 0),
    )
