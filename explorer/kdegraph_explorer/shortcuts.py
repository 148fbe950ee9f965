"""Keys, and what they do."""

from typing import NamedTuple


class Shortcut(NamedTuple):
    """Keys for an action.

    Attributes
    ----------
    keys : tuple of str
        As the browser names them, with "ctrl+" and "shift+" before them; on a Mac, the command key
        counts as control.
    shown : str
        As the help writes them.
    action : str
    sentence : str
        What the action does.
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
