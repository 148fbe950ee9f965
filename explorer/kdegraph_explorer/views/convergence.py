"""The L rounds, played: edges accumulate, eigenvalues and degrees converge."""

import time
from dataclasses import dataclass

import holoviews as hv
import numpy as np
import panel as pn
import panel_material_ui as pmui

from ..algorithm.rounds import Convergence, adjacency_after, convergence, estimated_eigenvalues
from ..drawing.elements import LiveElement
from ..drawing.palette import METHOD
from . import describe
from .base import View, beside, card, figure_pane
from .markup import Text
from .plots import LinkedPlots

N_EIGENVALUES = 6
DRAW_EVERY = 1.5  # seconds; HoloViews takes a tenth of a second


NOTHING = Convergence(np.zeros(0), np.zeros((0, N_EIGENVALUES)), np.zeros(0))


@dataclass(frozen=True, eq=False)
class _Curves:
    """What the curves show."""

    found: Convergence
    n_rounds: int
    limit: np.ndarray  # the eigenvalues of the full graph


class RoundsView(View):
    """The graph after some rounds, and what the rounds do to its spectrum and its degrees."""

    key, label, area = "rounds", "Rounds", "top"
    alone = with_full = True

    def __init__(self, session, **params):
        super().__init__(session, **params)
        self._build = session.latest(self._build_graph, deliver=self._take_graph)
        self._follow = session.latest(self._follow_rounds, deliver=self._take_rounds, grace=0.0)
        self._estimate = session.latest(self._estimate_limit, deliver=self._take_limit, grace=0.0)
        self._graph = self._adjacency = self._found = self._limit = self._colors = None
        self._limit_of = "estimated"
        self._plots = LinkedPlots(
            session,
            {"rounds": "Rounds: points and edges"},
            lambda key: (self._adjacency, self._colors),
        )
        self._player = pmui.Player(
            label="Rounds",
            description="Play the rounds: each adds one neighbor per point.",
            variant="minimal",
            show_value=True,
            start=1,
            end=20,
            value=20,
            interval=350,
            loop_policy="loop",
            sizing_mode="stretch_width",
            margin=(0, 12),
        )
        self._player.param.watch(lambda event: self._play(), "value")
        self._spectra = LiveElement(
            "Rounds: eigenvalues", draw_eigenvalues, "kg-rounds-spectrum", xlabel="round", ylabel=""
        )
        self._errors = LiveElement(
            "Rounds: degrees",
            draw_errors,
            "kg-rounds-degrees",
            xlabel="round",
            ylabel="",
            yformatter="%.3g",
        )
        self._note = Text(
            margin=(0, 12),
            height=18,
            stylesheets=[":host { font-size: 12px; } div { opacity: 0.9; }"],
        )
        self._body = beside(
            card(
                "Sampled graph",
                "every round draws one more neighbor for each point",
                self._player,
                figure_pane(self._plots["rounds"].figure, "rounds-points"),
                describe=self._describe_graph,
                view=self,
            ),
            pn.Column(
                card(
                    "Eigenvalues",
                    "they approach those of the full graph",
                    self._note,
                    self._spectra.pane,
                    figure=self._spectra.name,
                    describe=lambda full: describe.convergence(
                        self._found, self._limit, self._limit_of, full
                    ),
                    view=self,
                ),
                card(
                    "Degrees",
                    "root mean square of their relative error",
                    self._errors.pane,
                    figure=self._errors.name,
                    describe=lambda full: describe.degree_errors(self._found, full),
                    view=self,
                ),
                sizing_mode="stretch_both",
                margin=0,
            ),
            widths=[6, 5],
            min_height=240,
        )
        self.follow(
            self._update,
            "shown",
            "result",
            "selection",
            "horizontal",
            "vertical",
            "show_edges",
            "edges",
        )

    def figures(self):
        """See `View.figures`."""
        return (self._plots["rounds"].figure,)

    def _update(self):
        outcome = self.state.outcome("kde")
        if outcome is None or outcome.graph.points is not self.state.shown.X:
            self._graph = self._adjacency = self._colors = None
            self._plots.update()
            return
        self._colors = outcome.colors
        if outcome.graph is not self._graph:
            self._graph, self._found, self._limit = outcome.graph, None, None
            at_end = self._player.value == self._player.end
            self._player.param.update(
                end=max(2, self._graph.n_rounds),
                value=self._graph.n_rounds
                if at_end
                else min(self._player.value, self._graph.n_rounds),
            )
            self._follow.request(self._graph)
            self._draw()
        self._know_limit()
        self._play()
        self._plots.update()

    def _know_limit(self):
        """The full graph's eigenvalues where it is computed, an estimate where the points are too
        many for it.
        """
        if "full" in self.state.result.request.methods:
            self._estimate.cancel()
            if (full := self.state.outcome("full")) is not None:
                self._take_limit(self._graph, (full.spectrum.eigenvalues, None))
        elif self._limit is None:
            self._estimate.request(self._graph)

    def _play(self):
        if self._graph is None:
            return
        n_rounds = min(self._player.value, self._graph.n_rounds)
        self._build.request((self._graph, n_rounds if self.state.show_edges else 0))
        for element in (self._spectra, self._errors):
            element.mark(n_rounds)

    def _build_graph(self, request, progress, publish):
        graph, n_rounds = request
        return (
            adjacency_after(graph, self.session.tree_of(graph.points), n_rounds)
            if n_rounds
            else None
        )

    def _take_graph(self, request, adjacency):
        if request[0] is self._graph:
            self._adjacency = adjacency
            self._plots.update()
            self.describe()

    def _follow_rounds(self, graph, progress, publish):
        published = time.monotonic()

        def publish_sometimes(found):
            nonlocal published
            if time.monotonic() - published > DRAW_EVERY:
                published = time.monotonic()
                publish(found)

        return convergence(
            graph, self.session.tree_of(graph.points), N_EIGENVALUES, progress, publish_sometimes
        )

    def _take_rounds(self, graph, found):
        if graph is self._graph:
            self._found = found
            self._draw()

    def _estimate_limit(self, graph, progress, publish):
        return estimated_eigenvalues(graph, N_EIGENVALUES, progress)

    def _take_limit(self, graph, limit):
        if graph is self._graph:
            values, n_rounds = limit
            self._limit = np.full(N_EIGENVALUES, np.nan)
            self._limit[: len(values)] = values[:N_EIGENVALUES]
            self._limit_of = (
                "full graph, exact"
                if n_rounds is None
                else f"full graph, estimated from {n_rounds} rounds"
            )
            self._draw()

    def _draw(self):
        limit = np.full(N_EIGENVALUES, np.nan) if self._limit is None else self._limit
        curves = _Curves(self._found or NOTHING, self._graph.n_rounds, limit)
        self._spectra.show(curves)
        self._errors.show(curves)
        self._note.content = f"dashed: {'under way' if self._limit is None else self._limit_of}"
        self.describe()

    def _describe_graph(self, full):
        if self._graph is None:
            return describe.WAITING
        return describe.edges_so_far(
            self._adjacency,
            min(self._player.value, self._graph.n_rounds),
            self._graph.n_rounds,
            full,
        )


def draw_eigenvalues(curves):
    """Curves of the eigenvalues over the rounds, with the full graph's as dashed lines."""
    found = curves.found
    level = curves.limit[np.isfinite(curves.limit)]
    dashed = hv.Segments([(1, value, max(curves.n_rounds, 2), value) for value in level])
    lines = np.vstack(
        [
            np.column_stack([np.append(found.rounds, np.nan), np.append(column, np.nan)])
            for column in found.eigenvalues.T
        ]
    )
    known = np.concatenate([level, found.eigenvalues[np.isfinite(found.eigenvalues)]])
    top = max(known.max(), 1e-12) if len(known) else 1.0
    drawn = dashed.opts(color=METHOD["full"], line_width=1.5, line_dash="dashed") * _dotted(
        lines, "eigenvalue"
    )
    return drawn, (0.5, curves.n_rounds + 0.5, -0.05 * top, 1.1 * top)


def draw_errors(curves):
    """The error of the degrees over the rounds."""
    found = curves.found
    top = max([*found.degree_errors.tolist(), 1e-3]) if len(found.rounds) else 1.0
    return _dotted(np.column_stack([found.rounds, found.degree_errors]), "error"), (
        0.5,
        curves.n_rounds + 0.5,
        0,
        1.1 * top,
    )


def _dotted(places, name):
    """A curve through dots; NaN interrupts it."""
    color = METHOD["kde"]
    dots = hv.Scatter(places, "round", name).opts(color=color, size=5, tools=["hover"])
    return hv.Curve(places, "round", name).opts(color=color, line_width=1.5, line_alpha=0.6) * dots
