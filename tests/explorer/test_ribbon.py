"""The view of the clusters at all scales, and of the segments of a photograph in all numbers: what
is drawn, and what a click in it does.
"""

import kdegraph
import numpy as np
import pandas as pd
import pytest
from bokeh.events import Pan, Tap
from explorer_objects import happen, settle, source, view
from kdegraph import datasets
from kdegraph_explorer import stages
from kdegraph_explorer.algorithm import ribbon
from kdegraph_explorer.drawing.palette import CLUSTER_COLORS
from kdegraph_explorer.drawing.segments import segments
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

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
        for color, size, sigma in zip(bands["color"], bands["size"], bands["scale"], strict=True)
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
        sizes.append(len(found.found.rows))
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


def test_bands_are_those_of_the_data_that_are_shown_and_one_place_is_explained(explore):
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
    assert shown.describe_bands(True).summary == words(shown)


def test_segments_are_followed_over_their_numbers_and_dragging_shows_them_at_once(
    explore, hold, monkeypatch
):
    explorer = explore(datasets.photo("flower", max_pixels=1000))
    shown, state = opened(explorer), explorer.session.state
    dataset, graph = state.shown, state.outcome("kde").graph
    assert shown.found.n_clusters.tolist() == list(range(50, 1, -1))
    assert words(shown).startswith("2 to 50 segments; the largest eigengaps are after ")
    spectrum = kdegraph.spectrum(graph, 51, seed=0, tol=1e-3, smallest_component="auto")
    np.testing.assert_allclose(
        source(shown.plot.gaps, "gaps").data["gap"][::-1],
        np.diff(spectrum.eigenvalues)[1:],
        atol=1e-9,
    )
    bands = pd.DataFrame(source(shown.plot.figure, "bands").data)
    height, width = dataset.image.shape[:2]
    cells = datasets.expand_labels(np.arange(dataset.n_points), dataset.shape, (height, width))
    pixels = pd.DataFrame(dataset.image.reshape(-1, 3)).groupby(cells.ravel()).mean()
    for k in (2, 7, 50):
        labels = kdegraph.spectral_clustering(graph, k, spectrum=spectrum, seed=0).labels
        assert adjusted_rand_score(labels, shown.found.labels[50 - k]) == 1
        drawn = bands[bands["scale"] == k]
        means = pixels.groupby(labels).mean().to_numpy()
        expected = np.column_stack([np.bincount(labels), means])
        colors = [[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in drawn["color"]]
        found = np.column_stack([drawn["size"], colors])
        differences = abs(found[:, None] - expected[None]).max(axis=2)
        pairs = linear_sum_assignment(differences)  # segments of one size may have near colors
        assert differences[pairs].max() < 1.01  # rounded twice
    go_on = hold("spectral_clustering")
    seen = source(shown.picture.figure, "segments")
    happen(shown.plot.figure, Pan, sx=0, sy=0, x=7.2, y=0.0)
    at_once = seen.data["image"][0]
    assert (state.n_clusters, state.outcome("kde").n_clusters == 7) == (7, False)
    np.testing.assert_array_equal(
        at_once, segments(shown.found.labels[43].reshape(dataset.shape), "means", dataset.image)
    )
    go_on.set()
    settle(explorer)
    assert state.outcome("kde").n_clusters == 7
    np.testing.assert_array_equal(seen.data["image"][0], at_once)
    assert shown.plot._marks[0].location == 7
    happen(shown.plot.gaps, Tap, sx=0, sy=0, x=12.0, y=0.0)
    settle(explorer)
    assert state.outcome("kde").spectrum.n_components == 51  # one for all numbers
    assert state.outcome("kde").n_clusters == 12
    solved, solve = [], stages.find_spectrum

    def count(graph, *args, **options):
        solved.append(graph)
        return solve(graph, *args, **options)

    monkeypatch.setattr(stages, "find_spectrum", count)
    state.choose(n_rounds=12)
    settle(explorer)
    graph = state.outcome("kde").graph
    assert graph.n_rounds == 12
    assert sum(one is graph for one in solved) == 1  # for the clusters and the bands
    assert shown.found.n_clusters[0] == 50


def test_other_parameters_of_the_graph_have_other_segments_and_can_be_stopped(explore):
    explorer = explore(datasets.photo("flower", max_pixels=500))
    shown, state = opened(explorer), explorer.session.state
    first, deliver = shown.found, shown._job._deliver

    def stop_after_the_first(subject, bands):
        deliver(subject, bands)
        shown.stop()

    shown._job._deliver = stop_after_the_first
    state.choose(bandwidth="one", sigma=2 * first.sigma[0])
    settle(explorer)
    assert shown.found.sigma[0] == pytest.approx(2 * first.sigma[0])
    assert shown.found.n_clusters.tolist() == list(range(ribbon.FIRST_NUMBERS[0], 1, -1))
    assert shown.again.visible


def test_more_segments_come_beside_those_that_are_shown(explore):
    explorer = explore(datasets.photo("flower", max_pixels=1000))
    shown, steps = view(explorer, "ribbon"), []
    deliver = shown._job._deliver

    def look(subject, bands):
        deliver(subject, bands)
        drawn = pd.DataFrame(source(shown.plot.figure, "bands").data)
        ends = shown.plot.figure.x_range, shown.plot.figure.y_range
        steps.append((bands, drawn, [(one.start, one.end) for one in ends]))

    shown._job._deliver = look
    opened(explorer)
    *first, (found, drawn, ends) = steps
    assert [one.found.n_clusters[0] for one, *_ in first] == [*ribbon.FIRST_NUMBERS]
    assert (found.found.n_clusters[0], found.complete) == (50, True)
    for bands, before, window in first:
        assert not bands.complete
        assert window == ends
        k = bands.found.n_clusters
        np.testing.assert_array_equal(bands.found.labels, found.found.labels[-len(k) :])
        same = drawn[drawn["scale"] <= k[0]].reset_index(drop=True)
        assert before[["color", "size", "scale"]].equals(same[["color", "size", "scale"]])
        for old, new in zip(before["ys"], same["ys"], strict=True):
            np.testing.assert_allclose(old, new)
