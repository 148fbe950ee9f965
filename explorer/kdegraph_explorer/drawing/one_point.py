"""Draw one point with its neighbors, and the halvings that have drawn one of them."""

import numpy as np
from bokeh.models import HoverTool, Range1d
from kdegraph.kde import Kernel

from .figures import GLYPH_TEXT, plain_figure
from .marks import no_marks, set_marks
from .palette import BETWEEN, MARK, METHOD, rgb

FIELD_SIZE = 96  # pixels along each side of the image of the kernel, which is smooth
BARS = ("left", "right", "bottom", "top", "alpha", "points", "sum", "probability")
BAR_HEIGHT = 0.62  # of a bar, as a share of the distance between two


class NeighborLayers:
    """Draw what lies around one point.

    The kernel is an image, its width a circle; sampled neighbors have edges and dots, the nearest
    ones rings. The figure gets renderers with the names "kernel", "width", "edges", "sampled" and
    "nearest". `point` is the source with the place of the point.
    """

    def __init__(self, figure):
        self._kernel = no_marks("image", "x", "y", "dw", "dh")
        self._width = no_marks("x", "y", "diameter", "top", "text")
        self._edges = no_marks("x0", "y0", "x1", "y1", "width")
        self._sampled, self._nearest = no_marks("x", "y"), no_marks("x", "y")
        self.point = no_marks("x", "y")
        figure.image_rgba(source=self._kernel, level="underlay", name="kernel")
        figure.text(
            y="top",
            text_color=MARK,
            text_align="center",
            text_baseline="bottom",
            source=self._width,
            **GLYPH_TEXT,
        )
        figure.ellipse(
            width="diameter",
            height="diameter",
            fill_color=None,
            line_color=MARK,
            line_width=1.5,
            line_dash="dashed",
            source=self._width,
            name="width",
        )
        figure.segment(
            line_width="width",
            line_color=METHOD["kde"],
            line_alpha=0.7,
            source=self._edges,
            name="edges",
        )
        figure.scatter(
            size=7,
            fill_color=METHOD["kde"],
            line_color=None,
            source=self._sampled,
            name="sampled",
        )
        figure.scatter(
            size=12,
            fill_color=None,
            line_color=METHOD["knn"],
            line_width=1.8,
            source=self._nearest,
            name="nearest",
        )

    def place(self, places, found):
        """Draw the neighbors in a `Neighborhood`; `places` are the positions of all points."""
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
        set_marks(self.point, [here])

    def paint_kernel(self, kernel, sigma, here, reach):
        """Paint a kernel of this bandwidth around the place `here`."""
        steps = np.linspace(-reach, reach, FIELD_SIZE)
        grid = here + np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
        values = Kernel(kernel, sigma).pairwise(grid, here[None])[:, 0]
        pixels = np.empty((FIELD_SIZE, FIELD_SIZE, 4), dtype=np.uint8)
        pixels[:, :, :3] = rgb(METHOD["kde"])
        pixels[:, :, 3] = 110 * values.reshape(FIELD_SIZE, FIELD_SIZE)
        x, y = here - reach
        set_marks(self._kernel, [(pixels.view(np.uint32)[:, :, 0], x, y, 2 * reach, 2 * reach)])

    def draw_width(self, here, sigma):
        """Draw the circle of the points at distance sigma from the place `here`."""
        x, y = here
        set_marks(self._width, [(x, y, 2 * sigma, y + sigma, f"σ = {sigma:.3g}")])

    def paint_no_kernel(self):
        """Remove the image of the kernel."""
        set_marks(self._kernel)

    def draw_no_width(self):
        """Remove the circle."""
        set_marks(self._width)


def mark_point(figure, source):
    """Draw a cross at the place in a source."""
    figure.scatter(marker="cross", size=16, line_width=2.5, line_color=MARK, source=source)


def box_source(figure):
    """Return the source of boxes that are drawn in a figure."""
    source = no_marks("left", "bottom", "right", "top", "width")
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
    """Return the rows for `box_source`: a box around each part of the points, ever thicker."""
    widths = np.linspace(1, 2.5, len(parts))
    return [
        (*places[part].min(axis=0), *places[part].max(axis=0), width)
        for part, width in zip(parts, widths, strict=True)
    ]


class RecursionPlot:
    """Draw a list of `Halving`.

    Each level is a bar, split in proportion to the kernel sums; the chosen half widens to the next
    bar.
    """

    def __init__(self, name):
        fig = self.figure = plain_figure(
            description=name, x_range=Range1d(-0.24, 1.04), y_range=Range1d(10.8, -1)
        )
        fig.axis.visible = False
        fig.grid.visible = False
        self._bars = no_marks(*BARS)
        self._funnels = no_marks("xs", "ys")
        self._needles = no_marks("x", "y0", "y1")
        self._texts = no_marks("x", "y", "text", "align", "color")
        fig.patches(
            source=self._funnels, fill_color=METHOD["kde"], fill_alpha=0.13, line_color=None
        )
        bars = fig.quad(
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
        fig.text(
            source=self._texts,
            text_align="align",
            text_baseline="middle",
            text_color="color",
            **GLYPH_TEXT,
        )

    def show(self, steps, n_levels, sample):
        """Draw the first steps of `n_levels`, with `sample` written below the last."""
        self.figure.y_range.update(start=n_levels + 0.5, end=-1)
        half = BAR_HEIGHT / 2
        bars, funnels, needles, texts = [], [], [], []
        if steps:
            texts.append((-0.02, -0.75, "points", "right", BETWEEN))
        for level, step in enumerate(steps):
            texts.append((-0.02, level, f"{step.stop - step.start:,}", "right", BETWEEN))
            append_halves(bars, texts, level, step)
            if level + 1 < n_levels:
                # The chosen half widens to the next bar.
                low, high = (0.0, step.share) if step.goes_left else (step.share, 1.0)
                top, bottom = level + half, level + 1 - half
                funnels.append(([low, high, 1.0, 0.0], [top, top, bottom, bottom]))
            reach = half + 0.12
            needles.append((step.uniform, level - reach, level + reach))
        if sample:
            texts.append((0.5, n_levels, f"the sample: {sample}", "center", BETWEEN))
        set_marks(self._bars, bars)
        set_marks(self._funnels, funnels)
        set_marks(self._needles, needles)
        set_marks(self._texts, texts)


def append_halves(bars, texts, level, step):
    """Add the two halves of one step, with their kernel sums if there is space."""
    half = BAR_HEIGHT / 2
    for low, high, count, total, chosen in (
        (0.0, step.share, step.middle - step.start, step.left, step.goes_left),
        (step.share, 1.0, step.stop - step.middle, step.right, not step.goes_left),
    ):
        alpha = 0.85 if chosen else 0.18
        bars.append((low, high, level + half, level - half, alpha, count, total, high - low))
        if high - low > 0.17:  # there is space for the number
            color = "#FFFFFF" if chosen else BETWEEN
            texts.append(((low + high) / 2, level, f"{total:.3g}", "center", color))
