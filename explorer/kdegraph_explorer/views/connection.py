"""The connection between the page and its server."""

import param
from panel.custom import JSComponent

from ..assets import script, style_sheet


class Connection(JSComponent):
    """An invisible part of a served page. When the server ends, it says so in a banner, and loads
    the page again, with its address, as soon as there is a server.

    Notes
    -----
    Bokeh could reconnect a page to a session that still exists. The documents that it then takes
    over are damaged where they hold components of Panel (1.9), so a new session is begun.
    """

    banner_style = param.String(
        default=style_sheet("connection"), doc="The style sheet of the banner."
    )

    _esm = script("connection")

    def __init__(self, **params):
        super().__init__(stylesheets=[style_sheet("unseen")], **params)
