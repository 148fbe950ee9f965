"""Read the scripts, style sheets and pictures in the folder `static`."""

import re
from base64 import b64encode
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

    Pictures are a part of it, in place of their names.

    Shadow roots and notebooks have no common root that could set variables.
    """
    text = _text(f"{name}.css")
    for size, pixels in SIZES.items():
        text = text.replace(f"var(--kg-{size})", pixels)
    return re.sub(r"url\((.+\.png)\)", _inlined, text)


def _inlined(match):
    """Return the picture that a match names as an address that holds all of it."""
    content = b64encode((STATIC / match[1]).read_bytes()).decode()
    return f"url(data:image/png;base64,{content})"


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
