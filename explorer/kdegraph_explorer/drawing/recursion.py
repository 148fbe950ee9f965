"""The figure of the halving: a bar per level, split in proportion to the kernel sums, the chosen
half widened to the next bar.
"""

from bokeh.models import ColumnDataSource, HoverTool, Range1d

from .figures import FONT, TEXT, plain_figure
from .palette import BETWEEN, MARK, METHOD

BAR_HEIGHT = 0.62  # of a bar, as a share of the distance between two
WIDE_ENOUGH = 0.17  # share of a bar above which a part of it has space for its number


class RecursionPlot:
    """Draws a list of `Halving`.

    Parameters
    ----------
    name : str
        What is seen, for screen readers and tests.
    """

    def __init__(self, name):
        fig = self.figure = plain_figure(
            description=name, x_range=Range1d(-0.24, 1.04), y_range=Range1d(10.8, -1)
        )
        fig.axis.visible = False
        fig.grid.visible = False
        self._bars, self._funnels, self._needles, self._texts = map(
            ColumnDataSource, empty_columns()
        )
        self._draw_shapes(fig)
        self._draw_texts(fig)

    def _draw_shapes(self, fig):
        fig.patches(
            "xs",
            "ys",
            source=self._funnels,
            fill_color=METHOD["kde"],
            fill_alpha=0.13,
            line_color=None,
        )
        bars = fig.quad(
            "left",
            "right",
            "bottom",
            "top",
            source=self._bars,
            fill_color=METHOD["kde"],
            fill_alpha="alpha",
            line_color=METHOD["kde"],
            line_width=0.5,
            name="bars",
        )
        fig.segment("x", "y0", "x", "y1", source=self._needles, line_color=MARK, line_width=2.5)
        tips = [
            ("points", "@points{0,0}"),
            ("kernel sum", "@sum{0.000a}"),
            ("probability", "@probability{0.0000}"),
        ]
        fig.add_tools(HoverTool(renderers=[bars], tooltips=tips))

    def _draw_texts(self, fig):
        fig.text(
            "x",
            "y",
            "text",
            source=self._texts,
            text_align="align",
            text_baseline="middle",
            text_color="color",
            text_font={"value": FONT},
            text_font_size=TEXT["text_font_size"],
        )

    def show(self, steps, n_levels, sample):
        """Draw the first steps.

        Parameters
        ----------
        steps : list of Halving
        n_levels : int
            How many there are in all: the figure keeps space for them.
        sample : str
            What to write below the last.
        """
        self.figure.y_range.update(start=n_levels + 0.5, end=-1)
        columns = empty_columns()
        bars, funnels, needles, texts = columns
        if steps:
            append(texts, -0.02, -0.75, "points", "right", BETWEEN)
        for level, step in enumerate(steps):
            append(texts, -0.02, level, f"{step.stop - step.start:,}", "right", BETWEEN)
            append_halves(bars, texts, level, step)
            if level + 1 < n_levels:
                append_funnel(funnels, level, step)
            reach = BAR_HEIGHT / 2 + 0.12
            append(needles, step.uniform, level - reach, level + reach)
        if sample:
            append(texts, 0.5, n_levels, f"the sample: {sample}", "center", BETWEEN)
        sources = (self._bars, self._funnels, self._needles, self._texts)
        for source, data in zip(sources, columns, strict=True):
            source.data = data


def empty_columns():
    """Columns without rows: of the bars, the funnels between them, the needles, and the texts."""
    bars = ("left", "right", "bottom", "top", "alpha", "points", "sum", "probability")
    texts = ("x", "y", "text", "align", "color")
    return tuple(
        {name: [] for name in names} for names in (bars, ("xs", "ys"), ("x", "y0", "y1"), texts)
    )


def append(columns, *values):
    """Add a row."""
    for column, value in zip(columns.values(), values, strict=True):
        column.append(value)


def append_halves(bars, texts, level, step):
    """Add the two halves of one step, and their kernel sums where there is space for them."""
    half = BAR_HEIGHT / 2
    for low, high, count, total, chosen in (
        (0.0, step.share, step.middle - step.start, step.left, step.goes_left),
        (step.share, 1.0, step.stop - step.middle, step.right, not step.goes_left),
    ):
        alpha = 0.85 if chosen else 0.18
        append(bars, low, high, level + half, level - half, alpha, count, total, high - low)
        if high - low > WIDE_ENOUGH:
            color = "#FFFFFF" if chosen else BETWEEN
            append(texts, (low + high) / 2, level, f"{total:.3g}", "center", color)


def append_funnel(funnels, level, step):
    """Add the shape that widens the chosen half to the next bar."""
    half = BAR_HEIGHT / 2
    low, high = (0.0, step.share) if step.goes_left else (step.share, 1.0)
    top, bottom = level + half, level + 1 - half
    append(funnels, [low, high, 1.0, 0.0], [top, top, bottom, bottom])
