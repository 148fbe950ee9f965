"""Read and write session files: JSON with all choices, and with data that cannot be generated."""

import json

from ..checks import quoted
from ..history import Snapshot, checked, take
from ..uploads import PART_BYTES

FORMAT = "kdegraph explorer session"
VERSION = 1
SESSION_ADVICE = "choose a file that Export > Session file has written"
# As Python objects, small values take up to 30 times the memory that they take in a file, so they
# are counted before.
MAX_SESSION_BYTES = 256 * 2**20  # of a file, nearly all of them those of a data file
MAX_PARTS = 100_000  # lists and objects; brackets in names are counted, too
MAX_SAVED_SELECTION = 5_000_000  # points; a longer selection is omitted
ENCODED = b'"content": "'  # before the content of the data file, as `write` writes it


def write(session):
    """Write the session as the bytes of a file."""
    now, (source, data) = take(session), session.origin
    key, portable = source.portable(data, session.state.shown)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "source": key,
        "data": portable,
        "choices": now.choices,
        "selection": now.selection.tolist() if len(now.selection) <= MAX_SAVED_SELECTION else [],
        "view": now.view,
    }
    return json.dumps(content, indent=1).encode()


def is_session(file):
    """Return whether a `StoredFile` begins as `write` begins a session file."""
    return f'"format": "{FORMAT}"'.encode() in file.read(len(FORMAT) + 40)


def read(session, content) -> Snapshot:
    """Return the choices in the bytes of a file, checked; the session is not changed.

    A large file takes a while: call this in a worker thread. A ValueError says what is wrong with
    the file.
    """
    if len(content) > MAX_SESSION_BYTES:
        raise ValueError(
            f"the session file is too large: {len(content):,} bytes, "
            f"the limit is {MAX_SESSION_BYTES:,}"
        )
    for signs, limit, what in (
        ((b"[", b"{"), MAX_PARTS, "lists and objects"),
        ((b",",), 6_000_000, "values"),  # nearly all of them selected points
    ):
        if (found := sum(_count(content, sign) for sign in signs)) > limit:
            limited = f"{found:,} {what}, the limit is {limit:,}"
            raise ValueError(f"the file is not a session: it has {limited}; {SESSION_ADVICE}")
    text, encoded = _split(content)
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"the file is not a session: it is not JSON; {SESSION_ADVICE}") from None
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise ValueError(f"the file is not a session of the explorer; {SESSION_ADVICE}")
    if values.get("version") != VERSION:
        found = quoted(values.get("version"))
        raise ValueError(
            f"the session file is of version {found}; this explorer reads version {VERSION}"
        )
    for name, kind in (("source", str), ("data", dict), ("choices", dict), ("selection", list)):
        if not isinstance(values.get(name), kind):
            raise ValueError(f"the session file is damaged: {name} is {quoted(values.get(name))}")
    if values["source"] not in session.sources:
        found, known = quoted(values["source"]), ", ".join(session.sources)
        raise ValueError(f"the session file names the source {found}, which is not one of {known}")
    data = values["data"]
    if encoded is not None and isinstance(data.get("file"), dict):
        data["file"]["content"] = encoded
    data = session.sources[values["source"]].unpack(data)
    choices, selection, view = values["choices"], values["selection"], values.get("view", "")
    return checked(session, values["source"], data, choices, selection, view)


def _count(content, sign):
    """Return how often one byte occurs; other threads run between two parts of the content."""
    starts = range(0, len(content), PART_BYTES)
    return sum(content.count(sign, start, start + PART_BYTES) for start in starts)


def _split(content):
    """Cut the content of the data file, which is encoded in base64, out of a session file.

    Return the session file with an empty content of the data file, and that content, or None if
    there is none. All other threads wait while `json.loads` goes through its argument.
    """
    start = content.find(ENCODED)
    if start < 0:
        return content, None
    start += len(ENCODED)
    stop = content.find(b'"', start)
    return content[:start] + content[stop:], content[start:stop]
