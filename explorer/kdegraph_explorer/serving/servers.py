"""Make servers of pages."""

import ipaddress
import re
import secrets
import socket

import panel as pn
from bokeh.server.views.ws import WSHandler
from bokeh.settings import settings
from bokeh.util.token import generate_session_id
from tornado.routing import AnyMatches, Router, Rule
from tornado.web import OutputTransform

from ..patches.bokeh import application_of
from ..process import alternate_often
from .log import log_client_errors_in_a_line
from .origins import LOOPBACK, Origin, in_address
from .page import TITLE

LOCAL = "127.0.0.1"
# Limits in seconds after which idle requests and connections end.
REQUEST_LIMIT = 75  # for a request to arrive, and for a connection to be idle between requests
# Between two pings, each of which has to be answered before the next one, so that a page that has
# vanished silently ends after twice this time. Its answer waits behind downloads.
PING_EVERY = 300
MAX_BODY = 2**16  # bytes of a request: a password; files arrive through the WebSocket, in parts
HEADERS = {  # for what a page cannot declare in itself
    # JupyterLab, VS Code and the like show the page in a frame.
    "Content-Security-Policy": "frame-ancestors 'self' http://localhost:* http://127.0.0.1:* "
    "https://localhost:* vscode-webview:",
    "Cross-Origin-Resource-Policy": "same-origin",  # no script or picture for pages of others
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


class Headers(OutputTransform):
    """Add `HEADERS` to every answer of a server."""

    def transform_first_chunk(self, status_code, headers, chunk, finishing):
        headers.update(HEADERS)
        return status_code, headers, chunk


def server_of(page, access, one_session=False, **options):
    """Make a server, which is not started yet.

    `page` makes the page for each session. It is a function or a method, as Panel would show other
    callables. `access` decides who may enter. With `one_session`, all who open the page see the
    same document. `options` are those of `panel.serve`.
    """
    settings.perform_document_validation = False  # each page would wait for it
    log_client_errors_in_a_line()
    key = access.key("sessions")
    server = pn.serve(
        {"/": page},
        title=TITLE,
        start=False,
        show=False,
        verbose=False,
        transforms=[Headers],
        websocket_ping_interval=PING_EVERY,
        http_server_kwargs={
            "idle_connection_timeout": REQUEST_LIMIT,
            "body_timeout": REQUEST_LIMIT,
            "max_body_size": MAX_BODY,
        },
        sign_sessions=True,
        secret_key=key,
        # They would stand in the page, where scripts can read them.
        include_headers=[],
        include_cookies=[],
        **options,
    )
    application = application_of(server)
    access.guard(application, server.port)
    # Bokeh's own check of origins (3.9) knows neither tunnels nor addresses of IPv6.
    application.websocket_origins.add("*")
    if one_session:
        session = generate_session_id(secret_key=key, signed=True)
        application.add_handlers(".*", [Rule(AnyMatches(), OneSession(session))])
    return server


def prepare_panel():
    """Have every server of this process log and ping as `server_of` does: a vanished page ends.

    This includes a server that `panel serve` has started, which has no option for it. Such a
    process only serves pages.
    """
    alternate_often()
    log_client_errors_in_a_line()
    WSHandler.ping_interval = PING_EVERY


def hidden_server_of(page, access, **options):
    """Make a server for this machine alone, and return it with the address of its page.

    At 127.0.0.1, on a free port, it answers only under a path that nobody can guess. The arguments
    are those of `server_of`; the server is not started yet.
    """
    prefix = f"/{secrets.token_urlsafe(24)}"
    server = server_of(
        page,
        access,
        prefix=prefix,
        address=LOCAL,
        port=0,
        use_index=False,
        **options,
    )
    return server, f"http://{LOCAL}:{server.port}{prefix}/"


def read_prefix(text):
    """Read the path under which a proxy passes on requests.

    Return it with a slash in front and none at the end; "" for none. A ValueError says if it is not
    a path of plain letters.
    """
    path = text.strip("/")
    if not re.fullmatch(r"([\w~-][\w.~-]*(/[\w~-][\w.~-]*)*)?", path, re.ASCII):
        raise ValueError(
            f"--prefix: {text!r} is not a path such as /kdegraph, of letters, digits and _ ~ - ."
        )
    return path and f"/{path}"


class Place:
    """The address that a server listens at: a name or an IP address.

    An unspecified address, such as 0.0.0.0, stands for all of this machine. `is_local` says whether
    only programs on this machine reach it, and `origin` is its own name.
    """

    def __init__(self, host):
        found = socket.getaddrinfo(
            host or None, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        addresses = [ipaddress.ip_address(place[0]) for *_, place in found]
        self.is_local = all(address.is_loopback for address in addresses)
        everywhere = any(address.is_unspecified for address in addresses)
        self._name = socket.gethostname() if everywhere else host
        self._here = "localhost" if everywhere or host in LOOPBACK else host
        self.origin = Origin("", self._name.lower(), None)

    def addresses(self, server):
        """Return the address of the page for this machine, and for others."""
        return [
            f"http://{in_address(name)}:{server.port}{server.prefix}/"
            for name in (self._here, self._name)
        ]

    def who(self, server, access, named):
        """Describe in a sentence who can open the page of a server.

        `named` are further origins of the page.
        """
        _, address = self.addresses(server)
        others = [] if self.is_local else [f"from others as {access.invitation(address)}"]
        others += [f"as {origin}" for origin in named]
        where = " and ".join(["from this machine", *others]) + ("" if others else " only")
        knowing = f", by whoever knows the {access.label.lower()}" if access.word else ""
        return f"It can be opened {where}{knowing}."


class OneSession(Router):
    """Have all requests be for one session, and leave them to the existing handlers.

    Bokeh takes the id from a header, which `Access` lets nobody else set.
    """

    def __init__(self, session):
        self._session = session

    def find_handler(self, request, **kwargs):
        request.headers["Bokeh-Session-Id"] = self._session
