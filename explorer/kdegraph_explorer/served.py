"""An explorer on a page of a server: it begins and ends with the page, and its choices stand in the
address.
"""

from dataclasses import replace
from weakref import WeakMethod

import panel as pn

from . import address, memory


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
        # Panel keeps what waits for a page, also for one that never appears.
        begin = WeakMethod(self._begin)
        # What is sent before the browser has built the page would be lost.
        pn.state.onload(lambda: begin()())

    def _begin(self):
        """Start with what the address asks for, and write later choices into it."""
        session = self._session
        self._browser.built = True
        text = (pn.state.location.search or "") if pn.state.location else ""
        try:
            snapshot, notice = address.read(session, text), address.left_out(text)
        except ValueError as error:
            snapshot = None
            notice = f"What the address of the page asks for cannot be restored: {error}"
        session.state.notice = notice
        if snapshot is None:
            session.start()
        else:
            session.restore(snapshot)
        session.history.forget(snapshot)
        session.history.param.watch(lambda event: self._write_address(), "current")
        session.state.param.watch(lambda event: self._write_address(), "view")

    def _end(self):
        """The page has been closed."""
        self._session.close()
        memory.give_back_soon()

    def _write_address(self):
        snapshot = replace(self._session.history.current, view=self._session.state.view)
        self._browser.query = address.query(self._session, snapshot)
