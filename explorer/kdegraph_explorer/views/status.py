"""Show what is under way, how far it is, and a button to cancel it."""

import time

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from ..assets import style_sheet
from .markup import Markup, Text
from .widgets import button

# Seconds of work before the bars appear: what is quicker they would only hide.
SHOWN_AFTER = 1.5


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


class StageBars(Viewer):
    """Lies over a corner of the plots while work takes long: a row for each graph, a bar for each
    of its stages.
    """

    def __init__(self, session, **params):
        super().__init__(**params)
        self.state = session.state
        self._began = None  # when the present work was first reported
        self._bars = Text(
            css_classes=["kg-stages"],
            stylesheets=[style_sheet("stage-bars")],
            visible=False,
            styles=IN_THE_CORNER,
        )
        self.state.param.watch(lambda event: self._update(), "stages")

    def __panel__(self):
        return self._bars

    def _update(self):
        rows = self.state.stages
        if not rows:
            self._began = None
        elif self._began is None:
            self._began = time.monotonic()
        visible = self._began is not None and time.monotonic() - self._began > SHOWN_AFTER
        if visible:
            shown = Markup().join(_row(name, bars) for name, bars in rows)
            self._bars.content = Markup("<div class=rows>{}</div>").format(shown)
        self._bars.visible = visible


def _row(name, bars):
    shown = Markup().join(
        STAGE_BAR.format(row=name, stage=stage, value=fraction) for stage, fraction in bars
    )
    return Markup("<b>{}</b><div>{}</div>").format(name, shown)


STAGE_BAR = Markup(
    '<label>{stage}<progress aria-label="{row}: {stage}" value="{value:.2f}"></progress></label>'
)


IN_THE_CORNER = {"position": "absolute", "top": "76px", "right": "14px", "z-index": "5"}
