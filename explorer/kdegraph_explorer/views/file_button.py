"""A button, and a place to drop a file on, for files from the user's disk."""

import param
from kdegraph.datasets import MAX_BYTES
from panel.custom import JSComponent

from ..assets import icon, script, style_sheet
from ..uploads import IncomingFile


class FileButton(JSComponent):
    """A button that opens the browser's file dialog; a file can also be dropped on it.

    Files of all types are accepted: Python knows which ones it can read, and says so. The size is
    checked when the browser announces it, and no more than that is accepted.

    Parameters
    ----------
    receive : callable
        ``receive(incoming)`` starts to receive an `IncomingFile`, such as `Session.receive`.
    take : callable
        ``take(stored)`` is called with the `StoredFile`.
    refuse : callable
        ``refuse(error)`` is called with a ValueError that says why a file was refused.
    limit : int
        Largest size of a file in bytes.
    """

    label = param.String(doc="The words on the button.")
    description = param.String(doc="A sentence that is shown when the mouse is over the button.")
    icon = param.String(default=icon("upload"))

    _esm = script("file-button")

    def __init__(self, receive, take, refuse, limit=MAX_BYTES, **params):
        self._receive, self._take, self._refuse, self._limit = receive, take, refuse, limit
        self._key, self._incoming = None, None
        super().__init__(stylesheets=[style_sheet("file-button")], **params)

    def _handle_msg(self, message):
        key, size = message.get("file"), message.get("size")
        if isinstance(message.get("name"), str) and isinstance(size, int):
            self._key = key
            self._offer(message["name"], size)
        elif self._incoming is None or key != self._key:
            return  # A newer file was chosen.
        elif "failed" in message:
            self._incoming.fail("the browser cannot read it")
        elif isinstance(message.get("data"), bytes):
            self._incoming.put(message.get("start"), message["data"])

    def _offer(self, name, size):
        if size <= 0:
            self._refuse(ValueError("the file is empty: it has no bytes; choose one with data"))
        elif size > self._limit:
            found = f"it has {size:,} bytes, and the limit is {self._limit:,} bytes"
            self._refuse(ValueError(f"the file is too large: {found}; choose a smaller one"))
        else:
            self._incoming = IncomingFile(
                name, size, ask=self._ask, take=self._take, refuse=self._refuse
            )
            self._receive(self._incoming)

    def _ask(self, start, stop):
        self._send_msg({"file": self._key, "start": start, "stop": stop})
