"""Choices in the query of the page's address: what differs from a fresh session, in plain words."""

import json
from urllib.parse import parse_qsl, urlencode

from .snapshot import checked
from .state import AUTOMATIC, State

DATA = "data."  # before the names of the source's own parameters
MAX_SELECTED = 200  # indices; a longer selection is left out of the address


def query(session, snapshot):
    """The query that brings back a snapshot, without its question mark."""
    source = session.sources[snapshot.source]
    pairs = [] if snapshot.source == next(iter(session.sources)) else [("source", snapshot.source)]
    defaults = source.defaults()
    pairs += [
        (DATA + name, value) for name, value in source.addressed(snapshot.data).items() if value is not None and value != defaults.get(name)
    ]
    fresh = {name: State.param[name].default for name in State.KEPT}
    pairs += [(name, value) for name, value in snapshot.choices.items() if value != fresh[name] and name not in ("horizontal", "vertical")]
    pairs += [(name, snapshot.choices[name]) for name in ("horizontal", "vertical") if _unusual(session, snapshot, name)]
    if 0 < len(snapshot.selection) <= MAX_SELECTED:
        pairs.append(("selection", snapshot.selection.tolist()))
    if snapshot.view not in ("", session.state.param.view.objects[0]):
        pairs.append(("view", snapshot.view))
    return urlencode([(name, value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))) for name, value in pairs])


def _unusual(session, snapshot, name):
    """Whether an axis is not the one that data are first shown along."""
    names = session.state.param[name].objects
    return snapshot.choices[name] != names[min(("horizontal", "vertical").index(name), len(names) - 1)]


def read(session, text):
    """The snapshot that a query asks for, checked; None for an empty one.

    Raises
    ------
    ValueError
        For a name that does not exist or a value that cannot be.
    """
    values = {name: _value(value) for name, value in parse_qsl(text.removeprefix("?"), keep_blank_values=True)}
    if not values:
        return None
    source = values.pop("source", next(iter(session.sources)))
    selection, view = values.pop("selection", []), values.pop("view", "")
    data = {name.removeprefix(DATA): values.pop(name) for name in list(values) if name.startswith(DATA)}
    return checked(session, source, data, {**_automatic(values), **values}, selection, view)


def _automatic(values):
    """A value in the address is one chosen by hand."""
    return {flag: False for name, flag in AUTOMATIC.items() if name in values}


def _value(text):
    try:
        return json.loads(text)
    except ValueError:
        return text
