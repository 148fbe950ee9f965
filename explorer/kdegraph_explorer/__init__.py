"""An interactive explorer of similarity graphs, for the browser and for notebooks."""

import panel as pn

from .patches.panel import lock_events, quietly, send_all

# Everything that a notebook needs is put into the page itself, and nothing comes from the network.
with quietly():
    pn.extension(inline=True, notifications=False)

# Widgets register with the extension, which therefore has to be set up before this import.
from .drawing.elements import elements
from .explorer import Explorer

lock_events()
send_all()

__all__ = ["Explorer", "elements"]
