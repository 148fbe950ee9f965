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
        self._bars = ColumnDataSource(
            {
                name: []
                for name in (
                    "left",
                    "right",
                    "bottom",
                    "top",
                    "alpha",
                    "points",
                    "sum",
                    "probability",
                )
            }
        )
        self._funnels = ColumnDataSource({"xs": [], "ys": []})
        self._needles = ColumnDataSource({"x": [], "y0": [], "y1": []})
        self._texts = ColumnDataSource({"x": [], "y": [], "text": [], "align": [], "color": []})
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
        tips = [
            ("points", "@points{0,0}"),
            ("kernel sum", "@sum{0.000a}"),
            ("probability", "@probability{0.0000}"),
        ]
        fig.add_tools(HoverTool(renderers=[bars], tooltips=tips))

    def show(self, steps, n_levels, sample):
        """Draw the first steps.

        Parameters
        ----------
        steps : list of Halving
        n_levels : int
            How many there are in all: the figure keeps room for them.
        sample : str
            What to write below the last.
        """
        self.figure.y_range.update(start=n_levels + 0.5, end=-1)
        bars = {name: [] for name in self._bars.data}
        funnels, needles = {"xs": [], "ys": []}, {"x": [], "y0": [], "y1": []}
        texts = {"x": [], "y": [], "text": [], "align": [], "color": []}

        def write(x, y, text, align, color=BETWEEN):
            for name, value in zip(texts, (x, y, text, align, color), strict=True):
                texts[name].append(value)

        half = BAR_HEIGHT / 2
        if steps:
            write(-0.02, -0.75, "points", "right")
        for level, step in enumerate(steps):
            share = step.share
            write(-0.02, level, f"{step.stop - step.start:,}", "right")
            for low, high, count, total, chosen in (
                (0.0, share, step.middle - step.start, step.left, step.goes_left),
                (share, 1.0, step.stop - step.middle, step.right, not step.goes_left),
            ):
                values = (
                    low,
                    high,
                    level + half,
                    level - half,
                    0.85 if chosen else 0.18,
                    count,
                    total,
                    high - low,
                )
                for name, value in zip(bars, values, strict=True):
                    bars[name].append(value)
                if high - low > WIDE_ENOUGH:
                    write(
                        (low + high) / 2,
                        level,
                        f"{total:.3g}",
                        "center",
                        "#FFFFFF" if chosen else BETWEEN,
                    )
            low, high = (0.0, share) if step.goes_left else (share, 1.0)
            if level + 1 < n_levels:
                funnels["xs"].append([low, high, 1.0, 0.0])
                funnels["ys"].append(
                    [level + half, level + half, level + 1 - half, level + 1 - half]
                )
            for name, value in zip(
                needles, (step.uniform, level - half - 0.12, level + half + 0.12), strict=True
            ):
                needles[name].append(value)
        if sample:
            write(0.5, n_levels, f"the sample: {sample}", "center")
        self._bars.data, self._funnels.data, self._needles.data, self._texts.data = (
            bars,
            funnels,
            needles,
            texts,
        )
