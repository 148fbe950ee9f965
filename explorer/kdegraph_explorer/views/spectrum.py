"""Show the eigenvalues of both graphs."""

from functools import partial

import numpy as np
from bokeh.events import Tap

from ..drawing.eigenvalue_plot import EigenvaluePlot
from ..results import METHODS
from .base import View, beside, figure_pane
from .describe import eigenvalues


class SpectrumView(View):
    """Show the smallest eigenvalues of both graphs; a click on a gap sets k."""

    key, label, area = "spectrum", "Eigenvalues", "bottom"
    width = 3

    def __init__(self, session):
        super().__init__(session)
        self.plots = {
            method: EigenvaluePlot(f"{name}: eigenvalues", [method])
            for method, name in METHODS.items()
        }
        self._drawn = {}  # the spectrum and the number of clusters that are drawn of each method
        for plot in self.plots.values():
            plot.figure.on_event(Tap, lambda event: self._choose(event.x))
        self._body = beside(*(self._card(method, name) for method, name in METHODS.items()))
        self.keep_up(self._update, "result", "shown")

    def _card(self, method, name):
        return self.card(
            f"Eigenvalues, {name}",
            "a click sets k: the number before the gap",
            figure_pane(self.plots[method].figure, f"{method}-spectrum"),
            describe=partial(eigenvalues, self.state, method),
        )

    def _choose(self, x):
        """Set k to the number of the last eigenvalue before a gap."""
        outcomes = [self.state.outcome(method) for method in METHODS]
        if None in outcomes:
            return
        last = min(len(outcome.spectrum.eigenvalues) for outcome in outcomes)
        if last > 1:
            self.state.choose(n_clusters=int(np.clip(np.floor(x), 1, last - 1)))

    def _update(self):
        for method, plot in self.plots.items():
            outcome = self.state.outcome(method)
            if outcome is None:
                self._drawn.pop(method, None)
                plot.clear()
                continue
            spectrum, k = self._drawn.get(method, (None, None))
            if spectrum is not outcome.spectrum or k != outcome.n_clusters:
                self._drawn[method] = outcome.spectrum, outcome.n_clusters
                plot.show(
                    {method: outcome.spectrum.eigenvalues},
                    outcome.n_clusters,
                    outcome.spectrum.converged,
                )
