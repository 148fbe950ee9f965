"""Inks of points and lines, against exact positions."""

from fractions import Fraction

import numpy as np
from kdegraph_explorer.drawing.raster import add_lines, add_points, draw

SIZE = 16
INKS = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]], dtype=np.float32)
RED, GREEN, BLUE = range(3)


def lines(ends, codes=None, halvings=0, size=SIZE):
    """The image of some lines, given as rows of x0, y0, x1, y1."""
    points = np.asarray(ends, dtype=float).reshape(-1, 2)
    x, y = points.T.copy()
    codes = np.zeros(len(x), np.int64) if codes is None else np.asarray(codes)
    numbers = np.arange(len(x))
    image = np.zeros((size, size, 4), np.float32)
    add_lines(x, y, numbers[::2].copy(), numbers[1::2].copy(), codes, INKS, halvings, image)
    return image


def cells(image):
    """Columns and rows of the pixels that have ink, (m, 2)."""
    return np.argwhere(image[:, :, 3])[:, ::-1]


def test_a_line_has_the_nearest_cell_in_each_column_or_row():
    for seed in range(40):
        check_cells_of_a_line(seed)


def check_cells_of_a_line(seed):
    ends = np.random.default_rng(seed).integers(0, SIZE, (2, 2))
    image = lines((ends + 0.5).ravel() / SIZE)
    assert set(np.unique(image)) <= {0, 1}
    (x0, y0), (x1, y1) = ends.tolist()
    axis = int(abs(y1 - y0) > abs(x1 - x0))  # the one along which there is one cell for each step
    found = cells(image)[:, [axis, 1 - axis]].tolist()
    begin, end = ends[:, axis].tolist()
    assert sorted(step for step, _ in found) == list(range(min(begin, end), max(begin, end) + 1))
    for step, aside in found:
        start, stop = ends[:, 1 - axis].tolist()
        exact = start + Fraction(stop - start, end - begin or 1) * (step - begin)
        assert abs(aside - exact) <= Fraction(1, 2)
    np.testing.assert_array_equal(image, lines((ends[::-1] + 0.5).ravel() / SIZE))


def test_a_line_that_leaves_the_image_ends_at_its_border():
    for seed in range(40):
        check_part_inside(seed)


def check_part_inside(seed):
    x0, y0, x1, y1 = ends = np.random.default_rng(seed).uniform(-1, 2, 4)
    found = cells(lines(ends))
    share = np.linspace(0, 1, 100_001)
    x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
    inside = (x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)
    assert len(found) > 0 if inside.sum() > 1 else len(found) <= 1
    if inside.any():
        exact = SIZE * np.column_stack([x, y])[inside] - 0.5
        distance = np.abs(found[:, None] - exact[:: max(1, len(exact) // 2000)]).max(axis=2)
        # Half a cell each for the ends, for the line, and from cell to cell.
        assert distance.min(axis=1).max() <= 1  # no ink is far from the line
        assert distance.min(axis=0).max() <= 1.5  # and no part of the line is far from ink


def test_lines_outside_leave_no_ink():
    assert not lines([(-1, 0.5, -0.5, 0.5), (0.5, 1.1, 0.7, 3), (-0.5, 0.4, 0.4, -0.5)]).any()


def test_a_line_of_no_length_is_a_cell():
    assert cells(lines((0.5, 0.3, 0.5, 0.3))).tolist() == [[8, 4]]
    assert cells(lines((1, 1, 1, 1))).tolist() == [[SIZE - 1, SIZE - 1]]
    assert not lines((1.5, 0.3, 1.5, 0.3)).any()


def test_a_line_between_two_colors_has_the_last_ink():
    low, middle, high = (0, 0.1, 1, 0.1), (0, 0.5, 1, 0.5), (0, 0.9, 1, 0.9)
    image = lines([low, middle, high], codes=[RED, RED, GREEN, GREEN, GREEN, RED])
    for row, ink in ((1, RED), (8, GREEN), (14, BLUE)):
        np.testing.assert_array_equal(image[row], np.tile(INKS[ink], (SIZE, 1)))


def test_inks_of_lines_that_cross_add_up():
    image = lines([(0, 0.5, 1, 0.5), (0.5, 0, 0.5, 1)], codes=[RED, RED, GREEN, GREEN])
    np.testing.assert_array_equal(image[8, 8], [1, 1, 0, 2])
    assert image[:, :, 3].sum() == 2 * SIZE


def test_four_cells_of_a_pixel_are_drawn_into_it():
    ends = np.random.default_rng(0).uniform(-0.2, 1.2, (50, 4))
    fine = lines(ends, size=2 * SIZE)
    expected = fine.reshape(SIZE, 2, SIZE, 2, 4).sum(axis=(1, 3))
    np.testing.assert_array_equal(lines(ends, halvings=1), expected)


def test_points_are_counted_in_their_cells():
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-0.5, 1.5, (2, 5000))
    x[:2], y[:2] = (0, 1), (0, 1)  # the corners belong to the image
    codes = rng.integers(0, 3, x.size)
    image = np.zeros((SIZE, 2 * SIZE, 4), np.float32)
    add_points(x, y, codes, INKS, image)
    for channel in range(3):
        counts, _, _ = np.histogram2d(
            y[codes == channel], x[codes == channel], (SIZE, 2 * SIZE), ((0, 1), (0, 1))
        )
        np.testing.assert_array_equal(image[:, :, channel], counts)
    np.testing.assert_array_equal(image[:, :, 3], image[:, :, :3].sum(axis=2))


def test_nothing_is_compiled_for_other_types_of_numbers():
    def image(kind, fixed):
        points = np.array([[0.25, 0.25], [0.75, 0.875]], np.float32 if fixed else np.float64)
        colors = np.array([0, 1], kind)
        ends = np.array([0], kind), np.array([1], kind)
        for array in (points, colors, *ends):
            array.flags.writeable = not fixed
        palette = np.array([[255, 0, 0], [0, 0, 255], [9, 9, 9]], np.uint8)
        return draw((0, 1, 0, 1, SIZE, SIZE), points, colors, palette, edges=ends, radius=1.0)

    expected = image(np.int64, fixed=False)
    before = len(add_lines.signatures), len(add_points.signatures)
    for kind in (np.int8, np.int32, np.int64):
        np.testing.assert_array_equal(image(kind, fixed=True), expected)
    assert (len(add_lines.signatures), len(add_points.signatures)) == before
