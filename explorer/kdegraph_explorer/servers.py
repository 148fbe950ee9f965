"""Servers of pages."""

import secrets

import panel as pn

from .page import TITLE
from .policy import Headers

LOCAL = "127.0.0.1"


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
