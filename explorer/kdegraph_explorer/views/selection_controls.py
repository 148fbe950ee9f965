"""Show what is selected, and explore a graph of these points alone."""

import numpy as np

from .base import Part
from .later import Later
from .markup import styled_text
from .widgets import button, column, row

MAX_CLUSTERS = 4  # clusters that the sentence names


class SelectionControls(Part):
    """Show the selected points by cluster, and let the user explore them alone.

    It takes no space while nothing is selected and all points are explored. The `sentence` and the
    buttons in `selected` are there with a selection; the button `back` explores all points again.
    """

    def __init__(self, session):
        super().__init__(session)
        self.widgets = {}
        self.sentence = styled_text("data-sentence", margin=(6, 10, 2, 10))
        self.selected = Later(session, self._choices)
        self.back = Later(session, self._way_back)
        self._body = column(self.back, self.selected, css_classes=["kg-selection"])
        self.keep_up(self._update, "selection", "shown", "result", "named")

    def _choices(self):
        """Return the sentence and the buttons for the points that are selected."""
        recluster = button(
            "Recluster these",
            "Explore the selected points alone: a graph of their own, and its clusters. They stay "
            "as parts, such as 2a and 2b, when all points are explored again.",
            self.recluster,
            width=130,
            margin=(2, 8),
        )
        clear = button(
            "Clear selection",
            "Select nothing (Esc).",
            lambda: self.state.param.update(selection=np.empty(0, dtype=np.intp)),
            width=120,
            margin=(2, 0),
        )
        return self.sentence, row(recluster, clear)

    def _way_back(self):
        """Return the button to explore all points again."""
        sentence = "Explore all points; these clusters stay."
        place = {"width": 90, "margin": (2, 8)}
        return [button("All points", sentence, self.session.leave_part, **place)]

    def recluster(self):
        """Explore the selected points alone."""
        if self.state.shown is self.state.dataset:
            self.session.sources[self.state.source].choose_part(self.state.selection)

    def _update(self):
        state = self.state
        self.selected.visible = len(state.selection) > 0
        origin = self.session.origin
        self.back.visible = origin is not None and origin[1]["part"] != ""
        if state.shown is not None:
            self.sentence.content = self._summary()

    def _summary(self):
        """Say how many points are selected, and in which clusters."""
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
