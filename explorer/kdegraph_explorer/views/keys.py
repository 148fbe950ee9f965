"""Define the keys, what they do, and the help that lists them."""

from functools import partial
from typing import NamedTuple

import numpy as np

from .markup import Markup

ZOOM = 1.4  # factor of one step
STEP = 0.15  # of the window, for one step to a side
READING = (
    (
        "The question",
        "Which points belong together? Both graphs join similar points. Cutting them where few "
        "edges cross gives the clusters.",
    ),
    (
        "KDE graph",
        "Every point draws L neighbors, with a probability that is proportional to a Gaussian "
        "kernel of width σ, so near ones are more likely. On average, it is the graph in which "
        "every two points are joined.",
    ),
    (
        "k-NN graph",
        "Every point is joined to its k nearest neighbors. This is the usual alternative, for "
        "comparison.",
    ),
    (
        "Eigenvalues",
        "There are as many eigenvalues near 0 as there are clusters, and then a gap: the next one "
        "is many times larger. Their axis is logarithmic, so equal distances are equal ratios; the "
        "first is 0 in any graph. No gap means that there are no clusters at this σ. A click on a "
        "gap sets k.",
    ),
    (
        "Kernel degree",
        "How similar a point is to all others, added up. It is large where points are dense.",
    ),
    (
        "Conductance",
        "The share of a cluster's similarity that is with points outside of it: 0 for a cluster on "
        "its own, 1 for none at all. The clusters of all graphs are judged alike, by the "
        "similarities of all pairs of points.",
    ),
    (
        "Selecting",
        "Click a point, or choose Box or Lasso under Display and draw with the mouse. With Shift, "
        "points are added to the selection; with Ctrl+Shift, they are removed from it. All plots "
        "show the same selection, and tables and files mark it.",
    ),
    (
        "Keeping",
        "The address of the page holds the choices: copy it to share them; Back in the browser "
        "takes back a choice. Export saves a session "
        "file, labels, the graph, and a Python script that finds the same result. Each plot is "
        "saved from its own menu, ⋯, which also shows it as a table.",
    ),
)


class Shortcut(NamedTuple):
    """Keys for an action.

    `keys` are as the browser names them, with "ctrl+" and "shift+" before them; on a Mac, the
    command key counts as control. The help shows them as in `shown`, with a `sentence`.
    """

    keys: tuple
    shown: str
    action: str
    sentence: str


SHORTCUTS = (
    Shortcut(("?",), "?", "help", "This list."),
    Shortcut(("ctrl+z",), "Ctrl+Z", "undo", "Undo the last change."),
    Shortcut(("ctrl+shift+z", "ctrl+y"), "Ctrl+Shift+Z", "redo", "Redo what was undone."),
    Shortcut(("ctrl+s",), "Ctrl+S", "save", "Save a session file."),
    Shortcut(("d",), "D", "focus source", "Go to the data."),
    Shortcut(
        ("s",),
        "S",
        "focus sigma",
        "Go to the kernel width σ, or the perplexity; then the arrow keys move it.",
    ),
    Shortcut(("l",), "L", "focus n_rounds", "Go to the rounds L."),
    Shortcut(("n",), "N", "focus n_neighbors", "Go to the neighbors of the k-NN graph."),
    Shortcut(("k",), "K", "focus n_clusters", "Go to the number of clusters k."),
    Shortcut(("v",), "V", "next view", "Show the next of the large views."),
    Shortcut(("e",), "E", "edges", "Show or hide the edges."),
    Shortcut(("m",), "M", "drag move", "Let dragging in a plot move the window."),
    Shortcut(
        ("b",),
        "B",
        "drag box",
        "Let dragging select the points in a box. Shift adds to the selection, "
        "Ctrl+Shift removes from it.",
    ),
    Shortcut(("o",), "O", "drag lasso", "Let dragging select the points in a lasso."),
    Shortcut(("t",), "T", "tables", "Show tables in place of the plots, or the plots again."),
    Shortcut(("c",), "C", "next cluster", "Select the next cluster."),
    Shortcut(("]",), "]", "next point", "Select the next point."),
    Shortcut(("[",), "[", "previous point", "Select the previous point."),
    Shortcut(("Escape",), "Esc", "select nothing", "Select nothing."),
    Shortcut(("+", "="), "+", "zoom in", "Zoom in."),
    Shortcut(("-",), "−", "zoom out", "Zoom out."),
    Shortcut(("0",), "0", "zoom reset", "Show everything."),
    Shortcut(
        ("shift+ArrowLeft",),
        "Shift+←",
        "move left",
        "Move the window to the left; the other arrow keys work alike.",
    ),
    Shortcut(("shift+ArrowRight",), "", "move right", ""),
    Shortcut(("shift+ArrowUp",), "", "move up", ""),
    Shortcut(("shift+ArrowDown",), "", "move down", ""),
)


def actions_of(state, views, focus):
    """Return what can be done on an explorer without a mouse: every action by its name.

    ``focus(name)`` moves the keyboard to the control of a parameter.
    """

    def on_frame(method, *args):
        frame = views[state.view].frame
        if frame is not None:
            getattr(frame, method)(*args)

    def next_view():
        keys = state.param.view.objects
        state.view = keys[(keys.index(state.view) + 1) % len(keys)]

    def select(indices):
        state.selection = np.asarray(indices, dtype=np.intp)

    def next_cluster():
        outcome, selection = state.outcome("kde"), state.selection
        if outcome is None:
            return
        present, at = outcome.clusters, 0
        if len(selection):
            at = present.index(outcome.colors[selection[0]]) + 1
        select(np.flatnonzero(outcome.colors == present[at % len(present)]))

    def next_point(way):
        if state.shown is not None:
            selection, n = state.selection, state.shown.n_points
            select([(int(selection[0]) + way) % n if len(selection) else 0])

    parameters = ("source", "n_rounds", "n_neighbors", "n_clusters")
    moved = {"left": (-STEP, 0), "right": (STEP, 0), "up": (0, STEP), "down": (0, -STEP)}
    dragged = state.param.drag.objects
    return {
        **{f"focus {name}": partial(focus, name) for name in parameters},
        "focus sigma": lambda: focus("perplexity" if state.is_local else "sigma"),
        **{f"move {where}": partial(on_frame, "move", *way) for where, way in moved.items()},
        **{f"drag {what}": partial(state.param.update, drag=what) for what in dragged},
        "zoom in": lambda: on_frame("zoom", 1 / ZOOM),
        "zoom out": lambda: on_frame("zoom", ZOOM),
        "zoom reset": lambda: on_frame("fit_all"),
        "next view": next_view,
        "edges": lambda: state.param.update(show_edges=not state.show_edges),
        "tables": lambda: state.param.update(tables=not state.tables),
        "next cluster": next_cluster,
        "next point": lambda: next_point(1),
        "previous point": lambda: next_point(-1),
        "select nothing": lambda: select([]),
    }


def help_text():
    """Return the help as HTML: how to read the plots, and the keys."""
    reading = Markup().join(Markup("<dt>{}</dt><dd>{}</dd>").format(*pair) for pair in READING)
    row = Markup("<tr><th scope='row'><kbd>{}</kbd></th><td>{}</td></tr>")
    shown = [shortcut for shortcut in SHORTCUTS if shortcut.shown]
    keys = Markup().join(row.format(shortcut.shown, shortcut.sentence) for shortcut in shown)
    page = Markup("""<div class="kg-help">
<dl>{}</dl>
<table><caption>Keys</caption><tbody>{}</tbody></table>
</div>""")
    return page.format(reading, keys)
