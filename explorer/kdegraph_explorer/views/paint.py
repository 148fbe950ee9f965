"""A canvas to paint points on, beside what the graph makes of them."""

from functools import partial

import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.events import Pan, PanEnd, PanStart, Tap
from bokeh.models import ColumnDataSource, FreehandDrawTool

from ..assets import style_sheet
from ..drawing.figures import Frame, plain_figure
from ..drawing.palette import BETWEEN, CLUSTER_COLORS
from ..sources.painted import CANVAS, N_CLASSES, along, coordinates, unpack
from .base import View, beside, card, figure_pane
from .describe import clusters
from .plots import PLOTTED, LinkedPlots
from .widgets import DENSE, SMALL_TOGGLE, button

ERASER_WIDTH = 2.5  # how far the eraser reaches, in spreads of the brush


class PaintView(View):
    """The canvas, and the clusters of what is painted.

    Attributes
    ----------
    tool, paint, spread, amount : widgets
        Brush or eraser, the number of the paint, the width of the brush, points per stroke.
    strokes : ColumnDataSource
        Where the browser puts the path of the mouse, as "xs" and "ys"; it has no path in it between
        strokes.
    """

    key, label, area = "paint", "Paint", "top"

    def __init__(self, session, **params):
        super().__init__(session, **params)
        self._source = session.sources.get("painted")
        self._frame = Frame(lambda: None)
        self._result = LinkedPlots(session, {"clusters": "Painted points: clusters"}, self._graph)
        self._points = ColumnDataSource({"x": [], "y": [], "color": []})
        self.strokes = ColumnDataSource({"xs": [], "ys": []})
        self._canvas = canvas(self._frame, self._points, self.strokes)
        self._canvas.on_event(Tap, lambda event: self._paint(np.array([[event.x, event.y]])))
        self._path = []  # of the stroke that is being drawn
        self.strokes.on_change("data", lambda attr, old, new: any(new["xs"]) and self._wipe())
        for event in (PanStart, Pan, PanEnd):
            self._canvas.on_event(event, self._stroke)
        self.tool, self.paint = tool_choice(), paint_choice()
        self.spread, self.amount = spread_slider(), amount_slider()
        self._body = self._lay_out()
        self.follow(self._result.update, *PLOTTED)
        if self._source is not None:
            self._source.param.watch(lambda event: self._draw(), "points")
            self._draw()

    def _lay_out(self):
        return beside(
            card(
                "Canvas",
                "drag to paint; the number is the reference label",
                figure_pane(self._canvas, "canvas"),
                self._tools(),
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

    def _tools(self):
        """The widgets below the canvas."""
        blob = button(
            "Blob",
            "Add a round blob in an empty place, without the mouse.",
            self.add_blob,
            **SMALL_BUTTON_SIZE,
        )
        clear = button(
            "Clear", "Remove all points; undo brings them back.", self.clear, **SMALL_BUTTON_SIZE
        )
        choices = pn.Row(
            self.tool,
            self.paint,
            blob,
            clear,
            sizing_mode="stretch_width",
            height=40,
            margin=0,
            stylesheets=[style_sheet("wraps-where-narrow")],
        )
        sliders = pn.Row(self.spread, self.amount, sizing_mode="stretch_width", height=42, margin=0)
        return pn.Column(
            choices,
            sliders,
            sizing_mode="stretch_width",
            height=84,
            margin=0,
            stylesheets=[style_sheet("grows-where-narrow")],
        )

    @staticmethod
    def applies(state):
        """Only painted points can be painted on."""
        return state.source == "painted"

    def figures(self):
        """See `View.figures`."""
        return (self._canvas, self._result["clusters"].figure)

    def _graph(self, key):
        outcome = self.state.outcome("kde")
        if outcome is None:
            return None, None
        return outcome.adjacency if self.state.show_edges else None, outcome.colors

    def _draw(self):
        points = unpack(self._source.points)
        x, y = coordinates(points).T
        self._points.data = {"x": x, "y": y, "color": np.array(CLUSTER_COLORS)[points[:, 2]]}

    def _stroke(self, event):
        """Follow a stroke, also beside the canvas; where the mouse is let go, it becomes points."""
        if isinstance(event, PanStart):
            self._path = []
        if event.x is not None:
            self._path.append((event.x, event.y))
        if isinstance(event, PanEnd):
            path, self._path = np.array(self._path).reshape(-1, 2), []
            self._wipe()
            self._paint(path[((path >= 0) & (path <= CANVAS)).all(axis=1)])

    def _wipe(self):
        """Remove the line that the browser draws along a stroke. It tells of the line only if that
        ends within the canvas, so what is sent must differ from what was sent last.
        """
        none = [[]] if self.strokes.data["xs"] == [] else []
        self.strokes.data = {"xs": none, "ys": none}

    def _paint(self, path):
        path = path[np.isfinite(path).all(axis=1)]
        if len(path) == 0:
            return
        if self.tool.value == "erase":
            self._source.erase(path, ERASER_WIDTH * self.spread.value)
        else:
            seed = len(unpack(self._source.points))
            self._source.add(
                along(path, self.amount.value, self.spread.value, int(self.paint.value) - 1, seed)
            )

    def add_blob(self):
        """Paint a blob as far as possible from the points and from the border."""
        points = coordinates(unpack(self._source.points))
        places = np.stack(
            np.meshgrid(*(np.linspace(0.1, side - 0.1, 25) for side in CANVAS)), axis=-1
        ).reshape(-1, 2)
        offsets = places[:, None] - points[None]
        to_points = np.hypot(*offsets.transpose(2, 0, 1)).min(axis=1, initial=1.0)
        to_border = np.minimum(places, CANVAS - places).min(axis=1)
        self.tool.value = "add"
        self._paint(places[[np.argmax(np.minimum(to_points, to_border + 0.1))]])

    def clear(self):
        """Remove all points."""
        self._source.points = ""


SLIDER = {"size": "small", "sizing_mode": "stretch_width", "margin": (0, 12), "sx": DENSE}
SMALL_BUTTON_SIZE = {"margin": (4, 3), "width": 70, "height": 31}


def canvas(frame, points, strokes):
    """The figure to paint on.

    Parameters
    ----------
    frame : Frame
        Its window, which is that of the canvas from now on.
    points, strokes : ColumnDataSource
        The painted points, and the paths of the mouse.
    """
    figure = plain_figure(
        tools="", description="Canvas", x_range=frame.x_range, y_range=frame.y_range
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
    figure.scatter(
        "x", "y", size=5, fill_color="color", line_color=None, source=points, name="points"
    )
    lines = figure.multi_line(
        "xs", "ys", line_width=6, line_alpha=0.4, line_color=BETWEEN, source=strokes
    )
    draw = FreehandDrawTool(renderers=[lines], num_objects=1)
    figure.add_tools(draw)
    figure.toolbar.active_drag = draw
    frame.add(figure)
    frame.fit((0, CANVAS[0], 0, CANVAS[1]))
    return figure


def tool_choice():
    """The widget to choose between brush and eraser."""
    return pmui.RadioButtonGroup(
        options={"Brush": "add", "Eraser": "erase"},
        value="add",
        size="small",
        margin=(4, 6, 0, 8),
        sx=SMALL_TOGGLE,
    )


def paint_choice():
    """The widget to choose the paint, whose number is the reference label."""
    return pmui.RadioButtonGroup(
        options=[f"{i + 1}" for i in range(N_CLASSES)],
        value="1",
        size="small",
        margin=(4, 6, 0, 0),
        sx=SMALL_TOGGLE,
    )


def spread_slider():
    """The widget to choose the width of the brush."""
    return pmui.FloatSlider(
        label="Brush width",
        description="How far the points lie from the stroke.",
        start=0.005,
        end=0.1,
        step=0.005,
        value=0.02,
        **SLIDER,
    )


def amount_slider():
    """The widget to choose the number of points of a stroke."""
    return pmui.IntSlider(
        label="Points per stroke",
        description="How many points a stroke adds.",
        start=5,
        end=300,
        step=5,
        value=60,
        **SLIDER,
    )
