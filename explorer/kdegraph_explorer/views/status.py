"""The status line with progress and a button to cancel."""

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from ..assets import style_sheet
from .markup import Text
from .widgets import button


class Status(Viewer):
    """A line of constant height: what is under way, how far it is, and a button to stop it."""

    def __init__(self, session, **params):
        super().__init__(**params)
        self.state = session.state
        self._text = Text(
            css_classes=["kg-status"],
            stylesheets=[style_sheet("status"), style_sheet("unseen-where-narrow")],
            sizing_mode="stretch_width",
            margin=(4, 12, 0, 12),
        )
        self._bar = pmui.LinearProgress(
            value=0,
            variant="determinate",
            width=160,
            margin=(14, 8),
            css_classes=["kg-progress"],
            stylesheets=[style_sheet("unseen-where-narrow")],
            # With the transition, the page would be painted sixty times a second during work.
            sx={"& .MuiLinearProgress-bar": {"transition": "none"}},
        )
        cancel = button(
            "Cancel",
            "Stop what is under way; the last results stay.",
            session.cancel,
            color="primary",
            width=84,
            margin=(0, 12, 0, 0),
            css_classes=["kg-cancel"],
        )
        self._work = pn.Row(self._bar, cancel, visible=False, margin=(4, 0), height=32)
        self._body = pn.Row(
            self._text,
            self._work,
            sizing_mode="stretch_width",
            height=32,
            margin=0,
            styles={"flex": "1 1 auto", "min-width": "0"},
        )
        self.state.param.watch(
            lambda *events: self._update(),
            ["stage", "fraction", "result", "dataset", "shown", "error"],
        )
        self._update()

    def __panel__(self):
        return self._body

    def sentence(self):
        """What is going on, in words."""
        state = self.state
        if state.stage is not None:
            return f"{state.stage} …"
        if state.dataset is None:
            return "No data" if state.error else "Starting …"
        n, d = state.dataset.X.shape
        words = (
            f"{state.dataset.name}: {n:,} point{'s' * (n != 1)} in {d} dimension{'s' * (d != 1)}"
        )
        if state.shown is state.dataset and (outcome := state.outcome("kde")) is not None:
            words += f", {outcome.n_clusters} cluster{'s' * (outcome.n_clusters != 1)}"
            if outcome.confidence is not None:
                words += f" (automatic, confidence {outcome.confidence:.2f})"
            words += f", so far from {outcome.graph.n_rounds} rounds" * state.result.coarse
        return words

    def _update(self):
        self._text.content = self.sentence()
        self._work.visible = self.state.stage is not None
        self._bar.value = round(100 * min(max(self.state.fraction, 0.0), 1.0))
