"""Make Bokeh figures in the explorer's style, and link the windows of those side by side.

The page sets the colors of axes, grid and background for its light or dark theme. A notebook does
not: there, axes and grid have colors that are visible on both.
"""

import numpy as np
from bokeh.core.properties import value
from bokeh.core.property.descriptors import UnsetValueError
from bokeh.events import RangesUpdate, Reset
from bokeh.models import HoverTool, Range1d, WheelZoomTool
from bokeh.plotting import figure

from ..assets import SIZES

# The page sets the same values for its theme, so that all figures look alike.
FONT = "Roboto, system-ui, sans-serif"
TEXT = {"text_font": FONT, "text_font_size": SIZES["small"]}  # style of words within a plot
GLYPH_TEXT = {**TEXT, "text_font": value(FONT)}  # the same for glyphs: a str names a column


def plain_figure(*, tools="", description, **options):
    """Make a Bokeh figure without frame, logo or minor ticks.

    `description` becomes the name of the figure, for screen readers and tests.
    """
    fig = figure(
        tools=tools,
        toolbar_location=None,
        output_backend="canvas",
        sizing_mode="stretch_both",
        name=description,
        min_border=4,
        **options,
    )
    restyle(fig)
    recolor(fig)
    for tool in fig.tools:
        if isinstance(tool, WheelZoomTool):
            fig.toolbar.active_scroll = tool
        elif isinstance(tool, HoverTool):
            tool.point_policy = "snap_to_data"
    return fig


def restyle(fig):
    """Give a Bokeh figure the explorer's style, also one that HoloViews made."""
    fig.outline_line_color = None
    fig.background_fill_alpha = 0
    fig.border_fill_alpha = 0
    for axis in fig.axis:
        axis.minor_tick_line_color = None
        axis.major_tick_out = 3
        axis.major_tick_in = 0
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size = "1em"
        axis.axis_label_standoff = 12  # pixels from the numbers
        axis.axis_label_text_font = axis.major_label_text_font = FONT
        axis.major_label_text_font_size = "0.925em"


def recolor(fig):
    """Give a Bokeh figure colors for where no page sets those of its theme.

    Once, when the figure is made: later, they would take the place of the page's.
    """
    for axis in fig.axis:
        axis.axis_label_text_color = axis.major_label_text_color = "#7A838C"
        axis.axis_line_color = axis.major_tick_line_color = "rgba(128, 128, 128, 0.6)"
    fig.grid.grid_line_color = "rgba(128, 128, 128, 0.22)"
    fig.grid.grid_line_width = 0.5


class Frame:
    """Link the windows of several figures, with a unit of the same length on both axes.

    If the points extend much farther along one axis than along the other, the axes have scales of
    their own. `changed` is called when the window or its size in pixels has changed.
    """

    def __init__(self, changed=lambda: None):
        self.x_range, self.y_range = Range1d(0, 1), Range1d(0, 1)
        self.size = (440, 300)
        self._extent = (0.0, 1.0, 0.0, 1.0)
        self._fitted = True  # whether the whole extent is shown, and no part that the user chose
        self._changed = changed
        self._figures = []

    def add(self, fig):
        """Follow the window and the size of `fig`, which was made with this frame's ranges."""
        self._figures.append(fig)
        fig.on_event(RangesUpdate, self._moved)
        fig.on_event(Reset, lambda event: self.fit(self._extent))
        fig.on_change("inner_width", lambda attr, old, new: self._resized(fig))
        fig.on_change("inner_height", lambda attr, old, new: self._resized(fig))

    @property
    def viewport(self):
        """Return (x0, x1, y0, y1, width, height), the last two in pixels."""
        x, y = self.x_range, self.y_range
        return (x.start, x.end, y.start, y.end, *self.size)

    @property
    def pixel(self):
        """Return the width and the height of a pixel in units of the axes."""
        x0, x1, y0, y1, width, height = self.viewport
        return (x1 - x0) / width, (y1 - y0) / height

    def fit(self, extent):
        """Show all of `extent` = (x0, x1, y0, y1)."""
        self._extent, self._fitted = extent, True
        x0, x1, y0, y1 = extent
        width, height = self.size
        scales = ((x1 - x0) / width, (y1 - y0) / height)  # units per pixel
        if max(scales) <= 8 * min(scales):  # else each axis has a scale of its own
            scales = (max(scales), max(scales))
        for axis, low, high, half in (
            (self.x_range, x0, x1, scales[0] * width / 2),
            (self.y_range, y0, y1, scales[1] * height / 2),
        ):
            start, end = (low + high) / 2 - half, (low + high) / 2 + half
            axis.update(start=start, end=end, reset_start=start, reset_end=end)
        self._changed()

    def fit_all(self):
        """Show everything again."""
        self.fit(self._extent)

    def zoom(self, factor):
        """Show `factor` times as much, around the same middle."""
        for axis in (self.x_range, self.y_range):
            middle, half = (axis.start + axis.end) / 2, (axis.end - axis.start) / 2 * factor
            axis.update(start=middle - half, end=middle + half)
        self._moved()

    def move(self, right, up):
        """Move the window by shares of its width and its height."""
        for axis, share in ((self.x_range, right), (self.y_range, up)):
            way = share * (axis.end - axis.start)
            axis.update(start=axis.start + way, end=axis.end + way)
        self._moved()

    def _moved(self, event=None):
        self._fitted = False
        self._changed()

    def _resized(self, fig):
        try:
            size = (int(fig.inner_width), int(fig.inner_height))
        except UnsetValueError:  # the browser reports width and height one after the other
            return
        if size == self.size or min(size) < 10:
            return
        old, self.size = self.size, size
        n_ticks = max(3, min(6, size[0] // 60))  # a number in 60 pixels
        for shown in self._figures:
            shown.xaxis.ticker.desired_num_ticks = n_ticks
        if self._fitted:
            self.fit(self._extent)
            return
        for axis, before, after in zip((self.x_range, self.y_range), old, size, strict=True):
            middle, half = (axis.start + axis.end) / 2, (axis.end - axis.start) / 2 * after / before
            axis.update(start=middle - half, end=middle + half)
        self._changed()


def extent_of(positions):
    """Return (x0, x1, y0, y1) of points with a margin around them; never empty."""
    # With millions of points, going through each column takes a tenth of the time of axis=0.
    low = np.array([column.min() for column in positions.T])
    high = np.array([column.max() for column in positions.T])
    spread = float((high - low).max())
    size = float(max(abs(low).max(), abs(high).max()))
    if spread <= 1e-9 * size or spread == 0:  # such close points count as one
        spread = size or 1.0  # numbers along the axes would have too many digits
    pad = 0.05 * spread
    flat = (high - low) < 1e-3 * spread
    low, high = low - pad - flat * spread * 0.3, high + pad + flat * spread * 0.3
    return float(low[0]), float(high[0]), float(low[1]), float(high[1])
