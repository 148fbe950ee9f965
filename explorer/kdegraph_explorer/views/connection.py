"""The connection between the page and its server."""

import panel as pn
import param
from panel.custom import JSComponent

from ..assets import script, style_sheet

EVERY = 1000  # milliseconds between two beats


class Connection(JSComponent):
    """An invisible part of a served page. When the server ends, it says so in a banner, and loads
    the page again, with its address, as soon as there is a server.

    Notes
    -----
    Bokeh could reconnect a page to a session that still exists. The documents that it then takes
    over are damaged where they hold components of Panel (1.9), so a new session is begun.

    Where the browser is slow to take messages, Panel (1.9) may keep one back until there is another
    one: a later message that is still waiting when an earlier one has been written counts as
    written, too. So there is another one every second.
    """

    afterwards = param.String(
        default="As soon as the server runs again, the page is restored from its address, by "
        "itself.",
        doc="What the banner says about what to do.",
    )
    banner_style = param.String(
        default=style_sheet("connection"), doc="The style sheet of the banner."
    )
    beats = param.Integer(default=0, doc="Grows every second, so that no message is kept back.")

    _esm = script("connection")

    def __init__(self, **params):
        super().__init__(stylesheets=[style_sheet("unseen")], **params)
        pn.io.PeriodicCallback(
            callback=self._beat, period=EVERY, log=False, background=True
        ).start()

    def _beat(self):
        self.beats += 1
