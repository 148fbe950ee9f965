"""One point: its neighbors in both graphs, and how one of them was drawn."""

from functools import partial

import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource
from kdegraph.geometry.kernels import Kernel

from ..algorithm.halving import halvings, sample_of
from ..algorithm.neighborhood import neighborhood
from ..drawing.figures import extent_of
from ..drawing.palette import BETWEEN, MARK, METHOD, rgb
from ..drawing.recursion import RecursionPlot
from . import describe
from .base import View, beside, card, figure_pane
from .markup import TABLE_STYLE, Markup, Text, html_table
from .plots import LinkedPlots
from .scores import colored
from .widgets import DENSE, button

FIELD_SIZE = 96  # pixels of the image of the kernel, which is smooth
REACH = 2.6  # the window shows at least so many sigma around the point


class OnePointView(View):
    """The selected point: the kernel around it, its sampled and nearest neighbors, and the halving
    that draws one of them.
    """

    key, label, area = "point", "One point", "top"
    alone = True

    def __init__(self, session, **params):
        super().__init__(session, **params)
        self._job = session.latest(self._look, deliver=self._show)
        self._requested, self._shown = (None, None), None
        self._near = LinkedPlots(
            session, {"near": "One point: neighbors"}, lambda key: (None, None)
        )
        self._map = LinkedPlots(session, {"map": "One point: all points"}, self._clusters)
        self._recursion = RecursionPlot("One point: halving")
        self._decorate()
        self._draw = pmui.IntSlider(
            label="Draw",
            description="Which of the L draws of the point is followed.",
            start=1,
            end=20,
            value=7,
            size="small",
            sizing_mode="stretch_width",
            margin=(2, 12),
            sx=DENSE,
        )
        self._draw.param.watch(lambda event: self._update(), "value")
        self._step = 0
        buttons = [
            button(label, sentence, lambda by=by: self._walk(by), margin=(8, 2), width=54)
            for label, sentence, by in (
                ("Back", "Undo the last halving.", -1),
                ("Next", "Halve once more.", 1),
                ("All", "Show every halving down to the sample.", 1000),
            )
        ]
        self._table = Text(
            css_classes=["kg-neighbors", "kg-scroll"],
            stylesheets=[TABLE_STYLE],
            sizing_mode="stretch_both",
            margin=(0, 8),
        )
        self._body = beside(
            pn.Column(
                card(
                    "Neighbors",
                    "blue: sampled; rings: nearest",
                    figure_pane(self._near["near"].figure, "point-near"),
                    describe=self._describe_neighbors,
                    view=self,
                ),
                card(
                    "All points",
                    "tap one; the boxes hold the sample",
                    figure_pane(self._map["map"].figure, "point-map"),
                    describe=partial(describe.clusters, self.state, "kde"),
                    view=self,
                ),
                sizing_mode="stretch_both",
                margin=0,
            ),
            card(
                "Drawing a neighbor",
                "halves drawn by kernel sum",
                pn.Row(self._draw, *buttons, sizing_mode="stretch_width", height=50, margin=0),
                figure_pane(self._recursion.figure, "point-halving"),
                describe=self._describe_halving,
                view=self,
            ),
            card("Table", "neighbors in both graphs", self._table),
            widths=[7, 7, 6],
            min_height=240,
        )
        self.follow(self._update, "shown", "result", "selection", "horizontal", "vertical")

    def figures(self):
        """See `View.figures`."""
        return (self._near["near"].figure, self._map["map"].figure, self._recursion.figure)

    @property
    def point(self):
        """The point that is looked at: the first that is selected, or the first of all."""
        return int(self.state.selection[0]) if len(self.state.selection) else 0

    def _decorate(self):
        fig = self._near["near"].figure
        self._field = ColumnDataSource({"image": [], "x": [], "y": [], "dw": [], "dh": []})
        self._edges = ColumnDataSource({"x0": [], "y0": [], "x1": [], "y1": [], "width": []})
        self._drawn, self._nearest, self._focus = (
            ColumnDataSource({"x": [], "y": []}) for _ in range(3)
        )
        field = fig.image_rgba("image", "x", "y", "dw", "dh", source=self._field)
        field.level = "underlay"
        fig.segment(
            "x0",
            "y0",
            "x1",
            "y1",
            line_width="width",
            line_color=METHOD["kde"],
            line_alpha=0.7,
            source=self._edges,
        )
        fig.scatter("x", "y", size=7, fill_color=METHOD["kde"], line_color=None, source=self._drawn)
        fig.scatter(
            "x",
            "y",
            size=12,
            fill_color=None,
            line_color=METHOD["knn"],
            line_width=1.8,
            source=self._nearest,
        )
        overview = self._map["map"].figure
        self._boxes = ColumnDataSource(
            {"left": [], "right": [], "bottom": [], "top": [], "width": []}
        )
        overview.quad(
            "left",
            "right",
            "bottom",
            "top",
            fill_color=None,
            line_color=METHOD["kde"],
            line_width="width",
            line_alpha=0.8,
            source=self._boxes,
        )
        for place in (fig, overview):
            place.scatter(
                "x",
                "y",
                marker="cross",
                size=16,
                line_width=2.5,
                line_color=MARK,
                source=self._focus,
            )

    def _clusters(self, key):
        outcome = self.state.outcome("kde")
        return None, None if outcome is None else outcome.colors

    def _update(self):
        self._near.update()
        self._map.update()
        outcome = self.state.outcome("kde")
        if outcome is None or outcome.graph.points is None:
            return
        self._draw.param.update(
            end=max(2, outcome.graph.n_rounds), value=min(self._draw.value, outcome.graph.n_rounds)
        )
        k = min(self.state.n_neighbors, len(outcome.labels) - 1)
        choice = (self.point, k, self._draw.value - 1)
        graph, before = self._requested
        if graph is not outcome.graph or before != choice:
            self._requested = (outcome.graph, choice)
            self._job.request((outcome.graph, *choice))
        elif self._shown is not None:
            self._place()

    def _look(self, request, progress, publish):
        graph, point, k, draw = request
        tree = self.session.tree_of(graph.points)
        return neighborhood(graph, point, k), halvings(graph, tree, point, draw), tree

    def _show(self, request, found):
        graph = request[0]
        if graph.points is not self.state.shown.X:
            return
        self._shown = (graph, *found)
        self._step = 1000
        self._tabulate()
        self._place()
        self.describe()

    def _walk(self, by):
        if self._shown is None:
            return
        steps = self._shown[2]
        self._step = min(max(min(self._step, len(steps)) + by, 0), len(steps))
        self._place_boxes()

    def _place(self):
        """Draw the neighbors where they lie along the axes of the moment."""
        graph, found, *_ = self._shown
        places = self._near.positions
        here = places[found.point]
        width = 1 + 3 * found.weight / found.weight.max() if len(found.weight) else []
        ends = places[found.sampled]
        start = np.broadcast_to(here, ends.shape)
        self._edges.data = {
            "x0": start[:, 0],
            "y0": start[:, 1],
            "x1": ends[:, 0],
            "y1": ends[:, 1],
            "width": width,
        }
        self._drawn.data = {"x": ends[:, 0], "y": ends[:, 1]}
        self._nearest.data = {"x": places[found.nearest, 0], "y": places[found.nearest, 1]}
        self._focus.data = {"x": here[:1], "y": here[1:]}
        around = np.vstack([here[None], ends, places[found.nearest]])
        planar = places.shape[1] == graph.points.shape[1] and np.array_equal(
            here, graph.points[found.point]
        )
        if planar:
            around = np.vstack([around, here - REACH * graph.sigma, here + REACH * graph.sigma])
        self._near.frame.fit(extent_of(around))
        self._paint_field(graph, here, planar)
        self._place_boxes()

    def _paint_field(self, graph, here, planar):
        """The kernel around the point, where the plane of the plot is the space of the points."""
        if not planar:
            self._field.data = {name: [] for name in self._field.data}
            return
        reach = 1.3 * REACH * graph.sigma
        steps = np.linspace(-reach, reach, FIELD_SIZE)
        grid = here + np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
        values = (
            Kernel(graph.kernel, graph.sigma)
            .pairwise(grid, here[None])[:, 0]
            .reshape(FIELD_SIZE, FIELD_SIZE)
        )
        pixels = np.empty((FIELD_SIZE, FIELD_SIZE, 4), dtype=np.uint8)
        pixels[:, :, :3] = rgb(METHOD["kde"])
        pixels[:, :, 3] = 110 * values
        image = pixels.view(np.uint32)[:, :, 0]
        x, y = here - reach
        self._field.data = {
            "image": [image],
            "x": [x],
            "y": [y],
            "dw": [2 * reach],
            "dh": [2 * reach],
        }

    def _place_boxes(self):
        _, _, steps, tree = self._shown
        shown = steps[: self._step]
        self._recursion.show(
            shown,
            len(steps),
            f"point {sample_of(steps, tree):,}" if shown and len(shown) == len(steps) else "",
        )
        places = self._map.positions
        corners = [
            (places[part].min(axis=0), places[part].max(axis=0))
            for part in (tree.order[slice(*step.chosen)] for step in shown)
        ]
        low, high = (np.array([pair[side] for pair in corners]).reshape(-1, 2) for side in (0, 1))
        width = np.linspace(1, 2.5, len(shown)) if shown else []
        self._boxes.data = {
            "left": low[:, 0],
            "right": high[:, 0],
            "bottom": low[:, 1],
            "top": high[:, 1],
            "width": width,
        }

    def _describe_neighbors(self, full):
        return (
            describe.WAITING if self._shown is None else describe.neighbors(*self._shown[:2], full)
        )

    def _describe_halving(self, full):
        if self._shown is None:
            return describe.WAITING
        _, found, steps, tree = self._shown
        return describe.halving(found.point, self._draw.value, steps, tree, full)

    def _tabulate(self):
        graph, found, *_ = self._shown
        both = set(found.sampled) & set(found.nearest)
        explained = Markup('<span title="{}">{}</span>')
        columns = [explained.format(meaning, name) for name, meaning in COLUMNS.items()]

        def table(method, title, points, weights):
            rows = []
            for j, weight in zip(points.tolist(), weights, strict=True):
                near = f"{found.distances[j]:.3g}", f"{found.chance(j):.2g}"
                values = (*near, str(found.times_drawn(j)), f"{weight:.2f}")
                rows.append((f"{j:,}{' •' * (j in both)}", values, ""))
            return html_table((colored(method, title), *columns), rows)

        self._table.content = Markup('<p>{}</p>{}{}<p style="color:{}">• in both</p>').format(
            describe.neighbors(graph, found, False).summary,
            table("kde", "Sampled", found.sampled, found.weight),
            table("knn", "Nearest", found.nearest, np.ones(len(found.nearest))),
            BETWEEN,
        )


COLUMNS = {
    "distance": "Distance to the point",
    "p": "Probability to be drawn in one round: kernel over degree",
    "drawn": "How often it was drawn in the L rounds",
    "weight": "Weight of the edge",
}
