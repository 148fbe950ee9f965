"""Bandwidths of their own for all points: the choice, and what every part of the explorer makes of
it.
"""

import kdegraph
import numpy as np
import pytest
from explorer_actions import TWO_PAIRS, choose, computed, put, settle
from explorer_objects import source, text, view
from kdegraph import datasets
from kdegraph_explorer import Explorer, pipeline
from kdegraph_explorer.projection import COMPONENTS
from kdegraph_explorer.results import Request
from kdegraph_explorer.sources.generators import tight_beside_wide

MOONS = datasets.make("moons", n=200, seed=0)


def local_graph(dataset, perplexity, n_rounds=20, sigma="local"):
    return kdegraph.similarity_graph(
        dataset.X, sigma=sigma, perplexity=perplexity, n_rounds=n_rounds, seed=0
    )


# ---- the choice


def test_other_rounds_take_the_bandwidths_that_are_known(sessions, monkeypatch):
    given, build = [], pipeline.similarity_graph

    def noted(X, *, sigma, **options):
        given.append(sigma)
        return build(X, sigma=sigma, **options)

    monkeypatch.setattr(pipeline, "similarity_graph", noted)
    session = sessions(MOONS, bandwidth="local")
    assert given == ["local"]
    widths = session.state.outcome("kde").graph.sigma
    choose(session, n_rounds=7)
    assert given[1] is widths
    np.testing.assert_array_equal(
        session.state.outcome("kde").graph.neighbors, local_graph(MOONS, 5, n_rounds=7).neighbors
    )
    choose(session, perplexity=8)
    assert given[2] == "local"
    choose(session, n_clusters=3)
    assert len(given) == 3


def test_a_perplexity_for_more_points_than_there_are_is_lowered(sessions):
    session = sessions(datasets.Dataset(np.array(TWO_PAIRS)), bandwidth="local", perplexity=50)
    assert session.state.error == ""
    np.testing.assert_array_equal(
        session.state.outcome("kde").graph.sigma,
        kdegraph.local_bandwidths(TWO_PAIRS, perplexity=1),
    )
    session = sessions(datasets.Dataset(np.zeros((1, 2))), bandwidth="local", n_clusters=1)
    assert session.state.error == ""


# ---- the controls


def test_the_explorer_takes_local_bandwidths_as_the_library_does(explore):
    explorer = explore(MOONS.X, sigma="local", perplexity=7)
    np.testing.assert_array_equal(explorer.graph.sigma, local_graph(MOONS, 7).sigma)
    with pytest.raises(ValueError, match=r"perplexity must be a whole number .* 2"):
        Explorer(MOONS.X, sigma="local", perplexity=1)


# ---- the other graphs


def test_comparison_has_the_other_kind_of_bandwidth(explore):
    explorer = explore(MOONS.X, sigma=0.2, n_clusters=2)
    state, compare = explorer.session.state, view(explorer, "compare")
    assert state.outcome("other") is None  # no other view needs it
    state.view = "compare"
    words = {"local": "each its own σ", "moderate": "each its own, moderate σ"}
    for bandwidth in ("one", "moderate", "local"):
        choose(explorer, bandwidth=bandwidth)
        kinds = [np.ndim(state.outcome(method).graph.sigma) for method in ("kde", "other")]
        assert kinds == ([0, 1] if bandwidth == "one" else [1, 0])
        sentences = [sentence(compare, name) for name in ("KDE graph", "Other bandwidth")]
        own = words.get(bandwidth, "each its own σ")
        assert sentences == ["one σ for all", own][:: 1 if bandwidth == "one" else -1]
    rows = {name: values for name, *values in compare.rows()}
    assert rows["Edges"][1] == state.outcome("other").graph.n_edges
    different = np.flatnonzero(state.outcome("kde").colors != state.outcome("other").colors)
    np.testing.assert_array_equal(compare.differences("other"), different)
    assert state.outcome("other").graph.sigma == 0.2


def test_each_kind_of_bandwidth_is_compared_with_its_own_number_of_clusters():
    request = Request(tight_beside_wide(2000, 12, seed=0), n_rounds=20, extra_methods=("other",))
    outcomes = computed(request).outcomes
    assert [outcomes[method].n_clusters for method in ("kde", "other", "knn")] == [4, 5, 4]
    scores = {method: found.scores["Adjusted Rand index"] for method, found in outcomes.items()}
    assert scores["kde"] < 0.8
    assert scores["other"] > 0.99


def sentence(compare, title):
    (found,) = compare.__panel__().select(lambda part: getattr(part, "title", None) == title)
    return found.sentence


# ---- one point


def look_at(explorer, point):
    """The view of one point, and the circle that it draws there."""
    one = view(explorer, "point")
    explorer.session.state.view = "point"
    put(explorer, selection=np.array([point]))
    return one, source(one.figures()[0], "width").data


def test_kernel_width_is_drawn_around_the_point(explore):
    explorer = explore(MOONS.X, sigma=0.2)
    for chosen, sigma in ((0.2, 0.2), ("local", local_graph(MOONS, 5).sigma[17])):
        explorer.sigma = chosen
        settle(explorer)
        one, circle = look_at(explorer, 17)
        assert (circle["x"][0], circle["y"][0]) == tuple(MOONS.X[17])
        assert circle["diameter"] == [2 * sigma]
        assert circle["text"] == [f"σ = {sigma:.3g}"]
        told = text(one, "kg-neighbors")
        assert f"kernel width σ = {sigma:.3g} (dashed circle)" in told
        assert ("as that of all points" in told) == (chosen == 0.2)
        window = one.figures()[0]
        assert window.x_range.start < MOONS.X[17, 0] - sigma
        assert window.x_range.end > MOONS.X[17, 0] + sigma
    # The kernel has the bandwidth of the point, too.
    data = source(window, "kernel").data
    strength = data["image"][0].view(np.uint8).reshape(*data["image"][0].shape, 4)[:, :, 3]
    pixel = data["dw"][0] / (strength.shape[1] - 1)
    across = round(circle["diameter"][0] / 2 / pixel)
    middle = strength.shape[0] // 2
    assert strength[middle, middle + across] / strength.max() == pytest.approx(np.exp(-1), abs=0.08)


def test_width_is_drawn_in_projections_that_keep_its_unit(explore):
    explorer = explore(np.random.default_rng(0).normal(size=(50, 4)), sigma=1.5)
    state = explorer.session.state
    state.param.update(horizontal=COMPONENTS[0], vertical=COMPONENTS[1])  # not the map
    one, circle = look_at(explorer, 3)
    assert circle["diameter"] == [3.0]
    assert "points may look nearer than they are" in text(one, "kg-neighbors")
    put(
        explorer, vertical=state.param.vertical.objects[-1]
    )  # a column beside a principal component
    one, circle = look_at(explorer, 3)
    assert circle["diameter"] == []
    assert "dashed circle" not in text(one, "kg-neighbors")
    assert "Distances on the screen are not those" in text(one, "kg-neighbors")
