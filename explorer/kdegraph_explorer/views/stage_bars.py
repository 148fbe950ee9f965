"""A bar for each stage of work that takes long."""

import time

from panel.viewable import Viewer

from .markup import Markup, Text

PATIENCE = (
    1.5  # seconds of work before the bars come: what is quicker than that they would only hide
)


class StageBars(Viewer):
    """Lies over a corner of the plots while work takes long: a row for each graph, a bar for each
    of its stages.
    """

    def __init__(self, session, **params):
        super().__init__(**params)
        self.state = session.state
        self._began = None  # when the present work was first reported
        self._bars = Text(
            css_classes=["kg-stages"], stylesheets=[STYLE], visible=False, styles=IN_THE_CORNER
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
        visible = self._began is not None and time.monotonic() - self._began > PATIENCE
        if visible:
            shown = Markup().join(_row(name, bars) for name, bars in rows)
            self._bars.content = Markup("<div class=rows>{}</div>").format(shown)
        self._bars.visible = visible


def _row(name, bars):
    shown = Markup().join(
        BAR.format(row=name, stage=stage, value=fraction) for stage, fraction in bars
    )
    return Markup("<b>{}</b><div>{}</div>").format(name, shown)


BAR = Markup(
    '<label>{stage}<progress aria-label="{row}: {stage}" value="{value:.2f}"></progress></label>'
)


IN_THE_CORNER = {"position": "absolute", "top": "76px", "right": "14px", "z-index": "5"}
STYLE = """
:host { font-size: 11.5px; line-height: 15px; width: auto !important; padding: 8px 12px; border-radius: 8px;
        border: 1px solid rgba(128, 128, 128, 0.4); box-shadow: 0 2px 10px rgba(0, 0, 0, 0.2);
        color: inherit; background: var(--mui-palette-background-paper, var(--panel-surface-color, Canvas)); }
.rows { display: grid; grid-template-columns: auto auto; gap: 6px 12px; align-items: center; }
.rows > div { display: grid; grid-auto-flow: column; grid-auto-columns: 62px; gap: 6px; justify-content: start; }
@media (max-width: 599px) {
  :host { position: fixed !important; inset: auto 8px 8px 8px !important; box-sizing: border-box; }
  .rows { grid-template-columns: 1fr; gap: 2px; }
  .rows > div { grid-auto-columns: 1fr; justify-content: stretch; margin-bottom: 4px; }
}
progress { display: block; appearance: none; width: 100%; height: 5px; border: 0; border-radius: 3px; overflow: hidden; }
progress, progress::-webkit-progress-bar { background: rgba(128, 128, 128, 0.3); }
progress::-webkit-progress-value { background: var(--mui-palette-primary-main, #2F6690); }
progress::-moz-progress-bar { background: var(--mui-palette-primary-main, #2F6690); }
"""
