"""A canvas to paint points on, beside what the graph makes of them."""

from functools import partial

import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.events import Tap
from bokeh.models import ColumnDataSource, FreehandDrawTool

from ..drawing.figures import Frame, plain_figure
from ..drawing.palette import BETWEEN, CLUSTERS
from ..sources.painted import CANVAS, N_CLASSES, along, coordinates, unpack
from .base import GROWS_WHERE_NARROW, WRAPS_WHERE_NARROW, View, beside, card, figure_pane
from .describe import clusters
from .plots import LinkedPlots
from .widgets import DENSE, SMALL_TOGGLE, button

ERASER = 2.5  # the eraser reaches this many times the spread of the brush


class PaintView(View):
    """The canvas, and the clusters of what is painted."""

    key, label, area = "paint", "Paint", "top"

    def __init__(self, session, **params):
        super().__init__(session, **params)
        self._source = session.sources.get("painted")
        self._frame = Frame(lambda: None)
        self._result = LinkedPlots(session, {"clusters": "Painted points: clusters"}, self._graph)
        figure = self._canvas()
        self._tool = pmui.RadioButtonGroup(
            options={"Brush": "add", "Eraser": "erase"},
            value="add",
            size="small",
            margin=(4, 6, 0, 8),
            sx=SMALL_TOGGLE,
        )
        self._class = pmui.RadioButtonGroup(
            options=[f"{i + 1}" for i in range(N_CLASSES)],
            value="1",
            size="small",
            margin=(4, 6, 0, 0),
            sx=SMALL_TOGGLE,
        )
        self._spread = pmui.FloatSlider(
            label="Brush width",
            description="How far the points lie from the stroke.",
            start=0.005,
            end=0.1,
            step=0.005,
            value=0.02,
            **SLIDER,
        )
        self._amount = pmui.IntSlider(
            label="Points per stroke",
            description="How many points a stroke adds.",
            start=5,
            end=300,
            step=5,
            value=60,
            **SLIDER,
        )
        buttons = [
            button(label, sentence, act, margin=(4, 3), width=70, height=31)
            for label, sentence, act in (
                ("Blob", "Add a round blob in an empty place, without the mouse.", self._blob),
                ("Clear", "Take all points away; undo brings them back.", self._clear),
            )
        ]
        tools = pn.Column(
            pn.Row(
                self._tool,
                self._class,
                *buttons,
                sizing_mode="stretch_width",
                height=40,
                margin=0,
                stylesheets=[WRAPS_WHERE_NARROW],
            ),
            pn.Row(self._spread, self._amount, sizing_mode="stretch_width", height=42, margin=0),
            sizing_mode="stretch_width",
            height=84,
            margin=0,
            stylesheets=[GROWS_WHERE_NARROW],
        )
        self._body = beside(
            card(
                "Canvas",
                "drag to paint; the number is the reference label",
                figure_pane(figure, "canvas"),
                tools,
            ),
            card(
                "KDE graph",
                "what it makes of your points",
                figure_pane(self._result["clusters"].figure, "painted"),
                describe=partial(clusters, self.state, "kde"),
                view=self,
            ),
            min_height=240,
        )
        self.follow(
            self._result.update,
            "shown",
            "result",
            "show_edges",
            "edges",
            "selection",
            "horizontal",
            "vertical",
        )
        if self._source is not None:
            self._source.param.watch(lambda event: self._draw(), "points")
            self._draw()

    def applies(self):
        """Only painted points can be painted on."""
        return self.state.source == "painted"

    def figures(self):
        """See `View.figures`."""
        return (self._figure, self._result["clusters"].figure)

    def _canvas(self):
        self._figure = figure = plain_figure(
            tools="", description="Canvas", x_range=self._frame.x_range, y_range=self._frame.y_range
        )
        figure.axis.visible = figure.grid.visible = False
        figure.quad(
            0,
            CANVAS[0],
            0,
            CANVAS[1],
            fill_alpha=0.05,
            fill_color=BETWEEN,
            line_alpha=0.4,
            line_color=BETWEEN,
        )
        self._points = ColumnDataSource({"x": [], "y": [], "color": []})
        self._stroke = ColumnDataSource({"xs": [], "ys": []})
        figure.scatter("x", "y", size=5, fill_color="color", line_color=None, source=self._points)
        lines = figure.multi_line(
            "xs", "ys", line_width=6, line_alpha=0.4, line_color=BETWEEN, source=self._stroke
        )
        draw = FreehandDrawTool(renderers=[lines], num_objects=1)
        figure.add_tools(draw)
        figure.toolbar.active_drag = draw
        figure.on_event(Tap, lambda event: self._paint(np.array([[event.x, event.y]])))
        self._stroke.on_change("data", lambda attr, old, new: self._stroked(new))
        self._frame.add(figure)
        self._frame.fit((0, CANVAS[0], 0, CANVAS[1]))
        return figure

    def _graph(self, key):
        outcome = self.state.outcome("kde")
        if outcome is None:
            return None, None
        return outcome.adjacency if self.state.show_edges else None, outcome.colors

    def _draw(self):
        points = unpack(self._source.points)
        x, y = coordinates(points).T
        self._points.data = {"x": x, "y": y, "color": np.array(CLUSTERS)[points[:, 2]]}

    def _stroked(self, data):
        """A stroke has ended: it becomes points."""
        if data["xs"]:
            path = np.stack(
                [np.asarray(data["xs"][-1], dtype=float), np.asarray(data["ys"][-1], dtype=float)],
                axis=1,
            )
            self._stroke.data = {"xs": [], "ys": []}
            self._paint(path)

    def _paint(self, path):
        path = path[np.isfinite(path).all(axis=1)]
        if len(path) == 0:
            return
        if self._tool.value == "erase":
            self._source.erase(path, ERASER * self._spread.value)
        else:
            seed = len(unpack(self._source.points))
            self._source.add(
                along(
                    path, self._amount.value, self._spread.value, int(self._class.value) - 1, seed
                )
            )

    def _blob(self):
        """A blob as far as can be from the points and from the border."""
        points = coordinates(unpack(self._source.points))
        places = np.stack(
            np.meshgrid(*(np.linspace(0.1, side - 0.1, 25) for side in CANVAS)), axis=-1
        ).reshape(-1, 2)
        room = np.hypot(*(places[:, None] - points[None]).transpose(2, 0, 1)).min(
            axis=1, initial=1.0
        )
        border = np.minimum(places, CANVAS - places).min(axis=1)
        self._tool.value = "add"
        self._paint(places[[np.argmax(np.minimum(room, border + 0.1))]])

    def _clear(self):
        self._source.points = ""


SLIDER = {"size": "small", "sizing_mode": "stretch_width", "margin": (0, 12), "sx": DENSE}
