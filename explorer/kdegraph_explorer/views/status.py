"""The status line with progress and a button to cancel, and the alerts below it."""

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from ..advice import advice
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


class Problem(Viewer):
    """An alert above the plots, there only while something is wrong."""

    def __init__(self, session, **params):
        super().__init__(**params)
        self.state = session.state
        self._text = _message()
        alert = _alert(self._text, severity="error", css_classes=["kg-error"])
        retry = button(
            "Try again",
            "Compute once more what the choices ask for.",
            session.retry,
            variant="text",
            width=96,
            margin=(6, 4),
            css_classes=["kg-retry"],
        )
        self._body = pn.Row(alert, retry, visible=False, sizing_mode="stretch_width", margin=0)
        self.state.param.watch(lambda *events: self._update(), ["error", "notice"])
        self._update()

    def __panel__(self):
        return self._body

    def _update(self):
        message = self.state.error or self.state.notice
        self._text.content = message
        self._body.visible = bool(message)


class Stopped(Viewer):
    """An alert above the plots while they show an earlier result, as the work was cancelled."""

    def __init__(self, session, **params):
        super().__init__(**params)
        self.state = session.state
        self._text = _message()
        alert = _alert(self._text, severity="info", css_classes=["kg-stopped"])
        again = button(
            "Compute again",
            "Compute what the choices ask for.",
            session.retry,
            variant="text",
            width=120,
            margin=(6, 4),
            css_classes=["kg-again"],
        )
        self._body = pn.Row(alert, again, visible=False, sizing_mode="stretch_width", margin=0)
        self.state.param.watch(lambda *events: self._update(), ["stopped", "stage"])

    def __panel__(self):
        return self._body

    def _update(self):
        known = self.state.result is not None
        self._text.content = "Cancelled. " + (
            "What is shown is the last result." if known else "There is no result yet."
        )
        self._body.visible = self.state.stopped and self.state.stage is None


class Advice(Viewer):
    """An alert above the plots while the KDE graph may not show what is in the data."""

    def __init__(self, session, **params):
        super().__init__(**params)
        self.state = session.state
        self._text = _message()
        self._body = _alert(
            self._text, severity="warning", css_classes=["kg-advice"], visible=False
        )
        self.state.param.watch(lambda *events: self._update(), ["result", "shown"])
        self._update()

    def __panel__(self):
        return self._body

    def _update(self):
        self._text.content = "\n".join(advice(self.state))
        self._body.visible = bool(self._text.content)


def _message():
    """The text of an alert; a line of it is a paragraph."""
    return Text(css_classes=["kg-message"], stylesheets=[style_sheet("message")], margin=0)


def _alert(text, **options):
    """A frame around a text; text of its own would be Markdown."""
    return pmui.Alert(
        text,
        variant="outlined",
        sizing_mode="stretch_width",
        margin=4,
        stylesheets=[style_sheet("alert")],
        **options,
    )
