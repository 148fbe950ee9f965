"""A bar for each stage of work that takes long."""

import time

from panel.viewable import Viewer

from ..assets import style_sheet
from .markup import Markup, Text

# Seconds of work before the bars appear: what is quicker they would only hide.
SHOWN_AFTER = 1.5


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
