"""The points with the sampled edges, and the same for the k-NN graph."""

import panel as pn
from bokeh.events import SelectionGeometry
from bokeh.models import ColumnDataSource

from ..drawing.figures import Frame, extent_of, plain_figure
from ..drawing.painter import MAX_GLYPHS, Painter, Scene, point_radius
from ..pipeline import METHODS
from ..projection import positions
from ..selection import indices_within
from .base import View, card, figure_pane

SENTENCE = {
    "kde": "edges sampled in proportion to the Gaussian kernel",
    "knn": "edges to the nearest neighbours, for comparison",
}
TOOLS = "pan,wheel_zoom,box_select,lasso_select,tap,reset"


class PointsView(View):
    """Two plots side by side, linked: points and edges of both graphs, coloured by cluster."""

    key = "points"
    label = "Points and edges"
    area = "top"

    def __init__(self, session, **params):
        super().__init__(session, **params)
        self._job = session.latest(self._paint, deliver=self._show)
        self._frame = Frame(self._refresh)
        self._place_key = self._positions = None
        self._plots = {method: _Plot(name, self._frame, self._select) for method, name in METHODS.items()}
        self._body = pn.Row(
            *(
                card(METHODS[method], SENTENCE[method], figure_pane(plot.figure, f"{method}-points"))
                for method, plot in self._plots.items()
            ),
            sizing_mode="stretch_both",
            min_height=240,
        )
        self.state.param.watch(lambda *events: self._place(), ["shown", "horizontal", "vertical"])
        self.state.param.watch(lambda *events: self._refresh(), ["result", "shown", "show_edges", "selection"])
        self._place()

    def __panel__(self):
        return self._body

    def figures(self):
        """See `View.figures`."""
        return tuple(plot.figure for plot in self._plots.values())

    def _place(self):
        """Lay the points out anew when they, or the axes, have changed."""
        state = self.state
        key = (state.shown, state.horizontal, state.vertical)
        if state.shown is None or key == self._place_key:
            return
        self._place_key, self._positions = key, positions(*key)
        for plot in self._plots.values():
            plot.name_axes(state.horizontal, state.vertical)
        self._frame.fit(extent_of(self._positions))

    def _refresh(self):
        if self._positions is None:
            return
        self._job.request({method: self._scene(method) for method in METHODS})
        for plot in self._plots.values():
            plot.select(self.state.selection if len(self._positions) <= MAX_GLYPHS else ())

    def _scene(self, method):
        state = self.state
        outcome = state.outcome(method)
        adjacency = outcome.adjacency if outcome is not None and state.show_edges else None
        colours = None if outcome is None else outcome.colours
        return Scene(self._positions, self._frame.viewport, adjacency, colours, state.selection)

    def _paint(self, scenes, progress, publish):
        """In the worker. It is short and never stopped: what a painter has painted must reach the screen."""
        return {method: self._plots[method].painter.paint(scene) for method, scene in scenes.items()}

    def _show(self, scenes, layers):
        for method, changes in layers.items():
            self._plots[method].show(scenes[method], changes)

    def _select(self, event):
        """Find the points within a box, a lasso or a tap, whoever has drawn them."""
        if event.final:
            pixel = (self._frame.x_range.end - self._frame.x_range.start) / self._frame.size[0]
            self.state.selection = indices_within(event.geometry, self._positions, reach=6 * pixel)


class _Plot:
    """One figure: an image of the edges, and of the points where they are many, under the glyphs of few points."""

    def __init__(self, name, frame, select):
        self.painter = Painter()
        self.figure = plain_figure(tools=TOOLS, description=f"{name}: points and edges", x_range=frame.x_range, y_range=frame.y_range)
        self._image = ColumnDataSource({column: [] for column in ("image", "x", "y", "dw", "dh")})
        self._points = ColumnDataSource({"x": [], "y": [], "colour": []})
        self.figure.image_rgba("image", "x", "y", "dw", "dh", source=self._image)
        self._glyph = self.figure.scatter(
            "x", "y", fill_color="colour", line_color=None, nonselection_fill_alpha=0.15, source=self._points
        ).glyph
        self.figure.on_event(SelectionGeometry, select)
        frame.add(self.figure)

    def name_axes(self, horizontal, vertical):
        for axis, name in ((self.figure.xaxis, horizontal), (self.figure.yaxis, vertical)):
            axis.axis_label = name if len(name) > 2 else ""  # "x" and "y" say nothing

    def select(self, indices):
        indices = [int(i) for i in indices]
        if self._points.selected.indices != indices:
            self._points.selected.indices = indices

    def show(self, scene, layers):
        if layers.image is not None:
            x0, x1, y0, y1, *_ = scene.viewport
            self._image.data = {"image": [layers.image], "x": [x0], "y": [y0], "dw": [x1 - x0], "dh": [y1 - y0]}
        if layers.positions is not None:
            self._glyph.size = 2 * point_radius(len(scene.positions))
            x, y = layers.positions.T.copy()
            self._points.data = {"x": x, "y": y, "colour": layers.colours}
        elif layers.colours is not None:
            self._points.data["colour"] = layers.colours
