"""Views and controls as objects: what they would show, and what they set."""

import kdegraph
import numpy as np
import panel as pn
import panel_material_ui as pmui
import pytest
import scipy.sparse
from bokeh.events import MouseMove, SelectionGeometry, Tap
from kdegraph import datasets
from kdegraph_explorer import Explorer
from kdegraph_explorer.app import create_app
from kdegraph_explorer.drawing.edges import chosen_edges, edge_list, edges_of, strongest_edges
from kdegraph_explorer.drawing.figures import Frame, extent_of
from kdegraph_explorer.drawing.painter import MAX_GLYPHS, Painter, Scene
from kdegraph_explorer.drawing.palette import CLUSTERS, cluster_colours, packed, rgb
from kdegraph_explorer.drawing.raster import draw
from kdegraph_explorer.projection import positions, principal_components
from kdegraph_explorer.selection import indices_within
from kdegraph_explorer.views import VIEWS
from kdegraph_explorer.views.controls import FileButton
from kdegraph_explorer.views.markup import Beacon
from kdegraph_explorer.views.picture import segments
from kdegraph_explorer.views.spectral import draw_conductances

PATIENCE = 120  # seconds
TWO_PAIRS = [[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]]


@pytest.fixture
def explore():
    """Makes explorers and waits for their first result; closes them at the end."""
    explorers = []

    def make(*args, **options):
        explorer = Explorer(*args, **options)
        explorers.append(explorer)
        settle(explorer)
        return explorer

    yield make
    for explorer in explorers:
        explorer.close()


def settle(explorer):
    for _ in range(2):  # a result makes views paint
        for job in explorer.session._jobs:
            job.wait(PATIENCE)


def view(explorer, key):
    return next(view for view in explorer.views if view.key == key)


def widgets(explorer):
    return [
        w for control in explorer.controls for w in control.__panel__().select(lambda w: "label" in w.param and "description" in w.param)
    ]


def widget(explorer, label):
    """The widget that a user knows by its label."""
    found = [w for w in widgets(explorer) if w.label == label]
    assert len(found) == 1, f"{len(found)} widgets are labelled {label!r}"
    return found[0]


def figure_names(place):
    """The names of the figures that a page or a notebook has been given."""
    return {fig.object.name for fig in place.select(pn.pane.Bokeh)}


# ---- the public object


def test_labels_graph_and_spectrum_are_read_back():
    explorer = Explorer(TWO_PAIRS, y=["a", "a", "b", "b"], sigma=1.0, n_rounds=5, n_clusters=2)
    assert explorer.labels.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    assert explorer.X.tolist() == TWO_PAIRS
    assert explorer.graph.sigma == 1.0
    assert explorer.graph.n_rounds == 5
    assert len(explorer.spectrum.eigenvalues) == 4
    assert explorer.selection.tolist() == []
    assert explorer.session.state.outcome("kde").scores["Adjusted Rand index"] == 1.0


def test_labels_are_those_of_the_library():
    X = datasets.make("blobs", n=200, seed=0).X
    explorer = Explorer(X, sigma=0.6, n_clusters=3)
    direct = kdegraph.similarity_graph(X, sigma=0.6, n_rounds=20, seed=0)
    assert (explorer.graph.adjacency != direct.adjacency).nnz == 0
    assert len(np.unique(explorer.labels)) == 3


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"X": [[0.0, np.nan]]}, ValueError, "X must be finite"),
        ({"X": [1.0, 2.0]}, ValueError, "X must have shape"),
        ({"X": TWO_PAIRS, "y": [1, 2]}, ValueError, r"y must have shape \(4,\)"),
        ({"y": [1, 2]}, ValueError, "y was given without X"),
        ({"X": TWO_PAIRS, "sigma": -1}, ValueError, "sigma must be positive"),
        ({"X": TWO_PAIRS, "n_rounds": 0}, ValueError, "n_rounds must be a whole number >= 1"),
        ({"X": TWO_PAIRS, "n_clusters": 5}, ValueError, "n_clusters must be at most 4"),
        ({"X": TWO_PAIRS, "n_clusters": "2"}, TypeError, "n_clusters"),
    ],
)
def test_bad_arguments_are_refused_at_once(arguments, error, message):
    with pytest.raises(error, match=message):
        Explorer(**arguments)


def test_results_that_do_not_exist_are_not_read_back(explore):
    explorer = explore(TWO_PAIRS, sigma=1e-300, n_clusters=2)
    with pytest.raises(RuntimeError, match="use a larger sigma"):
        _ = explorer.labels


def test_page_and_notebook_show_the_same_parts(explore):
    explorer = explore(TWO_PAIRS, sigma=1.0)
    place = explorer.__panel__()
    assert place.select(pn.pane.Bokeh) == []
    (beacon,) = place.select(Beacon)
    beacon.beats = 1
    explorer.session.wait(PATIENCE)  # as the browser says when it listens
    page = create_app()
    first = figure_names(page)
    assert figure_names(place) == first
    for place_of in (page, place):  # a view is built when it is first shown
        tabs = next(found for found in place_of.select(pmui.RadioButtonGroup) if "Graphs" in found.options)
        for key in tabs.options.values():
            tabs.value = key
    every = {figure.name for shown in explorer.views if shown.applies() for figure in shown.figures()}
    assert first < every
    assert figure_names(page) == figure_names(place) == every


def test_explorer_that_is_shown_again_moves(explore):
    explorer = explore(TWO_PAIRS, sigma=1.0)
    places = [explorer.__panel__(), explorer.__panel__()]
    for place in places:
        place.select(Beacon)[0].beats = 1
        explorer.session.wait(PATIENCE)
    visible = [shown for shown in explorer.views if shown.area == "bottom" or shown.key == explorer.session.state.view]
    assert figure_names(places[0]) == set()
    assert figure_names(places[1]) == {figure.name for shown in visible for figure in shown.figures()}


def test_app_begins_with_a_file(tmp_path, explore):
    (tmp_path / "pairs.csv").write_text("x,y\n" + "\n".join(f"{x},{y}" for x, y in TWO_PAIRS))
    explorer = explore(TWO_PAIRS)
    explorer.open(tmp_path / "pairs.csv")
    settle(explorer)
    assert explorer.session.state.dataset.name.startswith("pairs")
    assert explorer.session.state.dataset.X.tolist() == TWO_PAIRS


# ---- controls


def test_every_widget_has_a_label_of_its_own_and_a_sentence(explore):
    found = widgets(explore())
    assert len({w.label for w in found}) == len(found) >= 20
    assert all(w.description for w in found)


def test_sliders_set_the_state(explore):
    explorer = explore(datasets.make("moons", n=100, seed=0).X)
    state = explorer.session.state
    widget(explorer, "Kernel width σ").value = -1.0
    assert (state.sigma, state.sigma_auto) == (0.1, False)
    widget(explorer, "Rounds L").value = 9
    assert state.n_rounds == 9
    widget(explorer, "Clusters k").value = 3
    assert (state.n_clusters, state.clusters_auto) == (3, False)
    widget(explorer, "k-NN neighbours").value = 4
    widget(explorer, "Seed").value = 8
    settle(explorer)
    assert state.error == ""
    assert (explorer.graph.sigma, explorer.graph.n_rounds, explorer.graph.seed) == (0.1, 9, 8)
    assert explorer.labels.max() == 2


def test_sliders_follow_the_state_without_choosing(explore):
    explorer = explore(datasets.make("moons", n=100, seed=0).X)
    state = explorer.session.state
    assert state.sigma_auto
    assert state.clusters_auto
    assert widget(explorer, "Kernel width σ").value == pytest.approx(np.log10(state.sigma))
    assert widget(explorer, "Clusters k").value == state.n_clusters
    state.choose(sigma=1e-8)
    slider = widget(explorer, "Kernel width σ")
    assert slider.start <= slider.value == pytest.approx(-8)


def test_slider_of_sigma_is_centred_on_what_was_given(explore):
    slider = widget(explore(TWO_PAIRS, sigma=0.01), "Kernel width σ")
    assert slider.value == pytest.approx(-2)
    assert slider.end - slider.value == pytest.approx(slider.value - slider.start)


@pytest.mark.parametrize("text", ["1e-3", "250", " 0.5 "])
def test_sigma_can_be_typed(explore, text):
    explorer = explore(TWO_PAIRS)
    widget(explorer, "σ typed").value = text
    assert explorer.session.state.sigma == float(text)


@pytest.mark.parametrize("text", ["", "wide", "-1", "0", "nan", "inf"])
def test_what_is_no_sigma_is_an_error_and_changes_nothing(explore, text):
    explorer = explore(TWO_PAIRS, sigma=1.0)
    widget(explorer, "σ typed").value = text
    assert explorer.session.state.sigma == 1.0
    assert f"got {text!r}" in explorer.session.state.error


def test_controls_of_the_chosen_source_are_shown(explore):
    explorer = explore()
    assert widget(explorer, "Shape").visible
    assert not widget(explorer, "Picture").visible
    widget(explorer, "Source").value = "photographs"
    assert not widget(explorer, "Shape").visible
    assert widget(explorer, "Picture").visible


# ---- views


def test_every_view_has_a_key_and_a_place():
    assert len({view.key for view in VIEWS}) == len(VIEWS)
    assert {view.area for view in VIEWS} == {"top", "bottom"}


def test_points_are_coloured_by_cluster(explore):
    explorer = explore(TWO_PAIRS, sigma=1.0, n_clusters=2)
    plot = view(explorer, "points")._plots["kde"]
    colours = plot._points.data["colour"]
    assert colours[0] == colours[1] != colours[2] == colours[3]
    assert len(plot._image.data["image"]) == 1


def test_many_points_are_drawn_into_the_image(explore):
    explorer = explore(datasets.make("moons", n=MAX_GLYPHS + 1, seed=0).X, sigma=0.1, n_clusters=2)
    plot = view(explorer, "points")._plots["kde"]
    assert len(plot._points.data["x"]) == 0
    assert np.count_nonzero(plot._image.data["image"][0]) > 1000


def test_moving_sigma_leaves_the_knn_plot_alone(explore):
    explorer = explore(datasets.make("moons", n=200, seed=0).X, sigma=0.2, n_clusters=2)
    plots = view(explorer, "points")._plots
    before = {method: plot._image.data["image"][0] for method, plot in ((m, plots[m]) for m in ("kde", "knn"))}
    explorer.session.state.choose(sigma=0.25)
    settle(explorer)
    assert plots["kde"]._image.data["image"][0] is not before["kde"]
    assert plots["knn"]._image.data["image"][0] is before["knn"]


def test_edges_can_be_hidden(explore):
    explorer = explore(TWO_PAIRS, sigma=1.0)
    plot = view(explorer, "points")._plots["knn"]
    assert plot._image.data["image"][0].any()
    widget(explorer, "Edges").value = False
    settle(explorer)
    assert not plot._image.data["image"][0].any()


def test_spectrum_shows_the_eigenvalues_and_the_gap(explore):
    explorer = explore(datasets.make("blobs", n=150, seed=0).X, sigma=0.6)
    spectrum = view(explorer, "spectrum")
    values = spectrum._values["kde"].data["value"]
    np.testing.assert_array_equal(values, explorer.spectrum.eigenvalues)
    k = explorer.session.state.n_clusters
    gap = spectrum._gaps["kde"].data
    assert (gap["bottom"], gap["top"]) == ([values[k - 1]], [values[k]])


def test_click_on_a_gap_sets_k(explore):
    explorer = explore(datasets.make("blobs", n=150, seed=0).X, sigma=0.6)
    figure = view(explorer, "spectrum").figures()[0]
    figure._trigger_event(Tap(figure, x=4.4, y=0.1))
    settle(explorer)
    assert explorer.session.state.n_clusters == 4
    assert explorer.labels.max() == 3


def test_scores_have_a_column_for_each_graph(explore):
    explorer = explore(TWO_PAIRS, y=[0, 0, 1, 1], sigma=1.0, n_clusters=2)
    rows = {name: values for name, *values in view(explorer, "scores").rows()}
    assert rows["Edges"] == [2, explorer.session.state.outcome("knn").adjacency.nnz // 2]
    assert rows["Adjusted Rand index"][0] == 1.0
    assert {"Seconds: graph", "Seconds: eigenvalues", "Seconds: clusters", "Largest conductance"} <= set(rows)


def test_segmentation_lies_over_the_picture(explore):
    explorer = explore()
    state = explorer.session.state
    explorer.session.sources["photographs"].pixels = 1000
    state.source = "photographs"
    settle(explorer)
    picture = view(explorer, "picture")
    assert picture.applies()
    overlay = picture._overlays["kde"].data["image"][0]
    assert overlay.shape == state.dataset.shape
    colours = packed_bytes(cluster_colours(int(state.outcome("kde").colours.max()) + 1)[state.outcome("kde").colours])
    np.testing.assert_array_equal(overlay[::-1].ravel(), colours)
    assert picture._pictures["kde"].data["image"][0].shape == state.dataset.image.shape[:2]
    state.overlay = 0.25
    assert picture._glyphs["knn"].global_alpha == 0.25


def test_segments_in_mean_colours_and_as_boundaries():
    labels = np.array([[0, 0, 1], [0, 0, 1]])
    picture = np.zeros((4, 6, 3), dtype=np.uint8)
    picture[:, :4], picture[:, 4:] = (10, 20, 30), (200, 100, 0)
    picture[0, :4] = (50, 60, 70)
    means = segments(labels, "means", picture)[::-1].copy().view(np.uint8).reshape(2, 3, 4)
    assert means[0].tolist() == [[20, 30, 40, 255], [20, 30, 40, 255], [200, 100, 0, 255]]
    lines = segments(labels, "boundaries")
    assert (lines != 0).tolist() == [[False, True, True], [False, True, True]]
    assert not segments(np.zeros((3, 3), dtype=int), "boundaries").any()


def packed_bytes(rows):
    """Colours as a canvas keeps them: red in the lowest byte."""
    rows = np.asarray(rows, dtype=np.uint32)
    return rows[:, 0] | rows[:, 1] << 8 | rows[:, 2] << 16 | 255 << 24


def test_pictures_are_offered_for_images_only(explore):
    explorer = explore(TWO_PAIRS, sigma=1.0)
    assert not view(explorer, "picture").applies()
    assert "picture" not in explorer._tabs.options.values()


def test_status_says_what_goes_on(explore):
    explorer = explore(TWO_PAIRS, sigma=1.0, n_clusters=2)
    assert explorer.status.sentence() == "given points: 4 points in 2 dimensions, 2 clusters"
    explorer.session.state.stage = "samples"
    assert explorer.status.sentence() == "samples …"
    explorer.session.state.stage = None


def test_selection_with_the_mouse(explore):
    explorer = explore(TWO_PAIRS, sigma=1.0)
    points = view(explorer, "points")
    figure = points.figures()[1]
    box = {"type": "rect", "x0": 4, "x1": 6, "y0": 4, "y1": 6}
    figure._trigger_event(SelectionGeometry(figure, geometry=box, final=False))
    assert explorer.selection.tolist() == []
    figure._trigger_event(SelectionGeometry(figure, geometry=box, final=True))
    assert explorer.selection.tolist() == [2, 3]
    assert [plot._points.selected.indices for plot in (points._plots["kde"], points._plots["knn"])] == [[2, 3], [2, 3]]


# ---- drawing


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
    assert np.isfinite(principal_components(np.random.default_rng(0).normal(size=(20, 3)) * 1e300)).all()
    assert not principal_components(np.ones((4, 3))).any()


def test_points_on_a_line_are_spread():
    line = datasets.Dataset(np.arange(10.0)[:, None])
    placed = positions(line, "x1", "x1")
    np.testing.assert_array_equal(placed[:, 0], np.arange(10.0))
    assert len(np.unique(placed[:, 1])) == 10


@pytest.mark.parametrize("points", [[[0, 0]], [[1e9, 1e9], [1e9, 1e9]], [[0, 0], [1, 0]], [[-1e300, 0], [1e300, 1]]])
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
    positions_, palette = np.array([[1.0, 1.0], [9.0, 1.0]]), np.array([[255, 0, 0], [0, 0, 0]], dtype=np.uint8)
    edge = (np.array([0], dtype=np.int32), np.array([1], dtype=np.int32))
    image = draw((0, 10, 0, 10, 100, 100), positions_, np.zeros(2, dtype=np.int64), palette, edges=edge).view(np.uint8).reshape(100, 100, 4)
    rows, columns = np.nonzero(image[:, :, 3])
    assert set(rows) <= {9, 10}
    assert (columns.min(), columns.max()) == (10, 89)
    assert (image[rows, columns, 0] > 250).all()
    assert (image[rows, columns, 1] < 5).all()


@pytest.mark.parametrize("ends", [((-50, 5), (50, 5)), ((5, -50), (5, 50)), ((-40, -40), (60, 60)), ((30, 30), (40, 40))])
def test_edges_are_clipped(ends):
    palette = np.zeros((2, 3), dtype=np.uint8)
    edge = (np.array([0], dtype=np.int32), np.array([1], dtype=np.int32))
    image = draw((0, 10, 0, 10, 40, 40), np.array(ends, dtype=float), np.zeros(2, dtype=np.int64), palette, edges=edge)
    inside = any(
        0 <= (ends[0][0] + t * (ends[1][0] - ends[0][0])) <= 10 and 0 <= (ends[0][1] + t * (ends[1][1] - ends[0][1])) <= 10
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
        dense[np.setdiff1d(np.arange(300), vertices)[:, None], np.setdiff1d(np.arange(300), vertices)] = 0
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
    plot = view(explorer, "points")._plots["kde"]
    before = np.count_nonzero(plot._image.data["image"][0])
    explorer.session.state.edges = "selection"
    settle(explorer)
    assert np.count_nonzero(plot._image.data["image"][0]) == 0
    explorer.session.state.edges = "strongest"
    settle(explorer)
    assert 0 < np.count_nonzero(plot._image.data["image"][0]) <= before


def test_only_the_edges_of_the_selection_are_drawn(explore):
    explorer = explore(datasets.make("moons", n=200, seed=0).X, sigma=0.2, n_clusters=2)
    plot = view(explorer, "points")._plots["kde"]
    before = np.count_nonzero(plot._image.data["image"][0])
    explorer.session.state.selection = np.array([5])
    settle(explorer)
    assert 0 < np.count_nonzero(plot._image.data["image"][0]) < before / 3
    explorer.session.state.selection = np.empty(0, dtype=np.intp)
    settle(explorer)
    assert np.count_nonzero(plot._image.data["image"][0]) == before


def test_painter_paints_what_has_changed():
    places, colours = np.random.default_rng(0).random((50, 2)), np.zeros(50, dtype=np.int64)
    graph, painter, window = kdegraph.knn_graph(places, 4), Painter(), (0, 1, 0, 1, 50, 50)

    def paint(*scene):
        glyphs = painter.glyphs(Scene(*scene))
        return painter.image(Scene(*scene)).image, glyphs.positions, glyphs.colours

    assert all(layer is not None for layer in paint(places, window, graph, colours))
    assert all(layer is None for layer in paint(places, window, graph, colours))
    image, *glyphs = paint(places, (0, 0.5, 0, 0.5, 50, 50), graph, colours)
    assert image is not None
    assert glyphs == [None, None]
    _, positions, recoloured = paint(places, (0, 0.5, 0, 0.5, 50, 50), graph, np.arange(50) % 2)
    assert positions is None
    assert len(set(recoloured.tolist())) == 2


def test_colours_are_distinct_and_end_with_the_neutral_one():
    for n in (1, 2, len(CLUSTERS), 40):
        rows = cluster_colours(n)
        assert rows.shape == (n + 1, 3)
        assert len(np.unique(rows, axis=0)) == n + 1
    assert packed(np.array([rgb("#102030")])).tolist() == [0x102030FF]


def test_a_file_that_the_browser_turns_away_is_passed_on():
    refused = []
    button = FileButton(refused.append)
    button._handle_msg({"status": "error", "error": "too large"})
    button._handle_msg({"status": "finished"})
    assert [str(error).split(":")[0] for error in refused] == ["too large", "the file is empty"]


# ---- one point


def test_the_selected_point_is_looked_at(explore):
    explorer = explore(datasets.make("moons", n=200, seed=0).X, sigma=0.2, n_rounds=6)
    state, one = explorer.session.state, view(explorer, "point")
    assert one._table.html == ""  # nothing is computed for a view that nobody sees
    state.view = "point"
    state.selection = np.array([17])
    settle(explorer)
    assert "Point 17: kernel degree" in one._table.html
    drawn = np.unique(explorer.graph.neighbors[17])
    assert sorted(zip(one._drawn.data["x"], one._drawn.data["y"], strict=True)) == sorted(map(tuple, explorer.X[drawn]))
    assert len(one._nearest.data["x"]) == 10
    assert len(one._field.data["image"]) == 1
    assert one.point == 17


def test_halving_is_stepped(explore):
    explorer = explore(datasets.make("moons", n=200, seed=0).X, sigma=0.2, n_rounds=6)
    one = view(explorer, "point")
    explorer.session.state.view = "point"
    settle(explorer)
    bars = one._recursion._bars
    levels = len(bars.data["left"]) // 2
    assert levels == len(one._boxes.data["left"]) >= 7
    one._walk(-1)
    assert len(bars.data["left"]) == 2 * (levels - 1)
    one._walk(-1000)
    assert len(bars.data["left"]) == 0
    one._walk(1)
    np.testing.assert_allclose(sum(bars.data["probability"]), 1)
    one._draw.value = 1
    settle(explorer)
    assert len(bars.data["left"]) >= 14


def test_one_point_of_many_dimensions_and_without_edges(explore):
    explorer = explore(np.random.default_rng(0).normal(size=(50, 4)), sigma=1.0)
    one = view(explorer, "point")
    explorer.session.state.view = "point"
    settle(explorer)
    assert one._field.data["image"] == []  # no plane to draw the kernel on
    explorer.session.state.choose(sigma=1e-300, n_clusters=1)
    settle(explorer)
    assert "20 draws found 0 points" in one._table.html
    assert len(one._boxes.data["left"]) == 0


# ---- rounds


def test_rounds_are_played(explore):
    explorer = explore(datasets.make("moons", n=200, seed=0).X, sigma=0.2, n_rounds=6)
    rounds = view(explorer, "rounds")
    explorer.session.state.view = "rounds"
    settle(explorer)
    assert (rounds._player.value, rounds._player.end) == (6, 6)
    assert rounds._found.rounds.tolist() == [1, 2, 3, 4, 5, 6]
    full = explorer.session.state.outcome("full").spectrum.eigenvalues
    np.testing.assert_array_equal(rounds._limit, full[:6])
    before = rounds._plots["rounds"]._image.data["image"][0]
    rounds._player.value = 1
    settle(explorer)
    assert rounds._adjacency.nnz < explorer.graph.adjacency.nnz / 3
    assert np.count_nonzero(rounds._plots["rounds"]._image.data["image"][0]) < np.count_nonzero(before)
    explorer.session.state.choose(n_rounds=4)
    settle(explorer)
    assert rounds._player.end == 4


def test_full_graph_of_many_points_is_estimated_in_the_rounds(explore, monkeypatch):
    monkeypatch.setattr("kdegraph_explorer.pipeline.FULL_UP_TO", 100)
    explorer = explore(datasets.make("moons", n=200, seed=0).X, sigma=0.2, n_rounds=6)
    rounds = view(explorer, "rounds")
    explorer.session.state.view = "rounds"
    settle(explorer)
    assert explorer.session.state.outcome("full") is None
    assert rounds._note.html == "dashed: full graph, estimated from 24 rounds"
    explorer.session.state.view = "points"
    settle(explorer)
    assert not explorer.session.state.with_full


# ---- embedding, comparison, scaling


def test_points_in_the_space_of_the_eigenvectors(explore):
    explorer = explore(datasets.make("blobs", n=150, seed=0).X, sigma=0.6, n_clusters=3)
    spectral = view(explorer, "spectral")
    explorer.session.state.view = "spectral"
    settle(explorer)
    outcome = explorer.session.state.outcome("kde")
    placed = spectral._embedding.positions
    expected = outcome.spectrum.eigenvectors[:, 1:3] / np.sqrt(outcome.adjacency.sum(axis=1))[:, None]
    np.testing.assert_allclose(placed, expected / np.abs(expected).max(axis=0))
    np.testing.assert_array_equal(spectral._degrees.positions[:, 0], explorer.graph.kernel_degrees)
    explorer.session.state.selection = np.array([3, 4])
    settle(explorer)
    assert spectral._embedding["embedding"]._points.selected.indices == [3, 4]
    widget_of_vector = spectral._vectors[0]
    widget_of_vector.value = 4
    settle(explorer)
    assert not np.array_equal(spectral._embedding.positions[:, 0], placed[:, 0])


def test_conductances_are_those_of_the_clusters(explore):
    explorer = explore(datasets.make("blobs", n=150, seed=0).X, sigma=2.0, n_clusters=3)
    outcome = explorer.session.state.outcome("kde")
    for colour, value in enumerate(outcome.conductances):
        np.testing.assert_allclose(value, kdegraph.conductance(outcome.adjacency, np.where(outcome.colours == colour, 0, 1))[0])
    drawn, window = draw_conductances({"kde": outcome.conductances, "knn": np.array([0.5, np.nan, 0.0])})
    assert len(drawn.Rectangles.I) == 5
    assert window[3] > 0.5


def test_three_graphs_are_compared(explore):
    explorer = explore(datasets.make("moons", n=200, seed=0).X, sigma=0.9, n_clusters=2)
    state, compare = explorer.session.state, view(explorer, "compare")
    state.view = "compare"
    settle(explorer)
    rows = {name: values for name, *values in compare.rows()}
    assert rows["Edges"][2] == 200 * 199 // 2
    assert all(value is not None for value in rows["Megabytes"])
    different = np.flatnonzero(state.outcome("kde").colours != state.outcome("knn").colours)
    assert len(different) > 0  # such a wide kernel cuts across the moons
    np.testing.assert_array_equal(compare.differences("knn"), different)
    compare._buttons["knn"].param.trigger("clicks")
    np.testing.assert_array_equal(state.selection, different)
    settle(explorer)
    assert [compare._plots[method]._points.selected.indices for method in ("kde", "knn", "full")] == [different.tolist()] * 3


def test_no_full_graph_of_many_points_is_compared(explore, monkeypatch):
    monkeypatch.setattr("kdegraph_explorer.pipeline.FULL_UP_TO", 100)
    monkeypatch.setattr("kdegraph_explorer.views.compare.FULL_UP_TO", 100)
    explorer = explore(datasets.make("moons", n=200, seed=0).X, sigma=0.2)
    compare = view(explorer, "compare")
    explorer.session.state.view = "compare"
    settle(explorer)
    assert compare.differences("full") is None
    assert compare._buttons["full"].disabled
    assert "not built" in compare._words.object


def test_scaling_is_measured_when_asked(explore):
    explorer = explore(datasets.make("moons", n=1200, seed=0).X, sigma=0.2, n_clusters=2)
    scaling = view(explorer, "scaling")
    explorer.session.state.view = "scaling"
    scaling._methods.value = ["knn", "kde"]
    scaling.start()
    settle(explorer)
    assert [(timing.n, timing.method) for timing in scaling.timings] == [(500, "kde"), (500, "knn"), (1000, "kde"), (1000, "knn")]
    assert scaling._table.html.count("<tr>") == 5
    assert not scaling._run.disabled
    assert scaling._stop.disabled
    scaling._methods.value = []
    scaling.start()  # nothing to do
    assert not scaling._run.disabled


def test_scaling_of_a_generator_makes_points_of_its_kind(explore):
    explorer = explore()
    scaling = view(explorer, "scaling")
    series = scaling._series()
    assert series.sizes[-1] == 20_000 > explorer.session.state.dataset.n_points
    assert series.points(700).shape == (700, 2)


# ---- quick moves


def test_forty_quick_moves_never_blank_a_view_and_never_show_a_wrong_state(explore):
    explorer = explore(datasets.make("moons", n=300, seed=0).X, sigma=0.2, n_clusters=2)
    state, plot = explorer.session.state, view(explorer, "points")._plots["kde"]
    images, spectra, asked = [], [], {0.2}
    plot._image.on_change("data", lambda attr, old, new: images.append(new["image"]))
    view(explorer, "spectrum")._values["kde"].on_change("data", lambda attr, old, new: spectra.append(new["value"]))
    states = []
    state.param.watch(lambda event: states.append((event.new.sigma, event.new.outcomes["kde"].graph.sigma)), "result")
    for sigma in np.linspace(0.1, 0.6, 40):
        asked.add(float(sigma))
        state.choose(sigma=float(sigma))
        explorer.session.mailbox.drain()
    settle(explorer)
    assert state.sigma == explorer.graph.sigma == 0.6
    assert all(len(image) == 1 and image[0].any() for image in images)
    assert all(len(values) == 10 for values in spectra)
    assert all(of_request == of_graph and of_graph in asked for of_request, of_graph in states)
    np.testing.assert_array_equal(spectra[-1], explorer.spectrum.eigenvalues)


@pytest.mark.parametrize("n_points", [4, MAX_GLYPHS + 1])
def test_the_point_under_the_mouse_is_told(explore, n_points):
    X = np.vstack([TWO_PAIRS, np.random.default_rng(0).normal(size=(n_points - 4, 2)) * 0.1 + 20])
    explorer = explore(X, sigma=1.0, n_clusters=2)
    plots = view(explorer, "points")._plots
    figure, note = plots["kde"].figure, plots["knn"]._note
    assert not note.visible
    figure._trigger_event(MouseMove(figure, x=5.0, y=5.0))
    settle(explorer)
    assert note.visible
    assert note.text.startswith(("point 2, cluster", "point 3, cluster"))
    assert (note.x, note.y) in [(5.0, 5.0), (5.1, 5.0)]
    figure._trigger_event(MouseMove(figure, x=10.0, y=1.0))
    settle(explorer)
    assert not note.visible
