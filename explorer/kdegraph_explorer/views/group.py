"""A group of controls under a title, with one sign that explains all of them."""

import panel as pn

from ..assets import style_sheet
from .markup import Markup, Text

HEADING = Markup("""<h2>{title}</h2>
<button popovertarget="about" aria-label="About: {title}" title="What these controls do">i</button>
<div id="about" popover><h3>{title}</h3><dl>{entries}</dl></div>""")
ENTRY = Markup("<dt>{}</dt><dd>{}</dd>")


def group(title, *parts):
    """Controls below each other, under a title. The sign beside the title shows what each of them
    does; the sign of a control is seen only while the mouse or the keyboard is on it.

    Parameters
    ----------
    title : str
    *parts : viewable
    """
    heading = Text(stylesheets=[style_sheet("heading")], margin=(4, 8, 0, 8))
    heading.sizing_mode = "stretch_width"
    body = pn.Column(heading, *parts, sizing_mode="stretch_width", margin=0)

    def update(*events):
        entries = (ENTRY.format(widget.label, widget.description) for widget in shown(body))
        heading.content = HEADING.format(title=title, entries=Markup().join(entries))

    for part in body.select(lambda part: part is not heading):
        part.param.watch(update, "visible")
        if is_described(part):
            part.stylesheets = [*part.stylesheets, style_sheet("quiet-sign")]
    update()
    return body


def is_described(part):
    """Whether a part is a control with a sentence on what it does."""
    return bool(getattr(part, "label", "") and getattr(part, "description", ""))


def shown(body):
    """The controls with a sentence in `body` that are visible."""
    hidden = [part for part in body.select() if not part.visible]
    unseen = {id(part) for outer in hidden for part in outer.select()}
    return [part for part in body.select(is_described) if id(part) not in unseen]
