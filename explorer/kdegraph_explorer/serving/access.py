"""Decide who may enter a server: checks that each request has to pass before it is answered.

Every request and every connection must come from an origin of the server and must not choose a
session. Where a token or a password is required, it must also carry the cookie that is given for
the right one.
"""

import asyncio
import hashlib
import hmac
import math
import re
import secrets
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from bokeh.util.token import check_token_signature, get_session_id
from jinja2 import Environment
from tornado.routing import Matcher, PathMatches, Rule
from tornado.web import ErrorHandler, RequestHandler, create_signed_value, decode_signed_value

from ..assets import icon, style_sheet, template
from ..limits import limits, words
from .origins import Origins
from .user_secret import readable_by_others

COOKIE_DAYS = 31  # days for which a browser is let in
FREE_GUESSES = 5
RETRY_AFTER = 30  # seconds; about the time for which Bokeh keeps the session of a closed tab


def read_password(path):
    """Read the file with the password, which is its only line.

    A password that other users of this machine can read keeps nobody out, so that such a file is
    refused, as ssh refuses such keys. A ValueError says if others can read it, or if it does not
    hold one line.
    """
    with Path(path).open("rb") as file:
        if readable_by_others(file):
            raise ValueError(
                f"--password-file: other users can read {str(path)!r}; run chmod 600 on it"
            )
        content = file.read()
    try:
        (password,) = content.decode().splitlines()
    except ValueError:  # several lines, none, or no text
        password = ""
    if not password.strip():
        raise ValueError(
            f"--password-file: {str(path)!r} must hold the password as its only line, in UTF-8"
        )
    return password


class Guesses:
    """Bound how often a password can be tried.

    After a few wrong guesses, each doubles the time until the next is checked, for everybody, as
    behind a proxy all seem to come from one machine.
    """

    def __init__(self, clock=time.monotonic):
        self._clock, self._wrong, self._next = clock, 0, 0.0

    def wait(self):
        """Return the seconds until the next guess is checked."""
        return max(0.0, self._next - self._clock())

    def count(self, right):
        """Count a guess that was checked."""
        self._wrong = 0 if right else self._wrong + 1
        if self._wrong >= FREE_GUESSES:
            seconds = 2.0 ** min(self._wrong - FREE_GUESSES, 6)
            self._next = self._clock() + seconds


class Access:
    """Decide who may enter a server: whoever knows the `password`, or the `token`, a new random
    password that may also stand in the address, as ``?token=``; without both, everybody.

    The `secret` signs session ids and cookies; by default it is a new one. `named` are as for
    `Origins`. The attribute `word` is the password or the token, and `label` what it is called.
    """

    def __init__(self, secret=None, named=(), password=None, token=False):
        self._secret, self._named = secret or secrets.token_bytes(), named
        self.token = _new_token() if token else None
        self.word = self.token or password
        self.label = "Token" if token else "Password"
        self._guesses, self._once = Guesses(), set()

    def key(self, purpose):
        """Return a key for signatures that end when the password or the token changes."""
        message = "\0".join([purpose, self.word or ""])
        return hmac.digest(self._secret, message.encode(), hashlib.sha256)

    def invitation(self, address, once=False):
        """Return an address with a token, if one is required.

        With `once`, the token lets in one browser: the commands that open browsers can be seen by
        other users of this machine.
        """
        if not self.token:
            return address
        token = self.token
        if once:
            token = _new_token()
            self._once.add(token)
        return f"{address}?token={token}"

    def refusal(self, word):
        """Try a word; return None if it is right, else a status of HTTP and a sentence."""
        if word in self._once:
            self._once.remove(word)
            return None
        wait = self._guesses.wait()
        if wait:
            seconds = math.ceil(wait)
            return 429, f"Too many wrong passwords: wait {seconds} s before you try again."
        right = hmac.compare_digest(word.encode(), self.word.encode())
        if not self.token:  # which is too long to be guessed
            self._guesses.count(right)
        return None if right else (403, f"This is not the {self.label.lower()}.")

    def guard(self, application, port):
        """Have all requests to a Tornado application checked before its own handlers see them."""
        prefix = application.prefix
        rules = [
            Rule(PathMatches(f"{re.escape(prefix)}/health"), Health),
            Rule(Foreign(Origins(self._named, port)), Refusal),
            Rule(Forged(application), Refusal),
        ]
        if prefix:
            elsewhere = PathMatches(f"(?!{re.escape(prefix)}(?:/|$)).*")
            rules.append(Rule(elsewhere, ErrorHandler, {"status_code": 404}))
        if self.word is not None:
            cookie = Cookie(f"kdegraph-{port}", prefix, self.key("cookie"))
            target = {"access": self, "cookie": cookie}
            rules.append(Rule(Stranger(**target), Entrance, target))
        if limits().sessions is not None:
            rules.append(Rule(Full(application), Refusal))
        application.add_handlers(".*", rules)  # they come before the handlers that are there


def _new_token():
    return secrets.token_urlsafe(32)


class Cookie:
    """A signed cookie that says that its browser has been let in.

    Cookies do not know ports, so that `name` must differ from server to server. Browsers send it
    under the path `prefix`; `key` is that of the signature.
    """

    def __init__(self, name, prefix, key):
        self.name, self.path, self._key = name, prefix or "/", key

    def give(self, handler):
        """Add the cookie to an answer.

        "Lax" lets a link of another website lead to the page. Whatever else comes from there is
        refused, as its origin is foreign.
        """
        handler.set_cookie(
            self.name,
            create_signed_value(self._key, self.name, self.path),
            path=self.path,
            httponly=True,
            samesite="Lax",
            # Whoever forges this header makes only their own cookie stricter.
            secure=handler.request.headers.get("X-Forwarded-Proto") == "https",
        )

    def is_in(self, request):
        """Return whether a request carries the cookie."""
        morsel = request.cookies.get(self.name)
        value = morsel and decode_signed_value(
            self._key, self.name, morsel.value, max_age_days=COOKIE_DAYS
        )
        return value == self.path.encode()


class Foreign(Matcher):
    """Match the requests that must not be answered, whoever they come from."""

    def __init__(self, origins):
        self._origins = origins

    def match(self, request):
        reason = self._origins.refusal(
            request.headers.get("Host", ""),
            request.headers.get("Origin"),
            reached=request.connection.stream.socket.getsockname()[0],
        ) or _misuse(request)
        # Panel splits the host at its colon, and fails at those of an IPv6 address.
        if request.host.startswith("["):
            request.host = "localhost" + request.host.partition("]")[2]
        return reason and {"target_kwargs": {"reason": reason}}


def _misuse(request):
    """Return what a request has that no page of ours asks for, as a sentence; None if nothing."""
    headers = request.headers
    if chooses_session(request.query_arguments, headers):
        return "This server chooses sessions itself: open the address without it."
    has_body = "Transfer-Encoding" in headers or headers.get("Content-Length", "0") != "0"
    if request.method not in ("GET", "HEAD", "POST") or (has_body and request.method != "POST"):
        return f"This server does not answer to such a {request.method} request."
    elsewhere = headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")
    # Scripts and pictures are loaded without an origin.
    if elsewhere and "Origin" not in headers and headers.get("Sec-Fetch-Mode") != "navigate":
        return "This server does not answer to parts of pages of other servers."
    return None


def chooses_session(arguments, headers):
    """Return whether a request chooses a session, or the source of scripts.

    Bokeh would take both from an address or from a header. Whoever knows the id of a session could
    join it, or lead others into one of theirs. `arguments` are the names in the query.
    """
    return "Bokeh-Session-Id" in headers or any(name.startswith("bokeh-") for name in arguments)


class Forged(Matcher):
    """Match websockets without a token of this server, at which Bokeh would fail."""

    def __init__(self, application):
        self._application = application

    def match(self, request):
        if request.path != f"{self._application.prefix}/ws":
            return None
        key, known = self._application.secret_key, False
        with suppress(ValueError, LookupError, TypeError):
            known = check_token_signature(_token_of(request), secret_key=key, signed=True)
        return None if known else {"target_kwargs": {"reason": "This page is not of this server."}}


def _token_of(request):
    """Return the token that the page of a websocket sends."""
    protocol, token = request.headers.get_list("Sec-WebSocket-Protocol")[0].split(",")
    return token.strip() if protocol == "bokeh" else ""


class Stranger(Matcher):
    """Match requests without the cookie, and those that bring a word to be tried."""

    def __init__(self, access, cookie):
        self._access, self._cookie = access, cookie

    def match(self, request):
        in_address = self._access.token and "token" in request.query_arguments
        known = self._cookie.is_in(request)
        return None if known and not in_address and request.method != "POST" else {}


class Full(Matcher):
    """Match requests that would begin a session while a server has as many as it may have."""

    def __init__(self, application):
        self._application, self._begun = application, 0

    def match(self, request):
        path = request.path.removeprefix(self._application.prefix)
        if path not in ("", "/", "/autoload.js", "/ws"):
            return None
        sessions = self._application.get_sessions("/")
        known = {session.id for session in sessions}
        if path == "/ws" and get_session_id(_token_of(request)) in known:
            return None  # the page that belongs to one of them
        if len(sessions) + self._begun >= limits().sessions:
            reason = f"This explorer is full: {words('sessions')}. Open the page again in a while."
            return {"target_kwargs": {"reason": reason, "status": 503}}
        # The session of this request exists as soon as its handler has had its turn, but requests
        # that have come at the same time are matched before that.
        self._begun += 1
        asyncio.get_running_loop().call_later(0, self._end)
        return None

    def _end(self):
        self._begun -= 1


class Health(RequestHandler):
    """Answer that the server is alive, and nothing else, to anybody: containers and proxies ask
    without a cookie, and by any name.
    """

    def get(self):
        self.set_header("Cache-Control", "no-store")
        self.set_header("Content-Type", "text/plain")
        self.finish("ok\n")

    head = get


class PlainPage(RequestHandler):
    """A page without scripts, which loads nothing."""

    def show(self, status, **content):
        """Answer with the page, `static/plain-page.html`, and this status of HTTP."""
        self.set_status(status)
        self.set_header("Cache-Control", "no-store")
        style = {"style": style_sheet("plain-page"), "icon": icon("favicon")}
        page = Environment(autoescape=True).from_string(template("plain-page"))
        self.finish(page.render(nonce=secrets.token_urlsafe(16), **style, **content))


class Refusal(PlainPage):
    """Answer what is foreign, or what comes while the server is full."""

    def initialize(self, reason, status=403):
        self._why, self._status = reason, status

    def prepare(self):
        if self._status == 503:
            self.set_header("Retry-After", str(RETRY_AFTER))
        self.show(self._status, text=self._why)


class Entrance(PlainPage):
    """Ask for the token or the password.

    The form has the requested address, so that its query is kept.
    """

    def initialize(self, access, cookie):
        self._access, self._cookie = access, cookie

    def get(self):
        token = self.get_query_argument("token", None)
        if self._access.token and token is not None:
            self._try(token)
        else:
            self._ask(403)

    head = get

    def post(self):
        self._try(self.get_body_argument("word", "", strip=False))

    def _try(self, word):
        """Let the browser in, which then opens the page without the token, or ask again."""
        if not self._cookie.is_in(self.request):
            refusal = self._access.refusal(word)
            if refusal is not None:
                self._ask(*refusal)
                return
            self._cookie.give(self)
        query = parse_qsl(self.request.query, keep_blank_values=True)
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        self.redirect(f"{self.application.prefix}/" + (f"?{rest}" if rest else ""), status=303)

    def _ask(self, status, problem=None):
        text = "This explorer is protected by a password."
        if self._access.token:
            text = "Open the address that kdegraph explore has printed, or enter the token in it."
        self.show(status, text=text, label=self._access.label, problem=problem)
