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
    """The text of a file in the folder."""
    return (STATIC / file).read_text(encoding="utf-8")


@cache
def style_sheet(name):
    """The text of a style sheet, with the sizes of letters in place of ``var(--kg-small)`` and the
    like: shadow roots and notebooks have no common root that could set variables.

    Parameters
    ----------
    name : str
        Name of the file without its ending.
    """
    text = _text(f"{name}.css")
    for size, pixels in SIZES.items():
        text = text.replace(f"var(--kg-{size})", pixels)
    return text


def script(name):
    """The path of a script, such as the attribute `_esm` of a Panel component takes.

    Parameters
    ----------
    name : str
        Name of the file without its ending.
    """
    return STATIC / f"{name}.js"


def icon(name):
    """The text of an icon. Icons that Panel knows by name need a font, which notebooks cannot load.

    Parameters
    ----------
    name : str
        Name of the file without its ending.
    """
    return _text(f"{name}.svg")


def template(name):
    """The text of a template of Jinja.

    Parameters
    ----------
    name : str
        Name of the file without its ending.
    """
    return _text(f"{name}.html")
