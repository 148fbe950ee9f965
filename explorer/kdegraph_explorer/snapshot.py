"""The choices of a session as plain values, which undo, the address of the page and session files
restore.
"""

from dataclasses import dataclass, field

import numpy as np

from .checks import check_values, quoted
from .cluster_names import check_names
from .state import AUTOMATIC, State


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The choices of a session at one moment. What was chosen automatically is left out, as it
    follows from the rest.

    Attributes
    ----------
    source : str
        Key of the source of the data.
    data : dict
        See `Source.recall`.
    choices : dict
        Parameters of the state by name, those in `State.KEPT`.
    selection : int array
    view : str
        The large view that is shown; empty when that does not matter. It is no choice that can be
        undone.
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
        """The part of the choices that decides which points there are."""
        return (self.source, self.data)


def take(session):
    """The present choices of a session."""
    state = session.state
    left_out = {name for name, flag in AUTOMATIC.items() if getattr(state, flag)}
    choices = {name: getattr(state, name) for name in State.KEPT if name not in left_out}
    return Snapshot(
        state.source, session.sources[state.source].recall(), choices, state.selection, state.view
    )


def checked(session, source, data, choices, selection=(), view=""):
    """A snapshot made of values from outside.

    Raises
    ------
    ValueError
        For a name that does not exist or a value that cannot be.
    """
    if not isinstance(source, str) or source not in session.sources:
        known = ", ".join(session.sources)
        raise ValueError(f"source must be one of {known}, got {quoted(source)}")
    check_names(choices.get("cluster_names", []))
    return Snapshot(
        source,
        session.sources[source].checked(data),
        check_values(State, choices, State.KEPT),
        _check_selection(selection),
        str(view),
    )


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
