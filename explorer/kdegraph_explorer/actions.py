"""What keys and buttons do to a session, under the names that `shortcuts.SHORTCUTS` gives."""

import numpy as np

ZOOM = 1.4  # factor of one step
STEP = 0.15  # of the window, for one step to a side


class Actions:
    """Actions of an explorer that need no mouse.

    Parameters
    ----------
    state : State
    views : Views
    focus : callable
        ``focus(name)`` moves the keyboard to the control of a parameter.
    """

    def __init__(self, state, views, focus):
        self._state, self._views, self._focus = state, views, focus

    def by_name(self):
        """Every action by its name."""
        state = self._state
        named = {
            f"focus {name}": lambda name=name: self._focus(name)
            for name in ("source", "n_rounds", "n_neighbors", "n_clusters")
        }
        moved = {"left": (-STEP, 0), "right": (STEP, 0), "up": (0, STEP), "down": (0, -STEP)}
        return {
            **named,
            "focus sigma": lambda: self._focus("perplexity" if state.is_local else "sigma"),
            **{
                f"move {where}": lambda way=way: self._frame("move", *way)
                for where, way in moved.items()
            },
            **{
                f"drag {what}": lambda what=what: state.param.update(drag=what)
                for what in state.param.drag.objects
            },
            "zoom in": lambda: self._frame("zoom", 1 / ZOOM),
            "zoom out": lambda: self._frame("zoom", ZOOM),
            "zoom reset": lambda: self._frame("fit_all"),
            "next view": self._next_view,
            "edges": lambda: state.param.update(show_edges=not state.show_edges),
            "tables": lambda: state.param.update(tables=not state.tables),
            "next cluster": self._next_cluster,
            "next point": lambda: self._next_point(1),
            "previous point": lambda: self._next_point(-1),
            "select nothing": lambda: self._select([]),
        }

    def _frame(self, method, *args):
        frame = self._views[self._state.view].frame
        if frame is not None:
            getattr(frame, method)(*args)

    def _next_view(self):
        keys = self._state.param.view.objects
        self._state.view = keys[(keys.index(self._state.view) + 1) % len(keys)]

    def _select(self, indices):
        self._state.selection = np.asarray(indices, dtype=np.intp)

    def _next_cluster(self):
        outcome, selection = self._state.outcome("kde"), self._state.selection
        if outcome is None:
            return
        present = np.unique(outcome.colors)
        at = (
            int(np.searchsorted(present, outcome.colors[selection[0]])) + 1 if len(selection) else 0
        )
        self._select(np.flatnonzero(outcome.colors == present[at % len(present)]))

    def _next_point(self, way):
        if self._state.shown is not None:
            selection, n = self._state.selection, self._state.shown.n_points
            self._select([(int(selection[0]) + way) % n if len(selection) else 0])
