"""What is going on: a line with progress and a way to cancel, and errors where the user looks."""

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer


class Status(Viewer):
    """A bar that keeps its height, so that nothing jumps, and an alert that appears above the plots when something is wrong."""

    def __init__(self, session, **params):
        super().__init__(**params)
        self.state = session.state
        self._text = pn.pane.HTML("", css_classes=["kg-status"], stylesheets=[STYLE], sizing_mode="stretch_width", margin=(0, 8))
        self._bar = pmui.LinearProgress(value=0, variant="determinate", width=180, margin=(13, 8), visible=False, css_classes=["kg-progress"])
        self._cancel = pmui.Button(label="Cancel", size="small", variant="outlined", width=90, margin=0, disabled=True, css_classes=["kg-cancel"], on_click=lambda event: session.cancel())  # fmt: skip
        self._retry = pmui.Button(label="Try again", size="small", variant="text", width=100, margin=(6, 4), on_click=lambda event: session.retry())
        self._alert = pmui.Alert("", alert_type="error", sizing_mode="stretch_width", margin=(2, 4), css_classes=["kg-error"])
        self._problem = pn.Row(self._alert, self._retry, visible=False, sizing_mode="stretch_width", margin=0)
        self._body = pn.Column(
            pn.Row(self._text, self._bar, self._cancel, sizing_mode="stretch_width", height=32, margin=(0, 4)),
            self._problem,
            sizing_mode="stretch_width",
            margin=0,
        )
        self.state.param.watch(lambda *events: self._update(), ["stage", "fraction", "result", "dataset"])
        self.state.param.watch(lambda *events: self._complain(), "error")
        self._update()

    def __panel__(self):
        return self._body

    def sentence(self):
        """What is going on, in words."""
        state = self.state
        if state.stage is not None:
            return f"{state.stage} …"
        if state.dataset is None:
            return "Choose data to begin."
        n, d = state.dataset.points.shape
        words = f"{state.dataset.name}: {n:,} point{'s' * (n != 1)} in {d} dimension{'s' * (d != 1)}"
        if (outcome := state.outcome("kde")) is not None and state.result.request.dataset is state.dataset:
            words += f", {outcome.n_clusters} cluster{'s' * (outcome.n_clusters != 1)}"
        return words

    def _update(self):
        busy = self.state.stage is not None
        self._text.object = self.sentence()
        self._bar.param.update(visible=busy, value=round(100 * min(max(self.state.fraction, 0.0), 1.0)))
        self._cancel.disabled = not busy

    def _complain(self):
        if self.state.error:
            self._alert.object = self.state.error
        self._problem.visible = bool(self.state.error)


STYLE = """
:host { font-size: 13px; line-height: 32px; height: 32px; }
div { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; opacity: 0.8; }
"""
