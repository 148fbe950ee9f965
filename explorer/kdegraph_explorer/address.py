"""Write the choices into the address of the page, and read them from it."""

import json
import re
from dataclasses import replace
from urllib.parse import parse_qs, parse_qsl, urlencode
from uuid import uuid4

from .checks import count
from .choices import AUTOMATIC
from .cluster_names import abridged
from .history import checked
from .limits import limits
from .results import DECIDED
from .sources import SOURCES
from .sources.generators import Generators
from .state import State

DATA = "data."  # before the names of the source's own parameters
MAX_ADDRESSED_SELECTION = 200  # indices; an address has only the size of a longer selection
MAX_ADDRESSED_PART = 1500  # characters, also of all edits by hand
SIZE = re.compile(r"[0-9,]+ (points|edits)")
NOT_HELD = {  # of what an address has the size alone, and what is said of that
    DATA + "part": "The part of {} could not be restored, and all points are shown: an address "
    "holds only small parts. A session file holds any part.",
    "edits": "Clusters that were merged or split by hand could not be restored: an address holds "
    "only few points. A session file holds any.",
    "selection": "The selection of {} could not be restored: an address holds up to "
    f"{MAX_ADDRESSED_SELECTION}. A session file holds any selection.",
}
# The query of a page without one: points whose clusters the k-NN graph misses.
FIRST_PAGE = "data.shape=clumps&view=start"


def query(session, snapshot):
    """Write the query that restores a snapshot, without the question mark."""
    source = session.sources[snapshot.source]
    usual = snapshot.source == session.first == next(iter(session.sources))
    pairs = [] if usual else [("source", snapshot.source)]
    defaults = source.defaults()
    pairs += [
        (DATA + name, value)
        for name, value in _short(source.addressed(snapshot.data)).items()
        if value is not None and value != defaults.get(name)
    ]
    fresh = _fresh(snapshot.source, snapshot.data["part"])
    choices = {"cluster_names": [], **snapshot.choices}
    choices["cluster_names"] = abridged(choices["cluster_names"])
    edits = choices.get("edits", [])
    if sum(len(text) for edit in edits for text in edit) > MAX_ADDRESSED_PART:
        choices["edits"] = f"{len(edits)} edits"
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
        words = snapshot.selection.tolist() if short else f"{n_selected:,} points"
        pairs.append(("selection", words))
    if snapshot.view not in ("", session.state.param.view.objects[0]):
        pairs.append(("view", snapshot.view))
    return urlencode(
        [
            (name, value if isinstance(value, str) else json.dumps(value, separators=(",", ":")))
            for name, value in pairs
        ]
    )


def _short(data):
    """Replace a part of the points that is too long by its size."""
    if len(data["part"]) <= MAX_ADDRESSED_PART:
        return data
    return {**data, "part": f"{count(data['part']):,} points"}


def _unusual(session, snapshot, name):
    """Return whether an axis differs from the one along which these data are shown first."""
    names = session.state.param[name].objects
    first = names[min(("horizontal", "vertical").index(name), len(names) - 1)]
    return snapshot.choices.get(name, first) != first


def read(session, text):
    """Read the snapshot in a query, checked; None for an empty query.

    Without a source, it is the one that the session begins with. A ValueError says which name does
    not exist or which value is not valid.
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
        **_fresh(source, data.get("part")),
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
    """Explain in a sentence what a query names without containing it; empty if nothing."""
    values = _values(text)
    for name, sentence in NOT_HELD.items():
        if _is_size(size := values.get(name)):
            return sentence.format(size)
    return ""


def _values(text):
    """Return the values in a query, by name."""
    pairs = parse_qsl(text.removeprefix("?"), keep_blank_values=True)
    return {name: _value(value) for name, value in pairs}


def _is_size(value):
    """Return whether an address has the size of a set of points instead of the points."""
    return isinstance(value, str) and SIZE.fullmatch(value) is not None


def _fresh(source, part):
    """Return the choices that an address need not name, without the axes, which follow from the
    data.

    They are those of a fresh session. But an address without a kind of bandwidth means one sigma,
    as it did when there was no other, unless the points have a sigma of their own.
    """
    fresh = {
        name: State.param[name].default
        for name in State.KEPT
        if name not in ("horizontal", "vertical")
    }
    own = source == Generators.key and not part
    return {**fresh, "bandwidth": DECIDED if own else "one"}


def _value(text):
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def first_view(session, text):
    """Return the key of the view that a page with this query begins with, or ""."""
    return parse_qs(wanted(session, text)).get("view", [""])[0]


def is_first_page(session, text):
    """Return whether a page with this query begins with the points and the view of `FIRST_PAGE`."""
    own, limit = session.first == SOURCES[0].key, limits().points
    fits = limit is None or limit >= Generators.param.n.default  # else they are refused
    return own and fits and wanted(session, text) == FIRST_PAGE


def wanted(session, text):
    """Return the query, or that of the first page if it is empty and the session has no data."""
    text = text.removeprefix("?")
    return text if text or session.first != SOURCES[0].key else FIRST_PAGE


class AddressBar:
    """Start a session with the choices in the address, and write later choices into the address.

    Each step that can be undone has an entry in the browser's history, so that Back and Forward
    move between the steps.
    """

    def __init__(self, session, browser):
        self._session, self._browser = session, browser

    def begin(self, text):
        """Start with the choices in the query of the address; see `wanted`."""
        session = self._session
        snapshot = self._read(wanted(session, text))
        if snapshot is None:
            session.start()
        else:
            session.restore(snapshot)
        session.history.forget(snapshot)
        self._browser.visit = uuid4().hex
        self._browser.on_return = self._return
        session.history.param.watch(lambda event: self._write(), "current")
        session.state.param.watch(lambda event: self._write(), "view")
        self._write()

    def _read(self, text):
        """Read a snapshot from a query; tell the user if it cannot be restored, and return None."""
        try:
            snapshot, notice = read(self._session, text), left_out(text)
        except ValueError as error:
            snapshot = None
            notice = f"What the address of the page asks for cannot be restored: {error}"
        if notice:
            self._session.state.notice = notice
        return snapshot

    def _write(self):
        history = self._session.history
        snapshot = replace(history.current, view=self._session.state.view)
        # An empty query would mean the first page.
        text = query(self._session, snapshot) or f"source={snapshot.source}"
        self._browser.param.update(query=text, step=history.position)

    def _return(self, step, text):
        """Go back or forward, as the user did in the browser's history.

        The entry is a step of this visit of the page, or, with None, one of an earlier visit, of
        which only the address is known.
        """
        history = self._session.history
        if step is not None:
            history.go_to(step)
        elif (snapshot := self._read(text)) is not None:
            history.go_on(snapshot)
