"""From points and edges to what is painted."""

import kdegraph
import numpy as np
import pytest
import scipy.sparse
from explorer_objects import image, settle, source, view
from kdegraph import datasets, suggest_n_clusters
from kdegraph_explorer.drawing.edges import chosen_edges, edge_list, edges_of, strongest_edges
from kdegraph_explorer.drawing.eigenvalue_plot import EigenvaluePlot
from kdegraph_explorer.drawing.figures import Frame, extent_of, plain_figure
from kdegraph_explorer.drawing.painter import Painter, Scene, point_radius
from kdegraph_explorer.drawing.palette import (
    BETWEEN,
    CLUSTER_COLORS,
    METHOD,
    cluster_colors,
    packed,
    rgb,
)
from kdegraph_explorer.drawing.raster import draw
from kdegraph_explorer.projection import indices_within, positions, principal_components


def test_points_within_a_lasso():
    grid = np.array([[x, y] for x in range(5) for y in range(5)], dtype=float)
    triangle = {"type": "poly", "x": [-0.5, 2.5, -0.5], "y": [-0.5, -0.5, 2.5]}
    expected = np.flatnonzero(grid.sum(axis=1) < 2)
    np.testing.assert_array_equal(indices_within(triangle, grid), expected)


def test_nearest_point_within_reach():
    grid = np.array([[0.0, 0.0], [1.0, 0.0]])
    assert indices_within({"type": "point", "x": 0.9, "y": 0.05}, grid, reach=0.2).tolist() == [1]
    assert indices_within({"type": "point", "x": 0.5, "y": 0.0}, grid, reach=0.2).tolist() == []


def test_principal_components_match_a_singular_value_decomposition():
    X = np.random.default_rng(0).normal(size=(100, 5)) * [1, 5, 2, 3, 0.1] + 7
    components = principal_components(X)
    u, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(np.abs(components), np.abs(u[:, :2] * s[:2]), atol=1e-9)


def test_principal_components_of_huge_and_of_equal_points():
    assert np.isfinite(
        principal_components(np.random.default_rng(0).normal(size=(20, 3)) * 1e300)
    ).all()
    assert not principal_components(np.ones((4, 3))).any()


def test_points_on_a_line_are_spread():
    line = datasets.Dataset(np.arange(10.0)[:, None])
    placed = positions(line, "x1", "x1")
    np.testing.assert_array_equal(placed[:, 0], np.arange(10.0))
    assert len(np.unique(placed[:, 1])) == 10


@pytest.mark.parametrize(
    "points", [[[0, 0]], [[1e9, 1e9], [1e9, 1e9]], [[0, 0], [1, 0]], [[-1e300, 0], [1e300, 1]]]
)
def test_extent_is_never_empty(points):
    x0, x1, y0, y1 = extent_of(np.array(points, dtype=float))
    assert x0 < x1
    assert y0 < y1
    assert np.isfinite([x0, x1, y0, y1]).all()


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


def test_edge_is_drawn_where_it_lies():
    positions_, palette = (
        np.array([[1.0, 1.0], [9.0, 1.0]]),
        np.array([[255, 0, 0], [0, 0, 0]], dtype=np.uint8),
    )
    edge = (np.array([0], dtype=np.int32), np.array([1], dtype=np.int32))
    image = (
        draw((0, 10, 0, 10, 100, 100), positions_, np.zeros(2, dtype=np.int64), palette, edges=edge)
        .view(np.uint8)
        .reshape(100, 100, 4)
    )
    rows, columns = np.nonzero(image[:, :, 3])
    assert set(rows) <= {9, 10}
    assert columns.min() == 10
    assert columns.max() in (89, 90)  # it ends where they meet
    assert (image[rows, columns, 0] > 250).all()
    assert (image[rows, columns, 1] < 5).all()


@pytest.mark.parametrize(
    "ends", [((-50, 5), (50, 5)), ((5, -50), (5, 50)), ((-40, -40), (60, 60)), ((30, 30), (40, 40))]
)
def test_edges_are_clipped(ends):
    palette = np.zeros((2, 3), dtype=np.uint8)
    edge = (np.array([0], dtype=np.int32), np.array([1], dtype=np.int32))
    image = draw(
        (0, 10, 0, 10, 40, 40),
        np.array(ends, dtype=float),
        np.zeros(2, dtype=np.int64),
        palette,
        edges=edge,
    )
    inside = any(
        0 <= (ends[0][0] + t * (ends[1][0] - ends[0][0])) <= 10
        and 0 <= (ends[0][1] + t * (ends[1][1] - ends[0][1])) <= 10
        for t in np.linspace(0, 1, 101)
    )
    assert image.any() == inside


def test_points_are_drawn_where_they_lie_and_all_of_them():
    places = np.array([[x, y] for x in (2.0, 8.0) for y in (2.0, 8.0)])
    palette = np.array([[0, 0, 255], [9, 9, 9]], dtype=np.uint8)
    image = draw((0, 10, 0, 10, 100, 100), places, np.zeros(4, dtype=np.int64), palette, radius=2.0)
    for x, y in (20, 20), (20, 80), (80, 20), (80, 80):
        assert image[y - 4 : y + 4, x - 4 : x + 4].any()
    assert np.count_nonzero(image) < 4 * 36


def test_edges_lie_above_the_points_when_asked_to():
    places = np.array([[2.0, 5.0], [8.0, 5.0]])
    palette = np.array([[0, 0, 255], [9, 9, 9]], dtype=np.uint8)
    edge = (np.array([0], dtype=np.int32), np.array([1], dtype=np.int32))

    def middle(**options):
        """Red, green and blue on the left point, where the edge begins."""
        image = draw(
            (0, 10, 0, 10, 101, 101),
            places,
            np.zeros(2, dtype=np.int64),
            palette,
            radius=4.0,
            **options,
        )
        return image.view(np.uint8).reshape(101, 101, 4)[50, 21, :3]

    np.testing.assert_allclose(middle(), [0, 0, 255], atol=1)
    np.testing.assert_allclose(middle(above=True), [9, 9, 9], atol=1)
    assert middle(edges=edge, above=True)[2] > 100


def test_every_edge_is_listed_once_or_evenly_thinned():
    graph = kdegraph.knn_graph(np.random.default_rng(0).normal(size=(400, 2)), 8)
    rows, columns = edge_list(graph)
    assert len(rows) == graph.nnz // 2
    assert (rows < columns).all()
    assert (graph[rows, columns] > 0).all()
    thin_rows, thin_columns = edge_list(graph, limit=200)
    assert 100 < len(thin_rows) < 400
    assert {*zip(thin_rows, thin_columns, strict=True)} < {*zip(rows, columns, strict=True)}
    assert np.ptp(thin_rows) > 300


def test_edges_of_a_selection_are_listed_once():
    graph = kdegraph.knn_graph(np.random.default_rng(0).normal(size=(400, 2)), 8)
    vertices = np.array([3, 17, 200, 201])
    rows, columns = edges_of(graph, vertices)
    every = {frozenset(edge) for edge in zip(*edge_list(graph), strict=True)}
    found = [frozenset(edge) for edge in zip(rows.tolist(), columns.tolist(), strict=True)]
    assert len(found) == len(set(found))
    assert set(found) == {edge for edge in every if edge & set(vertices.tolist())}
    assert len(edges_of(graph, np.arange(400), limit=100)[0]) < 200


@pytest.mark.parametrize("vertices", [[], [3, 17, 200]], ids=["all", "selection"])
def test_strongest_edges_are_the_heaviest_and_each_is_listed_once(vertices):
    X = np.random.default_rng(0).normal(size=(300, 2))
    graph = scipy.sparse.csr_array(kdegraph.full_graph(X, sigma=0.3))
    rows, columns = strongest_edges(graph, np.array(vertices, dtype=np.intp), limit=50)
    found = {frozenset(edge) for edge in zip(rows.tolist(), columns.tolist(), strict=True)}
    dense = np.triu(graph.toarray(), 1)
    if vertices:
        dense[
            np.setdiff1d(np.arange(300), vertices)[:, None], np.setdiff1d(np.arange(300), vertices)
        ] = 0
    heaviest = np.argsort(dense, axis=None)[-50:]
    assert found == {frozenset(np.unravel_index(i, dense.shape)) for i in heaviest.tolist()}


def test_of_equally_strong_edges_an_evenly_spread_part_is_listed():
    graph = kdegraph.knn_graph(np.random.default_rng(0).normal(size=(400, 2)), 8)
    rows, columns = strongest_edges(graph, limit=100)
    assert len({*zip(rows.tolist(), columns.tolist(), strict=True)}) == len(rows) == 100
    assert (rows < columns).all()
    assert np.bincount(np.concatenate([rows, columns]) // 100).min() > 30
    assert len(strongest_edges(graph, limit=graph.nnz)[0]) == graph.nnz // 2


def test_which_edges_are_drawn_is_chosen(explore):
    graph = kdegraph.knn_graph(np.random.default_rng(0).normal(size=(400, 2)), 8)
    some, nothing = np.array([3, 5]), np.array([], dtype=np.intp)
    assert chosen_edges(graph, nothing, "selection") is None
    np.testing.assert_array_equal(chosen_edges(graph, some, "selection"), edges_of(graph, some))
    np.testing.assert_array_equal(chosen_edges(graph, some, "all"), edges_of(graph, some))
    np.testing.assert_array_equal(chosen_edges(graph, nothing, "all"), edge_list(graph))
    np.testing.assert_array_equal(chosen_edges(graph, nothing, "strongest"), strongest_edges(graph))
    explorer = explore(datasets.make("moons", n=200, seed=0).X, sigma=0.2, n_clusters=2)
    plot = view(explorer, "points").figures()[0]
    before = np.count_nonzero(image(plot))
    explorer.session.state.edges = "selection"
    settle(explorer)
    assert np.count_nonzero(image(plot)) == 0
    explorer.session.state.edges = "strongest"
    settle(explorer)
    assert 0 < np.count_nonzero(image(plot)) <= before


def test_only_the_edges_of_the_selection_are_drawn(explore):
    explorer = explore(datasets.make("moons", n=200, seed=0).X, sigma=0.2, n_clusters=2)
    plot = view(explorer, "points").figures()[0]
    before = np.count_nonzero(image(plot))
    explorer.session.state.selection = np.array([5])
    settle(explorer)
    assert 0 < np.count_nonzero(image(plot)) < before / 3
    explorer.session.state.selection = np.empty(0, dtype=np.intp)
    settle(explorer)
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


def test_points_are_smaller_where_they_are_many_and_larger_in_large_plots():
    small, large = (0, 1, 0, 1, 440, 300), (0, 1, 0, 1, 1900, 1700)
    radii = [point_radius(n, small) for n in (10, 1000, 4000, 100_000, 1_000_000)]
    assert radii == sorted(radii, reverse=True)
    assert 0.5 < radii[-1] < radii[0] < 4
    assert point_radius(1000, (0, 1, 0, 1, 1200, 300)) == point_radius(1000, small)
    assert (
        1.5 * point_radius(1000, small) < point_radius(1000, large) < 3 * point_radius(1000, small)
    )


def test_eigenvalues_of_several_graphs_stand_side_by_side_without_a_gap():
    plot = EigenvaluePlot("eigenvalues", ("kde", "knn"))
    plot.show({"kde": np.array([0.0, 0.1, 0.4]), "knn": np.array([0.0, 0.6])})
    drawn = source(plot.figure, "eigenvalues").data
    assert drawn["index"].tolist() == [1, 2, 3, 1, 2]
    np.testing.assert_allclose(drawn["place"] - drawn["index"], [-0.1] * 3 + [0.1] * 2)
    assert drawn["color"].tolist() == [METHOD["kde"]] * 3 + [METHOD["knn"]] * 2
    assert len(source(plot.figure, "gap").data["left"]) == 0
    assert plot.note == ""
    assert plot.figure.y_range.end > 0.6
    plot.clear()
    assert len(source(plot.figure, "eigenvalues").data["index"]) == 0


def test_gap_of_one_graph_is_drawn_after_the_kth_eigenvalue():
    plot = EigenvaluePlot("eigenvalues", ("kde",))
    plot.show({"kde": np.array([0.0, 0.1, 0.4])}, 2, converged=False)
    gap = source(plot.figure, "gap").data
    assert [gap[name] for name in ("left", "right", "bottom", "top")] == [[2], [3], [0.1], [0.4]]
    assert plot.note == "gap after 2: × 4\ndid not converge: estimates"
    colors = source(plot.figure, "eigenvalues").data["color"].tolist()
    assert colors == [METHOD["kde"], METHOD["kde"], BETWEEN]


def test_the_gap_that_looks_largest_is_the_one_that_decides():
    values = np.array([0.0, 0.01, 0.012, 0.3, 0.8, 0.9])  # the largest difference is the next one
    plot = EigenvaluePlot("eigenvalues", ("kde",))
    k = suggest_n_clusters(values)
    plot.show({"kde": values}, k)
    drawn = source(plot.figure, "eigenvalues").data
    seen = np.diff(np.log(drawn["height"]))[1:]  # the axis is logarithmic; the first does not count
    assert 2 + np.argmax(seen) == k == 3
    assert drawn["value"].tolist() == values.tolist()
    assert plot.note == "gap after 3: × 25"
    assert plot.figure.y_range.start < drawn["height"].min()
    assert plot.figure.y_range.end > drawn["height"].max()


def test_eigenvalues_far_below_the_last_one_are_drawn_alike_as_they_count_alike():
    plot = EigenvaluePlot("eigenvalues", ("kde",))
    plot.show({"kde": np.array([0.0, 1e-9, 1e-6, 0.5])}, 3)
    heights = source(plot.figure, "eigenvalues").data["height"]
    assert heights[:3].tolist() == [0.5e-3] * 3
    assert plot.note == "gap after 3: × 1,000 or more"


def test_one_cluster_has_the_gap_that_does_not_suffice():
    plot = EigenvaluePlot("eigenvalues", ("kde",))
    plot.show({"kde": np.array([0.0, 0.1, 0.3, 0.4])}, 1)
    assert plot.note == "largest gap: × 3, after 2"
    assert source(plot.figure, "gap").data["left"] == []
    plot.show({"kde": np.zeros(10)}, 1)
    assert plot.note == "all 10 are 0"


def test_numbers_of_many_eigenvalues_keep_apart():
    plot = EigenvaluePlot("eigenvalues", ("kde",))
    ticker = plot.figure.xaxis[0].ticker
    assert (ticker.desired_num_ticks, ticker.min_interval) == (10, 1)


@pytest.mark.parametrize("value", [0.0, 3.0, -1e6, 1e-200])
def test_points_that_are_all_the_same_have_short_numbers_at_the_axes(value):
    x0, x1, y0, y1 = extent_of(np.full((5, 2), value))
    for low, high in ((x0, x1), (y0, y1)):
        assert low < value < high
        assert high - low > 0.1 * abs(value)


def luminance(color):
    """Of a color in hexadecimal digits, as WCAG defines it."""
    parts = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("paper", ["#ffffff", "#111111"])  # of JupyterLab
def test_numbers_along_axes_are_read_in_light_and_in_dark_notebooks(paper):
    fig = plain_figure(description="plot")
    for axis in fig.axis:
        for color in (axis.major_label_text_color, axis.axis_label_text_color):
            dark, light = sorted([luminance(color), luminance(paper)])
            assert (light + 0.05) / (dark + 0.05) > 3.5
