"""The plot of the smallest eigenvalues, wherever they are shown by their numbers."""

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool, Label, Range1d

from .figures import TEXT, plain_figure
from .palette import BETWEEN, METHOD

AXIS_ENDS = (1, 1.5, 2, 3, 5, 7, 10, 15)  # times a power of ten: where a vertical axis may end


class EigenvaluePlot:
    """Dots on stems: eigenvalues by their numbers, of one graph or of several side by side.

    Parameters
    ----------
    name : str
        What is seen, for screen readers and tests: becomes the figure's `name`.
    methods : sequence of str
        The graphs: keys of `METHOD`, which has their colors.

    Attributes
    ----------
    figure : bokeh.plotting.figure
        Its renderers have the names "gap" and "eigenvalues".
    """

    def __init__(self, name, methods):
        self._offsets = dict(zip(methods, _side_by_side(len(methods)), strict=True))
        self.figure = plain_figure(
            tools="",
            description=name,
            x_range=Range1d(0.4, 10.6),
            y_range=Range1d(-0.05, 1),
        )
        self.figure.xaxis.ticker = list(range(1, 31))
        self.figure.xgrid.grid_line_color = None
        self.figure.yaxis.ticker.desired_num_ticks = 4
        self._gap = ColumnDataSource({"left": [], "right": [], "bottom": [], "top": []})
        self._values = ColumnDataSource({"index": [], "place": [], "value": [], "color": []})
        self._draw_gap(METHOD[methods[0]])
        self._draw_values()
        self._note = Label(x=0.55, y=0, text="", text_color=BETWEEN, **TEXT)
        self._note.text_baseline = "top"
        self.figure.add_layout(self._note)

    @property
    def note(self):
        """The words in the upper left corner."""
        return self._note.text

    def _draw_gap(self, color):
        self.figure.quad(
            "left",
            "right",
            "bottom",
            "top",
            source=self._gap,
            fill_color=color,
            fill_alpha=0.16,
            line_color=None,
            name="gap",
        )

    def _draw_values(self):
        self.figure.segment(
            "place",
            0,
            "place",
            "value",
            source=self._values,
            line_color="color",
            line_width=1.5,
            line_alpha=0.45,
        )
        dots = self.figure.scatter(
            "place",
            "value",
            source=self._values,
            size=8,
            fill_color="color",
            line_color=None,
            name="eigenvalues",
        )
        tips = [("eigenvalue", "@index"), ("value", "@value{0.000000}")]
        self.figure.add_tools(HoverTool(renderers=[dots], tooltips=tips))

    def clear(self):
        """Draw nothing."""
        for source in (self._values, self._gap):
            source.data = {name: [] for name in source.data}
        self._note.text = ""

    def show(self, eigenvalues, n_clusters=None, converged=True):
        """Draw eigenvalues.

        Parameters
        ----------
        eigenvalues : dict
            Key of a method to its eigenvalues, an ascending (m,) float array with m >= 1.
        n_clusters : int, optional
            The number k of clusters. The gap after the k-th eigenvalue of the first graph is drawn,
            and those after it have the neutral color. By default there is no gap.
        converged : bool
            False adds a note that the eigenvalues are estimates.
        """
        parts = [
            self._columns(method, values, n_clusters) for method, values in eigenvalues.items()
        ]
        self._values.data = {
            name: np.concatenate([part[name] for part in parts]) for name in self._values.data
        }
        first = next(iter(eigenvalues.values()))
        has_gap = n_clusters is not None and n_clusters < len(first)
        self._gap.data = gap_after(n_clusters, first) if has_gap else gap_after(0, first[:0])
        words = [f"gap after {n_clusters}: {np.diff(first)[n_clusters - 1]:.3g}"] if has_gap else []
        if not converged:
            words.append("estimates")
        top = round_up(max(max(float(values[-1]) for values in eigenvalues.values()), 1e-12))
        self._note.update(text="; ".join(words), y=1.16 * top)
        self.figure.x_range.update(start=0.4, end=max(map(len, eigenvalues.values())) + 0.6)
        self.figure.y_range.update(start=-0.04 * top, end=1.19 * top)

    def _columns(self, method, values, n_clusters):
        index = np.arange(1, len(values) + 1)
        before_gap = index <= (len(values) if n_clusters is None else n_clusters)
        return {
            "index": index,
            "place": index + self._offsets[method],
            "value": np.asarray(values),
            "color": np.where(before_gap, METHOD[method], BETWEEN),
        }


def gap_after(k, values):
    """The rectangle between eigenvalues k and k + 1, as columns; none for k = 0."""
    return {
        "left": [k] if k else [],
        "right": [k + 1] if k else [],
        "bottom": [values[k - 1]] if k else [],
        "top": [values[k]] if k else [],
    }


def _side_by_side(n, distance=0.2):
    """The places of n stems around their middle."""
    return distance * (np.arange(n) - (n - 1) / 2)


def round_up(value):
    """The next of `AXIS_ENDS` times a power of ten: an axis that ends there rests while a slider
    moves.
    """
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(step for step in AXIS_ENDS if step * power >= value) * power)
