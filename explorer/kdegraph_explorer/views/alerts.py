"""The alerts above the plots."""

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from ..advice import advice
from ..assets import style_sheet
from .markup import Text
from .widgets import button


class Alert(Viewer):
    """An alert above the plots, there only while it has something to say.

    Attributes
    ----------
    severity : str
        "error", "warning" or "info".
    css_class : str
        A hook for tests.
    watched : tuple of str
        The parameters of the state that it depends on.
    """

    severity = ""
    css_class = ""
    watched: tuple[str, ...] = ()

    def __init__(self, session, **params):
        super().__init__(**params)
        self.session, self.state = session, session.state
        # Text of the alert itself would be Markdown; a line of this text is a paragraph.
        self._text = Text(
            css_classes=["kg-message"], stylesheets=[style_sheet("message")], margin=0
        )
        alert = pmui.Alert(
            self._text,
            severity=self.severity,
            variant="outlined",
            sizing_mode="stretch_width",
            margin=4,
            stylesheets=[style_sheet("alert")],
        )
        self._body = pn.Row(
            alert,
            *self.buttons(),
            sizing_mode="stretch_width",
            margin=0,
            css_classes=[self.css_class],
        )
        self.state.param.watch(lambda *events: self._update(), list(self.watched))
        self._update()

    def __panel__(self):
        return self._body

    def buttons(self):
        """The buttons beside the message."""
        return ()

    def message(self):
        """What it says at present; an empty string for nothing."""
        raise NotImplementedError

    def _update(self):
        self._text.content = self.message()
        self._body.visible = bool(self._text.content)


class Problem(Alert):
    """Something is wrong."""

    severity, css_class = "error", "kg-error"
    watched = ("error", "notice")

    def buttons(self):
        """See `Alert.buttons`."""
        sentence = "Compute once more what the choices ask for."
        return (again("Try again", sentence, self.session, "kg-retry", width=96),)

    def message(self):
        """See `Alert.message`."""
        return self.state.error or self.state.notice


class Stopped(Alert):
    """The plots show an earlier result, as the work was cancelled."""

    severity, css_class = "info", "kg-stopped"
    watched = ("stopped", "stage")

    def buttons(self):
        """See `Alert.buttons`."""
        sentence = "Compute what the choices ask for."
        return (again("Compute again", sentence, self.session, "kg-again", width=120),)

    def message(self):
        """See `Alert.message`."""
        if not self.state.stopped or self.state.stage is not None:
            return ""
        if self.state.result is None:
            return "Cancelled. There is no result yet."
        return "Cancelled. What is shown is the last result."


class Advice(Alert):
    """The KDE graph may not show what is in the data."""

    severity, css_class = "warning", "kg-advice"
    watched = ("result", "shown")

    def message(self):
        """See `Alert.message`."""
        return "\n".join(advice(self.state))


def again(label, sentence, session, css_class, width):
    """A button that has what the choices ask for computed."""
    return button(
        label,
        sentence,
        session.retry,
        variant="text",
        width=width,
        margin=(6, 4),
        css_classes=[css_class],
    )
