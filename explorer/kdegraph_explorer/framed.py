"""The explorer in a frame of another page: in notebooks that neither Panel nor Jupyter's widgets
serve well, such as marimo.
"""

import asyncio

import panel as pn
from markupsafe import Markup

from .access import Access
from .page import page_of, take_files_from_the_server
from .servers import hidden_server_of
from .views.connection import Connection

FRAME = Markup(
    '<iframe class="kg-frame" title="kdegraph explorer" src="{}" '
    'style="display: block; width: 100%; height: {}px; border: 0"></iframe>'
)
# The page is a frame's, which has no room for a bar.
STYLE = {"& header.MuiAppBar-root, & .MuiToolbar-root": {"display": "none"}}
AFTER_THE_END = "Run the cell again to have another one."
FOREVER = 2**50  # milliseconds, or seconds


class FramedPage:
    """A page on a server of this process, at 127.0.0.1. The server ends with the event loop that
    makes this object, and with `close`.

    All frames show the same document: what is done in one of them, or in Python, is seen in all,
    and a page that is loaded again finds what was there.

    Parameters
    ----------
    viewable : panel.viewable.Viewable
        What the page shows.
    browser : Browser
        Tells whether the page is to be dark.
    height : int
        Pixels.

    Attributes
    ----------
    document : bokeh.document.Document or None
        What the frames show, once there was one.
    """

    def __init__(self, viewable, browser, height):
        self._viewable, self._browser, self._height = viewable, browser, height
        self.document = None
        server, self._address = hidden_server_of(
            self._make,
            Access(),
            one_session=True,
            unused_session_lifetime_milliseconds=FOREVER,
            session_token_expiration=FOREVER,  # all pages get the token of the first one
        )
        server.start()
        # At its end, a loop cancels what still waits.
        self._end = asyncio.ensure_future(asyncio.Event().wait())
        self._end.add_done_callback(lambda task: server.stop())

    def _repr_html_(self):
        return str(FRAME.format(self._address, self._height))

    def _make(self):
        take_files_from_the_server()
        self.document = pn.state.curdoc
        page = page_of(self._viewable, sx=STYLE)
        page.main.append(Connection(afterwards=AFTER_THE_END))
        self._browser.param.watch(lambda event: page.param.update(dark_theme=event.new), "dark")
        return page

    def close(self):
        """End the server."""
        self._end.cancel()
