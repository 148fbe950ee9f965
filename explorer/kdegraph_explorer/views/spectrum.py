"""The eigenvalues of both graphs."""

from functools import partial

import numpy as np
from bokeh.events import Tap
from bokeh.models import ColumnDataSource, HoverTool, Label, Range1d

from ..drawing.figures import TEXT, plain_figure
from ..drawing.palette import BETWEEN, METHOD
from ..pipeline import METHODS
from .base import View, beside, card, figure_pane
from .describe import eigenvalues

SENTENCE = "a click sets k"


class SpectrumView(View):
    """Smallest eigenvalues of the normalized Laplacian, with the gap after the k-th; a click on a
    gap sets k.
    """

    key, label, area = "spectrum", "Eigenvalues", "bottom"
    width = 3

    def __init__(self, session, **params):
        super().__init__(session, **params)
        self._figures, self._values, self._gaps, self._notes = {}, {}, {}, {}
        self._drawn = dict.fromkeys(METHODS, (None, None))
        for method, name in METHODS.items():
            self._add(method, name)
        self._body = beside(
            *(
                card(
                    f"Eigenvalues, {name}",
                    SENTENCE,
                    figure_pane(self._figures[method], f"{method}-spectrum"),
                    describe=partial(eigenvalues, self.state, method),
                    view=self,
                )
                for method, name in METHODS.items()
            )
        )
        self.state.param.watch(lambda *events: self._update(), ["result", "shown"])
        self._update()

    def figures(self):
        """See `View.figures`."""
        return tuple(self._figures.values())

    def _add(self, method, name):
        fig = plain_figure(
            tools="",
            description=f"{name}: eigenvalues",
            x_range=Range1d(0.4, 10.6),
            y_range=Range1d(-0.05, 1),
        )
        fig.xaxis.ticker = list(range(1, 31))
        fig.xgrid.grid_line_color = None
        fig.yaxis.ticker.desired_num_ticks = 4
        values = ColumnDataSource({"index": [], "value": [], "color": []})
        gap = ColumnDataSource({"left": [], "right": [], "bottom": [], "top": []})
        fig.quad(
            "left",
            "right",
            "bottom",
            "top",
            source=gap,
            fill_color=METHOD[method],
            fill_alpha=0.16,
            line_color=None,
        )
        fig.segment(
            "index",
            0,
            "index",
            "value",
            source=values,
            line_color="color",
            line_width=1.5,
            line_alpha=0.45,
        )
        dots = fig.scatter(
            "index", "value", source=values, size=8, fill_color="color", line_color=None
        )
        fig.add_tools(
            HoverTool(
                renderers=[dots], tooltips=[("eigenvalue", "@index"), ("value", "@value{0.000000}")]
            )
        )
        note = Label(x=0.55, y=0, text="", text_color=BETWEEN, **TEXT)
        note.text_baseline = "top"
        fig.add_layout(note)
        fig.on_event(Tap, lambda event: self._choose(event.x))
        self._figures[method], self._values[method], self._gaps[method], self._notes[method] = (
            fig,
            values,
            gap,
            note,
        )

    def _choose(self, x):
        last = min((len(source.data["value"]) for source in self._values.values()), default=0)
        if last > 1:
            self.state.choose(n_clusters=int(np.clip(np.floor(x), 1, last - 1)))

    def _update(self):
        for method in METHODS:
            outcome = self.state.outcome(method)
            drawn, before = (
                (None, None) if outcome is None else (outcome.spectrum, outcome.n_clusters),
                self._drawn[method],
            )
            if drawn[0] is before[0] and drawn[1] == before[1]:
                continue
            self._drawn[method] = drawn
            if outcome is None:
                for source in (self._values[method], self._gaps[method]):
                    source.data = {name: [] for name in source.data}
                self._notes[method].text = ""
                continue
            values = np.asarray(outcome.spectrum.eigenvalues)
            k = outcome.n_clusters
            index = np.arange(1, len(values) + 1)
            top = round_up(max(float(values[-1]), 1e-12))
            fig = self._figures[method]
            self._values[method].data = {
                "index": index,
                "value": values,
                "color": np.where(index <= k, METHOD[method], BETWEEN),
            }
            has_gap = k < len(values)
            self._gaps[method].data = {
                "left": [k] if has_gap else [],
                "right": [k + 1] if has_gap else [],
                "bottom": [values[k - 1]] if has_gap else [],
                "top": [values[k]] if has_gap else [],
            }
            words = [f"gap after {k}: {values[k] - values[k - 1]:.3g}"] if has_gap else []
            if not outcome.spectrum.converged:
                words.append("estimates")  # there is no room for more; the caption says why
            self._notes[method].update(text="; ".join(words), y=1.16 * top)
            fig.x_range.update(start=0.4, end=len(values) + 0.6)
            fig.y_range.update(start=-0.04 * top, end=1.19 * top)


def round_up(value):
    """The next of 1, 1.5, 2, 3, 5, 7 and 10 times a power of ten: an axis that ends there rests
    while a slider moves.
    """
    power = 10.0 ** np.floor(np.log10(value))
    return float(
        next(step for step in (1, 1.5, 2, 3, 5, 7, 10, 15) if step * power >= value) * power
    )
