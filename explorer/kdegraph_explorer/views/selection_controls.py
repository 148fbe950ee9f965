"""What is selected, and what can be done with it: a graph of these points alone."""

import numpy as np
import panel as pn
from panel.viewable import Viewer

from ..assets import style_sheet
from .markup import Text
from .widgets import button, row

MAX_CLUSTERS = 4  # that the sentence names


class SelectionControls(Viewer):
    """The selected points by cluster, and the part of the points that is explored. It takes no
    place while nothing is selected and all points are explored.

    Attributes
    ----------
    sentence : Text
        How many points are selected, and in which clusters.
    selected : panel.Column
        The sentence and the buttons that are there with a selection.
    back : panel_material_ui.Button
        Explores all points again.
    """

    def __init__(self, session, **params):
        super().__init__(**params)
        self._session, self.state = session, session.state
        self.widgets = {}
        self.sentence = Text(
            stylesheets=[style_sheet("data-sentence")],
            sizing_mode="stretch_width",
            margin=(6, 10, 2, 10),
        )
        recluster = button(
            "Recluster these",
            "Explore the selected points alone: a graph of their own, and its clusters.",
            self.recluster,
            width=130,
            margin=(2, 8),
        )
        clear = button(
            "Clear selection", "Select nothing (Esc).", self.clear, width=120, margin=(2, 0)
        )
        self.back = button(
            "All points", "Explore all points again.", self.go_back, width=90, margin=(2, 8)
        )
        self.selected = pn.Column(
            self.sentence, row(recluster, clear), sizing_mode="stretch_width", margin=0
        )
        self._body = pn.Column(
            self.back,
            self.selected,
            sizing_mode="stretch_width",
            margin=0,
            css_classes=["kg-selection"],
        )
        self.state.param.watch(
            lambda *events: self._update(), ["selection", "shown", "result", "named"]
        )
        self._update()

    def __panel__(self):
        return self._body

    @property
    def _source(self):
        """The source of the points that are chosen."""
        return self._session.sources[self.state.source]

    def recluster(self):
        """Explore the selected points alone."""
        if self.state.shown is self.state.dataset:
            self._source.choose_part(self.state.selection)

    def go_back(self):
        """Explore all points again."""
        self._source.choose_part(None)

    def clear(self):
        """Select nothing."""
        self.state.selection = np.empty(0, dtype=np.intp)

    def _update(self):
        state = self.state
        self.selected.visible = len(state.selection) > 0
        origin = self._session.origin
        self.back.visible = origin is not None and origin[1]["part"] != ""
        if state.shown is not None:
            self.sentence.content = self._summary()

    def _summary(self):
        """How many points are selected, and in which clusters."""
        selection, outcome = self.state.selection, self.state.outcome("kde")
        words = f"{len(selection):,} of {self.state.shown.n_points:,} points selected"
        if outcome is None or not len(selection):
            return f"{words}."
        clusters, counts = np.unique(outcome.colors[selection], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        shares = [
            f"{counts[i]:,} in {self.state.cluster_words(clusters[i])}"
            for i in order[:MAX_CLUSTERS]
        ]
        more = len(order) - MAX_CLUSTERS
        shares += [f"others in {more} more"] * (more > 0)
        return f"{words}: {', '.join(shares)}."
