"""Check where requests come from: the origins of a server.

A browser sends the name that it asked for with every request (``Host``) and, with connections that
scripts open, the page that they run on (``Origin``). A website that lets its own name point to this
machine, which is known as DNS rebinding, sends its name in both.
"""

import ipaddress
import re
from typing import NamedTuple

LOOPBACK = ("localhost", "127.0.0.1", "::1")
USUAL_PORTS = {"http": {80}, "https": {443}, "": {80, 443}}
WRITTEN = re.compile(
    r"((?P<scheme>https?)://)?(?P<host>[a-z0-9._-]+|\[[0-9a-f:.]+\])(:(?P<port>\d{1,5}))?",
    re.ASCII | re.IGNORECASE,
)


class Origin(NamedTuple):
    """An origin, or the part of one that is known."""

    scheme: str  # "http", "https", or "" for either
    host: str  # a name in lower case or an IP address, without brackets
    port: int | None  # None is the usual port of the scheme, which browsers do not write

    def __str__(self):
        scheme = f"{self.scheme}://" if self.scheme else ""
        port = "" if self.port is None else f":{self.port}"
        return f"{scheme}{in_address(self.host)}{port}"


def in_address(host):
    """Return a name or an IP address as addresses of pages have it."""
    return f"[{host}]" if ":" in host else host


def read_origin(text):
    """Read an origin from the command line or from a header.

    It is HOST, HOST:PORT, or both behind http:// or https://. A ValueError says if it is anything
    else.
    """
    written = WRITTEN.fullmatch(text)
    host = written and _host(written["host"].lower())
    if not host:
        raise ValueError(
            f"--allow-origin: {text!r} is not an origin; write HOST, HOST:PORT or a full origin "
            "such as https://example.org, without a path and without *"
        )
    scheme, port = (written["scheme"] or "").lower(), written["port"] and int(written["port"])
    if port is not None and not 0 < port < 2**16:
        raise ValueError(f"--allow-origin: the port of {text!r} is not between 1 and {2**16 - 1}")
    return Origin(scheme, host, None if port in USUAL_PORTS[scheme] else port)


def _host(text):
    """Return a host without brackets, and an address in its usual form; None if it is none."""
    if not text.startswith("["):
        return text
    try:
        return str(ipaddress.IPv6Address(text[1:-1]))
    except ValueError:
        return None


class Origins:
    """The origins that a server answers to: loopback names and those that it is given.

    An origin in `named` with neither scheme nor port stands for the usual ports and for that of the
    server, `port`, if known. Users name origins with the option `option`.
    """

    def __init__(self, named=(), port=None, option="--allow-origin"):
        self._option = option
        self._listed = set(named)
        if port is not None:
            bare = {host for scheme, host, given in self._listed if not scheme and given is None}
            self._listed |= {Origin("", host, port) for host in {*LOOPBACK, *bare}}

    def refusal(self, host, origin=None, reached=None):
        """Return why a request must not be answered, as a sentence, or None if it may be.

        `host` and `origin` are the headers of these names. `reached` is the IP address of this
        machine that the request has reached: a browser that asked for an address, and not for a
        name, was not led here by a website.
        """
        asked, page = _read(host), _read(origin or "")
        # A tunnel to this machine may have any port, so only its name counts.
        own = asked is not None and (asked.host in LOOPBACK or asked.host == reached)
        if not own and not self._lists(asked, any_scheme=True):
            return (
                f"This server does not answer to the name {host!r}. If it is the right name, "
                f"start the server with {self._option} {asked or 'HOST'}."
            )
        same = own and page is not None and page[1:] == asked[1:]
        if origin is None or same or self._lists(page):
            return None
        return (
            f"This server does not answer to pages of {origin!r}. If they may read what it shows, "
            f"start the server with {self._option} {page or 'ORIGIN'}."
        )

    def _lists(self, origin, any_scheme=False):
        """Return whether an origin is one of those that are listed."""
        return origin is not None and any(
            origin[1:] == listed[1:] and (any_scheme or listed.scheme in ("", origin.scheme))
            for listed in self._listed
        )


def _read(text):
    """Read a header; None if it names no origin."""
    try:
        return read_origin(text)
    except ValueError:
        return None
