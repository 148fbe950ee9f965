"""From points and edges to what is painted."""

from fractions import Fraction

import kdegraph
import numpy as np
import pytest
import scipy.sparse
from explorer_actions import put
from explorer_objects import image, source, view
from kdegraph import datasets, suggest_n_clusters
from kdegraph_explorer.drawing.edges import edge_list, edges_of, strongest_edges
from kdegraph_explorer.drawing.eigenvalue_plot import EigenvaluePlot
from kdegraph_explorer.drawing.figures import Frame, extent_of, plain_figure
from kdegraph_explorer.drawing.painter import Painter, Scene
from kdegraph_explorer.drawing.palette import (
    BETWEEN,
    CLUSTER_COLORS,
    METHOD,
    cluster_colors,
    packed,
    rgb,
)
from kdegraph_explorer.drawing.raster import add_lines, add_points, draw
from kdegraph_explorer.projection import indices_within, principal_components


def test_points_within_a_lasso_and_near_a_click():
    grid = np.array([[x, y] for x in range(5) for y in range(5)], dtype=float)
    triangle = {"type": "poly", "x": [-0.5, 2.5, -0.5], "y": [-0.5, -0.5, 2.5]}
    expected = np.flatnonzero(grid.sum(axis=1) < 2)
    np.testing.assert_array_equal(indices_within(triangle, grid), expected)
    for x, y, found in ((0.9, 0.05, [5]), (0.5, 0.0, [])):
        assert indices_within({"type": "point", "x": x, "y": y}, grid, reach=0.2).tolist() == found


def test_principal_components_match_a_singular_value_decomposition():
    X = np.random.default_rng(0).normal(size=(100, 5)) * [1, 5, 2, 3, 0.1] + 7
    components = principal_components(X)
    u, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(np.abs(components), np.abs(u[:, :2] * s[:2]), atol=1e-9)
    assert np.isfinite(principal_components(X[:20] * 1e299)).all()  # huge
    assert not principal_components(np.ones((4, 3))).any()


def test_extent_is_never_empty():
    equal = [np.full((5, 2), value) for value in (0.0, 3.0, -1e6, 1e-200)]
    for points in (
        *([[0, 0]], [[1e9, 1e9], [1e9, 1e9]], [[0, 0], [1, 0]], [[-1e300, 0], [1e300, 1]]),
        *equal,
    ):
        x0, x1, y0, y1 = extent_of(np.array(points, dtype=float))
        assert x0 < x1
        assert y0 < y1
        assert np.isfinite([x0, x1, y0, y1]).all()
    for points in equal:  # numbers at the axes stay short
        x0, x1, y0, y1 = extent_of(points)
        value = points[0, 0]
        for low, high in ((x0, x1), (y0, y1)):
            assert low < value < high
            assert high - low > 0.1 * abs(value)


def test_frame_has_one_scale_on_both_axes():
    changes = []
    frame = Frame(lambda: changes.append(1))
    frame.fit((0, 4, 0, 1))
    x0, x1, y0, y1, width, height = frame.viewport
    assert (x1 - x0) / width == pytest.approx((y1 - y0) / height)
    assert x0 <= 0 < 4 <= x1
    assert len(changes) == 1
    frame.fit((0, 4000, 0, 1))  # nothing would be seen of the second axis
    assert frame.y_range.end - frame.y_range.start < 10


EDGE = np.array([0], dtype=np.int32), np.array([1], dtype=np.int32)  # from the first point


def drawing(places, ink, size, **options):
    """The colors of the pixels of some points or edges, and their opacity, (size, size, 4)."""
    places, palette = np.array(places, dtype=float), np.array([ink, [9, 9, 9]], dtype=np.uint8)
    codes = np.zeros(len(places), dtype=np.int64)
    found = draw((0, 10, 0, 10, size, size), places, codes, palette, **options)
    return found.view(np.uint8).reshape(size, size, 4)


def test_points_are_drawn_where_they_lie_and_all_of_them():
    places = [[x, y] for x in (2, 8) for y in (2, 8)]
    opacity = drawing(places, [0, 0, 255], 100, radius=2.0)[:, :, 3]
    for x, y in (20, 20), (20, 80), (80, 20), (80, 80):
        assert opacity[y - 4 : y + 4, x - 4 : x + 4].any()
    assert np.count_nonzero(opacity) < 4 * 36


def test_edges_lie_above_the_points_when_asked_to():
    def middle(**options):
        """Red, green and blue on the left point, where the edge begins."""
        return drawing([[2, 5], [8, 5]], [0, 0, 255], 101, radius=4.0, **options)[50, 21, :3]

    np.testing.assert_allclose(middle(), [0, 0, 255], atol=1)
    np.testing.assert_allclose(middle(above=True), [9, 9, 9], atol=1)
    assert middle(edges=EDGE, above=True)[2] > 100


@pytest.fixture(scope="module")
def graph():
    """The 8 nearest neighbors of 400 points."""
    return kdegraph.knn_graph(np.random.default_rng(0).normal(size=(400, 2)), 8)


def test_every_edge_is_listed_once_or_evenly_thinned(graph):
    rows, columns = edge_list(graph)
    assert len(rows) == graph.nnz // 2
    assert (rows < columns).all()
    assert (graph[rows, columns] > 0).all()
    thin_rows, thin_columns = edge_list(graph, limit=200)
    assert 100 < len(thin_rows) < 400
    assert {*zip(thin_rows, thin_columns, strict=True)} < {*zip(rows, columns, strict=True)}
    assert np.ptp(thin_rows) > 300


def test_edges_of_a_selection_are_listed_once(graph):
    vertices = np.array([3, 17, 200, 201])
    rows, columns = edges_of(graph, vertices)
    every = {frozenset(edge) for edge in zip(*edge_list(graph), strict=True)}
    found = [frozenset(edge) for edge in zip(rows.tolist(), columns.tolist(), strict=True)]
    assert len(found) == len(set(found))
    assert set(found) == {edge for edge in every if edge & set(vertices.tolist())}
    assert len(edges_of(graph, np.arange(400), limit=100)[0]) < 200
    assert len(edges_of(graph, np.empty(0, np.intp))[0]) == 0


@pytest.mark.parametrize("vertices", [[], [3, 17, 200]], ids=["all", "selection"])
def test_strongest_edges_are_the_heaviest_and_each_is_listed_once(vertices):
    X = np.random.default_rng(0).normal(size=(300, 2))
    graph = scipy.sparse.csr_array(kdegraph.full_graph(X, sigma=0.3))
    rows, columns = strongest_edges(graph, np.array(vertices, dtype=np.intp), limit=50)
    found = {frozenset(edge) for edge in zip(rows.tolist(), columns.tolist(), strict=True)}
    dense = np.triu(graph.toarray(), 1)
    if vertices:
        others = np.setdiff1d(np.arange(300), vertices)
        dense[np.ix_(others, others)] = 0
    heaviest = np.argsort(dense, axis=None)[-50:]
    assert found == {frozenset(np.unravel_index(i, dense.shape)) for i in heaviest.tolist()}


def test_of_equally_strong_edges_an_evenly_spread_part_is_listed(graph):
    rows, columns = strongest_edges(graph, limit=100)
    assert len({*zip(rows.tolist(), columns.tolist(), strict=True)}) == len(rows) == 100
    assert (rows < columns).all()
    assert np.bincount(np.concatenate([rows, columns]) // 100).min() > 30
    assert len(strongest_edges(graph, limit=graph.nnz)[0]) == graph.nnz // 2


def test_which_edges_are_drawn_is_chosen(explore):
    explorer = explore(datasets.make("moons", n=200, seed=0).X, sigma=0.2, n_clusters=2)
    plot = view(explorer, "points").figures()[0]
    before = np.count_nonzero(image(plot))
    put(explorer, edges="selection")
    assert np.count_nonzero(image(plot)) == 0
    put(explorer, edges="strongest")
    assert 0 < np.count_nonzero(image(plot)) <= before
    put(explorer, edges="all", selection=np.array([5]))
    assert 0 < np.count_nonzero(image(plot)) < before / 3
    put(explorer, selection=np.empty(0, dtype=np.intp))
    assert np.count_nonzero(image(plot)) == before


def test_painter_paints_what_has_changed():
    places, colors = np.random.default_rng(0).random((50, 2)), np.zeros(50, dtype=np.int64)
    graph, painter, window = kdegraph.knn_graph(places, 4), Painter(), (0, 1, 0, 1, 50, 50)

    def paint(*scene):
        glyphs = painter.glyphs(Scene(*scene))
        return painter.image(Scene(*scene)).image, glyphs.positions, glyphs.colors

    assert all(layer is not None for layer in paint(places, window, graph, colors))
    assert all(layer is None for layer in paint(places, window, graph, colors))
    image, *glyphs = paint(places, (0, 0.5, 0, 0.5, 50, 50), graph, colors)
    assert image is not None
    assert glyphs == [None, None]
    _, positions, recolored = paint(places, (0, 0.5, 0, 0.5, 50, 50), graph, np.arange(50) % 2)
    assert positions is None
    assert len(set(recolored.tolist())) == 2


def test_colors_are_distinct_and_end_with_the_neutral_one():
    for n in (1, 2, len(CLUSTER_COLORS), 40):
        rows = cluster_colors(n)
        assert rows.shape == (n + 1, 3)
        assert len(np.unique(rows, axis=0)) == n + 1
    assert packed(np.array([rgb("#102030")])).tolist() == [0x102030FF]


def test_gap_of_one_graph_is_drawn_after_the_kth_eigenvalue():
    plot = EigenvaluePlot("eigenvalues", ("kde",))
    plot.show({"kde": np.array([0.0, 0.1, 0.4])}, 2, converged=False)
    gap = source(plot.figure, "gap").data
    assert [gap[name] for name in ("left", "right", "bottom", "top")] == [[2], [3], [0.1], [0.4]]
    assert plot.note == "gap after 2: 4×\ndid not converge: estimates"
    colors = source(plot.figure, "eigenvalues").data["color"].tolist()
    assert colors == [METHOD["kde"], METHOD["kde"], BETWEEN]
    # One cluster has the gap that does not suffice.
    plot.show({"kde": np.array([0.0, 0.1, 0.3, 0.4])}, 1)
    assert plot.note == "largest gap: 3×, after 2"
    assert source(plot.figure, "gap").data["left"] == []
    plot.show({"kde": np.zeros(10)}, 1)
    assert plot.note == "all 10 are 0"
    # Eigenvalues far below the last one are drawn alike, as they count alike.
    plot.show({"kde": np.array([0.0, 1e-9, 1e-6, 0.5])}, 3)
    heights = source(plot.figure, "eigenvalues").data["height"]
    assert heights[:3].tolist() == [0.5e-3] * 3
    assert plot.note == "gap after 3: ≥ 1,000×"


def test_the_gap_that_looks_largest_is_the_one_that_decides():
    values = np.array([0.0, 0.01, 0.012, 0.3, 0.8, 0.9])  # the largest difference is the next one
    plot = EigenvaluePlot("eigenvalues", ("kde",))
    k = suggest_n_clusters(values)
    plot.show({"kde": values}, k)
    drawn = source(plot.figure, "eigenvalues").data
    seen = np.diff(np.log(drawn["height"]))[1:]  # the axis is logarithmic; the first does not count
    assert 2 + np.argmax(seen) == k == 3
    assert drawn["value"].tolist() == values.tolist()
    assert plot.note == "gap after 3: 25×"
    assert plot.figure.y_range.start < drawn["height"].min()
    assert plot.figure.y_range.end > drawn["height"].max()


def test_numbers_of_the_axis_keep_a_distance_to_the_words_above_it():
    plot = EigenvaluePlot("eigenvalues", ("kde",))
    for last in (2.0, 1.0, 0.9, 0.0688, 0.031, 0.0011):
        plot.show({"kde": np.array([0.0, last / 2, last])}, 2)
        decade = np.log10(plot.figure.y_range.end) % 1  # part of one, above the highest number
        assert decade > 0.25
        assert plot.figure.y_range.end < 20 * last


def luminance(color):
    """Of a color in hexadecimal digits, as WCAG defines it."""
    parts = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_numbers_along_axes_are_read_in_light_and_in_dark_notebooks():
    for axis in plain_figure(description="plot").axis:
        for color in (axis.major_label_text_color, axis.axis_label_text_color):
            for paper in ("#ffffff", "#111111"):  # of JupyterLab
                dark, light = sorted([luminance(color), luminance(paper)])
                assert (light + 0.05) / (dark + 0.05) > 3.5


# ---- inks of points and lines, against exact positions

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


def test_lines_outside_leave_no_ink_and_a_line_of_no_length_is_a_cell():
    assert not lines([(-1, 0.5, -0.5, 0.5), (0.5, 1.1, 0.7, 3), (-0.5, 0.4, 0.4, -0.5)]).any()
    assert cells(lines((0.5, 0.3, 0.5, 0.3))).tolist() == [[8, 4]]
    assert cells(lines((1, 1, 1, 1))).tolist() == [[SIZE - 1, SIZE - 1]]
    assert not lines((1.5, 0.3, 1.5, 0.3)).any()


def test_a_line_between_two_colors_has_the_last_ink_and_inks_of_lines_that_cross_add_up():
    low, middle, high = (0, 0.1, 1, 0.1), (0, 0.5, 1, 0.5), (0, 0.9, 1, 0.9)
    image = lines([low, middle, high], codes=[RED, RED, GREEN, GREEN, GREEN, RED])
    for row, ink in ((1, RED), (8, GREEN), (14, BLUE)):
        np.testing.assert_array_equal(image[row], np.tile(INKS[ink], (SIZE, 1)))
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
