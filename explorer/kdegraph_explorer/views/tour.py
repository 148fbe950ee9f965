"""Three steps that show what the explorer is for; they can be left at any time."""

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from ..assets import style_sheet
from .markup import Markup, Text
from .widgets import button

STEPS = (  # the view, what to do, and what to look at
    (
        "points",
        "Drag “Kernel width σ”.",
        "If it is small, the graph falls into islands; if it is large, clusters flow together. "
        "The gap between the eigenvalues says where it fits.",
    ),
    (
        "rounds",
        "Play the rounds.",
        "Each round draws one more neighbor for every point. After about ten, the eigenvalues are "
        "nearly those of the full graph, the dashed lines.",
    ),
    (
        "compare",
        "Compare four graphs.",
        "The same points, the same window: choose more or fewer neighbors for the k-NN graph, and "
        "see which points change their cluster.",
    ),
)


class Tour(Viewer):
    """A line above the views with the present step, there only during the tour."""

    def __init__(self, session, **params):
        super().__init__(**params)
        self.state = session.state
        self._text = Text(
            css_classes=["kg-tour-text"],
            stylesheets=[style_sheet("tour")],
            sizing_mode="stretch_width",
            margin=(6, 10),
        )
        style = {"variant": "text", "margin": (6, 2)}
        self._back = button("Previous", "Go to the step before.", self.back, width=84, **style)
        self._next = button("Next", "Go to the next step.", self.next, width=70, **style)
        leave = button(
            "Leave", "Leave the tour; everything stays as it is.", self.leave, width=70, **style
        )
        self._body = pmui.Paper(
            pn.Row(
                self._text, self._back, self._next, leave, sizing_mode="stretch_width", margin=0
            ),
            elevation=0,
            variant="outlined",
            sizing_mode="stretch_width",
            margin=4,
            visible=False,
            css_classes=["kg-tour"],
        )
        self.state.param.watch(lambda event: self._update(), "tour")

    def __panel__(self):
        return self._body

    @property
    def words(self):
        """What the present step says."""
        return self._text.content

    def next(self):
        """Go to the next step, or leave after the last one."""
        self.state.tour = (self.state.tour + 1) % (len(STEPS) + 1)

    def back(self):
        """Go to the step before."""
        self.state.tour = max(1, self.state.tour - 1)

    def leave(self):
        """End the tour."""
        self.state.tour = 0

    def _update(self):
        number = self.state.tour
        self._body.visible = number > 0
        if number == 0:
            return
        view, title, sentence = STEPS[number - 1]
        words = Markup("<p><b>{} of {}. {}</b> {}</p>")
        self._text.content = words.format(number, len(STEPS), title, sentence)
        self._back.disabled = number == 1
        self._next.label = "Next" if number < len(STEPS) else "Done"
        self.state.view = view
