"""Servers of pages."""

import contextlib
import gc
import secrets

import panel as pn
from bokeh.server.views.ws import WSHandler
from bokeh.settings import settings

from .page import TITLE
from .policy import Headers

LOCAL = "127.0.0.1"
# What stands still ends. These limits are in seconds.
REQUEST_LIMIT = 75  # for a request to arrive, and for a connection to be idle between requests
# Between two pings, each of which has to be answered before the next one: a page that has vanished
# without a word has ended after twice this time. Its answer waits behind what is being downloaded.
PING_EVERY = 300
MAX_BODY = 2**20  # bytes of a request; files arrive through the WebSocket, in parts


@contextlib.contextmanager
def sparing_old_objects():
    """A context in which searches for garbage leave out the objects that there are at its
    beginning, for a process that only serves pages meanwhile.

    The libraries have some 400,000, which stay to the end: with them a full search stops all pages
    for 0.15 to 0.3 s, without them for 0.02 to 0.05 s.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def server_of(page, path="/", **options):
    """A server that has not been started yet.

    Parameters
    ----------
    page : callable
        Makes the page, for each session anew.
    path : str
        Of the page.
    **options
        For `panel.serve`.
    """
    settings.perform_document_validation = False  # each page would wait for it
    return pn.serve(
        {path: page},
        title=TITLE,
        start=False,
        verbose=False,
        transforms=[Headers],
        websocket_ping_interval=PING_EVERY,
        http_server_kwargs={
            "idle_connection_timeout": REQUEST_LIMIT,
            "body_timeout": REQUEST_LIMIT,
            "max_body_size": MAX_BODY,
        },
        **{"show": False, **options},
    )


def ping_pages():
    """Have every server of this process ping its pages, also one that `panel serve` has started,
    which has no option for it: a page that has vanished without a word ends.
    """
    WSHandler.ping_interval = PING_EVERY


def hidden_server_of(page, **options):
    """A server for this machine alone that has not been started yet: at 127.0.0.1, on a free port,
    it answers only under a path that nobody can guess.

    Parameters
    ----------
    page, **options
        As for `server_of`.

    Returns
    -------
    server : panel.io.server.Server
    address : str
        Of the page.
    """
    path = f"/{secrets.token_urlsafe(24)}"
    server = server_of(page, path=path, address=LOCAL, port=0, use_index=False, **options)
    return server, f"http://{LOCAL}:{server.port}{path}"
