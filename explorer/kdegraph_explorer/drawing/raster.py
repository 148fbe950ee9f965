"""Points and edges drawn into images.

Drawn here rather than in the browser, 300,000 edges are one image. The colour of every edge and point is blended per pixel, which needs
four channels at once, so these are kernels of our own; they are compiled once and cached like those of the core.
"""

import numpy as np
from kdegraph._jit import jit


@jit
def _draw_edges(rows, columns, x, y, colours, palette, canvas):
    """Add anti-aliased lines to `canvas` (h, w, 4): the sums of red, green, blue and the amount of ink.

    Lines are clipped to the canvas (Liang and Barsky) and split between the two nearest pixels at each step along the longer side (Wu).
    """
    height, width = canvas.shape[0], canvas.shape[1]
    neutral = palette.shape[0] - 1
    for e in range(rows.shape[0]):
        i, j = rows[e], columns[e]
        x0, y0, dx, dy = x[i], y[i], x[j] - x[i], y[j] - y[i]
        start, stop = 0.0, 1.0
        for side in range(4):
            if side == 0:
                p, q = -dx, x0
            elif side == 1:
                p, q = dx, width - 1.0 - x0
            elif side == 2:
                p, q = -dy, y0
            else:
                p, q = dy, height - 1.0 - y0
            if p == 0.0:
                if q < 0.0:
                    stop = -1.0
            elif p < 0.0:
                start = max(start, q / p)
            else:
                stop = min(stop, q / p)
        if start > stop:
            continue
        colour = colours[i] if colours[i] == colours[j] else neutral
        red, green, blue = palette[colour, 0], palette[colour, 1], palette[colour, 2]
        n_steps = int(max(abs(dx), abs(dy)) * (stop - start)) + 1
        step = (stop - start) / n_steps
        flat = abs(dx) >= abs(dy)
        for s in range(n_steps):
            t = start + (s + 0.5) * step
            px, py = x0 + t * dx, y0 + t * dy
            c, r = int(px), int(py)
            if flat:
                c2, r2, share = c, min(r + 1, height - 1), py - r
            else:
                c2, r2, share = min(c + 1, width - 1), r, px - c
            ink = 1.0 - share
            canvas[r, c, 0] += ink * red
            canvas[r, c, 1] += ink * green
            canvas[r, c, 2] += ink * blue
            canvas[r, c, 3] += ink
            canvas[r2, c2, 0] += share * red
            canvas[r2, c2, 1] += share * green
            canvas[r2, c2, 2] += share * blue
            canvas[r2, c2, 3] += share


@jit
def _draw_points(x, y, colours, palette, radius, opacity, image):
    """Lay anti-aliased discs over `image` (h, w, 4), premultiplied by alpha, values from 0 to 1."""
    height, width = image.shape[0], image.shape[1]
    n = x.shape[0]
    stride = 7919 if n % 7919 else 7907  # a prime that does not divide n visits all points, in an order that favours no cluster
    for k in range(n):
        i = (k * stride) % n
        if not (-radius < x[i] < width + radius and -radius < y[i] < height + radius):
            continue
        red, green, blue = palette[colours[i], 0], palette[colours[i], 1], palette[colours[i], 2]
        for r in range(max(0, int(y[i] - radius)), min(height, int(y[i] + radius) + 2)):
            for c in range(max(0, int(x[i] - radius)), min(width, int(x[i] + radius) + 2)):
                distance = np.sqrt((c - x[i]) ** 2 + (r - y[i]) ** 2)
                alpha = opacity * min(max(radius + 0.5 - distance, 0.0), 1.0)
                if alpha > 0.0:
                    rest = 1.0 - alpha
                    image[r, c, 0] = alpha * red + rest * image[r, c, 0]
                    image[r, c, 1] = alpha * green + rest * image[r, c, 1]
                    image[r, c, 2] = alpha * blue + rest * image[r, c, 2]
                    image[r, c, 3] = alpha + rest * image[r, c, 3]


INK_BUDGET = 6_000_000  # pixels touched per image; beyond it, every m-th edge stands for m of them
EDGE_OPACITY = 0.8
CROWD = 0.25  # points that would cover more of the image than this become translucent


def draw(viewport, positions, colours, palette, *, edges=None, radius=None):
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

    Returns
    -------
    (height, width) uint32 array
        RGBA, the first row at the bottom, as Bokeh's ``image_rgba`` takes it.
    """
    x0, x1, y0, y1, width, height = viewport
    x = ((positions[:, 0] - x0) * (width / (x1 - x0)) - 0.5).astype(np.float32)
    y = ((positions[:, 1] - y0) * (height / (y1 - y0)) - 0.5).astype(np.float32)
    shades = palette.astype(np.float32) / 255
    image = np.zeros((height, width, 4), dtype=np.float32)
    if edges is not None and len(edges[0]):
        rows, columns = edges
        reach = np.maximum(np.abs(x[rows] - x[columns]), np.abs(y[rows] - y[columns]))
        every = max(1, int(np.ceil(np.minimum(reach, width).sum(dtype=np.float64) / INK_BUDGET)))
        _draw_edges(rows[::every], columns[::every], x, y, colours, shades, image)
        ink = image[:, :, 3]
        inked = ink[ink > 0]
        full = max(1.2, 1.1 * float(inked.mean())) if inked.size else 1.0
        alpha = EDGE_OPACITY * (1 - np.exp(-ink / full))
        image *= (alpha / np.maximum(ink, 1e-12))[:, :, None]
    if radius is not None:
        seen = np.count_nonzero((x > 0) & (x < width) & (y > 0) & (y < height))
        opacity = min(0.9, CROWD * width * height / max(1.0, seen * np.pi * radius**2))
        _draw_points(x, y, colours, shades, radius, opacity, image)
    return _packed(image)


def _packed(image):
    """Premultiplied floats to the bytes of a canvas, which are not premultiplied."""
    alpha = image[:, :, 3:]
    pixels = np.empty(image.shape, dtype=np.uint8)
    np.multiply(image[:, :, :3] / np.maximum(alpha, 1e-6), 255, out=pixels[:, :, :3], casting="unsafe")
    np.multiply(alpha[:, :, 0], 255, out=pixels[:, :, 3], casting="unsafe")
    return pixels.view(np.uint32).reshape(image.shape[:2])


MAX_EDGES = 400_000


def edge_list(adjacency, limit=MAX_EDGES):
    """The edges of a graph, or an evenly spread part of them where there are more than `limit`.

    Parameters
    ----------
    adjacency : (n, n) csr_array
        Symmetric.

    Returns
    -------
    rows, columns : int32 arrays
        Each edge once.
    """
    every = max(1, adjacency.nnz // (2 * limit))
    chosen = np.arange(0, adjacency.nnz, every)
    columns = adjacency.indices[chosen].astype(np.int32)
    if every == 1:
        rows = np.repeat(np.arange(adjacency.shape[0], dtype=np.int32), np.diff(adjacency.indptr))
    else:
        rows = (np.searchsorted(adjacency.indptr, chosen, side="right") - 1).astype(np.int32)
    upper = rows < columns
    return rows[upper], columns[upper]
