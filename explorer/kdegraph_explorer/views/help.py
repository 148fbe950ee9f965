"""The text of the help."""

from ..shortcuts import SHORTCUTS
from .markup import Markup

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


def help_text():
    """Help as HTML: how to read the plots, and the keys."""
    reading = Markup().join(Markup("<dt>{}</dt><dd>{}</dd>").format(*pair) for pair in READING)
    row = Markup("<tr><th scope='row'><kbd>{}</kbd></th><td>{}</td></tr>")
    shown = [shortcut for shortcut in SHORTCUTS if shortcut.shown]
    keys = Markup().join(row.format(shortcut.shown, shortcut.sentence) for shortcut in shown)
    return PAGE.format(reading=reading, keys=keys)


PAGE = Markup("""<div class="kg-help">
<dl>{reading}</dl>
<table><caption>Keys</caption><tbody>{keys}</tbody></table>
</div>""")
