"""Draw the clusters at a range of scales, or numbers, as bands, and the eigengaps below them."""

import numpy as np
from bokeh.models import (
    FixedTicker,
    HoverTool,
    PrintfTickFormatter,
    Range1d,
    Span,
)

from .figures import GLYPH_TEXT, plain_figure
from .marks import no_marks, set_marks
from .palette import BETWEEN, MARK, METHOD, in_hex

BANDS = ("xs", "ys", "color", "alpha", "scale", "size", "stability")
GAPS = ("scale", "gap", "number", "text")
SCALES = {  # what the scales differ in: its name on the axis, a note; what clusters have
    "sigma": ("kernel width σ", ("σ", "@scale{0.000}"), "points"),
    "n_clusters": ("number of segments", ("segments", "@scale{0}"), "pixels"),
}
TALLEST = 0.65  # half of the height of many segments with the gaps between them
N_CLEAREST, APART = 3, 1.2  # numbers of segments that are named, and their least ratio
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
        self._flows, self._bands, self._gaps = no_marks(*BANDS), no_marks(*BANDS), no_marks(*GAPS)
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
        self._band_note = HoverTool(renderers=[drawn])
        self.figure.add_tools(self._band_note)
        self.figure.axis.visible = False  # it is that of the lower figure

    def _draw_gaps(self):
        look = {"source": self._gaps, "color": METHOD["kde"]}
        self.gaps.line("scale", "gap", line_width=1.5, line_alpha=0.6, **look)
        dots = self.gaps.scatter("scale", "gap", size=6, name="gaps", **look)
        self.gaps.text(
            "scale",
            "gap",
            text="text",
            source=self._gaps,
            name="numbers",
            text_align="center",
            text_baseline="bottom",
            y_offset=-6,
            text_color=BETWEEN,
            **GLYPH_TEXT,
        )
        self._gap_note = HoverTool(renderers=[dots])
        self.gaps.add_tools(self._gap_note)
        self.gaps.yaxis.ticker.desired_num_ticks = 3
        self.gaps.yaxis.axis_label = "eigengap"
        self.gaps.xaxis.axis_label_standoff = 2

    def clear(self):
        """Draw nothing."""
        for source in (self._flows, self._bands, self._gaps):
            set_marks(source)
        self.mark(None)
        self._show_axes(False)

    def _show_axes(self, visible):
        self.gaps.axis.visible = self.figure.xgrid.visible = self.gaps.xgrid.visible = visible

    def show(self, bands, colors):
        """Draw `Bands` in the colors (s, c, 3) of each cluster at each scale."""
        found, outlines = bands.found, bands.outlines
        n_bands = found.stability.shape[1]
        sizes = np.array([np.bincount(labels, minlength=n_bands) for labels in found.labels])
        for source, drawn in (
            (self._flows, [one for one in outlines if one.into is not None]),
            (self._bands, [one for one in outlines if one.into is None]),
        ):
            source.data = {
                "xs": [np.r_[10**one.x, 10 ** one.x[::-1]] for one in drawn],
                "ys": [np.r_[one.low, one.high[::-1]] for one in drawn],
                "color": [in_hex(colors[one.scale, one.cluster]) for one in drawn],
                "alpha": [one.opacity for one in drawn],
                "scale": [found.scales[one.scale] for one in drawn],
                "size": [sizes[one.scale, one.cluster] for one in drawn],
                "stability": [found.stability[one.scale, one.cluster] for one in drawn],
            }
        gaps = np.nan_to_num(found.eigengap)
        named = found.n_clusters if found.along == "sigma" else clearest(found)
        self._gaps.data = {
            "scale": found.scales,
            "gap": gaps,
            "number": [str(number) for number in found.n_clusters],
            "text": [str(number) if number in named else "" for number in found.n_clusters],
        }
        height = 0.04 + max(TALLEST if bands.most else 0, *(one.high.max() for one in outlines))
        self.figure.y_range.update(start=-height, end=height)
        self.gaps.y_range.update(start=0, end=1.45 * (gaps.max() or 1e-3))
        ends = 10 ** np.array([one.x[[0, -1]] for one in outlines])
        # Those of more segments come into a window that has room for them.
        self._show_scales(found, np.append(ends, bands.most + 0.5) if bands.most else ends)

    def _show_scales(self, found, ends):
        """Name the scales, and show all of them."""
        self.gaps.xaxis.axis_label, tip, members = SCALES[found.along]
        self._band_note.tooltips = [tip, (members, "@size{0,0}"), ("stability", "@stability{0.00}")]
        of_points = found.along == "sigma"
        gap = ("eigengap", "@gap{0.000}" if of_points else "@gap{0.00000}")
        self._gap_note.tooltips = [("clusters", "@number"), tip, gap][not of_points :]
        self.gaps.yaxis.formatter.use_scientific = of_points
        self._show_axes(True)
        self.figure.x_range.update(start=ends.min() / 1.03, end=ends.max() * 1.03)
        for figure in (self.figure, self.gaps):
            figure.xaxis.ticker = FixedTicker(ticks=round_numbers(ends.min(), ends.max()))

    def mark(self, scale):
        """Draw a vertical line at a scale, or none for None."""
        for mark in self._marks:
            mark.update(location=scale, visible=scale is not None)


def clearest(found):
    """Return the numbers of clusters with the largest eigengaps, without others near them."""
    order = np.argsort(-np.nan_to_num(found.eigengap), kind="stable")
    chosen = []
    for number in found.n_clusters[order].tolist():
        if len(chosen) < N_CLEAREST and all(
            max(number, other) >= APART * min(number, other) for other in chosen
        ):
            chosen.append(number)
    return sorted(chosen)


def round_numbers(start, end):
    """Return round numbers between two positive ones: the more, the nearer these are."""
    powers = 10.0 ** np.arange(np.floor(np.log10(start)), np.ceil(np.log10(end)) + 1)
    steps = (1, 1.5, 2, 3, 5, 7) if end < 15 * start else (1, 2, 5) if end < 1e4 * start else (1,)
    ticks = np.outer(powers, steps).ravel()
    return ticks[(ticks >= start) & (ticks <= end)].tolist()
