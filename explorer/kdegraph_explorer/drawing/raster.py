"""Draw points and edges into images on the server: 300,000 edges become one image.

Compiled code adds up the inks of points of one pixel and of lines as narrow. NumPy makes smooth
lines, larger points and translucent colors of them.

Coordinates run from 0 to 1, from left to right and from bottom to top. Compiled code adds rows of
four numbers to images of shape (height, width, 4). Colors are mixed in arrays of shape (height, 4,
width): red, green and blue, multiplied by the opacity, and the opacity.
"""

import numpy as np
from kdegraph.runtime.jit import jit

PALE = 0.3  # opacity of pale points, as a share of that of others


def draw(
    viewport,
    positions,
    colors,
    palette,
    *,
    edges=None,
    radius=None,
    opacity=1.0,
    pale=None,
    above=False,
):
    """Draw edges and points as an image: RGBA as (height, width) uint32, the first row at the
    bottom, as Bokeh's ``image_rgba`` takes it.

    The `viewport` is (x0, x1, y0, y1, width, height), the last two in pixels. `colors` (n,) are
    rows of the `palette` (k + 1, 3), whose last row colors the edges between two colors; `edges`
    are two int arrays, rows and columns. The points have a `radius` in pixels, and None draws none
    of them. Where they are crowded they are translucent, so that their density shows; `opacity` is
    a factor of theirs, and those that are `pale`, (n,) bool, have less ink. If the edges lie
    `above` the points, these have the neutral color.
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
        _lay_over(image, ink, 0.8 * (1 - np.exp(ink[:, 3] / -full)))
    if radius is not None and not above:
        if pale is not None:
            colors, inks = colors + len(inks) * pale, np.vstack([inks, np.float32(PALE) * inks])
        _lay_points(image, x, y, colors, inks, radius, opacity)
    return _packed(image)


def _lay_points(image, x, y, colors, inks, radius, factor):
    height, _, width = image.shape
    seen = np.count_nonzero((x > 0) & (x < 1) & (y > 0) & (y < 1))
    # Points that would cover more than a quarter of the image become translucent.
    opacity = min(0.9, 0.25 * width * height / max(1.0, seen * np.pi * radius**2)) * factor
    ink = _point_ink((width, height), x, y, colors, inks, radius)
    _lay_over(image, ink, 1 - np.exp(np.float32(np.log1p(-opacity)) * ink[:, 3]))


def _edge_ink(size, x, y, colors, inks, rows, columns):
    """Sum the inks of all edges that cross a pixel: (height, 4, width) float32."""
    # Lines are smoothed by drawing them twice as large: each crosses two of the four parts of a
    # pixel. Among more edges, the steps cannot be seen.
    halvings = 1 if len(rows) <= 60_000 else 0
    ends = rows.astype(np.int32), columns.astype(np.int32)
    return _ink(add_lines, size, x, y, *ends, colors, inks / 2**halvings, halvings)


def _point_ink(size, x, y, colors, inks, radius):
    """Sum the inks of all points that cover a pixel: (height, 4, width) float32."""
    width, height = size
    ink = _ink(add_points, size, x, y, colors, inks)
    reach = int(np.ceil(radius))
    steps = np.arange(-reach, reach + 1)
    disc = np.clip(radius + 0.7 - np.hypot(steps[:, None], steps), 0, 1).astype(np.float32)
    around = np.pad(ink, ((reach, reach), (0, 0), (reach, reach)))
    return sum(disc[i, j] * around[i : i + height, :, j : j + width] for i, j in np.argwhere(disc))


def _ink(add, size, *marks):
    """Return what a compiled function adds to an image: (height, 4, width) float32."""
    width, height = size
    image = np.zeros((height, width, 4), np.float32)
    add(*marks, image)
    return np.ascontiguousarray(image.transpose(0, 2, 1))


def _lay_over(image, ink, opacity):
    """Lay ink over an image, so that it covers each pixel to the given degree."""
    image *= (1 - opacity)[:, None]
    image += ink * (opacity / np.maximum(ink[:, 3], 1e-12))[:, None]


def _packed(image):
    """Return the bytes of a canvas, whose colors are not multiplied by the opacity."""
    opacity = image[:, 3]
    scale = 255 / np.maximum(opacity, 1e-6)
    red, green, blue = ((image[:, i] * scale).astype(np.uint8) for i in range(3))
    return np.stack([red, green, blue, (255 * opacity).astype(np.uint8)], axis=-1).view(np.uint32)[
        :, :, 0
    ]


@jit(borrow=True)
def add_points(x, y, codes, inks, image):
    """Add ``inks[codes[i]]`` to the pixel of each point i that lies in the image."""
    for i in range(x.size):
        if 0.0 <= x[i] <= 1.0 and 0.0 <= y[i] <= 1.0:
            _add(image, _cell(y[i], image.shape[0]), _cell(x[i], image.shape[1]), inks[codes[i]])


@jit(borrow=True)
def add_lines(x, y, rows, columns, codes, inks, halvings, image):
    """Add an ink to each cell that the line between the points rows[e] and columns[e] crosses.

    It is the ink of the code of both points, or the last one if they have two codes. A pixel has
    ``2**halvings`` cells along each of its sides.
    """
    height, width = image.shape[0] << halvings, image.shape[1] << halvings
    for e in range(rows.size):
        i, j = rows[e], columns[e]
        begin, end = _part_inside(x[i], y[i], x[j], y[j])
        if begin > end:
            continue
        code = codes[i] if codes[i] == codes[j] else inks.shape[0] - 1
        dx, dy = x[j] - x[i], y[j] - y[i]
        _add_line(
            _cell(x[i] + begin * dx, width),
            _cell(y[i] + begin * dy, height),
            _cell(x[i] + end * dx, width),
            _cell(y[i] + end * dy, height),
            inks[code],
            halvings,
            image,
        )


@jit(borrow=True)
def _part_inside(x0, y0, x1, y1):
    """Return the part of a line that lies in the unit square, as two shares of its length.

    The first is larger than the second if nothing lies in it.
    """
    begin, end = 0.0, 1.0
    for start, step in ((x0, x1 - x0), (y0, y1 - y0)):
        if step == 0.0:
            if not 0.0 <= start <= 1.0:
                return 1.0, 0.0
        else:
            enter, leave = -start / step, (1.0 - start) / step
            begin = max(begin, min(enter, leave))
            end = min(end, max(enter, leave))
    return begin, end


@jit(borrow=True)
def _cell(position, size):
    """Return the number of the cell, of `size`, in which a position between 0 and 1 lies."""
    return min(max(int(position * size), 0), size - 1)


@jit(borrow=True)
def _add_line(x, y, x_end, y_end, ink, halvings, image):
    """Add `ink` to the cells of a line between two cells, both included.

    There is one in each column, or in each row if the line is steep (J. E. Bresenham, IBM Systems
    Journal 4, 1965). Where the line passes exactly between two cells, the same one is taken in both
    directions.
    """
    dx, dy = abs(x_end - x), abs(y_end - y)
    right, up = (1 if x_end > x else -1), (1 if y_end > y else -1)
    steep = dy > dx
    long, short, forward = (dy, dx, up > 0) if steep else (dx, dy, right > 0)
    error = 2 * short - long
    for _ in range(long + 1):
        _add(image, y >> halvings, x >> halvings, ink)
        aside = int(error > 0 or (error == 0 and forward))
        error += 2 * (short - aside * long)
        x += right * (aside if steep else 1)
        y += up * (1 if steep else aside)


@jit(borrow=True)
def _add(image, row, column, ink):
    for channel in range(4):
        image[np.uint32(row), np.uint32(column), channel] += ink[channel]
