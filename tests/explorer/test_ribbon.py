"""The view of the clusters at all scales: what is drawn, and what a click in it does."""

import kdegraph
import numpy as np
from bokeh.events import Pan, Tap
from explorer_objects import happen, settle, source, view
from kdegraph import datasets
from kdegraph_explorer.algorithm import ribbon
from kdegraph_explorer.drawing.palette import CLUSTER_COLORS

CENTERS = np.array([(x + dx, y) for x, y in [(0, 0), (10, 0), (5, 9)] for dx in (-1, 1)])
NESTED = CENTERS[np.arange(300) % 6] + 0.2 * np.random.default_rng(0).normal(size=(300, 2))


def opened(explorer):
    explorer.session.state.view = "ribbon"
    settle(explorer)
    return view(explorer, "ribbon")


def words(shown):
    return shown.words.content


def test_bands_have_the_sizes_and_the_colors_of_the_clusters_in_the_picture(explore):
    explorer = explore(NESTED)
    shown, state = opened(explorer), explorer.session.state
    expected = kdegraph.cluster_scales(NESTED, seed=0)
    np.testing.assert_array_equal(shown.found.labels, expected.labels)
    bands = source(shown.plot.figure, "bands").data
    assert len(bands["xs"]) == expected.n_clusters.sum()
    heights = [y[-1] - y[0] for y in bands["ys"]]
    np.testing.assert_allclose(heights, np.array(bands["size"]) / 300)
    assert source(shown.plot.gaps, "gaps").data["number"] == list(map(str, expected.n_clusters))
    colors = state.outcome("kde").colors
    at = np.flatnonzero(expected.n_clusters == 6)[0]  # the picture has the same six
    drawn = {
        color: size
        for color, size, sigma in zip(bands["color"], bands["size"], bands["sigma"], strict=True)
        if sigma == expected.sigma[at]
    }
    sizes = np.bincount(colors)
    assert {color.upper(): size for color, size in drawn.items()} == {
        CLUSTER_COLORS[c]: sizes[c] for c in np.flatnonzero(sizes)
    }
    assert "6 from" in words(shown)
    table = shown.describe_bands(True)
    assert len(table.rows) == len(bands["xs"])
    assert table.summary == words(shown)


def test_a_click_takes_the_scale_and_its_number_of_clusters_and_can_be_undone(explore):
    explorer = explore(NESTED)
    shown, state = opened(explorer), explorer.session.state
    mark = shown.plot._marks[0]
    assert not mark.visible  # each point has a bandwidth of its own
    three = np.flatnonzero(shown.found.n_clusters == 3)[1]
    sigma = shown.found.sigma[three]
    happen(shown.plot.figure, Tap, sx=0, sy=0, x=1.05 * sigma, y=0.0)
    settle(explorer)
    assert (state.sigma, state.n_clusters, state.bandwidth) == (sigma, 3, "one")
    assert len(np.unique(state.outcome("kde").labels)) == 3
    assert (mark.visible, mark.location) == (True, sigma)
    kept = shown.found
    explorer.session.history.undo()
    settle(explorer)
    assert state.bandwidth == "auto"
    assert not explorer.session.history.can_undo
    assert shown.found is kept
    happen(shown.plot.gaps, Pan, sx=0, sy=0, x=shown.found.sigma[-1], y=0.5)
    settle(explorer)
    assert state.n_clusters == 1


def test_bands_of_a_part_come_first_and_can_be_all(explore, monkeypatch):
    monkeypatch.setattr(ribbon, "MANY_POINTS", 200)
    monkeypatch.setattr(ribbon, "FIRST_POINTS", 100)
    explorer = explore(NESTED)
    sizes, shown = [], view(explorer, "ribbon")
    take = shown._job._deliver

    def stop_after_the_first(dataset, found):
        take(dataset, found)
        sizes.append(len(found[0].rows))
        if len(sizes) == 1:
            shown.stop()

    shown._job._deliver = stop_after_the_first
    explorer.session.state.view = "ribbon"
    settle(explorer)
    assert sizes == [100]
    assert words(shown).startswith("100 of 300 points: ")
    assert shown.again.visible
    assert not shown.halt.visible
    happen(shown.plot.figure, Tap, sx=0, sy=0, x=shown.found.sigma[-1], y=0.0)
    settle(explorer)
    assert explorer.session.state.n_clusters == 1
    shown.start()
    settle(explorer)
    assert sizes == [100, 100, 300]
    assert not shown.again.visible


def test_bands_are_those_of_the_data_that_are_shown_and_their_absence_is_explained(explore):
    explorer = explore(NESTED)
    session, shown = explorer.session, opened(explorer)
    session.state.view = "points"
    kept = shown.found
    opened(explorer)
    assert shown.found is kept
    session.state.dataset = datasets.Dataset(np.ones((5, 2)), name="one place")
    settle(explorer)
    assert shown.found.labels.shape == (1, 5)
    assert words(shown) == "All points are at the same place: one cluster at any scale."
    session.state.dataset = datasets.photo("flower", max_pixels=500)
    settle(explorer)
    session.state.view = "ribbon"
    settle(explorer)
    assert shown.found is None
    assert len(source(shown.plot.figure, "bands").data["xs"]) == 0
    assert words(shown).startswith("Scales are for points")
    assert shown.describe_bands(True).summary == words(shown)
