"""The address of the page: it names the choices, and the browser's Back and Forward move between
them.
"""

from dataclasses import replace
from urllib.parse import parse_qs
from uuid import uuid4

from . import address
from .sources import SOURCES

# What a page begins with that has no query of its own: points whose clusters the k-NN graph misses.
FIRST_PAGE = "data.shape=clumps&view=start"


def first_view(session, query):
    """Key of the view that a page with this query begins with, or an empty string."""
    return parse_qs(wanted(session, query)).get("view", [""])[0]


def wanted(session, query):
    """The query of the address; without one, that of the first page, unless the session was given
    data.
    """
    query = query.removeprefix("?")
    return query if query or session.first != SOURCES[0].key else FIRST_PAGE


class AddressBar:
    """Starts a session with what the address of the page asks for, and writes later choices into
    it, with an entry in the browser's history for each step that can be undone.

    Parameters
    ----------
    session : Session
    browser : Browser
    """

    def __init__(self, session, browser):
        self._session, self._browser = session, browser

    def begin(self, query):
        """Start with what the query of the address asks for; see `wanted`."""
        session, query = self._session, wanted(self._session, query)
        snapshot = self._read(query)
        if snapshot is None:
            session.start()
        else:
            session.restore(snapshot)
        session.history.forget(snapshot)
        self._browser.visit = uuid4().hex
        self._browser.on_return = self._return
        session.history.param.watch(lambda event: self._write(), "current")
        session.state.param.watch(lambda event: self._write(), "view")
        self._write()

    def _read(self, query):
        """The snapshot that a query asks for, or None; the user is told what cannot be restored."""
        state = self._session.state
        try:
            snapshot, notice = address.read(self._session, query), address.left_out(query)
        except ValueError as error:
            snapshot = None
            notice = f"What the address of the page asks for cannot be restored: {error}"
        if notice:
            state.notice = notice
        return snapshot

    def _write(self):
        history = self._session.history
        snapshot = replace(history.current, view=self._session.state.view)
        # An empty query would mean the first page.
        query = address.query(self._session, snapshot) or f"source={snapshot.source}"
        self._browser.param.update(query=query, step=history.position)

    def _return(self, step, query):
        """The user has gone back or forward to an entry: one of this visit of the page, or, with
        None, one of an earlier visit, of which only the address is known.
        """
        history = self._session.history
        if step is not None:
            history.go_to(step)
            return
        if (snapshot := self._read(query)) is not None:
            history.go_on(snapshot)
