"""A client that sends what no browser would, to a server that is attacked."""

import asyncio
import base64
import http.client
import json
import re
import ssl
import time
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from explorer_actions import PATIENCE
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect


class Answer(NamedTuple):
    """What a server has answered."""

    status: int
    headers: http.client.HTTPMessage
    text: str

    def token(self):
        """The token of Bokeh in the page, with which it opens its websocket."""
        return re.search(r'"token":"([^"]+)"', self.text).group(1)


class Client:
    """Sends requests to a server.

    Parameters
    ----------
    address : str
        Of the page, as the server has printed it.
    machine : str, optional
        Where to connect, if that is not the host in the address.

    Attributes
    ----------
    host : str
        What browsers send as `Host`.
    cookie : str or None
        What is sent as `Cookie`, unless another one is given.
    """

    def __init__(self, address, machine=None):
        parts = urlsplit(address)
        self.host, self.port = parts.netloc, parts.port
        self.path, self.query = parts.path, parts.query
        self.cookie, self._machine = None, machine or parts.hostname
        self._secure = parts.scheme == "https"

    def send(self, path=None, query="", method="GET", body=None, **headers):
        """Send a request; names of headers have _ in place of -."""
        sent = {"Host": self.host, "Cookie": self.cookie}
        if body is not None:
            sent["Content_Type"] = "application/x-www-form-urlencoded"
            sent["Content_Length"] = str(len(body))
        sent |= headers
        place = {"host": self._machine, "port": self.port, "timeout": PATIENCE}
        if self._secure:  # with a certificate that nobody has signed
            context = ssl._create_unverified_context()
            connection = http.client.HTTPSConnection(context=context, **place)
        else:
            connection = http.client.HTTPConnection(**place)
        try:
            target = (self.path if path is None else path) + (f"?{query}" if query else "")
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name.replace("_", "-"), value)
            connection.endheaders(body and body.encode())
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read().decode(errors="replace"))
        finally:
            connection.close()

    def enter(self, password=None):
        """Open the address as a browser does, with the password; keeps the cookie."""
        if password is None:
            answer = self.send(query=self.query)
        else:
            answer = self.send(method="POST", body=urlencode({"word": password}))
        if answer.status == 303:
            self.cookie = answer.headers["Set-Cookie"].partition(";")[0]
            answer = self.send(path=answer.headers["Location"])
        return answer

    def connects(self, token, **headers):
        """Whether a websocket with a token is let in."""
        return asyncio.run(self._talk(token, headers, pull=False)) is not None

    def document(self, token, **headers):
        """The document that a websocket gets with a token, as JSON; None if it is not let in."""
        return asyncio.run(self._talk(token, headers, pull=True))

    async def _talk(self, token, headers, pull):
        sent = {"Host": self.host, "Cookie": self.cookie, **headers}
        request = HTTPRequest(
            f"ws{'s' * self._secure}://{self._machine}:{self.port}{self.path.rstrip('/')}/ws",
            headers={name: value for name, value in sent.items() if value is not None},
            validate_cert=False,
        )
        try:
            socket = await websocket_connect(request, subprotocols=["bokeh", token])
        except HTTPClientError:
            return None
        found = await next_message(socket, "ACK")
        if found is not None and pull:
            for part in ('{"msgid": "1", "msgtype": "PULL-DOC-REQ"}', "{}", "{}"):
                await socket.write_message(part)
            found = await next_message(socket, "PULL-DOC-REPLY")
        socket.close()
        if found is not None:
            while await socket.read_message() is not None:
                pass
        return found


async def next_message(socket, kind):
    """Wait for a message of Bokeh of some kind; return its content, or None if there is no more."""
    header = ""
    while f'"{kind}"' not in str(header):
        header = await asyncio.wait_for(socket.read_message(), PATIENCE)
        if header is None:
            return None
    await socket.read_message()  # metadata
    return await socket.read_message()


def hand_made(session, signature=None, **payload):
    """A token of Bokeh for a session, made without the secret of its server."""
    content = {"session_id": session, "session_expiry": int(time.time()) + 300, **payload}
    token = base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")
    return token if signature is None else f"{token}.{signature}"
