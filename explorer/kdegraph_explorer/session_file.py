"""Session files: JSON with all choices, and with the data where nobody else has them."""

import json

from .snapshot import Snapshot, checked, take

FORMAT = "kdegraph explorer session"
VERSION = 1
MAX_BYTES = 256 * 2**20
EXTENSION = ".json"


def write(session):
    """The session as the bytes of a file."""
    now, (source, data) = take(session), session.origin
    key, portable = source.portable(data, session.state.shown)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "source": key,
        "data": portable,
        "choices": now.choices,
        "selection": now.selection.tolist(),
        "view": now.view,
    }
    return json.dumps(content, indent=1).encode()


def read(session, content) -> Snapshot:
    """The choices in the bytes of a file, checked.

    Raises
    ------
    ValueError
        With what is wrong with the file.
    """
    if len(content) > MAX_BYTES:
        raise ValueError(f"the session file is too large: {len(content):,} bytes, the limit is {MAX_BYTES:,}")
    try:
        values = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError("the file is no session: it is not JSON; choose a file that Export > Session file has written") from None
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise ValueError("the file is no session of the explorer; choose one that Export > Session file has written")
    if values.get("version") != VERSION:
        raise ValueError(f"the session file is of version {values.get('version')!r}; this explorer reads version {VERSION}")
    for name, kind in (("source", str), ("data", dict), ("choices", dict), ("selection", list)):
        if not isinstance(values.get(name), kind):
            raise ValueError(f"the session file is damaged: {name} is {values.get(name)!r:.80}")
    if values["source"] not in session.sources:
        raise ValueError(f"the session file names the source {values['source']!r}, which is not one of {', '.join(session.sources)}")
    data = session.sources[values["source"]].unpack(values["data"])
    return checked(session, values["source"], data, values["choices"], values["selection"], values.get("view", ""))
