"""Show four graphs of the same points side by side."""

from functools import partial

import numpy as np

from ..assets import SIZES, style_sheet
from ..drawing.eigenvalue_plot import EigenvaluePlot
from ..results import ALL_METHODS, FULL_UP_TO, too_many
from .base import PROGRESS, View, beside, caption_of, figure_pane, low_row
from .describe import clusters, spectra
from .markup import Markup, Text, each, styled_text
from .plots import PLOTTED, LinkedPlots
from .scores import score_rows, score_table, table_pane
from .widgets import button, filling_column

OVER_THE_MIDDLE = {
    "position": "absolute",
    "inset": "40% 32px auto 48px",
    "padding": "8px 12px",
    "border-radius": "8px",
    "background": "var(--mui-palette-background-paper)",
    "border": "1px solid rgba(128, 128, 128, 0.4)",
    "font-size": SIZES["text"],
    "line-height": "1.4",
}


class CompareView(View):
    """Compare four graphs of the same points.

    They are the KDE graph, that with the other kind of bandwidth, the k-NN graph and, if the points
    are few enough, the full graph: plots with one window and one selection, spectra, scores, and
    differences.
    """

    key, label, area = "compare", "Compare", "top"
    colored = alone = True
    extra_methods = ("other", "full")

    def __init__(self, session):
        super().__init__(session)
        self._plots = LinkedPlots(
            session,
            {method: f"Compare: {name}" for method, name in ALL_METHODS.items()},
            colored=True,
        )
        self._spectra = EigenvaluePlot("Compare: eigenvalues", tuple(ALL_METHODS))
        self._table = table_pane("kg-compare")
        self._sentences = styled_text("sentences", css_classes=["kg-differences"], margin=(4, 12))
        self._buttons = {method: self._button(method) for method in ("other", "knn", "full")}
        self._not_built = Text(
            "Not built: its memory and time grow with the square of the points. "
            f"Up to {FULL_UP_TO:,} points it is shown here.",
            css_classes=["kg-not-built"],
            styles=OVER_THE_MIDDLE,
            visible=False,
        )
        self._cards = {
            method: self._graph_card(method, name) for method, name in ALL_METHODS.items()
        }
        self._body = self._lay_out()
        self.follow(self._update, *PLOTTED)
        self.follow(self._say, *PLOTTED, *PROGRESS)
        self.follow(self._tabulate, "judgements")

    def _button(self, method):
        return button(
            f"Select those of the {ALL_METHODS[method]}",
            "Select the points that are in another cluster than in the KDE graph; "
            "all plots show them.",
            partial(self._select, method),
            sizing_mode="stretch_width",
            margin=(4, 12),
        )

    def _lay_out(self):
        graphs = beside(*self._cards.values(), min_height=240)
        spectra_card = self.card(
            "Eigenvalues",
            "with the marks of the table",
            figure_pane(self._spectra.figure, "compare-spectra"),
            describe=partial(spectra, self.state),
        )
        differences = self.card(
            "Labeled differently", "than KDE does", self._sentences, *self._buttons.values()
        )
        numbers = self.card("Numbers", "hover over a row for its meaning", self._table)
        lower = (spectra_card, numbers, differences)
        return filling_column(
            graphs,
            low_row(*lower, widths=[9, 13, 9], least=[0, 340, 0], height=262),
            stylesheets=[style_sheet("below-where-narrow")],
        )

    def _graph_card(self, method, name):
        return self.card(
            name,
            {"knn": "nearest neighbors", "full": "all pairs"}.get(method, ""),
            figure_pane(self._plots[method].figure, f"compare-{method}"),
            *([self._not_built] if method == "full" else []),
            describe=partial(clusters, self.state, method),
        )

    def differences(self, method):
        """Return the points that are in another cluster than in the KDE graph: int array.

        It is None unless there are both results.
        """
        one, other = self.state.outcome("kde"), self.state.outcome(method)
        return None if one is None or other is None else np.flatnonzero(one.colors != other.colors)

    def rows(self):
        """Return the table: a list of (name, one value per method), with None for no value."""
        return score_rows(self.state, ALL_METHODS)

    def _select(self, method):
        found = self.differences(method)
        if found is not None:
            self.state.selection = found

    def _update(self):
        self._plots.update()
        outcomes = self.state.outcomes(ALL_METHODS)
        if outcomes:
            self._spectra.show(
                {method: found.spectrum.eigenvalues for method, found in outcomes.items()},
                converged=all(found.spectrum.converged for found in outcomes.values()),
            )
        else:
            self._spectra.clear()
        for method in {"kde", "other"} & set(outcomes):
            caption_of(self._cards[method]).sentence = outcomes[method].bandwidth.words
        self._tabulate()
        self._not_built.visible = too_many(self.state.shown)
        for method, select in self._buttons.items():
            found = self.differences(method)
            select.disabled = found is None or not len(found)

    def _say(self):
        self._sentences.content = each(Markup("<p>{}</p>"), map(self._sentence, self._buttons))

    def _tabulate(self):
        self._table.content = score_table(ALL_METHODS, self.rows())

    def _sentence(self, method):
        found, name = self.differences(method), ALL_METHODS[method]
        if found is not None:
            n = self.state.shown.n_points
            words = f"{len(found):,} of {n:,} points ({len(found) / n:.1%})"
        else:
            built = method != "full" or not too_many(self.state.shown)
            waiting = "no result yet" if self.session.obstacle else "under way"
            words = waiting if built else "not built"
        return Markup("<b>{}</b>: {}").format(name, words)
