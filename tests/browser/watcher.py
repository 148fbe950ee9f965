"""Collect errors and external requests of a page."""

from urllib.parse import urlsplit

LOCAL = {"localhost", "127.0.0.1", "[::1]", "::1"}


class Watcher:
    """Collects errors of a browser context, and refuses every request that leaves the machine.

    Parameters
    ----------
    context : playwright.sync_api.BrowserContext
    ignore : sequence of str
        Errors that contain one of these are not ours.

    Attributes
    ----------
    problems : list of str
    """

    def __init__(self, context, ignore=()):
        self.problems = []
        self._ignore = ignore
        context.route(lambda url: not is_local(url), self._refuse)
        context.on("console", self._console)
        context.on("weberror", self._uncaught)
        context.on("response", self._response)
        context.on("page", lambda page: page.on("websocket", self._websocket))

    def _refuse(self, route):
        self.problems.append(f"external request: {route.request.url}")
        route.abort()

    def _console(self, message):
        if message.type == "error" and self._is_ours(message.text):
            self.problems.append(f"console error: {message.text} ({message.location.get('url')})")

    def _uncaught(self, event):
        if self._is_ours(str(event.error)):
            self.problems.append(f"uncaught error: {event.error}")

    def _is_ours(self, text):
        return not any(words in text for words in self._ignore)

    def _response(self, response):
        problem = f"status {response.status}: {response.url}"
        if response.status >= 400 and self._is_ours(problem):
            self.problems.append(problem)

    def _websocket(self, socket):
        if not is_local(socket.url):
            self.problems.append(f"external websocket: {socket.url}")


def is_local(url):
    """Return whether a request stays on this machine."""
    parts = urlsplit(url)
    return (
        parts.scheme in ("data", "blob", "about", "file")
        or parts.hostname in LOCAL
        or (parts.hostname or "").endswith(".localhost")
    )
