"""Pass text to the page as text, unless it is a `markupsafe.Markup`, which is HTML.

A `Markup` is only ever made of the package's own constants; other text comes in by `Markup.format`
or `Markup.join`, which escape it.
"""

import param
from markupsafe import Markup, escape
from panel.custom import JSComponent

from ..assets import script, style_sheet


class Text(JSComponent):
    """Show text, or HTML, that can change many times a second.

    Unlike `panel.pane.HTML`, a change does not lay out the whole page anew.
    """

    content = param.String(doc="What is shown: text, or HTML where it is a `Markup`.")

    _esm = script("text")

    def __init__(self, content="", **params):
        super().__init__(content=content, **params)

    def _process_param_change(self, params):
        if "content" in params:
            params["content"] = str(escape(params["content"]))
        return super()._process_param_change(params)


def styled_text(look, content="", **options):
    """Return a `Text` with the style sheet `look`, as wide as its place."""
    sheets = [style_sheet(look), *options.pop("stylesheets", [])]
    return Text(content, stylesheets=sheets, **{"sizing_mode": "stretch_width", **options})


class Beacon(Text):
    """Report when it has appeared in the browser: from then on, messages arrive."""

    beats = param.Integer(doc="Grows until it is heard; the first beats of a notebook may be lost.")
    heard = param.Boolean(
        doc="Whether Python has received a beat. The beacon must stay in the page even then, as "
        "other beats may be under way.",
    )

    _esm = script("beacon")


def html_table(columns, rows):
    """Return a table as a `Markup`, with a column of names before the others.

    Each of `rows` is a (name, values, explanation). The explanation is shown when the mouse rests
    on the row. All arguments are text in the table, unless they are a `Markup`.
    """
    head = each(Markup('<th scope="col">{}</th>'), columns)
    row, cell = Markup('<tr title="{}"><th scope="row">{}</th>{}</tr>'), Markup("<td>{}</td>")
    body = Markup().join(
        row.format(explanation, name, each(cell, values)) for name, values, explanation in rows
    )
    return Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(head, body)


def image(address):
    """Return a picture beside words that say what it is; nothing without an address."""
    return Markup('<img src="{}" alt="">').format(address) if address else Markup()


def each(element, texts):
    """Return an element for each of the texts: a `Markup` with braces for the text."""
    return Markup().join(map(element.format, texts))
