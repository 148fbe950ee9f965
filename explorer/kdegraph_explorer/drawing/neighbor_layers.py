"""What is drawn around one point, and in which boxes the halving looks for its neighbor."""

import numpy as np
from bokeh.models import ColumnDataSource
from kdegraph import Kernel

from .figures import FONT, TEXT
from .palette import MARK, METHOD, rgb

FIELD_SIZE = 96  # pixels along each side of the image of the kernel, which is smooth


class NeighborLayers:
    """What is drawn around one point: the kernel as an image, its width as a circle, edges and dots
    for the sampled neighbors, rings for the nearest ones.

    Parameters
    ----------
    figure : bokeh.plotting.figure
        Gets renderers with the names "kernel", "width", "edges", "sampled" and "nearest".

    Attributes
    ----------
    point : ColumnDataSource
        The place of the point.
    """

    def __init__(self, figure):
        self._kernel = ColumnDataSource({"image": [], "x": [], "y": [], "dw": [], "dh": []})
        self._width = ColumnDataSource({"x": [], "y": [], "diameter": [], "top": [], "text": []})
        self._edges = ColumnDataSource({"x0": [], "y0": [], "x1": [], "y1": [], "width": []})
        self._sampled = ColumnDataSource({"x": [], "y": []})
        self._nearest = ColumnDataSource({"x": [], "y": []})
        self.point = ColumnDataSource({"x": [], "y": []})
        self._add_kernel(figure)
        self._add_neighbors(figure)

    def _add_kernel(self, figure):
        """Add the image of the kernel, and the circle of its width with a label."""
        kernel = figure.image_rgba(
            "image", "x", "y", "dw", "dh", source=self._kernel, name="kernel"
        )
        kernel.level = "underlay"
        figure.text(
            "x",
            "top",
            text="text",
            text_color=MARK,
            text_align="center",
            text_baseline="bottom",
            text_font={"value": FONT},
            text_font_size=TEXT["text_font_size"],
            source=self._width,
        )
        figure.ellipse(
            "x",
            "y",
            width="diameter",
            height="diameter",
            fill_color=None,
            line_color=MARK,
            line_width=1.5,
            line_dash="dashed",
            source=self._width,
            name="width",
        )

    def _add_neighbors(self, figure):
        """Add the edges and the marks of the neighbors."""
        figure.segment(
            "x0",
            "y0",
            "x1",
            "y1",
            line_width="width",
            line_color=METHOD["kde"],
            line_alpha=0.7,
            source=self._edges,
            name="edges",
        )
        figure.scatter(
            "x",
            "y",
            size=7,
            fill_color=METHOD["kde"],
            line_color=None,
            source=self._sampled,
            name="sampled",
        )
        figure.scatter(
            "x",
            "y",
            size=12,
            fill_color=None,
            line_color=METHOD["knn"],
            line_width=1.8,
            source=self._nearest,
            name="nearest",
        )

    def place(self, places, found):
        """Draw the neighbors in a `Neighborhood`; `places` is where all points lie."""
        here, ends = places[found.point], places[found.sampled]
        start = np.broadcast_to(here, ends.shape)
        self._edges.data = {
            "x0": start[:, 0],
            "y0": start[:, 1],
            "x1": ends[:, 0],
            "y1": ends[:, 1],
            "width": 1 + 3 * found.weight / found.weight.max() if len(found.weight) else [],
        }
        self._sampled.data = {"x": ends[:, 0], "y": ends[:, 1]}
        self._nearest.data = {"x": places[found.nearest, 0], "y": places[found.nearest, 1]}
        self.point.data = {"x": here[:1], "y": here[1:]}

    def paint_kernel(self, kernel, sigma, here, reach):
        """Paint a kernel of this bandwidth around the place `here`."""
        steps = np.linspace(-reach, reach, FIELD_SIZE)
        grid = here + np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
        values = Kernel(kernel, sigma).pairwise(grid, here[None])[:, 0]
        pixels = np.empty((FIELD_SIZE, FIELD_SIZE, 4), dtype=np.uint8)
        pixels[:, :, :3] = rgb(METHOD["kde"])
        pixels[:, :, 3] = 110 * values.reshape(FIELD_SIZE, FIELD_SIZE)
        x, y = here - reach
        self._kernel.data = {
            "image": [pixels.view(np.uint32)[:, :, 0]],
            "x": [x],
            "y": [y],
            "dw": [2 * reach],
            "dh": [2 * reach],
        }

    def paint_no_kernel(self):
        """Take the image of the kernel away."""
        self._kernel.data = {name: [] for name in self._kernel.data}

    def draw_width(self, here, sigma):
        """Draw the circle of the points at distance sigma from the place `here`."""
        self._width.data = {
            "x": here[:1],
            "y": here[1:],
            "diameter": [2 * sigma],
            "top": here[1:] + sigma,
            "text": [f"σ = {sigma:.3g}"],
        }

    def draw_no_width(self):
        """Take the circle away."""
        self._width.data = {name: [] for name in self._width.data}


def mark_point(figure, source):
    """Draw a cross at the place in a source."""
    figure.scatter(
        "x", "y", marker="cross", size=16, line_width=2.5, line_color=MARK, source=source
    )


def box_source(figure):
    """The source of boxes that are drawn in a figure."""
    source = ColumnDataSource({"left": [], "right": [], "bottom": [], "top": [], "width": []})
    figure.quad(
        "left",
        "right",
        "bottom",
        "top",
        fill_color=None,
        line_color=METHOD["kde"],
        line_width="width",
        line_alpha=0.8,
        source=source,
        name="boxes",
    )
    return source


def boxes(places, parts):
    """The columns for `box_source`: a box around each part of the points, ever thicker."""
    corners = [(places[part].min(axis=0), places[part].max(axis=0)) for part in parts]
    low, high = (np.array([pair[side] for pair in corners]).reshape(-1, 2) for side in (0, 1))
    return {
        "left": low[:, 0],
        "right": high[:, 0],
        "bottom": low[:, 1],
        "top": high[:, 1],
        "width": np.linspace(1, 2.5, len(parts)) if parts else [],
    }
