"""The choice of what the colors of the points show, with a legend beside it."""

import panel as pn
from panel.viewable import Viewer

from ..assets import style_sheet
from ..coloring import CLUSTER, SCALE, choices
from ..typography import SIZES
from .legend import NamedClusters
from .markup import Markup, Text
from .point_style import PointStyle
from .widgets import Select

LOW = {
    "& .MuiSelect-select": {"paddingTop": "4px", "paddingBottom": "4px", "fontSize": SIZES["text"]}
}
SWATCH = Markup('<span class="entry"><i style="background:{}"></i>{}</span>')
BAR = Markup(
    '<span class="entry">{}<b style="background:linear-gradient(to right,{})"></b>{}</span>'
)


class ColorControl(Viewer):
    """Stands above the plots, where the view on the screen follows it.

    Parameters
    ----------
    session : Session
    views : iterable of str
        Keys of the views that follow it.
    """

    def __init__(self, session, views, **params):
        super().__init__(**params)
        self._state, self._views = session.state, set(views)
        parameter = self._state.param.color
        self.choice = Select(
            label=parameter.label,
            description=parameter.doc,
            size="small",
            width=170,
            margin=(7, 8, 0, 8),
            sx=LOW,
        )
        self.choice.param.watch(
            lambda event: event.new and setattr(self._state, "color", event.new), "value"
        )
        self.legend = Text(
            stylesheets=[style_sheet("legend")], sizing_mode="stretch_width", margin=(4, 4, 0, 0)
        )
        self.clusters = NamedClusters(self._state, sizing_mode="stretch_width", margin=(4, 4, 0, 0))
        style = PointStyle(self._state, width=30, margin=(6, 8, 0, 0))
        self._body = pn.Row(
            self.choice,
            style,
            self.legend,
            self.clusters,
            sizing_mode="stretch_width",
            margin=0,
            css_classes=["kg-color"],
            styles={"flex": "1 1 270px", "width": "auto", "min-width": "0"},
        )
        self._state.param.watch(lambda event: self._offer(), "shown")
        self._state.param.watch(
            lambda *events: self._update(), ["coloring", "result", "shown", "named"]
        )
        self._state.param.watch(lambda event: self._appear(), "view")
        self._offer()
        self._update()
        self._appear()

    def __panel__(self):
        return self._body

    def _appear(self):
        shown = self._state.shown
        self.choice.visible = shown is not None and len(choices(shown)) > 1
        self._body.visible = shown is not None and self._state.view in self._views

    def _offer(self):
        shown = self._state.shown
        if shown is not None:
            self.choice.param.update(options=choices(shown), value=self._state.color)
        self._appear()

    def _update(self):
        self.choice.value = self._state.color
        coloring = self._state.coloring
        by_cluster = coloring is None and self._state.color == CLUSTER
        self.clusters.visible, self.legend.visible = by_cluster, not by_cluster
        if by_cluster:
            self.clusters.update()
        elif coloring is not None and coloring.limits is not None:
            low, high = coloring.limits
            colors = Markup(",").join("#{:02x}{:02x}{:02x}".format(*color) for color in SCALE)
            self.legend.content = BAR.format(low, colors, high)
        else:
            self.legend.content = "" if coloring is None else _swatches(coloring.entries)


def _swatches(entries):
    return Markup().join(SWATCH.format(color, name) for name, color in entries)
