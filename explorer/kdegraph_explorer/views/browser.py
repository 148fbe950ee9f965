"""Connect a page with its browser and with its server.

Only the browser can save files, report keys, write the address, and know whether the system asks
for light or dark pages.
"""

import panel as pn
import param
from panel.custom import JSComponent

from ..assets import script, script_of_elements, style_sheet


class Browser(JSComponent):
    """Connect to the browser, as an invisible part of the page.

    `act` is called with the name of an action when one of its keys was pressed. `on_return(step,
    query)` is called when the user has gone back or forward in the browser's history: with the
    `step` of the entry, or None if it is one of another visit. `on_expected(label)` is called when
    the mouse rests on the button of a large view.
    """

    view = param.String(doc="Which of the large views is shown.")
    opening = param.String(doc="The label of the view that is being opened, if there is one.")
    query = param.String(doc="The query of the page's address.")
    step = param.Integer(
        doc="Number of the step of undo; each has an entry in the browser's history."
    )
    visit = param.String(doc="An identifier of this visit of the page.")
    own_address = param.Boolean(doc="Whether the address of the page is the explorer's.")
    dark = param.Boolean(doc="Whether the system asks for dark pages.")
    narrow = param.Boolean(doc="Whether the window is as narrow as that of a telephone.")
    built = param.Boolean(doc="Whether the browser has built the page, so that messages arrive.")
    keys = param.Dict(default={}, doc="A key such as 'ctrl+z' to the name of its action.")
    busy = param.Boolean(doc="Whether anything is computed or drawn at the moment.")
    outdated = param.Boolean(doc="Whether the results are older than what was asked for last.")
    asked = param.Integer(
        doc="Grows when the page asks whether all its messages have been processed."
    )
    answered = param.Integer(
        doc="The last value of `asked`, once all messages before it have been processed.",
    )
    said = param.String(doc="What a screen reader reads out when it changes.")

    _esm = script_of_elements("browser")

    def __init__(self, act, **params):
        self._act = act
        self.on_return = lambda step, query: None
        self.on_expected = lambda label: None
        super().__init__(stylesheets=[style_sheet("unseen")], **params)
        self.param.watch(lambda event: self.param.update(answered=event.new), "asked")

    def save(self, name, content):
        """Give the user a file with this name and content, bytes."""
        self._send_msg({"name": name, "content": content})

    def _handle_msg(self, message):
        if "action" in message:
            self._act(message["action"])
        elif "query" in message:
            step = message["step"]
            self.on_return(None if step is None else int(step), str(message["query"]))
        elif "expected" in message:
            self.on_expected(str(message["expected"]))
        else:
            self.param.update(dark=bool(message["dark"]), narrow=bool(message["narrow"]))


class Connection(JSComponent):
    """Watch the connection to the server, as an invisible part of a served page.

    When the server ends, a banner says so, and the page is loaded again, with its address, as soon
    as there is a server. Bokeh could reconnect a page to a session that still exists, but the
    documents that it then takes over are damaged if they hold components of Panel (1.9).

    If the browser is slow to take messages, Panel (1.9) may keep one back until there is another
    one: a later message that is still waiting when an earlier one has been written counts as
    written, too. So there is another one every second.
    """

    afterwards = param.String(
        default="As soon as the server runs again, the page is restored from its address, by "
        "itself.",
        doc="What the banner says about what to do.",
    )
    unkept = param.String(
        doc="The name of a file that the address does not restore. The page is not loaded again by "
        "itself then."
    )
    banner_style = param.String(
        default=style_sheet("connection"), doc="The style sheet of the banner."
    )
    beats = param.Integer(doc="Grows every second, so that no message is kept back.")

    _esm = script("connection")

    def __init__(self, **params):
        super().__init__(stylesheets=[style_sheet("unseen")], **params)
        pn.io.PeriodicCallback(callback=self._beat, period=1000, log=False, background=True).start()

    def _beat(self):
        self.beats += 1
