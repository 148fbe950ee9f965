"""The choices that differ from a fresh session, in the query of the page's address."""

import json
import re
from urllib.parse import parse_qsl, urlencode

from .cluster_names import abridged
from .index_ranges import count
from .snapshot import checked
from .state import AUTOMATIC, State

DATA = "data."  # before the names of the source's own parameters
PART = DATA + "part"
MAX_ADDRESSED_SELECTION = 200  # indices; of a longer selection, an address says the size
MAX_ADDRESSED_PART = 1500  # characters
SIZE = re.compile(r"[0-9,]+ points")


def query(session, snapshot):
    """The query that restores a snapshot, without the question mark."""
    source = session.sources[snapshot.source]
    usual = snapshot.source == session.first == next(iter(session.sources))
    pairs = [] if usual else [("source", snapshot.source)]
    defaults = source.defaults()
    pairs += [
        (DATA + name, value)
        for name, value in _short(source.addressed(snapshot.data)).items()
        if value is not None and value != defaults.get(name)
    ]
    fresh = _fresh()
    choices = {"cluster_names": [], **snapshot.choices}
    choices["cluster_names"] = abridged(choices["cluster_names"])
    pairs += [
        (name, value) for name, value in choices.items() if name in fresh and value != fresh[name]
    ]
    pairs += [
        (name, snapshot.choices[name])
        for name in ("horizontal", "vertical")
        if _unusual(session, snapshot, name)
    ]
    if n_selected := len(snapshot.selection):
        short = n_selected <= MAX_ADDRESSED_SELECTION
        pairs.append(
            ("selection", snapshot.selection.tolist() if short else f"{n_selected:,} points")
        )
    if snapshot.view not in ("", session.state.param.view.objects[0]):
        pairs.append(("view", snapshot.view))
    return urlencode(
        [
            (name, value if isinstance(value, str) else json.dumps(value, separators=(",", ":")))
            for name, value in pairs
        ]
    )


def _short(data):
    """The parameters of a source, with the size of a part of the points that is too long."""
    if len(data["part"]) <= MAX_ADDRESSED_PART:
        return data
    return {**data, "part": f"{count(data['part']):,} points"}


def _unusual(session, snapshot, name):
    """Whether an axis differs from the one along which these data are shown first."""
    names = session.state.param[name].objects
    return (
        name in snapshot.choices
        and snapshot.choices[name]
        != names[min(("horizontal", "vertical").index(name), len(names) - 1)]
    )


def read(session, text):
    """The snapshot that a query asks for, checked; None for an empty one. Without a source it means
    the one that the session begins with.

    Raises
    ------
    ValueError
        For a name that does not exist or a value that cannot be.
    """
    values = _values(text)
    if not values:
        return None
    source = values.pop("source", session.first)
    values = {name: values[name] for name in values if not _is_size(values[name])}
    selection, view = values.pop("selection", []), values.pop("view", "")
    data = {
        name.removeprefix(DATA): values.pop(name) for name in list(values) if name.startswith(DATA)
    }
    if "part" in data:
        data["part"] = str(data["part"])  # a single point has been read as a number
    choices = {
        **_fresh(),
        **{flag: False for name, flag in AUTOMATIC.items() if name in values},
        **values,
    }
    left_out = {name for name, flag in AUTOMATIC.items() if choices[flag] is True}
    return checked(
        session,
        source,
        data,
        {name: choices[name] for name in choices if name not in left_out},
        selection,
        view,
    )


def left_out(text):
    """A sentence about what a query names without containing it; empty if there is nothing."""
    values = _values(text)
    if _is_size(part := values.get(PART)):
        return (
            f"The part of {part} could not be restored, and all points are shown: an address holds "
            "only small parts. A session file holds any part."
        )
    if not _is_size(selection := values.get("selection")):
        return ""
    return (
        f"The selection of {selection} could not be restored: an address holds up to "
        f"{MAX_ADDRESSED_SELECTION}. A session file holds any selection."
    )


def _values(text):
    """What stands in a query, by name."""
    pairs = parse_qsl(text.removeprefix("?"), keep_blank_values=True)
    return {name: _value(value) for name, value in pairs}


def _is_size(value):
    """Whether an address has the size of a set of points in place of its points."""
    return isinstance(value, str) and SIZE.fullmatch(value) is not None


def _fresh():
    """The choices of a fresh session, without the axes, which follow from the data."""
    return {
        name: State.param[name].default
        for name in State.KEPT
        if name not in ("horizontal", "vertical")
    }


def _value(text):
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
