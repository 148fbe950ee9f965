"""Keep a session ready for the next page.

To make a session and its first result takes more than a second, in which a visitor would see
nothing.
"""

from datetime import timedelta

from bokeh.util.token import generate_jwt_token, generate_session_id
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.routing import AnyMatches, Router, Rule

from .page import ServedPage

QUIET = 10.0  # seconds after a page has been asked for, in which the server belongs to that page
# How long the page of a session may connect to it, from when the session is made; Bokeh's own limit
# is five minutes.
VALID = timedelta(days=365)


def keep_spare(application):
    """Make a session soon, and another one a while after each page.

    `application` is the Tornado application of a server, whose other rules come first.
    """
    spare = Spare(application)
    application.add_handlers(".*", [Rule(AnyMatches(), spare)])
    application.io_loop.add_callback(spare.make)


class Spare(Router):
    """Give a session that is ready to the next request for the page, and leave the answer to the
    existing handlers.

    An address with a query gets a session of its own, as it may begin with other choices. The event
    loop of the server calls all methods.
    """

    def __init__(self, application):
        self._application = application
        (self._context,) = application.applications.values()
        self._page = f"{application.prefix}/"
        self._session = self._timer = None

    def find_handler(self, request, **kwargs):
        if request.path != self._page or request.method != "GET":
            return
        if self._session is not None and not request.query:
            session, self._session = self._session, None
            session.unsubscribe(self)
            if page := ServedPage.made.get(session.id):
                page.expect()
            request.headers["Bokeh-Session-Id"] = session.id  # which `Access` lets nobody else set
        loop = self._application.io_loop
        if self._timer is not None:
            loop.remove_timeout(self._timer)
        self._timer = loop.call_later(QUIET, self.make)

    async def make(self):
        """Make a session, unless one is ready."""
        if self._session is not None:
            return
        signed = {
            "secret_key": self._application.secret_key,
            "signed": self._application.sign_sessions,
        }
        name = generate_session_id(**signed)
        token = generate_jwt_token(
            name,
            **signed,
            expiration=int(VALID.total_seconds()),
            extra_payload={"headers": {}, "cookies": {}, "arguments": {}},
        )
        line = RequestStartLine("GET", self._page, "HTTP/1.1")
        host = HTTPHeaders({"Host": "localhost"})
        request = HTTPServerRequest(start_line=line, headers=host)
        session = await self._context.create_session_if_needed(name, request, token)
        session.subscribe(self)  # otherwise, the server would soon end it, as nobody uses it
        self._session = session
        if page := ServedPage.made.get(session.id):
            session.document.add_next_tick_callback(page.begin_ahead)

    async def send_patch_document(self, event):
        """Do nothing with a change of the session that is ready: its page does not exist yet."""
