"""Choose what the colors of the points show, beside a legend, and how large the points are."""

import param
from panel.custom import JSComponent

from ..assets import SIZES, script_of_elements, style_sheet
from ..coloring import CLUSTER, SCALE, choices
from ..drawing.palette import cluster_colors, in_hex
from .base import Part
from .later import Later
from .markup import Markup, styled_text
from .widgets import link, open_choice, row


class NamedClusters(JSComponent):
    """Show a legend of the clusters, or a table of them with the columns `heads`; a click on one
    lets the user name, merge and split it.

    The theme would take a component whose name ends with "Legend" for one of Bokeh's.
    """

    entries = param.List(doc="Of each cluster: its number from 0, mark, name, color, and cells.")
    heads = param.List(doc="Names of the columns of the table; none for a legend.")
    message = param.String(doc="Why the last name or edit was refused.")
    in_part = param.Boolean(doc="Whether a part of the points is explored, which is not edited.")

    _esm = script_of_elements("legend")

    def __init__(self, session, **params):
        self._session, self._state = session, session.state
        sheets = [style_sheet("fields"), style_sheet("legend"), style_sheet("table")]
        super().__init__(stylesheets=sheets if "heads" in params else sheets[:2], **params)
        self._state.param.watch(lambda event: setattr(self, "message", event.new), "refused")

    def update(self, heads=(), cells=None):
        """Show the clusters of the newest result; `cells` are those in the row of each, by its
        number.
        """
        outcome = self._state.outcome("kde")
        present = [] if outcome is None else outcome.clusters
        colors = cluster_colors(max(present, default=0) + 1)
        entries = [
            {
                "number": number,
                "mark": self._state.mark(number),
                "name": self._state.named.get(number, ""),
                "color": in_hex(colors[number]),
                "cells": (cells or {}).get(number, []),
            }
            for number in present
        ]
        self.param.update(heads=list(heads), entries=entries, in_part=self._state.in_part)

    def _handle_msg(self, message):
        known = [entry["number"] for entry in self.entries]
        self._session.history.end_step()
        match message:
            case {"number": number, "name": str(name)} if number in known:
                self._state.name_cluster(number, name)
            case {"merge": list(numbers)} if all(n in known for n in numbers) and not self.in_part:
                self._state.merge(numbers)
            case {"split": number, "parts": int(parts)} if not self.in_part and number in known:
                self._session.splitter.split(number, parts)


class PointStyle(JSComponent):
    """Show a button that opens two sliders, for size and opacity of the points."""

    size = param.Number(1.0)
    opacity = param.Number(1.0)
    sizes = param.List(doc="The smallest and the largest size, powers of 2.")
    least = param.Number(doc="The smallest opacity.")

    _esm = script_of_elements("point-style")

    def __init__(self, state, **params):
        bounds = state.param.point_size.bounds
        super().__init__(
            size=state.point_size,
            opacity=state.point_opacity,
            sizes=list(bounds),
            least=state.param.point_opacity.bounds[0],
            stylesheets=[style_sheet("fields"), style_sheet("point-style")],
            **params,
        )
        link(self, "size", state, "point_size")
        link(self, "opacity", state, "point_opacity")


class ColorControl(Part):
    """Let the user choose the colors of the points, above the plots that follow them.

    `views` are the keys of the views that do.
    """

    def __init__(self, session, views):
        super().__init__(session)
        self._views = set(views)
        low = {"paddingTop": "4px", "paddingBottom": "4px", "fontSize": SIZES["text"]}
        style = {"margin": (7, 4, 0, 8), "sx": {"& .MuiSelect-select": low}}
        self.choice = open_choice(self.state, "color", width=130, **style)
        place = {"sizing_mode": "stretch_width", "margin": (4, 4, 0, 0)}
        self.legend, self.clusters = styled_text("legend", **place), NamedClusters(session, **place)
        style = PointStyle(self.state, width=30, margin=(6, 4, 0, 0))
        self._body = Later(
            session,
            lambda: [row(self.choice, style, self.legend, self.clusters)],
            css_classes=["kg-color"],
            styles={"flex": "1 1 270px", "width": "auto", "min-width": "0"},
        )
        self.keep_up(self._offer, "shown")
        self.keep_up(self._update, "coloring", "result", "shown", "named")
        self.keep_up(self._appear, "view")

    def _appear(self):
        shown = self.state.shown
        self.choice.visible = shown is not None and len(choices(shown)) > 1
        self._body.visible = shown is not None and self.state.view in self._views

    def _offer(self):
        shown = self.state.shown
        if shown is not None:
            self.choice.param.update(options=choices(shown), value=self.state.color)
        self._appear()

    def _update(self):
        self.choice.value = self.state.color
        coloring = self.state.coloring
        by_cluster = coloring is None and self.state.color == CLUSTER
        self.clusters.visible, self.legend.visible = by_cluster, not by_cluster
        if by_cluster:
            self.clusters.update()
        elif coloring is not None and coloring.limits is not None:
            low, high = coloring.limits
            colors = Markup(",").join(map(in_hex, SCALE))
            self.legend.content = Markup(
                '<span class="entry">{}'
                '<b style="background:linear-gradient(to right,{})"></b>{}</span>'
            ).format(low, colors, high)
        else:
            entries = () if coloring is None else coloring.entries
            swatch = Markup('<span class="entry"><i style="background:{}"></i>{}</span>')
            self.legend.content = Markup().join(
                swatch.format(color, name) for name, color in entries
            )
