"""Read the scripts, style sheets and icons in the folder `static`."""

from functools import cache
from pathlib import Path

SIZES = {
    "small": "12px",  # tables, remarks, words within plots
    "text": "13px",  # labels of controls, titles of plots, messages
    "large": "15px",  # the name of the page, the sentence on the first page
    "headline": "42px",  # the number on the first page
}
STATIC = Path(__file__).with_name("static")


@cache
def _text(file):
    """Read a file in the folder."""
    return (STATIC / file).read_text(encoding="utf-8")


@cache
def style_sheet(name):
    """Return the text of a style sheet, with sizes in place of ``var(--kg-small)`` and the like.

    Shadow roots and notebooks have no common root that could set variables.
    """
    text = _text(f"{name}.css")
    for size, pixels in SIZES.items():
        text = text.replace(f"var(--kg-{size})", pixels)
    return text


def script(name):
    """Return the path of a script, such as the attribute `_esm` of a Panel component takes."""
    return STATIC / f"{name}.js"


def script_of_elements(name):
    """Return the text of a script that makes elements, after `static/elements.js`."""
    return _text("elements.js") + _text(f"{name}.js")


def icon(name):
    """Return the text of an icon; those that Panel knows by name need a font from the network."""
    return _text(f"{name}.svg")


def template(name):
    """Return the text of a template of Jinja."""
    return _text(f"{name}.html")
