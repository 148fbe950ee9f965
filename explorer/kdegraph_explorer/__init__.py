"""An interactive explorer of similarity graphs, for the browser and for notebooks."""

import panel as pn

# Everything a notebook needs is put into the page itself: nothing is fetched from the network.
pn.extension(inline=True, notifications=False)

from .explorer import Explorer  # noqa: E402 (widgets register with the extension that is set up above)

__all__ = ["Explorer"]
