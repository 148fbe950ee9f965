"""Draw the clusters at a range of scales as bands, and the eigengaps below them."""

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    PrintfTickFormatter,
    Range1d,
    Span,
)

from .figures import GLYPH_TEXT, plain_figure
from .palette import BETWEEN, MARK, METHOD, cluster_colors, in_hex

BANDS = ("xs", "ys", "color", "alpha", "sigma", "size", "stability")
GAPS = ("sigma", "gap", "number")
LEFT = 56  # pixels of the numbers beside the lower figure; the axes of both begin there


class RibbonPlot:
    """Draw a `ClusterScales` in two figures with one horizontal axis.

    The renderers of `figure` have the names "flows" and "bands", and those of `gaps` the names
    "gaps" and "numbers".
    """

    def __init__(self):
        x_range = Range1d(0.1, 1)
        options = {"tools": "", "x_range": x_range, "x_axis_type": "log"}
        self.figure = plain_figure(
            description="Scales: clusters", y_range=Range1d(-0.6, 0.6), **options
        )
        self.gaps = plain_figure(description="Scales: eigengaps", y_range=Range1d(0, 1), **options)
        self._flows, self._bands = (ColumnDataSource({name: [] for name in BANDS}) for _ in "ab")
        self._gaps = ColumnDataSource({name: [] for name in GAPS})
        self._marks = [Span(dimension="height", line_color=MARK, line_width=1.5) for _ in "ab"]
        for figure, mark in zip((self.figure, self.gaps), self._marks, strict=True):
            mark.visible = False
            figure.add_layout(mark)
            figure.min_border_left = LEFT
            figure.min_border_right = 16
            figure.xaxis.formatter = PrintfTickFormatter(format="%.3g")
            figure.ygrid.visible = False
        self._draw_bands()
        self._draw_gaps()
        self.clear()

    def _draw_bands(self):
        look = {"fill_color": "color", "fill_alpha": "alpha", "line_color": None}
        self.figure.patches("xs", "ys", source=self._flows, name="flows", **look)
        drawn = self.figure.patches("xs", "ys", source=self._bands, name="bands", **look)
        tips = [("σ", "@sigma{0.000}"), ("points", "@size{0,0}"), ("stability", "@stability{0.00}")]
        self.figure.add_tools(HoverTool(renderers=[drawn], tooltips=tips))
        self.figure.axis.visible = False  # it is that of the lower figure

    def _draw_gaps(self):
        look = {"source": self._gaps, "color": METHOD["kde"]}
        self.gaps.line("sigma", "gap", line_width=1.5, line_alpha=0.6, **look)
        dots = self.gaps.scatter("sigma", "gap", size=6, name="gaps", **look)
        self.gaps.text(
            "sigma",
            "gap",
            text="number",
            source=self._gaps,
            name="numbers",
            text_align="center",
            text_baseline="bottom",
            y_offset=-6,
            text_color=BETWEEN,
            **GLYPH_TEXT,
        )
        tips = [("clusters", "@number"), ("σ", "@sigma{0.000}"), ("eigengap", "@gap{0.000}")]
        self.gaps.add_tools(HoverTool(renderers=[dots], tooltips=tips))
        self.gaps.yaxis.ticker.desired_num_ticks = 3
        self.gaps.xaxis.axis_label, self.gaps.yaxis.axis_label = "kernel width σ", "eigengap"
        self.gaps.xaxis.axis_label_standoff = 2

    def clear(self):
        """Draw nothing."""
        for source in (self._flows, self._bands, self._gaps):
            source.data = {name: [] for name in source.data}
        self.mark(None)
        self._show_axes(False)

    def _show_axes(self, visible):
        self.gaps.axis.visible = self.figure.xgrid.visible = self.gaps.xgrid.visible = visible

    def show(self, found, numbers):
        """Draw a `ClusterScales`; `numbers` are those of the colors of its bands."""
        outlines = found.outlines()
        sizes = np.array([np.bincount(labels, minlength=len(numbers)) for labels in found.labels])
        colors = list(map(in_hex, cluster_colors(max(numbers) + 1)))
        for source, drawn in (
            (self._flows, [one for one in outlines if one.into is not None]),
            (self._bands, [one for one in outlines if one.into is None]),
        ):
            source.data = {
                "xs": [np.r_[10**one.x, 10 ** one.x[::-1]] for one in drawn],
                "ys": [np.r_[one.low, one.high[::-1]] for one in drawn],
                "color": [colors[numbers[one.cluster]] for one in drawn],
                "alpha": [one.opacity for one in drawn],
                "sigma": [found.sigma[one.scale] for one in drawn],
                "size": [sizes[one.scale, one.cluster] for one in drawn],
                "stability": [found.stability[one.scale, one.cluster] for one in drawn],
            }
        gaps = np.nan_to_num(found.eigengap)
        self._gaps.data = {
            "sigma": found.sigma,
            "gap": gaps,
            "number": [str(number) for number in found.n_clusters],
        }
        height = 0.04 + max(one.high.max() for one in outlines)
        self.figure.y_range.update(start=-height, end=height)
        self.gaps.y_range.update(start=0, end=1.45 * max(gaps.max(), 1e-3))
        self._show_axes(True)
        ends = 10 ** np.array([outlines[0].x[0], max(one.x[-1] for one in outlines)])
        self.figure.x_range.update(start=ends[0] / 1.03, end=ends[1] * 1.03)
        for figure in (self.figure, self.gaps):
            figure.xaxis.ticker = FixedTicker(ticks=round_numbers(*ends))

    def mark(self, sigma):
        """Draw a vertical line at a sigma, or none for None."""
        for mark in self._marks:
            mark.update(location=sigma, visible=sigma is not None)


def round_numbers(start, end):
    """Return round numbers between two positive ones: the more, the nearer these are."""
    powers = 10.0 ** np.arange(np.floor(np.log10(start)), np.ceil(np.log10(end)) + 1)
    steps = (1, 1.5, 2, 3, 5, 7) if end < 15 * start else (1, 2, 5) if end < 1e4 * start else (1,)
    ticks = np.outer(powers, steps).ravel()
    return ticks[(ticks >= start) & (ticks <= end)].tolist()
