"""Size and opacity of points, drawn by the browser or in the image, and what keeps them."""

import numpy as np
import pytest
from bokeh.models import GlyphRenderer
from explorer_objects import image, settle, view
from kdegraph import datasets
from kdegraph_explorer import address
from kdegraph_explorer.drawing.raster import draw
from kdegraph_explorer.snapshot import take
from kdegraph_explorer.views.point_style import PointStyle


def opacity_of(picture):
    """The opacity of each pixel, from 0 to 1."""
    return (picture >> 24) / 255


@pytest.fixture
def style(explore):
    def begin(n):
        explorer = explore(datasets.make("moons", n=n, seed=0))
        explorer.session.state.param.update(view="points", show_edges=False)
        settle(explorer)
        return explorer

    return begin


def test_glyphs_grow_and_become_translucent(style):
    explorer = style(300)
    state, figure = explorer.session.state, view(explorer, "points").figures()[0]
    (dots,) = (r for r in figure.select(GlyphRenderer) if r.name == "points")
    size, faded = dots.glyph.size, dots.nonselection_glyph.fill_alpha
    state.param.update(point_size=2.0, point_opacity=0.5)
    settle(explorer)
    assert (dots.glyph.size, dots.glyph.fill_alpha) == (2 * size, 0.5)
    assert dots.nonselection_glyph.fill_alpha == faded / 2


def test_points_of_an_image_grow_and_become_translucent(style):
    explorer = style(6000)
    state, figure = explorer.session.state, view(explorer, "points").figures()[0]
    before = opacity_of(image(figure))
    state.point_size = 2.0
    settle(explorer)
    larger = opacity_of(image(figure))
    assert (larger > 0).sum() > 1.2 * (before > 0).sum()
    state.param.update(point_size=1.0, point_opacity=0.3)
    settle(explorer)
    fainter = opacity_of(image(figure))
    assert ((fainter > 0) <= (before > 0)).all()
    assert fainter.max() < before.max()


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


def test_the_style_is_chosen_undone_and_kept_in_the_address(style):
    explorer = style(300)
    session = explorer.session
    (control,) = explorer.layout.color.__panel__().select(PointStyle)
    session.history.end_step()
    control.size = 0.5
    assert session.state.point_size == 0.5
    assert "point_size=0.5" in address.query(session, take(session))
    session.history.undo()
    assert session.state.point_size == control.size == 1.0
