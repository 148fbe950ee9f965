"""One point: its neighbors in both graphs, and how one of them was drawn."""

from functools import partial

import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource
from kdegraph import Kernel
from kdegraph.explain import halvings, sample_of

from ..algorithm.neighborhood import neighborhood
from ..drawing.figures import FONT, TEXT, extent_of
from ..drawing.palette import BETWEEN, MARK, METHOD, rgb
from ..drawing.recursion import RecursionPlot
from ..projection import perpendicular
from . import describe
from .base import View, beside, card, figure_pane
from .markup import Markup, html_table
from .plots import LinkedPlots
from .scores import colored, table_pane
from .widgets import DENSE, button

FIELD_SIZE = 96  # pixels along each side of the image of the kernel, which is smooth
WINDOW_REACH = 2.6  # sigma around the point that the window shows at least
WIDTH_REACH = 1.2  # the same where the kernel cannot be painted: the circle with its label
ALL_STEPS = 1000  # more than there are halvings of any data
BUTTONS = (  # label, sentence, and how many halvings further
    ("Back", "Undo the last halving.", -1),
    ("Next", "Halve once more.", 1),
    ("All", "Show every halving down to the sample.", ALL_STEPS),
)


class OnePointView(View):
    """The selected point: the kernel around it, its sampled and nearest neighbors, and the halving
    that draws one of them.

    Attributes
    ----------
    draw : panel_material_ui.IntSlider
        Which of the draws of the point is followed, from 1.
    """

    key, label, area = "point", "One point", "top"
    alone = True

    def __init__(self, session, **params):
        super().__init__(session, **params)
        self._job = session.latest(self._look, deliver=self._show)
        self._requested, self._shown = (None, None), None
        self._step = 0
        self._near = LinkedPlots(
            session, {"near": "One point: neighbors"}, lambda key: (None, None)
        )
        self._map = LinkedPlots(session, {"map": "One point: all points"}, self._clusters)
        self._neighbors = NeighborLayers(self._near["near"].figure)
        self._boxes = box_source(self._map["map"].figure)
        for figure in (self._near["near"].figure, self._map["map"].figure):
            mark_point(figure, self._neighbors.point)
        self._recursion = RecursionPlot("One point: halving")
        self.draw = draw_slider()
        self.draw.param.watch(lambda event: self._update(), "value")
        self._table = table_pane("kg-neighbors", "kg-scroll")
        self._body = self._lay_out()
        self.follow(self._update, "shown", "result", "selection", "horizontal", "vertical")

    def _lay_out(self):
        near = card(
            "Neighbors",
            "blue: sampled; rings: nearest",
            figure_pane(self._near["near"].figure, "point-near"),
            describe=self.describe_neighbors,
            view=self,
        )
        overview = card(
            "All points",
            "tap one; the boxes hold the sample",
            figure_pane(self._map["map"].figure, "point-map"),
            describe=partial(describe.clusters, self.state, "kde"),
            view=self,
        )
        buttons = [
            button(label, sentence, partial(self.walk, by), margin=(8, 2), width=54)
            for label, sentence, by in BUTTONS
        ]
        halving = card(
            "Drawing a neighbor",
            "at each level, one half is picked",
            pn.Row(self.draw, *buttons, sizing_mode="stretch_width", height=50, margin=0),
            figure_pane(self._recursion.figure, "point-halving"),
            describe=self.describe_halving,
            view=self,
        )
        return beside(
            pn.Column(near, overview, sizing_mode="stretch_both", margin=0),
            halving,
            card("Table", "neighbors in both graphs", self._table),
            widths=[7, 7, 6],
            min_height=240,
        )

    def figures(self):
        """See `View.figures`."""
        return (self._near["near"].figure, self._map["map"].figure, self._recursion.figure)

    @property
    def point(self):
        """The point that is looked at: the first that is selected, or the first of all."""
        return int(self.state.selection[0]) if len(self.state.selection) else 0

    def _clusters(self, key):
        outcome = self.state.outcome("kde")
        return None, None if outcome is None else outcome.colors

    def _update(self):
        self._near.update()
        self._map.update()
        outcome = self.state.outcome("kde")
        if outcome is None or outcome.graph.points is None:
            return
        self.draw.param.update(
            end=max(2, outcome.graph.n_rounds), value=min(self.draw.value, outcome.graph.n_rounds)
        )
        k = min(self.state.n_neighbors, len(outcome.labels) - 1)
        choice = (self.point, k, self.draw.value - 1)
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
        self._step = ALL_STEPS
        self._tabulate()
        self._place()
        self.describe()

    def walk(self, by):
        """Show more halvings, or fewer if `by` is negative."""
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
        self._neighbors.place(places, found)
        around = np.vstack([here[None], places[found.sampled], places[found.nearest]])
        planar = places.shape[1] == graph.points.shape[1] and np.array_equal(
            here, graph.points[found.point]
        )
        axes = (self.state.horizontal, self.state.vertical)
        if planar:  # the plane of the plot is the space of the points
            reach = WINDOW_REACH * found.sigma
            self._neighbors.paint_kernel(graph.kernel, found.sigma, here, 1.3 * reach)
        else:
            reach = WIDTH_REACH * found.sigma
            self._neighbors.paint_no_kernel()
        if perpendicular(self.state.shown, *axes):
            around = np.vstack([around, here - reach, here + reach])
            self._neighbors.draw_width(here, found.sigma)
        else:
            self._neighbors.draw_no_width()
        self._near.frame.fit(extent_of(around))
        self._place_boxes()

    def _place_boxes(self):
        _, _, steps, tree = self._shown
        shown = steps[: self._step]
        self._recursion.show(
            shown,
            len(steps),
            f"point {sample_of(steps, tree):,}" if shown and len(shown) == len(steps) else "",
        )
        self._boxes.data = boxes(self._map.positions, [tree.order[slice(*s.chosen)] for s in shown])

    def describe_neighbors(self, full):
        """Describe the neighbors of the point; see `card`."""
        if self._shown is None:
            return describe.WAITING
        return describe.neighbors(*self._shown[:2], full)

    def describe_halving(self, full):
        """Describe the halvings of the draw; see `card`."""
        if self._shown is None:
            return describe.WAITING
        _, found, steps, tree = self._shown
        return describe.halving(found.point, self.draw.value, steps, tree, full)

    def _tabulate(self):
        graph, found, *_ = self._shown
        self._table.content = Markup('<p>{}</p>{}{}<p style="color:{}">• in both</p>').format(
            describe.neighbors(graph, found, False).summary,
            neighbor_table("kde", "Sampled", found, found.sampled, found.weight),
            neighbor_table("knn", "Nearest", found, found.nearest, np.ones(len(found.nearest))),
            BETWEEN,
        )


class NeighborLayers:
    """What is drawn around one point: the kernel as an image, its width as a circle, edges and dots
    for the sampled neighbors, rings for the nearest ones.

    Parameters
    ----------
    figure : bokeh.plotting.figure
        Gets renderers with the names "kernel", "width", "edges", "sampled" and "nearest".

    Attributes
    ----------
    point : ColumnDataSource
        The place of the point.
    """

    def __init__(self, figure):
        self._kernel = ColumnDataSource({"image": [], "x": [], "y": [], "dw": [], "dh": []})
        self._width = ColumnDataSource({"x": [], "y": [], "diameter": [], "top": [], "text": []})
        self._edges = ColumnDataSource({"x0": [], "y0": [], "x1": [], "y1": [], "width": []})
        self._sampled = ColumnDataSource({"x": [], "y": []})
        self._nearest = ColumnDataSource({"x": [], "y": []})
        self.point = ColumnDataSource({"x": [], "y": []})
        kernel = figure.image_rgba(
            "image", "x", "y", "dw", "dh", source=self._kernel, name="kernel"
        )
        kernel.level = "underlay"
        figure.text(
            "x",
            "top",
            text="text",
            text_color=MARK,
            text_align="center",
            text_baseline="bottom",
            text_font={"value": FONT},
            text_font_size=TEXT["text_font_size"],
            source=self._width,
        )
        figure.ellipse(
            "x",
            "y",
            width="diameter",
            height="diameter",
            fill_color=None,
            line_color=MARK,
            line_width=1.5,
            line_dash="dashed",
            source=self._width,
            name="width",
        )
        figure.segment(
            "x0",
            "y0",
            "x1",
            "y1",
            line_width="width",
            line_color=METHOD["kde"],
            line_alpha=0.7,
            source=self._edges,
            name="edges",
        )
        figure.scatter(
            "x",
            "y",
            size=7,
            fill_color=METHOD["kde"],
            line_color=None,
            source=self._sampled,
            name="sampled",
        )
        figure.scatter(
            "x",
            "y",
            size=12,
            fill_color=None,
            line_color=METHOD["knn"],
            line_width=1.8,
            source=self._nearest,
            name="nearest",
        )

    def place(self, places, found):
        """Draw the neighbors in a `Neighborhood`; `places` is where all points lie."""
        here, ends = places[found.point], places[found.sampled]
        start = np.broadcast_to(here, ends.shape)
        self._edges.data = {
            "x0": start[:, 0],
            "y0": start[:, 1],
            "x1": ends[:, 0],
            "y1": ends[:, 1],
            "width": 1 + 3 * found.weight / found.weight.max() if len(found.weight) else [],
        }
        self._sampled.data = {"x": ends[:, 0], "y": ends[:, 1]}
        self._nearest.data = {"x": places[found.nearest, 0], "y": places[found.nearest, 1]}
        self.point.data = {"x": here[:1], "y": here[1:]}

    def paint_kernel(self, kernel, sigma, here, reach):
        """Paint a kernel of this bandwidth around the place `here`."""
        steps = np.linspace(-reach, reach, FIELD_SIZE)
        grid = here + np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
        values = Kernel(kernel, sigma).pairwise(grid, here[None])[:, 0]
        pixels = np.empty((FIELD_SIZE, FIELD_SIZE, 4), dtype=np.uint8)
        pixels[:, :, :3] = rgb(METHOD["kde"])
        pixels[:, :, 3] = 110 * values.reshape(FIELD_SIZE, FIELD_SIZE)
        x, y = here - reach
        self._kernel.data = {
            "image": [pixels.view(np.uint32)[:, :, 0]],
            "x": [x],
            "y": [y],
            "dw": [2 * reach],
            "dh": [2 * reach],
        }

    def paint_no_kernel(self):
        """Take the image of the kernel away."""
        self._kernel.data = {name: [] for name in self._kernel.data}

    def draw_width(self, here, sigma):
        """Draw the circle of the points at distance sigma from the place `here`."""
        self._width.data = {
            "x": here[:1],
            "y": here[1:],
            "diameter": [2 * sigma],
            "top": here[1:] + sigma,
            "text": [f"σ = {sigma:.3g}"],
        }

    def draw_no_width(self):
        """Take the circle away."""
        self._width.data = {name: [] for name in self._width.data}


def draw_slider():
    """The widget to choose which draw is followed."""
    return pmui.IntSlider(
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


def mark_point(figure, source):
    """Draw a cross at the place in a source."""
    figure.scatter(
        "x", "y", marker="cross", size=16, line_width=2.5, line_color=MARK, source=source
    )


def box_source(figure):
    """The source of boxes that are drawn in a figure."""
    source = ColumnDataSource({"left": [], "right": [], "bottom": [], "top": [], "width": []})
    figure.quad(
        "left",
        "right",
        "bottom",
        "top",
        fill_color=None,
        line_color=METHOD["kde"],
        line_width="width",
        line_alpha=0.8,
        source=source,
        name="boxes",
    )
    return source


def boxes(places, parts):
    """The columns for `box_source`: a box around each part of the points, ever thicker."""
    corners = [(places[part].min(axis=0), places[part].max(axis=0)) for part in parts]
    low, high = (np.array([pair[side] for pair in corners]).reshape(-1, 2) for side in (0, 1))
    return {
        "left": low[:, 0],
        "right": high[:, 0],
        "bottom": low[:, 1],
        "top": high[:, 1],
        "width": np.linspace(1, 2.5, len(parts)) if parts else [],
    }


def neighbor_table(method, title, found, points, weights):
    """Some neighbors in a `Neighborhood` as an HTML table; a dot marks those in both graphs."""
    both = set(found.sampled) & set(found.nearest)
    explained = Markup('<span title="{}">{}</span>')
    columns = [explained.format(meaning, name) for name, meaning in COLUMNS.items()]
    rows = []
    for j, weight in zip(points.tolist(), weights, strict=True):
        near = f"{found.distances[j]:.3g}", f"{found.chance(j):.2g}"
        values = (*near, str(found.times_drawn(j)), f"{weight:.2f}")
        rows.append((f"{j:,}{' •' * (j in both)}", values, ""))
    return html_table((colored(method, title), *columns), rows)


COLUMNS = {
    "distance": "Distance to the point",
    "p": "Probability to be drawn in one round: kernel over degree",
    "drawn": "How often it was drawn in the L rounds",
    "weight": "Weight of the edge",
}
