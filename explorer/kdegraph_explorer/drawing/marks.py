"""The inks of points and lines, added up pixel by pixel by compiled code.

Coordinates are those of the image: 0 to 1 from its left to its right, and from its bottom to its
top. Inks are rows of four numbers, and so are the pixels of an image of shape (height, width, 4).
"""

import numpy as np
from kdegraph.runtime.jit import jit


@jit(borrow=True)
def add_points(x, y, codes, inks, image):
    """Add ``inks[codes[i]]`` to the pixel in which the point i lies, if it lies in the image."""
    for i in range(x.size):
        if 0.0 <= x[i] <= 1.0 and 0.0 <= y[i] <= 1.0:
            _add(image, _cell(y[i], image.shape[0]), _cell(x[i], image.shape[1]), inks[codes[i]])


@jit(borrow=True)
def add_lines(x, y, rows, columns, codes, inks, halvings, image):
    """Add an ink to each cell that the line between the points rows[e] and columns[e] crosses, for
    all e: that of their code, or the last one where they have two codes.

    A pixel has ``2**halvings`` cells along each of its sides.
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
    """The part of the line from (x0, y0) to (x1, y1) that lies in the unit square, as two shares of
    its length; the first is larger than the second if nothing does.
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
    """The number of the cell, of `size`, in which a position between 0 and 1 lies."""
    return min(max(int(position * size), 0), size - 1)


@jit(borrow=True)
def _add_line(x, y, x_end, y_end, ink, halvings, image):
    """Add `ink` to the cells of a line between two cells, both included: one in each column, or in
    each row if it is steep (J. E. Bresenham, IBM Systems Journal 4, 1965).

    Where the line passes exactly between two cells, the same one is taken in both directions.
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
