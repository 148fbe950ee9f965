"""Size and opacity of points, drawn by the browser or in the image, and what keeps them."""

import io

import numpy as np
import pytest
from bokeh.models import GlyphRenderer, Plot
from explorer_actions import put
from explorer_objects import image, source, view
from kdegraph import datasets
from kdegraph_explorer.drawing.painter import MAX_GLYPHS
from kdegraph_explorer.drawing.raster import PALE, draw
from kdegraph_explorer.exports import html_page, still
from kdegraph_explorer.exports.figure import draw as draw_figure
from kdegraph_explorer.views.color import PointStyle
from matplotlib.collections import PathCollection
from PIL import Image

BELOW_TITLES = 80  # pixels at the top of the still picture that have text


def opacity_of(picture):
    """The opacity of each pixel, from 0 to 1."""
    return (picture >> 24) / 255


@pytest.fixture
def style(explore):
    def begin(n):
        explorer = explore(datasets.make("moons", n=n, seed=0))
        put(explorer, view="points", show_edges=False)
        return explorer

    return begin


def dots_of(figure):
    """The glyph of the points of a figure, and that of points that are not selected."""
    (dots,) = (r for r in figure.select(GlyphRenderer) if r.name == "points")
    return dots.glyph, dots.nonselection_glyph


def test_points_of_an_image_grow_and_become_translucent(style):
    explorer = style(6000)
    figure = view(explorer, "points").figures()[0]
    before = opacity_of(image(figure))
    put(explorer, point_size=2.0)
    larger = opacity_of(image(figure))
    assert (larger > 0).sum() > 1.2 * (before > 0).sum()
    put(explorer, point_size=1.0, point_opacity=0.3)
    fainter = opacity_of(image(figure))
    assert ((fainter > 0) <= (before > 0)).all()
    assert fainter.max() < before.max()


def test_files_follow_size_and_opacity(style, monkeypatch):
    explorer = style(300)
    state, figure = explorer.session.state, view(explorer, "points").figures()[0]
    plots = []
    monkeypatch.setattr(
        html_page, "components", lambda page: plots.extend(page.select({"type": Plot})) or ("", "")
    )

    def files():
        """The size and the opacities of the points in the HTML file, what the still picture shows,
        and the areas and opacities of the points in a figure.
        """
        plots.clear()
        html_page.write(explorer.session)
        glyph, others = dots_of(next(plot for plot in plots if "points and edges" in plot.name))
        now = still.still_of(state)
        shown = np.asarray(Image.open(io.BytesIO(still.png(now))).convert("RGB"), dtype=float)
        (marks,) = (
            part
            for part in draw_figure(now, "", 1).subfigs[1].axes[0].collections
            if isinstance(part, PathCollection)
        )
        return (
            (glyph.size, glyph.fill_alpha, others.fill_alpha),
            255 - shown[BELOW_TITLES : still.PANEL_HEIGHT].min(axis=2),  # how far from white
            (marks.get_sizes()[0], marks.get_facecolors()[:, 3]),
        )

    (size, *opacities), usual, (area, marked) = files()
    assert opacities == [1.0, 0.15]
    assert (marked == 1).all()
    put(explorer, point_size=2.0, point_opacity=0.4, selection=np.arange(100))
    (control,) = explorer.layout.color.__panel__().select(PointStyle)
    assert (control.size, control.opacity) == (2.0, 0.4)
    (glyph, others), changed = dots_of(figure), files()
    assert changed[0] == (2 * size, glyph.fill_alpha, others.fill_alpha)
    assert (glyph.fill_alpha, others.fill_alpha) == (0.4, 0.4 * 0.15)
    assert changed[2][0] == pytest.approx(4 * area)
    assert changed[2][1] == pytest.approx(np.where(np.arange(300) < 100, 0.4, 0.06))
    put(explorer, point_opacity=1.0, selection=np.empty(0, dtype=int))
    larger = files()[1]
    assert (larger > 60).sum() > 2 * (usual > 60).sum()
    put(explorer, point_opacity=0.4)
    fainter = files()[1]
    covered = larger > 200  # points of a color that is far from white
    assert covered.sum() > 100
    assert fainter[covered] == pytest.approx(
        0.4 * larger[covered],
        abs=20,  # the picture has 256 colors
    )


def test_density_shows_at_a_million_points():
    rng = np.random.default_rng(0)
    n = 1_000_000
    dense = np.arange(n) < 0.8 * n  # four times as many points in the left half
    X = np.column_stack([rng.random(n) + np.where(dense, 0, 1), 2 * rng.random(n)])
    palette = np.array([[0, 114, 178], [138, 143, 152]], dtype=np.uint8)
    drawn = opacity_of(draw((0, 2, 0, 2, 400, 300), X, np.zeros(n, int), palette, radius=0.55))
    left, right = drawn[20:-20, 20:180].mean(), drawn[20:-20, 220:380].mean()
    assert left > 1.7 * right
    assert 0.05 < right < left < 0.95


@pytest.mark.parametrize("n", [600, 5_000])  # drawn by the browser, and in the image
def test_doubtful_points_are_pale(explore, n):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n, 2)) + np.repeat([[0.0, 0.0], [2.8, 0.0]], n // 2, axis=0)
    explorer = explore(points)
    put(explorer, view="points", show_edges=False)
    doubtful = explorer.session.state.outcome("kde").doubtful
    assert 0 < doubtful.sum() < n / 2
    kde, knn = view(explorer, "points").figures()[:2]

    def ink(figure):
        """The opacity of each point, or of all."""
        if n > MAX_GLYPHS:
            return opacity_of(image(figure)).sum()
        return (source(figure, "points").data["color"] & 255) / 255

    pale, others = ink(kde), ink(knn)
    saved = still.still_of(explorer.session.state)
    for graph, expected in zip(saved.graphs, (np.where(doubtful, PALE, 1.0), 1.0), strict=True):
        np.testing.assert_array_equal(saved.opacities(graph), expected)
    page = html_page.points_of(saved, np.arange(n)).data
    np.testing.assert_array_equal((page["kde_color"] & 255) < 255, doubtful)
    put(explorer, fade=False)
    plain = ink(kde)
    np.testing.assert_array_equal(ink(knn), others)  # its clusters are not known to be in doubt
    if n > MAX_GLYPHS:
        assert pale < plain
    else:
        np.testing.assert_allclose(pale, np.where(doubtful, PALE, plain), atol=0.01)
    put(explorer, fade=True, color="column:x1")  # these colors are of no cluster
    assert explorer.session.state.coloring is not None
    np.testing.assert_array_equal(ink(kde) if n <= MAX_GLYPHS else plain, plain)
