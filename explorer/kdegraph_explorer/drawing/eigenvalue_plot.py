"""Plot the smallest eigenvalues, wherever they are shown by their numbers.

Their axis is logarithmic, as their ratios decide on the number of clusters.
"""

import numpy as np
from bokeh.models import BasicTicker, HoverTool, Label, Range1d

from .figures import TEXT, plain_figure
from .marks import no_marks, set_marks
from .palette import BETWEEN, MARKERS, METHOD

# Eigenvalues below this part of the last one count as equal to that, as
# `kdegraph.suggest_n_clusters` takes them.
FLOOR = 1e-3
NOTHING = " "  # the note without words; an empty one would take no line, and the plot would move
ALL_ZERO = 1e-12  # a last eigenvalue up to here counts as zero
AXIS_ENDS = (1, 1.5, 2, 3, 5, 7, 10, 15)  # possible ends of a vertical axis, times a power of ten


class EigenvaluePlot:
    """Draw eigenvalues by their numbers, of one graph or of several, as marks on stems.

    `name` becomes that of the figure, for screen readers and tests; `methods` are keys of `METHOD`.
    The renderers of the figure have the names "gap" and "eigenvalues".
    """

    def __init__(self, name, methods):
        beside = 0.2 * (np.arange(len(methods)) - (len(methods) - 1) / 2)
        self._offsets = dict(zip(methods, beside, strict=True))
        self.figure = plain_figure(
            tools="",
            description=name,
            x_range=Range1d(0.4, 10.6),
            y_range=Range1d(FLOOR / 2, 1),
            y_axis_type="log",
        )
        self.figure.xaxis.ticker = BasicTicker(min_interval=1, desired_num_ticks=10)
        self.figure.xgrid.grid_line_color = None
        self.figure.yaxis.ticker.desired_num_ticks = 4
        self._gap = no_marks("left", "right", "bottom", "top")
        columns = ("index", "place", "value", "height", "foot", "color", "marker", "alpha")
        self._values = no_marks(*columns)
        self.figure.quad(
            source=self._gap,
            fill_color=METHOD[methods[0]],
            fill_alpha=0.16,
            line_color=None,
            name="gap",
        )
        self.figure.segment(
            "place",
            "foot",
            "place",
            "height",
            source=self._values,
            line_color="color",
            line_width=1.5,
            line_alpha=0.45,
        )
        dots = self.figure.scatter(
            "place",
            "height",
            marker="marker",
            source=self._values,
            size=8,
            fill_color="color",
            fill_alpha="alpha",
            line_color="color",
            name="eigenvalues",
        )
        tips = [("eigenvalue", "@index"), ("value", "@value{0.000000}")]
        self.figure.add_tools(HoverTool(renderers=[dots], tooltips=tips))
        # A line of its own, as words within the plot would lie over marks in a low one. It begins
        # above the numbers of the axis, as a narrow plot has no room beside them.
        place = {"x": -28, "y": 0, "x_units": "screen", "y_units": "screen"}
        self._note = Label(text=NOTHING, text_color=BETWEEN, **place, **TEXT)
        self.figure.add_layout(self._note, "above")

    @property
    def note(self):
        """Return the words above the plot."""
        return self._note.text.strip()

    def clear(self):
        """Draw nothing."""
        set_marks(self._values)
        set_marks(self._gap)
        self._note.text = NOTHING

    def show(self, eigenvalues, n_clusters=None, converged=True):
        """Draw eigenvalues: a dict of the key of a method to an ascending (m,) array, m >= 1.

        The gap after eigenvalue `n_clusters` of the first graph is drawn if that is larger than 1,
        and the eigenvalues after it have the neutral color. Unless `converged`, a note says that
        the eigenvalues are estimates.
        """
        bottom = min(FLOOR * round_up(_last(values)) / 2 for values in eigenvalues.values())
        parts = [
            self._columns(method, values, n_clusters, bottom)
            for method, values in eigenvalues.items()
        ]
        self._values.data = {
            name: np.concatenate([part[name] for part in parts]) for name in self._values.data
        }
        first = next(iter(eigenvalues.values()))
        set_marks(self._gap, gap_after(n_clusters if n_clusters is not None else 0, first))
        words = [] if n_clusters is None else gap_words(first, n_clusters)
        if not converged:
            words.append("did not converge: estimates")
        end = 1.5 * round_up(max(map(_last, eigenvalues.values())))
        # The highest number of the axis, a power of ten, would touch the note if it stood higher.
        end = max(end, 1.8 * 10.0 ** np.floor(np.log10(end)))
        self._note.text = "\n".join(words) or NOTHING
        self.figure.x_range.update(start=0.4, end=max(map(len, eigenvalues.values())) + 0.6)
        self.figure.y_range.update(start=bottom, end=end)

    def _columns(self, method, values, n_clusters, bottom):
        index = np.arange(1, len(values) + 1)
        before_gap = index <= (len(values) if n_clusters is None else n_clusters)
        return {
            "index": index,
            "place": index + self._offsets[method],
            "value": np.asarray(values),
            "height": heights(values),
            "foot": np.full(len(values), bottom),
            "color": np.where(before_gap, METHOD[method], BETWEEN),
            "marker": np.full(len(values), MARKERS[method][0]),
            # The first eigenvalue is zero in any graph and says nothing.
            "alpha": np.where(index == 1, 0.0, 1.0),
        }


def _last(values):
    """Return the largest eigenvalue, or 1 if all are zero."""
    return float(values[-1]) if values[-1] > ALL_ZERO else 1.0


def heights(values):
    """Return eigenvalues as they are drawn and compared: none below `FLOOR` of the last one."""
    return np.maximum(values, FLOOR * _last(values))


def ratios(values):
    """Return the ratio of each eigenvalue to the one before: (m - 1,) array."""
    drawn = heights(values)
    return drawn[1:] / drawn[:-1]


def gap_words(values, k):
    """Describe the gap after k eigenvalues; for k = 1, the largest one."""
    values = np.asarray(values)
    if values[-1] <= ALL_ZERO:
        return [f"all {len(values)} are 0" if len(values) > 1 else "it is 0"]
    if k >= len(values) or len(values) < 3:
        return []
    at = k if k > 1 else 2 + int(np.argmax(ratios(values)[1:]))
    least = "≥ " * bool(values[at - 1] < FLOOR * values[-1])
    ratio = ratios(values)[at - 1]
    ratio = f"{least}{ratio:,.0f}×" if ratio >= 100 else f"{least}{ratio:.3g}×"
    return [f"gap after {k}: {ratio}" if k > 1 else f"largest gap: {ratio}, after {at}"]


def gap_after(k, values):
    """Return the ends of the rectangle between eigenvalues k and k + 1, a row if there is one."""
    return [(k, k + 1, *heights(values)[k - 1 : k + 1])] if 1 < k < len(values) else []


def round_up(value):
    """Return the next of `AXIS_ENDS` times a power of ten.

    An axis that ends there does not move with every move of a slider.
    """
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(step for step in AXIS_ENDS if step * power >= value) * power)
