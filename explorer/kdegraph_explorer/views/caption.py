"""The line above a plot: its title, a sentence, and a menu to save it or to show it as a table."""

import param
from panel.custom import JSComponent

from ..assets import script


class Caption(JSComponent):
    """Title and sentence of a plot or a table, with a menu where there is something to choose."""

    title = param.String()
    sentence = param.String(doc="One sentence of explanation.")
    summary = param.String(doc="What is seen, in words, for those who do not see it.")
    figure = param.String(
        doc="Name of the Bokeh figure that can be saved as a picture; empty for none."
    )
    resets = param.Boolean(doc="Whether the figure has a window that can be moved and reset.")
    drags = param.List(doc="What dragging in the figure can do: keys of the state's `drag`.")
    drag = param.Selector(
        default="move", objects=["move", "box", "lasso"], doc="What dragging in the figure does."
    )
    zooms = param.Boolean(doc="Whether there are tools to zoom in and out.")
    described = param.Boolean(doc="Whether there is a table.")
    table = param.Boolean(doc="Whether the table is shown in place of the plot.")

    _esm = script("caption")
