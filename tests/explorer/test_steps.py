"""Views of the algorithm: one point, the rounds, the spectral embedding, the comparison, the
scaling.
"""

import holoviews as hv
import kdegraph
import numpy as np
from bokeh.core.properties import value
from bokeh.models import Text as GlyphText
from explorer_actions import choose, put, settle
from explorer_objects import image, opened, part, source, text, view
from kdegraph import datasets
from kdegraph_explorer.views.spectral import draw_conductances

MOONS = datasets.make("moons", n=200, seed=0).X


def test_the_selected_point_is_looked_at_and_its_halving_is_stepped(explore):
    explorer = explore(MOONS, sigma=0.2, n_rounds=6)
    state, one = explorer.session.state, view(explorer, "point")
    assert text(one, "kg-neighbors") == ""  # nothing is computed for a view that nobody sees
    state.view = "point"
    put(explorer, selection=np.array([17]))
    assert "Point 17: kernel width σ = 0.2" in text(one, "kg-neighbors")
    drawn = np.unique(explorer.graph.neighbors[17])
    near = one.figures()[0]
    sampled = source(near, "sampled").data
    assert sorted(zip(sampled["x"], sampled["y"], strict=True)) == sorted(
        map(tuple, explorer.X[drawn])
    )
    assert len(source(near, "nearest").data["x"]) == 10
    assert len(source(near, "kernel").data["image"]) == 1
    assert one.point == 17
    _, overview, halving = one.figures()
    bars = source(halving, "bars")
    levels = len(bars.data["left"]) // 2
    assert levels == len(source(overview, "boxes").data["left"]) >= 7
    one.walk(-1)
    assert len(bars.data["left"]) == 2 * (levels - 1)
    one.walk(-1000)
    assert len(bars.data["left"]) == 0
    one.walk(1)
    np.testing.assert_allclose(sum(bars.data["probability"]), 1)
    one.draw.value = 1
    settle(explorer)
    assert len(bars.data["left"]) >= 14


def test_one_point_of_many_dimensions_and_without_edges(explore):
    explorer = explore(np.random.default_rng(0).normal(size=(50, 4)), sigma=1.0)
    one = opened(explorer, "point")
    assert source(one.figures()[0], "kernel").data["image"] == []  # no plane to draw the kernel on
    choose(explorer, sigma=1e-300, n_clusters=1)
    assert "20 draws found 0 points" in text(one, "kg-neighbors")
    assert len(source(one.figures()[1], "boxes").data["left"]) == 0


def test_rounds_are_played(explore):
    explorer = explore(MOONS, sigma=0.2, n_rounds=6)
    rounds = opened(explorer, "rounds")
    assert (rounds.player.value, rounds.player.end) == (6, 6)
    assert rounds.found.rounds.tolist() == [1, 2, 3, 4, 5, 6]
    full = explorer.session.state.outcome("full").spectrum.eigenvalues
    np.testing.assert_array_equal(rounds.limit, full[:6])
    before = image(rounds.figures()[0])
    rounds.player.value = 1
    settle(explorer)
    assert rounds.adjacency.nnz < explorer.graph.adjacency.nnz / 3
    assert np.count_nonzero(image(rounds.figures()[0])) < np.count_nonzero(before)
    choose(explorer, n_rounds=4)
    assert rounds.player.end == 4


def test_full_graph_of_many_points_is_estimated_in_the_rounds(explore, monkeypatch):
    monkeypatch.setattr("kdegraph_explorer.results.FULL_UP_TO", 100)
    explorer = explore(MOONS, sigma=0.2, n_rounds=6)
    rounds = opened(explorer, "rounds")
    assert explorer.session.state.outcome("full") is None
    assert rounds.note == "dashed: full graph, estimated from 24 rounds"
    opened(explorer, "points")
    assert explorer.session.state.extra_methods == ()
    # Nor is it compared.
    compare = opened(explorer, "compare")
    assert compare.differences("full") is None
    assert part(compare, "Select those of the Full graph").disabled
    assert "not built" in text(compare, "kg-differences")


def test_points_in_the_space_of_the_eigenvectors(explore):
    explorer = explore(datasets.make("blobs", n=150, seed=0).X, sigma=0.6, n_clusters=3)
    spectral = opened(explorer, "spectral")
    outcome = explorer.session.state.outcome("kde")
    embedding, degrees = (source(figure, "points") for figure in spectral.figures())
    placed = np.column_stack([embedding.data["x"], embedding.data["y"]])
    expected = (
        outcome.spectrum.eigenvectors[:, 1:3] / np.sqrt(outcome.adjacency.sum(axis=1))[:, None]
    )
    np.testing.assert_allclose(placed, expected / np.abs(expected).max(axis=0))
    np.testing.assert_array_equal(degrees.data["x"], explorer.graph.kernel_degrees)
    put(explorer, selection=np.array([3, 4]))
    assert embedding.selected.indices == [3, 4]
    part(spectral, "Horizontal eigenvector").value = 4
    settle(explorer)
    assert not np.array_equal(embedding.data["x"], placed[:, 0])


def test_conductances_are_drawn_of_every_cluster():
    drawn, window = draw_conductances(
        {"kde": np.array([0.1, 0.2, 0.3]), "knn": np.array([0.5, np.nan, 0.0])}
    )
    assert len(drawn.Rectangles.I) == 5
    assert window[3] > 0.5
    assert len(drawn.Labels.I) == 5
    drawn, window = draw_conductances({"kde": np.array([1.6e-8, 0.0])})
    assert window[3] > 0.005
    assert drawn.Labels.I.dimension_values(2).tolist() == ["≈ 0", "0"]
    # Numbers of three digits would lie over each other above six bars, and have room above four.
    for n_clusters, n_numbers in ((2, 4), (3, 0)):
        long = np.full(n_clusters, 0.024)
        drawn, _ = draw_conductances({"kde": long, "knn": long})
        assert len(drawn.Labels.I) == n_numbers
    nothing, _ = draw_conductances({})
    assert len(nothing.Rectangles.I) == len(nothing.Labels.I) == 0
    glyphs = list(hv.render(drawn.Labels.I, backend="bokeh").select({"type": GlyphText}))
    assert glyphs
    assert all(glyph.text_font == value("Roboto, system-ui, sans-serif") for glyph in glyphs)


def test_four_graphs_are_compared(explore):
    explorer = explore(MOONS, sigma=0.9, n_clusters=2)
    state, compare = explorer.session.state, view(explorer, "compare")
    put(explorer, view="compare")
    rows = {name: values for name, *values in compare.rows()}
    assert rows["Edges"][3] == 200 * 199 // 2
    assert all(value is not None for value in rows["Megabytes"])
    different = np.flatnonzero(state.outcome("kde").colors != state.outcome("knn").colors)
    assert len(different) > 0  # such a wide kernel cuts across the moons
    np.testing.assert_array_equal(compare.differences("knn"), different)
    part(compare, "Select those of the k-NN graph").param.trigger("clicks")
    np.testing.assert_array_equal(state.selection, different)
    settle(explorer)
    for figure in compare.figures()[:4]:
        assert source(figure, "points").selected.indices == different.tolist()


def test_scaling_opens_with_recorded_seconds_and_is_measured_when_asked(explore):
    explorer = explore(datasets.make("moons", n=1200, seed=0).X, sigma=0.2, n_clusters=2)
    scaling = opened(explorer, "scaling")
    assert {timing.method for timing in scaling.timings} == {"kde", "other", "knn", "full"}
    assert "Recorded on a computer with two cores" in text(scaling, "kg-timings")
    assert scaling.describe_timings(True).summary.startswith("Recorded on a computer")
    explorer.session.state.view = "scaling"
    scaling.methods.value = methods = ["kde", "other", "knn", "full"]
    scaling.start()
    settle(explorer)
    assert [(timing.n, timing.method) for timing in scaling.timings] == [
        (n, method) for n in (500, 1000) for method in methods
    ]
    assert all(timing.total == sum(timing.seconds.values()) > 0 for timing in scaling.timings)
    few = scaling.series().points(500)
    assert scaling.timings[2].n_edges == kdegraph.knn_graph(few, 10).nnz // 2
    full = kdegraph.full_graph(few, sigma=0.2)
    assert scaling.timings[3].n_edges == np.count_nonzero(np.triu(full, 1) >= 1e-9)
    assert text(scaling, "kg-timings").count("<tr") == 9
    assert "Recorded" not in text(scaling, "kg-timings")
    assert "Recorded" not in scaling.describe_timings(True).summary
    assert not scaling.run.disabled
    assert scaling.halt.disabled
    scaling.methods.value = []
    scaling.start()  # nothing to do
    assert not scaling.run.disabled
