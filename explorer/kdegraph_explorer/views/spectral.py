"""Show the spectral embedding, degrees against kernel degrees, and conductances."""

from functools import partial

import holoviews as hv
import numpy as np
import panel_material_ui as pmui
from bokeh.models import Slope

from ..drawing.elements import LiveElement
from ..drawing.figures import GLYPH_TEXT
from ..drawing.palette import BETWEEN, METHOD
from ..results import METHODS
from . import describe
from .base import View, beside, figure_pane
from .plots import LinkedPlots, clusters_without_edges
from .widgets import row

LABELED_CLUSTERS = 10  # clusters up to which each has its number below the axis
MAX_CHARACTERS = 24  # of all numbers above the bars, which stand side by side without overlapping
BAR_WIDTH = 0.38  # width of a bar; two of them fill the place of a cluster


class SpectralView(View):
    """Show the points in the space of the eigenvectors, their degrees, and conductances."""

    key, label, area = "spectral", "Embedding", "top"
    colored = True

    def __init__(self, session):
        super().__init__(session)
        clusters = partial(clusters_without_edges, self.state)
        self._embedding = LinkedPlots(
            session,
            {"embedding": "Spectral embedding"},
            clusters,
            self._place_in_eigenvectors,
            colored=True,
        )
        self._degrees = LinkedPlots(
            session, {"degrees": "Degrees"}, clusters, self._place_by_degrees, colored=True
        )
        self._degrees["degrees"].figure.add_layout(
            Slope(gradient=1, y_intercept=0, line_color=BETWEEN, line_dash="dashed")
        )
        self._conductances = LiveElement(
            "Conductances", self._draw_conductances, "kg-conductances", xlabel="cluster", ylabel=""
        )
        self._judged = None  # the data of the conductances that are drawn
        self._vectors = [
            self._vector(*choice)
            for choice in (("Horizontal eigenvector", 2), ("Vertical eigenvector", 3))
        ]
        self._body = beside(
            self.card(
                "Spectral embedding",
                "points by two eigenvectors",
                row(*self._vectors, height=44),
                figure_pane(self._embedding["embedding"].figure, "spectral-embedding"),
                describe=self.describe_embedding,
            ),
            self.card(
                "Degrees",
                "sampled (up) against exact: similarity to all others, added up",
                figure_pane(self._degrees["degrees"].figure, "spectral-degrees"),
                describe=partial(describe.degrees, self.state),
            ),
            self.card(
                "Conductance",
                "left KDE, right k-NN: share of similarity that leaves the cluster",
                self._conductances.pane,
                figure=self._conductances.name,
                describe=partial(describe.conductances, self.state, METHODS),
            ),
            widths=[4, 4, 3],
            min_height=240,
        )
        self.follow(self._update, "shown", "result", "selection", "coloring")
        self.follow(self._judge, "judgements")

    def _vector(self, label, number):
        choice = pmui.Select(
            label=label,
            options=list(range(1, 11)),
            value=number,
            description="Which eigenvector of the normalized Laplacian, by its eigenvalue.",
            size="small",
            sizing_mode="stretch_width",
            margin=(8, 8, 0, 8),
        )
        choice.param.watch(lambda event: self._update(), "value")
        return choice

    def _update(self):
        outcome = self.state.outcome("kde")
        if outcome is None:
            return
        known = list(range(1, len(outcome.spectrum.eigenvalues) + 1))
        for choice in self._vectors:
            if choice.options != known:
                choice.param.update(options=known, value=min(choice.value, known[-1]))
        self._embedding.update()
        self._degrees.update()
        self._judge()

    def _judge(self):
        """Draw the conductances.

        Earlier ones stay until all methods of the same data are judged.
        """
        known = self.state.outcomes(METHODS)
        judgements = {method: self.state.judgement(method) for method in known}
        if None in judgements.values() and self._judged is self.state.shown:
            return
        self._judged = self.state.shown
        self.describe()
        order = [] if "kde" not in known else list(known["kde"].marks)
        self._conductances.show(
            {method: found.of(order) for method, found in judgements.items() if found}
        )

    def _draw_conductances(self, conductances):
        outcome = self.state.outcome("kde")
        return draw_conductances(conductances, [] if outcome is None else outcome.marks.values())

    def _place_in_eigenvectors(self):
        outcome = self.state.outcome("kde")
        if outcome is None:
            return None
        pair = [choice.value for choice in self._vectors]
        return (outcome.spectrum, *pair), self._names(), lambda: in_eigenvectors(outcome, pair)

    def _names(self):
        """Return the names of the axes of the embedding."""
        return [f"eigenvector {choice.value}" for choice in self._vectors]

    def describe_embedding(self, full):
        """Describe the embedding; see `card`."""
        return describe.embedding(self.state, self._embedding.positions, self._names(), full)

    def _place_by_degrees(self):
        outcome = self.state.outcome("kde")
        if outcome is None:
            return None
        graph = outcome.graph
        return (
            (graph,),
            ("kernel degree", "sampled degree"),
            lambda: np.column_stack([graph.kernel_degrees, graph.adjacency.sum(axis=1)]),
        )


def in_eigenvectors(outcome, numbers):
    """Return the points along two eigenvectors divided by the roots of the degrees.

    They are constant on a cluster that no edge leaves. Each column of the (n, 2) float64 array is
    scaled to at most 1; isolated points are at 0.
    """
    degrees = outcome.adjacency.sum(axis=1)
    with np.errstate(divide="ignore"):
        scale = np.where(degrees > 0, 1 / np.sqrt(degrees), 0.0)
    vectors = outcome.spectrum.eigenvectors[:, [number - 1 for number in numbers]] * scale[:, None]
    return vectors / np.maximum(np.abs(vectors).max(axis=0), 1e-300)


def draw_conductances(conductances, marks=()):
    """Draw a group of bars for each cluster, under its mark, one bar for each graph."""
    bars = [
        (
            cluster + 1 + (i - 0.5) * BAR_WIDTH - BAR_WIDTH / 2,
            0.0,
            cluster + 1 + (i - 0.5) * BAR_WIDTH + BAR_WIDTH / 2,
            float(conductance),
            METHOD[method],
        )
        for i, (method, values) in enumerate(conductances.items())
        for cluster, conductance in enumerate(values)
        if np.isfinite(conductance)
    ]
    n_clusters = max(map(len, conductances.values()), default=1)
    step = -(-n_clusters // LABELED_CLUSTERS)
    marks = dict(enumerate(marks, 1))
    ticks = [(i, marks.get(i, f"{i}")) for i in range(1, n_clusters + 1) if i == 1 or i % step == 0]
    drawn = hv.Rectangles(bars, vdims=["color"]).opts(color="color", line_color=None, xticks=ticks)
    top = max([0.01, *(bar[3] for bar in bars)])  # nearly perfect clusters have low bars
    numbers = [((bar[0] + bar[2]) / 2, bar[3] + 0.04 * top, _in_short(bar[3])) for bar in bars]
    widest = max((len(words) for *_, words in numbers), default=0)
    shown = 2 * n_clusters * widest <= MAX_CHARACTERS
    labels = hv.Labels(numbers if shown else []).opts(text_color=BETWEEN, **GLYPH_TEXT)
    return drawn * labels, (0.4, n_clusters + 0.6, 0, 1.15 * top)


def _in_short(conductance):
    """Return a conductance as text that fits above its bar."""
    return f"{conductance:.2g}" if conductance == 0 or conductance > 5e-4 else "≈ 0"
