"""Show a canvas to paint points on, beside their graph."""

from functools import partial

import numpy as np
import panel_material_ui as pmui
from bokeh.events import Pan, PanEnd, PanStart, Tap
from bokeh.models import FreehandDrawTool

from ..assets import style_sheet
from ..drawing.figures import Frame, plain_figure
from ..drawing.marks import no_marks
from ..drawing.palette import BETWEEN, CLUSTER_COLORS
from ..sources.painted import CANVAS, N_CLASSES, along, coordinates, unpack
from .base import View, beside, figure_pane
from .describe import clusters
from .plots import PLOTTED, LinkedPlots
from .widgets import DENSE, SMALL_TOGGLE, button, column, row


class PaintView(View):
    """Show a canvas to paint on, and the clusters of what is painted.

    The widgets `tool`, `paint`, `spread` and `amount` choose brush or eraser, the number of the
    paint, the width of the brush, and the points per stroke. The browser puts the path of the mouse
    into `strokes`, as "xs" and "ys"; it has no path in it between strokes.
    """

    key, label, area = "paint", "Paint", "top"

    def __init__(self, session):
        super().__init__(session)
        self._source = session.sources.get("painted")
        self._frame = Frame()
        self._result = LinkedPlots(session, {"kde": "Painted points: clusters"})
        self._points = no_marks("x", "y", "color")
        self.strokes = no_marks("xs", "ys")
        self._canvas = canvas(self._frame, self._points, self.strokes)
        self._canvas.on_event(Tap, lambda event: self._paint(np.array([[event.x, event.y]])))
        self._path = []  # of the stroke that is being drawn
        self.strokes.on_change("data", lambda attr, old, new: any(new["xs"]) and self._wipe())
        for event in (PanStart, Pan, PanEnd):
            self._canvas.on_event(event, self._stroke)
        self._body = self._lay_out()
        self.follow(self._result.update, *PLOTTED)
        if self._source is not None:
            self._source.param.watch(lambda event: self._draw(), "points")
            self._draw()

    def _lay_out(self):
        return beside(
            self.card(
                "Canvas",
                "drag to paint; the number is the reference label",
                figure_pane(self._canvas, "canvas"),
                column(  # the widgets below the canvas
                    self._choices(),
                    self._sliders(),
                    height=84,
                    stylesheets=[style_sheet("grows-where-narrow")],
                ),
            ),
            self.card(
                "KDE graph",
                "what it makes of your points",
                figure_pane(self._result["kde"].figure, "painted"),
                describe=partial(clusters, self.state, "kde"),
            ),
            min_height=240,
        )

    def _choices(self):
        """Make the choices of brush or eraser and of the paint, whose number is the label."""
        style = {"size": "small", "sx": SMALL_TOGGLE}
        tools = {"Brush": "add", "Eraser": "erase"}
        self.tool = pmui.RadioButtonGroup(options=tools, value="add", margin=(4, 6, 0, 8), **style)
        paints = [f"{i + 1}" for i in range(N_CLASSES)]
        self.paint = pmui.RadioButtonGroup(options=paints, value="1", margin=(4, 6, 0, 0), **style)
        size = {"margin": (4, 3), "width": 70, "height": 31}
        sentence = "Add a round blob in an empty place, without the mouse."
        blob = button("Blob", sentence, self.add_blob, **size)
        clear = button("Clear", "Remove all points; undo brings them back.", self.clear, **size)
        return row(
            self.tool,
            self.paint,
            blob,
            clear,
            height=40,
            stylesheets=[style_sheet("wraps-where-narrow")],
        )

    def _sliders(self):
        """Make the sliders for the width of the brush and for the points of a stroke."""
        style = {"size": "small", "sizing_mode": "stretch_width", "margin": (0, 12), "sx": DENSE}
        self.spread = pmui.FloatSlider(
            label="Brush width",
            description="How far the points lie from the stroke.",
            start=0.005,
            end=0.1,
            step=0.005,
            value=0.02,
            **style,
        )
        self.amount = pmui.IntSlider(
            label="Points per stroke",
            description="How many points a stroke adds.",
            start=5,
            end=300,
            step=5,
            value=60,
            **style,
        )
        return row(self.spread, self.amount, height=42)

    @staticmethod
    def applies(state):
        """Return whether the points are painted ones."""
        return state.source == "painted"

    def _draw(self):
        points = unpack(self._source.points)
        x, y = coordinates(points).T
        self._points.data = {"x": x, "y": y, "color": np.array(CLUSTER_COLORS)[points[:, 2]]}

    def _stroke(self, event):
        """Follow a stroke, also beside the canvas; at its end, it becomes points."""
        if isinstance(event, PanStart):
            self._path = []
        if event.x is not None:
            self._path.append((event.x, event.y))
        if isinstance(event, PanEnd):
            path, self._path = np.array(self._path).reshape(-1, 2), []
            self._wipe()
            self._paint(path[((path >= 0) & (path <= CANVAS)).all(axis=1)])

    def _wipe(self):
        """Remove the line that the browser draws along a stroke.

        The browser reports the line only if that ends within the canvas, so that the new data must
        differ from those that were sent last.
        """
        none = [[]] if self.strokes.data["xs"] == [] else []
        self.strokes.data = {"xs": none, "ys": none}

    def _paint(self, path):
        path = path[np.isfinite(path).all(axis=1)]
        if len(path) == 0:
            return
        if self.tool.value == "erase":
            self._source.erase(path, 2.5 * self.spread.value)
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


def canvas(frame, points, strokes):
    """Return the figure to paint on, with the window of the `frame`.

    `points` and `strokes` are the sources of the painted points and of the paths of the mouse.
    """
    figure = plain_figure(
        tools="", description="Canvas", x_range=frame.x_range, y_range=frame.y_range
    )
    figure.axis.visible = figure.grid.visible = False
    gray = {"fill_alpha": 0.05, "fill_color": BETWEEN, "line_alpha": 0.4, "line_color": BETWEEN}
    figure.quad(0, CANVAS[0], 0, CANVAS[1], **gray)
    figure.scatter(size=5, fill_color="color", line_color=None, source=points, name="points")
    lines = figure.multi_line(line_width=6, line_alpha=0.4, line_color=BETWEEN, source=strokes)
    draw = FreehandDrawTool(renderers=[lines], num_objects=1)
    figure.add_tools(draw)
    figure.toolbar.active_drag = draw
    frame.add(figure)
    frame.fit((0, CANVAS[0], 0, CANVAS[1]))
    return figure
