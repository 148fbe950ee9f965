"""Show what is under way, how far it is, and a button to cancel it."""

import time

import panel as pn
import panel_material_ui as pmui

from ..assets import style_sheet
from .base import PROGRESS, Part
from .decided import CLEAR
from .describe import counted
from .markup import Markup, Text, styled_text
from .widgets import button, row

# Seconds of work before the bars appear; they would only hide quicker results.
SHOWN_AFTER = 1.5


class Status(Part):
    """Show what is under way, how far it is, and a button to stop it, in one line."""

    def __init__(self, session):
        super().__init__(session)
        self._text = styled_text(
            "status",
            css_classes=["kg-status"],
            stylesheets=[style_sheet("unseen-where-narrow")],
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
        self._body = row(
            self._text,
            self._work,
            height=32,
            styles={"flex": "1 1 auto", "min-width": "0"},
        )
        self.keep_up(self._update, "fraction", "result", "dataset", "shown", *PROGRESS)

    def sentence(self):
        """Return what is going on, in words."""
        state = self.state
        if state.stage is not None:
            return f"{state.stage} …"
        if state.dataset is None:
            return self.session.obstacle or "Starting …"
        n, d = state.dataset.X.shape
        size = f"{n:,} point{'s' * (n != 1)} in {d} dimension{'s' * (d != 1)}"
        words = f"{state.dataset.name}: {size}"
        if state.shown is state.dataset and (outcome := state.outcome("kde")) is not None:
            words += f", {counted(outcome.n_shown, 'cluster')}"
            if outcome.edited:
                words += f" (edited by hand; {outcome.n_clusters} computed)"
            elif outcome.confidence is not None and not state.result.coarse:
                low = "low " * (outcome.vote is not None and outcome.confidence < CLEAR)
                words += f" (automatic, {low}confidence {outcome.confidence:.2f})"
            words += f", so far from {outcome.graph.n_rounds} rounds" * state.result.coarse
        return words

    def _update(self):
        self._text.content = self.sentence()
        self._work.visible = self.state.stage is not None
        self._bar.value = round(100 * min(max(self.state.fraction, 0.0), 1.0))


class StageBars(Part):
    """Show progress over a corner of the plots while work takes long.

    There is a row for each graph, and in it a bar for each of its stages.
    """

    def __init__(self, session):
        super().__init__(session)
        self._began = None  # when the present work was first reported
        self._body = Text(
            css_classes=["kg-stages"],
            stylesheets=[style_sheet("stage-bars")],
            visible=False,
            styles={"position": "absolute", "top": "76px", "right": "14px", "z-index": "5"},
        )
        self.state.param.watch(lambda event: self._update(), "stages")

    def _update(self):
        rows = self.state.stages
        if not rows:
            self._began = None
        elif self._began is None:
            self._began = time.monotonic()
        visible = self._began is not None and time.monotonic() - self._began > SHOWN_AFTER
        if visible:
            shown = Markup().join(_row(name, bars) for name, bars in rows)
            self._body.content = Markup("<div class=rows>{}</div>").format(shown)
        self._body.visible = visible


def _row(name, bars):
    bar = Markup('<label>{1}<progress aria-label="{0}: {1}" value="{2:.2f}"></progress></label>')
    shown = Markup().join(bar.format(name, stage, fraction) for stage, fraction in bars)
    return Markup("<b>{}</b><div>{}</div>").format(name, shown)
