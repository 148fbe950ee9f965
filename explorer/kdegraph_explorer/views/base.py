"""Define what a view is, and what all views look like."""

from dataclasses import dataclass

import numpy as np
import panel as pn
import param
from bokeh.models import LassoSelectTool, ResetTool, ZoomInTool
from panel.custom import JSComponent
from panel.viewable import Viewer

from ..assets import script_of_elements, style_sheet
from .markup import Markup, Text, html_table
from .widgets import link

# What `Session.obstacle` depends on, besides data and results.
PROGRESS = ("stage", "error", "stopped", "source")


class Caption(JSComponent):
    """Title and sentence of a plot or a table, with a menu if there is something to choose."""

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

    _esm = script_of_elements("caption")


class Part(Viewer):
    """A part of the page that shows the state of a session; subclasses make its `_body`."""

    def __init__(self, session):
        super().__init__()
        self.session, self.state = session, session.state
        self._body = None

    def __panel__(self):
        return self._body

    def keep_up(self, update, *names):
        """Call `update` now, and whenever one of these parameters of the state changes."""
        self.state.param.watch(lambda *events: update(), list(names))
        update()


class View(Part):
    """Show one aspect of a session; watch its state and change it only through its parameters.

    To add one, write a subclass in a module of this package and put it into `VIEWS`. A large view
    is made when it is first shown or asked for, with any state.
    """

    key = label = ""  # its name in code and for the user
    area = "bottom"  # shown below; "top": one of the large views, of which one is shown at a time
    colored = False  # whether its points have the colors that the user chooses
    alone = False  # whether a large view also takes the place of the row at the bottom
    opens = True  # whether a large view may be shown without having been asked for
    # Keys of `ALL_METHODS` that it shows besides those of `METHODS`.
    extra_methods: tuple[str, ...] = ()
    width = 1  # its share of the row at the bottom
    pinned = False  # whether it is shown by itself, in a cell of a notebook
    frame = None  # the `Frame` that keys zoom and move

    def __init__(self, session):
        super().__init__(session)
        self._updates, self._descriptions, self._figures = [], [], []

    def _ipython_display_(self):
        """Show it in a notebook, linked to the explorer that it is a view of."""
        from ..notebook import place_of, show

        show(self.session, place_of(self))

    def _display_(self):
        """Return what marimo shows: a frame holds all of an explorer."""
        return "In marimo, a view is shown as a part of its explorer."

    @staticmethod
    def applies(state):
        """Return whether the view has something to show for the present data of a `State`."""
        return True

    def figures(self):
        """Return the Bokeh figures of the view, in the order of its cards."""
        return tuple(self._figures)

    def card(self, title, sentence, *content, figure="", describe=None, **options):
        """Frame a plot or a table with its title, a sentence of explanation, and a menu.

        The menu saves the Bokeh figure with the name `figure`, by default that of the pane with a
        figure. `describe` takes whether the table is shown, too, and returns a `Description`; the
        menu then offers the table in place of the plot.
        """
        figures = [part.object for part in content if isinstance(part, pn.pane.Bokeh)]
        self._figures += figures
        tools = [type(tool) for shown in figures for tool in shown.tools]
        head = Caption(
            title=title,
            sentence=sentence,
            figure=figure or next((shown.name for shown in figures), ""),
            resets=ResetTool in tools,
            drags=["move", "box", "lasso"] if LassoSelectTool in tools else [],
            zooms=ZoomInTool in tools,
            described=describe is not None,
            css_classes=["kg-caption"],
            stylesheets=[style_sheet("caption")],
            sizing_mode="stretch_width",
            margin=(6, 6, 0, 10),
            height=20,
        )
        if head.drags:
            head.drag = self.state.drag
            link(head, "drag", self.state, "drag")
        tables = [] if describe is None else [self._table_over(content, head, describe)]
        # With a frame of Material UI, the browser would lay out the whole page once more for each
        # card.
        return pn.Column(
            head,
            *content,
            *tables,
            css_classes=["kg-card"],
            stylesheets=[style_sheet("card"), style_sheet("tall-where-narrow")],
            **{"sizing_mode": "stretch_both", "margin": 4, **options},
        )

    @property
    def visible(self):
        """Return whether the view is on the screen."""
        return self.pinned or self.area == "bottom" or self.state.view == self.key

    def follow(self, update, *names):
        """Call `update` when one of these parameters of the state changes, and when the view
        appears.

        While the view is hidden, `update` is not called.
        """
        self._updates.append(update)
        if names:
            self.state.param.watch(lambda *events: self.visible and update(), list(names))

    def appear(self):
        """Process what has changed while the view was hidden."""
        for update in self._updates:
            update()

    def describe(self):
        """Update the descriptions of the cards.

        Call this when what they show has changed and the state has not.
        """
        for update in self._descriptions:
            update()

    def _table_over(self, content, head, describe):
        """Return the table that takes the place of the content of a card."""
        table = Text(
            stylesheets=[style_sheet("table")],
            css_classes=["kg-table", "kg-scroll"],
            visible=False,
            styles={
                "position": "absolute",
                "top": "32px",
                "left": "10px",
                "width": "calc(100% - 20px)",
                "height": "calc(100% - 38px)",
            },
        )

        def update():
            description = describe(head.table)
            head.summary = description.summary
            if head.table:  # a table that is not shown is not computed
                table.content = description.html()

        def swap(event):
            table.visible = head.table
            # Invisible parts keep their size and their links.
            visibility = "hidden" if head.table else "visible"
            for part in content:
                part.styles = {"visibility": visibility}
            if self.visible:
                update()

        head.param.watch(swap, "table")
        self._descriptions.append(update)
        self.follow(update, "result", "shown", "selection", "horizontal", "vertical")
        self.state.param.watch(lambda event: setattr(head, "table", event.new), "tables")
        head.table = self.state.tables
        update()
        return table


def caption_of(card):
    """Return the `Caption` of a `card`."""
    return card[0]


@dataclass(frozen=True)
class Description:
    """A plot in words, and as a table whose rows begin with their names."""

    summary: str = ""
    columns: tuple = ()
    rows: tuple = ()

    def html(self):
        """Return the sentence, and the table below it."""
        rows = [(name, map(number, values), "") for name, *values in self.rows]
        table = html_table(self.columns, rows) if rows else ""
        return Markup("<p>{}</p>{}").format(self.summary, table)


def number(value):
    """Return a number as a table shows it."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"


def figure_pane(fig, name):
    """Return a pane that a figure fills; `name` becomes a CSS class, a hook for tests."""
    fig.css_classes = [*fig.css_classes, "kg-plot", f"kg-{name}"]
    return pn.pane.Bokeh(fig, sizing_mode="stretch_both", margin=0, min_height=150)


def beside(*cards, widths=None, least=None, **options):
    """Put cards in a row that share its width in the given proportions.

    Unless they are one below the other, each is at least as wide as given by `least`, in pixels.
    """
    widths, least = widths or [1] * len(cards), least or [0] * len(cards)
    places = (
        pn.Column(
            card,
            sizing_mode="stretch_both",
            margin=0,
            styles={
                "flex": f"{width} 1 {300 * width / sum(widths):.0f}px",
                "min-width": f"{pixels}px",
            },
            stylesheets=[style_sheet("grows-where-narrow")],
        )
        for card, width, pixels in zip(cards, widths, least, strict=True)
    )
    sheets = [style_sheet("below-where-narrow"), *options.pop("stylesheets", [])]
    return pn.Row(
        *places, stylesheets=sheets, **{"sizing_mode": "stretch_both", "margin": 0, **options}
    )


def low_row(*cards, height, widths=None, least=None):
    """Put cards in a row below others, at least a fifth of the page high, or `height` pixels."""
    return beside(
        *cards,
        widths=widths,
        least=least,
        sizing_mode="stretch_width",
        height=height,
        styles={"--kg-row-height": f"{height}px"},
        stylesheets=[style_sheet("low-row")],
    )
