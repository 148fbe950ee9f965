"""A saved page, opened from disk."""

import numpy as np
import pytest
from kdegraph import datasets
from kdegraph_explorer import Explorer

MAX_SAVED = 10_000_000  # bytes
PLOTS = ("KDE graph: points and edges", "k-NN graph: points and edges")
SELECTED = """names => names.map(name => Bokeh.documents[0].get_model_by_name(name).renderers
  .find(renderer => renderer.name === "points").data_source.selected.indices)"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A saved page, and the explorer that it is of."""
    data = datasets.make("moons", n=600, seed=0)
    explorer = Explorer(data, sigma=0.1, n_clusters=2)
    explorer.selection = [3, 5]
    path = tmp_path_factory.mktemp("saved") / "view.html"
    explorer.save(path)
    yield path, explorer
    explorer.close()


def test_a_saved_page_needs_no_server(saved, new_page):
    path, explorer = saved
    page = new_page(viewport={"width": 1280, "height": 720})
    page.goto(path.as_uri())
    page.wait_for_function("() => window.Bokeh?.documents[0]?.is_idle")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 1280
    page.get_by_text("● cluster 1   ● cluster 2").wait_for()
    page.get_by_text("600 points in 2 dimensions; sigma 0.1, L = 20").wait_for()
    assert page.evaluate(SELECTED, PLOTS) == [[3, 5], [3, 5]]
    plots = page.locator(".bk-Figure")
    assert plots.count() == 4
    place = plots.first.bounding_box()
    page.mouse.move(place["x"] + 80, place["y"] + 20)
    page.mouse.down()
    page.mouse.move(place["x"] + 300, place["y"] + 410, steps=4)
    page.mouse.up()
    one, other = page.evaluate(SELECTED, PLOTS)
    x = explorer.X[:, 0]
    assert 100 < len(one) < 500
    assert one == other
    assert x[one].max() <= np.sort(x)[len(one) - 1] + 0.05  # the left part
    left, right, low, high = page.evaluate(
        "name => { const {x_range, y_range} = Bokeh.documents[0].get_model_by_name(name);"
        " return [x_range.start, x_range.end, y_range.start, y_range.end] }",
        PLOTS[0],
    )
    assert left < x.min() < x.max() < right
    assert low < explorer.X[:, 1].min() < explorer.X[:, 1].max() < high


def test_a_page_of_many_points_is_small(tmp_path):
    explorer = Explorer(datasets.make("blobs", n=120_000, seed=0).X, sigma=0.3, n_clusters=3)
    explorer.save(tmp_path / "view.html")
    explorer.close()
    assert 1_000_000 < (tmp_path / "view.html").stat().st_size < MAX_SAVED
    assert "40,000 of the points can be selected" in (tmp_path / "view.html").read_text()
