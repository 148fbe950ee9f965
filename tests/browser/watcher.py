"""Notes all that must not happen in a page."""

from urllib.parse import urlsplit

LOCAL = {"localhost", "127.0.0.1", "[::1]", "::1"}


class Watcher:
    """Collects errors of a browser context, and refuses every request that leaves the machine.

    Parameters
    ----------
    context : playwright.sync_api.BrowserContext
    ignore : str, optional
        A console error that contains this is not ours.

    Attributes
    ----------
    problems : list of str
    """

    def __init__(self, context, ignore=None):
        self.problems = []
        self._ignore = ignore
        context.route(lambda url: not is_local(url), self._refuse)
        context.on("console", self._console)
        context.on("weberror", lambda event: self.problems.append(f"uncaught error: {event.error}"))
        context.on("response", self._response)
        context.on("page", lambda page: page.on("websocket", self._websocket))

    def _refuse(self, route):
        self.problems.append(f"external request: {route.request.url}")
        route.abort()

    def _console(self, message):
        if message.type == "error" and not (self._ignore and self._ignore in message.text):
            self.problems.append(f"console error: {message.text} ({message.location.get('url')})")

    def _response(self, response):
        if response.status >= 400:
            self.problems.append(f"status {response.status}: {response.url}")

    def _websocket(self, socket):
        if not is_local(socket.url):
            self.problems.append(f"external websocket: {socket.url}")


def is_local(url):
    """Whether a request stays on this machine."""
    parts = urlsplit(url)
    return parts.scheme in ("data", "blob", "about", "file") or parts.hostname in LOCAL
