"""Draw curves and scatter plots with HoloViews, in the explorer's style.

HoloViews is not thread-safe: use these on the session's own thread only.
"""

import holoviews as hv
import holoviews.plotting.bokeh
import panel as pn
from bokeh.models import Span

from ..patches.panel import growing
from .figures import restyle
from .palette import MARK

hv.renderer("bokeh").webgl = False  # without a GPU it is slow


class LiveElement:
    """Show a HoloViews plot that can change its data.

    It is made when it is first shown, as that takes a fifth of a second. `draw` takes the data and
    returns an element or an overlay, always of the same kinds, and the window (x0, x1, y0, y1). The
    figure gets the name `name`, for screen readers and tests; `css_class` is a hook for tests.
    """

    def __init__(self, name, draw, css_class, **options):
        self.name = name
        self._draw, self._css_class, self._options = draw, css_class, options
        self._marks, self._window, self._pipe = [], None, None
        self.pane = pn.Column(sizing_mode="stretch_both", margin=0, min_height=150)

    def _render(self, data):
        element, self._window = self._draw(data)
        return element.opts(
            responsive=True,
            toolbar=None,
            axiswise=True,
            show_legend=False,
            show_grid=True,
            title="",
            hooks=[self._finish],
            **self._options,
        )

    def _finish(self, plot, element):
        """Set the window and the style again.

        On every update, HoloViews would keep the window of the first data and set its own fonts.
        """
        fig = plot.state
        restyle(fig)
        x0, x1, y0, y1 = self._window
        fig.x_range.update(start=x0, end=x1)
        fig.y_range.update(start=y0, end=y1)
        if fig.name != self.name:
            fig.name = self.name
            self._add_mark(fig)

    def _add_mark(self, fig):
        mark = Span(
            dimension="height", line_color=MARK, line_width=1.5, line_alpha=0.6, visible=False
        )
        self._marks.append(mark)
        fig.add_layout(mark)

    def show(self, data):
        """Draw other data."""
        if self._pipe is not None:
            self._pipe.send(data)
            return
        self._pipe = hv.streams.Pipe(data=data)
        plot = hv.DynamicMap(self._render, streams=[self._pipe])
        options = {
            "sizing_mode": "stretch_both",
            "margin": 0,
            "css_classes": ["kg-plot", self._css_class],
            "linked_axes": False,
        }
        with growing(self.pane):
            self.pane.append(pn.pane.HoloViews(plot, backend="bokeh", **options))

    def mark(self, x):
        """Draw a vertical line at `x`, or none for None, far quicker than other data."""
        for mark in self._marks:
            mark.update(location=x, visible=x is not None)
