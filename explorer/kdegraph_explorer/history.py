"""Record the choices of a session as plain values, and undo and redo them."""

import time
from dataclasses import dataclass, field, replace

import numpy as np
import param

from .checks import check_values, quoted
from .choices import AUTOMATIC
from .cluster_names import check_names
from .edits import check_edits
from .state import State

MAX_STEPS = 200  # snapshots; they refer to data, they do not copy them


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The choices of a session at one moment, without those that were made automatically.

    `source` is a key, and `data` what `Source.recall` returns; `choices` are parameters of the
    state by name, those in `State.KEPT`. `view` is the large view that is shown, which cannot be
    undone; it is empty if it does not matter.
    """

    source: str
    data: dict
    choices: dict
    selection: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    view: str = ""

    def __eq__(self, other):
        same = (self.source, self.data, self.choices) == (other.source, other.data, other.choices)
        return same and np.array_equal(self.selection, other.selection)

    @property
    def only_data(self):
        """Return the choices that decide which points there are."""
        return (self.source, self.data)


def take(session):
    """Take a snapshot of the present choices of a session."""
    state = session.state
    left_out = {name for name, flag in AUTOMATIC.items() if getattr(state, flag)}
    left_out |= {"sigma", "perplexity"} if state.decides else set()
    choices = {name: getattr(state, name) for name in State.KEPT if name not in left_out}
    return Snapshot(
        state.source, session.sources[state.source].recall(), choices, state.selection, state.view
    )


def checked(session, source, data, choices, selection=(), view=""):
    """Make a snapshot of values from outside; a ValueError says which name or value is invalid."""
    if not isinstance(source, str) or source not in session.sources:
        known = ", ".join(session.sources)
        raise ValueError(f"source must be one of {known}, got {quoted(source)}")
    check_names(choices.get("cluster_names", []))
    check_edits(choices.get("edits", []))
    data = session.sources[source].checked(data)
    choices = check_values(State, choices, State.KEPT)
    return Snapshot(source, data, choices, _check_selection(selection), str(view))


def _check_selection(selection):
    try:
        indices = np.asarray(selection)
    except ValueError:  # lists of different lengths
        indices = np.asarray(None)
    if indices.size == 0:
        return np.empty(0, dtype=np.intp)
    if indices.ndim != 1 or indices.dtype.kind != "i" or indices.min() < 0:
        raise ValueError("selection must be a list of the indices of points, whole numbers from 0")
    return np.unique(indices).astype(np.intp)


class History(param.Parameterized):
    """Remember the choices of a session, and move back and forth between them.

    What is dragged counts as one step: changes of one kind that follow each other within `pause`
    seconds are undone together. What the session changes by itself, such as the axes for other
    data, belongs to the step before.
    """

    can_undo = param.Boolean(doc="Whether there is something to undo.")
    can_redo = param.Boolean(doc="Whether there is something to redo.")
    current = param.Parameter(doc="The `Snapshot` of the present choices.")

    def __init__(self, session, pause=0.8):
        super().__init__()
        self._session, self._pause = session, pause
        self._last = (None, 0.0)  # what was changed last, and when
        self._dropped = 0  # steps that are no longer remembered
        self.forget()
        session.state.param.watch(self._note, ["source", "selection", "shown", *State.KEPT])
        for source in session.sources.values():
            source.param.watch(self._note, list(source.kept))

    def undo(self):
        """Undo the last step."""
        self._go(-1)

    def redo(self):
        """Redo the step that was undone last."""
        self._go(1)

    @property
    def position(self):
        """Return the number of the present step, which stays when older steps are dropped."""
        return self._dropped + self._at

    def go_to(self, position):
        """Go to the step of this number, or to the nearest one that is left."""
        at = min(max(position - self._dropped, 0), len(self._steps) - 1)
        self._go(at - self._at)

    def return_to(self, data):
        """Go back to the newest step with these data, or else forward to the first one, as after
        undo; return whether that is another step than the present one.
        """
        ways = [i - self._at for i, step in enumerate(self._steps) if step.only_data == data]
        back = [way for way in ways if way <= 0]
        way = max(back) if back else min(ways, default=0)
        self._go(way)
        return way != 0

    def choices_of(self, data):
        """Return the newest choices for these data, or None; see `Snapshot.only_data`."""
        known = [step.choices for step in self._steps[: self._at] if step.only_data == data]
        return known[-1] if known else None

    def go_on(self, snapshot):
        """Restore a snapshot from elsewhere, as a step that can be undone."""
        self._steps[self._at + 1 :] = [snapshot]
        self._drop()
        self._at = len(self._steps) - 1
        self.end_step()
        self._session.restore(snapshot)
        self._tell()

    def end_step(self):
        """Make the next change a step of its own, however soon it comes."""
        self._last = (None, 0.0)

    def _go(self, way):
        if way and 0 <= self._at + way < len(self._steps):
            self._at += way
            self.end_step()
            self._session.restore(replace(self._steps[self._at], view=""))
            self._tell()

    def _note(self, *events):
        if self._session.restoring:
            return
        now = take(self._session)
        if now == self._steps[self._at]:
            return
        # Moving a slider also unticks its box, and may decide on the kind of the bandwidth.
        names = {flag: name for name, flag in AUTOMATIC.items()}
        kind = {(type(event.obj), names.get(event.name, event.name)) for event in events}
        if len(kind) > 1:
            kind.discard((State, "bandwidth"))
        moment = time.monotonic()
        by_itself = self._session.settling or (State, "shown") in kind
        if by_itself or (
            kind == self._last[0] and moment - self._last[1] < self._pause and self._at > 0
        ):
            self._steps[self._at] = now
        else:
            self._steps[self._at + 1 :] = [now]
            self._drop()
            self._at = len(self._steps) - 1
        if not by_itself:
            self._last = (kind, moment)
        self._tell()

    def _drop(self):
        """Forget the oldest steps beyond `MAX_STEPS`."""
        excess = max(0, len(self._steps) - MAX_STEPS)
        self._dropped += excess
        del self._steps[:excess]

    def _tell(self):
        self.param.update(
            can_undo=self._at > 0,
            can_redo=self._at < len(self._steps) - 1,
            current=self._steps[self._at],
        )

    def arrive(self):
        """Replace the present step by the present choices.

        Call it after a snapshot was restored: choices that it left open are decided then.
        """
        self._steps[self._at] = take(self._session)
        self._tell()

    def forget(self, snapshot=None):
        """Begin anew, with the present choices or with a snapshot that is about to be restored."""
        self._steps, self._at = [take(self._session) if snapshot is None else snapshot], 0
        self._tell()
