"""Views as objects: what they would show, and what they set."""

import threading

import numpy as np
import pytest
from bokeh.events import MouseMove, PanStart, SelectionGeometry, Tap
from explorer_actions import PATIENCE, TWO_PAIRS, put, settle, until
from explorer_objects import alert, happen, image, source, view, widget
from kdegraph import datasets
from kdegraph_explorer.drawing.painter import MAX_GLYPHS, Painter
from kdegraph_explorer.drawing.palette import cluster_colors
from kdegraph_explorer.drawing.segments import segments
from kdegraph_explorer.views import VIEWS
from kdegraph_explorer.views.base import Caption
from panel_material_ui import Alert
from panel_material_ui.base import MaterialComponent


def test_every_view_has_a_key_and_a_place_and_a_button_to_reset_what_can_be_moved(explore):
    explorer = explore(TWO_PAIRS)
    for key, titles in {
        "points": {"KDE graph", "k-NN graph"},
        "rounds": {"Sampled graph"},
        "compare": {"KDE graph", "Other bandwidth", "k-NN graph", "Full graph"},
    }.items():
        heads = view(explorer, key).__panel__().select(Caption)
        assert {head.title for head in heads if head.resets} == titles
    assert view(explorer, "rounds").player.loop_policy == "once"
    assert len({view.key for view in VIEWS}) == len(VIEWS)
    assert {view.area for view in VIEWS} == {"top", "bottom"}


def test_a_view_that_the_mouse_rests_on_is_built_hidden_and_is_up_to_date_when_it_opens(explore):
    explorer = explore(TWO_PAIRS, sigma=1.0, n_clusters=2)
    made, browser = explorer.layout.views.made, explorer.layout.toolbar.browser
    first, before = explorer.session.state.view, set(made)
    browser._handle_msg({"expected": "No such view"})
    assert set(made) == before
    browser._handle_msg({"expected": "Embedding"})
    assert set(made) == before | {"spectral"}
    assert explorer.session.state.view == first
    card = made["spectral"].__panel__()
    (place,) = (part for part in explorer.layout.main if card in part.select())
    assert not place.visible
    put(explorer, n_clusters=1)
    put(explorer, view="spectral")
    assert place.visible
    assert card in place.select()
    colors = source(made["spectral"].figures()[0], "points").data["color"]
    assert len(set(colors)) == 1


def test_a_view_is_shown_that_is_built_by_the_mouse_after_its_button_was_clicked(explore):
    explorer = explore(TWO_PAIRS, sigma=1.0, n_clusters=2)
    browser = explorer.layout.toolbar.browser
    # Messages of the browser that arrive before what the first one has posted is done.
    explorer.session.state.view = "rows"
    assert browser.opening == "Rows"
    browser._handle_msg({"expected": "Rows"})
    explorer.session.mailbox.drain()
    assert browser.opening == ""


def test_points_are_colored_by_cluster_edges_can_be_hidden_and_the_status_says_what_goes_on(
    explore,
):
    explorer = explore(TWO_PAIRS, sigma=1.0, n_clusters=2)
    figure = view(explorer, "points").figures()[0]
    colors = source(figure, "points").data["color"]
    assert colors[0] == colors[1] != colors[2] == colors[3]
    assert len(source(figure, "image").data["image"]) == 1
    figure = view(explorer, "points").figures()[1]
    assert image(figure).any()
    widget(explorer, "Edges").value = False
    settle(explorer)
    assert not image(figure).any()
    assert explorer.layout.status.sentence() == "given points: 4 points in 2 dimensions, 2 clusters"
    explorer.session.state.stage = "samples"
    assert explorer.layout.status.sentence() == "samples …"
    explorer.session.state.stage = None


def test_a_view_has_the_theme_of_the_notebook_when_it_opens_and_when_it_comes_back(explore):
    explorer = explore(TWO_PAIRS, sigma=1.0, n_clusters=2)
    explorer.layout.tabs.dark_theme = True  # as the browser reports of what it shows
    for key in ("spectral", "points", "spectral"):
        put(explorer, view=key)
        parts = explorer.views[key].__panel__().select(MaterialComponent)
        assert all(part.dark_theme for part in parts)
        assert parts or key == "points"
    page = explorer.sections()[2]
    assert not page.select(Alert)  # nothing is built that has nothing to say
    explorer.session.state.error = "no such file"
    (message,) = page.select(Alert)
    assert message.dark_theme
    assert alert(explorer, "kg-error") == "no such file"
    explorer.session.state.error = ""
    assert alert(explorer, "kg-error") == ""
    explorer.session.state.error = "another one"
    assert page.select(Alert) == [message]
    assert alert(explorer, "kg-error") == "another one"


def test_a_message_that_was_closed_comes_back_only_with_other_words_or_anew(explore):
    explorer = explore(TWO_PAIRS, sigma=1.0, n_clusters=2)
    state = explorer.session.state
    state.error = "no such file"
    (message,) = explorer.sections()[2].select(Alert)
    message.closed = True  # as the browser reports
    assert alert(explorer, "kg-error") == ""
    state.param.trigger("error")
    assert alert(explorer, "kg-error") == ""
    for words in ("another one", "no such file", "", "no such file"):
        state.error = words
        assert alert(explorer, "kg-error") == words
        assert not message.closed


def test_old_edges_never_lie_under_new_points(explore, monkeypatch):
    explorer = explore(datasets.make("moons", n=200, seed=0).X, sigma=0.2, n_clusters=2)
    figure, session = view(explorer, "points").figures()[0], explorer.session
    paint, go_on = Painter.image, threading.Event()

    def slow(painter, scene):
        assert go_on.wait(PATIENCE)
        return paint(painter, scene)

    monkeypatch.setattr(Painter, "image", slow)
    seen = []
    source(figure, "points").on_change(
        "data", lambda attr, before, after: seen.append(list(source(figure, "image").data["image"]))
    )
    old = source(figure, "image").data["image"][0]
    put(session, dataset=datasets.Dataset(datasets.make("blobs", n=90, seed=0).X, sigma=0.8))
    until(session, lambda: seen and len(source(figure, "points").data["x"]) == 90)
    assert not any(old is image for images in seen for image in images)
    assert source(figure, "image").data["image"] == []
    go_on.set()
    settle(explorer)
    assert image(figure).any()


def test_the_random_offset_of_one_column_is_called_that(explore):
    explorer = explore([[float(i)] for i in range(20)])
    figure = view(explorer, "points").figures()[0]
    assert figure.yaxis[0].axis_label.text == "random offset, to tell points apart"
    assert np.ptp(source(figure, "points").data["y"]) > 0


def test_spectrum_shows_the_eigenvalues_and_the_gap_and_a_click_on_a_gap_sets_k(explore):
    explorer = explore(datasets.make("blobs", n=150, seed=0).X, sigma=0.6)
    figure = view(explorer, "spectrum").figures()[0]
    values = source(figure, "eigenvalues").data["value"]
    np.testing.assert_array_equal(values, explorer.spectrum.eigenvalues)
    k = explorer.session.state.n_clusters
    gap = source(figure, "gap").data
    assert gap["left"] == [k]
    assert gap["bottom"] == [max(values[k - 1], 1e-3 * values[-1])]
    assert gap["top"] == [values[k]]
    happen(figure, Tap, x=4.4, y=0.1)
    settle(explorer)
    assert explorer.session.state.n_clusters == 4
    assert explorer.labels.max() == 3


def test_segmentation_lies_over_the_picture_where_there_is_one(explore):
    explorer = explore()
    state, picture = explorer.session.state, view(explorer, "picture")
    assert not picture.applies(state)
    assert "picture" not in explorer.layout.tabs.options.values()
    explorer.session.sources["photographs"].pixels = 1000
    put(explorer, source="photographs")
    assert picture.applies(state)
    kde, knn = picture.figures()
    overlay = source(kde, "segments").data["image"][0]
    assert overlay.shape == state.dataset.shape
    colors = state.outcome("kde").colors
    pixels = overlay[::-1].copy().view(np.uint8).reshape(-1, 4)
    np.testing.assert_array_equal(pixels[:, :3], cluster_colors(int(colors.max()) + 1)[colors])
    assert (pixels[:, 3] == 255).all()
    assert source(kde, "picture").data["image"][0].shape == state.dataset.image.shape[:2]
    state.overlay = 0.25
    assert knn.select_one({"name": "segments"}).glyph.global_alpha == 0.25


def test_segments_in_mean_colors_and_as_boundaries():
    labels = np.array([[0, 0, 1], [0, 0, 1]])
    picture = np.zeros((4, 6, 3), dtype=np.uint8)
    picture[:, :4], picture[:, 4:] = (10, 20, 30), (200, 100, 0)
    picture[0, :4] = (50, 60, 70)
    means = segments(labels, "means", picture)[::-1].copy().view(np.uint8).reshape(2, 3, 4)
    assert means[0].tolist() == [[20, 30, 40, 255], [20, 30, 40, 255], [200, 100, 0, 255]]
    lines = segments(labels, "boundaries")
    assert (lines != 0).tolist() == [[False, True, True], [False, True, True]]
    assert not segments(np.zeros((3, 3), dtype=int), "boundaries").any()


def test_selection_with_the_mouse_and_keys_held_down(explore):
    explorer = explore(TWO_PAIRS, sigma=1.0)
    kde, figure = view(explorer, "points").figures()
    state = explorer.session.state
    box = {"type": "rect", "x0": 4, "x1": 6, "y0": 4, "y1": 6}
    happen(figure, SelectionGeometry, geometry=box, final=False)
    assert explorer.selection.tolist() == []
    happen(figure, SelectionGeometry, geometry=box, final=True)
    assert explorer.selection.tolist() == [2, 3]
    for plot in (kde, figure):
        assert source(plot, "points").selected.indices == [2, 3]
    # Keys that are held down add and take away.
    for keys, before, by_box, by_tap in (
        ("", [0], [2, 3], [3]),
        ("shift", [0], [0, 2, 3], [0, 3]),
        ("ctrl shift", [0, 2], [0], [0]),
        ("ctrl", [0], [], []),
    ):
        held = {"shift": "shift" in keys, "ctrl": "ctrl" in keys, "alt": False}
        state.selection = np.array(before)
        happen(kde, PanStart, modifiers=held)
        happen(kde, SelectionGeometry, geometry=box, final=True)
        assert explorer.selection.tolist() == by_box
        state.selection = np.array([0])
        happen(kde, Tap, x=5.1, y=5.0, modifiers=held)
        assert explorer.selection.tolist() == by_tap


@pytest.mark.parametrize("n_points", [4, MAX_GLYPHS + 1])
def test_the_point_under_the_mouse_is_told(explore, n_points):
    X = np.vstack([TWO_PAIRS, np.random.default_rng(0).normal(size=(n_points - 4, 2)) * 0.1 + 20])
    explorer = explore(X, sigma=1.0, n_clusters=2)
    figure, other = view(explorer, "points").figures()
    note = other.select_one({"name": "note"})
    assert not note.visible
    happen(figure, MouseMove, x=5.0, y=5.0)
    settle(explorer)
    assert note.visible
    first, degree, *rest = note.text.text.splitlines()  # short lines fit into half a plot
    assert first.startswith(("point 2, cluster", "point 3, cluster"))
    assert degree.startswith("kernel degree ")
    assert rest in (["x1: 5", "x2: 5"], ["x1: 5.1", "x2: 5.1"])
    assert (note.x, note.y) in [(5.0, 5.0), (5.1, 5.0)]
    happen(figure, MouseMove, x=10.0, y=1.0)
    settle(explorer)
    assert not note.visible
