"""Show the segmentation of a photograph."""

from functools import partial

import numpy as np
from bokeh.models import ColumnDataSource
from kdegraph.datasets import expand_labels

from ..drawing.figures import Frame, plain_figure
from ..drawing.palette import cluster_colors
from ..results import METHODS
from .base import View, beside, figure_pane
from .describe import segments as describe_segments


class PictureView(View):
    """Show the picture with the clusters of its pixels laid over it, for both graphs."""

    key, label, area = "picture", "Segmentation", "top"

    def __init__(self, session):
        super().__init__(session)
        self.frame = Frame(lambda: None)
        self._shown = None
        self._pictures, self._overlays, self._glyphs = {}, {}, {}
        cards = [self._picture_card(method, name) for method, name in METHODS.items()]
        self._body = beside(*cards, min_height=240)
        self.follow(self._update, "shown", "result", "segments")
        self.state.param.watch(
            lambda event: [glyph.update(global_alpha=event.new) for glyph in self._glyphs.values()],
            "overlay",
        )

    def _picture_card(self, method, name):
        """Return the card of one graph: the picture, and the segments above it."""
        figure = plain_figure(
            tools="pan,wheel_zoom,zoom_in,zoom_out,reset",
            description=f"{name}: segmentation",
            x_range=self.frame.x_range,
            y_range=self.frame.y_range,
        )
        figure.axis.visible = figure.grid.visible = False
        for store in (self._pictures, self._overlays):
            store[method] = ColumnDataSource({"image": [], "dw": [], "dh": []})
        figure.image_rgba(x=0, y=0, source=self._pictures[method], name="picture")
        look = {"global_alpha": self.state.overlay, "name": "segments"}
        overlay = figure.image_rgba(x=0, y=0, source=self._overlays[method], **look)
        self._glyphs[method] = overlay.glyph
        self.frame.add(figure)
        return self.card(
            name,
            "each color is one cluster of pixels",
            figure_pane(figure, f"{method}-picture"),
            describe=partial(describe_segments, self.state, method),
        )

    @staticmethod
    def applies(state):
        """Return whether the points are the pixels of an image."""
        return state.shown is not None and state.shown.image is not None

    def _update(self):
        if not self.applies(self.state):
            return
        dataset = self.state.shown
        height, width = dataset.image.shape[:2]
        if self._shown is not dataset:
            self._shown = dataset
            image = packed_image(dataset.image)
            for method in METHODS:
                self._pictures[method].data = {"image": [image], "dw": [width], "dh": [height]}
                self._overlays[method].data = {"image": [], "dw": [], "dh": []}
            self.frame.fit((0, width, 0, height))
        for method in METHODS:
            outcome = self.state.outcome(method)
            if outcome is not None and len(outcome.colors) == dataset.n_points:
                image = segments(
                    outcome.colors.reshape(dataset.shape), self.state.segments, dataset.image
                )
                self._overlays[method].data = {"image": [image], "dw": [width], "dh": [height]}


def packed_image(picture):
    """Pack a (height, width, 3) uint8 picture for Bokeh, the first row at the bottom."""
    pixels = np.full((*picture.shape[:2], 4), 255, dtype=np.uint8)
    pixels[:, :, :3] = picture
    return pixels.view(np.uint32)[::-1, :, 0].copy()


def segments(labels, style="colors", picture=None):
    """Draw the clusters of the pixels as an image, the first row at the bottom.

    The `style` is "colors", one for every cluster, "means", the mean color of its pixels in the
    `picture`, or "boundaries", lines where two clusters meet on an image that is clear elsewhere,
    as fine as the pixels of the picture if there is one.
    """
    if style == "boundaries":
        # The boundaries of larger pictures would take too long to draw at their full size.
        fine = picture is not None and picture.shape[0] * picture.shape[1] <= 1_000_000
        if not fine:
            return _boundaries(labels)
        return _boundaries(expand_labels(labels, labels.shape, picture.shape[:2]), thicken=1)
    if style == "means":
        return packed_image(_mean_colors(labels, picture)[labels])
    return packed_image(cluster_colors(int(labels.max()) + 1)[labels])


def _mean_colors(labels, picture):
    full = expand_labels(labels, labels.shape, picture.shape[:2]).ravel()
    counts = np.maximum(np.bincount(full, minlength=labels.max() + 1), 1)
    channels = picture.reshape(-1, 3).T
    sums = [np.bincount(full, weights=values, minlength=len(counts)) for values in channels]
    return np.round(np.stack(sums, axis=1) / counts[:, None]).astype(np.uint8)


def _boundaries(labels, thicken=0):
    """Draw white lines with dark edges, which are seen on any photograph.

    They are `thicken` pixels wider on both sides.
    """
    meet = np.zeros(labels.shape, dtype=bool)
    across, down = labels[:, 1:] != labels[:, :-1], labels[1:] != labels[:-1]
    meet[:, 1:] |= across
    meet[1:] |= down
    edges = np.zeros(labels.shape, dtype=bool)
    edges[:, :-1] |= across
    edges[:-1] |= down
    if thicken:
        from scipy.ndimage import binary_dilation  # slow to import: only photographs need it

        meet = binary_dilation(meet, iterations=thicken)
        edges = binary_dilation(meet, iterations=thicken)
    dark = np.where(edges, np.uint32(0xFF202020), np.uint32(0))
    return np.where(meet, np.uint32(0xFFFFFFFF), dark)[::-1].copy()
