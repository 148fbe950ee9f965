"""Draw the histogram of some points over that of all others."""

from bokeh.models import (
    BasicTicker,
    BasicTickFormatter,
    FixedTicker,
    NumeralTickFormatter,
    PlainText,
    Range1d,
)

from ..point_columns import shortened
from .figures import plain_figure
from .marks import no_marks
from .palette import BETWEEN

LETTERS = 24  # characters that fit below the plot: of its name, or of the names of all bars
# The browser keeps the names of ticks when numbers follow, which have no ticks at such places.
SHIFT = 2.0**-8


class HistogramPlot:
    """Draw a `Histogram`: bars for the points inside, an outline for those outside.

    `name` becomes that of the figure, for screen readers and tests. The renderers have the names
    "inside" and "outside".
    """

    def __init__(self, name):
        self.figure = plain_figure(
            description=name, x_range=Range1d(0, 1), y_range=Range1d(0, 1), min_border_right=12
        )
        self.figure.xgrid.grid_line_color = None
        self.figure.yaxis.ticker.desired_num_ticks = 3
        self.figure.yaxis.formatter = NumeralTickFormatter(format="0%")
        self.figure.yaxis.axis_label = "rows"
        self._bars = {}
        for part, style in (
            ("inside", {"fill_color": BETWEEN, "fill_alpha": 0.8, "line_color": None}),
            ("outside", {"fill_alpha": 0, "line_color": BETWEEN, "line_width": 1.5}),
        ):
            source = no_marks("left", "right", "top")
            self._bars[part] = self.figure.quad(bottom=0, source=source, name=part, **style)

    def show(self, histogram, name, color):
        """Draw a histogram of the column with a name; the bars have the color."""
        left, right, inside, outside, names = histogram
        if names is not None:
            left, right = left + SHIFT, right + SHIFT
        middle = right if names is None else (left + right) / 2
        start = left if names is None else (left + right) / 2
        self._bars["inside"].glyph.fill_color = color
        bars = {"inside": (left, middle, inside), "outside": (start, right, outside)}
        for part, values in bars.items():
            found = dict(zip(("left", "right", "top"), values, strict=True))
            self._bars[part].data_source.data = found
        margin = 0.02 * (right[-1] - left[0])
        self.figure.x_range.update(start=left[0] - margin, end=right[-1] + margin)
        self.figure.y_range.end = 1.08 * max(inside.max(), outside.max())
        axis = self.figure.xaxis[0]
        axis.axis_label = PlainText(text=shortened(name, LETTERS))
        if names is None:
            ticker = BasicTicker(desired_num_ticks=3)
            formatter = _formatter(left[0], right[-1])
            axis.update(ticker=ticker, formatter=formatter, major_label_overrides={})
        else:
            longest = LETTERS // len(names)
            words = {
                i + SHIFT: PlainText(text=shortened(text, longest)) for i, text in enumerate(names)
            }
            axis.update(ticker=FixedTicker(ticks=list(words)), major_label_overrides=words)


def _formatter(low, high):
    """Return a formatter that writes 20,000 as 20k, unless the numbers would all look alike."""
    largest = max(abs(low), abs(high))
    if largest >= 10_000 and high - low > 0.1 * largest:
        return NumeralTickFormatter(format="0.[0]a")
    return BasicTickFormatter()
