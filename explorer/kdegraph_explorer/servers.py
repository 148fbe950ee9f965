"""Servers of pages."""

import contextlib
import gc
import secrets

import panel as pn
from bokeh.settings import settings

from .page import TITLE
from .policy import Headers

LOCAL = "127.0.0.1"


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
        **{"show": False, **options},
    )


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
