"""An explorer on a page of a server: it begins and ends with the page."""

from weakref import WeakMethod

import panel as pn

from . import compiling, memory
from .address_bar import AddressBar


def query_of_page():
    """The query in the address of the page."""
    return (pn.state.location.search or "") if pn.state.location else ""


class ServedPage:
    """Starts a session when the browser has built the page, and closes it with the page.

    Parameters
    ----------
    session : Session
    browser : Browser
    """

    def __init__(self, session, browser):
        self._session, self._browser = session, browser
        pn.state.on_session_destroyed(lambda context: self._end())
        # The server has nothing else to do while the browser builds the page.
        pn.state.curdoc.add_next_tick_callback(compiling.import_libraries)
        # Panel keeps what waits for a page, also for one that never appears.
        begin = WeakMethod(self._begin)
        # What is sent before the browser has built the page would be lost.
        pn.state.onload(lambda: begin()())

    def _begin(self):
        """Start, now that the browser has built the page."""
        self._browser.built = True
        bar = AddressBar(self._session, self._browser)
        bar.begin(query_of_page())

    def _end(self):
        """The page has been closed."""
        self._session.close()
        memory.give_back_soon()
