"""Play the L rounds one after the other: eigenvalues and degrees converge."""

import time

import holoviews as hv
import numpy as np
import panel_material_ui as pmui
from kdegraph.explain import adjacency_after

from ..algorithm.convergence import Convergence, convergence, estimated_eigenvalues
from ..assets import style_sheet
from ..drawing.elements import LiveElement
from ..drawing.palette import METHOD
from ..patches.panel import growing
from . import describe
from .base import View, beside, figure_pane
from .markup import Text
from .plots import PLOTTED, LinkedPlots
from .widgets import filling_column

N_FOLLOWED = 6  # eigenvalues that are followed through the rounds


class Sometimes:
    """Call a function of one argument, but not again within some seconds."""

    def __init__(self, function, seconds):
        self._function, self._seconds = function, seconds
        self._last = time.monotonic()

    def __call__(self, argument):
        if time.monotonic() - self._last > self._seconds:
            self._last = time.monotonic()
            self._function(argument)


class RoundsView(View):
    """Show the graph after some rounds, and how they change its spectrum and its degrees.

    The `player` chooses the round. `found` is the `Convergence` that the curves show, `limit` (k,)
    are the eigenvalues of the full graph, or estimates of them, as `limit_of` says in words, and
    `adjacency` is the graph that is drawn; each may be None.
    """

    key, label, area = "rounds", "Rounds", "top"
    alone = True
    extra_methods = ("full",)

    def __init__(self, session):
        super().__init__(session)
        self._build = session.latest(self._build_graph, deliver=self._take_graph)
        self._follow = session.latest(self._follow_rounds, deliver=self._take_rounds, grace=0.0)
        self._estimate = session.latest(
            lambda graph, progress, publish: estimated_eigenvalues(graph, N_FOLLOWED, progress),
            deliver=self._take_limit,
            grace=0.0,
        )
        self._graph = self._colors = self.adjacency = self.found = self.limit = None
        self.limit_of = "estimated"
        self._plots = LinkedPlots(
            session,
            {"rounds": "Rounds: points and edges"},
            lambda key: (self.adjacency, self._colors),
        )
        self.player = pmui.Player(
            label="Rounds",
            description="Play the rounds: each adds one neighbor per point.",
            variant="minimal",
            show_value=True,
            start=1,
            end=20,
            value=20,
            interval=350,
            loop_policy="once",
            sizing_mode="stretch_width",
            margin=(0, 12),
        )
        self.player.param.watch(lambda event: self._play(), "value")
        axes = {"xlabel": "round", "ylabel": ""}
        self._spectra = LiveElement(
            "Rounds: eigenvalues", draw_eigenvalues, "kg-rounds-spectrum", **axes
        )
        self._errors = LiveElement(
            "Rounds: degrees", draw_errors, "kg-rounds-degrees", yformatter="%.3g", **axes
        )
        self._note = Text(margin=(0, 12), height=18, stylesheets=[style_sheet("note")])
        self._body = self._lay_out()
        self.follow(self._update, *PLOTTED)

    def _lay_out(self):
        graph = self.card(
            "Sampled graph",
            "every round draws one more neighbor for each point",
            self.player,
            figure_pane(self._plots["rounds"].figure, "rounds-points"),
            describe=self.describe_graph,
        )
        eigenvalues = self.card(
            "Eigenvalues",
            "they approach those of the full graph",
            self._note,
            self._spectra.pane,
            figure=self._spectra.name,
            describe=lambda full: describe.convergence(self.found, self.limit, self.limit_of, full),
        )
        degrees = self.card(
            "Degrees",
            "root mean square of their relative error",
            self._errors.pane,
            figure=self._errors.name,
            describe=lambda full: describe.degree_errors(self.found, full),
        )
        curves = filling_column(eigenvalues, degrees)
        return beside(graph, curves, widths=[6, 5], min_height=240)

    def _update(self):
        outcome = self.state.outcome("kde")
        if outcome is None or outcome.graph.points is not self.state.shown.embedded:
            self._graph = self.adjacency = self._colors = None
            self._plots.update()
            return
        self._colors = outcome.colors
        if outcome.graph is not self._graph:
            self._graph, self.found, self.limit = outcome.graph, None, None
            n_rounds, at_end = self._graph.n_rounds, self.player.value == self.player.end
            value = n_rounds if at_end else min(self.player.value, n_rounds)
            self.player.param.update(end=max(2, n_rounds), value=value)
            self._follow.request(self._graph)
            self._draw()
        self._know_limit()
        self._play()
        self._plots.update()

    def _know_limit(self):
        """Take the full graph's eigenvalues if it is computed, else estimate them."""
        if "full" in self.state.result.request.methods:
            self._estimate.cancel()
            if (full := self.state.outcome("full")) is not None:
                self._take_limit(self._graph, (full.spectrum.eigenvalues, None))
        elif self.limit is None:
            self._estimate.request(self._graph)

    def _play(self):
        if self._graph is None:
            return
        n_rounds = min(self.player.value, self._graph.n_rounds)
        self._build.request((self._graph, n_rounds if self.state.show_edges else 0))
        for element in (self._spectra, self._errors):
            element.mark(n_rounds)

    def _build_graph(self, request, progress, publish):
        graph, n_rounds = request
        if n_rounds == 0:
            return None
        return adjacency_after(graph, self.session.tree_of(graph.points), n_rounds)

    def _take_graph(self, request, adjacency):
        if request[0] is self._graph:
            self.adjacency = adjacency
            self._plots.update()
            self.describe()

    def _follow_rounds(self, graph, progress, publish):
        tree = self.session.tree_of(graph.points)
        publish = Sometimes(publish, seconds=1.5)  # HoloViews takes 0.1 s for each drawing
        return convergence(graph, tree, N_FOLLOWED, progress, publish)

    def _take_rounds(self, graph, found):
        if graph is self._graph:
            self.found = found
            self._draw()

    def _take_limit(self, graph, limit):
        if graph is self._graph:
            values, n_rounds = limit
            self.limit = np.full(N_FOLLOWED, np.nan)
            self.limit[: len(values)] = values[:N_FOLLOWED]
            how = "exact" if n_rounds is None else f"estimated from {n_rounds} rounds"
            self.limit_of = f"full graph, {how}"
            self._draw()

    def _draw(self):
        limit = np.full(N_FOLLOWED, np.nan) if self.limit is None else self.limit
        found = self.found or Convergence(np.zeros(0), np.zeros((0, N_FOLLOWED)), np.zeros(0))
        curves = (found, self._graph.n_rounds, limit)
        with growing(self._spectra.pane):  # one message for both, which share a document
            self._spectra.show(curves)
            self._errors.show(curves)
        self._note.content = f"dashed: {'under way' if self.limit is None else self.limit_of}"
        self.describe()

    @property
    def note(self):
        """Return what the dashed lines are, in words."""
        return self._note.content

    def describe_graph(self, full):
        """Describe the graph that is drawn; see `card`."""
        if self._graph is None:
            return describe.WAITING
        n_rounds = min(self.player.value, self._graph.n_rounds)
        return describe.edges_so_far(self.adjacency, n_rounds, self._graph.n_rounds, full)


def draw_eigenvalues(curves):
    """Draw the eigenvalues over the rounds, with the full graph's as dashed lines.

    `curves` are a `Convergence`, the number of rounds where the horizontal axis ends, and the
    eigenvalues of the full graph, NaN for those that are not known.
    """
    found, n_rounds, limit = curves
    level = limit[np.isfinite(limit)]
    dashed = hv.Segments([(1, value, max(n_rounds, 2), value) for value in level])
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
    return drawn, (0.5, n_rounds + 0.5, -0.05 * top, 1.1 * top)


def draw_errors(curves):
    """Draw the error of the degrees over the rounds; see `draw_eigenvalues` for `curves`."""
    found, n_rounds, _ = curves
    top = max([*found.degree_errors.tolist(), 1e-3]) if len(found.rounds) else 1.0
    drawn = _dotted(np.column_stack([found.rounds, found.degree_errors]), "error")
    return drawn, (0.5, n_rounds + 0.5, 0, 1.1 * top)


def _dotted(places, name):
    """Draw a curve through dots; NaN interrupts it."""
    color = METHOD["kde"]
    dots = hv.Scatter(places, "round", name).opts(color=color, size=5, tools=["hover"])
    return hv.Curve(places, "round", name).opts(color=color, line_width=1.5, line_alpha=0.6) * dots
