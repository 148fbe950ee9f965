"""An interactive explorer of similarity graphs, for the browser and for notebooks."""

import panel as pn
from panel.reactive import Syncable

from .quiet import quietly

# Everything a notebook needs is put into the page itself: nothing is fetched from the network.
with quietly():
    pn.extension(inline=True, notifications=False)

# Widgets register with the extension, which therefore has to be set up before this import.
from .explorer import Explorer

# A key or a click that comes while a change waits is dealt with by a coroutine of Panel, together
# with that change. It draws, and therefore needs the lock of the document.
Syncable._event_coroutine = pn.io.with_lock(Syncable._event_coroutine)

__all__ = ["Explorer"]
