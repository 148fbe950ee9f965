"""The text of the help."""

from ..shortcuts import SHORTCUTS
from .markup import Markup

READING = (
    (
        "The question",
        "Which points belong together? Both graphs join similar points; cutting them where few edges cross gives the clusters.",
    ),
    (
        "KDE graph",
        "Every point draws L neighbors, near ones with the larger probability: in proportion to a Gaussian kernel of width σ. "
        "On average it is the graph in which every two points are joined.",
    ),
    (
        "k-NN graph",
        "Every point is joined to its k nearest ones: the usual alternative, for comparison.",
    ),
    (
        "Eigenvalues",
        "As many eigenvalues near 0 as there are clusters, then a gap. No gap: no clusters at this σ. A click on a gap sets k.",
    ),
    (
        "Selecting",
        "Click a point, or choose Box or Lasso under Display and draw with the mouse; with Shift to add, with Ctrl+Shift to take away. "
        "All plots show the same selection, and tables and files mark it.",
    ),
    (
        "Keeping",
        "The address of the page holds the choices: copy it to share them. Export saves a session file, labels, the graph, and a Python "
        "script that finds the same result. Each plot is saved from its own menu, ⋯, which also shows it as a table.",
    ),
)


def help_text():
    """Help as HTML: how to read the plots, and the keys."""
    reading = Markup().join(Markup("<dt>{}</dt><dd>{}</dd>").format(*pair) for pair in READING)
    row = Markup("<tr><th scope='row'><kbd>{}</kbd></th><td>{}</td></tr>")
    shown = [shortcut for shortcut in SHORTCUTS if shortcut.shown]
    keys = Markup().join(row.format(shortcut.shown, shortcut.sentence) for shortcut in shown)
    return PAGE.format(style=STYLE, reading=reading, keys=keys)


PAGE = Markup("""<style>{style}</style><div class="kg-help">
<dl>{reading}</dl>
<table><caption>Keys</caption><tbody>{keys}</tbody></table>
</div>""")


STYLE = Markup("""
.kg-help { font-size: 14px; line-height: 1.45; display: flex; flex-wrap: wrap; gap: 12px 32px; }
dl { flex: 1 1 300px; margin: 0; }
dt { font-weight: 600; }
dd { margin: 0 0 8px 0; }
table { flex: 1 1 300px; border-collapse: collapse; align-self: flex-start; }
caption { text-align: left; font-weight: 600; padding-bottom: 4px; }
th, td { text-align: left; font-weight: 400; padding: 1.5px 8px 1.5px 0; vertical-align: top; }
th { white-space: nowrap; width: 96px; }
kbd { font: 600 12px system-ui, sans-serif; border: 1px solid rgba(128, 128, 128, 0.5); border-radius: 4px; padding: 1px 6px; }
""")
