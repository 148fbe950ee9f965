"""An interactive explorer of similarity graphs, for the browser and for notebooks."""

import panel as pn

from .quiet import quietly

# Everything a notebook needs is put into the page itself: nothing is fetched from the network.
with quietly():
    pn.extension(inline=True, notifications=False)

# Widgets register with the extension, which therefore has to be set up before this import.
from .explorer import Explorer

__all__ = ["Explorer"]
