"""The pictures of the first page's plots, which stand there until these are drawn."""

import io
from urllib.parse import urlencode

import kdegraph_explorer.pipeline as pipeline
import numpy as np
import pytest
from kdegraph.datasets import Dataset
from kdegraph_explorer.address import FIRST_PAGE, is_first_page, read
from kdegraph_explorer.assets import STATIC
from kdegraph_explorer.drawing.figures import Frame, extent_of
from kdegraph_explorer.drawing.painter import Scene
from kdegraph_explorer.exports.still import panel_of, still_of, window
from kdegraph_explorer.sources.generators import FIRST, first_points
from kdegraph_explorer.views.plots import EMPTY, UNCOLORED, GraphPlot
from kdegraph_explorer.views.start import PANELS, StartView
from PIL import Image

WIDTH = 320  # pixels, somewhat more than a plot has in a window of 1,280
COLORS = 64
BYTES = 24_000  # of all pictures


def drawn(session):
    """The pictures by the keys of `PANELS`, as PNG files, from what a session shows."""
    still = still_of(session.state, PANELS)
    x0, x1, y0, y1 = extent_of(still.positions)
    viewport = window(still, WIDTH, round(WIDTH * (y1 - y0) / (x1 - x0)))
    files = {}
    for graph in still.graphs:
        panel, file = panel_of(still, graph, viewport), io.BytesIO()
        panel = panel.quantize(COLORS, method=Image.Quantize.FASTOCTREE)
        panel.save(file, "png", optimize=True)
        files[graph.method] = file.getvalue()
    return files


def pixels(file):
    """The colors of a picture on white, (height, width, 3), from 0 to 1."""
    with Image.open(file) as picture:
        colors = np.asarray(picture.convert("RGBA"), dtype=float) / 255
    return 1 - colors[..., 3:] * (1 - colors[..., :3])


def first_page(sessions, given=None, **choices):
    """A session that has the result of the first page, or that with other choices."""
    session = sessions(given, start=given is not None)
    session.sources["generators"].shared = True
    session.state.extra_methods = StartView.extra_methods
    session.restore(read(session, f"source=generators&{FIRST_PAGE}&{urlencode(choices)}"))
    session.wait()
    return session


def test_the_pictures_show_the_first_result(sessions, pytestconfig):
    files = drawn(first_page(sessions))
    assert list(files) == list(PANELS)
    for key, file in files.items():
        path = STATIC / f"start-{key}.png"
        if pytestconfig.getoption("--update-screenshots"):
            path.write_bytes(file)
        kept, now = pixels(path), pixels(io.BytesIO(file))
        assert kept.shape == now.shape
        assert np.abs(kept - now).mean() < 0.002, f"{key}: run `make screenshots`"
    paths = [STATIC / f"start-{key}.png" for key in PANELS]
    assert sum(path.stat().st_size for path in paths) < BYTES
    # Pictures of other graphs are not taken for it.
    assert np.abs(pixels(paths[0]) - pixels(paths[2])).mean() > 0.02


def test_sessions_of_a_server_compute_the_first_page_once(sessions, monkeypatch):
    monkeypatch.setattr(pipeline, "_first", {})
    built = []
    for name in ("similarity_graph", "knn_graph", "sparse_full_graph"):
        build = getattr(pipeline, name)
        monkeypatch.setattr(
            pipeline, name, lambda *a, n=name, b=build, **k: built.append(n) or b(*a, **k)
        )
    first, second = first_page(sessions), first_page(sessions)
    assert built == ["similarity_graph", "knn_graph", "sparse_full_graph"]
    for key, outcome in second.state.outcomes(PANELS).items():
        assert outcome.graph is first.state.outcome(key).graph
        assert np.array_equal(outcome.colors, first.state.outcome(key).colors)
    second.state.choose(n_clusters=3)
    second.wait()
    assert first_page(sessions).state.outcome("kde").n_clusters == 2
    assert len(built) == 3


def test_nothing_of_a_session_that_had_other_points_is_kept(sessions, monkeypatch):
    monkeypatch.setattr(pipeline, "_first", {})
    session = first_page(sessions, Dataset(np.random.default_rng(0).random((50, 2))))
    assert session.state.dataset is first_points()
    assert pipeline._first == {}
    first_page(sessions, n_clusters=3)
    assert pipeline._first == {}
    first_page(sessions)
    assert pipeline._first.keys() >= {("full", "graph"), ("kde", "clusters")}


def test_notebooks_share_no_points(sessions):
    source = sessions(start=False).sources["generators"]
    source.restore(FIRST)
    assert source.loader()() is not source.loader()()
    np.testing.assert_array_equal(source.loader()().X, first_points().X)


@pytest.mark.parametrize(
    ("query", "points", "expected"),
    [
        ("", None, True),
        ("?" + FIRST_PAGE, None, True),  # what the address says after a while
        ("", 2000, True),
        ("", 1999, False),  # it is refused
        ("?source=generators", None, False),
        (f"?{FIRST_PAGE}&n_clusters=3", None, False),
        ("?data.shape=clumps&view=points", None, False),
    ],
)
def test_only_the_first_page_has_them(sessions, limit, query, points, expected):
    limit(points=points or "")
    session = sessions(start=False)
    assert is_first_page(session, query) is expected
    session.open("own.csv")  # that with the file that the explorer was started with
    assert not is_first_page(session, query)


def test_a_plot_is_uncolored_until_it_shows_clusters():
    frame, points = Frame(lambda: None), first_points().X
    plot = GraphPlot("plot", frame)
    assert plot.figure.css_classes == [EMPTY, UNCOLORED]
    scene = Scene(points, frame.viewport)
    plot.show(scene, plot.painter.image(scene))
    assert plot.figure.css_classes == [UNCOLORED]
    scene = Scene(points, frame.viewport, colors=np.zeros(len(points), dtype=int))
    plot.show(scene, plot.painter.image(scene))
    assert plot.figure.css_classes == []
