"""Points and edges drawn into images on the server: 300,000 edges become one image.

The inks of all marks are added up in `marks`, for points of one pixel and lines as narrow. NumPy
makes the rest of them: smooth lines, larger points, translucent colors.

Colors are mixed in arrays of shape (height, 4, width): red, green and blue, multiplied by the
opacity, and the opacity.
"""

import numpy as np

from .marks import add_lines, add_points

# Up to this number of edges, lines are smoothed by drawing them twice as large. Among more edges,
# the steps cannot be seen.
SMOOTH_EDGES = 60_000
EDGE_OPACITY = 0.8
CROWD = 0.25  # points that would cover more of the image than this become translucent


def draw(
    viewport, positions, colors, palette, *, edges=None, radius=None, opacity=1.0, above=False
):
    """Draw edges and points as an image.

    Parameters
    ----------
    viewport : (x0, x1, y0, y1, width, height)
        The part of the plane, and the size of the image in pixels.
    positions : (n, 2) float array
    colors : (n,) int array
        Rows of `palette`.
    palette : (k + 1, 3) uint8 array
        The last row colors the edges between two colors.
    edges : (rows, columns), optional
        Two int arrays of equal length.
    radius : float, optional
        Of the points, in pixels; None draws no points.
        Where they are crowded they are translucent, so that their density shows.
    opacity : float
        A factor of the opacity of the points.
    above : bool
        Whether the edges lie above the points, which then have the neutral color.

    Returns
    -------
    (height, width) uint32 array
        RGBA, the first row at the bottom, as Bokeh's ``image_rgba`` takes it.
    """
    x0, x1, y0, y1, width, height = viewport
    # Arrays of the same types whatever is drawn: for others, also those that are read-only, the
    # kernels would be compiled again.
    positions, colors = np.asarray(positions, np.float64), colors.astype(np.int64)
    # In units of the viewport: huge or tiny coordinates keep their digits.
    x, y = (positions[:, 0] - x0) / (x1 - x0), (positions[:, 1] - y0) / (y1 - y0)
    inks = np.column_stack([palette / 255, np.ones(len(palette))]).astype(np.float32)
    image = np.zeros((height, 4, width), dtype=np.float32)
    if radius is not None and above:
        _lay_points(image, x, y, np.full(len(colors), len(palette) - 1), inks, radius, opacity)
    if edges is not None and len(edges[0]):
        ink = _edge_ink((width, height), x, y, colors, inks, *edges)
        inked = ink[:, 3][ink[:, 3] > 0]
        full = max(1.2, 1.1 * float(inked.mean())) if inked.size else 1.0
        _lay_over(image, ink, EDGE_OPACITY * (1 - np.exp(ink[:, 3] / -full)))
    if radius is not None and not above:
        _lay_points(image, x, y, colors, inks, radius, opacity)
    return _packed(image)


def _lay_points(image, x, y, colors, inks, radius, factor):
    height, _, width = image.shape
    seen = np.count_nonzero((x > 0) & (x < 1) & (y > 0) & (y < 1))
    opacity = min(0.9, CROWD * width * height / max(1.0, seen * np.pi * radius**2)) * factor
    ink = _point_ink((width, height), x, y, colors, inks, radius)
    _lay_over(image, ink, 1 - np.exp(np.float32(np.log1p(-opacity)) * ink[:, 3]))


def _edge_ink(size, x, y, colors, inks, rows, columns):
    """The sum of the inks of all edges that cross a pixel: (height, 4, width) float32."""
    # A line that is drawn twice as large crosses two of the four parts of a pixel.
    halvings = 1 if len(rows) <= SMOOTH_EDGES else 0
    ends = rows.astype(np.int32), columns.astype(np.int32)
    return _ink(add_lines, size, x, y, *ends, colors, inks / 2**halvings, halvings)


def _point_ink(size, x, y, colors, inks, radius):
    """The sum of the inks of all points that cover a pixel: (height, 4, width) float32."""
    width, height = size
    ink = _ink(add_points, size, x, y, colors, inks)
    reach = int(np.ceil(radius))
    steps = np.arange(-reach, reach + 1)
    disc = np.clip(radius + 0.7 - np.hypot(steps[:, None], steps), 0, 1).astype(np.float32)
    around = np.pad(ink, ((reach, reach), (0, 0), (reach, reach)))
    return sum(disc[i, j] * around[i : i + height, :, j : j + width] for i, j in np.argwhere(disc))


def _ink(add, size, *marks):
    """What a function of `marks` adds to an image: (height, 4, width) float32."""
    width, height = size
    image = np.zeros((height, width, 4), np.float32)
    add(*marks, image)
    return np.ascontiguousarray(image.transpose(0, 2, 1))


def _lay_over(image, ink, opacity):
    """Lay ink over an image, so that it covers each pixel to the given degree."""
    image *= (1 - opacity)[:, None]
    image += ink * (opacity / np.maximum(ink[:, 3], 1e-12))[:, None]


def _packed(image):
    """To the bytes of a canvas, whose colors are not multiplied by the opacity: (height, width)
    uint32.
    """
    opacity = image[:, 3]
    scale = 255 / np.maximum(opacity, 1e-6)
    red, green, blue = ((image[:, i] * scale).astype(np.uint8) for i in range(3))
    return np.stack([red, green, blue, (255 * opacity).astype(np.uint8)], axis=-1).view(np.uint32)[
        :, :, 0
    ]
