"""Show on one page why a sampled graph is as good as the full one."""

import math
from functools import partial

import numpy as np
from bokeh.models import Range1d

from ..algorithm.proof import edge_weights, proof
from ..assets import style_sheet
from ..drawing.eigenvalue_plot import EigenvaluePlot, round_up
from ..drawing.figures import plain_figure
from ..drawing.marks import no_marks
from ..drawing.palette import METHOD
from ..results import FULL_UP_TO, too_many
from .base import PROGRESS, Description, View, beside, caption_of, figure_pane, low_row
from .describe import WAITING, clusters, spectra
from .markup import Markup, Text, styled_text
from .plots import PLOTTED, LinkedPlots
from .widgets import button, filling_column, row

PANELS = {"kde": "Sampled graph", "knn": "k-NN graph", "full": "Full graph"}
AGREES = 0.9  # adjusted Rand index above which clusters are called the same


class StartView(View):
    """Show three graphs of the same points, and why the sampled one needs few edges.

    The `headline` has the number and the sentence above the plots.
    """

    key, label, area = "start", "Start", "top"
    alone = True
    opens = False
    extra_methods = ("full",)

    def __init__(self, session):
        super().__init__(session)
        self._proof = self._weights_of = None
        self._plots = LinkedPlots(
            session,
            {method: f"Start: {name}" for method, name in PANELS.items()},
        )
        for method, figure in self._plots.figures.items():
            # Only the first page has pictures, which `static/first-plots.css` defines.
            figure.styles = {"--kg-picture": f"var(--kg-start-{method})"}
        self.frame = self._plots.frame
        self._spectra = EigenvaluePlot("Start: eigenvalues", ("kde", "full"))
        self._edges = no_marks("length", "pairs")
        self._why = weight_plot(self._edges)
        self.headline = styled_text("headline", css_classes=["kg-headline"], margin=(6, 12))
        self._verdicts = {
            method: styled_text(
                "one-line", css_classes=[f"kg-verdict-{method}"], height=18, margin=(0, 12)
            )
            for method in PANELS
        }
        self._cards = {
            method: self.card(
                name,
                "edges and clusters",
                self._verdicts[method],
                figure_pane(self._plots[method].figure, f"start-{method}"),
                describe=partial(clusters, self.state, method),
            )
            for method, name in PANELS.items()
        }
        self._body = self._lay_out()
        self.follow(self._update, *PLOTTED)
        self.follow(self._say, *PLOTTED, *PROGRESS)

    def _lay_out(self):
        tour = button(
            "Take the tour",
            "Three steps on this data: move σ, play the rounds, compare. Leave whenever you like.",
            lambda: self.state.param.update(tour=1),
            variant="contained",
            color="primary",
            width=130,
            margin=(14, 12),
            css_classes=["kg-take-tour"],
        )
        top = row(
            self.headline,
            tour,
            min_height=66,
            stylesheets=[style_sheet("grows-with-text"), style_sheet("below-where-narrow")],
        )
        eigenvalues = self.card(
            "Eigenvalues",
            "● sampled, ■ full: they decide about the clusters",
            figure_pane(self._spectra.figure, "start-spectra"),
            describe=partial(spectra, self.state),
        )
        why = self.card(
            "Why so few edges are enough",
            "what an edge stands for",
            Text(
                "A far pair is drawn rarely, in proportion to its similarity; so an edge that is "
                "drawn stands for many far pairs that were not, and weighs that much more.",
                stylesheets=[style_sheet("sentences")],
                margin=(0, 12),
            ),
            figure_pane(self._why, "start-weights"),
            describe=self.describe_weights,
        )
        return filling_column(
            top,
            beside(*self._cards.values(), min_height=220),
            low_row(eigenvalues, why, widths=[1, 1], height=238),
            stylesheets=[style_sheet("below-where-narrow")],
        )

    @staticmethod
    def applies(state):
        """Return whether the points are no photograph, whose graphs look like nothing."""
        return state.shown is None or state.shown.image is None

    def _update(self):
        self._plots.update()
        outcomes = self.state.outcomes(PANELS)
        self._proof = proof(outcomes) if len(outcomes) == len(PANELS) else None
        for method, frame in self._cards.items():
            found = outcomes.get(method)
            edges = "" if found is None else f"{found.adjacency.nnz // 2:,} edges"
            caption_of(frame).sentence = edges
        if "kde" not in outcomes:
            self._spectra.clear()
            self._weights_of = None
            self._weigh((), ())
            return
        drawn = [method for method in ("kde", "full") if method in outcomes]
        self._spectra.show({method: outcomes[method].spectrum.eigenvalues for method in drawn})
        if outcomes["kde"].graph is not self._weights_of:
            self._weights_of = outcomes["kde"].graph
            self._weigh(*edge_weights(self._weights_of))

    def _say(self):
        """Say what the comparison shows, or why there is none."""
        shown, obstacle = self.state.shown, self.session.obstacle
        self.headline.content = headline(self._proof, self.state.n_neighbors, shown, obstacle)
        for method, text in self._verdicts.items():
            words = "" if self._proof is None and obstacle else verdict(self._proof, method)
            if too_many(shown):
                words = "not built" if method == "full" else ""
            text.content = Markup('<span title="{0}">{0}</span>').format(words)

    def _weigh(self, lengths, pairs):
        self._edges.data = {"length": lengths, "pairs": pairs}
        if len(pairs):
            self._why.x_range.end = round_up(float(lengths.max()))
            self._why.y_range.update(
                start=0.5 * float(pairs.min()), end=2 * round_up(float(pairs.max()))
            )

    def describe_weights(self, full):
        """Describe the plot of the weights; see `card`."""
        lengths, pairs = (np.asarray(self._edges.data[name]) for name in ("length", "pairs"))
        if not len(pairs):
            return WAITING
        edges = np.array_split(np.argsort(lengths), min(5, len(lengths)))
        rows = [
            (f"up to {lengths[part].max():.2g} σ", float(np.median(pairs[part]))) for part in edges
        ]
        return Description(
            f"Pairs of points that an edge stands for: about {rows[0][1]:.3g} for the shortest "
            f"edges, about {rows[-1][1]:.3g} for the longest.",
            ("Length of the edge", "Pairs it stands for"),
            rows if full else (),
        )


FINDS = {  # by whether the sampled graph and the k-NN graph agree with the full graph
    (True, True): "finds the same clusters. The graph of the {} nearest neighbors does, too, here.",
    (True, False): "finds the same clusters. The graph of the {} nearest neighbors does not.",
    (False, True): "finds other clusters. The graph of the {} nearest neighbors finds the same.",
    (False, False): "finds other clusters, and so does the graph of the {} nearest neighbors.",
}


def headline(found, n_neighbors, shown=None, obstacle=""):
    """Return the number and the sentence above the plots, as HTML, from a `Proof` or None.

    `shown` are the points, which may be too many for a full graph; for `obstacle` see `Session`.
    """
    if too_many(shown):
        sentence = (
            f"The full graph of these points has {math.comb(shown.n_points, 2):,} edges, too many "
            f"to compare the others with it here. It is built for up to {FULL_UP_TO:,} points."
        )
        return Markup("<b>–</b><p>{}</p>").format(sentence)
    if found is None and obstacle:
        return Markup("<b>–</b><p>{}</p>").format(obstacle)
    if found is None:
        return Markup("<b>…</b><p>{}</p>").format("The three graphs are under way.")
    error = found.eigenvalue_error
    same = f"smallest eigenvalues up to {error:.0%} off"
    if error < 0.3:
        same = f"the same smallest eigenvalues to within {error:.0%}"
    agrees = tuple(found.agreement[method] >= AGREES for method in ("kde", "knn"))
    finds = FINDS[agrees].format(n_neighbors)
    sentence = f"of the edges of the full graph, {same}: the sampled graph {finds}"
    return Markup("<b>{}</b><p>{}</p>").format(found.share, sentence)


def verdict(found, method):
    """Return words on the clusters of a graph, from a `Proof` or None."""
    if found is None:
        return "…"
    if method == "full":
        return "all pairs, weighted by similarity"
    agreement = found.agreement[method]
    words = "✓ same clusters" if agreement >= AGREES else "✗ other clusters"
    return f"{words} (agreement {agreement:.2f})"


def weight_plot(source):
    """Return the figure of what an edge stands for, by its length."""
    figure = plain_figure(
        tools="",
        description="Start: weights",
        x_range=Range1d(0, 3),
        y_range=Range1d(1, 100),
        y_axis_type="log",
    )
    figure.scatter(
        "length",
        "pairs",
        size=3,
        fill_color=METHOD["kde"],
        fill_alpha=0.5,
        line_color=None,
        source=source,
        name="edges",
    )
    figure.xaxis.axis_label = "length of the edge, in σ"
    figure.yaxis.axis_label = "pairs"
    figure.yaxis.ticker.desired_num_ticks = 3  # as it is low
    return figure
