"""The first page, which shows what sampling is good for, and the tour."""

import kdegraph
import numpy as np
import pytest
from explorer_actions import PATIENCE, TABLE, choose, computed, put
from explorer_objects import image, opened, part, source, text
from kdegraph import datasets
from kdegraph_explorer.address import first_view, read
from kdegraph_explorer.algorithm.proof import Proof, edge_weights, proof
from kdegraph_explorer.results import FULL_UP_TO, Request
from kdegraph_explorer.uploads import StoredFile
from kdegraph_explorer.views.alerts import STEPS, Tour
from kdegraph_explorer.views.base import Caption
from kdegraph_explorer.views.layout import Layout
from kdegraph_explorer.views.start import headline, verdict

CLUMPS = datasets.make("clumps", n=2000, seed=0)


@pytest.fixture(scope="module")
def outcomes():
    """The outcomes of the first page."""
    request = Request(CLUMPS, sigma="preset", n_rounds=20, extra_methods=("full",))
    return computed(request).outcomes


def test_the_points_of_the_first_page_prove_the_point(outcomes):
    found = proof(outcomes)
    assert found.share == "1/20"
    assert found.agreement["kde"] == 1.0
    assert found.agreement["knn"] < 0.6
    assert found.eigenvalue_error < 0.1
    assert outcomes["full"].scores["Adjusted Rand index"] == 1.0
    words = headline(found, 10)
    assert "<b>1/20</b>" in words
    assert "finds the same clusters. The graph of the 10 nearest neighbors does not." in words
    assert verdict(found, "knn") == f"✗ other clusters (agreement {found.agreement['knn']:.2f})"
    full = kdegraph.full_graph(CLUMPS.X, sigma=CLUMPS.sigma)
    assert found.edges["full"] == np.count_nonzero(np.triu(full, 1) >= 1e-9)
    exact = kdegraph.spectrum(full, 10).eigenvalues
    sampled = kdegraph.spectrum(outcomes["kde"].graph, 10).eigenvalues
    errors = np.abs(sampled[1:] / exact[1:] - 1)
    assert found.eigenvalue_error == pytest.approx(errors.max(), abs=0.01)


def test_a_sampled_graph_that_falls_apart_is_far_off():
    request = Request(CLUMPS, sigma="preset", n_rounds=1, extra_methods=("full",))
    outcomes = computed(request).outcomes
    assert outcomes["kde"].spectrum.eigenvalues[1] < 1e-6 < outcomes["full"].spectrum.eigenvalues[1]
    assert "smallest eigenvalues up to 100% off" in headline(proof(outcomes), 10)


@pytest.mark.parametrize(
    ("kde", "knn", "words"),
    [
        (
            1.0,
            1.0,
            "finds the same clusters. The graph of the 7 nearest neighbors does, too, here.",
        ),
        (0.6, 1.0, "finds other clusters. The graph of the 7 nearest neighbors finds the same."),
        (0.6, 0.5, "finds other clusters, and so does the graph of the 7 nearest neighbors."),
    ],
)
def test_the_headline_names_each_graph_that_finds_other_clusters(kde, knn, words):
    edges = {"kde": 10, "knn": 10, "full": 100}
    found = Proof(edges, {"kde": kde, "knn": knn}, eigenvalue_error=0.1)
    assert f"the sampled graph {words}" in headline(found, 7)


def test_an_edge_stands_for_its_weight_over_the_similarity_of_its_ends(outcomes):
    graph = outcomes["kde"].graph
    lengths, pairs = edge_weights(graph)
    weights = np.sort(graph.adjacency.data)
    found = np.sort(pairs * np.exp(-(lengths**2)))
    assert len(found) == 1500
    places = np.searchsorted(weights, found)
    nearest = np.minimum(
        np.abs(weights[np.minimum(places, len(weights) - 1)] - found),
        np.abs(weights[np.maximum(places - 1, 0)] - found),
    )
    np.testing.assert_allclose(nearest, 0, atol=1e-9)
    far, close = pairs[lengths > 1.5], pairs[lengths < 0.5]
    assert far.min() > close.max()


def test_three_graphs_are_drawn_and_measured(explore):
    explorer = explore(datasets.make("moons", n=300, seed=0).X, sigma=0.2, n_clusters=2)
    assert explorer.session.state.view == "points"
    shown = opened(explorer, "start")
    figures = shown.figures()
    assert all(image(figure).any() for figure in figures[:3])
    heads = {head.title: head for head in shown.__panel__().select(Caption)}
    for method, title in (("kde", "Sampled graph"), ("full", "Full graph")):
        edges = explorer.session.state.outcome(method).adjacency.nnz // 2
        assert heads[title].sentence == f"{edges:,} edges"
    assert len(source(figures[4], "edges").data["pairs"]) > 100
    told = shown.describe_weights(True)
    medians = [row[1] for row in told.rows]
    assert medians == sorted(medians)
    before = shown.headline.content
    choose(explorer, n_rounds=5)
    assert shown.headline.content != before
    # Until new points have a graph, nothing of the former ones is drawn.
    explorer.session.state.dataset = datasets.make("moons", n=FULL_UP_TO, seed=0)
    explorer.session.state.show()
    assert explorer.session.state.outcome("kde") is None
    assert len(source(figures[4], "edges").data["pairs"]) == 0
    # Without a full graph, the page says so.
    put(explorer, dataset=datasets.make("moons", n=FULL_UP_TO + 1, seed=0))
    assert explorer.session.state.view == "start"
    pairs = FULL_UP_TO * (FULL_UP_TO + 1) // 2
    assert f"The full graph of these points has {pairs:,} edges" in shown.headline.content
    assert "not built" in text(shown, "kg-verdict-full")
    assert "…" not in text(shown, "kg-verdict-knn")  # nothing is under way


def test_without_a_file_the_page_asks_for_one_and_claims_no_work(sessions):
    layout = Layout(session := sessions(start=False), True, "start")
    shown = layout.views["start"]
    assert "The three graphs are under way." in shown.headline.content
    session.restore(read(session, "source=upload"))
    session.wait(PATIENCE)
    words = "Choose a file under Data, or drop one there."
    assert layout.status.sentence() == words
    assert words in shown.headline.content
    compare = layout.views["compare"]
    session.state.view = "compare"
    compare.appear()
    assert "Full graph</b>: no result yet" in text(compare, "kg-differences")
    session.state.view = "start"
    put(session, "upload", file=StoredFile.of("bad.npy", b"words"))
    assert session.state.error
    assert "There is no result yet." in shown.headline.content
    assert "…" not in text(shown, "kg-verdict-kde")
    put(session, "upload", file=StoredFile.of("t.csv", TABLE))
    assert "finds" in shown.headline.content


def test_the_tour_has_three_steps_and_can_be_left_in_each(explore):
    explorer = explore(datasets.make("moons", n=200, seed=0).X, sigma=0.2, n_clusters=2)
    state = explorer.session.state
    (tour,) = explorer.sections()[2].select(lambda part: "kg-tour" in part.css_classes)
    assert not tour.visible
    bar = Tour(explorer.session)  # another one of the same session
    part(opened(explorer, "start"), "Take the tour").param.trigger("clicks")
    for number, (key, title, _) in enumerate(STEPS, start=1):
        assert state.tour == number
        assert state.view == key
        assert tour.visible
        assert f"{number} of 3. {title.format('Kernel width σ')}" in bar.words
        bar.next()
    assert not tour.visible
    for number in (1, 2, 3):
        state.tour = number
        bar.leave()
        assert not tour.visible
        assert state.view == STEPS[number - 1][0]
    state.tour = 2
    bar.back()
    assert state.view == "points"


def test_a_page_begins_with_the_view_of_its_address(sessions):
    for query, begins_with in (
        ("", "start"),
        ("?view=rows", "rows"),
        ("?n_rounds=5", "points"),
        ("?view=picture", "points"),
    ):
        layout = Layout(session := sessions(start=False), True, first_view(session, query))
        assert session.state.view == begins_with
        below = set() if layout.views.kinds[begins_with].alone else {"spectrum", "scores"}
        assert set(layout.views.made) == {begins_with, *below}
        session.open("points.csv")
        assert first_view(session, "") == ""


def test_a_view_that_was_built_while_the_mouse_rested_on_its_button_gets_its_lower_row(sessions):
    layout = Layout(session := sessions(start=False), True, "start")
    layout.toolbar.browser._handle_msg({"expected": "Graphs"})
    assert set(layout.views.made) == {"start", "points"}
    session.state.view = "points"
    session.mailbox.drain()
    assert set(layout.views.made) == {"start", "points", "spectrum", "scores"}
    assert layout.toolbar.browser.opening == ""
