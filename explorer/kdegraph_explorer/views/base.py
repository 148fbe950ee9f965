"""What a view is, and what all views look like."""

from html import escape

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer


class View(Viewer):
    """Shows one aspect of a session; watches its state and changes it only through its parameters.

    To add one, write a subclass in a module of this package and put it into `VIEWS`.

    Attributes
    ----------
    key, label : str
        Its name in code and for the user.
    area : str
        "top": one of the large views, of which one is shown at a time; "bottom": shown below.
    alone : bool
        Whether a large view also takes the room at the bottom.
    with_full : bool
        Whether it shows the full graph, too.
    width : int
        Its share of the row at the bottom.
    """

    key = ""
    label = ""
    area = "bottom"
    alone = False
    with_full = False
    width = 1

    def __init__(self, session, **params):
        super().__init__(**params)
        self.session = session
        self.state = session.state

    def applies(self):
        """Whether the view has something to show for the present data."""
        return True

    def figures(self):
        """The Bokeh figures of the view."""
        return ()

    def follow(self, update, *names):
        """Call `update` when one of these parameters of the state changes, and when the view appears; not while it is hidden."""

        def call(*events):
            if self.area == "bottom" or self.state.view == self.key:
                update()

        self.state.param.watch(call, [*names, "view"])


def card(title, sentence, content, *more, **options):
    """A frame around a plot or a table, with its title and its sentence of explanation."""
    head = pn.pane.HTML(
        f'<div title="{escape(sentence)}"><span class="title">{title}</span> <span class="sentence">{sentence}</span></div>',
        css_classes=["kg-caption"],
        stylesheets=[CAPTION_STYLE],
        sizing_mode="stretch_width",
        margin=(6, 10, 0, 10),
        height=20,
    )
    return pmui.Paper(
        head, content, *more, **{"sizing_mode": "stretch_both", "elevation": 0, "variant": "outlined", "margin": 4, **options}
    )


CAPTION_STYLE = """
:host { font-size: 12.5px; line-height: 18px; overflow: hidden; }
.title { font-weight: 600; letter-spacing: 0.01em; }
.sentence { opacity: 0.62; margin-left: 4px; }
div { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
"""


def figure_pane(fig, name):
    """A figure that fills its place; `name` becomes a CSS class, a hook for tests."""
    return pn.pane.Bokeh(fig, css_classes=["kg-plot", f"kg-{name}"], sizing_mode="stretch_both", margin=0, min_height=150)


def beside(*cards, widths=None, **options):
    """Cards in a row that share its width in the given proportions."""
    widths = widths or [1] * len(cards)
    places = (
        pn.Column(card, sizing_mode="stretch_both", margin=0, styles={"flex": f"{width} 1 {300 * width / sum(widths):.0f}px"})
        for card, width in zip(cards, widths, strict=True)
    )
    return pn.Row(*places, **{"sizing_mode": "stretch_both", "margin": 0, **options})
