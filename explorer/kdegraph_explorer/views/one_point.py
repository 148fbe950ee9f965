"""Show one point: its neighbors in both graphs, and how one of them was drawn."""

from functools import partial
from typing import NamedTuple

import numpy as np
import panel as pn
import panel_material_ui as pmui
from kdegraph.explain import halvings, sample_of

from ..algorithm.neighborhood import neighborhood
from ..assets import style_sheet
from ..drawing.figures import extent_of
from ..drawing.marks import set_marks
from ..drawing.one_point import NeighborLayers, RecursionPlot, box_source, boxes, mark_point
from ..drawing.palette import BETWEEN
from ..pictures import picture_address
from ..projection import perpendicular
from . import describe
from .base import View, beside, figure_pane
from .markup import Markup, html_table, image
from .plots import LinkedPlots, clusters_without_edges
from .scores import colored, table_pane
from .widgets import DENSE, button, filling_column, row

PICTURES = 50  # neighbors in each table with their picture
ALL_STEPS = 1000  # more than there are halvings of any data


class Seen(NamedTuple):
    """The data of the point that is shown.

    `found` is its `Neighborhood` in the `graph`, `steps` are the halvings of the draw in the
    `tree`, and `pictures` are the addresses of the pictures of the point and of its neighbors, by
    point.
    """

    graph: object
    found: object
    steps: list
    tree: object
    pictures: dict


class OnePointView(View):
    """Show the selected point, its neighbors, and how one of them was drawn.

    The slider `draw` chooses which of the draws of the point is followed, from 1.
    """

    key, label, area = "point", "One point", "top"
    alone = True

    def __init__(self, session):
        super().__init__(session)
        self._job = session.latest(self._look, deliver=self._show)
        self._requested, self._shown = (None, None), None
        self._step = 0
        self._near = LinkedPlots(
            session, {"near": "One point: neighbors"}, lambda key: (None, None)
        )
        self._map = LinkedPlots(
            session, {"map": "One point: all points"}, partial(clusters_without_edges, self.state)
        )
        self._neighbors = NeighborLayers(self._near["near"].figure)
        self._boxes = box_source(self._map["map"].figure)
        for figure in (self._near["near"].figure, self._map["map"].figure):
            mark_point(figure, self._neighbors.point)
        self._recursion = RecursionPlot("One point: halving")
        self.draw = pmui.IntSlider(
            label="Draw",
            description="Which of the L draws of the point is followed.",
            start=1,
            end=20,
            value=7,
            size="small",
            sizing_mode="stretch_width",
            margin=(2, 12),
            sx=DENSE,
            styles={"flex": "1 1 110px"},
        )
        self.draw.param.watch(lambda event: self._update(), "value")
        self._table = table_pane("kg-neighbors", "kg-scroll")
        self._body = self._lay_out()
        self.follow(self._update, "shown", "result", "selection", "horizontal", "vertical")

    def _lay_out(self):
        near = self.card(
            "Neighbors",
            "blue: sampled; rings: nearest",
            figure_pane(self._near["near"].figure, "point-near"),
            describe=self.describe_neighbors,
        )
        overview = self.card(
            "All points",
            "tap one; the boxes hold the sample",
            figure_pane(self._map["map"].figure, "point-map"),
            describe=partial(describe.clusters, self.state, "kde"),
        )
        buttons = [
            button(label, sentence, partial(self.walk, by), margin=(8, 2), width=46)
            for label, sentence, by in (
                ("Back", "Undo the last halving.", -1),
                ("Next", "Halve once more.", 1),
                ("All", "Show every halving down to the sample.", ALL_STEPS),
            )
        ]
        sheets = [style_sheet("wraps"), style_sheet("shrinks")]
        halving = self.card(
            "Drawing a neighbor",
            "at each level, one half is picked",
            row(self.draw, pn.Row(*buttons, margin=0), stylesheets=sheets),
            figure_pane(self._recursion.figure, "point-halving"),
            describe=self.describe_halving,
        )
        return beside(
            filling_column(near, overview),
            halving,
            self.card("Table", "neighbors in both graphs", self._table),
            widths=[7, 7, 6],
            least=[0, 0, 256],
            min_height=240,
        )

    @property
    def point(self):
        """Return the point that is shown: the first that is selected, or the first of all."""
        return int(self.state.selection[0]) if len(self.state.selection) else 0

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
            self._job.request((outcome.graph, *choice, self.state.shown))
        elif self._shown is not None:
            self._place()

    def _look(self, request, progress, publish):
        graph, point, k, draw, dataset = request
        tree = self.session.tree_of(graph.points)
        found = neighborhood(graph, point, k)
        pictured = {point, *found.sampled[:PICTURES].tolist(), *found.nearest[:PICTURES].tolist()}
        pictures = {i: picture_address(dataset, i) for i in pictured}
        return Seen(graph, found, halvings(graph, tree, point, draw), tree, pictures)

    def _show(self, request, seen):
        if seen.graph.points is not self.state.shown.embedded:
            return
        self._shown = seen
        self._step = ALL_STEPS
        self._place()
        self.describe()

    def walk(self, by):
        """Show more halvings, or fewer if `by` is negative."""
        if self._shown is None:
            return
        steps = self._shown.steps
        self._step = min(max(min(self._step, len(steps)) + by, 0), len(steps))
        self._place_boxes()

    def _to_scale(self):
        """Return whether no distance is larger on the screen than between the points."""
        state = self.state
        return perpendicular(state.shown, state.horizontal, state.vertical)

    def _place(self):
        """Draw the neighbors where they lie along the present axes, and tell of them."""
        self._tabulate()
        graph, found, *_ = self._shown
        places = self._near.positions
        here = places[found.point]
        self._neighbors.place(places, found)
        around = np.vstack([here[None], places[found.sampled], places[found.nearest]])
        planar = places.shape[1] == graph.points.shape[1] and np.array_equal(
            here, graph.points[found.point]
        )
        if planar:  # the plane of the plot is the space of the points
            reach = 2.6 * found.sigma  # from the point to the edge of the window
            self._neighbors.paint_kernel(graph.kernel, found.sigma, here, 1.3 * reach)
        else:
            reach = 1.2 * found.sigma  # there is only the circle, with its label
            self._neighbors.paint_no_kernel()
        if self._to_scale():
            around = np.vstack([around, here - reach, here + reach])
            self._neighbors.draw_width(here, found.sigma)
        else:
            self._neighbors.draw_no_width()
        self._near.frame.fit(extent_of(around))
        self._place_boxes()

    def _place_boxes(self):
        steps, tree = self._shown.steps, self._shown.tree
        shown = steps[: self._step]
        self._recursion.show(
            shown,
            len(steps),
            f"point {sample_of(steps, tree):,}" if shown and len(shown) == len(steps) else "",
        )
        parts = [tree.order[slice(*step.chosen)] for step in shown]
        set_marks(self._boxes, boxes(self._map.positions, parts))

    def describe_neighbors(self, full):
        """Describe the neighbors of the point; see `card`."""
        if self._shown is None:
            return describe.WAITING
        return describe.neighbors(self._shown.graph, self._shown.found, full, self._to_scale())

    def describe_halving(self, full):
        """Describe the halvings of the draw; see `card`."""
        if self._shown is None:
            return describe.WAITING
        seen = self._shown
        return describe.halving(seen.found.point, self.draw.value, seen.steps, seen.tree, full)

    def _tabulate(self):
        graph, found, *_, pictures = self._shown
        ones = np.ones(len(found.nearest))
        self._table.content = Markup('<p>{}{}</p>{}{}<p style="color:{}">• in both</p>').format(
            image(pictures[found.point]),
            describe.neighbors(graph, found, False, self._to_scale()).summary,
            neighbor_table("kde", "Sampled", found, found.sampled, found.weight, pictures),
            neighbor_table("knn", "Nearest", found, found.nearest, ones, pictures),
            BETWEEN,
        )


def neighbor_table(method, title, found, points, weights, pictures):
    """Return some neighbors in a `Neighborhood` as an HTML table with their pictures.

    A dot marks those in both graphs.
    """
    both = set(found.sampled) & set(found.nearest)
    explained = Markup('<span title="{}">{}</span>')
    columns = [explained.format(meaning, name) for name, meaning in COLUMNS.items()]
    rows = []
    for j, weight in zip(points.tolist(), weights, strict=True):
        near = f"{found.distances[j]:.3g}", f"{found.chance(j):.2g}"
        values = (*near, str(found.times_drawn(j)), f"{weight:.2f}")
        name = image(pictures.get(j, "")) + f"{j:,}{' •' * (j in both)}"
        rows.append((name, values, ""))
    return html_table((colored(method, title), *columns), rows)


COLUMNS = {
    "distance": "Distance to the point",
    "p": "Probability to be drawn in one round: kernel over degree",
    "drawn": "How often it was drawn in the L rounds",
    "weight": "Weight of the edge",
}
