"""The points with the sampled edges, and the same for the k-NN graph."""

import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.events import SelectionGeometry
from bokeh.models import ColumnDataSource

from ..drawing.figures import Frame, extent_of, plain_figure
from ..drawing.palette import cluster_colours, packed
from ..drawing.raster import draw, edge_list
from ..pipeline import METHODS
from ..selection import indices_within
from .base import View, caption, figure_pane

MAX_GLYPHS = 4000  # up to here the browser draws the points, sharp at every zoom; above, they are part of the image
SENTENCE = {
    "kde": "edges sampled in proportion to the Gaussian kernel",
    "knn": "edges to the nearest neighbours, for comparison",
}


class PointsView(View):
    """Two plots side by side, linked: points and edges of both graphs, coloured by cluster."""

    key = "points"
    label = "Points and edges"
    area = "top"

    def __init__(self, session, **params):
        super().__init__(session, **params)
        self._painter = session.latest(self._paint, deliver=self._show, grace=0.25)
        self._painted = {}
        self._placed = None
        self._frame = Frame(self._refresh)
        self._figures, self._points, self._images, self._glyphs = {}, {}, {}, []
        for method, name in METHODS.items():
            fig = plain_figure(
                tools="pan,wheel_zoom,box_select,lasso_select,tap,reset", description=f"{name}: points and edges", x_range=self._frame.x_range, y_range=self._frame.y_range
            )
            self._images[method] = ColumnDataSource({name: [] for name in ("image", "x", "y", "dw", "dh")})
            self._points[method] = ColumnDataSource({"x": [], "y": [], "colour": []})
            fig.image_rgba(image="image", x="x", y="y", dw="dw", dh="dh", source=self._images[method])
            glyphs = fig.scatter(x="x", y="y", size=4, fill_color="colour", line_color=None, nonselection_fill_alpha=0.15, source=self._points[method])
            fig.on_event(SelectionGeometry, self._select)
            self._frame.add(fig)
            self._figures[method] = fig
            self._glyphs.append(glyphs.glyph)
        self._body = pn.Row(
            *(
                pmui.Paper(
                    caption(name, SENTENCE[method]), figure_pane(self._figures[method], f"{method}-points"), sizing_mode="stretch_both", elevation=0, variant="outlined", margin=4
                )
                for method, name in METHODS.items()
            ),
            sizing_mode="stretch_both",
            min_height=240,
        )
        self.state.param.watch(self._place, ["dataset", "horizontal", "vertical"])
        self.state.param.watch(lambda *events: self._refresh(), ["result", "show_edges"])
        self.state.param.watch(self._mark, "selection")
        if self.state.dataset is not None:
            self._place()

    def __panel__(self):
        return self._body

    def figures(self):
        """See `View.figures`."""
        return tuple(self._figures.values())

    def _place(self, *events):
        state = self.state
        key = (state.dataset, state.horizontal, state.vertical)
        if state.dataset is None or key == self._placed:
            return
        self._placed = key
        self._positions = state.dataset.positions(state.horizontal, state.vertical)
        for fig in self._figures.values():
            labelled = state.dataset.named or len(state.dataset.axes) > 2
            fig.xaxis.axis_label = state.horizontal if labelled else ""
            fig.yaxis.axis_label = state.vertical if labelled and len(state.dataset.columns) > 1 else ""
        for glyph in self._glyphs:
            glyph.size = 2 * point_radius(state.dataset.n_points)
        self._frame.fit(extent_of(self._positions))

    def _refresh(self):
        """Have both images painted again, where anything of them has changed."""
        if self._placed is None:
            return
        self._painter.request((self._placed, self._positions, self._frame.viewport, self.state.show_edges, self.state.selection, dict(self._outcomes())))

    def _outcomes(self):
        result = self.state.result
        return result.outcomes if result is not None and result.request.dataset is self.state.dataset else {}

    def _paint(self, request, progress, publish):
        """In the worker: the layers of each method that differ from what is on the screen."""
        placed, positions, viewport, show_edges, selection, outcomes = request
        changes = {}
        for method in METHODS:
            progress("drawing", 0.0)
            outcome = outcomes.get(method)
            painted = self._painted.get(method, {})
            layers = {}
            colours_key = (placed, None if outcome is None else outcome.colours, selection)
            as_glyphs = len(positions) <= MAX_GLYPHS
            image_key = (placed, viewport, outcome.graph if show_edges and outcome is not None else None, None if outcome is None else outcome.colours, None if as_glyphs else selection)
            colours = np.zeros(len(positions), dtype=np.int64) if outcome is None else outcome.colours
            palette = cluster_colours(int(colours.max()) + 1)
            if outcome is None:
                palette[0] = palette[-1]
            if not _same(painted.get("image", (None,))[0], image_key):
                faded = colours
                if not as_glyphs and len(selection):
                    faded = np.full(len(colours), len(palette) - 1)
                    faded[selection] = colours[selection]
                image = draw(
                    viewport,
                    positions,
                    faded,
                    palette,
                    edges=edge_list(outcome.adjacency) if show_edges and outcome is not None else None,
                    radius=None if as_glyphs else point_radius(len(positions)),
                    opacity=0.9,
                )
                layers["image"] = (image_key, image, viewport)
            if not _same(painted.get("points", (None,))[0], colours_key):
                new_place = not painted.get("points") or painted["points"][0][0] != placed
                layers["points"] = (colours_key, as_glyphs, positions if new_place else None, packed(palette[colours]) if as_glyphs else None)
            if layers:
                changes[method] = layers
        return changes

    def _show(self, request, changes):
        if request[0] != self._placed:
            return
        for method, layers in changes.items():
            self._painted.setdefault(method, {}).update(layers)
            if "image" in layers:
                _, image, (x0, x1, y0, y1, _, _) = layers["image"]
                self._images[method].data = {"image": [image], "x": [x0], "y": [y0], "dw": [x1 - x0], "dh": [y1 - y0]}
            if "points" in layers:
                _, as_glyphs, positions, colours = layers["points"]
                source = self._points[method]
                if not as_glyphs:
                    source.data = {"x": [], "y": [], "colour": []}
                elif positions is not None:
                    source.data = {"x": positions[:, 0].copy(), "y": positions[:, 1].copy(), "colour": colours}
                else:
                    source.data["colour"] = colours

    def _select(self, event):
        """Find the points within a box, a lasso or a tap, in both ways of drawing."""
        if not event.final:
            return
        scale = (self._frame.x_range.end - self._frame.x_range.start) / self._frame.size[0]
        self.state.selection = indices_within(event.geometry, self._positions, reach=6 * scale)

    def _mark(self, *events):
        indices = self.state.selection
        for source in self._points.values():
            source.selected.indices = indices.tolist() if len(self._positions) <= MAX_GLYPHS else []
        self._refresh()


def point_radius(n):
    """Radius in pixels of n points: the more, the smaller."""
    return float(np.clip(1.5 * (2000 / n) ** 0.3, 0.55, 3.5))


def _same(a, b):
    """Whether two keys agree: plain values by equality, arrays and graphs by identity."""
    return a is not None and all(p is q or (isinstance(p, (tuple, str, bool)) and p == q) for p, q in zip(a, b, strict=True))
