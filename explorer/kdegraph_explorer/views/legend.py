"""The legend of the clusters, in which they get their names."""

import numpy as np
import param
from panel.custom import JSComponent

from ..assets import script, style_sheet
from ..drawing.palette import CLUSTER_COLORS, cluster_colors


class NamedClusters(JSComponent):
    """A button for each cluster with its color; a click lets the user type a name. (The theme would
    take a component whose name ends with "Legend" for one of Bokeh's.)

    Parameters
    ----------
    state : State
    """

    entries = param.List(doc="Of each cluster: its number from 0, its name, and its color.")
    more = param.String(doc="How many clusters have no place.")

    _esm = script("legend")

    def __init__(self, state, **params):
        self._state = state
        super().__init__(stylesheets=[style_sheet("fields"), style_sheet("legend")], **params)

    def update(self):
        """Show the clusters of the newest result."""
        outcome = self._state.outcome("kde")
        present = [] if outcome is None else np.unique(outcome.colors).tolist()
        colors = cluster_colors(max(present, default=0) + 1)
        entries = [
            {
                "number": number,
                "name": self._state.named.get(number, ""),
                "color": "#{:02x}{:02x}{:02x}".format(*colors[number]),
            }
            for number in present[: len(CLUSTER_COLORS)]
        ]
        n_more = len(present) - len(entries)
        self.param.update(entries=entries, more=f"and {n_more} more" if n_more else "")

    def _handle_msg(self, message):
        number, name = message.get("number"), message.get("name")
        if isinstance(name, str) and any(entry["number"] == number for entry in self.entries):
            self._state.name_cluster(number, name)
