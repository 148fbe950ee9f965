"""Points and edges drawn into images, by datashader: drawn here rather than in the browser, 300,000 edges are one image.

Datashader compiles in every process anew what it draws with. Its smooth lines, spread points and so on would take seconds each; so there is
one kind of line and one of point, and what else is wanted is made of these by numpy and scipy.
"""

import datashader
import numpy as np
import pandas as pd
from scipy.ndimage import convolve

SMOOTH_EDGES = 60_000  # up to here lines are smoothed: drawn twice as large; among more, nobody sees the steps
EDGE_OPACITY = 0.8
CROWD = 0.25  # points that would cover more of the image than this become translucent


def draw(viewport, positions, colours, palette, *, edges=None, radius=None, above=False):
    """Draw edges and points as an image.

    Parameters
    ----------
    viewport : (x0, x1, y0, y1, width, height)
        The part of the plane, and the size of the image in pixels.
    positions : (n, 2) float array
    colours : (n,) int array
        Rows of `palette`.
    palette : (k + 1, 3) uint8 array
        The last row colours the edges between two colours.
    edges : (rows, columns), optional
        Two int arrays of equal length.
    radius : float, optional
        Of the points, in pixels; None draws no points.
        Where they are crowded they are translucent, so that their density shows.
    above : bool
        Whether the edges lie above the points, which then have the neutral colour.

    Returns
    -------
    (height, width) uint32 array
        RGBA, the first row at the bottom, as Bokeh's ``image_rgba`` takes it.
    """
    x0, x1, y0, y1, width, height = viewport
    # In units of the viewport: huge or tiny coordinates keep their digits.
    x = ((positions[:, 0] - x0) / (x1 - x0)).astype(np.float32)
    y = ((positions[:, 1] - y0) / (y1 - y0)).astype(np.float32)
    image = np.zeros((height, width, 4), dtype=np.float32)
    if radius is not None and above:
        _lay_points(image, x, y, np.full(len(colours), len(palette) - 1), palette, radius)
    if edges is not None and len(edges[0]):
        ink = _edge_counts((width, height), x, y, colours, len(palette), *edges)
        total = _over_colours(ink)
        inked = total[total > 0]
        full = max(1.2, 1.1 * float(inked.mean())) if inked.size else 1.0
        _lay_over(image, ink, total, palette, EDGE_OPACITY * (1 - np.exp(-total / full)))
    if radius is not None and not above:
        _lay_points(image, x, y, colours, palette, radius)
    return _packed(image)


def _lay_points(image, x, y, colours, palette, radius):
    height, width, _ = image.shape
    counts = _point_counts((width, height), x, y, colours, len(palette), radius)
    seen = np.count_nonzero((x > 0) & (x < 1) & (y > 0) & (y < 1))
    opacity = min(0.9, CROWD * width * height / max(1.0, seen * np.pi * radius**2))
    total = _over_colours(counts)
    _lay_over(image, counts, total, palette, 1 - (1 - opacity) ** total)


def _edge_counts(size, x, y, colours, n_colours, rows, columns):
    """How many edges of each colour cross each pixel: (height, width, n_colours) float32."""
    width, height = size
    colour = _categories(np.where(colours[rows] == colours[columns], colours[rows], n_colours - 1), n_colours)
    table = pd.DataFrame({"x0": x[rows], "y0": y[rows], "x1": x[columns], "y1": y[columns], "colour": colour}, copy=False)
    scale = 2 if len(rows) <= SMOOTH_EDGES else 1
    counts = _canvas(scale * width, scale * height).line(table, x=["x0", "x1"], y=["y0", "y1"], axis=1, agg=COUNT, line_width=0)
    if scale == 1:
        return counts.data.astype(np.float32)
    rows = counts.data[0::2] + counts.data[1::2]
    return (rows[:, 0::2] + rows[:, 1::2]) * np.float32(0.5)


def _point_counts(size, x, y, colours, n_colours, radius):
    """How many points of each colour cover each pixel: (height, width, n_colours) float32."""
    table = pd.DataFrame({"x": x, "y": y, "colour": _categories(colours, n_colours)}, copy=False)
    counts = _canvas(*size).points(table, "x", "y", agg=COUNT)
    steps = np.arange(-np.ceil(radius), np.ceil(radius) + 1)
    disc = np.clip(radius + 0.7 - np.hypot(steps[:, None], steps[None, :]), 0, 1)
    return convolve(counts.data.astype(np.float32), disc[:, :, None].astype(np.float32), mode="constant")


def _canvas(width, height):
    return datashader.Canvas(width, height, x_range=(0, 1), y_range=(0, 1))


COUNT = datashader.by("colour", datashader.count())


def _categories(colours, n_colours):
    return pd.Categorical.from_codes(colours.astype(np.int8 if n_colours < 128 else np.int32), categories=range(n_colours))


def _over_colours(counts):
    """The sum over the last axis, which is short: as a product ten times as fast."""
    return counts @ np.ones(counts.shape[-1], dtype=counts.dtype)


def _lay_over(image, counts, total, palette, alpha):
    """Lay the mean colour of the `counts` over `image` (h, w, 4), which is premultiplied by alpha; all values from 0 to 1."""
    image *= (1 - alpha)[:, :, None]
    image[:, :, :3] += (alpha / np.maximum(total, 1e-12))[:, :, None] * (counts @ (palette.astype(np.float32) / 255))
    image[:, :, 3] += alpha


def _packed(image):
    """Premultiplied floats to the bytes of a canvas, which are not premultiplied."""
    alpha = image[:, :, 3:]
    pixels = np.empty(image.shape, dtype=np.uint8)
    np.multiply(image[:, :, :3] / np.maximum(alpha, 1e-6), 255, out=pixels[:, :, :3], casting="unsafe")
    np.multiply(alpha[:, :, 0], 255, out=pixels[:, :, 3], casting="unsafe")
    return pixels.view(np.uint32).reshape(image.shape[:2])
